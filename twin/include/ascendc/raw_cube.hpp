// SPDX-License-Identifier: Apache-2.0
// The compiler's own names of the cube core: moves into L1 and L0, the product, the way out of L0C. Strides and gaps as in
// the parameter structs of DataCopy, LoadData, LoadDataWithTranspose, Mmad and Fixpipe.
#pragma once

#include "ascendc/fixpipe.hpp"
#include "ascendc/raw.hpp"

enum addr_cal_mode_t { inc = 0, dec = 1 };
enum pad_t { PAD_NONE = 0 };
using AscendC::QuantMode_t, AscendC::NoQuant, AscendC::F322F16, AscendC::F322BF16, AscendC::DEQF16, AscendC::VDEQF16,
    AscendC::QF322B8_PRE, AscendC::VQF322B8_PRE, AscendC::REQ8, AscendC::VREQ8;

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
#define TWIN_RAW_LOAD_TRANSPOSE(name, to, space)                                                             \
  template <class T>                                                                                         \
  TWIN_API void name(to T* dst, const __cbuf__ T* src, std::uint16_t startIndex, std::uint8_t repeat,        \
                     std::uint16_t srcStride, std::uint16_t dstGap, int backwards, std::uint16_t dstFracGap, \
                     ::twin::Site site = ::twin::Site::here()) {                                             \
    ::twin::cube_load_transpose(twin_raw::local(dst, site, ::twin::Space::space),                            \
                                twin_raw::local(src, site, ::twin::Space::L1),                               \
                                {startIndex, repeat, srcStride, dstGap, dstFracGap, backwards != 0}, site);  \
  }
TWIN_RAW_LOAD_TRANSPOSE(load_cbuf_to_ca_transpose, __ca__, L0A)
TWIN_RAW_LOAD_TRANSPOSE(load_cbuf_to_cb_transpose, __cb__, L0B)
#undef TWIN_RAW_LOAD_TRANSPOSE

// ---- L1 to the BiasTable (an address in bytes) and to the Fixpipe buffer ----
// Lengths and the destination's gaps count 64 bytes; with convControl the source is half, and becomes float.
template <class T>
TWIN_API void copy_cbuf_to_bt(std::uint64_t dst, const __cbuf__ T* src, std::uint16_t convControl, std::uint16_t nBurst,
                              std::uint16_t lenBurst, std::uint16_t sourceGap, std::uint16_t dstGap,
                              ::twin::Site site = ::twin::Site::here()) {
  ::twin::View l1 = twin_raw::local(src, site, ::twin::Space::L1);
  ::twin::View bt = twin_raw::local(reinterpret_cast<const T*>(dst), site, ::twin::Space::BT);
  const std::uint64_t length = std::uint64_t{lenBurst} * 64, wide = convControl ? 2 * length : length;
  const ::twin::Blocks blocks{nBurst, length, length + sourceGap * 32u, wide + dstGap * 64u};
  if (!convControl) return ::twin::move_blocks(bt, l1, blocks, site);
  l1.dtype = ::twin::DType::F16;
  bt.dtype = ::twin::DType::F32;
  ::twin::move_to_bias(bt, l1, blocks, site);
}
// Lengths and the destination's gaps count 128 bytes.
template <class D, class S>
TWIN_API void copy_cbuf_to_fbuf(__fbuf__ D* dst, const __cbuf__ S* src, std::uint16_t burstNum, std::uint16_t burstLen,
                                std::uint16_t srcGapSize, std::uint16_t dstGapSize,
                                ::twin::Site site = ::twin::Site::here()) {
  const std::uint64_t length = std::uint64_t{burstLen} * 128;
  ::twin::move_blocks(twin_raw::local(dst, site, ::twin::Space::FB), twin_raw::local(src, site, ::twin::Space::L1),
                      {burstNum, length, length + srcGapSize * 32u, length + dstGapSize * 128u}, site);
}

// ---- the product; with an address in the BiasTable, from its begin without one ----
namespace twin_raw {
template <class C, class A, class B>
void product(__cc__ C* c, const __ca__ A* a, const __cb__ B* b, std::uint64_t bias, std::uint32_t m, std::uint32_t k,
             std::uint32_t n, std::uint8_t unitFlag, bool cmatrixSource, bool cmatrixInitVal, ::twin::Site site) {
  ::twin::MmadCall call{local(c, site, ::twin::Space::L0C),
                        local(a, site, ::twin::Space::L0A),
                        local(b, site, ::twin::Space::L0B),
                        {},
                        false,
                        m,
                        n,
                        k,
                        cmatrixInitVal,
                        false,
                        unitFlag};
  if (!cmatrixInitVal && cmatrixSource) {
    call.from_bias = true;
    call.bias = local(reinterpret_cast<const C*>(bias), site, ::twin::Space::BT);
  }
  ::twin::cube_mmad(call, site);
}
inline bool no_offsets(std::uint8_t featOffset, std::uint8_t smaskOffset, bool isWeightOffset, ::twin::Site site) {
  if (featOffset == 0 && smaskOffset == 0 && !isWeightOffset) return true;
  ::twin::refuse_call("mad with featOffset, smaskOffset or isWeightOffset, which the 910B does not have", "0, 0, false",
                      site);
  return false;
}
}  // namespace twin_raw
// kDirectionAlign is as in MmadParams.
template <class C, class A, class B>
TWIN_API void mad(__cc__ C* c, const __ca__ A* a, const __cb__ B* b, std::uint16_t m, std::uint16_t k, std::uint16_t n,
                  std::uint8_t unitFlag, bool kDirectionAlign, bool cmatrixSource, bool cmatrixInitVal,
                  ::twin::Site site = ::twin::Site::here()) {
  (void)kDirectionAlign;
  twin_raw::product(c, a, b, 0, m, k, n, unitFlag, cmatrixSource, cmatrixInitVal, site);
}
template <class C, class A, class B>
TWIN_API void mad(__cc__ C* c, const __ca__ A* a, const __cb__ B* b, std::uint64_t bt_addr, std::uint16_t m, std::uint16_t k,
                  std::uint16_t n, std::uint8_t unitFlag, bool kDirectionAlign, bool cmatrixSource, bool cmatrixInitVal,
                  ::twin::Site site = ::twin::Site::here()) {
  (void)kDirectionAlign;
  twin_raw::product(c, a, b, bt_addr, m, k, n, unitFlag, cmatrixSource, cmatrixInitVal, site);
}
template <class C, class A, class B>
TWIN_API void mad(__cc__ C* c, const __ca__ A* a, const __cb__ B* b, std::uint16_t m, std::uint16_t k, std::uint16_t n,
                  std::uint8_t featOffset, std::uint8_t smaskOffset, std::uint8_t unitFlag, bool kDirectionAlign,
                  bool isWeightOffset, bool cmatrixSource, bool cmatrixInitVal, ::twin::Site site = ::twin::Site::here()) {
  (void)kDirectionAlign;
  if (twin_raw::no_offsets(featOffset, smaskOffset, isWeightOffset, site))
    twin_raw::product(c, a, b, 0, m, k, n, unitFlag, cmatrixSource, cmatrixInitVal, site);
}
template <class C, class A, class B>
TWIN_API void mad(__cc__ C* c, const __ca__ A* a, const __cb__ B* b, std::uint64_t bt_addr, std::uint16_t m, std::uint16_t k,
                  std::uint16_t n, std::uint8_t featOffset, std::uint8_t smaskOffset, std::uint8_t unitFlag,
                  bool kDirectionAlign, bool isWeightOffset, bool cmatrixSource, bool cmatrixInitVal,
                  ::twin::Site site = ::twin::Site::here()) {
  (void)kDirectionAlign;
  if (twin_raw::no_offsets(featOffset, smaskOffset, isWeightOffset, site))
    twin_raw::product(c, a, b, bt_addr, m, k, n, unitFlag, cmatrixSource, cmatrixInitVal, site);
}
template <class C, class A, class B>
TWIN_API void mad(__cc__ C* c, const __ca__ A* a, const __cb__ B* b, std::uint16_t m, std::uint16_t k, std::uint16_t n,
                  bool init_val_controlC, ::twin::Site site = ::twin::Site::here()) {
  twin_raw::product(c, a, b, 0, m, k, n, 0, false, init_val_controlC, site);
}

// ---- out of L0C. The registers: matrices | source stride << 16 | destination stride << 32; a scale for all columns ----
TWIN_API void set_nd_para(std::uint64_t config) {
  AscendC::SetFixpipeNz2ndFlag(static_cast<std::uint16_t>(config), static_cast<std::uint16_t>(config >> 16),
                               static_cast<std::uint16_t>(config >> 32));
}
TWIN_API void set_quant_pre(std::uint64_t config) { AscendC::SetFixpipePreQuantFlag(config); }
// From bit 8 on: where the scales of the columns lie in the Fixpipe buffer, in 128 bytes; below: those of relu, which modes
// 0 and 1 do not read.
TWIN_API void set_fpc(std::uint64_t config, ::twin::Site site = ::twin::Site::here()) {
  ::twin::FixpipeRegisters& r = ::twin::fixpipe_registers();
  r.scales = twin_raw::local(reinterpret_cast<const std::uint64_t*>(config >> 8 << 7), site, ::twin::Space::FB);
  r.scales_given = true;
}
namespace twin_raw {
inline void out_of_l0c(const char* name, ::twin::View dst, ::twin::View src, std::uint16_t nSize, std::uint16_t mSize,
                       std::uint32_t dstStride, std::uint16_t srcStride, std::uint8_t unitFlag, std::uint64_t quantPre,
                       std::uint8_t reluPre, bool channelSplit, bool nz2ndEn, ::twin::Site site) {
  const ::twin::FixpipeRegisters& r = ::twin::fixpipe_registers();
  ::twin::FixpipeCall call{dst, src, nSize, mSize, srcStride, dstStride};
  call.name = name;
  call.row_major = nz2ndEn;
  call.channel_split = channelSplit;
  call.relu = reluPre == 1;
  call.unit_flag = unitFlag;
  call.scale = r.scale;
  call.scales = r.scales;
  if (nz2ndEn)
    call.matrices = r.matrices, call.src_matrix_stride = r.src_matrix_stride, call.dst_matrix_stride = r.dst_matrix_stride;
  call.mode_fits = AscendC::detail::quantise(call, quantPre) && reluPre <= 1 && (!call.a_scale_a_column || r.scales_given);
  ::twin::cube_fixpipe(call, site);
}
}  // namespace twin_raw
template <class T, class C>
TWIN_API void copy_matrix_cc_to_gm(__gm__ T* dst, const __cc__ C* src, std::uint8_t, std::uint16_t nSize,
                                   std::uint16_t mSize, std::uint32_t dstStride, std::uint16_t srcStride,
                                   std::uint8_t unitFlag, std::uint64_t quantPre, std::uint8_t reluPre, bool channelSplit,
                                   bool nz2ndEn, ::twin::Site site = ::twin::Site::here()) {
  twin_raw::out_of_l0c("copy_matrix_cc_to_gm", twin_raw::gm(dst), twin_raw::local(src, site, ::twin::Space::L0C), nSize,
                       mSize, dstStride, srcStride, unitFlag, quantPre, reluPre, channelSplit, nz2ndEn, site);
}
template <class T, class C>
TWIN_API void copy_matrix_cc_to_cbuf(__cbuf__ T* dst, const __cc__ C* src, std::uint8_t, std::uint16_t nSize,
                                     std::uint16_t mSize, std::uint32_t dstStride, std::uint16_t srcStride,
                                     std::uint8_t unitFlag, std::uint64_t quantPre, std::uint8_t reluPre, bool channelSplit,
                                     bool nz2ndEn, ::twin::Site site = ::twin::Site::here()) {
  twin_raw::out_of_l0c("copy_matrix_cc_to_cbuf", twin_raw::local(dst, site, ::twin::Space::L1),
                       twin_raw::local(src, site, ::twin::Space::L0C), nSize, mSize, dstStride, srcStride, unitFlag,
                       quantPre, reluPre, channelSplit, nz2ndEn, site);
}
