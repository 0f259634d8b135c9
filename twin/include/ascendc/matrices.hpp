// SPDX-License-Identifier: Apache-2.0
// The library on matrices: Broadcast, reductions of rows and columns, choices by bytes, running sums.
#pragma once

#include "ascendc/library.hpp"

namespace AscendC {

// ---- Broadcast, the newer name of BroadCast ----
#define TWIN_BROADCAST(name)                                                                                            \
  template <class T, std::int32_t dim, std::int32_t axis, bool isReuseSource = false>                                   \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t dstShape[dim],           \
                     const std::uint32_t srcShape[dim], LocalTensor<std::uint8_t>& sharedTmpBuffer,                     \
                     Site site = Site::here()) {                                                                        \
    static_assert(dim >= 1 && dim <= 2 && axis >= 0 && axis < dim, #name ": one or two dimensions, along one of them"); \
    ::twin::library_broadcast(dst.view(), src.view(), &sharedTmpBuffer.view(), dstShape, srcShape, dim, site);          \
  }                                                                                                                     \
  template <class T, std::int32_t dim, std::int32_t axis, bool isReuseSource = false>                                   \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t dstShape[dim],           \
                     const std::uint32_t srcShape[dim], Site site = Site::here()) {                                     \
    static_assert(dim >= 1 && dim <= 2 && axis >= 0 && axis < dim, #name ": one or two dimensions, along one of them"); \
    ::twin::library_broadcast(dst.view(), src.view(), nullptr, dstShape, srcShape, dim, site);                          \
  }
TWIN_BROADCAST(Broadcast)
#ifndef TWIN_OWN_BroadCast
TWIN_BROADCAST(BroadCast)
#endif
#undef TWIN_BROADCAST

// ---- reductions of matrices: of rows (AR) or of columns (RA); rows of rowLength elements, padded to 32 bytes ----
namespace Pattern {
namespace Reduce {
struct AR {
  static constexpr bool kRows = true;
};
struct RA {
  static constexpr bool kRows = false;
};
struct R : AR {};
}  // namespace Reduce
}  // namespace Pattern

namespace detail {
template <class P, class = void>
struct IsPattern : std::false_type {};
template <class P>
struct IsPattern<P, std::void_t<decltype(P::kRows)>> : std::true_type {};

template <class T, class P>
void fold(::twin::Fold how, const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, const Scratch* work,
          const std::uint32_t shape[], bool padded, Site site) {
  const std::uint32_t block = 32 / sizeof(T);
  const std::uint32_t row = padded ? (shape[1] + block - 1) / block * block : shape[1];
  ::twin::LibraryFold call{name, how, dst.view(), src.view(), work ? &work->view() : nullptr};
  call.outer = P::kRows ? shape[0] : 1;
  call.middle = call.used = P::kRows ? shape[1] : shape[0];
  call.inner = P::kRows ? 1 : shape[1];
  call.middle_step = P::kRows ? 1 : row;
  call.outer_step = row;
  ::twin::library_fold(call, site);
}
}  // namespace detail
#define TWIN_FOLD(name, how)                                                                                      \
  template <class T, class pattern, bool isReuseSource = false,                                                   \
            std::enable_if_t<detail::IsPattern<pattern>::value, bool> = true>                                     \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& work, \
                     const std::uint32_t srcShape[], bool srcInnerPad, Site site = Site::here()) {                \
    detail::fold<T, pattern>(::twin::Fold::how, #name, dst, src, &work, srcShape, srcInnerPad, site);             \
  }                                                                                                               \
  template <class T, class pattern, bool isReuseSource = false,                                                   \
            std::enable_if_t<detail::IsPattern<pattern>::value, bool> = true>                                     \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t srcShape[],        \
                     bool srcInnerPad, Site site = Site::here()) {                                                \
    detail::fold<T, pattern>(::twin::Fold::how, #name, dst, src, nullptr, srcShape, srcInnerPad, site);           \
  }
TWIN_FOLD(ReduceSum, Sum)
TWIN_FOLD(ReduceMax, Max)
TWIN_FOLD(ReduceMin, Min)
TWIN_FOLD(ReduceMean, Mean)
TWIN_FOLD(ReduceProd, Prod)
TWIN_FOLD(ReduceAny, Any)
TWIN_FOLD(ReduceAll, All)
#undef TWIN_FOLD

// Of the first n elements of each of `outter` rows, which are `inner` elements apart.
struct SumParams {
  std::uint32_t outter = 1, inner = 0, n = 0;
};
struct MeanParams {
  std::uint32_t outter = 1, inner = 0, n = 0;
};
namespace detail {
template <class T, class P>
void fold_rows(::twin::Fold how, const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, const Scratch* work,
               const P& p, Site site) {
  ::twin::LibraryFold call{name, how, dst.view(), src.view(), work ? &work->view() : nullptr};
  call.outer = p.outter;
  call.middle = p.inner;
  call.used = p.n;
  call.outer_step = p.inner;
  ::twin::library_fold(call, site);
}
}  // namespace detail
template <class T, std::int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
TWIN_API void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                  const SumParams& sumParams, Site site = Site::here()) {
  detail::fold_rows(::twin::Fold::Sum, "Sum", dst, src, &sharedTmpBuffer, sumParams, site);
}
template <class T, std::int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
TWIN_API void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const SumParams& sumParams,
                  Site site = Site::here()) {
  detail::fold_rows<T>(::twin::Fold::Sum, "Sum", dst, src, nullptr, sumParams, site);
}
template <class T, class accType = T, bool isReuseSource = false, bool isBasicBlock = false, std::int32_t reduceDim = -1>
TWIN_API void Mean(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                   const MeanParams& meanParams, Site site = Site::here()) {
  detail::fold_rows(::twin::Fold::Mean, "Mean", dst, src, &sharedTmpBuffer, meanParams, site);
}
template <class T, class accType = T, bool isReuseSource = false, bool isBasicBlock = false, std::int32_t reduceDim = -1>
TWIN_API void Mean(const LocalTensor<T>& dst, const LocalTensor<T>& src, const MeanParams& meanParams,
                   Site site = Site::here()) {
  detail::fold_rows<T>(::twin::Fold::Mean, "Mean", dst, src, nullptr, meanParams, site);
}

// ---- choices by bytes ----
struct SelectWithBytesMaskShapeInfo {
  std::uint32_t firstAxis = 0, srcLastAxis = 0, maskLastAxis = 0;
};
// Where the byte is 0 the first source, elsewhere the second; one of them is a scalar. Rows of the mask may be longer.
template <class T, class U, bool isReuseMask = true>
TWIN_API void SelectWithBytesMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, detail::Given<T> src1,
                                  const LocalTensor<U>& mask, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                                  const SelectWithBytesMaskShapeInfo& info, Site site = Site::here()) {
  ::twin::library_choose({dst.view(), src0.view(), mask.view(), &sharedTmpBuffer.view(), detail::bits_of(src1), false,
                          info.firstAxis, info.srcLastAxis, info.maskLastAxis},
                         site);
}
template <class T, class U, bool isReuseMask = true>
TWIN_API void SelectWithBytesMask(const LocalTensor<T>& dst, detail::Given<T> src0, const LocalTensor<T>& src1,
                                  const LocalTensor<U>& mask, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                                  const SelectWithBytesMaskShapeInfo& info, Site site = Site::here()) {
  ::twin::library_choose({dst.view(), src1.view(), mask.view(), &sharedTmpBuffer.view(), detail::bits_of(src0), true,
                          info.firstAxis, info.srcLastAxis, info.maskLastAxis},
                         site);
}

// ---- running sums: along rows, or down columns; the last row also on its own ----
struct CumSumConfig {
  bool isLastAxis = true, isReuseSource = false, outputLastRow = false;
};
inline constexpr CumSumConfig defaultCumSumConfig = {true, false, false};
struct CumSumInfo {
  std::uint32_t outter = 0, inner = 0;
};
template <class T, const CumSumConfig& config = defaultCumSumConfig>
TWIN_API void CumSum(LocalTensor<T>& dst, LocalTensor<T>& lastRow, const LocalTensor<T>& src,
                     LocalTensor<std::uint8_t>& sharedTmpBuffer, const CumSumInfo& info, Site site = Site::here()) {
  ::twin::library_running_sum(dst.view(), config.outputLastRow ? &lastRow.view() : nullptr, src.view(),
                              &sharedTmpBuffer.view(), info.outter, info.inner, config.isLastAxis, site);
}
template <class T, const CumSumConfig& config = defaultCumSumConfig>
TWIN_API void CumSum(LocalTensor<T>& dst, LocalTensor<T>& lastRow, const LocalTensor<T>& src, const CumSumInfo& info,
                     Site site = Site::here()) {
  ::twin::library_running_sum(dst.view(), config.outputLastRow ? &lastRow.view() : nullptr, src.view(), nullptr, info.outter,
                              info.inner, config.isLastAxis, site);
}

}  // namespace AscendC
