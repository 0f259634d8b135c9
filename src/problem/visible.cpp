// SPDX-License-Identifier: Apache-2.0
#include "problem/visible.hpp"

#include <cmath>

namespace tessera::problem {
namespace {

/// Sum of clamp(x, 0, top) over x in [begin, end).
double sum_clamped(std::int64_t begin, std::int64_t end, std::int64_t top) noexcept {
  const std::int64_t from = std::clamp<std::int64_t>(0, begin, end);  // below: 0 each
  const std::int64_t to = std::clamp<std::int64_t>(top, from, end);   // from here on: top each
  const auto count = static_cast<double>(to - from);
  return count * (static_cast<double>(from) + static_cast<double>(to - 1)) / 2 +
         static_cast<double>(end - to) * static_cast<double>(top);
}

}  // namespace

double Visibility::pairs(std::int64_t query_begin, std::int64_t query_end) const noexcept {
  if (query_begin >= query_end) return 0;
  // A query at p sees [clamp(p - left), clamp(p + right + 1)), and left, right >= 0 keep the two in order.
  const std::int64_t p = query_begin + position_offset, end = query_end + position_offset;
  return sum_clamped(p + right + 1, end + right + 1, seqlen_kv) - sum_clamped(p - left, end - left, seqlen_kv);
}

Visibility visibility(const Problem& problem, std::int64_t b) noexcept {
  Visibility v;
  v.seqlen_q = problem.query_length(b);
  v.seqlen_kv = problem.key_length(b);
  v.position_offset = problem.alignment == Alignment::bottom_right ? v.seqlen_kv - v.seqlen_q : 0;
  if (problem.window_left >= 0) v.left = std::min(problem.window_left, kUnbounded);
  if (problem.window_right >= 0) v.right = std::min(problem.window_right, kUnbounded);
  if (problem.causal) v.right = 0;
  return v;
}

}  // namespace tessera::problem

namespace tessera {

double Problem::scale() const noexcept {
  return softmax_scale ? *softmax_scale : 1.0 / std::sqrt(static_cast<double>(head_dim_qk));
}

double Problem::flops() const noexcept {
  double pairs = 0;
  for (std::int64_t b = 0; b < batch; ++b) pairs += problem::visibility(*this, b).pairs(0, query_length(b));
  return 2.0 * static_cast<double>(head_dim_qk + head_dim_v) * static_cast<double>(num_q_heads) * pairs;
}

double Problem::bytes() const noexcept {
  double query_rows = 0, key_rows = 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    query_rows += static_cast<double>(query_length(b));
    key_rows += static_cast<double>(problem::visibility(*this, b).keys(0, query_length(b)).size());
  }
  return static_cast<double>(size_of(dtype)) * static_cast<double>(head_dim_qk + head_dim_v) *
         (query_rows * static_cast<double>(num_q_heads) + key_rows * static_cast<double>(num_kv_heads));
}

}  // namespace tessera
