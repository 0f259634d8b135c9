// SPDX-License-Identifier: Apache-2.0
// Prefetch of the next tile's K and V rows, a few lines before each micro-kernel, so that the next pack finds them near and
// DRAM works while the products run. Rows are taken in memory order: key by key, all heads of the pass. PREFETCHT0: with T1
// packing V takes twice as long (Zen 5).
#pragma once

#include "cpu/kernels/prefill_tile.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

struct Ahead {
  const std::byte* const* k_rows;  // of the next tile, kv head 0
  const std::byte* const* v_rows;
  int keys;                               // rows to come
  int key;                                // the row the cursor is in
  int spans;                              // pieces of memory of a row of K or V: 1 where heads adjoin, else one a head
  int span;                               // [0, 2 * spans): those of K, then those of V
  std::int64_t k_begin, k_step, k_bytes;  // first span from its row's address, distance to the next, size
  std::int64_t v_begin, v_step, v_bytes;
  const std::byte* at;
  const std::byte* end;
  int lines;  // before each micro-kernel
};

/// The rows of heads [head_begin, head_begin + heads).
TESSERA_INLINE Ahead ahead_of(const Sequence& sequence, std::int32_t head_begin, std::int32_t heads, std::int64_t k_bytes,
                              std::int64_t v_bytes) {
  const KvView &k = sequence.k, &v = sequence.v;
  Ahead a = {};
  const bool adjoin = k.stride_head == k_bytes && v.stride_head == v_bytes;
  a.spans = adjoin ? 1 : heads;
  a.k_begin = head_begin * k.stride_head, a.k_step = k.stride_head, a.k_bytes = adjoin ? k_bytes * heads : k_bytes;
  a.v_begin = head_begin * v.stride_head, a.v_step = v.stride_head, a.v_bytes = adjoin ? v_bytes * heads : v_bytes;
  return a;
}

/// Starts on the rows of a tile that `turns` micro-kernels are to cover.
TESSERA_INLINE void start_ahead(Ahead& a, const std::byte* const* k_rows, const std::byte* const* v_rows, int keys,
                                int turns) {
  a.k_rows = k_rows, a.v_rows = v_rows;
  a.keys = keys, a.key = 0, a.span = 0;
  a.at = a.end = nullptr;
  const std::int64_t lines = keys * a.spans * ((a.k_bytes + a.v_bytes) / 64 + 2);
  a.lines = static_cast<int>((lines + turns - 1) / (turns > 0 ? turns : 1));
}

TESSERA_INLINE void run_ahead(Ahead& a) {
  for (int n = a.lines; n > 0; --n, a.at += 64) {
    if (a.at >= a.end) {
      if (a.key >= a.keys) return;
      const bool k = a.span < a.spans;
      const std::byte* row =
          k ? a.k_rows[a.key] + a.k_begin + a.span * a.k_step : a.v_rows[a.key] + a.v_begin + (a.span - a.spans) * a.v_step;
      a.at = row - reinterpret_cast<std::uintptr_t>(row) % 64;
      a.end = row + (k ? a.k_bytes : a.v_bytes);
      if (++a.span == 2 * a.spans) a.span = 0, ++a.key;
    }
    prefetch_l1(a.at);
  }
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
