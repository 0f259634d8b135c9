// SPDX-License-Identifier: Apache-2.0
// What the rows of vector.inc compute with: float for half and float, 64-bit integers otherwise.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "float_math.hpp"
#include "twin/types.hpp"

namespace twin::lane {

template <class T>
struct Compute {
  using Type = std::conditional_t<std::is_signed<T>::value, std::int64_t, std::uint64_t>;
};
template <>
struct Compute<half> {
  using Type = float;
};
template <>
struct Compute<bfloat16_t> {
  using Type = float;
};
template <>
struct Compute<float> {
  using Type = float;
};

// Sums and products of 32-bit integers fit 64 bits; wrapping into the element is the only loss.
template <class T, class C>
T narrow(C value) {
  if constexpr (std::is_integral<T>::value) {
    return static_cast<T>(static_cast<std::uint64_t>(value));
  } else {
    return T(value);
  }
}

template <class C>
C relu(C a) {
  return a > 0 ? a : C(0);
}
inline float magnitude(float a) { return std::fabs(a); }
inline float root(float a) { return std::sqrt(a); }
template <class C>
C as_bits(C a) {
  return a;
}
template <class C>
C shift_left(C a, C by) {
  return static_cast<C>(static_cast<std::uint64_t>(a) << (by & 63));
}
template <class C>
C shift_right(C a, C by) {
  return a >> (by & 63);
}

// ShiftRight with roundEn: half a unit up before the shift.
template <class C>
C shift_right_rounded(C a, C by) {
  const C bits = by & 63;
  return bits == 0 ? a : (a + (C(1) << (bits - 1))) >> bits;
}

}  // namespace twin::lane
