// SPDX-License-Identifier: Apache-2.0
// Ot += Vt Pt for a block of rows and the visible keys of a tile.
#pragma once

#include "cpu/kernels/prefill_ahead.hpp"
#include "cpu/kernels/prefill_gemm.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

template <class T, int NR, Accumulate kHow>
void weigh_all_values(const float* v, std::ptrdiff_t v_stride, const float* p, int units, int columns, float* o,
                      const F (&factor)[NR], Ahead& ahead) {
  for (int c = 0; c < columns; c += kBroadcasts<NR>) {
    run_ahead(ahead);
    weigh_values<T, NR, kHow>(v + c, v_stride, p, units, o + c * NR * kWidth, factor);
  }
}

/// Lanes whose weight is not zero: of a unit, or of the first and the second half of a pair.
template <class T>
TESSERA_INLINE void lanes_with_weight(const float* p, M (&seen)[2]) {
  const F w = load(p);
  if constexpr (T::kPairs) {
    float first[kWidth], second[kWidth];
    for (int i = 0; i < kWidth; ++i) {
      std::uint32_t bits;
      __builtin_memcpy(&bits, p + i, 4);
      first[i] = (bits & 0xffff) != 0 ? 0.0f : 1.0f;
      second[i] = (bits >> 16) != 0 ? 0.0f : 1.0f;
    }
    seen[0] = equal(load(first), zero());
    seen[1] = equal(load(second), zero());
  } else {
    const F hidden = select(equal(w, zero()), set1(1.0f), zero());
    seen[0] = seen[1] = equal(hidden, zero());
  }
}

/// acc + v * p where the weight is not zero; the same bits as multiply_add for finite v.
template <class T>
TESSERA_INLINE F multiply_add_seen(const float* v, const float* p, const M (&seen)[2], F acc) {
  const typename T::Vector w = T::vector(p);
  if constexpr (T::kPairs) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, v, 4);
    const std::uint32_t first = bits & 0xffff, second = bits & 0xffff0000u;
    const F with_first = select(seen[0], T::multiply_add(T::broadcast(&first), w, acc), acc);
    const F with_second = T::multiply_add(T::broadcast(&second), w, acc);
    const F with_both = T::multiply_add(T::broadcast(v), w, acc);
    return select(both(seen[0], seen[1]), with_both, select(seen[1], with_second, with_first));
  } else {
    return select(seen[0], T::multiply_add(T::broadcast(v), w, acc), acc);
  }
}

/// For a tile in which some value is NaN or Inf: 0 * NaN would reach rows that may not see that key, so lanes without
/// weight are left alone. Slow, and only met in caches with garbage or problems with NaN.
template <class T, int NR>
void weigh_values_carefully(const float* v, std::ptrdiff_t v_stride, const float* p, int units, int columns, bool fresh,
                            float* o, const F (&factor)[NR]) {
  constexpr int kLanes = NR * kWidth;
  for (int j = 0; j < NR; ++j) {
    for (int c = 0; c < columns; ++c) {
      float* at = o + c * kLanes + j * kWidth;
      store(at, fresh ? zero() : mul(load(at), factor[j]));
    }
    for (int t = 0; t < units; ++t) {
      M seen[2];
      lanes_with_weight<T>(p + t * kLanes + j * kWidth, seen);
      for (int c = 0; c < columns; ++c) {
        float* at = o + c * kLanes + j * kWidth;
        store(at, multiply_add_seen<T>(v + t * v_stride + c, p + t * kLanes + j * kWidth, seen, load(at)));
      }
    }
  }
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
