// SPDX-License-Identifier: Apache-2.0
// Quantisation of the library, as plain descriptions. See twin/calls_library.hpp.
#pragma once

#include "twin/calls.hpp"

namespace twin {

// A scale or an offset: one value, a tensor, or nothing.
struct QuantFactor {
  enum Form : std::uint8_t { None, Value, Tensor } form = None;
  double value = 0;
  View view{};
};
struct QuantOperands {
  View dst, src;
  QuantFactor scale, offset;
  bool has_work = false;
  View work{};
};

// dst[k] = int8(half(half(src[k]) · scale[k mod scale_count]) + offset[k mod scale_count]), each step rounded to half.
struct LibraryQuant {
  QuantOperands at;
  std::uint32_t scale_count = 0, offset_count = 0, count = 0;  // the first two of tensors
};
void library_quant(const LibraryQuant& call, Site site);

// dst[r][c] = src[r][c] · scale[c] in float, for the first `used` of n columns; dst's rows fill blocks of 32 bytes. Without
// rows of its own (m = 0) the whole is one row after another of as many elements as scale has.
struct LibraryDequant {
  QuantOperands at;
  std::uint32_t m = 0, n = 0, used = 0;
  bool single_row = true;  // one row of several times `used` elements is that many rows
};
void library_dequant(const LibraryDequant& call, Site site);

// dst = scale · (src + offset), src of (k, n), or turned (n, k). Tensors of (height, width) share an element among equally
// many rows of k. To half: in half. To bfloat16: in float.
struct LibraryAntiQuant {
  QuantOperands at;
  std::uint32_t k = 0, elements = 0;
  std::uint32_t scale_height = 0, scale_width = 0, offset_height = 0, offset_width = 0;
  bool turned = false;
};
void library_anti_quant(const LibraryAntiQuant& call, Site site);

}  // namespace twin
