// SPDX-License-Identifier: Apache-2.0
// Attention for few rows a kv head: an item walks the keys step by step, and at each step some of its kv heads.
//
//   step:  K of its heads, run by run -> scores | softmax of all its rows | V of its heads, run by run -> O
//
// A run is some rows of one head. Which heads and tiles follow each other is the layout's choice: memory is read in long
// runs. Scratch, for all rows of all heads of the item: Q copied to full vectors, O, m, and l as a vector. See
// docs/decode.md.
#include "cpu/kernels/decode.hpp"

#include "cpu/kernels/decode_step.hpp"
#include "cpu/kernels/finish_row.hpp"
#include "cpu/kernels/trace_lane.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {
namespace {

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
    const auto rows_of = [&]<Ask kAsk>() { StepRows<T, kTransformed, kAsk, kDim>(walk, step, order, first, size).run(); };
    if (walk.constants.kv_source == KvSource::cache) {
      rows_of.template operator()<Ask::once>();
    } else if (step.ask == Ask::twice || kTransformed || !kAsksMore) {
      rows_of.template operator()<Ask::twice>();
    } else if (step.ask == Ask::thrice) {
      rows_of.template operator()<kAsksMore && !kTransformed ? Ask::thrice : Ask::twice>();
    } else {
      rows_of.template operator()<kAsksMore && !kTransformed ? Ask::four_times : Ask::twice>();
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
  const auto set_pace = [&](Step& of) {
    of.runs = run_lengths<T>(constants, sequence, walk.rows, row_bytes<T>(constants), of, crowd.now());
    of.ask = ask_of<T>(constants, sequence, crowd.now());
  };
  set_pace(step);
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
      set_pace(next);
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
