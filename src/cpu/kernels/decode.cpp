// SPDX-License-Identifier: Apache-2.0
// Attention for few rows a kv head: an item walks the keys step by step, and at each step some of its kv heads.
//
//   step:  K of its heads, run by run -> scores | softmax of all its rows | V of its heads, run by run -> O
//
// A run is some rows of one head. Which heads and tiles follow each other is the layout's choice: memory is read in long
// runs. Scratch, for all rows of all heads of the item: Q copied to full vectors, O, m, and l as a vector. See
// docs/decode.md.
#include "cpu/kernels/decode.hpp"

#include "cpu/kernels/decode_products.hpp"
#include "cpu/kernels/decode_softmax.hpp"
#include "cpu/kernels/decode_walk.hpp"
#include "cpu/kernels/finish_row.hpp"
#include "cpu/kernels/trace_lane.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {
namespace {

// The V row of a key that must not be touched: 0 * 0 adds nothing, and the other keys keep their places.
alignas(64) constexpr std::byte kNoValues[256 * 4] = {};

/// Where the state of row x (of all heads) stands in the scratch.
struct State {
  std::byte* q;
  float *o, *m, *l;
  std::ptrdiff_t q_stride;  // bytes
  int o_stride;             // elements
};

template <class T>
State lay_out(const RunConstants& constants, std::int64_t rows, std::byte* scratch, std::size_t* bytes) {
  const int q_stride = round_up(constants.dqk, T::kStep) * T::kQueryBytes;
  const int o_stride = round_up(constants.dv, T::kPairs ? 2 * kWidth : kWidth);
  const std::size_t q_bytes = (static_cast<std::size_t>(rows * q_stride) + 63) & ~std::size_t{63};
  const std::size_t o_bytes = (static_cast<std::size_t>(rows * o_stride * 4) + 63) & ~std::size_t{63};
  const std::size_t l_bytes = (static_cast<std::size_t>(rows * kWidth * 4) + 63) & ~std::size_t{63};
  const std::size_t m_bytes = (static_cast<std::size_t>(rows * 4) + 63) & ~std::size_t{63};
  if (bytes != nullptr) *bytes = q_bytes + o_bytes + l_bytes + m_bytes;
  if (scratch == nullptr) return {};
  return {scratch,
          reinterpret_cast<float*>(scratch + q_bytes),
          reinterpret_cast<float*>(scratch + q_bytes + o_bytes + l_bytes),
          reinterpret_cast<float*>(scratch + q_bytes + o_bytes),
          q_stride,
          o_stride};
}

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

/// Q as full vectors, zero beyond dqk, negated where the scale is negative; O = 0, m = -inf, l = 0.
template <class T>
void begin_rows(const Walk& walk) {
  const Sequence& sequence = *walk.item.sequence;
  const State& state = walk.state;
  const float sign = walk.constants.softmax_scale < 0 ? -1.0f : 1.0f;
  std::int64_t x = 0;
  for (int kv_head = walk.item.kv_head_begin; kv_head < walk.item.kv_head_end; ++kv_head) {
    for (std::int64_t row = walk.item.row_begin; row < walk.item.row_end; ++row, ++x) {
      const std::byte* from =
          sequence.q + query_of(walk, row) * sequence.q_stride_token + head_of(walk, kv_head, row) * sequence.q_stride_head;
      std::byte* to = state.q + x * state.q_stride;
      for (int i = 0; i * T::kQueryBytes < state.q_stride; i += kWidth) {
        const int left = walk.constants.dqk - i;
        const F q = mul(Element<T::kType>::read_n(from + i * T::kBytes, left < 0        ? 0
                                                                        : left < kWidth ? left
                                                                                        : kWidth),
                        set1(sign));
        if constexpr (T::kPairs) {
          Element<T::kType>::write(to + i * T::kQueryBytes, q);
        } else {
          store(reinterpret_cast<float*>(to) + i, q);
        }
      }
      for (int i = 0; i < state.o_stride; i += kWidth) store(state.o + x * state.o_stride + i, zero());
      state.m[x] = -kInfinity;
      store(state.l + x * kWidth, zero());
    }
  }
}

/// call(row, block) for rows [first, first + size) of a kv head, in blocks of nearly equal size: 7 rows are 4 + 3.
template <class Call>
TESSERA_INLINE void in_blocks(int first, int size, const Call& call) {
  const int blocks = (size + kMaxRows - 1) / kMaxRows;
  for (int block = 0; block < blocks; ++block) {
    const int rows = (size + blocks - block - 1) / (blocks - block);
    if (rows == 1) {
      call.template operator()<1>(first, block);
    } else if (rows == 2) {
      call.template operator()<2>(first, block);
    } else if constexpr (kMaxRows > 2) {
      if (rows == 3) {
        call.template operator()<3>(first, block);
      } else {
        call.template operator()<4>(first, block);
      }
    }
    first += rows;
    size -= rows;
  }
}

/// What the rows of a step have between K and V.
template <class T, bool kTransformed>
struct StepRows {
  static constexpr std::ptrdiff_t kWeightStride = kDecodeTile * T::kWeightBytes;
  alignas(64) float s[kStepRows * kDecodeTile];
  alignas(64) float sums[kStepRows * kSumStride];  // of short runs
  alignas(64) std::byte p[kStepRows * kWeightStride];
  alignas(64) float bias[kTransformed ? kStepRows * kDecodeTile : 1];
  RowTile tile[kStepRows];
  bool whole = false;  // every row sees every key of the tile
};

/// Fills rows.tile; false where no row sees any key.
template <class T, bool kTransformed>
bool find_seen(const Walk& walk, const Step& step, int first, int size, StepRows<T, kTransformed>& rows) {
  const Sequence& sequence = *walk.item.sequence;
  const RunConstants& constants = walk.constants;
  const std::uint64_t whole = low_bits(step.n);
  rows.whole = true;
  bool any = false;
  int x = 0;
  for (int kv_head = step.head_begin; kv_head < step.head_end; ++kv_head) {
    for (int r = 0; r < size; ++r, ++x) {
      const std::int64_t row = walk.item.row_begin + first + r, query = query_of(walk, row);
      const KeyRange range = visible_keys(constants, sequence, query, walk.item.key_begin, walk.item.key_end);
      RowTile& tile = rows.tile[x];
      tile = {step.key, step.n, 0, query + sequence.position_offset, 0, nullptr};
      if (!kTransformed && covers(range, step.key, step.key + step.n)) {
        tile.seen = whole;
      } else {
        const std::int64_t head = head_of(walk, kv_head, row);
        float* row_bias = kTransformed ? rows.bias + x * kDecodeTile : nullptr;
        tile.seen = seen_keys(constants, sequence, query, head, range, step.key, step.n, row_bias);
        if (sequence.bias.data != nullptr) tile.bias = row_bias;
        if (constants.alibi_slopes != nullptr) tile.slope = constants.alibi_slopes[head];
      }
      rows.whole &= tile.seen == whole;
      any |= tile.seen != 0;
    }
  }
  return any;
}

/// O of a row that does not see all keys of the tile: zeros stand for the V rows that must not be touched.
template <class T>
void seen_values(const Walk& walk, std::uint64_t seen, Rows values, int n, const std::byte* p, float* o) {
  if ((seen & low_bits(n)) == 0) return;
  const std::byte* rows[kDecodeTile];
  for (int j = 0; j < n; ++j) rows[j] = (seen >> j & 1) != 0 ? values[j] : kNoValues;
  all_values<T, 1, Ask::never, 0, 1>(p, rows, {}, n, walk.constants.dv, o, walk.state.o_stride);
}

/// part(key, head, rows, n) for each run of a step: n keys from `key` on, whose rows stand at `rows`.
template <class Part>
TESSERA_INLINE void in_runs(const Step& step, Rows rows, int run, const Part& part) {
  for (int key = 0; key < step.n; key += run) {
    for (int h = 0; h < step.heads(); ++h, rows += run) part(key, h, rows, step.n - key < run ? step.n - key : run);
  }
}

/// The products for a block of R rows that asks for one of so many parts of what is ahead, or (parts = 0) for nothing.
/// kDim: the head dimension of K and V where the loops are compiled for it, else 0. They are 10 % faster where rows come
/// from a cache. A single block, which waits for DRAM at each row, reads 2 to 6 points slower so, at whatever distance and
/// pace it asks.
template <class T, int R, bool kShort, Ask kAsk, int kDim>
TESSERA_INLINE auto scores_of(int parts) {
  constexpr int kAloneDim = kAsk == Ask::twice ? 0 : kDim;
  if constexpr (R >= kMaxRows - 1) {
    if (parts == 4) return scores<T, R, kShort, kAsk, kDim, 4>;
  }
  if constexpr (R >= kMaxRows / 2) {
    if (parts == 2) return scores<T, R, kShort, kAsk, kDim, 2>;
  }
  if (parts == 1) return scores<T, R, kShort, kAsk, kAloneDim, 1>;
  return scores<T, R, kShort, Ask::never, kDim, 1>;
}

template <class T, int R, Ask kAsk, int kDim>
TESSERA_INLINE auto values_of(int parts) {
  constexpr int kAloneDim = kAsk == Ask::twice ? 0 : kDim;
  if constexpr (R >= kMaxRows - 1) {
    if (parts == 4) return all_values<T, R, kAsk, kDim, 4>;
  }
  if constexpr (R >= kMaxRows / 2) {
    if (parts == 2) return all_values<T, R, kAsk, kDim, 2>;
  }
  if (parts == 1) return all_values<T, R, kAsk, kAloneDim, 1>;
  return all_values<T, R, Ask::never, kDim, 1>;
}

/// Rows [first, first + size) of each head of the step; kAsk: how often K and V ahead are asked for. kDim as above.
template <class T, bool kTransformed, Ask kAsk, int kDim>
void step_rows(const Walk& walk, const Step& step, const ReadOrder& order, int first, int size) {
  const RunConstants& constants = walk.constants;
  const State& state = walk.state;
  StepRows<T, kTransformed> rows;
  constexpr std::ptrdiff_t kWeightStride = StepRows<T, kTransformed>::kWeightStride;
  const bool whole = !kTransformed && step.key >= walk.seen_by_all.begin && step.key + kDecodeTile <= walk.seen_by_all.end;
  const auto state_row = [&](int h, int r) __attribute__((always_inline)) {
    return (step.head_begin + h - walk.item.kv_head_begin) * walk.rows + r;
  };
  const RunLengths runs = step.runs;
  const bool short_runs = runs.k > 1 && runs.k < kFold;
  const int blocks = (size + kMaxRows - 1) / kMaxRows, parts = blocks >= 4 ? 4 : blocks >= 2 ? 2 : 1;
  const auto parts_for = [&](int block) __attribute__((always_inline)) { return block < parts ? parts : 0; };
  const auto qk = [&](int key, int h, Rows keys, int n) __attribute__((always_inline)) {
    in_blocks(
        first, size, [&]<int R>(int r, int block) __attribute__((always_inline)) {
          const int x = h * size + r - first;
          const std::byte* q = state.q + state_row(h, r) * state.q_stride;
          if (short_runs) {
            scores_of<T, R, true, kAsk, 0>(parts_for(block))(q, state.q_stride, keys, order.ahead(block), n, constants.dqk,
                                                             rows.sums + x * kSumStride + key / 4 * kWidth);
          } else {
            scores_of<T, R, false, kAsk, kDim>(parts_for(block))(q, state.q_stride, keys, order.ahead(block), n,
                                                                 constants.dqk, rows.s + x * kDecodeTile + key);
          }
        });
  };
  const auto pv = [&](int key, int h, Rows values, int n) __attribute__((always_inline)) {
    const std::byte* p = rows.p + h * size * kWeightStride + key * T::kWeightBytes;
    if (whole || rows.whole) {
      in_blocks(
          first, size, [&]<int R>(int r, int block) __attribute__((always_inline)) {
            values_of<T, R, kAsk, kDim>(parts_for(block))(p + (r - first) * kWeightStride, values, order.ahead(block), n,
                                                          constants.dv, state.o + state_row(h, r) * state.o_stride,
                                                          state.o_stride);
          });
    } else {
      for (int r = 0; r < size; ++r) {
        seen_values<T>(walk, rows.tile[h * size + r].seen >> key, values, n, p + r * kWeightStride,
                       state.o + state_row(h, first + r) * state.o_stride);
      }
    }
  };

  std::int64_t t = trace_begin(walk.lane);
  if (!whole && !find_seen(walk, step, first, size, rows)) return;
  if (runs.k == 1) {
    const std::byte* q = state.q + state_row(0, 0) * state.q_stride;
    const auto products = size == 1   ? scores_of_key<T, 1, kAsk>
                          : size == 2 ? scores_of_key<T, 2, kAsk>
                                      : scores_of_key<T, 4, kAsk>;
    for (int key = 0; key < kDecodeTile; ++key) {
      products(q, state.q_stride, order.keys() + key * step.heads(), order.ahead(0), step.heads(), constants.dqk,
               rows.sums + key * kWidth);
    }
    for (int x = 0; x < step.heads() * size; x += kQuad) fold_keys(rows.sums + x * kSumStride, rows.s + x * kDecodeTile);
  } else {
    in_runs(step, order.keys(), runs.k, qk);
  }
  for (int i = 0; short_runs && i < step.heads() * size * kTileVectors; ++i) {
    store(rows.s + i * kWidth, fold_blocks(rows.sums + i * (kWidth / 4) * kWidth));
  }
  t = trace_end(walk.lane, TraceStage::qk, walk.item.index, t);
  for (int h = 0, x = 0; h < step.heads(); ++h, x += size) {
    const std::int64_t row = state_row(h, first);
    const float* s = rows.s + x * kDecodeTile;
    float *m = state.m + row, *l = state.l + row * kWidth, *o = state.o + row * state.o_stride;
    const auto head_softmax = [&]<bool kWhole>() __attribute__((always_inline)) {
      for (int r = 0; r < size; ++r) {
        softmax<T, kTransformed && !kWhole, kWhole>(constants, walk.units, rows.tile[x + r], s + r * kDecodeTile, m + r,
                                                    l + r * kWidth, o + r * state.o_stride, state.o_stride,
                                                    rows.p + (x + r) * kWeightStride);
      }
    };
    if (whole) {
      head_softmax.template operator()<true>();
    } else {
      head_softmax.template operator()<false>();
    }
  }
  t = trace_end(walk.lane, TraceStage::softmax, walk.item.index, t);
  in_runs(step, order.values(), runs.v, pv);
  trace_end(walk.lane, TraceStage::pv, walk.item.index, t);
}

/// Of the longer of K's and V's.
template <class T>
int row_bytes(const RunConstants& constants) {
  return (constants.dqk > constants.dv ? constants.dqk : constants.dv) * T::kBytes;
}

template <class T, bool kTransformed, int kDim>
void do_step(const Walk& walk, const Step& step, const Step& next) {
  const ReadOrder order(*walk.item.sequence, step, next, ahead_of(row_bytes<T>(walk.constants), next));
  const int rows = static_cast<int>(walk.rows);
  for (int first = 0; first < rows; first += kStepRows) {
    const int size = rows - first < kStepRows ? rows - first : kStepRows;
    if (walk.constants.kv_source != KvSource::cache) {
      step_rows<T, kTransformed, Ask::twice, kDim>(walk, step, order, first, size);
    } else {
      step_rows<T, kTransformed, Ask::once, kDim>(walk, step, order, first, size);
    }
  }
}

/// Asks for the first runs; Q is copied while they come.
template <class T>
void prefetch_first(const Walk& walk, const Step& step) {
  for (int i = 0; i < kDecodeTile; ++i) {
    const std::byte* row = step.tile->k[i] + step.head_begin * walk.item.sequence->k.stride_head;
    for (int at = 0; at < walk.constants.dqk * T::kBytes; at += 64) prefetch_l1(row + at);
  }
}

template <class T>
void walk_tiles(Walk& walk) {
  const RunConstants& constants = walk.constants;
  const WorkItem& item = walk.item;
  const Sequence& sequence = *item.sequence;
  const KeyRange range = visible_keys(constants, sequence, item.row_begin / constants.group,
                                      (item.row_end - 1) / constants.group + 1, item.key_begin, item.key_end);
  if (empty(range)) return begin_rows<T>(walk);
  const std::int64_t begin = item.key_begin + (range.begin - item.key_begin) / kDecodeTile * kDecodeTile;
  Order order(constants, sequence, item, begin, range.end);
  TileRows tiles[2];
  Step step = order.first();
  step.n = find_rows(constants, sequence, step.key, range.end, tiles[0]);
  step.tile = &tiles[0];
  prefetch_first<T>(walk, step);
  begin_rows<T>(walk);
  Crowd crowd(constants);
  const auto lengths = [&](const Step& of) {
    return run_lengths<T>(constants, sequence, walk.rows, row_bytes<T>(constants), of, crowd.now());
  };
  step.runs = lengths(step);
  const std::int64_t bytes_a_head = std::int64_t{kDecodeTile} * (constants.dqk + constants.dv) * T::kBytes;
  for (;;) {
    Step next = order.after(step);
    const bool last = next.key >= range.end;
    if (last) {
      next = step;  // a prefetch of what is there costs a load
    } else {
      if (next.key != step.key) {
        TileRows& rows = step.tile == &tiles[0] ? tiles[1] : tiles[0];
        next.n = find_rows(constants, sequence, next.key, range.end, rows);
        next.tile = &rows;
      }
      next.runs = lengths(next);
    }
    if (walk.units.transformed) {
      do_step<T, true, 0>(walk, step, next);
    } else if (constants.dqk == 128 && constants.dv == 128) {
      do_step<T, false, 128>(walk, step, next);
    } else if (constants.dqk == 64 && constants.dv == 64) {
      do_step<T, false, 64>(walk, step, next);
    } else {
      do_step<T, false, 0>(walk, step, next);
    }
    if (last) return;
    crowd.read(step.heads() * bytes_a_head);
    step = next;
  }
}

/// O of row x in the order of the head dimension.
template <class T>
void order_lanes(const State& state, std::int64_t x) {
#if defined(TESSERA_ISA_IS_AVX512BF16)
  if constexpr (T::kPairs) {
    float* o = state.o + x * state.o_stride;
    for (int i = 0; i < state.o_stride; i += 2 * kWidth) {
      const F lo = load(o + i), hi = load(o + i + kWidth);
      store(o + i, ordered_lo(lo, hi));
      store(o + i + kWidth, ordered_hi(lo, hi));
    }
  }
#endif
  (void)state, (void)x;
}

template <class T>
void end_rows(const Walk& walk) {
  const RunConstants& constants = walk.constants;
  const WorkItem& item = walk.item;
  const State& state = walk.state;
  std::int64_t x = 0;
  for (int kv_head = item.kv_head_begin; kv_head < item.kv_head_end; ++kv_head) {
    for (std::int64_t row = item.row_begin; row < item.row_end; ++row, ++x) {
      order_lanes<T>(state, x);
      const float* o = state.o + x * state.o_stride;
      const float l = reduce_add(load(state.l + x * kWidth));
      const float m = state.m[x] * walk.units.natural;
      if (item.partial.o == nullptr) {
        finish_row<T::kType>(constants, *item.sequence, kv_head, row, o, m, l);
        continue;
      }
      float* out = item.partial.o + x * constants.dv;
      int i = 0;
      for (; i + kWidth <= constants.dv; i += kWidth) store(out + i, load(o + i));
      if (i < constants.dv) store_n(out + i, load(o + i), constants.dv - i);
      item.partial.m[x] = m;
      item.partial.l[x] = l;
    }
  }
}

/// Keys of the item that every row sees, as far as positions tell: the last query begins last, the first ends first.
KeyRange seen_by_all(const RunConstants& constants, const WorkItem& item) {
  const auto keys_of = [&](std::int64_t row) {
    return visible_keys(constants, *item.sequence, row / constants.group, item.key_begin, item.key_end);
  };
  return {keys_of(item.row_end - 1).begin, keys_of(item.row_begin).end};
}

template <class T>
void decode(const RunConstants& constants, const WorkItem& item, std::byte* scratch, TraceLane* lane) {
  const std::int64_t rows = item.row_end - item.row_begin;
  const State state = lay_out<T>(constants, rows * (item.kv_head_end - item.kv_head_begin), scratch, nullptr);
  Walk walk = {constants, item, score_units(constants, *item.sequence), state, rows, seen_by_all(constants, item), lane};
  walk_tiles<T>(walk);
  const std::int64_t t = trace_begin(lane);
  end_rows<T>(walk);
  trace_end(lane, TraceStage::write, item.index, t);
}

template <class T>
std::size_t scratch_bytes(const RunConstants& constants, std::int64_t max_rows) {
  std::size_t bytes = 0;
  lay_out<T>(constants, max_rows * constants.num_kv_heads, nullptr, &bytes);
  return bytes;
}

using F32Input = Widened<DTypeIndex::f32>;
using F16Input = Widened<DTypeIndex::f16>;

}  // namespace

std::size_t decode_scratch_f32(const RunConstants& c, std::int64_t max_rows) { return scratch_bytes<F32Input>(c, max_rows); }
std::size_t decode_scratch_f16(const RunConstants& c, std::int64_t max_rows) { return scratch_bytes<F16Input>(c, max_rows); }
std::size_t decode_scratch_bf16(const RunConstants& c, std::int64_t max_rows) {
  return scratch_bytes<Bf16Input>(c, max_rows);
}

void decode_f32(const RunConstants& constants, const WorkItem& item, std::byte* scratch, TraceLane* lane) {
  decode<F32Input>(constants, item, scratch, lane);
}
void decode_f16(const RunConstants& constants, const WorkItem& item, std::byte* scratch, TraceLane* lane) {
  decode<F16Input>(constants, item, scratch, lane);
}
void decode_bf16(const RunConstants& constants, const WorkItem& item, std::byte* scratch, TraceLane* lane) {
  decode<Bf16Input>(constants, item, scratch, lane);
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
