// SPDX-License-Identifier: Apache-2.0
// The oracle: attention in float64, obvious before fast, with every option and layout of Problem and AttentionTensors.
//
// For query i of sequence b and query head h, over the keys j that the row may see:
//   s_j = bias_j + softcap(scale * q.k_j) - slope * |position(i) - j|
//   lse = log(sum_j exp(s_j) [+ exp(sink)]);  o = sum_j exp(s_j - lse) * v_j
// Two passes: the exact maximum first, then the sums. K and V of a key that the row may not see are never read.
// A key whose score is -inf weighs nothing, so a row of such keys is empty: o = 0, lse = -inf.
#pragma once

#include <cstdint>

#include "tessera/attention.hpp"
#include "tessera/problem.hpp"
#include "tessera/types.hpp"

namespace tessera::reference {

/// What the rounding errors of a row are proportional to. With p_j = exp(s_j - lse) and the size of a score
/// |s|_j = scale * sum |q||k| + softcap + |bias| + |alibi|:
struct RowMagnitude {
  std::int64_t num_keys = 0;  // visible
  double score = 0;           // sum_j p_j * |s|_j
  double o[256] = {};         // [head_dim_v] sum_j p_j * |v_j|
  double o_score[256] = {};   // [head_dim_v] sum_j p_j * |s|_j * |v_j|

  void add(double p, double s, const double* v, std::int64_t dim) noexcept;
  void divide(double sum, std::int64_t dim) noexcept;
};

/// One row in float64: writes o[head_dim_v] and returns the LSE. Inputs are as `plan` and `run` have checked them.
double attend_row(const Problem& problem, const AttentionTensors& tensors, std::int64_t b, std::int64_t h, std::int64_t i,
                  double* o, RowMagnitude* magnitude = nullptr) noexcept;

/// Every row in float64: o is [total_queries, num_q_heads, head_dim_v] packed, lse (may be null) has the layout of
/// AttentionTensors::lse. tensors.o and tensors.lse are not used.
void run_exact(const Problem& problem, const AttentionTensors& tensors, double* o, double* lse) noexcept;

/// Every row, rounded once to the problem's dtype (LSE: float32) and written to tensors.o and tensors.lse. Allocates
/// nothing.
Status run(const Problem& problem, const AttentionTensors& tensors);

}  // namespace tessera::reference
