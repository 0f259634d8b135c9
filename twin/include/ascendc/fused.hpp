// SPDX-License-Identifier: Apache-2.0
// Vector instructions that compute and convert in one step: AddReluCast and its kin, and the dequantising ones.
#pragma once

#include "ascendc/vector.hpp"
#include "twin/calls_vector.hpp"

namespace AscendC {

constexpr std::uint8_t VDEQ_TENSOR_SIZE = 16;
struct VdeqInfo {
  VdeqInfo() = default;
  VdeqInfo(const float scale[VDEQ_TENSOR_SIZE], const std::int16_t offset[VDEQ_TENSOR_SIZE],
           const bool sign[VDEQ_TENSOR_SIZE]) {
    for (int k = 0; k < VDEQ_TENSOR_SIZE; ++k) {
      vdeqScale[k] = scale[k];
      vdeqOffset[k] = offset[k];
      vdeqSignMode[k] = sign[k];
    }
  }
  float vdeqScale[VDEQ_TENSOR_SIZE] = {};
  std::int16_t vdeqOffset[VDEQ_TENSOR_SIZE] = {};
  bool vdeqSignMode[VDEQ_TENSOR_SIZE] = {};
};

namespace detail {
template <class D, class S>
void fused(::twin::Fused op, const ::twin::Lanes& lanes, const LocalTensor<D>& dst, const LocalTensor<S>& a,
           const LocalTensor<S>& b, const BinaryRepeatParams& p, Site site) {
  ::twin::vector_fused({op,
                        lanes,
                        dst.view(),
                        a.view(),
                        b.view(),
                        {p.dstBlkStride, p.dstRepStride},
                        {p.src0BlkStride, p.src0RepStride},
                        {p.src1BlkStride, p.src1RepStride}},
                       site);
}
}  // namespace detail

#define TWIN_FUSED(name)                                                                                            \
  template <class T, class U>                                                                                       \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,             \
                     const std::uint32_t count, Site site = Site::here()) {                                         \
    detail::fused(::twin::Fused::name, detail::count_lanes(count), dst, src0, src1, {}, site);                      \
  }                                                                                                                 \
  template <class T, class U, bool isSetMask = true>                                                                \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,             \
                     std::uint64_t mask[], const detail::Repeat repeatTime, const BinaryRepeatParams& p,            \
                     Site site = Site::here()) {                                                                    \
    detail::fused(::twin::Fused::name, detail::bit_lanes(mask, repeatTime, isSetMask), dst, src0, src1, p, site);   \
  }                                                                                                                 \
  template <class T, class U, bool isSetMask = true>                                                                \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,             \
                     const std::uint64_t mask, const detail::Repeat repeatTime, const BinaryRepeatParams& p,        \
                     Site site = Site::here()) {                                                                    \
    detail::fused(::twin::Fused::name, detail::first_lanes(mask, repeatTime, isSetMask), dst, src0, src1, p, site); \
  }
TWIN_FUSED(AddReluCast)
TWIN_FUSED(SubReluCast)
TWIN_FUSED(MulCast)
TWIN_FUSED(AddDeqRelu)
#undef TWIN_FUSED

// The scale of AddDeqRelu and of int32 to half; of CastDeq for all lanes; of CastDeq for each of sixteen lanes.
TWIN_API void SetDeqScale(half scale, Site site = Site::here()) {
  const float s = scale;
  const std::int16_t offset = 0;
  const bool sign = true;
  ::twin::set_deq_scale(&s, &offset, &sign, false, site);
}
TWIN_API void SetDeqScale(float scale, std::int16_t offset, bool signMode, Site site = Site::here()) {
  ::twin::set_deq_scale(&scale, &offset, &signMode, false, site);
}
template <class T>
TWIN_API void SetDeqScale(const LocalTensor<T>& vdeq, const VdeqInfo& info, Site site = Site::here()) {
  static_assert(sizeof(T) == 8, "SetDeqScale: the tensor holds uint64_t");
  for (int k = 0; k < VDEQ_TENSOR_SIZE; ++k) {  // scale, nine bits of offset from bit 37, the sign at bit 46
    const std::uint64_t word = detail::bits_of(info.vdeqScale[k]) |
                               static_cast<std::uint64_t>(info.vdeqOffset[k] & 0x1ff) << 37 |
                               std::uint64_t{info.vdeqSignMode[k]} << 46;
    vdeq.SetValue(static_cast<std::uint32_t>(k), word, site);
  }
  ::twin::set_deq_scale(info.vdeqScale, info.vdeqOffset, info.vdeqSignMode, true, site);
}

namespace detail {
template <class D, class S>
void dequantise(const ::twin::Lanes& lanes, const LocalTensor<D>& dst, const LocalTensor<S>& src, const UnaryRepeatParams& p,
                bool each, bool lower, Site site) {
  const ::twin::Stride to{p.dstBlkStride, p.dstRepStride}, from{p.srcBlkStride, p.srcRepStride};
  if (::twin::DTypeOf<S>::kValue == ::twin::DType::I32)
    return ::twin::vector_cast(lanes, dst.view(), src.view(), to, from, ::twin::Round::None, site);
  ::twin::vector_dequantise(lanes, dst.view(), src.view(), to, from, each, lower, site);
}
}  // namespace detail
// CastDequant is the newer name.
#define TWIN_DEQUANTISE(name)                                                                                               \
  template <class T, class U, bool isVecDeq = true, bool halfBlock = true>                                                  \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src, const std::uint32_t count,                       \
                     Site site = Site::here()) {                                                                            \
    detail::dequantise(detail::count_lanes(count), dst, src, {}, isVecDeq, halfBlock, site);                                \
  }                                                                                                                         \
  template <class T, class U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>                           \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src, const std::uint64_t mask[],                      \
                     const detail::Repeat repeatTime, const UnaryRepeatParams& p, Site site = Site::here()) {               \
    detail::dequantise(detail::bit_lanes(mask, repeatTime, isSetMask), dst, src, p, isVecDeq, halfBlock, site);             \
  }                                                                                                                         \
  template <class T, class U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>                           \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src, const std::int32_t mask,                         \
                     const detail::Repeat repeatTime, const UnaryRepeatParams& p, Site site = Site::here()) {               \
    detail::dequantise(detail::first_lanes(static_cast<std::uint64_t>(mask), repeatTime, isSetMask), dst, src, p, isVecDeq, \
                       halfBlock, site);                                                                                    \
  }
TWIN_DEQUANTISE(CastDeq)
TWIN_DEQUANTISE(CastDequant)
#undef TWIN_DEQUANTISE

}  // namespace AscendC
