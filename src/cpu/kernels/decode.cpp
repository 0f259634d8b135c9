// SPDX-License-Identifier: Apache-2.0
// Attention for few rows a kv head: an item walks the keys tile by tile, and at each tile the kv heads it covers.
//
//   keys    | tile 0        | tile 1        | ...        of 64 keys
//   head 0    rows 0-3, 4-6   rows 0-3, 4-6              scores -> softmax -> values, blocks of up to 4 rows
//   head 1    ...
//
// Scratch, for all rows of all heads of the item: Q copied to full vectors, O, m, and l as a vector. See docs/decode.md.
#include "cpu/kernels/decode.hpp"

#include "cpu/kernels/decode_products.hpp"
#include "cpu/kernels/decode_softmax.hpp"
#include "cpu/kernels/finish_row.hpp"
#include "cpu/kernels/kv_rows.hpp"
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
  std::int64_t rows;  // of a kv head
  std::int64_t key;   // first of the tile
  int n;              // keys of the tile
  const std::byte* const* k_rows;
  const std::byte* const* v_rows;
  TraceLane* lane;
};

/// What to prefetch while a step of the walk (one head against one tile) reads its K and V rows.
struct StepsAhead {
  Ahead k, v;
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

/// V rows for a row that does not see all keys of the tile.
TESSERA_INLINE void seen_values(const Walk& walk, std::uint64_t seen, std::int64_t offset, const std::byte** rows) {
  for (int i = 0; i < walk.n; ++i) rows[i] = (seen >> i & 1) != 0 ? walk.v_rows[i] + offset : kNoValues;
}

/// R rows, from row `first` of the item's on, against the tile.
template <class T, int R, bool kTransformed>
void block(const Walk& walk, int kv_head, std::int64_t first, const StepsAhead& ahead) {
  const Sequence& sequence = *walk.item.sequence;
  const RunConstants& constants = walk.constants;
  const std::int64_t x = (kv_head - walk.item.kv_head_begin) * walk.rows + first;
  const State& state = walk.state;
  std::byte* q = state.q + x * state.q_stride;
  float* o = state.o + x * state.o_stride;
  alignas(64) float groups[R * kGroupStride];
  alignas(64) std::byte p[R * kDecodeTile * T::kWeightBytes];
  alignas(64) float bias[kTransformed ? R * kDecodeTile : 1];
  RowTile tile[R];
  std::uint64_t seen_by_all = ~std::uint64_t{0}, seen_by_any = 0;
  const std::uint64_t whole = low_bits(walk.n);

  std::int64_t t = trace_begin(walk.lane);
  for (int r = 0; r < R; ++r) {
    const std::int64_t row = walk.item.row_begin + first + r, query = query_of(walk, row);
    const KeyRange range = visible_keys(constants, sequence, query, walk.item.key_begin, walk.item.key_end);
    tile[r] = {walk.key, walk.n, 0, query + sequence.position_offset, 0, nullptr};
    if (!kTransformed && covers(range, walk.key, walk.key + walk.n)) {
      tile[r].seen = whole;
    } else {
      const std::int64_t head = head_of(walk, kv_head, row);
      float* row_bias = kTransformed ? bias + r * kDecodeTile : nullptr;
      tile[r].seen = seen_keys(constants, sequence, query, head, range, walk.key, walk.n, row_bias);
      if (sequence.bias.data != nullptr) tile[r].bias = row_bias;
      if (constants.alibi_slopes != nullptr) tile[r].slope = constants.alibi_slopes[head];
    }
    seen_by_all &= tile[r].seen;
    seen_by_any |= tile[r].seen;
  }
  if (seen_by_any == 0) return;

  const int num_groups = round_up(walk.n, kAccumulators > kWidth ? kAccumulators : kWidth) / 4;
  const auto qk = constants.kv_from_memory ? scores<T, R, true> : scores<T, R, false>;
  qk(q, state.q_stride, walk.k_rows, kv_head * sequence.k.stride_head, ahead.k, num_groups, constants.dqk, groups,
     kGroupStride);
  t = trace_end(walk.lane, TraceStage::qk, walk.item.index, t);
  for (int r = 0; r < R; ++r) {
    softmax<T, kTransformed>(constants, walk.units, tile[r], groups + r * kGroupStride, state.m + x + r,
                             state.l + (x + r) * kWidth, o + r * state.o_stride, state.o_stride,
                             p + r * kDecodeTile * T::kWeightBytes);
  }
  t = trace_end(walk.lane, TraceStage::softmax, walk.item.index, t);
  constexpr std::ptrdiff_t kWeightStride = kDecodeTile * T::kWeightBytes;
  const std::int64_t offset = kv_head * sequence.v.stride_head;
  if (seen_by_all == whole) {
    const auto pv = constants.kv_from_memory ? all_values<T, R, true> : all_values<T, R, false>;
    pv(p, kWeightStride, walk.v_rows, offset, ahead.v, walk.n, constants.dv, o, state.o_stride);
  } else {
    for (int r = 0; r < R; ++r) {
      if (tile[r].seen == 0) continue;
      const std::byte* rows[kDecodeTile];
      seen_values(walk, tile[r].seen, offset, rows);
      all_values<T, 1, false>(p + r * kWeightStride, kWeightStride, rows, 0, {{rows, 0}, {rows, 0}}, walk.n, constants.dv,
                              o + r * state.o_stride, state.o_stride);
    }
  }
  trace_end(walk.lane, TraceStage::pv, walk.item.index, t);
}

/// All rows of one head against the tile, in blocks of nearly equal size: 7 rows are 4 + 3, 5 are 3 + 2.
template <class T, bool kTransformed>
void head(const Walk& walk, int kv_head, const StepsAhead& ahead) {
  const std::int64_t blocks = (walk.rows + kMaxRows - 1) / kMaxRows;
  std::int64_t first = 0;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t size = (walk.rows - first + blocks - b - 1) / (blocks - b);
    if (size == 1) {
      block<T, 1, kTransformed>(walk, kv_head, first, ahead);
    } else if (size == 2) {
      block<T, 2, kTransformed>(walk, kv_head, first, ahead);
    } else if constexpr (kMaxRows > 2) {
      if (size == 3) {
        block<T, 3, kTransformed>(walk, kv_head, first, ahead);
      } else {
        block<T, 4, kTransformed>(walk, kv_head, first, ahead);
      }
    }
    first += size;
  }
}

/// Rows of one tile; entries beyond its keys repeat the last key, so that whole blocks of scores can be computed.
struct TileRows {
  const std::byte* k[kDecodeTile];
  const std::byte* v[kDecodeTile];
};

int find_rows(const RunConstants& constants, const Sequence& sequence, std::int64_t key, std::int64_t end, TileRows& rows) {
  const int n = static_cast<int>(end - key < kDecodeTile ? end - key : kDecodeTile);
  if (n <= 0) return 0;
  kv_rows(constants, sequence, key, n, rows.k, rows.v);
  for (int i = n; i < kDecodeTile; ++i) rows.k[i] = rows.k[n - 1], rows.v[i] = rows.v[n - 1];
  return n;
}

/// Asks for the first step's rows; Q is copied while they come.
template <class T>
void prefetch_first(const Walk& walk, const TileRows& rows) {
  const Sequence& sequence = *walk.item.sequence;
  const std::int64_t head = walk.item.kv_head_begin;
  for (int i = 0; i < walk.n; ++i) {
    const std::byte* row = rows.k[i] + head * sequence.k.stride_head;
    for (int at = 0; at < walk.constants.dqk * T::kBytes; at += 64) prefetch_l1(row + at);
  }
  for (int i = 0; i < walk.n; ++i) {
    const std::byte* row = rows.v[i] + head * sequence.v.stride_head;
    for (int at = 0; at < walk.constants.dv * T::kBytes; at += 64) prefetch_l1(row + at);
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
  walk.key = item.key_begin + (range.begin - item.key_begin) / kDecodeTile * kDecodeTile;
  TileRows rows[3];  // of this tile and of the two after it
  int n[3];
  for (int i = 0; i < 3; ++i) n[i] = find_rows(constants, sequence, walk.key + i * kDecodeTile, range.end, rows[i]);
  walk.n = n[0];
  prefetch_first<T>(walk, rows[0]);
  begin_rows<T>(walk);
  const int heads = item.kv_head_end - item.kv_head_begin;
  for (int tile = 0; n[tile] > 0; tile = (tile + 1) % 3, walk.key += kDecodeTile) {
    walk.n = n[tile];
    walk.k_rows = rows[tile].k;
    walk.v_rows = rows[tile].v;
    for (int step = 0; step < heads; ++step) {
      // Step `step + by` of the walk, or this one where there is none (a prefetch of it costs a load).
      const auto ahead_by = [&](int by, StepsAhead& ahead, Rows Ahead::*when) __attribute__((always_inline)) {
        const int tiles = (step + by) / heads, at = (tile + tiles) % 3;
        const TileRows& from = rows[n[at] > 0 ? at : tile];
        const std::int64_t kv_head = item.kv_head_begin + (step + by) % heads;
        ahead.k.*when = {from.k, kv_head * sequence.k.stride_head};
        ahead.v.*when = {from.v, kv_head * sequence.v.stride_head};
      };
      StepsAhead ahead;
      ahead_by(1, ahead, &Ahead::next);
      ahead_by(2, ahead, &Ahead::after);
      if (walk.units.transformed) {
        head<T, true>(walk, item.kv_head_begin + step, ahead);
      } else {
        head<T, false>(walk, item.kv_head_begin + step, ahead);
      }
    }
    n[tile] = find_rows(constants, sequence, walk.key + 3 * kDecodeTile, range.end, rows[tile]);
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

template <class T>
void decode(const RunConstants& constants, const WorkItem& item, std::byte* scratch, TraceLane* lane) {
  const std::int64_t rows = item.row_end - item.row_begin;
  const State state = lay_out<T>(constants, rows * (item.kv_head_end - item.kv_head_begin), scratch, nullptr);
  Walk walk = {constants, item, score_units(constants, *item.sequence), state, rows, 0, 0, nullptr, nullptr, lane};
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
