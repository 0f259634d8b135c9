// SPDX-License-Identifier: Apache-2.0
// The library's functions on rows other than normalisation: gradients of softmax, PASA's softmax, TopK, DropOut.
#pragma once

#include "twin/calls_library.hpp"

namespace twin {

// s = Σ grad · src over the first `used` of each row's `columns` elements; dst = (grad − s) · src, or s in 32 bytes a row.
struct LibrarySoftmaxGrad {
  const char* name = "SoftmaxGrad";
  View dst, grad, src;
  MaybeView work;
  bool front = false, nz = false;  // nz: columns of 16 elements, each `rows` high
  std::uint32_t rows = 0, columns = 0, used = 0;
};
void library_softmax_grad(const LibrarySoftmaxGrad& call, Site site);

// The PASA step. With c = alpha / (1 − alpha), m the row's mean and m_b that of its block b of columns / blocks elements:
//   x' = x − (m − m_b) · c                        mean = m, or (m + in_mean · (loop − 1)) / loop
//   shift = (m − mean) · c, prev = (in_mean − mean) · c
//   max = max(x') + shift, or the larger of that and in_max + prev
//   dst = exp(x' − (max − shift)),  factor = exp(in_max + prev − max),  sum = Σ dst + factor · in_sum
struct LibrarySoftmaxPasa {
  View dst, src;
  MaybeView mean, sum, max, factor;         // 32 bytes a row, written
  MaybeView in_mean, in_sum, in_max, work;  // absent without an update
  std::uint32_t rows = 0, columns = 0, used_rows = 0, used = 0, loop = 1, blocks = 8;
  float alpha = 0;
};
void library_softmax_pasa(const LibrarySoftmaxPasa& call, Site site);

// The k largest (or smallest) of each row of `inner` elements and their indices. Of equal ones the first comes first; NaN
// comes before all, whichever way. Rows of the results: k elements, padded to 32 bytes unless `small`.
struct LibraryTopK {
  View values, indices, src;
  MaybeView src_index;  // absent: 0, 1, ...; one row for all, or each row its own if `small`
  MaybeView finish;     // a byte a row: not 0: the row's indices are n
  MaybeView work;
  bool small = false, largest = true, work_is_calc = true;
  std::int64_t rows = 0, inner = 0, n = 0, k = 0;
};
void library_topk(const LibraryTopK& call, Site site);

// dst = src / keep where the mask says so, elsewhere 0. A byte an element or a bit, the lowest first; rows of mask_columns
// bytes if `padded`, otherwise one after another.
struct LibraryDropOut {
  View dst, src, mask;
  MaybeView work;
  bool bits = false, padded = false;
  std::uint32_t rows = 0, columns = 0, mask_columns = 0;
  float keep = 1;
};
void library_dropout(const LibraryDropOut& call, Site site);

// dst[0] = Σ (a xor b), kept inside of the type.
void library_xor_sum(const View& dst, const View& a, const View& b, const MaybeView& work, std::uint32_t count, Site site);

// The library's own flag inside of a function that looks at values by the scalar unit.
void library_order(Pipe from, Pipe to, Site site);

}  // namespace twin
