// SPDX-License-Identifier: Apache-2.0
// The two products of decode, R rows against the keys of one tile. Lanes lie along the head dimension.
//
//   scores: R rows x 4 G keys of accumulators; a vector of each K row is loaded once and used by R rows
//   values: R rows x N vectors of accumulators; a vector of each V row is loaded once and used by R rows
//
// Each sum is taken in an order that depends on neither R, G nor N, so a row has the same bits in whatever company.
#pragma once

#include "cpu/kernels/decode_input.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// Accumulators of one block: 16 of 32 registers (two multiply-adds a cycle x 4 to 6 cycles of latency need 12; the rest
/// holds operands), 8 of 16.
inline constexpr int kAccumulators = kRegisters / 2;
inline constexpr int kMaxRows = kRegisters == 32 ? 4 : 2;

/// Rows to prefetch: row j is at rows[j] + offset.
struct Rows {
  const std::byte* const* rows;
  std::int64_t offset;
};

/// While row j of this step is read, row j of the next step is prefetched into L1 and that of the step after it into L2.
/// A prefetch that finds no free miss buffer is dropped, and the load that needs its line waits for all of DRAM's latency.
/// So each line of DRAM is asked for twice (from L3 once is enough, and twice takes a quarter of the speed); spread evenly,
/// since a burst is dropped first.
struct Ahead {
  Rows next, after;
};

template <bool kFromMemory>
TESSERA_INLINE void prefetch(const Ahead& ahead, int j, std::int64_t at) {
  if constexpr (kFromMemory) prefetch_l2(ahead.after.rows[j] + ahead.after.offset + at);
  prefetch_l1(ahead.next.rows[j] + ahead.next.offset + at);
}

template <int kBytes, bool kFromMemory>
TESSERA_INLINE void prefetch_part(const Ahead& ahead, int j, std::int64_t at) {
#pragma GCC unroll 16
  for (int i = 0; i < kBytes; i += 64) prefetch<kFromMemory>(ahead, j, at + i);
}

/// Sums of q.k before the lanes are added: blocks of 4 keys, groups[r * group_stride + g * kWidth] for keys 4 g to 4 g + 3.
/// k_rows has num_groups * 4 readable entries (the last key repeated), a multiple of kAccumulators. While row j is read,
/// those of the steps ahead are prefetched.
template <class T, int R, bool kFromMemory>
__attribute__((noinline)) void scores(const std::byte* q, std::ptrdiff_t q_stride, const std::byte* const* k_rows,
                                      std::int64_t offset, const Ahead& ahead, int num_groups, int dqk, float* groups,
                                      int group_stride) {
  constexpr int kKeys = R == 3 ? 4 : kAccumulators / R;
  constexpr int kStepBytes = T::kStep * T::kBytes;
  const int whole = dqk / T::kStep, rest = dqk % T::kStep;
  for (int g = 0; g < num_groups; g += kKeys / 4, k_rows += kKeys) {
    const int first = g * 4;
    F acc[R][kKeys];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (int j = 0; j < kKeys; ++j) acc[r][j] = zero();
    }
    std::int64_t at = 0;
    const std::byte* q_at = q;
    for (int c = 0; c < whole; ++c, at += kStepBytes, q_at += T::kStep * T::kQueryBytes) {
#pragma GCC unroll 16
      for (int j = 0; j < kKeys; ++j) {
        const typename T::Vector k = T::key(k_rows[j] + offset + at);
        if (kStepBytes == 64 || at % 64 == 0) prefetch<kFromMemory>(ahead, first + j, at);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) acc[r][j] = T::multiply_add(T::query(q_at + r * q_stride), k, acc[r][j]);
      }
    }
    if (rest != 0) {
#pragma GCC unroll 16
      for (int j = 0; j < kKeys; ++j) {
        const typename T::Vector k = T::key_n(k_rows[j] + offset + at, rest);
        prefetch<kFromMemory>(ahead, first + j, at);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) acc[r][j] = T::multiply_add(T::query(q_at + r * q_stride), k, acc[r][j]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (int j = 0; j < kKeys; j += 4) {
        store(groups + r * group_stride + (g + j / 4) * kWidth,
              sum4(acc[r][j], acc[r][j + 1], acc[r][j + 2], acc[r][j + 3]));
      }
    }
  }
}

/// o[r][0 .. N) += sum over n keys of p[r][j] * V row j, N vectors from byte `offset` of the rows on. `lanes`: how many
/// elements of them there are (fewer than N kWidth in the last block of a head dimension that is no multiple).
template <class T, int R, int N, bool kWhole, bool kFromMemory>
TESSERA_INLINE void values(const std::byte* p, std::ptrdiff_t p_stride, const std::byte* const* v_rows, std::int64_t offset,
                           const Ahead& ahead, std::int64_t ahead_at, int n, int lanes, float* o, std::ptrdiff_t o_stride) {
  F acc[R][N];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < N; ++v) acc[r][v] = load(o + r * o_stride + v * kWidth);
  }
#if defined(TESSERA_ISA_IS_AVX512BF16)
  if constexpr (T::kPairs) {
    const auto row = [&](const std::byte* v_row, int v) __attribute__((always_inline)) {
      const std::byte* at = v_row + offset + v * kWidth * 2;
      const int left = lanes - v * kWidth;
      return kWhole ? load_pairs(at) : load_pairs_n(at, left < 0 ? 0 : left);
    };
    const auto pair = [&](int j, bool two) __attribute__((always_inline)) {
      P weight[R];
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) weight[r] = set1_pair(p + r * p_stride + j * 2);
#pragma GCC unroll 16
      for (int v = 0; v < N; v += 2) {
        const P a = row(v_rows[j], v), b = two ? row(v_rows[j + 1], v) : zero_pairs();
        const P lo = interleave_lo(a, b), hi = interleave_hi(a, b);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
          acc[r][v] = dot(lo, weight[r], acc[r][v]);
          acc[r][v + 1] = dot(hi, weight[r], acc[r][v + 1]);
        }
      }
    };
    int j = 0;
    for (; j + 2 <= n; j += 2) {
      pair(j, true);
      prefetch_part<N * kWidth * 2, kFromMemory>(ahead, j, ahead_at);
      prefetch_part<N * kWidth * 2, kFromMemory>(ahead, j + 1, ahead_at);
    }
    if (j < n) pair(j, false);
  } else
#endif
  {
    const float* weights = reinterpret_cast<const float*>(p);
    for (int j = 0; j < n; ++j) {
      const std::byte* v_row = v_rows[j] + offset;
      F weight[R];
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) weight[r] = set1(weights[r * (p_stride / 4) + j]);
#pragma GCC unroll 16
      for (int v = 0; v < N; ++v) {
        const int left = lanes - v * kWidth;
        const std::byte* at = v_row + v * kWidth * T::kBytes;
        const F value = kWhole ? T::key(at) : T::key_n(at, left < 0 ? 0 : left < kWidth ? left : kWidth);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) acc[r][v] = fma(weight[r], value, acc[r][v]);
      }
      prefetch_part<N * kWidth * T::kBytes, kFromMemory>(ahead, j, ahead_at);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < N; ++v) store(o + r * o_stride + v * kWidth, acc[r][v]);
  }
}

/// The same over the whole head dimension, block by block.
template <class T, int R, bool kFromMemory>
__attribute__((noinline)) void all_values(const std::byte* p, std::ptrdiff_t p_stride, const std::byte* const* v_rows,
                                          std::int64_t offset, const Ahead& ahead, int n, int dv, float* o,
                                          std::ptrdiff_t o_stride) {
  constexpr int kBlock = R == 1 ? 8 : R == 3 ? 4 : kAccumulators / R < 8 ? kAccumulators / R : 8;
  constexpr int kLast = T::kPairs ? 2 : 1;
  int at = 0;
  const auto part = [&]<int N, bool kWhole>() __attribute__((always_inline)) {
    const std::int64_t bytes = std::int64_t{at} * T::kBytes;
    values<T, R, N, kWhole, kFromMemory>(p, p_stride, v_rows, offset + bytes, ahead, bytes, n, dv - at, o + at, o_stride);
    at += N * kWidth;
  };
  while (at + kBlock * kWidth <= dv) part.template operator()<kBlock, true>();
  if constexpr (kBlock > 4) {
    if (at + 4 * kWidth <= dv) part.template operator()<4, true>();
  }
  if (at + 2 * kWidth <= dv) part.template operator()<2, true>();
  while (at < dv) part.template operator()<kLast, false>();
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
