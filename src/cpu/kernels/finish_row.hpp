// SPDX-License-Identifier: Apache-2.0
// The end of a row: its unnormalised sum becomes O and LSE. One function for a row that one item covers and for one that
// is merged from many, so that one chunk merged has the bits of one chunk written directly.
#pragma once

#include "cpu/kernels/element.hpp"
#include "cpu/simd/math.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// o * factor, as if one more tile had been added of which the row sees nothing; whether one has been depends on the other
/// rows of the item. It makes +0 of a sum that has underflowed to -0, and of any subnormal one where pairs are multiplied
/// (VDPBF16PS flushes what it adds to).
template <bool kPairs>
TESSERA_INLINE F scaled_sum(F o, F factor) {
  if constexpr (kPairs) return mul(select(less(abs(o), set1(0x1p-126f)), zero(), o), factor);
  return mul(add(o, zero()), factor);
}

/// o[0, dv) of kv head `kv_head`, row `row` (query row / group), with m and l as in Partial. `l` is 0 only when the row
/// saw no key: then O = 0 and LSE = -inf, or the sink.
///
///   with a sink s: M = max(m, s), L = l e^(m - M) + e^(s - M); O = o e^(m - M) / L, LSE = M + log L
///   without:       O = o / l, LSE = m + log l
///
/// Scalars are double: LSE is then the nearest float but for the rounding of m and l, and a sink alone comes back exactly.
template <DTypeIndex D>
TESSERA_INLINE void finish_row(const RunConstants& constants, const Sequence& sequence, int kv_head, std::int64_t row,
                               const float* o, float m, float l) {
  const std::int64_t query = row / constants.group;
  const std::int64_t head = std::int64_t{kv_head} * constants.group + row % constants.group;
  float factor = l == 0 ? 0 : 1 / l;
  if (sequence.lse != nullptr || constants.sink != nullptr) {
    double maximum = m, sum = l;
    if (constants.sink != nullptr && !(constants.sink[head] == -kInfinity)) {
      const double sink = constants.sink[head], row_maximum = maximum;
      maximum = row_maximum > sink ? row_maximum : sink;
      const double shrink = l == 0 ? 0 : __builtin_exp(row_maximum - maximum);
      sum = sum * shrink + __builtin_exp(sink - maximum);
      factor = static_cast<float>(shrink / sum);
    }
    if (sequence.lse != nullptr) {
      sequence.lse[head * sequence.lse_stride_head + query] =
          sum == 0 ? -kInfinity : static_cast<float>(maximum + __builtin_log(sum));
    }
  }
  std::byte* out = sequence.o + query * sequence.o_stride_token + head * sequence.o_stride_head;
  const int dv = constants.dv;
  constexpr bool kPairs = kHasPairDot && D == DTypeIndex::bf16;
  const F scale = set1(factor);
  int i = 0;
  for (; i + kWidth <= dv; i += kWidth)
    Element<D>::write(out + i * Element<D>::kBytes, scaled_sum<kPairs>(load(o + i), scale));
  if (i < dv) Element<D>::write_n(out + i * Element<D>::kBytes, scaled_sum<kPairs>(load_n(o + i, dv - i), scale), dv - i);
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
