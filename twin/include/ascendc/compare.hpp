// SPDX-License-Identifier: Apache-2.0
// Compare and Select. A comparison gives one bit a lane, packed; without a destination it stays in the compare register.
#pragma once

#include "ascendc/vector.hpp"
#include "twin/calls_vector.hpp"

namespace AscendC {

namespace detail {
template <class T, class U>
void compare(const ::twin::Lanes& lanes, const LocalTensor<U>& dst, const LocalTensor<T>& a, const LocalTensor<T>& b,
             CMPMODE mode, const BinaryRepeatParams& p, Site site) {
  ::twin::vector_compare(lanes, dst.view(), a.view(), &b.view(), 0, static_cast<::twin::Compare>(mode),
                         {p.src0BlkStride, p.src0RepStride}, {p.src1BlkStride, p.src1RepStride}, "Compare", site);
}
template <class T, class U>
void compare_scalar(const ::twin::Lanes& lanes, const LocalTensor<U>& dst, const LocalTensor<T>& a, T b, CMPMODE mode,
                    const UnaryRepeatParams& p, const char* name, Site site) {
  ::twin::vector_compare(lanes, dst.view(), a.view(), nullptr, bits_of(b), static_cast<::twin::Compare>(mode),
                         {p.srcBlkStride, p.srcRepStride}, {}, name, site);
}
template <class T, class U>
void select(const ::twin::Lanes& lanes, const LocalTensor<T>& dst, const LocalTensor<U>& mask, const LocalTensor<T>& a,
            const LocalTensor<T>* b, std::uint64_t scalar, SELMODE mode, const BinaryRepeatParams& p, Site site) {
  ::twin::SelectCall call{lanes, dst.view(), &mask.view(), a.view(), b ? &b->view() : nullptr};
  call.scalar = scalar;
  call.mask_repeats = mode == SELMODE::VSEL_CMPMASK_SPR;
  call.dst_stride = {p.dstBlkStride, p.dstRepStride};
  call.src0_stride = {p.src0BlkStride, p.src0RepStride};
  call.src1_stride = {p.src1BlkStride, p.src1RepStride};
  ::twin::vector_select(call, site);
}
}  // namespace detail

template <class T, class U>
TWIN_API void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                      std::uint32_t count, Site site = Site::here()) {
  detail::compare(detail::count_lanes(count), dst, src0, src1, cmpMode, {}, site);
}
template <class T, class U, bool isSetMask = true>
TWIN_API void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                      const std::uint64_t mask, const detail::Repeat repeatTime, const BinaryRepeatParams& p,
                      Site site = Site::here()) {
  detail::compare(detail::first_lanes(mask, repeatTime, isSetMask), dst, src0, src1, cmpMode, p, site);
}
template <class T, class U, bool isSetMask = true>
TWIN_API void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                      const std::uint64_t mask[], const detail::Repeat repeatTime, const BinaryRepeatParams& p,
                      Site site = Site::here()) {
  detail::compare(detail::bit_lanes(mask, repeatTime, isSetMask), dst, src0, src1, cmpMode, p, site);
}
// One repeat, its bits into the register.
template <class T, bool isSetMask = true>
TWIN_API void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode, const std::uint64_t mask,
                      const BinaryRepeatParams& p, Site site = Site::here()) {
  ::twin::vector_compare_to_register(detail::first_lanes(mask, 1, isSetMask), src0.view(), src1.view(),
                                     static_cast<::twin::Compare>(cmpMode), {p.src0BlkStride, p.src0RepStride},
                                     {p.src1BlkStride, p.src1RepStride}, site);
}
template <class T, bool isSetMask = true>
TWIN_API void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode, const std::uint64_t mask[],
                      const BinaryRepeatParams& p, Site site = Site::here()) {
  ::twin::vector_compare_to_register(detail::bit_lanes(mask, 1, isSetMask), src0.view(), src1.view(),
                                     static_cast<::twin::Compare>(cmpMode), {p.src0BlkStride, p.src0RepStride},
                                     {p.src1BlkStride, p.src1RepStride}, site);
}
template <class T>
TWIN_API void GetCmpMask(const LocalTensor<T>& dst, Site site = Site::here()) {
  ::twin::compare_register(dst.view(), false, site);
}
template <class T>
TWIN_API void SetCmpMask(const LocalTensor<T>& src, Site site = Site::here()) {
  ::twin::compare_register(src.view(), true, site);
}

// Compares is the newer name.
#define TWIN_COMPARE_SCALAR(name)                                                                                          \
  template <class T, class U>                                                                                              \
  TWIN_API void name(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const detail::Given<T>& src1, CMPMODE cmpMode, \
                     std::uint32_t count, Site site = Site::here()) {                                                      \
    detail::compare_scalar<T>(detail::count_lanes(count), dst, src0, src1, cmpMode, {}, #name, site);                      \
  }                                                                                                                        \
  template <class T, class U, bool isSetMask = true>                                                                       \
  TWIN_API void name(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const detail::Given<T>& src1, CMPMODE cmpMode, \
                     const std::uint64_t mask, const detail::Repeat repeatTime, const UnaryRepeatParams& p,                \
                     Site site = Site::here()) {                                                                           \
    detail::compare_scalar<T>(detail::first_lanes(mask, repeatTime, isSetMask), dst, src0, src1, cmpMode, p, #name, site); \
  }                                                                                                                        \
  template <class T, class U, bool isSetMask = true>                                                                       \
  TWIN_API void name(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const detail::Given<T>& src1, CMPMODE cmpMode, \
                     const std::uint64_t mask[], const detail::Repeat repeatTime, const UnaryRepeatParams& p,              \
                     Site site = Site::here()) {                                                                           \
    detail::compare_scalar<T>(detail::bit_lanes(mask, repeatTime, isSetMask), dst, src0, src1, cmpMode, p, #name, site);   \
  }
TWIN_COMPARE_SCALAR(CompareScalar)
TWIN_COMPARE_SCALAR(Compares)
#undef TWIN_COMPARE_SCALAR

template <class T, class U>
TWIN_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                     const LocalTensor<T>& src1, SELMODE selMode, std::uint32_t count, Site site = Site::here()) {
  detail::select(detail::count_lanes(count), dst, selMask, src0, &src1, 0, selMode, {}, site);
}
template <class T, class U, bool isSetMask = true>
TWIN_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                     const LocalTensor<T>& src1, SELMODE selMode, std::uint64_t mask, const detail::Repeat repeatTime,
                     const BinaryRepeatParams& p, Site site = Site::here()) {
  detail::select(detail::first_lanes(mask, repeatTime, isSetMask), dst, selMask, src0, &src1, 0, selMode, p, site);
}
template <class T, class U, bool isSetMask = true>
TWIN_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                     const LocalTensor<T>& src1, SELMODE selMode, std::uint64_t mask[], const detail::Repeat repeatTime,
                     const BinaryRepeatParams& p, Site site = Site::here()) {
  detail::select(detail::bit_lanes(mask, repeatTime, isSetMask), dst, selMask, src0, &src1, 0, selMode, p, site);
}
template <class T, class U>
TWIN_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                     detail::Given<T> src1, SELMODE selMode, std::uint32_t count, Site site = Site::here()) {
  detail::select<T>(detail::count_lanes(count), dst, selMask, src0, nullptr, detail::bits_of(src1), selMode, {}, site);
}
template <class T, class U, bool isSetMask = true>
TWIN_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                     detail::Given<T> src1, SELMODE selMode, std::uint64_t mask, const detail::Repeat repeatTime,
                     const BinaryRepeatParams& p, Site site = Site::here()) {
  detail::select<T>(detail::first_lanes(mask, repeatTime, isSetMask), dst, selMask, src0, nullptr, detail::bits_of(src1),
                    selMode, p, site);
}
template <class T, class U, bool isSetMask = true>
TWIN_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                     detail::Given<T> src1, SELMODE selMode, std::uint64_t mask[], const detail::Repeat repeatTime,
                     const BinaryRepeatParams& p, Site site = Site::here()) {
  detail::select<T>(detail::bit_lanes(mask, repeatTime, isSetMask), dst, selMask, src0, nullptr, detail::bits_of(src1),
                    selMode, p, site);
}
// The choice in the compare register (mode 0), or there the address of a mask of as many bits as lanes (mode 2), where
// SetCmpMask has put it; the lanes from SetVectorMask.
template <class T, SELMODE selMode>
TWIN_API void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                     const detail::Repeat repeatTime, const BinaryRepeatParams& p, Site site = Site::here()) {
  static_assert(selMode != SELMODE::VSEL_TENSOR_SCALAR_MODE,
                "Select in mode 1 takes its mask as a tensor, the scalar in the register: Select(dst, selMask, src0, "
                "repeatTime, repeatParams)");
  ::twin::SelectCall call{detail::first_lanes(0, repeatTime, false), dst.view(), nullptr, src0.view(), &src1.view()};
  call.address_in_register = selMode == SELMODE::VSEL_TENSOR_TENSOR_MODE;
  call.dst_stride = {p.dstBlkStride, p.dstRepStride};
  call.src0_stride = {p.src0BlkStride, p.src0RepStride};
  call.src1_stride = {p.src1BlkStride, p.src1RepStride};
  ::twin::vector_select(call, site);
}
// Mode 1 with the scalar in the compare register, where SetCmpMask has put it; the lanes from SetVectorMask.
template <class T, class U>
TWIN_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                     const detail::Repeat repeatTime, const BinaryRepeatParams& p, Site site = Site::here()) {
  ::twin::SelectCall call{detail::first_lanes(0, repeatTime, false), dst.view(), &selMask.view(), src0.view(), nullptr};
  call.scalar_in_register = true;
  call.dst_stride = {p.dstBlkStride, p.dstRepStride};
  call.src0_stride = {p.src0BlkStride, p.src0RepStride};
  ::twin::vector_select(call, site);
}

}  // namespace AscendC
