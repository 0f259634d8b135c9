// SPDX-License-Identifier: Apache-2.0
// LayerNorm, RmsNorm, DeepNorm, BatchNorm, GroupNorm and Normalize of the library. The tiling says how many rows there are
// and how long they are; how the vendor cuts them changes nothing here.
// TWIN_OWN_<name>: the kernel has a class of this name, so the library's function stays undeclared: `using namespace
// AscendC` would make every use ambiguous. twincc says so.
#pragma once

#include "ascendc/formats.hpp"
#include "ascendc/matrices.hpp"
#include "kernel_tiling/kernel_tiling.h"
#include "twin/calls_norm.hpp"

namespace AscendC {

struct LayerNormConfig {
  bool isNoBeta = false, isNoGamma = false, isOnlyOutput = false;
};
inline constexpr LayerNormConfig LNCFG_NORM = {false, false, false};
inline constexpr LayerNormConfig LNCFG_NOBETA = {true, false, false};
inline constexpr LayerNormConfig LNCFG_NOGAMMA = {false, true, false};
struct LayerNormPara {
  std::uint32_t aLength = 0, rLength = 0, rLengthWithPadding = 0;
};
struct NormalizeConfig {
  ReducePattern reducePattern = ReducePattern::AR;
  std::int32_t aLength = -1;
  bool isNoBeta = false, isNoGamma = false, isOnlyOutput = false;
};
inline constexpr NormalizeConfig NLCFG_NORM = {ReducePattern::AR, -1, false, false, false};
inline constexpr NormalizeConfig NLCFG_NOBETA = {ReducePattern::AR, -1, true, false, false};
inline constexpr NormalizeConfig NLCFG_NOGAMMA = {ReducePattern::AR, -1, false, true, false};
struct NormalizePara {
  std::uint32_t aLength = 0, rLength = 0, rLengthWithPadding = 0;
};

namespace detail {
// Rows one after another, `used` of their `columns` elements with values; a gamma and a beta a column.
template <class T>
::twin::LibraryNorm norm_of_rows(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, const Scratch* work,
                                 std::uint64_t rows, std::uint64_t columns, std::uint64_t used, double epsilon) {
  static_assert(library_takes<T>(::twin::bit(::twin::DType::F16) | ::twin::bit(::twin::DType::F32)),
                "normalisation takes half and float on the 910B");
  ::twin::LibraryNorm c;
  c.name = name;
  c.dst = dst.view();
  c.src = src.view();
  c.work = view_of(work);
  c.groups = rows;
  c.group_step = c.run_step = columns;
  c.members = c.run = c.gammas = used ? used : columns;
  c.epsilon = epsilon;
  c.shape_from = "fill in bLength, sLength, hLength and originalHLength of the tiling";
  return c;
}
template <class T, class Tiling>
::twin::LibraryNorm norm_of_bsh(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, const Scratch* work,
                                const Tiling& tiling, double epsilon) {
  return norm_of_rows(name, dst, src, work, std::uint64_t{tiling.bLength} * tiling.sLength, tiling.hLength,
                      tiling.originalHLength, epsilon);
}
template <class T, class Para>
::twin::LibraryNorm norm_of_ar(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, const Scratch* work,
                               const Para& para, double epsilon) {
  auto c = norm_of_rows(name, dst, src, work, para.aLength, para.rLengthWithPadding, para.rLength, epsilon);
  c.in_place = false;
  c.shape_from = "fill in aLength, rLength and rLengthWithPadding";
  return c;
}
}  // namespace detail

#ifndef TWIN_OWN_RmsNorm
#define TWIN_RMS_NORM(work_parameter, work)                                                                               \
  template <class T, bool isBasicBlock = false>                                                                           \
  TWIN_API void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const LocalTensor<T>& gammaLocal, \
                        work_parameter const detail::Given<T> epsilon, const RmsNormTiling& tiling,                       \
                        Site site = Site::here()) {                                                                       \
    auto c = detail::norm_of_bsh("RmsNorm", dstLocal, srcLocal, work, tiling, static_cast<double>(epsilon));              \
    c.centred = false;                                                                                                    \
    c.gamma = &gammaLocal.view();                                                                                         \
    ::twin::library_norm(c, site);                                                                                        \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_RMS_NORM)
#undef TWIN_RMS_NORM
#endif

#ifndef TWIN_OWN_LayerNorm
// The second form gives the reciprocal of the standard deviation, in place of the variance.
#define TWIN_LAYER_NORM(work_parameter, work)                                                                              \
  template <class T, bool isReuseSource = false>                                                                           \
  TWIN_API void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,                                  \
                          const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX, const LocalTensor<T>& gamma, \
                          const LocalTensor<T>& beta, work_parameter const detail::Given<T> epsilon,                       \
                          const LayerNormTiling& tiling, Site site = Site::here()) {                                       \
    auto c = detail::norm_of_bsh("LayerNorm", output, inputX, work, tiling, static_cast<double>(epsilon));                 \
    c.gamma = &gamma.view();                                                                                               \
    c.beta = &beta.view();                                                                                                 \
    c.mean = &outputMean.view();                                                                                           \
    c.variance = &outputVariance.view();                                                                                   \
    ::twin::library_norm(c, site);                                                                                         \
  }                                                                                                                        \
  template <class U, class T, bool isReuseSource = false, const LayerNormConfig& config = LNCFG_NORM>                      \
  TWIN_API void LayerNorm(const LocalTensor<T>& output, const LocalTensor<float>& outputMean,                              \
                          const LocalTensor<float>& outputRstd, const LocalTensor<T>& inputX, const LocalTensor<U>& gamma, \
                          const LocalTensor<U>& beta, const float epsilon, work_parameter const LayerNormPara& para,       \
                          const LayerNormSeparateTiling&, Site site = Site::here()) {                                      \
    auto c = detail::norm_of_ar("LayerNorm", output, inputX, work, para, epsilon);                                         \
    c.gamma = config.isNoGamma ? nullptr : &gamma.view();                                                                  \
    c.beta = config.isNoBeta ? nullptr : &beta.view();                                                                     \
    c.mean = config.isOnlyOutput ? nullptr : &outputMean.view();                                                           \
    c.rstd = config.isOnlyOutput ? nullptr : &outputRstd.view();                                                           \
    ::twin::library_norm(c, site);                                                                                         \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_LAYER_NORM)
#undef TWIN_LAYER_NORM
#endif

#ifndef TWIN_OWN_DeepNorm
// Of alpha · source + gx.
#define TWIN_DEEP_NORM(work_parameter, work)                                                                               \
  template <class T, bool isReuseSrc = false, bool isBasicBlock = false>                                                   \
  TWIN_API void DeepNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& meanLocal, const LocalTensor<T>& rstdLocal, \
                         const LocalTensor<T>& srcLocal, const LocalTensor<T>& gxLocal, const LocalTensor<T>& betaLocal,   \
                         const LocalTensor<T>& gammaLocal, work_parameter const detail::Given<T> alpha,                    \
                         const detail::Given<T> epsilon, const DeepNormTiling& tiling, Site site = Site::here()) {         \
    auto c = detail::norm_of_bsh("DeepNorm", dstLocal, srcLocal, work, tiling, static_cast<double>(epsilon));              \
    c.alpha = static_cast<double>(alpha);                                                                                  \
    c.added = &gxLocal.view();                                                                                             \
    c.gamma = &gammaLocal.view();                                                                                          \
    c.beta = &betaLocal.view();                                                                                            \
    c.mean = &meanLocal.view();                                                                                            \
    c.rstd = &rstdLocal.view();                                                                                            \
    ::twin::library_norm(c, site);                                                                                         \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_DEEP_NORM)
#undef TWIN_DEEP_NORM
#endif

#ifndef TWIN_OWN_BatchNorm
// Over the first of the dimensions (B, S · H); gamma and beta have B elements.
#define TWIN_BATCH_NORM(work_parameter, work)                                                                             \
  template <class T, bool isReuseSource = false, bool isBasicBlock = false>                                               \
  TWIN_API void BatchNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,                                 \
                          const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX, const LocalTensor<T>& gamm, \
                          const LocalTensor<T>& beta, work_parameter const detail::Given<T> epsilon,                      \
                          const BatchNormTiling& tiling, Site site = Site::here()) {                                      \
    auto c = detail::norm_of_rows("BatchNorm", output, inputX, work, tiling.meanVarSize, tiling.originalBLength, 0,       \
                                  static_cast<double>(epsilon));                                                          \
    c.group_step = 1;                                                                                                     \
    c.run = c.members;                                                                                                    \
    c.member_step = tiling.meanVarSize;                                                                                   \
    c.gamma = &gamm.view();                                                                                               \
    c.beta = &beta.view();                                                                                                \
    c.mean = &outputMean.view();                                                                                          \
    c.variance = &outputVariance.view();                                                                                  \
    c.shape_from = "fill in originalBLength (B) and meanVarSize (S times H) of the tiling";                               \
    ::twin::library_norm(c, site);                                                                                        \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_BATCH_NORM)
#undef TWIN_BATCH_NORM
#endif

#ifndef TWIN_OWN_GroupNorm
// Of (N, C, H · W), each channel padded to whole blocks: g groups of channels; a mean and a variance a group, a gamma and a
// beta a channel.
#define TWIN_GROUP_NORM(work_parameter, work)                                                                              \
  template <class T, bool isReuseSource = false>                                                                           \
  TWIN_API void GroupNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,                                  \
                          const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX, const LocalTensor<T>& gamma, \
                          const LocalTensor<T>& beta, work_parameter const detail::Given<T> epsilon,                       \
                          const GroupNormTiling& tiling, Site site = Site::here()) {                                       \
    const std::uint64_t channels = tiling.g ? tiling.c / tiling.g : 0;                                                     \
    const std::uint64_t block = 32 / sizeof(T), hw = (tiling.hw + block - 1) / block * block;                              \
    auto c = detail::norm_of_rows("GroupNorm", output, inputX, work, std::uint64_t{tiling.n} * tiling.g, channels * hw, 0, \
                                  static_cast<double>(epsilon));                                                           \
    c.members = channels * tiling.hw;                                                                                      \
    c.run = c.gamma_run = tiling.hw ? tiling.hw : 1;                                                                       \
    c.run_step = hw;                                                                                                       \
    c.gamma_groups = tiling.g ? tiling.g : 1;                                                                              \
    c.gammas_a_group = channels;                                                                                           \
    c.gammas = tiling.c;                                                                                                   \
    c.gamma = &gamma.view();                                                                                               \
    c.beta = &beta.view();                                                                                                 \
    c.mean = &outputMean.view();                                                                                           \
    c.variance = &outputVariance.view();                                                                                   \
    c.shape_from = "fill in n, c, hw and g of the tiling; g divides c";                                                    \
    if (!tiling.g || tiling.c % tiling.g || !tiling.hw) c.groups = 0;                                                      \
    ::twin::library_norm(c, site);                                                                                         \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_GROUP_NORM)
#undef TWIN_GROUP_NORM
#endif

#ifndef TWIN_OWN_Normalize
// With the caller's mean and variance.
#define TWIN_NORMALIZE(work_parameter, work)                                                                         \
  template <class U, class T, bool isReuseSource = false, const NormalizeConfig& config = NLCFG_NORM>                \
  TWIN_API void Normalize(const LocalTensor<T>& output, const LocalTensor<float>& outputRstd,                        \
                          const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,              \
                          const LocalTensor<T>& inputX, const LocalTensor<U>& gamma, const LocalTensor<U>& beta,     \
                          work_parameter const float epsilon, const NormalizePara& para, Site site = Site::here()) { \
    static_assert(config.reducePattern == ReducePattern::AR, "Normalize: the reference has the pattern AR only");    \
    auto c = detail::norm_of_ar("Normalize", output, inputX, work, para, epsilon);                                   \
    c.gamma = config.isNoGamma ? nullptr : &gamma.view();                                                            \
    c.beta = config.isNoBeta ? nullptr : &beta.view();                                                               \
    c.given_mean = &inputMean.view();                                                                                \
    c.given_variance = &inputVariance.view();                                                                        \
    c.rstd = config.isOnlyOutput ? nullptr : &outputRstd.view();                                                     \
    ::twin::library_norm(c, site);                                                                                   \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_NORMALIZE)
#undef TWIN_NORMALIZE
#endif

}  // namespace AscendC
