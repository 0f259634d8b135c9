// SPDX-License-Identifier: Apache-2.0
// The bound, for one row of O, with u = 2^-24 and all maxima over the keys that the sequence's queries may see:
//   score of weight:  sum_j p_j |error of s_j| <= u (c(d) scale |q| max|k| + 8 (|lse| + ln n) + 8 softcap),
//   row of O:         max|v| (u_P + 2 * that + u c(n)) + (u_out + u) |o|,   c(n) = 4 sqrt(n) + 8
// u_P and u_out are the unit roundoff of the dtype (P may be rounded to it, O is). docs/cli.md derives each term.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/half.hpp"
#include "cli/oracle.hpp"

namespace tessera::cli {
namespace {

constexpr double kU32 = 0x1p-24;

double unit_roundoff(DType dtype) { return dtype == DType::f32 ? kU32 : dtype == DType::f16 ? 0x1p-11 : 0x1p-8; }
double smallest_step(DType dtype) { return dtype == DType::f32 ? 0x1p-149 : dtype == DType::f16 ? 0x1p-24 : 0x1p-133; }
double largest(DType dtype) { return dtype == DType::f16 ? 65504 : std::numeric_limits<float>::max(); }

// Rounding errors of a sum of n terms grow like sqrt(n): the probabilistic bound of Higham and Mary (2019) with lambda 4.
double sum_growth(double n) { return 4 * std::sqrt(n) + 8; }

struct KeyRange {
  std::int64_t begin = 0, end = 0;
};

// Keys that some query of sequence b may see, as far as causal and window go.
KeyRange visible_keys(const Problem& p, std::int64_t b) {
  const auto sq = p.query_length(b), sk = p.key_length(b);
  const auto first = p.alignment == Alignment::bottom_right ? sk - sq : 0, last = first + sq - 1;
  KeyRange range{0, sk};
  if (p.window_left >= 0) range.begin = std::clamp<std::int64_t>(first - std::min(p.window_left, sk + sq), 0, sk);
  const auto right = p.causal ? (p.window_right < 0 ? 0 : std::min<std::int64_t>(p.window_right, 0)) : p.window_right;
  if (right >= 0) range.end = std::clamp<std::int64_t>(last + std::min(right, sk + sq) + 1, 0, sk);
  range.begin = std::min(range.begin, range.end);
  return range;
}

// Offset in elements of one row of K or V.
std::int64_t kv_offset(const Problem& p, const AttentionTensors& t, const Strides& s, std::int64_t b, std::int64_t j,
                       std::int64_t head) {
  if (p.paged()) {
    const std::int64_t page = t.block_table[b * t.block_table_stride + j / p.page_size];
    return page * s.outer + j % p.page_size * s.seq + head * s.head;
  }
  const auto row =
      p.cu_seqlens_kv.empty() ? b * s.outer + j * s.seq : (p.cu_seqlens_kv[static_cast<std::size_t>(b)] + j) * s.seq;
  return row + head * s.head;
}

double norm(const float* x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return std::sqrt(sum);
}

double largest_magnitude(const float* x, std::int64_t n) {
  double most = 0;
  for (std::int64_t i = 0; i < n; ++i) most = std::isfinite(x[i]) ? std::max<double>(most, std::abs(x[i])) : most;
  return most;
}

struct KeyStatistics {
  double keys = 0, k_norm = 0, v_max = 0;
};

KeyStatistics statistics_of(const Problem& p, const AttentionTensors& t, std::int64_t b, std::int64_t head) {
  KeyStatistics s;
  const auto range = visible_keys(p, b);
  s.keys = static_cast<double>(range.end - range.begin);
  for (auto j = range.begin; j < range.end; ++j) {
    const double n = norm(static_cast<const float*>(t.k.data) + kv_offset(p, t, t.k.strides, b, j, head), p.head_dim_qk);
    if (std::isfinite(n)) s.k_norm = std::max(s.k_norm, n);  // a key that is not finite is masked, or its row is NaN
    s.v_max = std::max(
        s.v_max,
        largest_magnitude(static_cast<const float*>(t.v.data) + kv_offset(p, t, t.v.strides, b, j, head), p.head_dim_v));
  }
  return s;
}

// Bound of sum_j p_j |error of s_j|. By Cauchy-Schwarz on the products; the last terms round s itself, and
// sum_j p_j |s_j| <= |lse| + entropy(p) <= |lse| + ln n, however large a bias is.
double score_error(const Problem& p, const KeyStatistics& keys, double q_norm, double lse) {
  const double products = sum_growth(static_cast<double>(p.head_dim_qk)) * std::abs(p.scale()) * q_norm * keys.k_norm;
  return kU32 * (products + 8 * (std::abs(lse) + std::log(keys.keys + 2)) + 8 * p.softcap);
}

double unsigned_nan(double x) { return std::isnan(x) ? std::abs(x) : x; }

class Collector {
 public:
  void add(double got, double want, double bound, double largest_finite, const auto& where) {
    ++count_;
    double error = std::abs(got - want);
    if (std::isnan(want) || std::isnan(got))
      error = std::isnan(want) && std::isnan(got) ? 0 : kInfinity;
    else if (got == want || (std::isinf(got) && std::abs(want) + bound > largest_finite && (got > 0) == (want > 0)))
      error = 0;
    const double ratio = error == 0 ? 0 : bound > 0 && error < kInfinity ? error / bound : kInfinity;
    report_.max_error = std::max(report_.max_error, error);
    squares_ += error * error;
    if (ratio > report_.worst_ratio || count_ == 1) {
      report_.worst_ratio = ratio;
      report_.bound = bound;
      report_.worst = where() + fmt::format(": got {:.9g}, oracle {:.9g}", unsigned_nan(got), unsigned_nan(want));
    }
  }
  ErrorReport report() {
    report_.rms_error = count_ > 0 ? std::sqrt(squares_ / static_cast<double>(count_)) : 0;
    return report_;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ErrorReport report_;
  double squares_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace

Comparison compare(DType dtype, const void* o, const float* lse, const OracleAnswer& oracle) {
  const auto& p = oracle.problem;
  const auto total = p.total_queries();
  const double u_out = unit_roundoff(dtype), u_p = dtype == DType::f32 ? 0 : u_out;
  Collector o_errors, lse_errors;
  std::vector<KeyStatistics> keys(static_cast<std::size_t>(p.num_kv_heads));
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t h = 0; h < p.num_kv_heads; ++h)
      keys[static_cast<std::size_t>(h)] = statistics_of(p, oracle.tensors, b, h);
    const auto first = p.cu_seqlens_q.empty() ? b * p.seqlen_q : p.cu_seqlens_q[static_cast<std::size_t>(b)];
    for (std::int64_t i = 0; i < p.query_length(b); ++i) {
      for (std::int64_t h = 0; h < p.num_q_heads; ++h) {
        const auto row = (first + i) * p.num_q_heads + h;
        const auto lse_at = p.cu_seqlens_q.empty() ? (b * p.num_q_heads + h) * p.seqlen_q + i : h * total + first + i;
        const auto& stats = keys[static_cast<std::size_t>(h / (p.num_q_heads / p.num_kv_heads))];
        const double want_lse = oracle.lse[static_cast<std::size_t>(lse_at)];
        const bool empty = want_lse == -INFINITY;  // no key, no sink: 0 and -inf, and nothing to round
        const double scores =
            empty ? 0 : score_error(p, stats, norm(oracle.q.as<float>() + row * p.head_dim_qk, p.head_dim_qk), want_lse);
        const double sums = kU32 * sum_growth(stats.keys);
        const auto where = [&] { return fmt::format("query {} of sequence {}, head {}", i, b, h); };
        lse_errors.add(lse[lse_at], want_lse, empty ? 0 : scores + sums + 2 * kU32 * std::abs(want_lse), INFINITY, where);
        // P below the smallest normal of f16 is rounded to steps of 2^-24: half a step for each key.
        const double p_steps = dtype == DType::f16 ? stats.keys * 0x1p-25 : 0;
        const double of_v = stats.v_max * (u_p + p_steps + 2 * scores + sums);
        for (std::int64_t d = 0; d < p.head_dim_v; ++d) {
          const double want = oracle.o[static_cast<std::size_t>(row * p.head_dim_v + d)];
          const double bound = empty ? 0 : of_v + (u_out + kU32) * std::abs(want) + smallest_step(dtype);
          o_errors.add(widen(dtype, o, row * p.head_dim_v + d), want, bound, largest(dtype),
                       [&] { return where() + fmt::format(", feature {}", d); });
        }
      }
    }
  }
  return {o_errors.report(), lse_errors.report()};
}

}  // namespace tessera::cli
