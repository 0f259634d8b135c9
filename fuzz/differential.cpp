// SPDX-License-Identifier: Apache-2.0
// Every implementation of this machine against the reference, on random problems whose untouchable places (keys past a
// length, unused pages, masked keys) hold NaN or Inf. Buffers have their exact size, so that the address sanitizer sees
// any step outside. The same run on another number of threads must give the same bits.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/convert.hpp"
#include "fuzz/check.hpp"
#include "fuzz/random_problem.hpp"
#include "tessera/attention.hpp"
#include "tessera/implementations.hpp"

namespace {

using namespace tessera;

/// Elements of the problem's dtype in a block of exactly their size.
class Values {
 public:
  Values(DType dtype, std::int64_t count, float fill)
      : dtype_(dtype), bytes_(static_cast<std::size_t>(count) * size_of(dtype)) {
    for (std::int64_t i = 0; i < count; ++i) set(i, fill);
  }
  void set(std::int64_t i, float x) {
    if (dtype_ == DType::f32) {
      std::memcpy(&bytes_[i * 4], &x, 4);
    } else {
      const std::uint16_t h = dtype_ == DType::f16 ? base::float_to_f16(x) : base::float_to_bf16(x);
      std::memcpy(&bytes_[i * 2], &h, 2);
    }
  }
  float get(std::int64_t i) const {
    if (dtype_ == DType::f32) {
      float x;
      std::memcpy(&x, &bytes_[i * 4], 4);
      return x;
    }
    std::uint16_t h;
    std::memcpy(&h, &bytes_[i * 2], 2);
    return dtype_ == DType::f16 ? base::f16_to_float(h) : base::bf16_to_float(h);
  }
  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size() / size_of(dtype_)); }
  void* data() { return bytes_.data(); }
  bool operator==(const Values& other) const { return bytes_ == other.bytes_; }

 private:
  DType dtype_;
  std::vector<std::byte> bytes_;
};

/// Inputs of a problem. What no query may touch is `poison`.
struct Inputs {
  Values q, k, v;
  std::vector<std::int32_t> block_table{};
  std::vector<float> slopes{}, sink{}, bias{};
  std::vector<std::uint8_t> mask{};
  std::int64_t num_pages = 0, max_pages = 0, max_q = 0, max_kv = 0;
};

std::int64_t most(const Problem& p, std::int64_t (Problem::*length)(std::int64_t) const noexcept) {
  std::int64_t most = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) most = std::max(most, (p.*length)(b));
  return most;
}

std::int64_t kv_tokens(const Problem& p, std::int64_t num_pages) {
  if (p.paged()) return num_pages * p.page_size;
  return p.cu_seqlens_kv.empty() ? p.batch * p.seqlen_kv : p.cu_seqlens_kv.back();
}

/// Where token j of sequence b stands in a buffer of [token, head] or, head-major, [page, head, token] rows.
std::int64_t kv_row(const Problem& p, const Inputs& in, std::int64_t b, std::int64_t j, std::int64_t h) {
  if (!p.paged()) {
    const std::int64_t token = (p.cu_seqlens_kv.empty() ? b * p.seqlen_kv : p.cu_seqlens_kv[b]) + j;
    return token * p.num_kv_heads + h;
  }
  const std::int64_t page = in.block_table[b * in.max_pages + j / p.page_size], slot = j % p.page_size;
  if (p.kv_layout == KvLayout::paged_token_major) return (page * p.page_size + slot) * p.num_kv_heads + h;
  return (page * p.num_kv_heads + h) * p.page_size + slot;
}

void place_pages(const Problem& p, std::mt19937& random, Inputs& in) {
  std::vector<std::int32_t> order;
  in.max_pages = (in.max_kv + p.page_size - 1) / p.page_size + 1;
  for (std::int64_t b = 0; b < p.batch; ++b) in.num_pages += (p.key_length(b) + p.page_size - 1) / p.page_size;
  in.num_pages += 2;  // pages that nobody uses
  for (std::int32_t i = 0; i < in.num_pages; ++i) order.push_back(i);
  std::shuffle(order.begin(), order.end(), random);
  in.block_table.assign(p.batch * in.max_pages, -1);
  std::size_t next = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t x = 0; x < (p.key_length(b) + p.page_size - 1) / p.page_size; ++x) {
      in.block_table[b * in.max_pages + x] = order[next++];
    }
  }
}

/// True when some query of sequence b may see key j by position.
bool touchable(const Problem& p, std::int64_t b, std::int64_t j) {
  const std::int64_t sq = p.query_length(b), offset = p.alignment == Alignment::top_left ? 0 : p.key_length(b) - sq;
  for (std::int64_t i = 0; i < sq; ++i) {
    const std::int64_t distance = j - (i + offset);
    if (p.causal && distance > 0) continue;
    if (p.window_left >= 0 && -distance > p.window_left) continue;
    if (p.window_right >= 0 && distance > p.window_right) continue;
    return true;
  }
  return false;
}

Inputs make_inputs(const Problem& p, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const float poison = seed % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  Inputs in{Values(p.dtype, p.total_queries() * p.num_q_heads * p.head_dim_qk, 0), Values(p.dtype, 0, 0),
            Values(p.dtype, 0, 0)};
  in.max_q = most(p, &Problem::query_length);
  in.max_kv = most(p, &Problem::key_length);
  if (p.paged()) place_pages(p, random, in);
  const std::int64_t rows = kv_tokens(p, in.num_pages) * p.num_kv_heads;
  in.k = Values(p.dtype, rows * p.head_dim_qk, poison);
  in.v = Values(p.dtype, rows * p.head_dim_v, poison);
  for (std::int64_t i = 0; i < in.q.size(); ++i) in.q.set(i, normal(random));
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t j = 0; j < p.key_length(b); ++j) {
      if (!touchable(p, b, j)) continue;
      for (std::int64_t h = 0; h < p.num_kv_heads; ++h) {
        const std::int64_t row = kv_row(p, in, b, j, h);
        for (std::int64_t x = 0; x < p.head_dim_qk; ++x) in.k.set(row * p.head_dim_qk + x, normal(random));
        for (std::int64_t x = 0; x < p.head_dim_v; ++x) in.v.set(row * p.head_dim_v + x, normal(random));
      }
    }
  }
  for (std::int64_t h = 0; h < p.num_q_heads; ++h) {
    in.slopes.push_back(std::exp2(-static_cast<float>(h % 8 + 1)));
    in.sink.push_back(normal(random));
  }
  // One bias and one mask for all heads and sequences: [max_q, max_kv], broadcast by strides of zero.
  for (std::int64_t i = 0; i < in.max_q * in.max_kv; ++i) {
    in.bias.push_back(random() % 8 == 0 ? -std::numeric_limits<float>::infinity() : normal(random));
    in.mask.push_back(random() % 4 == 0 ? 0 : 255);
  }
  return in;
}

struct Outputs {
  Values o;
  std::vector<float> lse;
};

std::int64_t lse_count(const Problem& p) { return p.total_queries() * p.num_q_heads; }

Outputs run(const Problem& p, Inputs& in, std::string_view implementation, int threads) {
  Outputs out{Values(p.dtype, p.total_queries() * p.num_q_heads * p.head_dim_v, std::numeric_limits<float>::quiet_NaN()),
              {}};
  out.lse.assign(lse_count(p), std::numeric_limits<float>::quiet_NaN());
  auto tensors = packed_tensors(p, in.q.data(), in.k.data(), in.v.data(), out.o.data(), out.lse.data());
  tensors.block_table = in.block_table.data();
  tensors.block_table_stride = in.max_pages;
  tensors.num_pages = in.num_pages;
  if (p.has_alibi) tensors.alibi_slopes = in.slopes.data();
  if (p.has_sink) tensors.sink = in.sink.data();
  if (p.has_bias) tensors.bias = {in.bias.data(), DType::f32, {0, 0, in.max_kv, 1}};
  if (p.has_mask) tensors.mask = {in.mask.data(), {0, 0, in.max_kv, 1}};
  PlanOptions options;
  options.max_threads = threads;
  options.implementation = implementation;
  const auto plan = tessera::plan(p, options);
  FUZZ_CHECK(plan.ok(), "'%s' on %.*s: %s", p.to_string().c_str(), static_cast<int>(implementation.size()),
             implementation.data(), plan.status().message().c_str());
  const std::size_t bytes = (plan->workspace_bytes() + 63) / 64 * 64;
  void* workspace = bytes == 0 ? nullptr : std::aligned_alloc(64, bytes);
  if (workspace != nullptr) std::memset(workspace, 0xff, bytes);  // NaN
  const Status status = plan->run(tensors, workspace, plan->workspace_bytes());
  std::free(workspace);
  FUZZ_CHECK(status.ok(), "'%s' on %.*s: %s", p.to_string().c_str(), static_cast<int>(implementation.size()),
             implementation.data(), status.message().c_str());
  return out;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// |x - want| within a few roundings of P and of the output; scores of random inputs reach tens, values a few units.
bool close(float x, float want, float epsilon) {
  if (std::isinf(want)) return x == want;
  return std::abs(x - want) <= epsilon * (4 + std::abs(want));
}

void compare(const Problem& p, const Outputs& got, const Outputs& want, std::string_view name) {
  const float epsilon = p.dtype == DType::f32 ? 1e-5f : p.dtype == DType::f16 ? 0x1p-10f : 0x1p-7f;
  for (std::int64_t i = 0; i < want.o.size(); ++i) {
    FUZZ_CHECK(close(got.o.get(i), want.o.get(i), epsilon), "'%s' on %.*s: o[%lld] is %g, not %g", p.to_string().c_str(),
               static_cast<int>(name.size()), name.data(), static_cast<long long>(i), static_cast<double>(got.o.get(i)),
               static_cast<double>(want.o.get(i)));
  }
  for (std::size_t i = 0; i < want.lse.size(); ++i) {
    FUZZ_CHECK(close(got.lse[i], want.lse[i], 1e-5f), "'%s' on %.*s: lse[%zu] is %g, not %g", p.to_string().c_str(),
               static_cast<int>(name.size()), name.data(), i, static_cast<double>(got.lse[i]),
               static_cast<double>(want.lse[i]));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  fuzz::Limits limits;
  limits.batch = 3;
  limits.heads = 2;
  limits.group = 5;
  limits.head_dim = bytes.ConsumeBool() ? 40 : 256;
  limits.seqlen_q = bytes.ConsumeBool() ? 3 : 70;
  limits.seqlen_kv = bytes.ConsumeBool() ? 70 : 300;
  const auto seed = bytes.ConsumeIntegral<std::uint32_t>();
  const int threads = fuzz::pick(bytes, 2, 5);
  const Problem problem = fuzz::random_problem(bytes, limits);
  const bool dense = problem.cu_seqlens_q.empty() && problem.cu_seqlens_kv.empty();
  if (!problem.validate() || ((problem.has_bias || problem.has_mask) && !dense)) return 0;
  Inputs in = make_inputs(problem, seed);
  const Outputs want = run(problem, in, "reference", 1);
  for (const ImplementationInfo& info : implementations()) {
    if (!info.available || info.name == "reference" || !accepts(info.name, problem)) continue;
    const Outputs one = run(problem, in, info.name, 1), many = run(problem, in, info.name, threads);
    compare(problem, one, want, info.name);
    FUZZ_CHECK(one.o == many.o && same_bits(one.lse, many.lse), "'%s' on %.*s gives other bits on %d threads",
               problem.to_string().c_str(), static_cast<int>(info.name.size()), info.name.data(), threads);
  }
  return 0;
}
