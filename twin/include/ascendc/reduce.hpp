// SPDX-License-Identifier: Apache-2.0
// Reductions, under their older and newer names.
#pragma once

#include "ascendc/vector.hpp"

namespace AscendC {

// One result a repeat. dstRepStride counts results; src strides 32-byte blocks.
#define TWIN_WHOLE(name, op, ordered)                                                                                       \
  template <class T, bool isSetMask = true>                                                                                 \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::int32_t mask,                         \
                     const std::int32_t repeatTime, const std::int32_t dstRepStride, const std::int32_t srcBlkStride,       \
                     const std::int32_t srcRepStride, ReduceOrder order = ReduceOrder::ordered, Site site = Site::here()) { \
    ::twin::reduce_whole(::twin::Reduce::op, static_cast<::twin::ReduceOut>(order),                                         \
                         detail::first_lanes(mask, repeatTime, isSetMask), dst.view(), src.view(), dstRepStride,            \
                         {static_cast<std::uint16_t>(srcBlkStride), static_cast<std::uint16_t>(srcRepStride)}, #name,       \
                         site);                                                                                             \
  }                                                                                                                         \
  template <class T, bool isSetMask = true>                                                                                 \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint64_t mask[],                      \
                     const std::int32_t repeatTime, const std::int32_t dstRepStride, const std::int32_t srcBlkStride,       \
                     const std::int32_t srcRepStride, ReduceOrder order = ReduceOrder::ordered, Site site = Site::here()) { \
    ::twin::reduce_whole(::twin::Reduce::op, static_cast<::twin::ReduceOut>(order),                                         \
                         detail::bit_lanes(mask, repeatTime, isSetMask), dst.view(), src.view(), dstRepStride,              \
                         {static_cast<std::uint16_t>(srcBlkStride), static_cast<std::uint16_t>(srcRepStride)}, #name,       \
                         site);                                                                                             \
  }
TWIN_WHOLE(WholeReduceSum, Sum, ORDER_ONLY_VALUE)
TWIN_WHOLE(WholeReduceMax, Max, ORDER_VALUE_INDEX)
TWIN_WHOLE(WholeReduceMin, Min, ORDER_VALUE_INDEX)
#undef TWIN_WHOLE

// One result a 32-byte block (PairReduceSum: a pair of neighbours). dstRepStride counts the results of a repeat.
#define TWIN_BLOCK(name, op, pairs)                                                                                        \
  template <class T, bool isSetMask = true>                                                                                \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::int32_t repeatTime,                  \
                     const std::int32_t mask, const std::int32_t dstRepStride, const std::int32_t srcBlkStride,            \
                     const std::int32_t srcRepStride, Site site = Site::here()) {                                          \
    ::twin::reduce_block(                                                                                                  \
        ::twin::Reduce::op, pairs, detail::first_lanes(mask, repeatTime, isSetMask), dst.view(), src.view(), dstRepStride, \
        {static_cast<std::uint16_t>(srcBlkStride), static_cast<std::uint16_t>(srcRepStride)}, #name, site);                \
  }                                                                                                                        \
  template <class T, bool isSetMask = true>                                                                                \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::int32_t repeatTime,                  \
                     const std::uint64_t mask[], const std::int32_t dstRepStride, const std::int32_t srcBlkStride,         \
                     const std::int32_t srcRepStride, Site site = Site::here()) {                                          \
    ::twin::reduce_block(                                                                                                  \
        ::twin::Reduce::op, pairs, detail::bit_lanes(mask, repeatTime, isSetMask), dst.view(), src.view(), dstRepStride,   \
        {static_cast<std::uint16_t>(srcBlkStride), static_cast<std::uint16_t>(srcRepStride)}, #name, site);                \
  }
TWIN_BLOCK(BlockReduceSum, Sum, false)
TWIN_BLOCK(BlockReduceMax, Max, false)
TWIN_BLOCK(BlockReduceMin, Min, false)
TWIN_BLOCK(PairReduceSum, Sum, true)
#undef TWIN_BLOCK

// One result in all. The library's own steps and flags come with them.
template <class T>
TWIN_API void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
                        const std::int32_t count, Site site = Site::here()) {
  ::twin::reduce_all(::twin::Reduce::Sum, detail::count_lanes(count), dst.view(), src.view(), work.view(), 8, false, site);
}
template <class T>
TWIN_API void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
                        const std::int32_t mask, const std::int32_t repeatTime, const std::int32_t srcRepStride,
                        Site site = Site::here()) {
  ::twin::reduce_all(::twin::Reduce::Sum, detail::first_lanes(mask, repeatTime, true), dst.view(), src.view(), work.view(),
                     srcRepStride, false, site);
}
template <class T>
TWIN_API void ReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
                        const std::int32_t count, bool calIndex = false, Site site = Site::here()) {
  ::twin::reduce_all(::twin::Reduce::Max, detail::count_lanes(count), dst.view(), src.view(), work.view(), 8, calIndex,
                     site);
}
template <class T>
TWIN_API void ReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
                        const std::int32_t mask, const std::int32_t repeatTime, const std::int32_t srcRepStride,
                        bool calIndex = false, Site site = Site::here()) {
  ::twin::reduce_all(::twin::Reduce::Max, detail::first_lanes(mask, repeatTime, true), dst.view(), src.view(), work.view(),
                     srcRepStride, calIndex, site);
}
template <class T>
TWIN_API void ReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
                        const std::int32_t count, bool calIndex = false, Site site = Site::here()) {
  ::twin::reduce_all(::twin::Reduce::Min, detail::count_lanes(count), dst.view(), src.view(), work.view(), 8, calIndex,
                     site);
}
template <class T>
TWIN_API void ReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
                        const std::int32_t mask, const std::int32_t repeatTime, const std::int32_t srcRepStride,
                        bool calIndex = false, Site site = Site::here()) {
  ::twin::reduce_all(::twin::Reduce::Min, detail::first_lanes(mask, repeatTime, true), dst.view(), src.view(), work.view(),
                     srcRepStride, calIndex, site);
}

}  // namespace AscendC
