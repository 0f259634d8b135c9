// SPDX-License-Identifier: Apache-2.0
// exp and ln of a float, computed in double and rounded once: of all floats about one in three million (exp) or a hundred
// million (ln) is not the nearest to the true value. Without branches or tables, so that loops over lanes become vector
// code; the host's take one lane at a time (1.6 and 2.2 ns a lane against 0.95), and differ from host to host.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

namespace twin::lane {

template <class To, class From>
inline __attribute__((always_inline)) To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// exp(x) = 2^k · exp(r), k = round(x / ln 2), |r| <= ln 2 / 2; exp(r) as 1 + r + r² q(r) with q interpolated at Chebyshev
// nodes, relative error 2^-37.8.
inline __attribute__((always_inline)) float exponential(float a) {
  constexpr double kRounds = 6755399441055744.0;  // 1.5 · 2^52: leaves an integer in the low bits
  constexpr double kLn2High = 0.6931471803691238, kLn2Low = 1.9082149292705877e-10;  // k · high is exact
  const double x = a < -104.0f ? -104.0 : a > 89.0f ? 89.0 : double(a);              // below: rounds to 0; above: infinite
  const double shifted = x * 1.4426950408889634 + kRounds;
  const double k = shifted - kRounds;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  const double q =
      0.5 + r * (0.16666666719012385 +
                 r * (0.04166666671899572 +
                      r * (0.00833329847714826 +
                           r * (0.0013888854043010103 + r * (0.0001989927945909131 + r * 2.4859583721043378e-05)))));
  const double p = 1.0 + (r + r * r * q);
  const std::uint64_t scaled = bits_as<std::uint64_t>(p) + (bits_as<std::uint64_t>(shifted) << 52);
  const float result = float(bits_as<double>(scaled));
  return a != a ? a : result;
}

// ln(x) = e · ln 2 + ln(m), m in [√½, √2); ln(m) = 2 atanh(s), s = (m − 1) / (m + 1), as 2 s (1 + s² q(s²)), relative error
// 2^-43.
inline __attribute__((always_inline)) float logarithm(float a) {
  constexpr std::uint64_t kOne = 0x3ff0000000000000, kRootHalf = 0x3fe6a09e667f3bcd, kExponent = 0xfff0000000000000;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::uint64_t bits = bits_as<std::uint64_t>(double(a));
  const std::uint64_t moved = bits + (kOne - kRootHalf);  // its exponent is that of x / √½
  const double e = bits_as<double>(moved >> 52 | 0x4330000000000000) - (4503599627370496.0 + 1023.0);
  const double m = bits_as<double>(bits - (moved & kExponent) + kOne);
  const double s = (m - 1.0) / (m + 1.0), u = s * s;
  const double q =
      0.33333333333691384 +
      u * (0.19999999393441642 + u * (0.14285878334072902 + u * (0.11095632799598006 + u * 0.09682639210700028)));
  const float finite = float((2.0 * s + 2.0 * s * u * q) + e * 0.6931471805599453);
  const float of_positive = a == kInfinity ? a : finite;
  const float of_zero = a == 0 ? -kInfinity : of_positive;
  const float result = a < 0 ? std::numeric_limits<float>::quiet_NaN() : of_zero;
  return a != a ? a : result;
}

}  // namespace twin::lane
