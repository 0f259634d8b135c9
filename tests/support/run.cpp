// SPDX-License-Identifier: Apache-2.0
#include "support/run.hpp"

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "reference/reference.hpp"
#include "tessera/implementations.hpp"

namespace tessera::test {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

constexpr double kEps = 0x1p-24;  // unit roundoff of float32

/// Whether an implementation has a kernel for few and for many queries of each dtype.
bool complete(std::string_view implementation) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const std::int64_t seqlen_q : {1, 256}) {
      Problem problem;
      problem.dtype = dtype;
      problem.seqlen_q = seqlen_q;
      problem.seqlen_kv = 256;
      if (!accepts(implementation, problem)) return false;
    }
  }
  return true;
}

enum class Which { available, complete_ones, kernels };

std::vector<std::string> list(Which which) {
  std::vector<std::string> names;
  const char* forced = std::getenv("TESSERA_FORCE_IMPL");
  for (const ImplementationInfo& info : implementations()) {
    if (!info.available || (which == Which::kernels && info.name == "reference")) continue;
    if (forced != nullptr && *forced != 0 && info.name != forced) continue;
    if (which == Which::available || complete(info.name)) names.emplace_back(info.name);
  }
  return names;
}

template <class Fn>
void for_each_row(const Problem& problem, Fn fn) {
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    for (std::int64_t i = 0; i < problem.query_length(b); ++i) {
      for (std::int64_t h = 0; h < problem.num_q_heads; ++h) fn(b, i, h);
    }
  }
}

/// Index in Output::o of channel 0.
std::int64_t packed_index(const Problem& p, std::int64_t b, std::int64_t i, std::int64_t h) {
  const std::int64_t row = (p.cu_seqlens_q.empty() ? b * p.seqlen_q : p.cu_seqlens_q[b]) + i;
  return (row * p.num_q_heads + h) * p.head_dim_v;
}

std::uint32_t bits_at(const GuardedBuffer& buffer, DType dtype, std::int64_t index) {
  return dtype == DType::f32 ? buffer.as<std::uint32_t>()[index] : buffer.as<std::uint16_t>()[index];
}

/// Copies the rows out of `o`, and checks that every other byte still is 0xff.
AssertionResult collect(const Instance& instance, const GuardedBuffer& o, Output& output) {
  const Problem& p = instance.problem();
  output.o.assign(static_cast<std::size_t>(p.total_queries() * p.num_q_heads * p.head_dim_v), 0.0f);
  std::vector<bool> inside(o.size() / size_of(p.dtype));
  for_each_row(p, [&](std::int64_t b, std::int64_t i, std::int64_t h) {
    for (std::int64_t c = 0; c < p.head_dim_v; ++c) {
      const std::int64_t at = instance.output_offset(b, i, h) + c;
      inside[static_cast<std::size_t>(at)] = true;
      output.o[static_cast<std::size_t>(packed_index(p, b, i, h) + c)] = decode(p.dtype, bits_at(o, p.dtype, at));
    }
  });
  const std::uint32_t untouched = p.dtype == DType::f32 ? 0xffffffffu : 0xffffu;
  for (std::size_t at = 0; at < inside.size(); ++at) {
    if (!inside[at] && bits_at(o, p.dtype, static_cast<std::int64_t>(at)) != untouched) {
      return AssertionFailure() << "element " << at << " of o lies in no row and was written";
    }
  }
  return AssertionSuccess();
}

struct Worst {
  double excess = 0;
  std::string text;

  void take(double actual, double wanted, double bound, const std::string& where) {
    const bool same = (std::isnan(actual) && std::isnan(wanted)) || actual == wanted;
    if (same || std::abs(actual - wanted) <= bound) return;
    double by = std::abs(actual - wanted) / bound;
    if (std::isnan(by)) by = INFINITY;
    if (by <= excess) return;
    excess = by;
    std::ostringstream s;
    s.precision(9);
    s << where << ": got " << actual << ", expected " << wanted << ", off by " << std::abs(actual - wanted) << ", allowed "
      << bound;
    text = s.str();
  }
};

std::string row_name(const char* tensor, std::int64_t b, std::int64_t i, std::int64_t h, std::int64_t c) {
  std::ostringstream s;
  s << "worst element: " << tensor << "[sequence " << b << ", query " << i << ", head " << h;
  if (c >= 0) s << ", channel " << c;
  return s.str() + "]";
}

void bound_row(const Problem& p, const reference::RowMagnitude& size, double lse, const double* o, double* o_bound,
               double* lse_bound) {
  const double n = static_cast<double>(size.num_keys), dqk = static_cast<double>(p.head_dim_qk);
  const double sums = (8 + 2 * std::sqrt(n)) * kEps;
  // Dot product, scale in log2 units, maximum and difference each round; exp turns that into a relative error of p.
  const double score = (6 + 2 * std::sqrt(dqk)) * kEps;
  const double p_rounding = p.dtype == DType::f32 ? 0 : ulp(p.dtype, 1) / 2;
  const double tiny = n * 0x1p-126;  // products and results below this may be flushed to zero
  for (std::int64_t c = 0; c < p.head_dim_v; ++c) {
    const double weights = score * (size.o_score[c] + size.score * std::abs(o[c]));
    o_bound[c] = weights + size.o[c] * (p_rounding + sums) + ulp(p.dtype, o[c]) / 2 * 1.01 + tiny;
  }
  *lse_bound = score * size.score + sums + 2 * kEps * std::abs(lse);
  if (!std::isfinite(lse)) *lse_bound = 0;
}

}  // namespace

const std::vector<std::string>& runnable() {
  static const std::vector<std::string> names = list(Which::complete_ones);
  return names;
}

const std::vector<std::string>& runnable_kernels() {
  static const std::vector<std::string> names = list(Which::kernels);
  return names;
}

std::string context(const Instance& instance, const How& how) {
  std::ostringstream s;
  s << "\nproblem: " << instance.problem().to_string() << "\nimplementation " << how.implementation << ", " << how.threads
    << " threads, page order seed " << instance.layout().seed << "\nrepeat: TESSERA_FORCE_IMPL=" << how.implementation << " "
    << program_invocation_name;
  if (const auto* info = ::testing::UnitTest::GetInstance()->current_test_info()) {
    s << " --gtest_filter=" << info->test_suite_name() << "." << info->name();
  }
  return s.str() + "\n";
}

AssertionResult run(const Instance& instance, const How& how, Output& output) {
  const Problem& p = instance.problem();
  PlanOptions options;
  options.max_threads = how.threads;
  options.implementation = how.implementation;
  const Result<Plan> made = plan(p, options);
  if (!made) return AssertionFailure() << "plan: " << made.status().message() << context(instance, how);

  const GuardedBuffer o(static_cast<std::size_t>(instance.output_elems()) * size_of(p.dtype), size_of(p.dtype), 0xff);
  const std::int64_t rows = p.total_queries() * p.num_q_heads;
  const GuardedBuffer lse(static_cast<std::size_t>(rows) * sizeof(float), sizeof(float), 0xff);
  const GuardedBuffer workspace(made->workspace_bytes(), kWorkspaceAlignment, 0xff);
  AttentionTensors tensors = instance.tensors();
  tensors.o.data = o.as();
  tensors.lse = how.with_lse ? lse.as<float>() : nullptr;
  RunOptions run_options;
  run_options.num_threads = how.threads;
  run_options.executor = how.executor;
  const Status status = made->run(tensors, workspace.as(), workspace.size(), run_options);
  if (!status) return AssertionFailure() << "run: " << status.message() << context(instance, how);

  if (!o.intact()) return AssertionFailure() << "written beside o" << context(instance, how);
  if (!lse.intact()) return AssertionFailure() << "written beside lse" << context(instance, how);
  if (!workspace.intact()) return AssertionFailure() << "written beside the workspace" << context(instance, how);
  output.lse.assign(lse.as<float>(), lse.as<float>() + (how.with_lse ? rows : 0));
  if (AssertionResult collected = collect(instance, o, output); !collected) return collected << context(instance, how);
  return AssertionSuccess();
}

Expected expected(const Instance& instance) {
  const Problem& p = instance.problem();
  const auto rows = static_cast<std::size_t>(p.total_queries() * p.num_q_heads);
  Expected e;
  e.o.resize(rows * static_cast<std::size_t>(p.head_dim_v));
  e.o_bound.resize(e.o.size());
  e.lse.resize(rows);
  e.lse_bound.resize(rows);
  // Two halves: even and odd queries.
  const auto half = [&](std::int64_t parity) {
    reference::RowMagnitude size;
    for_each_row(p, [&](std::int64_t b, std::int64_t i, std::int64_t h) {
      if (((i + h) & 1) != parity) return;
      double* o = e.o.data() + packed_index(p, b, i, h);
      const auto at = static_cast<std::size_t>(instance.lse_index(b, i, h));
      e.lse[at] = reference::attend_row(p, instance.tensors(), b, h, i, o, &size);
      bound_row(p, size, e.lse[at], o, e.o_bound.data() + packed_index(p, b, i, h), &e.lse_bound[at]);
    });
  };
  std::thread other(half, 1);
  half(0);
  other.join();
  return e;
}

AssertionResult close(const Instance& instance, const How& how, const Output& output, const Expected& e) {
  const Problem& p = instance.problem();
  Worst worst;
  for_each_row(p, [&](std::int64_t b, std::int64_t i, std::int64_t h) {
    for (std::int64_t c = 0; c < p.head_dim_v; ++c) {
      const auto at = static_cast<std::size_t>(packed_index(p, b, i, h) + c);
      // Rounding to the output's type: an overflow to infinity is right when the oracle's value rounds there too.
      const double wanted =
          std::isinf(decode(p.dtype, encode(p.dtype, e.o[at]))) ? decode(p.dtype, encode(p.dtype, e.o[at])) : e.o[at];
      worst.take(output.o[at], wanted, e.o_bound[at], row_name("o", b, i, h, c));
    }
    if (how.with_lse) {
      const auto at = static_cast<std::size_t>(instance.lse_index(b, i, h));
      worst.take(output.lse[at], e.lse[at], e.lse_bound[at], row_name("lse", b, i, h, -1));
    }
  });
  if (worst.excess > 0) return AssertionFailure() << worst.text << context(instance, how);
  return AssertionSuccess();
}

void expect_all(const Instance& instance, const Expected& e) {
  static const std::vector<std::string> available = list(Which::available);
  for (const std::string& implementation : available) {
    if (!accepts(implementation, instance.problem())) continue;
    for (const int threads : {1, 3}) {
      if (threads > 1 && implementation == "reference") continue;
      const How how{implementation, threads};
      Output output;
      if (AssertionResult ran = run(instance, how, output); !ran) {
        ADD_FAILURE() << ran.message();
        continue;
      }
      EXPECT_TRUE(close(instance, how, output, e));
    }
  }
}

void expect_oracle(const Instance& instance) { expect_all(instance, expected(instance)); }

void expect_answer(const Instance& instance, const ClosedForm& answer) {
  const Problem& p = instance.problem();
  Expected e;
  e.o.resize(static_cast<std::size_t>(p.total_queries() * p.num_q_heads * p.head_dim_v));
  e.o_bound.resize(e.o.size());
  e.lse.resize(static_cast<std::size_t>(p.total_queries() * p.num_q_heads));
  e.lse_bound.resize(e.lse.size());
  for_each_row(p, [&](std::int64_t b, std::int64_t i, std::int64_t h) {
    const Answer a = answer(b, h, i);
    for (std::int64_t c = 0; c < p.head_dim_v; ++c) {
      const auto at = static_cast<std::size_t>(packed_index(p, b, i, h) + c);
      e.o[at] = a.o;
      e.o_bound[at] = a.o == 0 ? 0 : 2 * ulp(p.dtype, a.o);
    }
    const auto at = static_cast<std::size_t>(instance.lse_index(b, i, h));
    e.lse[at] = a.lse;
    e.lse_bound[at] = std::isfinite(a.lse) ? 2 * ulp(DType::f32, a.lse) : 0;
  });
  expect_all(instance, e);
}

Output rows_of(const Instance& batch, const Output& output, std::int64_t b) {
  const Problem& p = batch.problem();
  Output one;
  const std::int64_t row = p.cu_seqlens_q.empty() ? b * p.seqlen_q : p.cu_seqlens_q[b];
  const std::int64_t elems = p.num_q_heads * p.head_dim_v;
  one.o.assign(output.o.begin() + row * elems, output.o.begin() + (row + p.query_length(b)) * elems);
  for (std::int64_t h = 0; h < p.num_q_heads; ++h) {
    for (std::int64_t i = 0; i < p.query_length(b); ++i) {
      one.lse.push_back(output.lse[static_cast<std::size_t>(batch.lse_index(b, i, h))]);
    }
  }
  return one;
}

std::string first_difference(const Output& a, const Output& b) {
  const auto compare = [](const char* name, const std::vector<float>& x, const std::vector<float>& y) -> std::string {
    std::ostringstream s;
    s.precision(9);
    if (x.size() != y.size()) s << name << " has " << x.size() << " and " << y.size() << " elements";
    for (std::size_t n = 0; n < std::min(x.size(), y.size()) && s.str().empty(); ++n) {
      if (std::bit_cast<std::uint32_t>(x[n]) != std::bit_cast<std::uint32_t>(y[n])) {
        s << name << "[" << n << "] is " << x[n] << " and " << y[n];
      }
    }
    return s.str();
  };
  const std::string o = compare("o", a.o, b.o);
  return o.empty() ? compare("lse", a.lse, b.lse) : o;
}

}  // namespace tessera::test
