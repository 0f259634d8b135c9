// SPDX-License-Identifier: Apache-2.0
#include "reference/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/convert.hpp"

namespace tessera::reference {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMaxHeadDim = 256;

double element(const void* data, DType dtype, std::int64_t index) noexcept {
  if (dtype == DType::f32) return static_cast<const float*>(data)[index];
  const std::uint16_t bits = static_cast<const std::uint16_t*>(data)[index];
  return dtype == DType::f16 ? base::f16_to_float(bits) : base::bf16_to_float(bits);
}

/// A row of Q, K or V in float64, with zeros up to a multiple of eight.
struct HeadRow {
  double x[kMaxHeadDim];

  HeadRow(const void* data, DType dtype, std::int64_t offset, std::int64_t dim) noexcept {
    for (std::int64_t c = 0; c < dim; ++c) x[c] = element(data, dtype, offset + c);
    for (std::int64_t c = dim; c % 8 != 0; ++c) x[c] = 0;
  }
};

double dot(const HeadRow& a, const HeadRow& b, std::int64_t dim) noexcept {
  double lanes[8] = {};  // eight sums, as one would wait for each addition before the next
  for (std::int64_t c = 0; c < dim; c += 8) {
    for (std::int64_t lane = 0; lane < 8; ++lane) lanes[lane] += a.x[c + lane] * b.x[c + lane];
  }
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

void store(void* data, DType dtype, std::int64_t index, double x) noexcept {
  const auto narrow = static_cast<float>(x);
  if (dtype == DType::f32) {
    static_cast<float*>(data)[index] = narrow;
  } else {
    static_cast<std::uint16_t*>(data)[index] =
        dtype == DType::f16 ? base::float_to_f16(narrow) : base::float_to_bf16(narrow);
  }
}

/// Row of Q, O (and, ragged, LSE) that query 0 of sequence b stands in.
std::int64_t first_row(const Problem& p, std::int64_t b) noexcept {
  return p.cu_seqlens_q.empty() ? b * p.seqlen_q : p.cu_seqlens_q[b];
}

std::int64_t query_offset(const Problem& p, const Strides& s, std::int64_t b, std::int64_t i, std::int64_t h) noexcept {
  if (p.cu_seqlens_q.empty()) return b * s.outer + i * s.seq + h * s.head;
  return (p.cu_seqlens_q[b] + i) * s.seq + h * s.head;
}

std::int64_t lse_index(const Problem& p, std::int64_t b, std::int64_t h, std::int64_t i) noexcept {
  if (p.cu_seqlens_q.empty()) return (b * p.num_q_heads + h) * p.seqlen_q + i;
  return h * p.total_queries() + p.cu_seqlens_q[b] + i;
}

std::int64_t key_offset(const Problem& p, const AttentionTensors& t, const Strides& s, std::int64_t b, std::int64_t j,
                        std::int64_t kv_head) noexcept {
  if (p.paged()) {
    const std::int64_t page = t.block_table[b * t.block_table_stride + j / p.page_size];
    return page * s.outer + (j % p.page_size) * s.seq + kv_head * s.head;
  }
  if (p.cu_seqlens_kv.empty()) return b * s.outer + j * s.seq + kv_head * s.head;
  return (p.cu_seqlens_kv[b] + j) * s.seq + kv_head * s.head;
}

/// Everything that is the same for all keys of a row.
struct Row {
  const Problem& problem;
  const AttentionTensors& tensors;
  std::int64_t b, h, i, kv_head, position;
  double scale;
  HeadRow q;

  Row(const Problem& p, const AttentionTensors& t, std::int64_t b_, std::int64_t h_, std::int64_t i_) noexcept
      : problem(p),
        tensors(t),
        b(b_),
        h(h_),
        i(i_),
        kv_head(h / (p.num_q_heads / p.num_kv_heads)),
        position(p.alignment == Alignment::top_left ? i : i + p.key_length(b) - p.query_length(b)),
        scale(p.scale()),
        q(t.q.data, p.dtype, query_offset(p, t.q.strides, b, i, h), p.head_dim_qk) {}

  std::int64_t broadcast(const std::int64_t (&strides)[4], std::int64_t j) const noexcept {
    return b * strides[0] + h * strides[1] + i * strides[2] + j * strides[3];
  }
  double bias(std::int64_t j) const noexcept {
    return problem.has_bias ? element(tensors.bias.data, tensors.bias.dtype, broadcast(tensors.bias.strides, j)) : 0.0;
  }

  bool sees(std::int64_t j) const noexcept {
    if (problem.causal && j > position) return false;
    if (problem.window_left >= 0 && position - j > problem.window_left) return false;
    if (problem.window_right >= 0 && j - position > problem.window_right) return false;
    if (problem.has_mask && tensors.mask.data[broadcast(tensors.mask.strides, j)] == 0) return false;
    return bias(j) != -kInf;
  }

  double score(std::int64_t j) const noexcept {
    const std::int64_t offset = key_offset(problem, tensors, tensors.k.strides, b, j, kv_head);
    const HeadRow k(tensors.k.data, problem.dtype, offset, problem.head_dim_qk);
    double s = scale * dot(q, k, problem.head_dim_qk);
    if (problem.softcap > 0) s = problem.softcap * std::tanh(s / problem.softcap);
    s += bias(j);
    if (problem.has_alibi) s -= static_cast<double>(tensors.alibi_slopes[h]) * static_cast<double>(std::abs(position - j));
    return s;
  }

  double score_magnitude(std::int64_t j) const noexcept {
    const std::int64_t offset = key_offset(problem, tensors, tensors.k.strides, b, j, kv_head);
    const HeadRow k(tensors.k.data, problem.dtype, offset, problem.head_dim_qk);
    double sum = 0;
    for (std::int64_t c = 0; c < problem.head_dim_qk; ++c) sum += std::abs(q.x[c] * k.x[c]);
    const double alibi = problem.has_alibi ? tensors.alibi_slopes[h] * static_cast<double>(std::abs(position - j)) : 0.0;
    return std::abs(scale) * sum + problem.softcap + std::abs(bias(j)) + std::abs(alibi);
  }
};

/// Calls row(b, h, i) for every row of the problem.
template <class Fn>
void for_each_row(const Problem& problem, Fn row) noexcept {
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    for (std::int64_t i = 0; i < problem.query_length(b); ++i) {
      for (std::int64_t h = 0; h < problem.num_q_heads; ++h) row(b, h, i);
    }
  }
}

}  // namespace

void RowMagnitude::add(double p, double s, const double* v, std::int64_t dim) noexcept {
  score += p * s;
  for (std::int64_t c = 0; c < dim; ++c) {
    o[c] += p * std::abs(v[c]);
    o_score[c] += p * s * std::abs(v[c]);
  }
}

void RowMagnitude::divide(double sum, std::int64_t dim) noexcept {
  score /= sum;
  for (std::int64_t c = 0; c < dim; ++c) {
    o[c] /= sum;
    o_score[c] /= sum;
  }
}

double attend_row(const Problem& problem, const AttentionTensors& tensors, std::int64_t b, std::int64_t h, std::int64_t i,
                  double* o, RowMagnitude* magnitude) noexcept {
  const Row row(problem, tensors, b, h, i);
  const std::int64_t num_keys = problem.key_length(b);
  if (magnitude != nullptr) *magnitude = {};
  std::fill_n(o, problem.head_dim_v, 0.0);

  double max = problem.has_sink ? tensors.sink[h] : -kInf;
  for (std::int64_t j = 0; j < num_keys; ++j) {
    if (!row.sees(j)) continue;
    const double s = row.score(j);
    if (std::isnan(s)) max = s;  // a NaN score makes the row NaN; std::max would drop it
    if (!std::isnan(max)) max = std::max(max, s);
    if (magnitude != nullptr) ++magnitude->num_keys;
  }
  if (max == -kInf) return -kInf;

  double sum = problem.has_sink ? std::exp(tensors.sink[h] - max) : 0.0;
  for (std::int64_t j = 0; j < num_keys; ++j) {
    if (!row.sees(j)) continue;
    const double s = row.score(j);
    if (s == -kInf) continue;
    const double p = std::exp(s - max);
    const HeadRow v(tensors.v.data, problem.dtype, key_offset(problem, tensors, tensors.v.strides, b, j, row.kv_head),
                    problem.head_dim_v);
    for (std::int64_t c = 0; c < problem.head_dim_v; ++c) o[c] += p * v.x[c];
    sum += p;
    if (magnitude != nullptr) magnitude->add(p, row.score_magnitude(j), v.x, problem.head_dim_v);
  }
  for (std::int64_t c = 0; c < problem.head_dim_v; ++c) o[c] /= sum;
  if (magnitude != nullptr) magnitude->divide(sum, problem.head_dim_v);
  return max + std::log(sum);
}

void run_exact(const Problem& problem, const AttentionTensors& tensors, double* o, double* lse) noexcept {
  for_each_row(problem, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    double* row = o + ((first_row(problem, b) + i) * problem.num_q_heads + h) * problem.head_dim_v;
    const double row_lse = attend_row(problem, tensors, b, h, i, row);
    if (lse != nullptr) lse[lse_index(problem, b, h, i)] = row_lse;
  });
}

Status run(const Problem& problem, const AttentionTensors& tensors) {
  for_each_row(problem, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    double o[kMaxHeadDim];
    const double lse = attend_row(problem, tensors, b, h, i, o);
    const std::int64_t offset = query_offset(problem, tensors.o.strides, b, i, h);
    for (std::int64_t c = 0; c < problem.head_dim_v; ++c) store(tensors.o.data, problem.dtype, offset + c, o[c]);
    if (tensors.lse != nullptr) tensors.lse[lse_index(problem, b, h, i)] = static_cast<float>(lse);
  });
  return {};
}

}  // namespace tessera::reference
