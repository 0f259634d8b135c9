// SPDX-License-Identifier: Apache-2.0
// Pad and UnPad of the library: rows to whole blocks of 32 bytes, and back.
#pragma once

#include "ascendc/library.hpp"
#include "kernel_tiling/pad_tiling.h"
#include "twin/calls_pad.hpp"

namespace AscendC {

struct PadParams {  // columns
  PadParams() = default;
  PadParams(std::uint16_t left, std::uint16_t right, std::int32_t value) : leftPad(left), rightPad(right), padValue(value) {}
  std::uint16_t leftPad = 0, rightPad = 0;
  std::int32_t padValue = 0;
};
struct UnPadParams {  // columns
  UnPadParams() = default;
  UnPadParams(std::uint16_t left, std::uint16_t right) : leftPad(left), rightPad(right) {}
  std::uint16_t leftPad = 0, rightPad = 0;
};

namespace detail {
template <class T>
::twin::LibraryPad padding(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Scratch* work) {
  using namespace ::twin;
  static_assert(library_takes<T>(kI16 | kU16 | kF16 | kI32 | kU32 | kF32),
                "Pad and UnPad take elements of 16 and 32 bits, without bfloat16_t, on the 910B");
  LibraryPad c;
  c.dst = dst.view();
  c.src = src.view();
  c.has_work = work != nullptr;
  if (work) c.work = work->view();
  return c;
}
template <class T>
::twin::LibraryPad pad_call(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Scratch* work, const PadParams& p,
                            const PadTiling& tiling) {
  ::twin::LibraryPad c = padding(dst, src, work);
  c.rows = tiling.srcHeight;
  c.columns = tiling.srcWidth;
  c.used = tiling.srcOriWidth;
  c.left = p.leftPad;
  c.right = p.rightPad;
  c.value = bits_of(static_cast<T>(p.padValue));
  return c;
}
template <class T>
::twin::LibraryPad unpad_call(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Scratch* work,
                              const UnPadParams& p, const UnPadTiling& tiling) {
  ::twin::LibraryPad c = padding(dst, src, work);
  c.rows = tiling.srcHeight;
  c.columns = tiling.srcWidth;
  c.left = p.leftPad;
  c.right = p.rightPad;
  return c;
}
}  // namespace detail

template <class T>
TWIN_API void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const PadParams& padParams,
                  const LocalTensor<std::uint8_t>& sharedTmpBuffer, const PadTiling& tiling, Site site = Site::here()) {
  ::twin::library_pad(detail::pad_call(dstTensor, srcTensor, &sharedTmpBuffer, padParams, tiling), site);
}
template <class T>
TWIN_API void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const PadParams& padParams,
                  const PadTiling& tiling, Site site = Site::here()) {
  ::twin::library_pad(detail::pad_call(dstTensor, srcTensor, nullptr, padParams, tiling), site);
}
template <class T>
TWIN_API void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const UnPadParams& unPadParams,
                    const LocalTensor<std::uint8_t>& sharedTmpBuffer, const UnPadTiling& tiling, Site site = Site::here()) {
  ::twin::library_unpad(detail::unpad_call(dstTensor, srcTensor, &sharedTmpBuffer, unPadParams, tiling), site);
}
template <class T>
TWIN_API void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const UnPadParams& unPadParams,
                    const UnPadTiling& tiling, Site site = Site::here()) {
  ::twin::library_unpad(detail::unpad_call(dstTensor, srcTensor, nullptr, unPadParams, tiling), site);
}

}  // namespace AscendC
