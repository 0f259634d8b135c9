// SPDX-License-Identifier: Apache-2.0
// SoftMax, SimpleSoftMax and SoftmaxFlashV2 of the library. The tiling says how the vendor cuts the rows, which changes
// nothing here; its shape stands in for a missing SoftMaxShapeInfo.
#pragma once

#include "ascendc/matrices.hpp"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {

struct SoftMaxShapeInfo {
  std::uint32_t srcM = 0, srcK = 0, oriSrcM = 0, oriSrcK = 0;
};
struct SoftmaxConfig {
  bool isCheckTiling = true;
  std::uint32_t oriSrcM = 0, oriSrcK = 0;
};
inline constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {true, 0, 0};

namespace detail {
template <class T, class Tiling>
::twin::LibrarySoftmax softmax(::twin::LibrarySoftmax::Mode mode, const char* name, const LocalTensor<T>& dst,
                               const LocalTensor<T>& src, const Scratch* work, const Tiling& tiling,
                               const SoftMaxShapeInfo& shape) {
  ::twin::LibrarySoftmax c;
  c.mode = mode;
  c.name = name;
  c.dst = dst.view();
  c.src = src.view();
  c.work = work ? &work->view() : nullptr;
  c.rows = shape.srcM ? shape.srcM : tiling.srcM;
  c.columns = shape.srcK ? shape.srcK : tiling.srcK;
  c.used = shape.oriSrcK ? shape.oriSrcK : c.columns;
  return c;
}
// Nz data: columns of 16 halves, each srcM high.
template <class T, bool nz>
constexpr void nz_takes() {
  static_assert(!nz || std::is_same<T, half>::value,
                "softmax on Nz data takes half: no page says how wide its columns of float are");
}
}  // namespace detail

#define TWIN_SOFTMAX_HEAD                                                                                \
  template <class T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false, \
            const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, class S>
#define TWIN_SOFTMAX_NZ detail::nz_takes<T, isDataFormatNZ>()
// Each with and without a scratch tensor.
#define TWIN_SOFTMAX(work_parameter, work)                                                                                \
  TWIN_SOFTMAX_HEAD                                                                                                       \
  TWIN_API void SoftMax(const LocalTensor<T>& dst, const LocalTensor<S>& sumTensor, const LocalTensor<S>& maxTensor,      \
                        const LocalTensor<T>& src, work_parameter const SoftMaxTiling& tiling,                            \
                        const SoftMaxShapeInfo& shape = {}, Site site = Site::here()) {                                   \
    TWIN_SOFTMAX_NZ;                                                                                                      \
    auto c = detail::softmax(::twin::LibrarySoftmax::Whole, "SoftMax", dst, src, work, tiling, shape);                    \
    c.nz = isDataFormatNZ;                                                                                                \
    c.sum = &sumTensor.view();                                                                                            \
    c.max = &maxTensor.view();                                                                                            \
    ::twin::library_softmax(c, site);                                                                                     \
  }                                                                                                                       \
  template <class T, bool isReuseSource = false, bool isBasicBlock = false,                                               \
            const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                                            \
  TWIN_API void SoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, work_parameter const SoftMaxTiling& tiling, \
                        const SoftMaxShapeInfo& shape = {}, Site site = Site::here()) {                                   \
    ::twin::library_softmax(detail::softmax(::twin::LibrarySoftmax::Whole, "SoftMax", dst, src, work, tiling, shape),     \
                            site);                                                                                        \
  }                                                                                                                       \
  TWIN_SOFTMAX_HEAD                                                                                                       \
  TWIN_API void SimpleSoftMax(const LocalTensor<T>& dst, const LocalTensor<S>& inSumTensor,                               \
                              const LocalTensor<S>& inMaxTensor, const LocalTensor<T>& src,                               \
                              work_parameter const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},             \
                              Site site = Site::here()) {                                                                 \
    TWIN_SOFTMAX_NZ;                                                                                                      \
    auto c = detail::softmax(::twin::LibrarySoftmax::Given, "SimpleSoftMax", dst, src, work, tiling, shape);              \
    c.nz = isDataFormatNZ;                                                                                                \
    c.sum = &inSumTensor.view();                                                                                          \
    c.max = &inMaxTensor.view();                                                                                          \
    ::twin::library_softmax(c, site);                                                                                     \
  }                                                                                                                       \
  template <class T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,                        \
            bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, class S>                      \
  TWIN_API void SoftmaxFlashV2(const LocalTensor<T>& dst, const LocalTensor<S>& expSumTensor,                             \
                               const LocalTensor<S>& maxTensor, const LocalTensor<T>& src,                                \
                               const LocalTensor<T>& expMaxTensor, const LocalTensor<S>& inExpSumTensor,                  \
                               const LocalTensor<S>& inMaxTensor, work_parameter const SoftMaxTiling& tiling,             \
                               const SoftMaxShapeInfo& shape = {}, Site site = Site::here()) {                            \
    TWIN_SOFTMAX_NZ;                                                                                                      \
    auto c = detail::softmax(isUpdate ? ::twin::LibrarySoftmax::Update : ::twin::LibrarySoftmax::Flash, "SoftmaxFlashV2", \
                             dst, src, work, tiling, shape);                                                              \
    c.nz = isDataFormatNZ;                                                                                                \
    c.sum = &expSumTensor.view();                                                                                         \
    c.max = &maxTensor.view();                                                                                            \
    if (isUpdate) {                                                                                                       \
      c.factor = &expMaxTensor.view();                                                                                    \
      c.old_sum = &inExpSumTensor.view();                                                                                 \
      c.old_max = &inMaxTensor.view();                                                                                    \
    }                                                                                                                     \
    ::twin::library_softmax(c, site);                                                                                     \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_SOFTMAX)
#undef TWIN_SOFTMAX
#undef TWIN_SOFTMAX_HEAD
#undef TWIN_SOFTMAX_NZ

}  // namespace AscendC
