// SPDX-License-Identifier: Apache-2.0
// The compiler's own names of vector instructions that gather, pick out, copy, or compute and convert, over pointers into
// UB.
#pragma once

#include "ascendc/raw.hpp"
#include "ascendc/rearrange.hpp"

// ---- gathers: src holds uint32 distances in bytes from offsetAddr, which is the lower half of an address in UB ----
template <class T>
TWIN_API void vgather(__ubuf__ T* dst, const __ubuf__ std::uint32_t* src, std::uint32_t offsetAddr,
                      std::uint16_t dstRepeatStride, std::uint8_t repeat, ::twin::Site site = ::twin::Site::here()) {
  ::twin::vector_gather_lanes(AscendC::detail::first_lanes(0, repeat, false), twin_raw::local(dst, site), dstRepeatStride,
                              ::twin::ub_view(offsetAddr, ::twin::DTypeOf<T>::kValue), twin_raw::local(src, site), 0, site);
}
// Eight blocks of 32 bytes a repeat, whatever the mask.
template <class T>
TWIN_API void vgatherb(__ubuf__ T* dst, const __ubuf__ std::uint32_t* src, std::uint32_t offsetAddr,
                       std::uint16_t dstRepeatStride, std::uint8_t dstBlockStride, std::uint8_t repeat,
                       ::twin::Site site = ::twin::Site::here()) {
  ::twin::vector_gatherb(twin_raw::local(dst, site), ::twin::ub_view(offsetAddr, ::twin::DTypeOf<T>::kValue),
                         twin_raw::local(src, site), repeat, {dstBlockStride, dstRepeatStride}, site);
}

// ---- the lanes that a pattern or, with patternMode 0, the bits at src1 choose, one behind another ----
template <class T>
TWIN_API void vreducev2(__ubuf__ T* dst, const __ubuf__ T* src0, const __ubuf__ T* src1, std::uint16_t repeat,
                        std::uint8_t src0BlockStride, std::uint8_t patternMode, std::uint16_t src0RepeatStride,
                        std::uint8_t src1RepeatStride, ::twin::Site site = ::twin::Site::here()) {
  const ::twin::View mask = patternMode ? ::twin::View{} : twin_raw::local(src1, site);
  ::twin::vector_gather_mask(twin_raw::local(dst, site), twin_raw::local(src0, site), patternMode ? nullptr : &mask,
                             patternMode, false, 0, repeat, {src0BlockStride, src0RepeatStride}, src1RepeatStride, site);
}
TWIN_API std::int64_t get_rsvd_cnt(::twin::Site site = ::twin::Site::here()) {
  return static_cast<std::int64_t>(::twin::kept_by_gather_mask(site));
}

template <class T>
TWIN_API void vcopy(__ubuf__ T* dst, const __ubuf__ T* src, std::uint8_t repeat, std::uint16_t dstStride,
                    std::uint16_t srcStride, std::uint16_t dstRepeatSize, std::uint16_t srcRepeatSize,
                    ::twin::Site site = ::twin::Site::here()) {
  ::twin::vector_copy(AscendC::detail::first_lanes(0, repeat, false), twin_raw::local(dst, site), twin_raw::local(src, site),
                      {dstStride, dstRepeatSize}, {srcStride, srcRepeatSize}, site);
}

// ---- computing and converting. `h`: no page says what it does where it is true ----
#define TWIN_RAW_FUSED(name, op, D, S, more, check)                                                                   \
  TWIN_API void name(__ubuf__ D* dst, const __ubuf__ S* src0, const __ubuf__ S* src1, std::uint8_t repeat,            \
                     std::uint8_t dstBlockStride, std::uint8_t src0BlockStride, std::uint8_t src1BlockStride,         \
                     std::uint8_t dstRepeatStride, std::uint8_t src0RepeatStride, std::uint8_t src1RepeatStride more, \
                     ::twin::Site site = ::twin::Site::here()) {                                                      \
    check;                                                                                                            \
    ::twin::vector_fused({::twin::Fused::op,                                                                          \
                          AscendC::detail::first_lanes(0, repeat, false),                                             \
                          twin_raw::local(dst, site),                                                                 \
                          twin_raw::local(src0, site),                                                                \
                          twin_raw::local(src1, site),                                                                \
                          {dstBlockStride, dstRepeatStride},                                                          \
                          {src0BlockStride, src0RepeatStride},                                                        \
                          {src1BlockStride, src1RepeatStride}},                                                       \
                         site);                                                                                       \
  }
#define TWIN_RAW_H , bool h
#define TWIN_RAW_NO_H(name) \
  if (h) return ::twin::refuse_call(#name " with h true, of which no page says what it does", "false", site)
#define TWIN_RAW_RELU_FUSED(name, op, D, S) TWIN_RAW_FUSED(name, op, D, S, TWIN_RAW_H, TWIN_RAW_NO_H(name))
TWIN_RAW_RELU_FUSED(vaddreluconv_f162s8, AddReluCast, std::int8_t, half)
TWIN_RAW_RELU_FUSED(vaddreluconv_s162s8, AddReluCast, std::int8_t, std::int16_t)
TWIN_RAW_RELU_FUSED(vaddreluconv_f322f16, AddReluCast, half, float)
TWIN_RAW_RELU_FUSED(vsubreluconv_f162s8, SubReluCast, std::int8_t, half)
TWIN_RAW_RELU_FUSED(vsubreluconv_s162s8, SubReluCast, std::int8_t, std::int16_t)
TWIN_RAW_RELU_FUSED(vsubreluconv_f322f16, SubReluCast, half, float)
TWIN_RAW_FUSED(vmulconv_f162s8, MulCast, std::int8_t, half, , )
TWIN_RAW_FUSED(vmulconv_f162u8, MulCast, std::uint8_t, half, , )
#undef TWIN_RAW_RELU_FUSED
#undef TWIN_RAW_NO_H
#undef TWIN_RAW_H
#undef TWIN_RAW_FUSED
