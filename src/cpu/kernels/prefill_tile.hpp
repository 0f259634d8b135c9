// SPDX-License-Identifier: Apache-2.0
// Shapes of the prefill kernel's tiles, and its map of the scratch memory.
//
// Lanes are rows: a block of up to kVectors * kWidth rows stands side by side in the lanes of kVectors vectors, and all
// matrices are transposed. A "unit" is 32 bits: a float, or where T::kPairs a pair of bf16 that a dot product takes.
//
//   Qt  [units of dqk][block]  K [key][units of dqk]    St [key][block] = K Qt      broadcast K, vectors of Qt
//   Ot  [dv][block]            V [units of keys][dv]    Ot += Vt Pt                 broadcast V, vectors of Pt
//   Pt  [units of keys][block], in the place of St
#pragma once

#include "cpu/kernels/element.hpp"
#include "cpu/kernels/prefill.hpp"
#include "cpu/simd/simd.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

// Accumulators of a micro-kernel: MR broadcasts times NR vectors. Two ports times 4 (FMA) or 6 (VDPBF16PS on Zen 4 and 5)
// cycles of latency want 8 or 12 chains; with MR x NR = 8 x 3 there are 24, and 11 loads for 24 products, where the two
// load ports would have time for 24. 16 registers hold 4 x 3; without a fused product one is needed for the product.
inline constexpr int kVectors = kWidth > 4 ? 3 : 2;
inline constexpr int kBlock = kVectors * kWidth;  // rows

template <int NR>
inline constexpr int kBroadcasts = (kRegisters >= 32 ? 8 : 4) * (NR == 1 ? 2 : 1);
// Keys of a score micro-kernel: each row has a pointer of its own, and 16 general registers hold 12 of them.
template <int NR>
inline constexpr int kKeys = kBroadcasts<NR> < 12 ? kBroadcasts<NR> : 12;
inline constexpr int kMostBroadcasts = kBroadcasts<1>;

/// Keys a softmax step.
TESSERA_INLINE int tile_of(const RunConstants&) { return kPrefillTile; }

/// Byte offsets in the scratch of one thread, each a multiple of 64.
struct PrefillLayout {
  int tile;
  int qk_units;       // of a row of Q and K
  int value_columns;  // dv, rounded up to what every micro-kernel divides
  int k_stride,
      v_stride;  // units between rows of the K and V tiles: an odd number of lines, so that sets of L1 are all used
  int capacity;  // vectors of rows that the state below has room for
  std::size_t q, o, m, l, limits, seen;         // state of the rows of a pass
  std::size_t k, v, scores, rows, keys, zeros;  // one tile
  std::size_t bytes;
};

// Q and O of a pass: what stays in L2 (1 MB on Zen 4 and 5) beside a tile of K and V and the prefetched next one.
inline constexpr std::size_t kStateBytes = 640 * 1024;

template <class T>
TESSERA_INLINE PrefillLayout prefill_layout(const RunConstants& constants, std::int64_t max_rows) {
  PrefillLayout x;
  x.tile = tile_of(constants);
  x.qk_units = T::kPairs ? (constants.dqk + 1) / 2 : constants.dqk;
  x.value_columns = round_up(constants.dv, kMostBroadcasts);
  x.k_stride = round_up(x.qk_units, 32) + 16;
  x.v_stride = round_up(x.value_columns, 32) + 16;

  const std::size_t vector_bytes = std::size_t(x.qk_units + x.value_columns + 2) * kWidth * 4;
  const std::size_t most = kStateBytes / vector_bytes / kVectors * kVectors;
  const std::size_t wanted = std::size_t(constants.num_kv_heads) * (std::size_t(max_rows) / kWidth + 1);
  x.capacity = static_cast<int>(wanted < most ? wanted : most);

  std::size_t at = 0;
  const auto take = [&at](std::size_t bytes) {
    const std::size_t begin = at;
    at += round_up(bytes, 64);
    return begin;
  };
  const std::size_t lanes = std::size_t(x.capacity) * kWidth;
  x.q = take(lanes * x.qk_units * 4);
  x.o = take(lanes * x.value_columns * 4);
  x.m = take(lanes * 4);
  x.l = take(lanes * 4);
  x.seen = take(x.capacity * 4);
  x.limits = take(4 * kBlock * 4);
  x.k = take(std::size_t(x.tile) * x.k_stride * 4);
  x.v = take(std::size_t(T::kPairs ? x.tile / 2 : x.tile) * x.v_stride * 4);
  x.scores = take(std::size_t(x.tile + kMostBroadcasts) * kBlock * 4);
  x.rows = take(std::size_t(x.tile) * 4 * sizeof(const std::byte*));
  x.keys = take(std::size_t(x.tile + kMostBroadcasts) * sizeof(const float*));
  x.zeros = take(std::size_t(x.qk_units) * 4);
  x.bytes = at;
  return x;
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
