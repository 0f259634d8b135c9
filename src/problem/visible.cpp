// SPDX-License-Identifier: Apache-2.0
#include "problem/visible.hpp"

#include <algorithm>
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

namespace {

/// Sum of count(b) over the sequences; one is enough where all are alike, and a batch may have 2^31.
template <class Count>
double over_batch(const Problem& p, Count count) noexcept {
  if (p.cu_seqlens_q.empty() && p.cu_seqlens_kv.empty() && p.seqlens_kv.empty())
    return static_cast<double>(p.batch) * count(0);
  double sum = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) sum += count(b);
  return sum;
}

}  // namespace

double Problem::flops() const noexcept {
  const double pairs =
      over_batch(*this, [&](std::int64_t b) { return problem::visibility(*this, b).pairs(0, query_length(b)); });
  return 2.0 * static_cast<double>(head_dim_qk + head_dim_v) * static_cast<double>(num_q_heads) * pairs;
}

double Problem::bytes() const noexcept {
  const auto query_rows = static_cast<double>(total_queries());
  const double key_rows = over_batch(*this, [&](std::int64_t b) {
    return static_cast<double>(problem::visibility(*this, b).keys(0, query_length(b)).size());
  });
  return static_cast<double>(size_of(dtype)) * static_cast<double>(head_dim_qk + head_dim_v) *
         (query_rows * static_cast<double>(num_q_heads) + key_rows * static_cast<double>(num_kv_heads));
}

}  // namespace tessera
