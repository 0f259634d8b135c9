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
};
using Bf16Input = Pairs;
#else
using Bf16Input = Widened<DTypeIndex::bf16>;
#endif

/// Prefetches rows of the next tile, one (token, head) a step, in the order in which they lie in memory: all heads of a
/// token before the next token. A null `rows` prefetches nothing.
struct RowPrefetch {
  const std::byte* const* rows = nullptr;  // [tokens], head 0
  int tokens = 0, heads = 1;
  std::int64_t first_head_offset = 0, stride_head = 0, row_bytes = 0;
  int token = 0, head = 0;
  std::int64_t offset = 0;
};

TESSERA_INLINE RowPrefetch row_prefetch(const std::byte* const* rows, int tokens, int head_begin, int head_end,
                                        std::int64_t stride_head, std::int64_t row_bytes) {
  const std::int64_t first = head_begin * stride_head;
  return {rows, tokens, head_end - head_begin, first, stride_head, row_bytes, 0, 0, first};
}

TESSERA_INLINE void step(RowPrefetch& next) {
  if (next.token >= next.tokens) return;
  const std::byte* row = next.rows[next.token] + next.offset;
  for (std::int64_t i = 0; i < next.row_bytes; i += 64) prefetch_l2(row + i);
  next.offset += next.stride_head;
  if (++next.head == next.heads) {
    next.head = 0;
    next.offset = next.first_head_offset;
    ++next.token;
  }
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
