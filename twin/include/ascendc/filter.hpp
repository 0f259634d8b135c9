// SPDX-License-Identifier: Apache-2.0
// TopK, DropOut and ReduceXorSum of the library. TWIN_OWN_<name>: as in norm.hpp.
#pragma once

#include "ascendc/norm.hpp"
#include "twin/calls_rows.hpp"

namespace AscendC {

struct TopKInfo {
  std::int32_t outter = 1, inner = 0, n = 0;
};
struct DropOutShapeInfo {
  DropOutShapeInfo() {}  // NOLINT: as the reference declares it, no aggregate
  std::uint32_t firstAxis = 0, srcLastAxis = 0, maskLastAxis = 0;
};

#ifndef TWIN_OWN_TopK
#define TWIN_TOPK(work_parameter, temporary)                                                                           \
  template <class T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,                      \
            enum TopKMode topkMode = TopKMode::TOPK_NORMAL>                                                            \
  TWIN_API void TopK(const LocalTensor<T>& dstValueLocal, const LocalTensor<std::int32_t>& dstIndexLocal,              \
                     const LocalTensor<T>& srcLocal, const LocalTensor<std::int32_t>& srcIndexLocal,                   \
                     const LocalTensor<bool>& finishLocal, work_parameter const std::int32_t k, const TopkTiling&,     \
                     const TopKInfo& topKInfo, const bool isLargest = true, Site site = Site::here()) {                \
    static_assert(std::is_same<T, half>::value || std::is_same<T, float>::value, "TopK takes half and float");         \
    static_assert(!isHasfinish || topkMode == TopKMode::TOPK_NORMAL, "TopK in mode TOPK_NSMALL takes no finishLocal"); \
    ::twin::LibraryTopK c;                                                                                             \
    c.values = dstValueLocal.view();                                                                                   \
    c.indices = dstIndexLocal.view();                                                                                  \
    c.src = srcLocal.view();                                                                                           \
    c.src_index = isInitIndex ? &srcIndexLocal.view() : nullptr;                                                       \
    c.finish = isHasfinish ? &finishLocal.view() : nullptr;                                                            \
    c.work = detail::view_of(temporary);                                                                               \
    c.work_is_calc = detail::is_calc(temporary);                                                                       \
    c.small = topkMode == TopKMode::TOPK_NSMALL;                                                                       \
    c.largest = isLargest;                                                                                             \
    c.rows = topKInfo.outter;                                                                                          \
    c.inner = topKInfo.inner;                                                                                          \
    c.n = topKInfo.n;                                                                                                  \
    c.k = k;                                                                                                           \
    ::twin::library_topk(c, site);                                                                                     \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_TOPK)
#undef TWIN_TOPK
#endif

#ifndef TWIN_OWN_DropOut
namespace detail {
// Modes of the reference: 1 and 2 a byte an element with and without padding behind a row, 4 and 3 a bit.
constexpr std::uint32_t dropout_mode(std::uint32_t mode, const DropOutShapeInfo& info) {
  if (mode != 0) return mode;
  if (info.maskLastAxis >= info.srcLastAxis) return info.maskLastAxis == info.srcLastAxis ? 2 : 1;
  return info.maskLastAxis * 8 == info.srcLastAxis ? 3 : 4;
}
}  // namespace detail
// A mask of bits is read as Select reads one, from the lowest bit of each byte. (The page's own example writes 169 as
// 1010 1001 and reads it from the left.)
#define TWIN_DROPOUT(work_parameter, temporary)                                                                   \
  template <class T, bool isInitBitMode = false, std::uint32_t dropOutMode = 0>                                   \
  TWIN_API void DropOut(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,                           \
                        const LocalTensor<std::uint8_t>& maskLocal, work_parameter const float keepProb,          \
                        const DropOutShapeInfo& info, Site site = Site::here()) {                                 \
    static_assert(std::is_same<T, half>::value || std::is_same<T, float>::value, "DropOut takes half and float"); \
    static_assert(dropOutMode <= 4, "DropOut: dropOutMode is 0 to 4");                                            \
    const std::uint32_t mode = detail::dropout_mode(dropOutMode, info);                                           \
    ::twin::LibraryDropOut c;                                                                                     \
    c.dst = dstLocal.view();                                                                                      \
    c.src = srcLocal.view();                                                                                      \
    c.mask = maskLocal.view();                                                                                    \
    c.work = detail::view_of(temporary);                                                                          \
    c.bits = mode >= 3;                                                                                           \
    c.padded = mode == 1 || mode == 4;                                                                            \
    c.rows = info.firstAxis;                                                                                      \
    c.columns = info.srcLastAxis;                                                                                 \
    c.mask_columns = info.maskLastAxis;                                                                           \
    c.keep = keepProb;                                                                                            \
    ::twin::library_dropout(c, site);                                                                             \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_DROPOUT)
#undef TWIN_DROPOUT
#endif

#ifndef TWIN_OWN_ReduceXorSum
#define TWIN_XOR_SUM(work_parameter, temporary)                                                                           \
  template <class T, bool isReuseSource = false>                                                                          \
  TWIN_API void ReduceXorSum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,                           \
                             const LocalTensor<T>& src1Tensor, work_parameter const std::uint32_t calCount,               \
                             Site site = Site::here()) {                                                                  \
    static_assert(std::is_same<T, std::int16_t>::value, "ReduceXorSum takes int16_t");                                    \
    ::twin::library_xor_sum(dstTensor.view(), src0Tensor.view(), src1Tensor.view(), detail::view_of(temporary), calCount, \
                            site);                                                                                        \
  }
TWIN_WITH_AND_WITHOUT_WORK(TWIN_XOR_SUM)
#undef TWIN_XOR_SUM
#endif

}  // namespace AscendC
