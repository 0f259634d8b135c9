// SPDX-License-Identifier: Apache-2.0
// From q.k to weights, for one run and both kernels.
//
// Plain rows keep m as the maximum of q.k itself and fold the scale into the exponent, p = 2^((s - m) c) with
// c = |scale| log2(e); a negative scale has negated Q. Rows with a softcap, bias, ALiBi, mask tensor or a scale next to 0
// are turned into scores first, and c = log2(e).
//
// Where |m c| is large, the difference comes before the product: s - m is exact near the maximum and 0 for it, so that
// finite scores of any size are right. s c - m c has the rounding of m c as a residue, beyond 2^30 more than an exponent.
#pragma once

#include "cpu/kernels/kernel.hpp"
#include "cpu/simd/math.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

struct ScoreUnits {
  bool transformed;
  float exponent;  // c: exponent of 2 for one unit of m
  float natural;   // of one unit of m, for LSE and partials
};

TESSERA_INLINE ScoreUnits score_units(const RunConstants& constants, const Sequence& sequence) {
  constexpr float kSmallestNormal = 0x1p-126f;  // below it -inf c may be NaN
  const float scale = __builtin_fabsf(constants.softmax_scale);
  if (constants.softcap != 0 || constants.alibi_slopes != nullptr || sequence.bias.data != nullptr ||
      sequence.mask.data != nullptr || scale * kLog2E < kSmallestNormal) {
    return {true, kLog2E, 1};
  }
  return {false, scale * kLog2E, scale};
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
