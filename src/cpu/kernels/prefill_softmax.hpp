// SPDX-License-Identifier: Apache-2.0
// One-pass softmax over a tile of scores, in the log2 domain.
//
//   p = 2^(c (s - m)),  c = scale * log2(e);  l = sum of p, in float32 and before p is rounded for a dot product
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

/// Weights of keys [0, n) in the place of their scores, as units of T (n even where T::kPairs), and l = l * factor + sum.
/// A row that has seen no key yet has m = -inf and only scores of -inf: it is measured from 0, and every weight is 0.
template <class T, int NR, bool kFinished>
TESSERA_INLINE void weigh_scores(float* scores, int n, float c, const float* m, float* l, const F (&factor)[NR]) {
  F sum[NR], offset[NR];
#pragma GCC unroll 3
  for (int j = 0; j < NR; ++j) {
    const F at = load(m + j * kWidth), finite = select(equal(at, set1(-kInfinity)), zero(), at);
    offset[j] = kFinished ? finite : mul(finite, set1(-c));
    sum[j] = zero();
  }
  const auto weight = [&](const float* s, int j) __attribute__((always_inline)) {
    // Finished scores may be large and not multiplied yet: their difference is taken first, so nothing overflows.
    return T::weight(kFinished ? mul(sub(load(s + j * kWidth), offset[j]), set1(c))
                               : fma(load(s + j * kWidth), set1(c), offset[j]));
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
#pragma GCC unroll 3
  for (int j = 0; j < NR; ++j) store(l + j * kWidth, fma(load(l + j * kWidth), factor[j], sum[j]));
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
