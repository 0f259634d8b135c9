// SPDX-License-Identifier: Apache-2.0
// What the inner loops of decode multiply: floats, or pairs of bf16 where the ISA has such a product.
#pragma once

#include "cpu/kernels/element.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// K and V widened to float on load; Q and P are floats.
template <DTypeIndex D>
struct Widened {
  static constexpr DTypeIndex kType = D;
  static constexpr bool kPairs = false;
  static constexpr int kBytes = Element<D>::kBytes;  // of an element of K and V
  static constexpr int kStep = kWidth;               // elements a vector of K
  static constexpr int kQueryBytes = 4;              // of an element of the copy of Q
  static constexpr int kWeightBytes = 4;             // of an element of P
  using Vector = F;
  TESSERA_INLINE F key(const std::byte* p) { return Element<D>::read(p); }
  TESSERA_INLINE F key_n(const std::byte* p, int n) { return Element<D>::read_n(p, n); }
  TESSERA_INLINE F query(const std::byte* p) { return load(reinterpret_cast<const float*>(p)); }
  TESSERA_INLINE F multiply_add(F q, F k, F acc) { return fma(q, k, acc); }
  TESSERA_INLINE F weight(F x) { return exp2(x); }
};

#if defined(TESSERA_ISA_IS_AVX512BF16)
/// bf16 in pairs along the head dimension for q.k, along the keys for p.v; P is rounded to bf16.
struct Pairs {
  static constexpr DTypeIndex kType = DTypeIndex::bf16;
  static constexpr bool kPairs = true;
  static constexpr int kBytes = 2;
  static constexpr int kStep = 2 * kWidth;
  static constexpr int kQueryBytes = 2;
  static constexpr int kWeightBytes = 2;
  using Vector = P;
  TESSERA_INLINE P key(const std::byte* p) { return load_pairs(p); }
  TESSERA_INLINE P key_n(const std::byte* p, int n) { return load_pairs_n(p, n); }
  TESSERA_INLINE P query(const std::byte* p) { return load_pairs(p); }
  TESSERA_INLINE F multiply_add(P q, P k, F acc) { return dot(q, k, acc); }
  TESSERA_INLINE F weight(F x) { return exp2_to_round(x); }
};
using Bf16Input = Pairs;
#else
using Bf16Input = Widened<DTypeIndex::bf16>;
#endif

}  // namespace tessera::cpu::TESSERA_ISA_NAME
