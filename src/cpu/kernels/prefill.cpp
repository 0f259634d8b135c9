// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 for many rows: one pass over the keys, tile by tile, with every row of the item (or as many as L2
// holds) in turn. K and V of a tile are packed once and used by all rows of the kv head's group.
//
//   for each tile of keys that some row sees
//     for each kv head: pack K, V
//       for each block of rows: St = K Qt; mask; P = 2^(c (S - m)); Ot = Ot * factor + Vt Pt
//
// Tiles are counted from key_begin and a row's softmax sees nothing but its own tile by tile, so bits depend neither on
// the rows around it nor on the tiles or blocks that were skipped: a key that a row does not see adds exactly 0.
#include "cpu/kernels/prefill.hpp"

#include "cpu/kernels/kv_rows.hpp"
#include "cpu/kernels/prefill_ahead.hpp"
#include "cpu/kernels/prefill_scores.hpp"
#include "cpu/kernels/prefill_softmax.hpp"
#include "cpu/kernels/prefill_values.hpp"
#include "cpu/kernels/prefill_write.hpp"
#include "cpu/kernels/score_units.hpp"
#include "cpu/kernels/trace_lane.hpp"
#include "cpu/kernels/visible.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {
namespace {

float* floats(std::byte* scratch, std::size_t offset) { return reinterpret_cast<float*>(scratch + offset); }

/// Rows [row_begin, row_end) of heads [head_begin, head_end) of an item: what one pass over the keys serves.
struct Pass {
  const RunConstants& constants;
  const WorkItem& item;
  const PrefillLayout& layout;
  std::byte* scratch;
  TraceLane* trace;
  std::int32_t head_begin, head_end;
  std::int64_t row_begin, row_end;
  int vectors;       // of each head
  ScoreUnits units;  // transformed: scores go through finish_scores
  Ahead* ahead;

  int first_vector(std::int32_t head, int block) const { return (head - head_begin) * vectors + block * kVectors; }
  int blocks() const { return (vectors + kVectors - 1) / kVectors; }
  int vectors_of(int block) const { return vectors - block * kVectors < kVectors ? vectors - block * kVectors : kVectors; }
};

/// A tile of keys of one head, packed.
struct Tile {
  std::int64_t begin;  // key at offset 0
  int size;            // keys from there that any row of the pass may see
  bool finite;         // all of V
};

/// Keys of a tile, as offsets from its first, that rows of a block see: some row [low, high), every row [all_low, all_high).
struct BlockKeys {
  int low, high, all_low, all_high;
};

int clamp_to(std::int64_t x, int size) { return static_cast<int>(x < 0 ? 0 : x > size ? size : x); }

BlockKeys block_keys(const Pass& pass, const Tile& tile, std::int64_t row, std::int64_t row_last) {
  const WorkItem& item = pass.item;
  const std::int64_t first = row / pass.constants.group + item.sequence->position_offset;
  const std::int64_t last = row_last / pass.constants.group + item.sequence->position_offset;
  const std::int64_t left = pass.constants.window_left + tile.begin, right = pass.constants.window_right + 1 - tile.begin;
  return {clamp_to(first - left, tile.size) & ~1, clamp_to(last + right, tile.size), clamp_to(last - left, tile.size),
          clamp_to(first + right, tile.size)};
}

/// Per-lane limits of a block; lanes beyond row_last repeat it.
LaneLimits lane_limits(const Pass& pass, const Tile& tile, std::int64_t row, std::int64_t row_last, int lanes) {
  float* begin = floats(pass.scratch, pass.layout.limits);
  float* end = begin + kBlock;
  const std::int64_t offset = pass.item.sequence->position_offset;
  for (int i = 0; i < lanes; ++i) {
    const std::int64_t r = row + i < row_last ? row + i : row_last, position = r / pass.constants.group + offset;
    begin[i] = static_cast<float>(clamp_to(position - pass.constants.window_left - tile.begin, tile.size));
    end[i] = static_cast<float>(clamp_to(position + pass.constants.window_right + 1 - tile.begin, tile.size));
  }
  return {begin, end};
}

/// Scores of the keys [keys.low, keys.high) of a block into the layout's score buffer, and their maxima.
template <class T, int NR>
void score_block(const Pass& pass, const Tile& tile, std::int32_t head, int first_vector, std::int64_t row,
                 std::int64_t row_last, const BlockKeys& keys, F (&highest)[NR]) {
  constexpr int MR = kKeys<NR>, kLanes = NR * kWidth;
  const PrefillLayout& layout = pass.layout;
  const float* q = floats(pass.scratch, layout.q) + std::ptrdiff_t(first_vector) * kWidth * layout.qk_units;
  const auto* const* k = reinterpret_cast<const float* const*>(pass.scratch + layout.keys);
  float* scores = floats(pass.scratch, layout.scores);
  const bool ragged = (keys.high - keys.low) % MR != 0;  // the last micro-kernel reaches beyond
  const bool partial = pass.units.transformed || ragged || keys.all_low > keys.low || keys.all_high < keys.high;
  LaneLimits limits = {};
  if (partial) limits = lane_limits(pass, tile, row, row_last, kLanes);
  for (int j = 0; j < NR; ++j) highest[j] = set1(-kInfinity);
  for (int key = keys.low; key < keys.high; key += MR) {
    float* out = scores + (key - keys.low) * kLanes;
    run_ahead(*pass.ahead);
    if (pass.units.transformed || (keys.all_low <= key && key + MR <= keys.all_high)) {
      score_keys<T, NR, false>(k + key, q, layout.qk_units, out, highest, limits, key);
    } else {
      score_keys<T, NR, true>(k + key, q, layout.qk_units, out, highest, limits, key);
    }
  }
  if (pass.units.transformed) {
    LaneOptions options;
    lane_options(pass.constants, *pass.item.sequence, head, row, row_last, kLanes, tile.begin, options);
    for (int j = 0; j < NR; ++j) highest[j] = set1(-kInfinity);
    finish_scores<NR>(pass.constants, *pass.item.sequence, options, limits, keys.low, keys.high, scores, highest);
    if ((keys.high - keys.low) & 1) {  // the partner of the last key in a pair
      for (int j = 0; j < NR; ++j) store(scores + (keys.high - keys.low) * kLanes + j * kWidth, set1(-kInfinity));
    }
  }
}

template <class T, int NR>
void value_block(const Pass& pass, const Tile& tile, int first_vector, const BlockKeys& keys, bool moved,
                 const F (&factor)[NR]) {
  const PrefillLayout& layout = pass.layout;
  constexpr int kKeys = T::kPairs ? 2 : 1;
  const float* v = floats(pass.scratch, layout.v) + std::ptrdiff_t(keys.low / kKeys) * layout.v_stride;
  const float* p = floats(pass.scratch, layout.scores);
  float* o = floats(pass.scratch, layout.o) + std::ptrdiff_t(first_vector) * kWidth * layout.value_columns;
  auto* seen = reinterpret_cast<std::int32_t*>(pass.scratch + layout.seen) + first_vector;
  const int units = (keys.high - keys.low + kKeys - 1) / kKeys, columns = layout.value_columns, stride = layout.v_stride;
  const bool fresh = *seen == 0;
  *seen = 1;
  if (!tile.finite) {
    weigh_values_carefully<T, NR>(v, stride, p, units, columns, fresh, o, factor);
  } else if (fresh) {
    weigh_all_values<T, NR, Accumulate::fresh>(v, stride, p, units, columns, o, factor, *pass.ahead);
  } else if (moved) {
    weigh_all_values<T, NR, Accumulate::rescale>(v, stride, p, units, columns, o, factor, *pass.ahead);
  } else {
    weigh_all_values<T, NR, Accumulate::add>(v, stride, p, units, columns, o, factor, *pass.ahead);
  }
}

template <class T, int NR>
void attend_block(const Pass& pass, const Tile& tile, std::int32_t head, int block) {
  constexpr int kLanes = NR * kWidth;
  const std::int64_t row = pass.row_begin + block * kBlock;
  const std::int64_t row_last = (row + kLanes < pass.row_end ? row + kLanes : pass.row_end) - 1;
  const BlockKeys keys = block_keys(pass, tile, row, row_last);
  if (keys.low >= keys.high) return;

  const int first_vector = pass.first_vector(head, block);
  float* scores = floats(pass.scratch, pass.layout.scores);
  float* m = floats(pass.scratch, pass.layout.m) + first_vector * kWidth;
  float* l = floats(pass.scratch, pass.layout.l) + first_vector * kWidth;
  F highest[NR], factor[NR];
  std::int64_t t = trace_begin(pass.trace);
  score_block<T, NR>(pass, tile, head, first_vector, row, row_last, keys, highest);
  t = trace_end(pass.trace, TraceStage::qk, pass.item.index, t);
  const bool moved = move_maxima<NR>(highest, pass.units.exponent, m, factor);
  const int n = (keys.high - keys.low + 1) & ~(T::kPairs ? 1 : 0);
  const int count = T::kPairs ? n : keys.high - keys.low;
  weigh_scores<T, NR>(scores, count, pass.units.exponent, m, l, factor);
  t = trace_end(pass.trace, TraceStage::softmax, pass.item.index, t);
  value_block<T, NR>(pass, tile, first_vector, keys, moved, factor);
  trace_end(pass.trace, TraceStage::pv, pass.item.index, t);
}

template <class T>
void attend_blocks(const Pass& pass, const Tile& tile, std::int32_t head) {
  for (int block = 0; block < pass.blocks(); ++block) {
    switch (pass.vectors_of(block)) {
      case 1:
        attend_block<T, 1>(pass, tile, head, block);
        break;
      case 2:
        attend_block<T, 2>(pass, tile, head, block);
        break;
      default:
        attend_block<T, kVectors>(pass, tile, head, block);
        break;
    }
  }
}

template <class T>
void begin_rows(const Pass& pass) {
  const PrefillLayout& layout = pass.layout;
  float* q = floats(pass.scratch, layout.q);
  auto* seen = reinterpret_cast<std::int32_t*>(pass.scratch + layout.seen);
  const int all = (pass.head_end - pass.head_begin) * pass.vectors;
  for (std::int32_t head = pass.head_begin; head < pass.head_end; ++head) {
    for (int block = 0; block < pass.blocks(); ++block) {
      const int first = pass.first_vector(head, block);
      run_ahead(*pass.ahead);
      pack_queries<T>(pass.constants, *pass.item.sequence, head, pass.row_begin + block * kBlock, pass.row_end,
                      pass.vectors_of(block), layout.qk_units, q + std::ptrdiff_t(first) * kWidth * layout.qk_units);
      seen[first] = 0;
    }
  }
  for (int u = 0; u < layout.qk_units; ++u) floats(pass.scratch, layout.zeros)[u] = 0;
  if (!pass.units.transformed && pass.constants.softmax_scale < 0)
    negate_units<T>(q, std::size_t(all) * kWidth * layout.qk_units);
  for (int i = 0; i < all; ++i) {
    store(floats(pass.scratch, layout.m) + i * kWidth, set1(-kInfinity));
    store(floats(pass.scratch, layout.l) + i * kWidth, zero());
  }
}

template <class T>
void end_rows(const Pass& pass) {
  const PrefillLayout& layout = pass.layout;
  const WorkItem& item = pass.item;
  for (std::int32_t head = pass.head_begin; head < pass.head_end; ++head) {
    for (int block = 0; block < pass.blocks(); ++block) {
      const int first = pass.first_vector(head, block), lane = first * kWidth, vectors = pass.vectors_of(block);
      const auto* seen = reinterpret_cast<const std::int32_t*>(pass.scratch + layout.seen) + first;
      const BlockState state = {floats(pass.scratch, layout.o) + std::ptrdiff_t(lane) * layout.value_columns,
                                floats(pass.scratch, layout.m) + lane, floats(pass.scratch, layout.l) + lane, *seen != 0,
                                pass.units.natural};
      const std::int64_t row = pass.row_begin + block * kBlock;
      if (item.partial.o == nullptr) {
        write_outputs<T>(pass.constants, *item.sequence, head, row, pass.row_end, vectors, state);
      } else {
        const std::int64_t index = (head - item.kv_head_begin) * (item.row_end - item.row_begin) + row - item.row_begin;
        write_partial<T>(pass.constants, item.partial, index, static_cast<int>(pass.row_end - row), vectors, state);
      }
    }
  }
}

/// Addresses of the rows of a tile that any row of the pass may see.
struct TileRows {
  const std::byte** k;
  const std::byte** v;
  int first, keys;  // keys [first, first + keys) of the tile, first even
};

TileRows find_rows(const Pass& pass, const KeyRange& range, std::int64_t begin, int half) {
  const int tile = pass.layout.tile;
  const auto** rows = reinterpret_cast<const std::byte**>(pass.scratch + pass.layout.rows) + half * 2 * tile;
  const int end = clamp_to(range.end - begin, tile), first = clamp_to(range.begin - begin, tile) & ~1;
  const TileRows x = {rows, rows + tile, first, end > first ? end - first : 0};
  if (x.keys > 0) kv_rows(pass.constants, *pass.item.sequence, begin + first, x.keys, x.k, x.v);
  return x;
}

/// Finds or packs the keys and packs the values of a tile.
template <class T>
void pack_tile(const Pass& pass, Tile& tile, std::int32_t head, const TileRows& rows) {
  const PrefillLayout& layout = pass.layout;
  const KvView &k = pass.item.sequence->k, &v = pass.item.sequence->v;
  auto** keys = reinterpret_cast<const float**>(pass.scratch + layout.keys);
  find_keys<T>(rows.k, head * k.stride_head, rows.keys, pass.constants.dqk, layout.qk_units, floats(pass.scratch, layout.k),
               layout.k_stride, floats(pass.scratch, layout.zeros), keys + rows.first);
  tile.finite = pack_values<T>(
      rows.v, head * v.stride_head, rows.keys, pass.constants.dv, layout.value_columns,
      floats(pass.scratch, layout.v) + std::ptrdiff_t(T::kPairs ? rows.first / 2 : rows.first) * layout.v_stride,
      layout.v_stride);
}

template <class T>
void run_pass(const Pass& pass) {
  const WorkItem& item = pass.item;
  const RunConstants& constants = pass.constants;
  const int tile_kv = pass.layout.tile, heads = pass.head_end - pass.head_begin;
  const KeyRange range = visible_keys(constants, *item.sequence, pass.row_begin / constants.group,
                                      (pass.row_end - 1) / constants.group + 1, item.key_begin, item.key_end);
  std::int64_t begin = item.key_begin + (range.begin - item.key_begin) / tile_kv * tile_kv;
  // Micro-kernels a tile: of each block of each head, those of the scores and those of the values.
  const int turns = heads * pass.blocks() * (tile_kv + pass.layout.value_columns) / kMostBroadcasts;
  int half = 0;
  TileRows rows = find_rows(pass, range, begin, half);

  std::int64_t t = trace_begin(pass.trace);
  start_ahead(*pass.ahead, rows.k, rows.v, rows.keys, pass.layout.capacity);
  begin_rows<T>(pass);
  trace_end(pass.trace, TraceStage::pack, item.index, t);
  for (; begin < range.end; begin += tile_kv) {
    const TileRows next = find_rows(pass, range, begin + tile_kv, half ^= 1);
    start_ahead(*pass.ahead, next.k, next.v, next.keys, turns);
    Tile tile = {begin, rows.first + rows.keys, true};
    for (std::int32_t head = pass.head_begin; head < pass.head_end; ++head) {
      t = trace_begin(pass.trace);
      pack_tile<T>(pass, tile, head, rows);
      trace_end(pass.trace, TraceStage::pack, item.index, t);
      attend_blocks<T>(pass, tile, head);
    }
    rows = next;
  }

  t = trace_begin(pass.trace);
  end_rows<T>(pass);
  trace_end(pass.trace, TraceStage::write, item.index, t);
}

/// One pass for all heads where their state fits, else heads and as many rows as fit in turn.
template <class T>
void run_prefill(const RunConstants& constants, const WorkItem& item, std::byte* scratch, TraceLane* trace) {
  const std::int64_t rows = item.row_end - item.row_begin;
  if (rows <= 0) return;
  const PrefillLayout layout = prefill_layout<T>(constants, rows);
  const std::int64_t vectors = (rows + kWidth - 1) / kWidth;
  const ScoreUnits units = score_units(constants, *item.sequence);
  const bool together = vectors * (item.kv_head_end - item.kv_head_begin) <= layout.capacity;
  const std::int64_t step = together ? rows : std::int64_t{layout.capacity} / kVectors * kBlock;
  const std::int32_t head_step = together ? item.kv_head_end - item.kv_head_begin : 1;
  for (std::int32_t head = item.kv_head_begin; head < item.kv_head_end; head += head_step) {
    for (std::int64_t row = item.row_begin; row < item.row_end; row += step) {
      const std::int64_t row_end = row + step < item.row_end ? row + step : item.row_end;
      Ahead ahead = ahead_of(*item.sequence, head, head_step, constants.dqk * sizeof(typename T::Stored),
                             constants.dv * sizeof(typename T::Stored));
      run_pass<T>({constants, item, layout, scratch, trace, head, head + head_step, row, row_end,
                   static_cast<int>((row_end - row + kWidth - 1) / kWidth), units, &ahead});
    }
  }
}

}  // namespace

#define TESSERA_PREFILL(name, T)                                                                                   \
  void prefill_##name(const RunConstants& constants, const WorkItem& item, std::byte* scratch, TraceLane* trace) { \
    run_prefill<T>(constants, item, scratch, trace);                                                               \
  }                                                                                                                \
  std::size_t prefill_scratch_##name(const RunConstants& constants, std::int64_t max_rows) {                       \
    return prefill_layout<T>(constants, max_rows).bytes;                                                           \
  }
TESSERA_PREFILL(f32, F32)
TESSERA_PREFILL(f16, F16)
TESSERA_PREFILL(bf16, Bf16)
#undef TESSERA_PREFILL

}  // namespace tessera::cpu::TESSERA_ISA_NAME
