// SPDX-License-Identifier: Apache-2.0
#include "bench/inputs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

namespace tessera::bench {
namespace {

std::uint16_t round_to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// Good for what a normal distribution gives: below 2^-14 it is zero, and nothing is above 65504.
std::uint16_t round_to_f16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude < 0x38800000) return static_cast<std::uint16_t>(sign);
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13));
}

template <class T>
T element(float x, DType dtype) {
  if constexpr (sizeof(T) == 4)
    return x;
  else
    return dtype == DType::bf16 ? round_to_bf16(x) : round_to_f16(x);
}

/// A table of 65536 normal draws, drawn from again: half a nanosecond a value, so that a cache of 100k tokens is filled
/// in a fraction of a second.
template <class T>
void fill_normal(std::byte* data, std::size_t bytes, DType dtype, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<T> table(65536);
  for (T& entry : table) entry = element<T>(normal(engine), dtype);

  auto* values = reinterpret_cast<T*>(data);
  const std::size_t count = bytes / sizeof(T);
  std::uint64_t state = engine() | 1;
  for (std::size_t i = 0; i < count; i += 4) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;  // xorshift64, Marsaglia 2003
    for (std::size_t lane = 0; lane < std::min<std::size_t>(4, count - i); ++lane) {
      values[i + lane] = table[(state >> (16 * lane)) & 0xffff];
    }
  }
}

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

std::int64_t pages_of(const Problem& problem, std::int64_t b) {
  return (problem.key_length(b) + problem.page_size - 1) / problem.page_size;
}

/// Rows of K in the whole cache, each of num_kv_heads heads.
std::int64_t cache_tokens(const Problem& problem) {
  if (!problem.paged())
    return problem.cu_seqlens_kv.empty() ? problem.batch * problem.seqlen_kv : problem.cu_seqlens_kv.back();
  std::int64_t pages = 0;
  for (std::int64_t b = 0; b < problem.batch; ++b) pages += pages_of(problem, b);
  return pages * problem.page_size;
}

}  // namespace

Result<Inputs> Inputs::allocate(const Problem& problem) {
  if (Status status = problem.validate(); !status) return status;
  Inputs in;
  in.problem_ = problem;
  const auto element_bytes = size_of(problem.dtype);
  const auto rows_bytes = [&](std::int64_t tokens, std::int64_t heads, std::int64_t dim) {
    return static_cast<std::size_t>(tokens) * static_cast<std::size_t>(heads) * static_cast<std::size_t>(dim) *
           element_bytes;
  };
  in.q_bytes_ = rows_bytes(problem.total_queries(), problem.num_q_heads, problem.head_dim_qk);
  in.k_bytes_ = rows_bytes(cache_tokens(problem), problem.num_kv_heads, problem.head_dim_qk);
  in.v_bytes_ = rows_bytes(cache_tokens(problem), problem.num_kv_heads, problem.head_dim_v);
  in.o_bytes_ = rows_bytes(problem.total_queries(), problem.num_q_heads, problem.head_dim_v);

  auto arena = Arena::make(aligned(in.q_bytes_) + aligned(in.k_bytes_) + aligned(in.v_bytes_) + aligned(in.o_bytes_) + 4096);
  if (!arena.ok()) return arena.status();
  in.arena_ = std::move(*arena);
  in.q_ = in.arena_.data();
  in.k_ = in.q_ + aligned(in.q_bytes_);
  in.v_ = in.k_ + aligned(in.k_bytes_);
  in.o_ = in.v_ + aligned(in.v_bytes_);
  in.lse_.resize(static_cast<std::size_t>(problem.total_queries() * problem.num_q_heads));
  in.tensors_ = packed_tensors(problem, in.q_, in.k_, in.v_, in.o_, in.lse_.data());

  if (problem.paged()) {
    std::int64_t longest = 1, total = 0;
    for (std::int64_t b = 0; b < problem.batch; ++b) {
      longest = std::max(longest, pages_of(problem, b));
      total += pages_of(problem, b);
    }
    std::vector<std::int32_t> order(static_cast<std::size_t>(total));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(12345));
    in.block_table_.assign(static_cast<std::size_t>(problem.batch * longest), -1);
    auto next = order.begin();
    for (std::int64_t b = 0; b < problem.batch; ++b) {
      for (std::int64_t page = 0; page < pages_of(problem, b); ++page) {
        in.block_table_[static_cast<std::size_t>(b * longest + page)] = *next++;
      }
    }
    in.tensors_.block_table = in.block_table_.data();
    in.tensors_.block_table_stride = longest;
    in.tensors_.num_pages = total;
  }
  return in;
}

Result<Inputs> Inputs::make(const Problem& problem, std::uint64_t seed) {
  auto in = allocate(problem);
  if (in.ok()) in->fill(seed);
  return in;
}

void Inputs::fill(std::uint64_t seed) {
  const auto fill_one = problem_.dtype == DType::f32 ? fill_normal<float> : fill_normal<std::uint16_t>;
  fill_one(q_, q_bytes_, problem_.dtype, seed * 8 + 1);
  fill_one(k_, k_bytes_, problem_.dtype, seed * 8 + 2);
  fill_one(v_, v_bytes_, problem_.dtype, seed * 8 + 3);

  const auto heads = static_cast<std::size_t>(problem_.num_q_heads);
  std::mt19937_64 engine(seed * 8 + 4);
  if (problem_.has_alibi) {
    for (std::size_t h = 0; h < heads; ++h) {
      alibi_slopes_.push_back(
          std::exp2(-8.0f * static_cast<float>(h + 1) / static_cast<float>(heads)));  // Press et al. 2022
    }
    tensors_.alibi_slopes = alibi_slopes_.data();
  }
  std::normal_distribution<float> normal;
  if (problem_.has_sink) {
    for (std::size_t h = 0; h < heads; ++h) sink_.push_back(normal(engine));
    tensors_.sink = sink_.data();
  }
  // One bias and one mask for all sequences and heads; one key in eight is masked.
  std::int64_t keys = 0, queries = 0;
  for (std::int64_t b = 0; b < problem_.batch; ++b) {
    keys = std::max(keys, problem_.key_length(b));
    queries = std::max(queries, problem_.query_length(b));
  }
  if (problem_.has_bias) {
    bias_.resize(static_cast<std::size_t>(queries * keys));
    for (float& x : bias_) x = normal(engine);
    tensors_.bias = {bias_.data(), DType::f32, {0, 0, keys, 1}};
  }
  if (problem_.has_mask) {
    mask_.resize(static_cast<std::size_t>(queries * keys));
    for (std::uint8_t& x : mask_) x = engine() % 8 != 0;
    tensors_.mask = {mask_.data(), {0, 0, keys, 1}};
  }
}

std::int64_t Inputs::kv_offset(const Strides& strides, std::int64_t b, std::int64_t token,
                               std::int64_t head) const noexcept {
  if (problem_.paged()) {
    const auto entry = static_cast<std::size_t>(b * tensors_.block_table_stride + token / problem_.page_size);
    return block_table_[entry] * strides.outer + token % problem_.page_size * strides.seq + head * strides.head;
  }
  if (!problem_.cu_seqlens_kv.empty()) {
    return (problem_.cu_seqlens_kv[static_cast<std::size_t>(b)] + token) * strides.seq + head * strides.head;
  }
  return b * strides.outer + token * strides.seq + head * strides.head;
}

std::byte* Inputs::q_row(std::int64_t query, std::int64_t head) const noexcept {
  const std::int64_t row = query * problem_.num_q_heads + head;
  return q_ + row * problem_.head_dim_qk * static_cast<std::int64_t>(size_of(problem_.dtype));
}

std::byte* Inputs::k_row(std::int64_t b, std::int64_t token, std::int64_t head) const noexcept {
  return k_ + kv_offset(tensors_.k.strides, b, token, head) * static_cast<std::int64_t>(size_of(problem_.dtype));
}

std::byte* Inputs::v_row(std::int64_t b, std::int64_t token, std::int64_t head) const noexcept {
  return v_ + kv_offset(tensors_.v.strides, b, token, head) * static_cast<std::int64_t>(size_of(problem_.dtype));
}

}  // namespace tessera::bench
