// SPDX-License-Identifier: Apache-2.0
// The element types of the prefill kernel and its micro-kernels: MR x NR accumulators in registers, nothing else.
#pragma once

#include "cpu/kernels/prefill_tile.hpp"
#include "cpu/simd/math.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// The first min(n, kWidth) values at p, the rest 0; n may be 0 or negative.
template <class T>
TESSERA_INLINE F read_up_to(const typename T::Stored* p, int n) {
  return n >= kWidth ? T::read(p) : n > 0 ? T::read_n(p, n) : zero();
}

/// Products of floats; 16-bit types are widened when they are packed.
struct FloatProducts {
  static constexpr bool kPairs = false;
  static constexpr bool kHalves = false;  // whether q.k is summed in two chains over halves of d
  using Vector = F;
  TESSERA_INLINE Vector vector(const float* p) { return load(p); }
  TESSERA_INLINE Vector broadcast(const float* p) { return set1(*p); }
  TESSERA_INLINE F multiply_add(Vector a, Vector b, F acc) { return fma(a, b, acc); }
  TESSERA_INLINE F weight(F x) { return exp2(x); }
};

/// Each type: read and write kWidth values as floats; `units` [first, first + kWidth) of a row of dim values, zeros beyond.
template <DTypeIndex D, class S>
struct FloatRows : FloatProducts {
  using Stored = S;
  TESSERA_INLINE F read(const Stored* p) { return Element<D>::read(reinterpret_cast<const std::byte*>(p)); }
  TESSERA_INLINE F read_n(const Stored* p, int n) { return Element<D>::read_n(reinterpret_cast<const std::byte*>(p), n); }
  TESSERA_INLINE F units(const Stored* p, int first, int dim) { return read_up_to<FloatRows>(p + first, dim - first); }
  TESSERA_INLINE void write(Stored* p, F a) { Element<D>::write(reinterpret_cast<std::byte*>(p), a); }
  TESSERA_INLINE void write_n(Stored* p, F a, int n) { Element<D>::write_n(reinterpret_cast<std::byte*>(p), a, n); }
};

struct F32 : FloatRows<DTypeIndex::f32, float> {
  static constexpr bool kHalves = true;  // one chain over 80 equal terms is 2.4 ulp of O off
};
using F16 = FloatRows<DTypeIndex::f16, std::uint16_t>;
using Bf16Widened = FloatRows<DTypeIndex::bf16, std::uint16_t>;

#if defined(TESSERA_ISA_IS_AVX512BF16)
struct Bf16 : Bf16Widened {
  static constexpr bool kPairs = true;
  using Vector = P;
  TESSERA_INLINE Vector vector(const float* p) { return load_pairs(p); }
  TESSERA_INLINE Vector broadcast(const void* p) { return set1_pair(p); }
  TESSERA_INLINE F multiply_add(Vector a, Vector b, F acc) { return dot(a, b, acc); }
  TESSERA_INLINE F weight(F x) { return exp2_to_round(x); }
  TESSERA_INLINE F rounded(F lo, F hi) { return (F)round_pairs(lo, hi); }
  TESSERA_INLINE F units(const Stored* p, int first, int dim) { return (F)load_pairs_n(p + 2 * first, dim - 2 * first); }
};
#else
using Bf16 = Bf16Widened;
#endif

/// acc[i][j] += a(i) * b[j], a(i) the address of a unit, b of NR vectors of units.
template <class T, int MR, int NR, class Address>
TESSERA_INLINE void multiply_step(F (&acc)[MR][NR], const Address& a, const float* b) {
  typename T::Vector x[NR];
#pragma GCC unroll 3
  for (int j = 0; j < NR; ++j) x[j] = T::vector(b + j * kWidth);
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
    const typename T::Vector y = T::broadcast(a(i));
#pragma GCC unroll 3
    for (int j = 0; j < NR; ++j) acc[i][j] = T::multiply_add(y, x[j], acc[i][j]);
  }
}

inline constexpr int kSteps = 4;  // a turn of the loop: 64 steps are 16 turns, whose end branch prediction foresees

/// acc[i][j] += a(i, t) * b[t][j] for t in [0, steps), b [steps][NR * kWidth].
template <class T, int MR, int NR, class Address>
TESSERA_INLINE void multiply(F (&acc)[MR][NR], const Address& a, const float* b, int steps) {
  constexpr int kStride = NR * kWidth;
  int t = 0;
  for (; t + kSteps <= steps; t += kSteps, b += kSteps * kStride) {
#pragma GCC unroll 4
    for (int u = 0; u < kSteps; ++u) {
      multiply_step<T, MR, NR>(
          acc, [&](int i) __attribute__((always_inline)) { return a(i, t + u); }, b + u * kStride);
    }
  }
  for (; t < steps; ++t, b += kStride) {
    multiply_step<T, MR, NR>(
        acc, [&](int i) __attribute__((always_inline)) { return a(i, t); }, b);
  }
}

/// Limits of the keys that each row of a block sees, [begin, end) counted from the tile's first key; floats, which are
/// exact here and need no other vector type.
struct LaneLimits {
  const float* begin;
  const float* end;
};

template <int NR>
TESSERA_INLINE F hide_invisible(F score, const LaneLimits& limits, float key, int j) {
  const M seen =
      both(less_equal(load(limits.begin + j * kWidth), set1(key)), less(set1(key), load(limits.end + j * kWidth)));
  return select(seen, score, set1(-kInfinity));
}

/// Scores of kKeys<NR> keys from `key` on, whose units are at keys[i], and their maxima folded into `highest`. Where
/// kMasked, keys that a row may not see get -inf, whatever the product was.
template <class T, int NR, bool kMasked>
void score_keys(const float* const* keys, const float* q, int units, float* scores, F (&highest)[NR],
                const LaneLimits& limits, int key) {
  constexpr int MR = kKeys<NR>;
  F acc[MR][NR];
  const float* k[MR];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) k[i] = keys[i];
  int n = T::kHalves ? units / 2 : units;
  for (;;) {
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 3
      for (int j = 0; j < NR; ++j) acc[i][j] = zero();
    }
    multiply<T, MR, NR>(
        acc, [&](int i, int t) __attribute__((always_inline)) { return k[i] + t; }, q, n);
    units -= n;
    if (!T::kHalves || units == 0) break;
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      k[i] += n;
#pragma GCC unroll 3
      for (int j = 0; j < NR; ++j) store(scores + (i * NR + j) * kWidth, acc[i][j]);
    }
    q += n * NR * kWidth;
    n = units;
  }
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < NR; ++j) {
      F s = acc[i][j];
      if constexpr (T::kHalves) s = add(s, load(scores + (i * NR + j) * kWidth));
      if constexpr (kMasked) s = hide_invisible<NR>(s, limits, static_cast<float>(key + i), j);
      highest[j] = max(s, highest[j]);  // a NaN leaves the maximum alone and shows up in the sum
      store(scores + (i * NR + j) * kWidth, s);
    }
  }
}

// Score kernels and all that follows see keys of a tile; `units` counts products, of one key or (T::kPairs) two.
enum class Accumulate { fresh, add, rescale };

/// O of kBroadcasts<NR> features: o = (nothing, o, or o * factor) + sum of v * p over `units`.
template <class T, int NR, Accumulate kHow>
TESSERA_INLINE void weigh_values(const float* v, std::ptrdiff_t v_stride, const float* p, int units, float* o,
                                 const F (&factor)[NR]) {
  constexpr int MR = kBroadcasts<NR>;
  F acc[MR][NR];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < NR; ++j) {
      if constexpr (kHow == Accumulate::fresh) {
        acc[i][j] = zero();
      } else {
        acc[i][j] = load(o + (i * NR + j) * kWidth);
        if constexpr (kHow == Accumulate::rescale) acc[i][j] = mul(acc[i][j], factor[j]);
      }
    }
  }
  multiply<T, MR, NR>(
      acc, [&](int i, int t) __attribute__((always_inline)) { return v + t * v_stride + i; }, p, units);
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < NR; ++j) store(o + (i * NR + j) * kWidth, acc[i][j]);
  }
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
