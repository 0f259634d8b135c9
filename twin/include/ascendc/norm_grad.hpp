// SPDX-License-Identifier: Apache-2.0
// LayerNormGrad, LayerNormGradBeta, WelfordUpdate and WelfordFinalize of the library. TWIN_OWN_<name>: as in norm.hpp.
#pragma once

#include "ascendc/formats.hpp"
#include "ascendc/norm.hpp"

namespace AscendC {

struct LayerNormGradShapeInfo {
  DataFormat dataFormat = DataFormat::ND;
};
struct WelfordUpdateConfig {
  bool isInplace = false;
};
inline constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {false};
struct WelfordUpdateParam {
  std::uint32_t rnLength = 1, abLength = 0, abComputeLength = 0;
  float nRec = 1;
};
struct WelfordFinalizePara {
  std::uint32_t rnLength = 1, abLength = 0, headCount = 0, headCountLength = 0, tailCount = 0, tailCountLength = 0;
  float abRec = 1, rRec = 1;
};

#ifndef TWIN_OWN_LayerNormGrad
#define TWIN_LAYER_NORM_GRAD(work_parameter, temporary)                                                                   \
  template <class T, bool isReuseSource = false>                                                                          \
  TWIN_API void LayerNormGrad(                                                                                            \
      const LocalTensor<T>& outputPdX, const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,                  \
      const LocalTensor<T>& inputX, const LocalTensor<T>& inputVariance, const LocalTensor<T>& inputMean,                 \
      const LocalTensor<T>& inputGamma, work_parameter const detail::Given<T> epsilon, const LayerNormGradTiling& tiling, \
      const LayerNormGradShapeInfo& shapeInfo = {}, Site site = Site::here()) {                                           \
    if (shapeInfo.dataFormat != DataFormat::ND)                                                                           \
      ::twin::refuse_call("LayerNormGrad on another format than ND", "DataFormat::ND", site);                             \
    ::twin::LibraryLayerNormGrad c;                                                                                       \
    c.pd_x = outputPdX.view();                                                                                            \
    c.for_gamma = resForGamma.view();                                                                                     \
    c.dy = inputDy.view();                                                                                                \
    c.x = inputX.view();                                                                                                  \
    c.variance = inputVariance.view();                                                                                    \
    c.mean = inputMean.view();                                                                                            \
    c.gamma = inputGamma.view();                                                                                          \
    c.work = detail::view_of(temporary);                                                                                  \
    c.rows = std::uint64_t{tiling.bLength} * tiling.sLength;                                                              \
    c.columns = tiling.hLength;                                                                                           \
    c.used = tiling.originalHLength ? tiling.originalHLength : tiling.hLength;                                            \
    c.epsilon = static_cast<double>(epsilon);                                                                             \
    ::twin::library_layer_norm_grad(c, site);                                                                             \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_LAYER_NORM_GRAD)
#undef TWIN_LAYER_NORM_GRAD
#endif

#ifndef TWIN_OWN_LayerNormGradBeta
#define TWIN_LAYER_NORM_GRAD_BETA(work_parameter, temporary)                                                        \
  template <class T, bool isReuseSource = false>                                                                    \
  TWIN_API void LayerNormGradBeta(const LocalTensor<T>& outputPdGamma, const LocalTensor<T>& outputPdBeta,          \
                                  const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,                 \
                                  work_parameter const LayerNormGradBetaTiling& tiling, Site site = Site::here()) { \
    ::twin::LibraryLayerNormGradBeta c;                                                                             \
    c.pd_gamma = outputPdGamma.view();                                                                              \
    c.pd_beta = outputPdBeta.view();                                                                                \
    c.for_gamma = resForGamma.view();                                                                               \
    c.dy = inputDy.view();                                                                                          \
    c.work = detail::view_of(temporary);                                                                            \
    c.rows = std::uint64_t{tiling.bLength} * tiling.sLength;                                                        \
    c.columns = tiling.hLength;                                                                                     \
    c.used = tiling.originalHLength ? tiling.originalHLength : tiling.hLength;                                      \
    ::twin::library_layer_norm_grad_beta(c, site);                                                                  \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_LAYER_NORM_GRAD_BETA)
#undef TWIN_LAYER_NORM_GRAD_BETA
#endif

#ifndef TWIN_OWN_WelfordUpdate
#define TWIN_WELFORD_UPDATE(work_parameter, temporary)                                                              \
  template <class T, class U, bool isReuseSource = false, const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG> \
  TWIN_API void WelfordUpdate(const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance,               \
                              const LocalTensor<U>& inputMean, const LocalTensor<U>& inputVariance,                 \
                              const LocalTensor<T>& inputX, work_parameter const WelfordUpdateParam& para,          \
                              Site site = Site::here()) {                                                           \
    static_assert((std::is_same<T, half>::value || std::is_same<T, float>::value) && std::is_same<U, float>::value, \
                  "WelfordUpdate takes half and float, with means and variances in float");                         \
    ::twin::LibraryWelfordUpdate c;                                                                                 \
    c.mean = outputMean.view();                                                                                     \
    c.squares = outputVariance.view();                                                                              \
    c.in_mean = inputMean.view();                                                                                   \
    c.in_squares = inputVariance.view();                                                                            \
    c.x = inputX.view();                                                                                            \
    c.work = detail::view_of(temporary);                                                                            \
    c.take_over = config.isInplace;                                                                                 \
    c.rows = para.rnLength;                                                                                         \
    c.length = para.abLength;                                                                                       \
    c.used = para.abComputeLength;                                                                                  \
    c.reciprocal = para.nRec;                                                                                       \
    ::twin::library_welford_update(c, site);                                                                        \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_WELFORD_UPDATE)
#undef TWIN_WELFORD_UPDATE
#endif

#ifndef TWIN_OWN_WelfordFinalize
namespace detail {
// Without counts and without a tail each of the abLength means stands for rnLength values.
inline void welford_finalize(const LocalTensor<float>& mean, const LocalTensor<float>& variance,
                             const LocalTensor<float>& in_mean, const LocalTensor<float>& in_variance,
                             const ::twin::View* counts, const Scratch* work, const WelfordFinalizePara& para, Site site) {
  ::twin::LibraryWelfordFinalize c;
  const bool even = !counts && para.tailCountLength == 0 && para.rnLength != 0;
  c.mean = mean.view();
  c.variance = variance.view();
  c.in_mean = in_mean.view();
  c.in_squares = in_variance.view();
  c.counts = counts;
  c.work = view_of(work);
  c.length = para.abLength;
  c.head = even ? para.rnLength : para.headCount;
  c.head_length = para.headCountLength;
  c.tail = para.tailCount;
  c.tail_length = para.tailCountLength;
  c.weight = even ? static_cast<double>(para.abRec) / para.rnLength : static_cast<double>(para.rRec);
  c.reciprocal = static_cast<double>(para.rRec);
  ::twin::library_welford_finalize(c, site);
}
}  // namespace detail
#define TWIN_WELFORD_FINALIZE(work_parameter, temporary)                                                                   \
  template <bool isReuseSource = false>                                                                                    \
  TWIN_API void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,            \
                                const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,              \
                                work_parameter const WelfordFinalizePara& para, Site site = Site::here()) {                \
    detail::welford_finalize(outputMean, outputVariance, inputMean, inputVariance, nullptr, temporary, para, site);        \
  }                                                                                                                        \
  template <bool isReuseSource = false>                                                                                    \
  TWIN_API void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,            \
                                const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,              \
                                const LocalTensor<std::int32_t>& counts, work_parameter const WelfordFinalizePara& para,   \
                                Site site = Site::here()) {                                                                \
    detail::welford_finalize(outputMean, outputVariance, inputMean, inputVariance, &counts.view(), temporary, para, site); \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_WELFORD_FINALIZE)
#undef TWIN_WELFORD_FINALIZE
#endif

}  // namespace AscendC
