// SPDX-License-Identifier: Apache-2.0
// Functions of vectors, written once over the primitives.
#pragma once

#include "cpu/simd/simd.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

inline constexpr float kLog2E = 1.44269504088896340736f;
inline constexpr float kInfinity = __builtin_inff();

TESSERA_INLINE F abs(F x) { return max(x, sub(zero(), x)); }

/// tanh, within 4 ulp. Below 0.625 the odd polynomial x + x^3 P(x^2) (minimax, 4.4e-9), since 1 - e^-2x cancels there;
/// beyond it 1 - 2 e / (1 + e) with e = exp(-2 |x|).
TESSERA_INLINE F tanh(F x) {
  const F magnitude = abs(x), z = mul(x, x);
  F p = set1(-5.70498599e-3f);
  p = fma(p, z, set1(2.06390861e-2f));
  p = fma(p, z, set1(-5.37397154e-2f));
  p = fma(p, z, set1(1.33314416e-1f));
  p = fma(p, z, set1(-3.33332807e-1f));
  const F small = fma(mul(x, z), p, x);
  const F e = exp2(mul(magnitude, set1(-2 * kLog2E)));
  const F large = sub(set1(1.0f), div(add(e, e), add(set1(1.0f), e)));
  const F signed_large = select(less(x, zero()), sub(zero(), large), large);
  return select(less(magnitude, set1(0.625f)), small, signed_large);
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
