// SPDX-License-Identifier: Apache-2.0
// The compiler's own names of vector instructions that reduce, convert, compare, choose and spread, over pointers into UB.
// The mask register holds the lanes. Strides count blocks of 32 bytes, those of a reduction's results the results of a
// repeat.
#pragma once

#include "ascendc/compare.hpp"
#include "ascendc/raw.hpp"

enum Order_t { VALUE_INDEX = 0, INDEX_VALUE = 1, ONLY_VALUE = 2, ONLY_INDEX = 3 };

// ---- reductions. vcadd with mode true leaves one sum in the register of get_acc_val, bits of an element, and no dst ----
template <class T>
TWIN_API void vcadd(__ubuf__ T* dst, const __ubuf__ T* src, std::uint8_t repeat, std::uint16_t dstRepeatStride,
                    std::uint16_t srcBlockStride, std::uint16_t srcRepeatStride, bool mode,
                    ::twin::Site site = ::twin::Site::here()) {
  if (mode)
    return ::twin::reduce_to_register(AscendC::detail::first_lanes(0, repeat, false), twin_raw::local(src, site),
                                      {srcBlockStride, srcRepeatStride}, "vcadd", site);
  ::twin::reduce_whole(::twin::Reduce::Sum, ::twin::ReduceOut::Value, AscendC::detail::first_lanes(0, repeat, false),
                       twin_raw::local(dst, site), twin_raw::local(src, site), dstRepeatStride,
                       {srcBlockStride, srcRepeatStride}, "vcadd", site);
}
TWIN_API std::int64_t get_acc_val(::twin::Site site = ::twin::Site::here()) {
  return static_cast<std::int64_t>(::twin::reduced_sum(site));
}
#define TWIN_RAW_EXTREME(name, op)                                                                                     \
  template <class T>                                                                                                   \
  TWIN_API void name(__ubuf__ T* dst, const __ubuf__ T* src, std::uint8_t repeat, std::uint16_t dstRepeatStride,       \
                     std::uint16_t srcBlockStride, std::uint16_t srcRepeatStride, Order_t order,                       \
                     ::twin::Site site = ::twin::Site::here()) {                                                       \
    ::twin::reduce_whole(::twin::Reduce::op, static_cast<::twin::ReduceOut>(order),                                    \
                         AscendC::detail::first_lanes(0, repeat, false), twin_raw::local(dst, site),                   \
                         twin_raw::local(src, site), dstRepeatStride, {srcBlockStride, srcRepeatStride}, #name, site); \
  }
TWIN_RAW_EXTREME(vcmax, Max)
TWIN_RAW_EXTREME(vcmin, Min)
#undef TWIN_RAW_EXTREME
#define TWIN_RAW_BLOCKS(name, op, pairs)                                                                         \
  template <class T>                                                                                             \
  TWIN_API void name(__ubuf__ T* dst, const __ubuf__ T* src, std::uint8_t repeat, std::uint16_t dstRepeatStride, \
                     std::uint16_t srcBlockStride, std::uint16_t srcRepeatStride,                                \
                     ::twin::Site site = ::twin::Site::here()) {                                                 \
    ::twin::reduce_block(::twin::Reduce::op, pairs, AscendC::detail::first_lanes(0, repeat, false),              \
                         twin_raw::local(dst, site), twin_raw::local(src, site), dstRepeatStride,                \
                         {srcBlockStride, srcRepeatStride}, #name, site);                                        \
  }
TWIN_RAW_BLOCKS(vcgadd, Sum, false)
TWIN_RAW_BLOCKS(vcgmax, Max, false)
TWIN_RAW_BLOCKS(vcgmin, Min, false)
TWIN_RAW_BLOCKS(vcpadd, Sum, true)
#undef TWIN_RAW_BLOCKS

// ---- one element to a block ----
template <class T>
TWIN_API void vbrcb(__ubuf__ T* dst, const __ubuf__ T* src, std::uint16_t dstBlockStride, std::uint16_t dstRepeatStride,
                    std::uint8_t repeat, ::twin::Site site = ::twin::Site::here()) {
  ::twin::vector_brcb(twin_raw::local(dst, site), twin_raw::local(src, site), repeat, {dstBlockStride, dstRepeatStride},
                      site);
}

// ---- conversions: vconv_f322f16, with r rint, a round, f floor, c ceil, z trunc or o odd behind it ----
#define TWIN_RAW_CONVERT(name, S, D, round)                                                                               \
  TWIN_API void name(__ubuf__ D* dst, const __ubuf__ S* src, std::uint8_t repeat, std::uint16_t dstBlockStride,           \
                     std::uint16_t srcBlockStride, std::uint16_t dstRepeatStride, std::uint16_t srcRepeatStride,          \
                     ::twin::Site site = ::twin::Site::here()) {                                                          \
    ::twin::vector_cast(AscendC::detail::first_lanes(0, repeat, false), twin_raw::local(dst, site),                       \
                        twin_raw::local(src, site), {dstBlockStride, dstRepeatStride}, {srcBlockStride, srcRepeatStride}, \
                        ::twin::Round::round, site);                                                                      \
  }
#define TWIN_RAW_ROUNDED(name, S, D)     \
  TWIN_RAW_CONVERT(name##r, S, D, Rint)  \
  TWIN_RAW_CONVERT(name##a, S, D, Round) \
  TWIN_RAW_CONVERT(name##f, S, D, Floor) \
  TWIN_RAW_CONVERT(name##c, S, D, Ceil)  \
  TWIN_RAW_CONVERT(name##z, S, D, Trunc)
TWIN_RAW_ROUNDED(vconv_f322f32, float, float)
TWIN_RAW_CONVERT(vconv_f322f16, float, half, None)
TWIN_RAW_ROUNDED(vconv_f322f16, float, half)
TWIN_RAW_CONVERT(vconv_f322f16o, float, half, Odd)
TWIN_RAW_ROUNDED(vconv_f322bf16, float, bfloat16_t)
TWIN_RAW_ROUNDED(vconv_f322s64, float, std::int64_t)
TWIN_RAW_ROUNDED(vconv_f322s32, float, std::int32_t)
TWIN_RAW_ROUNDED(vconv_f322s16, float, std::int16_t)
TWIN_RAW_CONVERT(vconv_f162f32, half, float, None)
TWIN_RAW_ROUNDED(vconv_f162s32, half, std::int32_t)
TWIN_RAW_ROUNDED(vconv_f162s16, half, std::int16_t)
TWIN_RAW_CONVERT(vconv_f162s8, half, std::int8_t, None)
TWIN_RAW_ROUNDED(vconv_f162s8, half, std::int8_t)
TWIN_RAW_CONVERT(vconv_f162u8, half, std::uint8_t, None)
TWIN_RAW_ROUNDED(vconv_f162u8, half, std::uint8_t)
TWIN_RAW_CONVERT(vconv_bf162f32, bfloat16_t, float, None)
TWIN_RAW_ROUNDED(vconv_bf162s32, bfloat16_t, std::int32_t)
TWIN_RAW_CONVERT(vconv_s82f16, std::int8_t, half, None)
TWIN_RAW_CONVERT(vconv_u82f16, std::uint8_t, half, None)
TWIN_RAW_CONVERT(vconv_s162f16, std::int16_t, half, None)
TWIN_RAW_ROUNDED(vconv_s162f16, std::int16_t, half)
TWIN_RAW_CONVERT(vconv_s162f32, std::int16_t, float, None)
TWIN_RAW_CONVERT(vconv_s322f32, std::int32_t, float, None)
TWIN_RAW_ROUNDED(vconv_s322f32, std::int32_t, float)
TWIN_RAW_CONVERT(vconv_s322s16, std::int32_t, std::int16_t, None)
TWIN_RAW_CONVERT(vconv_s322s64, std::int32_t, std::int64_t, None)
TWIN_RAW_ROUNDED(vconv_s642f32, std::int64_t, float)
TWIN_RAW_CONVERT(vconv_s642s32, std::int64_t, std::int32_t, None)
#undef TWIN_RAW_ROUNDED
#undef TWIN_RAW_CONVERT

// ---- comparisons: one bit a lane, without a mask; vcmp_ into the compare register, by the mask ----
#define TWIN_RAW_COMPARE(suffix, how)                                                                                   \
  template <class T>                                                                                                    \
  TWIN_API void vcmpv_##suffix(__ubuf__ std::uint8_t* dst, const __ubuf__ T* src0, const __ubuf__ T* src1,              \
                               std::uint8_t repeat, std::uint8_t, std::uint8_t src0BlockStride,                         \
                               std::uint8_t src1BlockStride, std::uint8_t, std::uint8_t src0RepeatStride,               \
                               std::uint8_t src1RepeatStride, ::twin::Site site = ::twin::Site::here()) {               \
    const ::twin::View other = twin_raw::local(src1, site);                                                             \
    ::twin::vector_compare(AscendC::detail::first_lanes(0, repeat, false), twin_raw::local(dst, site),                  \
                           twin_raw::local(src0, site), &other, 0, ::twin::Compare::how,                                \
                           {src0BlockStride, src0RepeatStride}, {src1BlockStride, src1RepeatStride}, "vcmpv_" #suffix,  \
                           site);                                                                                       \
  }                                                                                                                     \
  template <class T>                                                                                                    \
  TWIN_API void vcmpvs_##suffix(__ubuf__ std::uint8_t* dst, const __ubuf__ T* src0, AscendC::detail::Given<T> src1,     \
                                std::uint8_t repeat, std::uint16_t, std::uint16_t srcBlockStride, std::uint16_t,        \
                                std::uint16_t srcRepeatStride, ::twin::Site site = ::twin::Site::here()) {              \
    ::twin::vector_compare(AscendC::detail::first_lanes(0, repeat, false), twin_raw::local(dst, site),                  \
                           twin_raw::local(src0, site), nullptr, AscendC::detail::bits_of(src1), ::twin::Compare::how,  \
                           {srcBlockStride, srcRepeatStride}, {}, "vcmpvs_" #suffix, site);                             \
  }                                                                                                                     \
  template <class T>                                                                                                    \
  TWIN_API void vcmp_##suffix(const __ubuf__ T* src0, const __ubuf__ T* src1, std::uint8_t repeat, std::uint8_t,        \
                              std::uint8_t src0BlockStride, std::uint8_t src1BlockStride, std::uint8_t,                 \
                              std::uint8_t src0RepeatStride, std::uint8_t src1RepeatStride,                             \
                              ::twin::Site site = ::twin::Site::here()) {                                               \
    if (repeat != 1)                                                                                                    \
      return ::twin::refuse_call("vcmp_" #suffix " of other than one repeat: the register holds one", "vcmpv_", site);  \
    ::twin::vector_compare_to_register(AscendC::detail::first_lanes(0, 1, false), twin_raw::local(src0, site),          \
                                       twin_raw::local(src1, site), ::twin::Compare::how,                               \
                                       {src0BlockStride, src0RepeatStride}, {src1BlockStride, src1RepeatStride}, site); \
  }
TWIN_RAW_COMPARE(eq, EQ)
TWIN_RAW_COMPARE(ne, NE)
TWIN_RAW_COMPARE(lt, LT)
TWIN_RAW_COMPARE(gt, GT)
TWIN_RAW_COMPARE(le, LE)
TWIN_RAW_COMPARE(ge, GE)
#undef TWIN_RAW_COMPARE
template <class T>
TWIN_API void set_cmpmask(const __ubuf__ T* src, ::twin::Site site = ::twin::Site::here()) {
  ::twin::compare_register(twin_raw::local(src, site), true, site);
}
template <class T>
TWIN_API void get_cmpmask(__ubuf__ T* dst, ::twin::Site site = ::twin::Site::here()) {
  ::twin::compare_register(twin_raw::local(dst, site), false, site);
}

// Mode 0: by the compare register, between two vectors. Mode 1: src1 points at the bits; the other is the register's scalar.
// Mode 2: the register holds the address of the bits, between two vectors.
template <class T, class Other>
TWIN_API void vsel(__ubuf__ T* dst, const __ubuf__ T* src0, const __ubuf__ Other* src1, std::uint8_t repeat,
                   std::uint8_t dstBlockStride, std::uint8_t src0BlockStride, std::uint8_t src1BlockStride,
                   std::uint8_t dstRepeatStride, std::uint8_t src0RepeatStride, std::uint8_t src1RepeatStride,
                   std::uint8_t selectMode, ::twin::Site site = ::twin::Site::here()) {
  if (selectMode > 2) return ::twin::refuse_call("vsel with a selectMode above 2", "0, 1 or 2", site);
  const ::twin::View other = selectMode != 1 ? twin_raw::local(reinterpret_cast<const __ubuf__ T*>(src1), site)
                                             : twin_raw::local(reinterpret_cast<const __ubuf__ std::uint8_t*>(src1), site);
  ::twin::SelectCall call{AscendC::detail::first_lanes(0, repeat, false), twin_raw::local(dst, site), nullptr,
                          twin_raw::local(src0, site), nullptr};
  call.address_in_register = selectMode == 2;
  if (selectMode != 1) {
    call.src1 = &other;
  } else {
    call.mask = &other;
    call.scalar_in_register = true;
  }
  call.dst_stride = {dstBlockStride, dstRepeatStride};
  call.src0_stride = {src0BlockStride, src0RepeatStride};
  call.src1_stride = {src1BlockStride, src1RepeatStride};
  ::twin::vector_select(call, site);
}
