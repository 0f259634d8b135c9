// SPDX-License-Identifier: Apache-2.0
// Sorting: Sort32 and MrgSort, and the library's Concat, Sort, MrgSort, Extract over them. A sorted list holds pairs of
// 8 bytes, the score first, its uint32 index in the last four; descending, equal scores in the order they came.
#pragma once

#include "ascendc/vector.hpp"
#include "twin/calls_vector.hpp"

namespace AscendC {

template <class T>
struct MrgSortSrcList {
  MrgSortSrcList() = default;
  MrgSortSrcList(const LocalTensor<T>& a, const LocalTensor<T>& b, const LocalTensor<T>& c, const LocalTensor<T>& d)
      : src1(a), src2(b), src3(c), src4(d) {}
  LocalTensor<T> src1, src2, src3, src4;
};
struct MrgSort4Info {
  MrgSort4Info() = default;
  MrgSort4Info(const std::uint16_t lengths[4], bool suspend, std::uint16_t valid, std::uint16_t repeats)
      : ifExhaustedSuspension(suspend), validBit(valid), repeatTimes(static_cast<std::uint8_t>(repeats)) {
    for (int l = 0; l < 4; ++l) elementLengths[l] = lengths[l];
  }
  std::uint16_t elementLengths[4] = {};
  bool ifExhaustedSuspension = false;
  std::uint16_t validBit = 0;
  std::uint8_t repeatTimes = 1;
};

namespace detail {
template <class T>
::twin::MergeCall merge_call(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const std::uint16_t lengths[4],
                             bool suspend, std::uint16_t valid, std::int32_t repeats) {
  ::twin::MergeCall call{dst.view(), {src.src1.view(), src.src2.view(), src.src3.view(), src.src4.view()}, {}, 0, suspend,
                         1};
  for (int l = 0; l < 4; ++l) call.length[l] = lengths[l];
  call.lists = valid == 3 ? 2 : valid == 7 ? 3 : valid == 15 ? 4 : 0;
  call.repeats = static_cast<std::uint32_t>(repeats);
  return call;
}
}  // namespace detail

template <class T>
TWIN_API void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<std::uint32_t>& src1,
                     const std::int32_t repeatTime, Site site = Site::here()) {
  ::twin::vector_sort32(dst.view(), src0.view(), src1.view(), static_cast<std::uint32_t>(repeatTime), site);
}
template <class T>
TWIN_API void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const MrgSort4Info& params,
                      Site site = Site::here()) {
  ::twin::vector_merge(
      detail::merge_call(dst, src, params.elementLengths, params.ifExhaustedSuspension, params.validBit, params.repeatTimes),
      site);
}
TWIN_API void GetMrgSortResult(std::uint16_t& list1, std::uint16_t& list2, std::uint16_t& list3, std::uint16_t& list4,
                               Site site = Site::here()) {
  std::uint32_t taken[4];
  ::twin::merge_counts(taken, site);
  list1 = static_cast<std::uint16_t>(taken[0]);
  list2 = static_cast<std::uint16_t>(taken[1]);
  list3 = static_cast<std::uint16_t>(taken[2]);
  list4 = static_cast<std::uint16_t>(taken[3]);
}

// ---- the library's level ----
// On the 910B scores need no preparation: the list is the source itself.
template <class T>
TWIN_API void Concat(LocalTensor<T>& concat, const LocalTensor<T>& src, const LocalTensor<T>& tmp,
                     const std::int32_t repeatTime) {
  concat = src;
  (void)tmp;
  (void)repeatTime;
}
template <class T, bool isFullSort>
TWIN_API void Sort(const LocalTensor<T>& dst, const LocalTensor<T>& concat, const LocalTensor<std::uint32_t>& index,
                   LocalTensor<T>& tmp, const std::int32_t repeatTime, Site site = Site::here()) {
  ::twin::vector_sort(dst.view(), concat.view(), index.view(), tmp.view(), static_cast<std::uint32_t>(repeatTime),
                      isFullSort, site);
}
template <class T, bool isExhaustedSuspension = false>
TWIN_API void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& sortList, const std::uint16_t elementCountList[4],
                      std::uint32_t sortedNum[4], std::uint16_t validBit, const std::int32_t repeatTime,
                      Site site = Site::here()) {
  ::twin::vector_merge(detail::merge_call(dst, sortList, elementCountList, isExhaustedSuspension, validBit, repeatTime),
                       site);
  if (isExhaustedSuspension) ::twin::merge_counts(sortedNum, site);
}
template <class T>
TWIN_API void Extract(const LocalTensor<T>& dstValue, const LocalTensor<std::uint32_t>& dstIndex,
                      const LocalTensor<T>& sorted, const std::int32_t repeatTime, Site site = Site::here()) {
  ::twin::vector_extract(dstValue.view(), dstIndex.view(), sorted.view(), static_cast<std::uint32_t>(repeatTime), site);
}
// Elements that a sorted list of so many pairs takes, and where its pair of that number begins.
template <class T>
TWIN_API std::uint32_t GetSortLen(const std::uint32_t elemCount) {
  return elemCount * (8 / sizeof(T));
}
template <class T>
TWIN_API std::uint32_t GetSortOffset(const std::uint32_t elemOffset) {
  return elemOffset * (8 / sizeof(T));
}

}  // namespace AscendC
