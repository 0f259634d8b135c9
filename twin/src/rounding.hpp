// SPDX-License-Identifier: Apache-2.0
// The rounding modes of Cast: to integers, to formats with fewer bits, into the range of a type.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "twin/calls.hpp"

namespace twin {

// Without calls, branches or tables, so that loops over lanes become vector code.
template <Round kMode>
double round_to_integer(double x) {
  if constexpr (kMode == Round::Floor) {
    return std::floor(x);
  } else if constexpr (kMode == Round::Ceil) {
    return std::ceil(x);
  } else if constexpr (kMode == Round::Round) {  // ties away from zero
    const double down = std::trunc(x);
    return std::fabs(x - down) >= 0.5 ? down + std::copysign(1.0, x) : down;
  } else if constexpr (kMode == Round::Trunc) {
    return std::trunc(x);
  } else if constexpr (kMode == Round::Odd) {  // Von Neumann: inexact results become odd
    const double down = std::trunc(x), half = down * 0.5;
    return down != x && half == std::trunc(half) ? down + std::copysign(1.0, x) : down;
  } else {  // ties to even
    return std::nearbyint(x);
  }
}

// To a float format of `bits` explicit mantissa bits whose smallest normal exponent is `least`. x is no denormal.
template <Round kMode>
double round_to_format(double x, int bits, int least) {
  const auto field = static_cast<std::int64_t>(__builtin_bit_cast(std::uint64_t, x) >> 52 & 0x7ff);
  const std::int64_t exponent = field > least + 1023 ? field : least + 1023;
  const double unit = __builtin_bit_cast(double, (exponent - bits) << 52);
  const double units = __builtin_bit_cast(double, (2046 - exponent + bits) << 52);  // 1 / unit
  const double rounded = round_to_integer<kMode>(x * units) * unit;
  return field == 0x7ff ? x : rounded;
}

// NaN becomes 0.
template <class T, Round kMode>
T saturate(double x) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
  const double r = round_to_integer<kMode>(x != x ? 0.0 : x);
  if constexpr (sizeof(T) == 8) {
    return r <= kLow ? std::numeric_limits<T>::min() : r >= kHigh ? std::numeric_limits<T>::max() : static_cast<T>(r);
  } else {
    return static_cast<T>(static_cast<std::int32_t>(r < kLow ? kLow : r > kHigh ? kHigh : r));
  }
}

// Calls f with the mode as a constant.
template <class F>
auto with_rounding(Round mode, F&& f) {
  switch (mode) {
    case Round::Floor:
      return f(std::integral_constant<Round, Round::Floor>());
    case Round::Ceil:
      return f(std::integral_constant<Round, Round::Ceil>());
    case Round::Round:
      return f(std::integral_constant<Round, Round::Round>());
    case Round::Trunc:
      return f(std::integral_constant<Round, Round::Trunc>());
    case Round::Odd:
      return f(std::integral_constant<Round, Round::Odd>());
    default:
      return f(std::integral_constant<Round, Round::Rint>());
  }
}

}  // namespace twin
