// SPDX-License-Identifier: Apache-2.0
#include "precision/measure.hpp"

#include <thread>

namespace tessera::test {
namespace {

std::vector<double> widen(const void* data, DType dtype, std::int64_t elems) {
  std::vector<double> x(static_cast<std::size_t>(elems));
  for (std::size_t n = 0; n < x.size(); ++n) {
    x[n] =
        dtype == DType::f32 ? static_cast<const float*>(data)[n] : decode(dtype, static_cast<const std::uint16_t*>(data)[n]);
  }
  return x;
}

double dot(const double* a, const double* b, std::int64_t dim) {
  double lanes[8] = {};
  for (std::int64_t c = 0; c < dim; ++c) lanes[c % 8] += a[c] * b[c];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

struct Sum {
  double max = 0, squares = 0, count = 0;
  void add(double error) {
    max = std::max(max, std::abs(error));
    squares += error * error;
    ++count;
  }
  Error error() const { return {max, std::sqrt(squares / count)}; }
};

/// The tensors of a packed dense problem in float64.
struct Widened {
  const Problem& p;
  std::vector<double> q, k, v;

  explicit Widened(const Instance& instance)
      : p(instance.problem()),
        q(widen(instance.tensors().q.data, p.dtype, p.batch * p.seqlen_q * p.num_q_heads * p.head_dim_qk)),
        k(widen(instance.tensors().k.data, p.dtype, p.batch * p.seqlen_kv * p.num_kv_heads * p.head_dim_qk)),
        v(widen(instance.tensors().v.data, p.dtype, p.batch * p.seqlen_kv * p.num_kv_heads * p.head_dim_v)) {}

  /// Row `row` (batch, query, head flattened): exact o, and o with rounded weights.
  void attend(std::int64_t row, double* o, double* with_rounded_p) const {
    const std::int64_t h = row % p.num_q_heads, i = row / p.num_q_heads % p.seqlen_q, b = row / p.num_q_heads / p.seqlen_q;
    const std::int64_t keys = p.causal ? i + 1 + p.seqlen_kv - p.seqlen_q : p.seqlen_kv;
    const auto kv_row = [&](std::int64_t j) {
      return (b * p.seqlen_kv + j) * p.num_kv_heads + h / (p.num_q_heads / p.num_kv_heads);
    };
    std::vector<double> s(static_cast<std::size_t>(keys));
    for (std::int64_t j = 0; j < keys; ++j) {
      s[j] = p.scale() * dot(q.data() + row * p.head_dim_qk, k.data() + kv_row(j) * p.head_dim_qk, p.head_dim_qk);
    }
    const double max = *std::max_element(s.begin(), s.end());
    double l = 0;
    for (const double x : s) l += std::exp(x - max);
    std::fill_n(o, p.head_dim_v, 0.0);
    std::fill_n(with_rounded_p, p.head_dim_v, 0.0);
    for (std::int64_t j = 0; j < keys; ++j) {
      const double exact = std::exp(s[j] - max) / l, narrow = rounded(p.dtype, exact);
      const double* value = v.data() + kv_row(j) * p.head_dim_v;
      for (std::int64_t c = 0; c < p.head_dim_v; ++c) {
        o[c] += exact * value[c];
        with_rounded_p[c] += narrow * value[c];
      }
    }
  }
};

}  // namespace

Exact::Exact(const Instance& instance, std::int64_t row_step) : dim_(instance.problem().head_dim_v) {
  const Problem& p = instance.problem();
  for (std::int64_t row = 0; row < p.batch * p.seqlen_q; ++row) {
    const std::int64_t i = row % p.seqlen_q;
    if (i % row_step != 0 && i != p.seqlen_q - 1) continue;
    for (std::int64_t h = 0; h < p.num_q_heads; ++h) rows_.push_back(row * p.num_q_heads + h);
  }
  o_.resize(rows_.size() * static_cast<std::size_t>(dim_));

  const Widened tensors(instance);
  Sum sums[2];
  const auto half = [&](std::size_t first) {
    std::vector<double> simulated(static_cast<std::size_t>(dim_));
    for (std::size_t n = first; n < rows_.size(); n += 2) {
      double* o = o_.data() + n * static_cast<std::size_t>(dim_);
      tensors.attend(rows_[n], o, simulated.data());
      for (std::int64_t c = 0; c < dim_; ++c)
        sums[first].add(rounded(p.dtype, simulated[static_cast<std::size_t>(c)]) - o[c]);
    }
  };
  std::thread other(half, 1);
  half(0);
  other.join();
  const Sum both = {std::max(sums[0].max, sums[1].max), sums[0].squares + sums[1].squares, sums[0].count + sums[1].count};
  simulated_ = both.error();
}

Error Exact::of(const Output& output) const {
  Sum sum;
  for (std::size_t n = 0; n < rows_.size(); ++n) {
    for (std::int64_t c = 0; c < dim_; ++c) {
      sum.add(output.o[static_cast<std::size_t>(rows_[n] * dim_ + c)] -
              o_[n * static_cast<std::size_t>(dim_) + static_cast<std::size_t>(c)]);
    }
  }
  return sum.error();
}

}  // namespace tessera::test
