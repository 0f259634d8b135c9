// SPDX-License-Identifier: Apache-2.0
// The compiler's own names of the cube core: moves into L1 and L0, the product, the way out of L0C. Strides and gaps as in
// the parameter structs of DataCopy, LoadData, LoadDataWithTranspose, Mmad and Fixpipe.
#pragma once

#include "ascendc/fixpipe.hpp"
#include "ascendc/raw.hpp"

enum addr_cal_mode_t { inc = 0, dec = 1 };
enum pad_t { PAD_NONE = 0 };
using AscendC::QuantMode_t;

// ---- GM to L1 ----
template <class T>
TWIN_API void copy_gm_to_cbuf(__cbuf__ T* dst, const __gm__ T* src, std::uint8_t, std::uint16_t nBurst,
                              std::uint16_t lenBurst, std::uint16_t srcStride, std::uint16_t dstStride, pad_t,
                              ::twin::Site site = ::twin::Site::here()) {
  ::twin::move_blocks(twin_raw::local(dst, site, ::twin::Space::L1), twin_raw::gm(src),
                      twin_raw::bursts(nBurst, lenBurst, srcStride, dstStride), site);
}
#define TWIN_RAW_ND2NZ(name, width)                                                                                   \
  template <class T>                                                                                                  \
  TWIN_API void name(__cbuf__ T* dst, const __gm__ T* src, std::uint8_t, std::uint16_t ndNum, std::uint16_t nValue,   \
                     std::uint16_t dValue, std::uint32_t srcNdMatrixStride, std::uint16_t srcDValue,                  \
                     std::uint16_t dstNzC0Stride, std::uint16_t dstNzNStride, std::uint16_t dstNzMatrixStride,        \
                     ::twin::Site site = ::twin::Site::here()) {                                                      \
    static_assert(sizeof(T) == width / 8, #name ": the type has another width than the name");                        \
    ::twin::move_nd2nz(                                                                                               \
        twin_raw::local(dst, site, ::twin::Space::L1), twin_raw::gm(src),                                             \
        {ndNum, nValue, dValue, srcNdMatrixStride, srcDValue, dstNzC0Stride, dstNzNStride, dstNzMatrixStride}, site); \
  }
TWIN_RAW_ND2NZ(copy_gm_to_cbuf_multi_nd2nz_b8, 8)
TWIN_RAW_ND2NZ(copy_gm_to_cbuf_multi_nd2nz_b16, 16)
TWIN_RAW_ND2NZ(copy_gm_to_cbuf_multi_nd2nz_b32s, 32)
#undef TWIN_RAW_ND2NZ

// ---- L1 to L0A and L0B ----
#define TWIN_RAW_LOAD(name, to, space)                                                                                    \
  template <class T>                                                                                                      \
  TWIN_API void name(to T* dst, const __cbuf__ T* src, std::uint16_t startIndex, std::uint8_t repeat,                     \
                     std::uint16_t srcStride, std::uint16_t dstGap, std::uint8_t, bool transpose, addr_cal_mode_t mode,   \
                     ::twin::Site site = ::twin::Site::here()) {                                                          \
    ::twin::cube_load_2d(twin_raw::local(dst, site, ::twin::Space::space), twin_raw::local(src, site, ::twin::Space::L1), \
                         {startIndex, repeat, srcStride, dstGap, transpose, mode == dec}, site);                          \
  }
TWIN_RAW_LOAD(load_cbuf_to_ca, __ca__, L0A)
TWIN_RAW_LOAD(load_cbuf_to_cb, __cb__, L0B)
#undef TWIN_RAW_LOAD
#define TWIN_RAW_LOAD_TRANSPOSE(name, to, space)                                                                        \
  template <class T>                                                                                                    \
  TWIN_API void name(to T* dst, const __cbuf__ T* src, std::uint16_t startIndex, std::uint8_t repeat,                   \
                     std::uint16_t srcStride, std::uint16_t dstGap, int backwards, std::uint16_t dstFracGap,            \
                     ::twin::Site site = ::twin::Site::here()) {                                                        \
    if (backwards) return ::twin::refuse_call(#name " with descending addresses", "the twin has ascending ones", site); \
    ::twin::cube_load_transpose(twin_raw::local(dst, site, ::twin::Space::space),                                       \
                                twin_raw::local(src, site, ::twin::Space::L1),                                          \
                                {startIndex, repeat, srcStride, dstGap, dstFracGap}, site);                             \
  }
TWIN_RAW_LOAD_TRANSPOSE(load_cbuf_to_ca_transpose, __ca__, L0A)
TWIN_RAW_LOAD_TRANSPOSE(load_cbuf_to_cb_transpose, __cb__, L0B)
#undef TWIN_RAW_LOAD_TRANSPOSE

// ---- the product ----
template <class C, class A, class B>
TWIN_API void mad(__cc__ C* c, const __ca__ A* a, const __cb__ B* b, std::uint16_t m, std::uint16_t k, std::uint16_t n,
                  std::uint8_t unitFlag, bool kDirectionAlign, bool cmatrixSource, bool cmatrixInitVal,
                  ::twin::Site site = ::twin::Site::here()) {
  (void)kDirectionAlign;  // as in MmadParams
  ::twin::MmadCall call{twin_raw::local(c, site, ::twin::Space::L0C),
                        twin_raw::local(a, site, ::twin::Space::L0A),
                        twin_raw::local(b, site, ::twin::Space::L0B),
                        {},
                        false,
                        m,
                        n,
                        k,
                        cmatrixInitVal,
                        false,
                        unitFlag};
  if (!cmatrixInitVal && cmatrixSource) {  // the BiasTable from its begin
    call.from_bias = true;
    call.bias.space = ::twin::Space::BT;
    call.bias.dtype = ::twin::DTypeOf<C>::kValue;
  }
  ::twin::cube_mmad(call, site);
}

// ---- out of L0C. The registers: matrices | source stride << 16 | destination stride << 32; a scale for all columns ----
TWIN_API void set_nd_para(std::uint64_t config) {
  AscendC::SetFixpipeNz2ndFlag(static_cast<std::uint16_t>(config), static_cast<std::uint16_t>(config >> 16),
                               static_cast<std::uint16_t>(config >> 32));
}
TWIN_API void set_quant_pre(std::uint64_t config) { AscendC::SetFixpipePreQuantFlag(config); }
template <class T, class C>
TWIN_API void copy_matrix_cc_to_gm(__gm__ T* dst, const __cc__ C* src, std::uint8_t, std::uint16_t nSize,
                                   std::uint16_t mSize, std::uint32_t dstStride, std::uint16_t srcStride,
                                   std::uint8_t unitFlag, std::uint64_t quantPre, std::uint8_t reluPre, bool channelSplit,
                                   bool nz2ndEn, ::twin::Site site = ::twin::Site::here()) {
  const ::twin::FixpipeRegisters& r = ::twin::fixpipe_registers();
  ::twin::FixpipeCall call{twin_raw::gm(dst), twin_raw::local(src, site, ::twin::Space::L0C), nSize, mSize, srcStride,
                           dstStride};
  call.name = "copy_matrix_cc_to_gm";
  call.row_major = nz2ndEn;
  call.channel_split = channelSplit;
  call.relu = reluPre == 1;
  call.unit_flag = unitFlag;
  call.scale = r.scale;
  call.scales = r.scales;
  if (nz2ndEn)
    call.matrices = r.matrices, call.src_matrix_stride = r.src_matrix_stride, call.dst_matrix_stride = r.dst_matrix_stride;
  const bool known = quantPre <= AscendC::VREQ8;
  AscendC::detail::quantise(call, known ? static_cast<AscendC::QuantMode_t>(quantPre) : AscendC::NoQuant);
  call.mode_fits = known && reluPre <= 1 && (!call.a_scale_a_column || r.scales_given);
  ::twin::cube_fixpipe(call, site);
}
