// SPDX-License-Identifier: Apache-2.0
// One-pass softmax over a tile of scores.
//
//   p = 2^((s - m) c), in the units of score_units.hpp;  l = sum of p, in float32 and before p is rounded for a dot product
//
// O and l are rescaled only where some row's maximum moved; a row whose maximum did not is multiplied by exactly 1, so that
// its bits do not depend on its neighbours.
#pragma once

#include "cpu/kernels/prefill_gemm.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// Moves m to the maxima of a tile. factor[j]: what O and l so far are to be multiplied by. Returns whether any is not 1.
template <int NR>
TESSERA_INLINE bool move_maxima(const F (&highest)[NR], float c, float* m, F (&factor)[NR]) {
  bool any_moved = false;
#pragma GCC unroll 3
  for (int j = 0; j < NR; ++j) {
    const F old = load(m + j * kWidth);
    const M moved = less(old, highest[j]);  // so never from -inf to -inf, whose difference is NaN
    const F now = select(moved, highest[j], old);
    factor[j] = select(moved, exp2(mul(sub(old, now), set1(c))), set1(1.0f));
    store(m + j * kWidth, now);
    any_moved = any_moved || any(moved);
  }
  return any_moved;
}

/// What turns the scores of a block's rows into exponents of 2.
template <int NR>
struct Exponents {
  F c;
  F base[NR];    // m, or 0 for a row that has seen no key yet: m = -inf and only scores of -inf, and every weight is 0
  F offset[NR];  // -base c
  M large[NR];   // rows for which (s - m) c is taken instead of s c - m c
  bool any_large;
};

// s c - m c is one fma, and off by what m c was rounded by: |m c| 2^-25, the same for all keys of a tile. From 2^10 on,
// where that is 2^-15, the difference is taken first, which is exact near the maximum; beyond 2^30 nothing else would do.
// Each row decides by its own m. Taken for all rows, it costs 1 % (f32, d 128) to 2.4 % (bf16, d 64).
template <int NR>
TESSERA_INLINE Exponents<NR> exponents(const float* m, float c) {
  Exponents<NR> e;
  e.c = set1(c);
  e.any_large = false;
#pragma GCC unroll 3
  for (int j = 0; j < NR; ++j) {
    const F at = load(m + j * kWidth);
    e.base[j] = select(equal(at, set1(-kInfinity)), zero(), at);
    e.offset[j] = mul(e.base[j], set1(-c));
    e.large[j] = less(set1(0x1p10f), abs(e.offset[j]));
    e.any_large = e.any_large || any(e.large[j]);
  }
  return e;
}

/// Weights of keys [0, n) in the place of their scores, as units of T (n even where T::kPairs), and their sums.
template <class T, int NR, bool kLarge>
TESSERA_INLINE void weigh_keys(float* scores, int n, const Exponents<NR>& e, F (&sum)[NR]) {
  const auto weight = [&](const float* at, int j) __attribute__((always_inline)) {
    const F s = load(at + j * kWidth), x = fma(s, e.c, e.offset[j]);
    return T::weight(kLarge ? select(e.large[j], mul(sub(s, e.base[j]), e.c), x) : x);
  };
  constexpr int kStep = T::kPairs ? 2 : 1;
  float* out = scores;
  for (int key = 0; key < n; key += kStep, scores += kStep * NR * kWidth, out += NR * kWidth) {
#pragma GCC unroll 3
    for (int j = 0; j < NR; ++j) {
      const F a = weight(scores, j);
      sum[j] = add(sum[j], a);
      if constexpr (T::kPairs) {
        const F b = weight(scores + NR * kWidth, j);
        sum[j] = add(sum[j], b);
        store(out + j * kWidth, T::rounded(a, b));
      } else {
        store(out + j * kWidth, a);
      }
    }
  }
}

/// The same, and l = l * factor + sum.
template <class T, int NR>
TESSERA_INLINE void weigh_scores(float* scores, int n, float c, const float* m, float* l, const F (&factor)[NR]) {
  const Exponents<NR> e = exponents<NR>(m, c);
  F sum[NR];
#pragma GCC unroll 3
  for (int j = 0; j < NR; ++j) sum[j] = zero();
  if (e.any_large) {
    weigh_keys<T, NR, true>(scores, n, e, sum);
  } else {
    weigh_keys<T, NR, false>(scores, n, e, sum);
  }
#pragma GCC unroll 3
  for (int j = 0; j < NR; ++j) store(l + j * kWidth, fma(load(l + j * kWidth), factor[j], sum[j]));
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
