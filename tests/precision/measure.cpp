// SPDX-License-Identifier: Apache-2.0
#include "precision/measure.hpp"

#include <algorithm>
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

Error both(const Sum& a, const Sum& b) {
  return Sum{std::max(a.max, b.max), a.squares + b.squares, a.count + b.count}.error();
}

/// The tensors of a packed dense problem in float64.
struct Widened {
  const Problem& p;
  std::vector<double> q, k, v;

  explicit Widened(const Instance& instance)
      : p(instance.problem()),
        q(widen(instance.tensors().q.data, p.dtype, p.batch * p.seqlen_q * p.num_q_heads * p.head_dim_qk)),
        k(widen(instance.tensors().k.data, p.dtype, p.batch * p.seqlen_kv * p.num_kv_heads * p.head_dim_qk)),
        v(widen(instance.tensors().v.data, p.dtype, p.batch * p.seqlen_kv * p.num_kv_heads * p.head_dim_v)) {}

  /// Row `row` (batch, query, head flattened): exact o, and o with rounded weights, P = softmax(S) or P = exp(S - max).
  void attend(std::int64_t row, double* o, double* with_rounded_softmax, double* with_rounded_exp) const {
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
    std::fill_n(with_rounded_softmax, p.head_dim_v, 0.0);
    std::fill_n(with_rounded_exp, p.head_dim_v, 0.0);
    for (std::int64_t j = 0; j < keys; ++j) {
      const double weight = std::exp(s[j] - max), exact = weight / l;
      const double softmax = rounded(p.dtype, exact), unnormalised = rounded(p.dtype, weight) / l;
      const double* value = v.data() + kv_row(j) * p.head_dim_v;
      for (std::int64_t c = 0; c < p.head_dim_v; ++c) {
        o[c] += exact * value[c];
        with_rounded_softmax[c] += softmax * value[c];
        with_rounded_exp[c] += unnormalised * value[c];
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
  const auto dim = static_cast<std::size_t>(dim_);
  Sum sums[2][2];  // of each half of the rows, of each rounding of P
  const auto half = [&](std::size_t first) {
    std::vector<double> simulated(2 * dim);
    for (std::size_t n = first; n < rows_.size(); n += 2) {
      double* o = o_.data() + n * dim;
      tensors.attend(rows_[n], o, simulated.data(), simulated.data() + dim);
      for (std::size_t c = 0; c < 2 * dim; ++c) sums[first][c / dim].add(rounded(p.dtype, simulated[c]) - o[c % dim]);
    }
  };
  std::thread other(half, 1);
  half(0);
  other.join();
  const Error softmax = both(sums[0][0], sums[1][0]), unnormalised = both(sums[0][1], sums[1][1]);
  simulated_ = {std::min(softmax.max, unnormalised.max), std::min(softmax.rms, unnormalised.rms)};
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
