// SPDX-License-Identifier: Apache-2.0
// The order in which decode reads K and V: steps of the walk, and the rows of a step. It follows the layout, because memory
// is fast in long runs; see docs/decode.md. Bits do not depend on it: each row of Q meets the tiles in the order of keys.
#pragma once

#include <cstring>

#include "cpu/kernels/crowd.hpp"
#include "cpu/kernels/decode.hpp"
#include "cpu/kernels/decode_products.hpp"
#include "cpu/kernels/kv_rows.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// Rows of one tile; entries beyond its keys repeat the last key, so that whole runs can be read.
struct TileRows {
  const std::byte* k[kDecodeTile];
  const std::byte* v[kDecodeTile];
};

/// Rows of K or of V of one head that are read in one go. Where the rows of a head lie side by side, all of a tile. Where
/// those of a key do, few: then memory is read nearly in order, and 32 rows that are 2 KB apart would fall into 8 of L1's 64
/// sets. k = 1 is memory's own order, a key of all heads after the other (scores_of_key). V in runs of n keys loads and
/// stores O once for each n: what order gains pays for it where few rows of query heads share a row, and where several
/// cores wait for the same memory.
struct RunLengths {
  int k, v;  // 1, 2 or multiples of 4
};

/// A step of the walk: some kv heads against one tile. K of all its heads is read first, then V of all, run by run.
struct Step {
  std::int64_t key;  // of the tile's first
  int n;             // keys of the tile
  int head_begin, head_end;
  const TileRows* tile;
  RunLengths runs;
  Ask ask;  // where rows come from DRAM

  int heads() const { return head_end - head_begin; }
};

/// At most so many rows of query heads have scores at once.
inline constexpr int kStepRows = 32;

/// The rows of the tile at `key`, of keys before `end`; returns how many there are.
TESSERA_INLINE int find_rows(const RunConstants& constants, const Sequence& sequence, std::int64_t key, std::int64_t end,
                             TileRows& rows) {
  const int n = static_cast<int>(end - key < kDecodeTile ? end - key : kDecodeTile);
  if (n <= 0) return 0;
  kv_rows(constants, sequence, key, n, rows.k, rows.v);
  for (int i = n; i < kDecodeTile; ++i) rows.k[i] = rows.k[n - 1], rows.v[i] = rows.v[n - 1];
  return n;
}

/// Whether a head's rows follow each other in memory.
inline bool side_by_side(const Sequence& sequence) { return sequence.k.stride_head >= sequence.k.stride_token; }

inline constexpr std::int64_t kL1WayBytes = 4096;  // rows so far apart, or a multiple, share their sets

/// `rows`: of query heads, a kv head. Of the run's input type T counts only what a line of it costs. `crowded`:
/// Crowd::now().
template <class T>
RunLengths run_lengths(const RunConstants& constants, const Sequence& sequence, std::int64_t rows, int row_bytes,
                       const Step& step, bool crowded) {
  if (step.heads() == 1 || side_by_side(sequence) || step.n < kDecodeTile) return {kDecodeTile, kDecodeTile};
  if (constants.kv_source == KvSource::cache) return {16, 16};
  const std::int64_t sharing = rows * 256 / row_bytes;
  const bool line_is_a_product = T::kStep * T::kBytes >= 64;
  if (crowded && kRegisters == 32 && in_quads(rows, step.heads())) {
    if (rows == 1) return {1, 2};
    if (sharing <= 4) return {1, line_is_a_product ? 4 : 8};
  }
  if (sharing <= 2) return {4, 4};
  const bool scattered = sequence.block_table != nullptr && constants.page_size <= kDecodeTile;
  const bool in_one_way = sequence.k.stride_token >= kL1WayBytes;
  const bool time_to_spare = constants.kv_source == KvSource::shared_memory && line_is_a_product;
  return sharing <= 4 && (scattered || in_one_way || time_to_spare) ? RunLengths{4, 8} : RunLengths{16, 16};
}

/// Where there are 16 registers, products are what DRAM's lines wait for.
inline constexpr bool kAsksMore = kRegisters == 32;

/// How often a line of DRAM is asked for. Each time costs an instruction and saves some of the lines whose prefetches were
/// dropped: more than it costs where a thread waits for memory, less where it computes.
template <class T>
Ask ask_of(const RunConstants& constants, const Sequence& sequence, bool crowded) {
  const bool line_is_a_product = T::kStep * T::kBytes >= 64;
  if (constants.kv_source == KvSource::shared_memory && crowded && T::kBytes == 2) {
    return line_is_a_product || side_by_side(sequence) ? Ask::four_times : Ask::thrice;
  }
  const bool scattered = sequence.block_table != nullptr && constants.page_size <= kDecodeTile;
  const bool waits = constants.kv_source == KvSource::memory && line_is_a_product;
  return waits || scattered ? Ask::thrice : Ask::twice;
}

/// 12 KB and half of it, and between and behind them. 8 KB is too few (6 points less of DRAM's rate in rows of 256 bytes, 20
/// in rows of 128), 16 KB no better.
inline constexpr int kFarBytes = 12 << 10, kMostAhead = 96;

/// A list has the rows of the next step, too, and no more.
inline Ahead ahead_of(std::int64_t row_bytes, const Step& next) {
  const int wanted = static_cast<int>(kFarBytes / row_bytes), most = 2 * next.heads() * kDecodeTile;
  const int bounded = wanted < 8 ? 8 : wanted < kMostAhead ? wanted : kMostAhead;
  const int far = bounded < most ? bounded : most;
  const auto part = [far](int quarters) { return static_cast<std::int16_t>(far * quarters / 4); };
  return {part(4), part(3), part(2), part(1)};
}

/// The rows of a step in the order in which they are read, K and then V, run by run, and the first of the next step's.
class ReadOrder {
 public:
  ReadOrder(const Sequence& sequence, const Step& step, const Step& next, Ahead ahead)
      : ahead_(ahead), values_(step.heads() * kDecodeTile) {
    const auto append_step = [&](const Step& of, int count, const std::byte** out) {
      const int keys = of.heads() * kDecodeTile;
      out = append(of.tile->k, of, sequence.k.stride_head, of.runs.k, count < keys ? count : keys, out);
      return append(of.tile->v, of, sequence.v.stride_head, of.runs.v, count - keys, out);
    };
    append_step(next, ahead.far, append_step(step, 2 * values_, rows_));
  }

  Ahead ahead(int part) const {
    Ahead ahead = ahead_;
    ahead.part = static_cast<std::int16_t>(part);
    return ahead;
  }
  Rows keys() const { return rows_; }
  Rows values() const { return rows_ + values_; }

 private:
  /// `count` rows, rounded up to whole runs.
  static const std::byte** append(Rows tile, const Step& step, std::int64_t head_stride, int run, int count,
                                  const std::byte** out) {
    if (run == 1) return append_pieces<1>(tile, step, head_stride, run, count, out);
    if (run == 2) return append_pieces<2>(tile, step, head_stride, run, count, out);
    if (run == 4) return append_pieces<4>(tile, step, head_stride, run, count, out);
    return append_pieces<8>(tile, step, head_stride, run, count, out);
  }

  /// kPiece rows at a time, as a vector.
  template <int kPiece>
  static const std::byte** append_pieces(Rows tile, const Step& step, std::int64_t head_stride, int run, int count,
                                         const std::byte** out) {
    for (int key = 0; key < kDecodeTile && count > 0; key += run) {
      for (int h = step.head_begin; h < step.head_end && count > 0; ++h, count -= run) {
        for (int j = 0; j < run; j += kPiece, out += kPiece) {
          typename Addresses<kPiece>::Vector rows;
          std::memcpy(&rows, tile + key + j, sizeof rows);
          rows += h * head_stride;
          std::memcpy(out, &rows, sizeof rows);
        }
      }
    }
    return out;
  }

  const std::byte* rows_[2 * kStepRows * kDecodeTile + kMostAhead + kDecodeTile];
  Ahead ahead_;
  int values_;
};

/// The order of the walk: blocks of keys, in each the kv heads, in each the tiles. Memory is read in long runs: a block is
/// a tile where the rows of all heads lie side by side, and a page where each head has a part of its own of the page.
class Order {
 public:
  Order(const RunConstants& constants, const Sequence& sequence, const WorkItem& item, std::int64_t begin, std::int64_t end)
      : begin_(item.kv_head_begin), end_(item.kv_head_end), block_(begin), keys_end_(end) {
    const std::int64_t rows = item.row_end - item.row_begin;
    if (sequence.block_table != nullptr && constants.page_size > kDecodeTile &&
        sequence.k.stride_head >= constants.page_size * sequence.k.stride_token) {
      keys_ = (constants.page_size + kDecodeTile - 1) / kDecodeTile * kDecodeTile;
    } else {
      heads_ = rows < kStepRows ? static_cast<int>(kStepRows / rows) : 1;
    }
  }

  Step first() const { return {block_, 0, begin_, last_head(begin_), nullptr, {}, Ask::twice}; }
  Step after(Step step) {
    step.key += kDecodeTile;
    if (step.key < keys_end_ && step.key < block_ + keys_) return step;
    step.head_begin = step.head_end;
    if (step.head_begin == end_) {
      step.head_begin = begin_;
      block_ += keys_;
    }
    step.key = block_;
    step.head_end = last_head(step.head_begin);
    return step;
  }

 private:
  int last_head(int head) const { return end_ - head < heads_ ? end_ : head + heads_; }

  int begin_, end_;                  // kv heads
  int heads_ = 1;                    // of a step
  std::int64_t block_;               // where this block begins
  std::int64_t keys_ = kDecodeTile;  // of a block
  std::int64_t keys_end_;
};

}  // namespace tessera::cpu::TESSERA_ISA_NAME
