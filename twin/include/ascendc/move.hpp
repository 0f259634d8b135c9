// SPDX-License-Identifier: Apache-2.0
// DataCopy and DataCopyPad.
#pragma once

#include "ascendc/tensor.hpp"
#include "twin/calls_cube.hpp"

namespace AscendC {

struct DataCopyParams {  // lengths and gaps in 32-byte blocks
  DataCopyParams() = default;
  DataCopyParams(std::uint16_t count, std::uint16_t length, std::uint16_t src, std::uint16_t dst)
      : blockCount(count), blockLen(length), srcStride(src), dstStride(dst) {}
  std::uint16_t blockCount = 1, blockLen = 0, srcStride = 0, dstStride = 0;
};
struct DataCopyExtParams {  // length in bytes; gaps in bytes on the GM side, in 32-byte blocks on the UB side
  DataCopyExtParams() = default;
  DataCopyExtParams(std::uint16_t count, std::uint32_t length, std::uint32_t src, std::uint32_t dst, std::uint32_t reserved)
      : blockCount(count), blockLen(length), srcStride(src), dstStride(dst), rsv(reserved) {}
  std::uint16_t blockCount = 1;
  std::uint32_t blockLen = 0, srcStride = 0, dstStride = 0, rsv = 0;
};
struct DataCopyPadParams {
  DataCopyPadParams() = default;
  DataCopyPadParams(bool pad, std::uint8_t left, std::uint8_t right, std::uint64_t value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  std::uint8_t leftPadding = 0, rightPadding = 0;
  std::uint64_t paddingValue = 0;
};
template <class T>
struct DataCopyPadExtParams {
  DataCopyPadExtParams() = default;
  DataCopyPadExtParams(bool pad, std::uint8_t left, std::uint8_t right, T value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  std::uint8_t leftPadding = 0, rightPadding = 0;  // elements
  T paddingValue = T(0);
};
struct Nd2NzParams {
  Nd2NzParams() = default;
  Nd2NzParams(std::uint16_t nd, std::uint16_t n, std::uint16_t d, std::uint32_t src_matrix, std::uint16_t src_row,
              std::uint16_t dst_c0, std::uint16_t dst_row, std::uint16_t dst_matrix)
      : ndNum(nd),
        nValue(n),
        dValue(d),
        srcNdMatrixStride(src_matrix),
        srcDValue(src_row),
        dstNzC0Stride(dst_c0),
        dstNzNStride(dst_row),
        dstNzMatrixStride(dst_matrix) {}
  std::uint16_t ndNum = 0, nValue = 0, dValue = 0;
  std::uint32_t srcNdMatrixStride = 0;
  std::uint16_t srcDValue = 0, dstNzC0Stride = 0, dstNzNStride = 0;
  std::uint32_t dstNzMatrixStride = 0;
};

namespace detail {
template <class T>
::twin::Blocks plain(std::uint32_t count) {
  return {1, ::twin::bytes_of<T>(count), 0, 0};
}
inline ::twin::Blocks plain(const DataCopyParams& p) {
  const std::uint64_t length = std::uint64_t{p.blockLen} * 32;
  return {p.blockCount, length, length + std::uint64_t{p.srcStride} * 32, length + std::uint64_t{p.dstStride} * 32};
}
// Between local memories: lengths and the destination's gaps count 64 bytes into C2, 128 into C2PIPE2GM.
inline ::twin::Blocks between(::twin::Space dst, const DataCopyParams& p) {
  const std::uint64_t unit = dst == ::twin::Space::BT ? 64 : dst == ::twin::Space::FB ? 128 : 32;
  const std::uint64_t length = p.blockLen * unit;
  return {p.blockCount, length, length + std::uint64_t{p.srcStride} * 32, length + p.dstStride * unit};
}
inline ::twin::Nd2Nz nd2nz(const Nd2NzParams& p) {
  return {p.ndNum,     p.nValue,        p.dValue,       p.srcNdMatrixStride,
          p.srcDValue, p.dstNzC0Stride, p.dstNzNStride, p.dstNzMatrixStride};
}
template <class T>
std::uint64_t padding_bits(T value) {
  return bits_of(value);
}
inline std::uint64_t padding_bits(int4b_t value) { return (std::int8_t(value) & 15) * 0x11u; }  // a byte of two
}  // namespace detail

template <class T>
TWIN_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const std::uint32_t count,
                       Site site = Site::here()) {
  ::twin::move_blocks(dst.view(), src.view(), detail::plain<T>(count), site);
}
template <class T>
TWIN_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t count,
                       Site site = Site::here()) {
  ::twin::move_blocks(dst.view(), src.view(), detail::plain<T>(count), site);
}
template <class T>
TWIN_API void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t count,
                       Site site = Site::here()) {
  ::twin::move_blocks(dst.view(), src.view(), detail::plain<T>(count), site);
}
template <class T>
TWIN_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& p,
                       Site site = Site::here()) {
  ::twin::move_blocks(dst.view(), src.view(), detail::plain(p), site);
}
template <class T>
TWIN_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& p,
                       Site site = Site::here()) {
  ::twin::move_blocks(dst.view(), src.view(), detail::plain(p), site);
}
template <class T, class U>
TWIN_API void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& p,
                       Site site = Site::here()) {
  ::twin::Blocks blocks = detail::between(dst.view().space, p);
  if (dst.view().space != ::twin::Space::BT || sizeof(T) != 2 * sizeof(U))
    return ::twin::move_blocks(dst.view(), src.view(), blocks, site);
  blocks.dst_step += blocks.bytes;  // it becomes float on the way
  ::twin::move_to_bias(dst.view(), src.view(), blocks, site);
}
template <class T>
TWIN_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Nd2NzParams& p,
                       Site site = Site::here()) {
  ::twin::move_nd2nz(dst.view(), src.view(), detail::nd2nz(p), site);
}

// From UB into a TSCM tensor of a vector core.
template <class T>
TWIN_API void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Nd2NzParams& p,
                       Site site = Site::here()) {
  ::twin::move_nd2nz(dst.view(), src.view(), detail::nd2nz(p), site);
}

// What DataCopyPad fills with where isPad is false; with isPad the parameters' own value counts.
template <class T, TPosition pos = TPosition::MAX>
TWIN_API void SetPadValue(T paddingValue) {
  static_assert(pos == TPosition::VECIN || pos == TPosition::VECOUT || pos == TPosition::MAX,
                "SetPadValue is for copies from GM to VECIN and VECOUT");
  ::twin::set_pad_value(::twin::DTypeOf<T>::kValue, detail::bits_of(paddingValue));
}
template <class T>
TWIN_API void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& p,
                          const DataCopyPadExtParams<T>& pad, Site site = Site::here()) {
  const std::uint64_t left = ::twin::bytes_of<T>(pad.leftPadding), right = ::twin::bytes_of<T>(pad.rightPadding);
  const std::uint64_t filled = (left + p.blockLen + right + 31) / 32 * 32;
  ::twin::move_padded_in(
      dst.view(), src.view(),
      {p.blockCount, p.blockLen, std::uint64_t{p.blockLen} + p.srcStride, filled + std::uint64_t{p.dstStride} * 32},
      {left, right, pad.isPad, detail::padding_bits(pad.paddingValue),
       ::twin::splits_byte<T>(pad.leftPadding) || ::twin::splits_byte<T>(pad.rightPadding)},
      site);
}
template <class T>
TWIN_API void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& p,
                          const DataCopyPadParams& pad, Site site = Site::here()) {
  T value;
  std::memcpy(&value, &pad.paddingValue, sizeof value);
  DataCopyPad(dst, src, DataCopyExtParams(p.blockCount, p.blockLen, p.srcStride, p.dstStride, 0),
              DataCopyPadExtParams<T>(pad.isPad, pad.leftPadding, pad.rightPadding, value), site);
}
template <class T>
TWIN_API void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& p,
                          Site site = Site::here()) {
  const std::uint64_t held = (std::uint64_t{p.blockLen} + 31) / 32 * 32;
  ::twin::move_padded_out(
      dst.view(), src.view(),
      {p.blockCount, p.blockLen, held + std::uint64_t{p.srcStride} * 32, std::uint64_t{p.blockLen} + p.dstStride}, site);
}
template <class T>
TWIN_API void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& p,
                          Site site = Site::here()) {
  DataCopyPad(dst, src, DataCopyExtParams(p.blockCount, p.blockLen, p.srcStride, p.dstStride, 0), site);
}

}  // namespace AscendC
