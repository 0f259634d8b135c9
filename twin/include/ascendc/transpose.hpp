// SPDX-License-Identifier: Apache-2.0
// ConfusionTranspose of the library, by its newer name Transpose: NZ to NZ or ND with heads in another place, and the
// transpose of a matrix.
#pragma once

#include "ascendc/library.hpp"
#include "ascendc/rearrange.hpp"
#include "kernel_tiling/transpose_tiling.h"
#include "twin/calls_layout.hpp"

namespace AscendC {

namespace detail {
// `planes` matrices of rows × columns in Nz, its fractals 16 × 16 whatever the type. Axes: of the plane, the row, the
// column; `column_more`: an axis whose steps are `column_step` columns each.
struct NzAxes {
  int plane, row, column, column_more;
  std::uint32_t rows, columns, planes, column_step;
};
inline ::twin::TensorLayout nz_layout(const NzAxes& n) {
  const std::uint64_t high = (n.rows + 15) / 16 * 16ull, wide = (n.columns + 15) / 16 * 16ull;
  ::twin::TensorLayout l;
  l.axis[n.row] = {256, 16, 16};
  l.axis[n.column] = {high * 16, 1, 16};
  if (n.column_more >= 0) l.axis[n.column_more] = {n.column_step / 16 * high * 16, 0, 1};
  l.elements = high * wide * n.planes;
  return l;
}
// Axes 0 to 3: B, N, S, H / N.
inline void heads(::twin::LibraryLayout& c, TransposeType type) {
  using T = TransposeType;
  const std::uint32_t b = c.count[0], n = c.count[1], s = c.count[2], d = c.count[3];
  const std::uint64_t plane = (s + 15) / 16 * 16ull * ((d + 15) / 16 * 16ull);
  const auto split = [&] {  // B planes of S × H
    ::twin::TensorLayout l = nz_layout({0, 2, 3, 1, s, n * d, b, d});
    l.axis[0] = {l.elements / b, 0, 1};
    return l;
  };
  const auto whole = [&] {  // B × N planes of S × (H / N)
    ::twin::TensorLayout l = nz_layout({0, 2, 3, -1, s, d, b * n, 0});
    l.axis[0] = {n * plane, 0, 1};
    l.axis[1] = {plane, 0, 1};
    return l;
  };
  const auto row_major = [&](std::uint64_t of_n, std::uint64_t of_s) {
    ::twin::TensorLayout l;
    l.axis[0] = {std::uint64_t{n} * s * d, 0, 1};
    l.axis[1] = {of_n, 0, 1};
    l.axis[2] = {of_s, 0, 1};
    l.axis[3] = {1, 0, 1};
    l.elements = std::uint64_t{b} * n * s * d;
    return l;
  };
  const bool splits = type == T::TRANSPOSE_NZ2NZ_012_WITH_N || type == T::TRANSPOSE_NZ2ND_012_WITH_N;
  c.from = splits ? split() : whole();
  if (type == T::TRANSPOSE_NZ2NZ_0213) {  // B × S planes of N × (H / N)
    c.to = nz_layout({0, 1, 3, -1, n, d, b * s, 0});
    const std::uint64_t each = c.to.elements / (std::uint64_t{b} * s);
    c.to.axis[0] = {s * each, 0, 1};
    c.to.axis[2] = {each, 0, 1};
  } else if (type == T::TRANSPOSE_NZ2NZ_012_WITH_N) {
    c.to = whole();
  } else if (type == T::TRANSPOSE_NZ2NZ_012_WITHOUT_N) {
    c.to = split();
  } else if (type == T::TRANSPOSE_NZ2ND_012_WITH_N) {
    c.to = row_major(std::uint64_t{s} * d, d);
  } else {  // (B, S, N, H / N) and (B, S, H) are the same bytes
    c.to = row_major(d, std::uint64_t{n} * d);
  }
}
inline void matrix(::twin::LibraryLayout& c) {
  const std::uint64_t h = c.count[2], w = c.count[3];
  c.from.axis[2] = {w, 0, 1};
  c.from.axis[3] = {1, 0, 1};
  c.to.axis[2] = {1, 0, 1};
  c.to.axis[3] = {h, 0, 1};
  c.from.elements = c.to.elements = h * w;
}
template <class T>
void confusion_transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Scratch* work, TransposeType type,
                         const ConfusionTransposeTiling& t, Site site) {
  using namespace ::twin;
  static_assert(library_takes<T>(kI16 | kU16 | kF16 | kI32 | kU32 | kF32),
                "ConfusionTranspose takes elements of 16 and 32 bits, without bfloat16_t, on the 910B");
  LibraryLayout c;
  c.name = "ConfusionTranspose";
  c.dst = dst.view();
  c.src = src.view();
  c.work = view_of(work);
  const std::uint32_t count[5] = {t.param0, t.param1, t.param2, t.param3, 1};
  for (int a = 0; a < 5; ++a) c.count[a] = count[a];
  const bool square = type == TransposeType::TRANSPOSE_ND2ND_ONLY;
  if (type < TransposeType::TRANSPOSE_NZ2ND_0213 || type > TransposeType::TRANSPOSE_ND2ND_ONLY) {
    c.wrong = "a transposeType of another function";
    c.fix = "TRANSPOSE_NZ2ND_0213 to TRANSPOSE_ND2ND_ONLY";
  } else if (t.param0 * t.param1 * t.param2 * t.param3 == 0 || t.param4 != sizeof(T) ||
             t.param5 != static_cast<std::uint32_t>(type)) {
    c.wrong = "its tiling is empty, or of another transposeType or size of elements";
    c.fix = "fill it in with GetTransposeTilingInfo, for the same transposeType and typeSize";
  } else if (t.param3 % 16 || (square && t.param2 % 16)) {
    c.wrong = square ? "H and W are no multiples of 16" : "H / N is no multiple of 16";
    c.fix = "pad them";
  } else if (square) {
    matrix(c);
  } else {
    heads(c, type);
  }
  library_layout(c, site);
}
}  // namespace detail

#define TWIN_TRANSPOSE(name)                                                                                        \
  template <class T>                                                                                                \
  TWIN_API void name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                              \
                     const LocalTensor<std::uint8_t>& sharedTmpBuffer, TransposeType transposeType,                 \
                     const ConfusionTransposeTiling& tiling, Site site = Site::here()) {                            \
    detail::confusion_transpose(dstTensor, srcTensor, &sharedTmpBuffer, transposeType, tiling, site);               \
  }                                                                                                                 \
  template <class T>                                                                                                \
  TWIN_API void name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, TransposeType transposeType, \
                     const ConfusionTransposeTiling& tiling, Site site = Site::here()) {                            \
    detail::confusion_transpose<T>(dstTensor, srcTensor, nullptr, transposeType, tiling, site);                     \
  }
TWIN_TRANSPOSE(ConfusionTranspose)
TWIN_TRANSPOSE(Transpose)
#undef TWIN_TRANSPOSE

}  // namespace AscendC
