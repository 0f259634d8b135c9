// SPDX-License-Identifier: Apache-2.0
// Numbers as text, the same in every locale. printf and std::to_string(double) write the decimal comma of a program that
// has called setlocale, and the sign of a NaN.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <string>

namespace tessera::base {

std::string number(std::integral auto value) { return std::to_string(value); }

namespace detail {

template <std::floating_point T>
std::string text_of(T value, auto... format) {
  if (std::isnan(value)) return "nan";
  char digits[512];  // the largest double has 309 digits before the point
  const auto end = std::to_chars(digits, digits + sizeof digits, value, format...).ptr;
  return {digits, end};
}

}  // namespace detail

/// The shortest digits that read back as the same value.
std::string shortest(std::floating_point auto value) { return detail::text_of(value); }

/// As printf's %.<digits>g.
inline std::string significant(double value, int digits) {
  return detail::text_of(value, std::chars_format::general, digits);
}

/// As printf's %.<decimals>f.
inline std::string fixed(double value, int decimals) { return detail::text_of(value, std::chars_format::fixed, decimals); }

}  // namespace tessera::base
