// SPDX-License-Identifier: Apache-2.0
// The rounding modes of Cast: to integers, to formats with fewer bits, into the range of a type.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "twin/calls.hpp"

namespace twin {

inline double round_to_integer(double x, Round mode) {
  switch (mode) {
    case Round::Floor:
      return std::floor(x);
    case Round::Ceil:
      return std::ceil(x);
    case Round::Round:
      return std::round(x);  // ties away from zero
    case Round::Trunc:
      return std::trunc(x);
    case Round::Odd: {  // Von Neumann: inexact results become odd
      const double down = std::trunc(x);
      if (down == x) return x;
      return std::fmod(down, 2.0) != 0 ? down : down + std::copysign(1.0, x);
    }
    default:
      return std::nearbyint(x);  // ties to even
  }
}

// To a float format of `bits` explicit mantissa bits whose smallest normal exponent is `least`.
inline double round_to_format(double x, Round mode, int bits, int least) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), least);
  return std::ldexp(round_to_integer(std::ldexp(x, bits - exponent), mode), exponent - bits);
}

template <class T>
T saturate(double x, Round mode) {
  if (std::isnan(x)) return 0;
  const double r = round_to_integer(x, mode);
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
  if (r <= kLow) return std::numeric_limits<T>::min();
  if (r >= kHigh) return std::numeric_limits<T>::max();
  return static_cast<T>(r);
}

}  // namespace twin
