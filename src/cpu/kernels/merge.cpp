// SPDX-License-Identifier: Apache-2.0
// Stage 2 of split-KV attention: partial results of the chunks of a row become one.
//
//   M = max_i m_i;  f_i = e^(m_i - M);  l = sum_i f_i l_i;  o = sum_i f_i o_i, in the order of the chunks
//
// An empty chunk (l = 0) is left out: its m is -inf, and -inf - -inf would be NaN. (A chunk whose visible scores are all
// NaN has m = -inf too, but l = NaN, and takes part.) With one chunk f = 1, and nothing is rounded.
#include "cpu/kernels/merge.hpp"

#include "cpu/kernels/finish_row.hpp"
#include "cpu/kernels/trace_lane.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {
namespace {

TESSERA_INLINE float exp2_scalar(float x) {
  float lanes[kWidth];
  store(lanes, exp2(set1(x)));
  return lanes[0];
}

template <DTypeIndex D>
void merge(const RunConstants& constants, const MergeItem& item, TraceLane* lane) {
  const std::int64_t begin = trace_begin(lane);
  const int dv = constants.dv;
  alignas(64) float sum[256];
  for (std::int64_t row = item.row_begin; row < item.row_end; ++row) {
    const std::int64_t first = row - item.row_begin;
    float maximum = -kInfinity, l = 0;
    for (int s = 0; s < item.num_splits; ++s) {
      const float m = item.m[s * item.split_stride + first];
      if (m > maximum) maximum = m;
    }
    for (int i = 0; i < dv; i += kWidth) store(sum + i, zero());
    for (int s = 0; s < item.num_splits; ++s) {
      const std::int64_t at = s * item.split_stride + first;
      if (item.l[at] == 0) continue;
      const float factor = exp2_scalar((item.m[at] - maximum) * kLog2E);
      const float* o = item.o + at * dv;
      const F weight = set1(factor);
      l += factor * item.l[at];
      int i = 0;
      for (; i + kWidth <= dv; i += kWidth) store(sum + i, fma(weight, load(o + i), load(sum + i)));
      if (i < dv) store(sum + i, fma(weight, load_n(o + i, dv - i), load(sum + i)));
    }
    finish_row<D>(constants, *item.sequence, item.kv_head, row, sum, maximum, l);
  }
  trace_end(lane, TraceStage::merge, item.index, begin);
}

}  // namespace

void merge_f32(const RunConstants& constants, const MergeItem& item, TraceLane* lane) {
  merge<DTypeIndex::f32>(constants, item, lane);
}
void merge_f16(const RunConstants& constants, const MergeItem& item, TraceLane* lane) {
  merge<DTypeIndex::f16>(constants, item, lane);
}
void merge_bf16(const RunConstants& constants, const MergeItem& item, TraceLane* lane) {
  merge<DTypeIndex::bf16>(constants, item, lane);
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
