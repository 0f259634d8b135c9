// SPDX-License-Identifier: Apache-2.0
// SoftmaxGrad, SoftmaxGradFront, SoftmaxFlash, SoftmaxFlashV3, LogSoftMax and AdjustSoftMaxRes of the library.
// TWIN_OWN_<name>: as in norm.hpp.
#pragma once

#include "ascendc/softmax.hpp"
#include "twin/calls_rows.hpp"

namespace AscendC {

struct SoftMaxParams {
  std::uint32_t srcM = 0, srcK = 0, oriSrcM = 0, oriSrcK = 0, loopCnt = 1, splitMeanCnt = 8;
  float alpha = 0;
};

namespace detail {
template <class T>
void softmax_grad(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& grad, const LocalTensor<T>& src,
                  const Scratch* work, const SoftMaxTiling& tiling, bool front, bool nz, const SoftMaxShapeInfo& shape,
                  Site site) {
  ::twin::LibrarySoftmaxGrad c;
  c.name = name;
  c.dst = dst.view();
  c.grad = grad.view();
  c.src = src.view();
  c.work = view_of(work);
  c.front = front;
  c.nz = nz;
  c.rows = shape.srcM ? shape.srcM : tiling.srcM;
  c.columns = shape.srcK ? shape.srcK : tiling.srcK;
  c.used = shape.oriSrcK ? shape.oriSrcK : c.columns;
  ::twin::library_softmax_grad(c, site);
}
}  // namespace detail

#define TWIN_ND(name) static_assert(!isDataFormatNZ, #name " on Nz data is not covered by the twin: give it rows")

#ifndef TWIN_OWN_SoftmaxGrad
#define TWIN_SOFTMAX_GRAD(work_parameter, temporary)                                                                  \
  template <class T, bool isReuseSource = false, bool isDataFormatNZ = false>                                         \
  TWIN_API void SoftmaxGrad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,                        \
                            const LocalTensor<T>& srcTensor, work_parameter const SoftMaxTiling& tiling,              \
                            bool isFront = false, const SoftMaxShapeInfo& softmaxShapeInfo = {},                      \
                            Site site = Site::here()) {                                                               \
    detail::nz_takes<T, isDataFormatNZ>();                                                                            \
    detail::softmax_grad("SoftmaxGrad", dstTensor, gradTensor, srcTensor, temporary, tiling, isFront, isDataFormatNZ, \
                         softmaxShapeInfo, site);                                                                     \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_SOFTMAX_GRAD)
#undef TWIN_SOFTMAX_GRAD
#endif

#ifndef TWIN_OWN_SoftmaxGradFront
#define TWIN_SOFTMAX_GRAD_FRONT(work_parameter, temporary)                                                              \
  template <class T, bool isBasicBlock = false, bool isDataFormatNZ = false>                                            \
  TWIN_API void SoftmaxGradFront(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,                     \
                                 const LocalTensor<T>& srcTensor, work_parameter const SoftMaxTiling& tiling,           \
                                 const SoftMaxShapeInfo& softmaxShapeInfo = {}, Site site = Site::here()) {             \
    detail::nz_takes<T, isDataFormatNZ>();                                                                              \
    detail::softmax_grad("SoftmaxGradFront", dstTensor, gradTensor, srcTensor, temporary, tiling, true, isDataFormatNZ, \
                         softmaxShapeInfo, site);                                                                       \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_SOFTMAX_GRAD_FRONT)
#undef TWIN_SOFTMAX_GRAD_FRONT
#endif

#ifndef TWIN_OWN_SoftmaxFlash
#define TWIN_SOFTMAX_FLASH(work_parameter, temporary)                                                          \
  template <class T, bool isReuseSource = false, bool isBasicBlock = false, class S>                           \
  TWIN_API void SoftmaxFlash(                                                                                  \
      const LocalTensor<T>& dstTensor, const LocalTensor<S>& sumTensor, const LocalTensor<S>& maxTensor,       \
      const LocalTensor<T>& srcTensor, const LocalTensor<T>& expMaxTensor, const LocalTensor<S>& inSumTensor,  \
      const LocalTensor<S>& inMaxTensor, work_parameter const SoftMaxTiling& tiling, bool isUpdate = false,    \
      const SoftMaxShapeInfo& softmaxShapeInfo = {}, Site site = Site::here()) {                               \
    auto c = detail::softmax(isUpdate ? ::twin::LibrarySoftmax::DividedUpdate : ::twin::LibrarySoftmax::Whole, \
                             "SoftmaxFlash", dstTensor, srcTensor, temporary, tiling, softmaxShapeInfo);       \
    c.sum = &sumTensor.view();                                                                                 \
    c.max = &maxTensor.view();                                                                                 \
    if (isUpdate) {                                                                                            \
      c.factor = &expMaxTensor.view();                                                                         \
      c.old_sum = &inSumTensor.view();                                                                         \
      c.old_max = &inMaxTensor.view();                                                                         \
    }                                                                                                          \
    ::twin::library_softmax(c, site);                                                                          \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_SOFTMAX_FLASH)
#undef TWIN_SOFTMAX_FLASH
#endif

#ifndef TWIN_OWN_SoftmaxFlashV3
// The local means are those of splitMeanCnt stretches of the row, one behind another.
#define TWIN_SOFTMAX_FLASH_V3(work_parameter, temporary)                                                           \
  template <class T, class U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,        \
            bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                        \
  TWIN_API void SoftmaxFlashV3(                                                                                    \
      const LocalTensor<T>& dstTensor, const LocalTensor<U>& meanTensor, const LocalTensor<U>& expSumTensor,       \
      const LocalTensor<U>& maxTensor, const LocalTensor<T>& srcTensor, const LocalTensor<T>& expMaxTensor,        \
      const LocalTensor<U>& inMeanTensor, const LocalTensor<U>& inExpSumTensor, const LocalTensor<U>& inMaxTensor, \
      work_parameter const SoftMaxTiling&, const SoftMaxParams& params, Site site = Site::here()) {                \
    static_assert(std::is_same<T, half>::value && std::is_same<U, float>::value,                                   \
                  "SoftmaxFlashV3 takes half, with means, sums and maxima in float");                              \
    TWIN_ND(SoftmaxFlashV3);                                                                                       \
    ::twin::LibrarySoftmaxPasa c;                                                                                  \
    c.dst = dstTensor.view();                                                                                      \
    c.src = srcTensor.view();                                                                                      \
    c.work = detail::view_of(temporary);                                                                           \
    c.mean = &meanTensor.view();                                                                                   \
    c.sum = &expSumTensor.view();                                                                                  \
    c.max = &maxTensor.view();                                                                                     \
    if (isUpdate) {                                                                                                \
      c.factor = &expMaxTensor.view();                                                                             \
      c.in_mean = &inMeanTensor.view();                                                                            \
      c.in_sum = &inExpSumTensor.view();                                                                           \
      c.in_max = &inMaxTensor.view();                                                                              \
    }                                                                                                              \
    c.rows = params.srcM;                                                                                          \
    c.columns = params.srcK;                                                                                       \
    c.used_rows = params.oriSrcM;                                                                                  \
    c.used = params.oriSrcK;                                                                                       \
    c.loop = params.loopCnt;                                                                                       \
    c.blocks = params.splitMeanCnt;                                                                                \
    c.alpha = params.alpha;                                                                                        \
    ::twin::library_softmax_pasa(c, site);                                                                         \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_SOFTMAX_FLASH_V3)
#undef TWIN_SOFTMAX_FLASH_V3
#endif

#ifndef TWIN_OWN_LogSoftMax
// To base 10, as the newer pages of the reference have it (8.0 had the natural one).
template <class T, bool isReuseSource = false, bool isDataFormatNZ = false>
TWIN_API void LogSoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& sum, const LocalTensor<T>& max,
                         const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                         const LogSoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {},
                         Site site = Site::here()) {
  TWIN_ND(LogSoftMax);
  auto c = detail::softmax(::twin::LibrarySoftmax::Log, "LogSoftMax", dst, src, &sharedTmpBuffer, tiling, softmaxShapeInfo);
  c.sum = &sum.view();
  c.max = &max.view();
  ::twin::library_softmax(c, site);
}
#endif

#ifndef TWIN_OWN_AdjustSoftMaxRes
// Rows whose maximum has the bits of `from` become `to`; whether there was one. The scalar unit reads the maxima, one in 32
// bytes, or one after another with a stepSizeMode.
template <class T1, class T2, bool isDataFormatNZ = false, std::uint8_t stepSizeMode = 0>
TWIN_API bool AdjustSoftMaxRes(const LocalTensor<T1>& softMaxRes, const LocalTensor<T2>& maxTensor, const std::uint32_t from,
                               const detail::Given<T1> to, const SoftMaxShapeInfo& softmaxShapeInfo,
                               Site site = Site::here()) {
  detail::nz_takes<T1, isDataFormatNZ>();
  static_assert((std::is_same<T1, half>::value || std::is_same<T1, float>::value) &&
                    (std::is_same<T2, half>::value || std::is_same<T2, float>::value),
                "AdjustSoftMaxRes takes half and float");
  const std::uint32_t step = stepSizeMode != 0 ? 1 : 32 / sizeof(T2);
  const std::uint32_t wanted = sizeof(T2) == 2 ? from & 0xffffu : from;
  bool adjusted = false;
  ::twin::library_order(::twin::Pipe::V, ::twin::Pipe::S, site);
  for (std::uint32_t row = 0; row < softmaxShapeInfo.srcM; ++row) {
    if (detail::bits_of(maxTensor.GetValue(row * step, site)) != wanted) continue;
    adjusted = true;
    ::twin::pipe_barrier(::twin::Pipe::V, site);
    const std::uint32_t piece = isDataFormatNZ ? 16 : softmaxShapeInfo.srcK;
    for (std::uint32_t at = 0; at < softmaxShapeInfo.srcK; at += piece)
      Duplicate(softMaxRes[isDataFormatNZ ? at * softmaxShapeInfo.srcM + row * 16 : row * softmaxShapeInfo.srcK],
                static_cast<T1>(to), static_cast<std::int32_t>(piece), site);
  }
  ::twin::library_order(::twin::Pipe::S, ::twin::Pipe::V, site);
  ::twin::pipe_barrier(::twin::Pipe::V, site);
  return adjusted;
}
#endif

#undef TWIN_ND

}  // namespace AscendC
