// SPDX-License-Identifier: Apache-2.0
// Fixpipe, and DataCopy out of L0C with the registers it takes its parameters from.
#pragma once

#include "ascendc/cube.hpp"

namespace AscendC {

struct FixpipeConfig {
  CO2Layout format;
};
inline constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
inline constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};
struct FixpipeParamsV220 {
  FixpipeParamsV220() = default;
  FixpipeParamsV220(std::uint16_t columns, std::uint16_t rows, std::uint16_t src, std::uint32_t dst, bool relu)
      : nSize(columns), mSize(rows), srcStride(src), dstStride(dst), reluEn(relu) {}
  FixpipeParamsV220(std::uint16_t columns, std::uint16_t rows, std::uint16_t src, std::uint32_t dst, bool relu,
                    QuantMode_t quant, std::uint64_t scale, std::uint16_t matrices, std::uint16_t src_matrix,
                    std::uint16_t dst_matrix, std::uint8_t unit)
      : FixpipeParamsV220(columns, rows, src, dst, relu) {
    quantPre = quant;
    deqScalar = scale;
    ndNum = matrices;
    srcNdStride = src_matrix;
    dstNdStride = dst_matrix;
    unitFlag = unit;
  }
  std::uint16_t nSize = 0, mSize = 0, srcStride = 0;
  std::uint32_t dstStride = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  std::uint64_t deqScalar = 0;
  std::uint16_t ndNum = 1, srcNdStride = 0, dstNdStride = 0;
  bool reluEn = false;
  std::uint8_t unitFlag = 0;
  bool isChannelSplit = false;
};

struct DataCopyCO12DstParams {
  DataCopyCO12DstParams() = default;
  DataCopyCO12DstParams(std::uint16_t columns, std::uint16_t rows, std::uint32_t dst, std::uint16_t src, QuantMode_t quant,
                        std::uint8_t relu, bool split, bool row_major)
      : nSize(columns),
        mSize(rows),
        dstStride(dst),
        srcStride(src),
        quantPre(quant),
        reluPre(relu),
        channelSplit(split),
        nz2ndEn(row_major) {}
  std::uint8_t sid = 0;
  std::uint16_t nSize = 0, mSize = 0;
  std::uint32_t dstStride = 0;
  std::uint16_t srcStride = 0;
  std::uint8_t unitFlag = 0, clipReluPre = 0, eltWiseOp = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  std::uint8_t reluPre = 0;
  bool channelSplit = false, nz2ndEn = false;
};

namespace detail {
// Whether the mode is one of this chip's that the twin has; the instruction has others, for float16 in L0C and 4 bits.
inline bool quantise(::twin::FixpipeCall& c, std::uint64_t mode) {
  using Q = ::twin::Quant;
  constexpr struct {
    QuantMode_t mode;
    Q quant;
    bool a_scale_a_column;
  } kModes[] = {{NoQuant, Q::None, false},   {F322F16, Q::F16, false},        {F322BF16, Q::BF16, false},
                {DEQF16, Q::Dequant, false}, {VDEQF16, Q::Dequant, true},     {REQ8, Q::Requant, false},
                {VREQ8, Q::Requant, true},   {QF322B8_PRE, Q::ToByte, false}, {VQF322B8_PRE, Q::ToByte, true}};
  for (const auto& known : kModes) {
    if (known.mode != mode) continue;
    c.quant = known.quant;
    c.a_scale_a_column = known.a_scale_a_column;
    return true;
  }
  return c.mode_fits = false;
}
template <class S>
::twin::FixpipeCall fixpipe(::twin::View dst, const LocalTensor<S>& src, bool row_major, const FixpipeParamsV220& p) {
  ::twin::FixpipeCall c{dst, src.view(), p.nSize, p.mSize, p.srcStride, p.dstStride};
  c.matrices = row_major ? p.ndNum : 1;
  c.src_matrix_stride = p.srcNdStride;
  c.dst_matrix_stride = p.dstNdStride;
  c.row_major = row_major;
  c.relu = p.reluEn;
  c.channel_split = p.isChannelSplit;
  c.unit_flag = p.unitFlag;
  c.scale = p.deqScalar;
  c.mode_fits = quantise(c, p.quantPre);
  if (c.a_scale_a_column) {  // the tensor of SetFixPipeConfig, unless the call brings one
    c.mode_fits = ::twin::fixpipe_registers().scales_given;
    c.scales = ::twin::fixpipe_registers().scales;
  }
  return c;
}
template <class S>
void fixpipe_with(::twin::FixpipeCall call, const LocalTensor<S>& scales, Site site) {
  call.scales = scales.view();
  call.mode_fits = call.a_scale_a_column;
  ::twin::cube_fixpipe(call, site);
}
template <class S>
void copy_out(::twin::View dst, const LocalTensor<S>& src, const DataCopyCO12DstParams& p, Site site) {
  const ::twin::FixpipeRegisters& r = ::twin::fixpipe_registers();
  ::twin::FixpipeCall c{dst, src.view(), p.nSize, p.mSize, p.srcStride, p.dstStride};
  c.name = "DataCopy (out of L0C)";
  c.row_major = p.nz2ndEn;
  c.channel_split = p.channelSplit;
  c.relu = p.reluPre == 1;
  c.unit_flag = p.unitFlag != 0 || r.unit_flag;
  c.scale = r.scale;
  c.scales = r.scales;
  if (p.nz2ndEn)
    c.matrices = r.matrices, c.src_matrix_stride = r.src_matrix_stride, c.dst_matrix_stride = r.dst_matrix_stride;
  c.mode_fits = quantise(c, p.quantPre) && p.reluPre <= 1 && p.clipReluPre == 0 && p.eltWiseOp == 0 &&
                (!c.a_scale_a_column || r.scales_given);
  ::twin::cube_fixpipe(c, site);
}
}  // namespace detail

template <class T, class S, const FixpipeConfig& config = CFG_ROW_MAJOR>
TWIN_API void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<S>& src, const FixpipeParamsV220& p,
                      Site site = Site::here()) {
  ::twin::cube_fixpipe(detail::fixpipe(dst.view(), src, config.format == CO2Layout::ROW_MAJOR, p), site);
}
template <class T, class S, const FixpipeConfig& config = CFG_ROW_MAJOR>
TWIN_API void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<S>& src, const FixpipeParamsV220& p,
                      Site site = Site::here()) {
  ::twin::cube_fixpipe(detail::fixpipe(dst.view(), src, config.format == CO2Layout::ROW_MAJOR, p), site);
}
// With a scale for each column, in L1.
template <class T, class S, const FixpipeConfig& config = CFG_ROW_MAJOR, class Scale = std::uint64_t,
          std::enable_if_t<std::is_same<Scale, std::uint64_t>::value, bool> = true>
TWIN_API void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<S>& src, const LocalTensor<Scale>& cbufWorkspace,
                      const FixpipeParamsV220& p, Site site = Site::here()) {
  detail::fixpipe_with(detail::fixpipe(dst.view(), src, config.format == CO2Layout::ROW_MAJOR, p), cbufWorkspace, site);
}
template <class T, class S, const FixpipeConfig& config = CFG_ROW_MAJOR, class Scale = std::uint64_t,
          std::enable_if_t<std::is_same<Scale, std::uint64_t>::value, bool> = true>
TWIN_API void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<S>& src, const LocalTensor<Scale>& cbufWorkspace,
                      const FixpipeParamsV220& p, Site site = Site::here()) {
  detail::fixpipe_with(detail::fixpipe(dst.view(), src, config.format == CO2Layout::ROW_MAJOR, p), cbufWorkspace, site);
}

template <class T, class S>
TWIN_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<S>& src, const DataCopyCO12DstParams& p,
                       Site site = Site::here()) {
  detail::copy_out(dst.view(), src, p, site);
}
template <class T, class S>
TWIN_API void DataCopy(const LocalTensor<T>& dst, const LocalTensor<S>& src, const DataCopyCO12DstParams& p,
                       Site site = Site::here()) {
  detail::copy_out(dst.view(), src, p, site);
}
// The tensors lie in the Fixpipe buffer. The one for relu serves modes that the 910B's reluPre 0 and 1 do not have.
template <class T>
TWIN_API void SetFixPipeConfig(const LocalTensor<T>& reluPre, const LocalTensor<T>& quantPre, bool isUnitFlag = false) {
  (void)reluPre;
  ::twin::FixpipeRegisters& r = ::twin::fixpipe_registers();
  r.scales = quantPre.view();
  r.scales_given = true;
  r.unit_flag = isUnitFlag;
}
template <class T, bool setRelu = false>
TWIN_API void SetFixPipeConfig(const LocalTensor<T>& preData, bool isUnitFlag = false) {
  ::twin::FixpipeRegisters& r = ::twin::fixpipe_registers();
  if (!setRelu) {
    r.scales = preData.view();
    r.scales_given = true;
  }
  r.unit_flag = isUnitFlag;
}
TWIN_API void SetFixpipePreQuantFlag(std::uint64_t config) { ::twin::fixpipe_registers().scale = config; }
TWIN_API void SetFixpipeNz2ndFlag(std::uint16_t ndNum, std::uint16_t srcNdStride, std::uint16_t dstNdStride) {
  ::twin::FixpipeRegisters& r = ::twin::fixpipe_registers();
  r.matrices = ndNum;
  r.src_matrix_stride = srcNdStride;
  r.dst_matrix_stride = dstNdStride;
}

}  // namespace AscendC
