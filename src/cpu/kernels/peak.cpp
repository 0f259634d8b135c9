// SPDX-License-Identifier: Apache-2.0
// Register-only multiply-adds and sequential reads, compiled once an ISA.
//
// Two FMA ports of 4 cycles latency (Zen 2 to 5, Intel since Skylake) need 8 chains in flight, VDPBF16PS (6 cycles on
// Zen 4 and 5) 12. With 32 registers there are 24 chains, with 16 there are 12; two more hold the operands, so none spills.
#include "cpu/kernels/peak.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera::cpu::TESSERA_ISA_NAME {
namespace {

#if defined(TESSERA_ISA_IS_AVX512) || defined(TESSERA_ISA_IS_AVX512BF16)
constexpr int kVectorBytes = 64, kChains = 24;
#elif defined(TESSERA_ISA_IS_AVX2)
constexpr int kVectorBytes = 32, kChains = 12;
#else
constexpr int kVectorBytes = 16, kChains = 12;
#endif

using Vector = float __attribute__((vector_size(kVectorBytes)));
using Words = long long __attribute__((vector_size(kVectorBytes), may_alias));
constexpr int kLanes = kVectorBytes / 4;

// x * a + b with a = 0.5, b = 1 tends to 2: never a subnormal, never infinite.
#if defined(TESSERA_ISA_IS_AVX512) || defined(TESSERA_ISA_IS_AVX512BF16)
inline __attribute__((always_inline)) Vector multiply_add_one(Vector x, Vector a, Vector b) {
  return _mm512_fmadd_ps(x, a, b);
}
#elif defined(TESSERA_ISA_IS_AVX2)
inline __attribute__((always_inline)) Vector multiply_add_one(Vector x, Vector a, Vector b) {
  return _mm256_fmadd_ps(x, a, b);
}
#else
inline __attribute__((always_inline)) Vector multiply_add_one(Vector x, Vector a, Vector b) { return x * a + b; }
#endif

// Each chain starts from another value, or the compiler would compute one and copy it.
inline __attribute__((always_inline)) void start(Vector (&chain)[kChains], const float* sink) {
#pragma GCC unroll 32
  for (int c = 0; c < kChains; ++c) chain[c] = Vector{} + sink[c];
}

inline __attribute__((always_inline)) void finish(const Vector (&chain)[kChains], float* sink) {
#pragma GCC unroll 32
  for (int c = 0; c < kChains; ++c) sink[c] = chain[c][0] + chain[c][kLanes - 1];
}

void multiply_add(std::int64_t iterations, float* sink) {
  Vector chain[kChains];
  start(chain, sink);
  const Vector a = Vector{} + 0.5f, b = Vector{} + 1.0f;
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 32
    for (int c = 0; c < kChains; ++c) chain[c] = multiply_add_one(chain[c], a, b);
  }
  finish(chain, sink);
}

#if defined(TESSERA_ISA_IS_AVX512BF16)
void pair_dot(std::int64_t iterations, float* sink) {
  Vector chain[kChains];
  start(chain, sink);
  const auto a = (__m512bh)_mm512_set1_epi16(0x3f80);                        // 1
  const auto b = (__m512bh)_mm512_set1_epi32(static_cast<int>(0xbf803f81));  // 1 + 2^-7 and -1: sums grow slowly
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 32
    for (int c = 0; c < kChains; ++c) chain[c] = (Vector)_mm512_dpbf16_ps((__m512)chain[c], a, b);
  }
  finish(chain, sink);
}
#endif

constexpr std::size_t kBlock = 1024;  // bytes a turn of the read loop

// Prefetching into L2 8 to 64 KB ahead gives the most on DRAM; into L1 it gives nothing.
constexpr std::size_t kPrefetchAhead = 16384;

template <bool kPrefetch>
inline __attribute__((always_inline)) std::uint64_t read_loop(const std::byte* data, std::size_t bytes) {
  constexpr int kSums = 8;
  Words sum[kSums] = {};
  for (std::size_t at = 0; at < bytes; at += kBlock) {
    if constexpr (kPrefetch) {
#pragma GCC unroll 16
      for (std::size_t line = 0; line < kBlock; line += 64) __builtin_prefetch(data + at + kPrefetchAhead + line, 0, 2);
    }
#pragma GCC unroll 64
    for (std::size_t i = 0; i < kBlock / kVectorBytes; ++i) {
      sum[i % kSums] |= *reinterpret_cast<const Words*>(data + at + i * kVectorBytes);
    }
  }
  Words all = sum[0];
#pragma GCC unroll 8
  for (int s = 1; s < kSums; ++s) all |= sum[s];
  return static_cast<std::uint64_t>(all[0] | all[1]);
}

std::uint64_t read(const std::byte* data, std::size_t bytes) { return read_loop<false>(data, bytes); }
std::uint64_t read_prefetched(const std::byte* data, std::size_t bytes) { return read_loop<true>(data, bytes); }

}  // namespace

const PeakTable& peak_table() {
  static constexpr PeakTable table = {
    multiply_add,
    2.0 * kLanes * kChains,
#if defined(TESSERA_ISA_IS_AVX512BF16)
    pair_dot,
    4.0 * kLanes * kChains,
#else
    nullptr,
    0,
#endif
    read,
    read_prefetched,
  };
  return table;
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
