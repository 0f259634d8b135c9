// SPDX-License-Identifier: Apache-2.0
// One step of decode's walk: Q.K of its heads, run by run, the softmax of its rows, P.V run by run.
#pragma once

#include "cpu/kernels/decode_products.hpp"
#include "cpu/kernels/decode_softmax.hpp"
#include "cpu/kernels/decode_walk.hpp"
#include "cpu/kernels/trace_lane.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

// The V row of a key that must not be touched: 0 * 0 adds nothing, and the other keys keep their places.
alignas(64) constexpr std::byte kNoValues[256 * 4] = {};

/// Where the state of row x (of all heads) stands in the scratch.
struct State {
  std::byte* q;
  float *o, *m, *l;
  std::ptrdiff_t q_stride;  // bytes
  int o_stride;             // elements
};

/// One item on its way.
struct Walk {
  const RunConstants& constants;
  const WorkItem& item;
  ScoreUnits units;
  State state;
  std::int64_t rows;     // of a kv head
  KeyRange seen_by_all;  // by position
  TraceLane* lane;
};

TESSERA_INLINE std::int64_t query_of(const Walk& walk, std::int64_t row) { return row / walk.constants.group; }
TESSERA_INLINE std::int64_t head_of(const Walk& walk, int kv_head, std::int64_t row) {
  return std::int64_t{kv_head} * walk.constants.group + row % walk.constants.group;
}

/// call(row, block) for rows [0, size) of a kv head, in blocks of nearly equal size: 7 rows are 4 + 3.
template <class Call>
TESSERA_INLINE void in_blocks(int size, const Call& call) {
  const int blocks = (size + kMaxRows - 1) / kMaxRows;
  for (int block = 0, row = 0; block < blocks; ++block) {
    const int rows = (size - row + blocks - block - 1) / (blocks - block);
    if (rows == 1) {
      call.template operator()<1>(row, block);
    } else if (rows == 2) {
      call.template operator()<2>(row, block);
    } else if constexpr (kMaxRows > 2) {
      if (rows == 3) {
        call.template operator()<3>(row, block);
      } else {
        call.template operator()<4>(row, block);
      }
    }
    row += rows;
  }
}

/// O of a row that does not see all keys of the tile: zeros stand for the V rows that must not be touched.
template <class T>
void seen_values(const Walk& walk, std::uint64_t seen, Rows values, int n, const std::byte* p, float* o) {
  if ((seen & low_bits(n)) == 0) return;
  const std::byte* rows[kDecodeTile];
  for (int j = 0; j < n; ++j) rows[j] = (seen >> j & 1) != 0 ? values[j] : kNoValues;
  all_values<T, 1, Ask::never, 0, 1>({1, 0, 0}, p, rows, n, {}, n, walk.constants.dv, o, walk.state.o_stride);
}

/// part(key, head, rows, n) for each run of a step, or for those of `together` heads: n keys from `key` on, whose rows stand
/// at `rows`.
template <class Part>
TESSERA_INLINE void in_runs(const Step& step, int together, Rows rows, int run, const Part& part) {
  for (int key = 0; key < step.n; key += run) {
    for (int h = 0; h < step.heads(); h += together, rows += together * run) {
      part(key, h, rows, step.n - key < run ? step.n - key : run);
    }
  }
}

/// Only a single block asks more than twice: several compute too much for it (16 rows 0.50 to 0.45).
template <Ask kAsk>
inline constexpr Ask kSharedAsk = kAsk > Ask::twice ? Ask::twice : kAsk;

/// The products for a block of R rows that asks for one of so many parts of what is ahead, or (parts = 0) for nothing.
/// kDim: the head dimension of K and V where the loops are compiled for it, else 0. They are 10 % faster where rows come
/// from a cache. A single block, which waits for DRAM at each row, reads 2 to 6 points slower so, at whatever distance and
/// pace it asks.
template <class T, int R, bool kShort, Ask kAsk, int kDim>
TESSERA_INLINE auto scores_of(int parts) {
  constexpr int kAloneDim = kAsk >= Ask::twice ? 0 : kDim;
  if constexpr (R >= kMaxRows - 1) {
    if (parts == 4) return scores<T, R, kShort, kSharedAsk<kAsk>, kDim, 4>;
  }
  if constexpr (R >= kMaxRows / 2) {
    if (parts == 2) return scores<T, R, kShort, kSharedAsk<kAsk>, kDim, 2>;
  }
  if (parts == 1) return scores<T, R, kShort, kAsk, kAloneDim, 1>;
  return scores<T, R, kShort, Ask::never, kDim, 1>;
}

template <class T, int R, Ask kAsk, int kDim>
TESSERA_INLINE auto values_of(int parts) {
  constexpr int kAloneDim = kAsk >= Ask::twice ? 0 : kDim;
  if constexpr (R >= kMaxRows - 1) {
    if (parts == 4) return all_values<T, R, kSharedAsk<kAsk>, kDim, 4>;
  }
  if constexpr (R >= kMaxRows / 2) {
    if (parts == 2) return all_values<T, R, kSharedAsk<kAsk>, kDim, 2>;
  }
  if (parts == 1) return all_values<T, R, kAsk, kAloneDim, 1>;
  return all_values<T, R, Ask::never, kDim, 1>;
}

/// Rows [first, first + size) of query heads, of each kv head of a step. kAsk: how often K and V ahead are asked for. kDim
/// as above.
template <class T, bool kTransformed, Ask kAsk, int kDim>
class StepRows {
 public:
  StepRows(const Walk& walk, const Step& step, const ReadOrder& order, int first, int size)
      : walk_(walk),
        step_(step),
        order_(order),
        state_(walk.state),
        first_(first),
        size_(size),
        parts_(size > 3 * kMaxRows ? 4
               : size > kMaxRows   ? 2
                                   : 1),
        plain_(!kTransformed && step.key >= walk.seen_by_all.begin && step.key + kDecodeTile <= walk.seen_by_all.end) {}

  void run() {
    TraceLane* lane = walk_.lane;
    const std::int32_t item = walk_.item.index;
    std::int64_t t = trace_begin(lane);
    if (!plain_ && !find_seen()) return;
    if (step_.runs.k == 1) {
      qk_by_key();
    } else {
      qk_by_runs();
    }
    t = trace_end(lane, TraceStage::qk, item, t);
    for (int h = 0; h < step_.heads(); ++h) {
      if (plain_) {
        softmax_of<true>(h);
      } else {
        softmax_of<false>(h);
      }
    }
    t = trace_end(lane, TraceStage::softmax, item, t);
    pv();
    trace_end(lane, TraceStage::pv, item, t);
  }

 private:
  static constexpr std::ptrdiff_t kWeightStride = kDecodeTile * T::kWeightBytes;

  /// Of row r of the step's head h, in the state.
  std::int64_t state_row(int h, int r) const { return (step_.head_begin + h - walk_.item.kv_head_begin) * walk_.rows + r; }
  /// Heads that one call multiplies. Several blocks of a head share what the first brings to L1. From DRAM a call a head
  /// reads 3 to 5 hundredths of the roof faster: there loops that run far ahead of their data lose prefetches.
  int heads_together() const { return kAsk == Ask::once && size_ <= kMaxRows ? step_.heads() : 1; }
  /// How many blocks share what this one asks for; 0 for one after them.
  int parts_of(int block) const { return block < parts_ ? parts_ : 0; }

  bool find_seen();
  void qk_by_key();
  void qk_by_runs();
  template <bool kPlain>
  void softmax_of(int h);
  void pv();

  const Walk& walk_;
  const Step& step_;
  const ReadOrder& order_;
  const State state_;
  const int first_, size_, parts_;
  const bool plain_;    // every row sees every key of a whole tile, and scores are only scaled
  bool whole_ = false;  // where not plain_: every row sees every key of the tile
  alignas(64) float s_[kStepRows * kDecodeTile];
  alignas(64) float sums_[kStepRows * kSumStride];  // of short runs
  alignas(64) std::byte p_[kStepRows * kWeightStride];
  alignas(64) float bias_[kTransformed ? kStepRows * kDecodeTile : 1];
  RowTile tile_[kStepRows];
};

/// Fills tile_; false where no row sees any key.
template <class T, bool kTransformed, Ask kAsk, int kDim>
bool StepRows<T, kTransformed, kAsk, kDim>::find_seen() {
  const Sequence& sequence = *walk_.item.sequence;
  const RunConstants& constants = walk_.constants;
  const std::uint64_t whole = low_bits(step_.n);
  whole_ = true;
  bool any = false;
  int x = 0;
  for (int kv_head = step_.head_begin; kv_head < step_.head_end; ++kv_head) {
    for (int r = 0; r < size_; ++r, ++x) {
      const std::int64_t row = walk_.item.row_begin + first_ + r, query = query_of(walk_, row);
      const KeyRange range = visible_keys(constants, sequence, query, walk_.item.key_begin, walk_.item.key_end);
      RowTile& tile = tile_[x];
      tile = {step_.key, step_.n, 0, query + sequence.position_offset, 0, nullptr};
      if (!kTransformed && covers(range, step_.key, step_.key + step_.n)) {
        tile.seen = whole;
      } else {
        const std::int64_t head = head_of(walk_, kv_head, row);
        float* row_bias = kTransformed ? bias_ + x * kDecodeTile : nullptr;
        tile.seen = seen_keys(constants, sequence, query, head, range, step_.key, step_.n, row_bias);
        if (sequence.bias.data != nullptr) tile.bias = row_bias;
        if (constants.alibi_slopes != nullptr) tile.slope = constants.alibi_slopes[head];
      }
      whole_ &= tile.seen == whole;
      any |= tile.seen != 0;
    }
  }
  return any;
}

/// Memory's own order: a key of all heads after the other.
template <class T, bool kTransformed, Ask kAsk, int kDim>
void StepRows<T, kTransformed, kAsk, kDim>::qk_by_key() {
  const std::byte* q = state_.q + state_row(0, 0) * state_.q_stride;
  const int heads = step_.heads();
  const auto products = size_ == 1   ? scores_of_key<T, 1, kAsk>
                        : size_ == 2 ? scores_of_key<T, 2, kAsk>
                                     : scores_of_key<T, 4, kAsk>;
  for (int key = 0; key < kDecodeTile; ++key) {
    products(q, state_.q_stride, order_.keys() + key * heads, order_.ahead(0), heads, walk_.constants.dqk,
             sums_ + key * kWidth);
  }
  for (int x = 0; x < heads * size_; x += kQuad) fold_keys(sums_ + x * kSumStride, s_ + x * kDecodeTile);
}

template <class T, bool kTransformed, Ask kAsk, int kDim>
void StepRows<T, kTransformed, kAsk, kDim>::qk_by_runs() {
  const int first = first_, size = size_, dqk = walk_.constants.dqk;
  const bool short_runs = step_.runs.k < kFold;
  const std::ptrdiff_t q_stride = state_.q_stride;
  const int run = step_.runs.k, together = heads_together();
  const auto qk = [&](int key, int h, Rows keys, int n) __attribute__((always_inline)) {
    const std::byte* q = state_.q + state_row(h, first) * q_stride;
    const std::ptrdiff_t q_head = walk_.rows * q_stride;
    const auto block = [&]<int R>(int r, int index) __attribute__((always_inline)) {
      const int x = h * size + r, parts = parts_of(index);
      if (short_runs) {
        scores_of<T, R, true, kAsk, 0>(parts)({together, q_head, size * kSumStride}, q + r * q_stride, q_stride, keys, run,
                                              order_.ahead(index), n, dqk, sums_ + x * kSumStride + key / 4 * kWidth);
      } else {
        scores_of<T, R, false, kAsk, kDim>(parts)({together, q_head, size * kDecodeTile}, q + r * q_stride, q_stride, keys,
                                                  run, order_.ahead(index), n, dqk, s_ + x * kDecodeTile + key);
      }
    };
    in_blocks(size, block);
  };
  in_runs(step_, together, order_.keys(), run, qk);
  for (int i = 0; short_runs && i < step_.heads() * size * kTileVectors; ++i) {
    store(s_ + i * kWidth, fold_blocks(sums_ + i * (kWidth / 4) * kWidth));
  }
}

template <class T, bool kTransformed, Ask kAsk, int kDim>
template <bool kPlain>
void StepRows<T, kTransformed, kAsk, kDim>::softmax_of(int h) {
  const std::int64_t row = state_row(h, first_);
  const int x = h * size_, size = size_, o_stride = state_.o_stride;
  const RunConstants& constants = walk_.constants;
  const ScoreUnits units = walk_.units;
  float *m = state_.m + row, *l = state_.l + row * kWidth, *o = state_.o + row * o_stride;
  for (int r = 0; r < size; ++r) {
    softmax<T, kTransformed && !kPlain, kPlain>(constants, units, tile_[x + r], s_ + (x + r) * kDecodeTile, m + r,
                                                l + r * kWidth, o + r * o_stride, o_stride, p_ + (x + r) * kWeightStride);
  }
}

template <class T, bool kTransformed, Ask kAsk, int kDim>
void StepRows<T, kTransformed, kAsk, kDim>::pv() {
  const int first = first_, size = size_, dv = walk_.constants.dv, o_stride = state_.o_stride;
  const bool whole = plain_ || whole_;
  const int length = step_.runs.v, together = whole ? heads_together() : 1;
  const auto run = [&](int key, int h, Rows values, int n) __attribute__((always_inline)) {
    const std::byte* p = p_ + h * size * kWeightStride + key * T::kWeightBytes;
    float* o = state_.o + state_row(h, first) * o_stride;
    const auto block = [&]<int R>(int r, int index) __attribute__((always_inline)) {
      values_of<T, R, kAsk, kDim>(parts_of(index))({together, size * kWeightStride, walk_.rows * o_stride},
                                                   p + r * kWeightStride, values, length, order_.ahead(index), n, dv,
                                                   o + r * o_stride, o_stride);
    };
    if (whole) return in_blocks(size, block);
    for (int r = 0; r < size; ++r) {
      seen_values<T>(walk_, tile_[h * size + r].seen >> key, values, n, p + r * kWeightStride, o + r * o_stride);
    }
  };
  in_runs(step_, together, order_.values(), length, run);
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
