// SPDX-License-Identifier: Apache-2.0
// LoadData, Mmad and Fixpipe.
#pragma once

#include "ascendc/move.hpp"

namespace AscendC {

struct LoadData2DParams {
  LoadData2DParams() = default;
  LoadData2DParams(std::uint16_t start, std::uint8_t repeat, std::uint16_t src, std::uint8_t reserved, std::uint16_t dst,
                   bool transpose, std::uint8_t mode)
      : startIndex(start),
        repeatTimes(repeat),
        srcStride(src),
        sid(reserved),
        dstGap(dst),
        ifTranspose(transpose),
        addrMode(mode) {}
  std::uint16_t startIndex = 0;
  std::uint8_t repeatTimes = 0;
  std::uint16_t srcStride = 0;
  std::uint8_t sid = 0;
  std::uint16_t dstGap = 0;
  bool ifTranspose = false;
  std::uint8_t addrMode = 0;
};
struct LoadData2dTransposeParams {
  LoadData2dTransposeParams() = default;
  LoadData2dTransposeParams(std::uint16_t start, std::uint8_t repeat, std::uint16_t src, std::uint16_t dst,
                            std::uint16_t fractal, std::uint8_t mode = 0)
      : startIndex(start), repeatTimes(repeat), srcStride(src), dstGap(dst), dstFracGap(fractal), addrMode(mode) {}
  std::uint16_t startIndex = 0;
  std::uint8_t repeatTimes = 0;
  std::uint16_t srcStride = 0, dstGap = 0, dstFracGap = 0;
  std::uint8_t addrMode = 0;
};
template <class T>
struct InitConstValueParams {
  InitConstValueParams() = default;
  InitConstValueParams(std::uint16_t repeat, std::uint16_t blocks, std::uint16_t gap, T value)
      : repeatTimes(repeat), blockNum(blocks), dstGap(gap), initValue(value) {}
  std::uint16_t repeatTimes = 0, blockNum = 0, dstGap = 0;
  T initValue = T(0);
};
struct MmadParams {
  MmadParams() = default;
  MmadParams(std::uint16_t rows, std::uint16_t columns, std::uint16_t inner, bool bias, std::int32_t offset = 0,
             bool sparse = false, bool winograd_a = false, bool winograd_b = false)
      : m(rows),
        n(columns),
        k(inner),
        isBias(bias),
        fmOffset(offset),
        enSsparse(sparse),
        enWinogradA(winograd_a),
        enWinogradB(winograd_b) {}
  MmadParams(std::uint16_t rows, std::uint16_t columns, std::uint16_t inner, std::uint8_t unit, bool from_bias_table,
             bool zero)
      : m(rows), n(columns), k(inner), unitFlag(unit), cmatrixInitVal(zero), cmatrixSource(from_bias_table) {}
  std::uint16_t m = 0, n = 0, k = 0;
  bool isBias = false;
  std::int32_t fmOffset = 0;
  bool enSsparse = false, enWinogradA = false, enWinogradB = false;
  std::uint8_t unitFlag = 0;
  bool cmatrixInitVal = true, cmatrixSource = false;
};
struct FixpipeConfig {
  CO2Layout format;
};
inline constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
inline constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};
struct FixpipeParamsV220 {
  FixpipeParamsV220() = default;
  FixpipeParamsV220(std::uint16_t columns, std::uint16_t rows, std::uint16_t src, std::uint32_t dst, bool relu)
      : nSize(columns), mSize(rows), srcStride(src), dstStride(dst), reluEn(relu) {}
  std::uint16_t nSize = 0, mSize = 0, srcStride = 0;
  std::uint32_t dstStride = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  std::uint64_t deqScalar = 0;
  std::uint16_t ndNum = 1, srcNdStride = 0, dstNdStride = 0;
  bool reluEn = false;
  std::uint8_t unitFlag = 0;
  bool isChannelSplit = false;
};

template <class T>
TWIN_API void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParams& p,
                       Site site = Site::here()) {
  ::twin::cube_load_2d(dst.view(), src.view(),
                       {p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.ifTranspose, p.addrMode != 0}, site);
}
template <class T>
TWIN_API void LoadData(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const LoadData2DParams& p,
                       Site site = Site::here()) {
  ::twin::cube_load_2d(dst.view(), src.view(),
                       {p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.ifTranspose, p.addrMode != 0}, site);
}
template <class T>
TWIN_API void LoadDataWithTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2dTransposeParams& p,
                                    Site site = Site::here()) {
  ::twin::cube_load_transpose(dst.view(), src.view(), {p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.dstFracGap},
                              site);
}
template <class T>
TWIN_API void InitConstValue(const LocalTensor<T>& dst, const InitConstValueParams<T>& p, Site site = Site::here()) {
  ::twin::cube_fill(dst.view(), p.repeatTimes, p.blockNum, p.dstGap, detail::bits_of(p.initValue), site);
}
template <class T>
TWIN_API void Fill(const LocalTensor<T>& dst, const InitConstValueParams<T>& p, Site site = Site::here()) {
  InitConstValue(dst, p, site);
}

template <class C, class A, class B>
TWIN_API void Mmad(const LocalTensor<C>& dst, const LocalTensor<A>& fm, const LocalTensor<B>& filter, const MmadParams& p,
                   Site site = Site::here()) {
  ::twin::MmadCall call{dst.view(), fm.view(), filter.view(), {}, false, p.m, p.n, p.k, p.cmatrixInitVal && !p.isBias,
                        false,      p.unitFlag};
  if (!p.cmatrixInitVal && p.cmatrixSource) {
    call.from_bias = true;  // the BiasTable from its begin
    call.bias.space = ::twin::Space::BT;
    call.bias.dtype = ::twin::DTypeOf<C>::kValue;
  }
  ::twin::cube_mmad(call, site);
}
template <class C, class A, class B, class Bias>
TWIN_API void Mmad(const LocalTensor<C>& dst, const LocalTensor<A>& fm, const LocalTensor<B>& filter,
                   const LocalTensor<Bias>& bias, const MmadParams& p, Site site = Site::here()) {
  ::twin::cube_mmad({dst.view(), fm.view(), filter.view(), bias.view(), true, p.m, p.n, p.k, true, false, p.unitFlag}, site);
}

namespace detail {
template <class T, class S>
constexpr bool fixpipe_quantises(QuantMode_t mode) {
  return mode == NoQuant ? ::twin::DTypeOf<T>::kValue == ::twin::DTypeOf<S>::kValue
                         : (mode == F322F16 && ::twin::DTypeOf<T>::kValue == ::twin::DType::F16) ||
                               (mode == F322BF16 && ::twin::DTypeOf<T>::kValue == ::twin::DType::BF16) ||
                               (mode == DEQF16 && ::twin::DTypeOf<T>::kValue == ::twin::DType::F16);
}
template <class T, class S>
::twin::FixpipeCall fixpipe(::twin::View dst, const LocalTensor<S>& src, bool row_major, const FixpipeParamsV220& p) {
  ::twin::FixpipeCall c{dst, src.view(), p.nSize, p.mSize, p.srcStride, p.dstStride};
  c.matrices = row_major ? p.ndNum : 1;
  c.src_matrix_stride = p.srcNdStride;
  c.dst_matrix_stride = p.dstNdStride;
  c.row_major = row_major;
  c.relu = p.reluEn;
  c.unit_flag = p.unitFlag;
  c.scale = p.deqScalar;
  // A quantPre that does not lead from S to T: the engine reports it.
  c.dequantise = p.quantPre == DEQF16;
  c.mode_fits = fixpipe_quantises<T, S>(p.quantPre);
  return c;
}
}  // namespace detail

template <class T, class S, const FixpipeConfig& config = CFG_ROW_MAJOR>
TWIN_API void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<S>& src, const FixpipeParamsV220& p,
                      Site site = Site::here()) {
  ::twin::cube_fixpipe(detail::fixpipe<T>(dst.view(), src, config.format == CO2Layout::ROW_MAJOR, p), site);
}
template <class T, class S, const FixpipeConfig& config = CFG_ROW_MAJOR>
TWIN_API void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<S>& src, const FixpipeParamsV220& p,
                      Site site = Site::here()) {
  ::twin::cube_fixpipe(detail::fixpipe<T>(dst.view(), src, config.format == CO2Layout::ROW_MAJOR, p), site);
}

}  // namespace AscendC
