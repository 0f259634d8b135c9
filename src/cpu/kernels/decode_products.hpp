// SPDX-License-Identifier: Apache-2.0
// The two products of decode, R rows against the keys of one tile or half of it. Lanes lie along the head dimension.
//
//   scores: R rows x 4 G keys of accumulators; a vector of each K row is loaded once and used by R rows
//   values: R rows x N vectors of accumulators; a vector of each V row is loaded once and used by R rows
//
// Each sum is taken in an order that depends on neither R, G nor N, so a row has the same bits in whatever company.
#pragma once

#include "cpu/kernels/decode.hpp"
#include "cpu/kernels/decode_input.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// Accumulators of one block: 16 of 32 registers (two multiply-adds a cycle x 4 to 6 cycles of latency need 12; the rest
/// holds operands), 8 of 16.
inline constexpr int kAccumulators = kRegisters / 2;
inline constexpr int kMaxRows = kRegisters == 32 ? 4 : 2;

/// Addresses of rows of K or of V in the order in which they are read; Ahead::far more can be read from after the last.
using Rows = const std::byte* const*;

/// How far ahead lines are asked for, in rows, from the first time to the last, and which share of them by this call: blocks
/// of query rows that read the same rows of a run ask for equal parts of what is ahead, so that memory has work all the
/// time.
struct Ahead {  // small enough for registers
  std::int16_t far, middle, near, last;
  std::int16_t part = 0;
};

/// kv heads whose runs of rows follow each other, and how far it is from what belongs to one to that of the next.
struct Heads {
  int count;
  std::ptrdiff_t in;   // bytes, of Q or of P
  std::ptrdiff_t out;  // floats, of scores or of O
};

/// How often a line is asked for before it is read. A prefetch that finds no free miss buffer is dropped, and the load that
/// needs its line waits for all of DRAM's latency: so lines of DRAM are asked for twice, far and near; in the middle, too,
/// where the thread has instructions to spare; and a last time where threads wait for one another's memory. From L3 once is
/// enough.
enum class Ask { never, once, twice, thrice, four_times };

/// Prefetches what is to be read after these rows, line by line in the order of addresses, in whatever order these are read:
/// the hardware's own prefetchers follow them. kRowBytes: of a row, whole lines, or 0 where only the run knows them.
/// Where the compiler does, a line costs its prefetch and nothing else. kParts: of the rows, Ahead::part is one.
template <Ask kAsk, int kRowBytes, int kParts>
class Prefetcher {
 public:
  __attribute__((always_inline)) Prefetcher(Rows rows, int num_rows, std::int64_t row_bytes, Ahead ahead)
      : rows_(rows + num_rows / kParts * ahead.part),
        last_row_(rows + num_rows - 1),
        bytes_(kKnown ? kRowBytes : row_bytes),
        far_(ahead.far - kKnown),
        middle_(ahead.middle - kKnown),
        near_(ahead.near - kKnown),
        last_(ahead.last - kKnown) {}

  /// Of the next `lines` lines, which are the step-th so many, this part's share.
  __attribute__((always_inline)) void ask(int lines, int step) {
    if constexpr (kAsk == Ask::never) return;
    if (lines >= kParts) {
      lines /= kParts;
    } else if (step % (kParts / lines) != 0) {
      return;
    } else {
      lines = 1;
    }
#pragma GCC unroll 16
    for (int i = 0; i < lines; ++i) {
      if (at_ >= bytes_) {
        at_ = 0;
        if (kKnown || rows_ != last_row_) ++rows_;
      }
      prefetch_l1(rows_[far_] + at_);
      if constexpr (kAsk >= Ask::thrice) prefetch_l1(rows_[middle_] + at_);
      if constexpr (kAsk >= Ask::twice) prefetch_l1(rows_[near_] + at_);
      if constexpr (kAsk >= Ask::four_times) prefetch_l1(rows_[last_] + at_);
      at_ += 64;
    }
  }

 private:
  static constexpr bool kKnown = kRowBytes != 0;

  Rows rows_, last_row_;
  std::int64_t at_ = kRowBytes, bytes_;  // known: at the end of the row before, where each block of rows ends, too
  std::ptrdiff_t far_, middle_, near_, last_;
};

/// Keys whose scores are folded together: lanes of 16 accumulators are added in one tree.
inline constexpr int kFold = 16;
inline constexpr int kSumStride = kDecodeTile / 4 * kWidth;

/// Scores of R rows of one head against `num_keys` keys, rounded up to kFold (so many rows must be readable):
/// s[r * kDecodeTile + j].
template <class T, int R, bool kShort, Ask kAsk, int kDim, int kParts>
TESSERA_INLINE void scores_of_head(const std::byte* q, std::ptrdiff_t q_stride, Rows keys, Ahead ahead, int num_keys,
                                   int dqk, float* s) {
  constexpr std::ptrdiff_t s_stride = kShort ? kSumStride : kDecodeTile;
  if constexpr (kDim != 0) dqk = kDim, q_stride = kDim * T::kQueryBytes;
  // Keys at a time. From DRAM few: rows are then read nearly in the order of memory, 2 to 4 points with one row a head.
  constexpr int kKeys = kShort || R == 3 || kAsk >= Ask::twice ? 4 : kAccumulators / R;
  alignas(64) float groups[R][kShort ? 1 : kFold / 4 * kWidth];
  constexpr int kStepBytes = T::kStep * T::kBytes;
  const int whole = dqk / T::kStep, rest = dqk % T::kStep;
  num_keys = kShort ? kKeys : round_up(num_keys, kFold);
  Prefetcher<kAsk, kDim * T::kBytes, kParts> prefetcher(keys, num_keys, std::int64_t{dqk} * T::kBytes, ahead);
  for (int first = 0; first < num_keys; first += kKeys) {
    const std::byte* const* k_rows = keys + first;
    F acc[R][kKeys];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (int j = 0; j < kKeys; ++j) acc[r][j] = zero();
    }
    std::int64_t at = 0;
    const std::byte* q_at = q;
    const auto chunk = [&]() __attribute__((always_inline)) {
#pragma GCC unroll 16
      for (int j = 0; j < kKeys; ++j) {
        const typename T::Vector k = T::key(k_rows[j] + at);
        if (kStepBytes == 64 || at % 64 == 0) prefetcher.ask(1, j);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) acc[r][j] = T::multiply_add(T::query(q_at + r * q_stride), k, acc[r][j]);
      }
      at += kStepBytes;
      q_at += T::kStep * T::kQueryBytes;
    };
    if constexpr (kDim != 0) {
#pragma GCC unroll 16
      for (int c = 0; c < kDim / T::kStep; ++c) chunk();
    } else {
      for (int c = 0; c < whole; ++c) chunk();
    }
    if (rest != 0) {
#pragma GCC unroll 16
      for (int j = 0; j < kKeys; ++j) {
        const typename T::Vector k = T::key_n(k_rows[j] + at, rest);
        prefetcher.ask(1, j);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) acc[r][j] = T::multiply_add(T::query(q_at + r * q_stride), k, acc[r][j]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (int j = 0; j < kKeys; j += 4) {
        const F sums = sum4(acc[r][j], acc[r][j + 1], acc[r][j + 2], acc[r][j + 3]);
        store(kShort ? s + r * s_stride : groups[r] + (first % kFold + j) / 4 * kWidth, sums);
      }
    }
    if (kShort || (first + kKeys) % kFold != 0) continue;
    float* out = s + first / kFold * kFold;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (int j = 0; j < kFold; j += kWidth) store(out + r * s_stride + j, fold_blocks(groups[r] + j / 4 * kWidth));
    }
  }
}

/// The same for some kv heads, whose keys stand `run` rows apart. kShort: 4 keys only, and s gets the sums of q.k before
/// their lanes are added, kWidth floats a row. kDim: the head dimension, or 0 where only the run knows it (dqk). kParts: see
/// Ahead.
template <class T, int R, bool kShort, Ask kAsk, int kDim, int kParts>
__attribute__((noinline)) void scores(Heads heads, const std::byte* q, std::ptrdiff_t q_stride, Rows keys, int run,
                                      Ahead ahead, int num_keys, int dqk, float* s) {
  for (int h = 0; h < heads.count; ++h, q += heads.in, keys += run, s += heads.out) {
    scores_of_head<T, R, kShort, kAsk, kDim, kParts>(q, q_stride, keys, ahead, num_keys, dqk, s);
  }
}

/// Rows of Q whose scores of one key are folded together: of four kv heads, of two or of one.
inline constexpr int kQuad = 4;
inline bool in_quads(std::int64_t rows, int heads) {
  return (rows == 1 || rows == 2 || rows == 4) && rows * heads % kQuad == 0;
}

/// The sums of q.k, before their lanes are added, of one key of num_heads kv heads, whose rows of K are read in the order of
/// memory, with R rows of Q each; a multiple of kQuad rows in all. Those of a quad go to one vector, kDecodeTile vectors
/// after that of the quad before.
template <class T, int R, Ask kAsk>
__attribute__((noinline)) void scores_of_key(const std::byte* q, std::ptrdiff_t q_stride, Rows heads, Ahead ahead,
                                             int num_heads, int dqk, float* sums) {
  constexpr int kHeads = kQuad / R, kStepBytes = T::kStep * T::kBytes;
  const int whole = dqk / T::kStep, rest = dqk % T::kStep;
  Prefetcher<kAsk, 0, 1> prefetcher(heads, num_heads, std::int64_t{dqk} * T::kBytes, ahead);
  for (int h = 0; h < num_heads; h += kHeads, q += kQuad * q_stride, sums += kDecodeTile * kWidth) {
    F acc[kQuad] = {zero(), zero(), zero(), zero()};
    std::int64_t at = 0;
    const std::byte* q_at = q;
    const auto multiply = [&](int i, typename T::Vector k) __attribute__((always_inline)) {
#pragma GCC unroll 4
      for (int r = i * R; r < i * R + R; ++r) acc[r] = T::multiply_add(T::query(q_at + r * q_stride), k, acc[r]);
    };
    for (int c = 0; c < whole; ++c, at += kStepBytes, q_at += T::kStep * T::kQueryBytes) {
#pragma GCC unroll 4
      for (int i = 0; i < kHeads; ++i) {
        const typename T::Vector k = T::key(heads[h + i] + at);
        if (kStepBytes == 64 || at % 64 == 0) prefetcher.ask(1, 0);
        multiply(i, k);
      }
    }
    if (rest != 0) {
#pragma GCC unroll 4
      for (int i = 0; i < kHeads; ++i) {
        const typename T::Vector k = T::key_n(heads[h + i] + at, rest);
        prefetcher.ask(1, 0);
        multiply(i, k);
      }
    }
    store(sums, sum4(acc[0], acc[1], acc[2], acc[3]));
  }
}

/// Scores of a quad from its sums of a whole tile: s[i * kDecodeTile + key].
TESSERA_INLINE void fold_keys(const float* sums, float* s) {
  constexpr int kKeys = kWidth / kQuad;
  for (int key = 0; key < kDecodeTile; key += kKeys) {
    alignas(64) float folded[kKeys][kQuad];
    store(folded[0], fold_blocks(sums + key * kWidth));
    for (int i = 0; i < kQuad; ++i) {
      for (int j = 0; j < kKeys; ++j) s[i * kDecodeTile + key + j] = folded[j][i];
    }
  }
}

/// o[r][0 .. N) += sum over n keys of p[r][j] * V row j, N vectors from byte `offset` of the rows on. `lanes`: how many
/// elements of them there are (fewer than N kWidth in the last block of a head dimension that is no multiple).
template <class T, int R, int N, bool kWhole, class Prefetcher>
TESSERA_INLINE void values(const std::byte* p, std::ptrdiff_t p_stride, const std::byte* const* v_rows, std::int64_t offset,
                           Prefetcher& prefetcher, int n, int lanes, float* o, std::ptrdiff_t o_stride) {
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
      prefetcher.ask((2 * N * kWidth * 2 + 63) / 64, j / 2);
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
      prefetcher.ask((N * kWidth * T::kBytes + 63) / 64, j);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < N; ++v) store(o + r * o_stride + v * kWidth, acc[r][v]);
  }
}

/// The same over the whole head dimension, block by block.
template <class T, int R, Ask kAsk, int kDim, int kParts>
TESSERA_INLINE void values_of_head(const std::byte* p, Rows rows, Ahead ahead, int n, int dv, float* o,
                                   std::ptrdiff_t o_stride) {
  constexpr std::ptrdiff_t p_stride = kDecodeTile * T::kWeightBytes;
  if constexpr (kDim != 0) dv = o_stride = kDim;
  constexpr int kBlock = R == 1 ? 8 : R == 3 ? 4 : kAccumulators / R < 8 ? kAccumulators / R : 8;
  constexpr int kLast = T::kPairs ? 2 : 1;
  int at = 0;
  Prefetcher<kAsk, kDim * T::kBytes, kParts> prefetcher(rows, n, std::int64_t{dv} * T::kBytes, ahead);
  const auto part = [&]<int N, bool kWhole>() __attribute__((always_inline)) {
    const std::int64_t bytes = std::int64_t{at} * T::kBytes;
    values<T, R, N, kWhole>(p, p_stride, rows, bytes, prefetcher, n, dv - at, o + at, o_stride);
    at += N * kWidth;
  };
  while (at + kBlock * kWidth <= dv) part.template operator()<kBlock, true>();
  if constexpr (kBlock > 4) {
    if (at + 4 * kWidth <= dv) part.template operator()<4, true>();
  }
  if (at + 2 * kWidth <= dv) part.template operator()<2, true>();
  while (at < dv) part.template operator()<kLast, false>();
}

/// The same for some kv heads, `run` rows apart; kDim and kParts as above.
template <class T, int R, Ask kAsk, int kDim, int kParts>
__attribute__((noinline)) void all_values(Heads heads, const std::byte* p, Rows rows, int run, Ahead ahead, int n, int dv,
                                          float* o, std::ptrdiff_t o_stride) {
  for (int h = 0; h < heads.count; ++h, p += heads.in, rows += run, o += heads.out) {
    values_of_head<T, R, kAsk, kDim, kParts>(p, rows, ahead, n, dv, o, o_stride);
  }
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
