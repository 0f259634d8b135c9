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

// As WholeReduceSum, with a mask of leading lanes only.
template <class T, bool isSetMask = true>
TWIN_API void RepeatReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::int32_t repeatTime,
                              const std::int32_t mask, const std::int32_t dstBlkStride, const std::int32_t srcBlkStride,
                              const std::int32_t dstRepStride, const std::int32_t srcRepStride, Site site = Site::here()) {
  (void)dstBlkStride;  // a repeat has one result
  WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride,
                               ReduceOrder::ORDER_ONLY_VALUE, site);
}

// The newer names of the same, by kind.
enum class ReduceType : std::uint8_t { SUM, MAX, MIN };
template <ReduceType type, class T, bool isSetMask = true, class Mask>
TWIN_API void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Mask& mask,
                           const std::int32_t repeatTime, const std::int32_t dstRepStride, const std::int32_t srcBlkStride,
                           const std::int32_t srcRepStride,
                           ReduceOrder order = type == ReduceType::SUM ? ReduceOrder::ORDER_ONLY_VALUE
                                                                       : ReduceOrder::ORDER_VALUE_INDEX,
                           Site site = Site::here()) {
  ::twin::reduce_whole(static_cast<::twin::Reduce>(type), static_cast<::twin::ReduceOut>(order),
                       detail::any_lanes(mask, repeatTime, isSetMask), dst.view(), src.view(), dstRepStride,
                       {static_cast<std::uint16_t>(srcBlkStride), static_cast<std::uint16_t>(srcRepStride)}, "ReduceRepeat",
                       site);
}
template <ReduceType type, class T, bool isSetMask = true, class Mask>
TWIN_API void ReduceDataBlock(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::int32_t repeatTime,
                              const Mask& mask, const std::int32_t dstRepStride, const std::int32_t srcBlkStride,
                              const std::int32_t srcRepStride, Site site = Site::here()) {
  ::twin::reduce_block(static_cast<::twin::Reduce>(type), false, detail::any_lanes(mask, repeatTime, isSetMask), dst.view(),
                       src.view(), dstRepStride,
                       {static_cast<std::uint16_t>(srcBlkStride), static_cast<std::uint16_t>(srcRepStride)},
                       "ReduceDataBlock", site);
}
template <ReduceType type, class T, bool isSetMask = true, class Mask>
TWIN_API void ReducePairElem(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::int32_t repeatTime,
                             const Mask& mask, const std::int32_t dstRepStride, const std::int32_t srcBlkStride,
                             const std::int32_t srcRepStride, Site site = Site::here()) {
  static_assert(type == ReduceType::SUM, "ReducePairElem: sums only");
  ::twin::reduce_block(::twin::Reduce::Sum, true, detail::any_lanes(mask, repeatTime, isSetMask), dst.view(), src.view(),
                       dstRepStride, {static_cast<std::uint16_t>(srcBlkStride), static_cast<std::uint16_t>(srcRepStride)},
                       "ReducePairElem", site);
}

// One result in all. The library's own steps and flags come with them.
template <class T, bool isSetMask = true>
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
TWIN_API void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
                        const std::uint64_t mask[], const std::int32_t repeatTime, const std::int32_t srcRepStride,
                        Site site = Site::here()) {
  ::twin::reduce_all(::twin::Reduce::Sum, detail::bit_lanes(mask, repeatTime, true), dst.view(), src.view(), work.view(),
                     srcRepStride, false, site);
}
#define TWIN_EXTREME(name, op)                                                                                             \
  template <class T, bool isSetMask = true>                                                                                \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,                     \
                     const std::int32_t count, bool calIndex = false, Site site = Site::here()) {                          \
    ::twin::reduce_all(::twin::Reduce::op, detail::count_lanes(count), dst.view(), src.view(), work.view(), 8, calIndex,   \
                       site);                                                                                              \
  }                                                                                                                        \
  template <class T>                                                                                                       \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,                     \
                     const std::int32_t mask, const std::int32_t repeatTime, const std::int32_t srcRepStride,              \
                     bool calIndex = false, Site site = Site::here()) {                                                    \
    ::twin::reduce_all(::twin::Reduce::op, detail::first_lanes(mask, repeatTime, true), dst.view(), src.view(),            \
                       work.view(), srcRepStride, calIndex, site);                                                         \
  }                                                                                                                        \
  template <class T>                                                                                                       \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,                     \
                     const std::uint64_t mask[], const std::int32_t repeatTime, const std::int32_t srcRepStride,           \
                     bool calIndex = false, Site site = Site::here()) {                                                    \
    ::twin::reduce_all(::twin::Reduce::op, detail::bit_lanes(mask, repeatTime, true), dst.view(), src.view(), work.view(), \
                       srcRepStride, calIndex, site);                                                                      \
  }
TWIN_EXTREME(ReduceMax, Max)
TWIN_EXTREME(ReduceMin, Min)
#undef TWIN_EXTREME

namespace detail {
template <class T>
T reduced(int which, Site site) {
  const std::uint64_t bits = ::twin::reduced_value(::twin::DTypeOf<T>::kValue, which, site);
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
}  // namespace detail
// What the last maximum or minimum, and the last sum, left in its register; an index as bits of an element.
template <class T>
TWIN_API void GetReduceMaxMinCount(T& maxMinValue, T& maxMinIndex, Site site = Site::here()) {
  maxMinValue = detail::reduced<T>(0, site);
  maxMinIndex = detail::reduced<T>(1, site);
}
template <class T>
TWIN_API void GetReduceMaxMinCount(T& maxMinValue, Site site = Site::here()) {
  maxMinValue = detail::reduced<T>(0, site);
}
template <class T>
TWIN_API void GetReduceRepeatMaxMinSpr(T& maxMinValue, T& maxMinIndex, Site site = Site::here()) {
  GetReduceMaxMinCount<T>(maxMinValue, maxMinIndex, site);
}
template <class T>
TWIN_API void GetReduceRepeatMaxMinSpr(T& maxMinValue, Site site = Site::here()) {
  GetReduceMaxMinCount<T>(maxMinValue, site);
}
template <class T>
TWIN_API T GetAccVal(Site site = Site::here()) {
  return detail::reduced<T>(2, site);
}
template <class T>
TWIN_API T GetReduceRepeatSumSpr(Site site = Site::here()) {
  return detail::reduced<T>(2, site);
}

}  // namespace AscendC
