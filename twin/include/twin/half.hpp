// SPDX-License-Identifier: Apache-2.0
// The two 16-bit float types of a kernel, as host classes. Arithmetic on them is arithmetic in float, rounded on assignment.
#pragma once

#include <cstdint>
#include <type_traits>

namespace twin {

// constexpr all the way: kernels have constants of type half. The builtin is g++ 11's and clang 9's std::bit_cast for C++17.
constexpr float bits_to_float(std::uint32_t u) { return __builtin_bit_cast(float, u); }
constexpr std::uint32_t float_to_bits(float f) { return __builtin_bit_cast(std::uint32_t, f); }

// Exact. Written without branches so that loops over it become vector code.
constexpr float half_to_float(std::uint16_t h) {
  const std::uint32_t magnitude = h & 0x7fffu;
  const std::uint32_t normal = (magnitude << 13) + (112u << 23);
  const std::uint32_t special = normal + (112u << 23);
  const std::uint32_t tiny = float_to_bits(bits_to_float((magnitude << 13) + (113u << 23)) - bits_to_float(113u << 23));
  const std::uint32_t u = magnitude >= 0x7c00u ? special : (magnitude < 0x400u ? tiny : normal);
  return bits_to_float(u | (static_cast<std::uint32_t>(h & 0x8000u) << 16));
}

// To nearest, ties to even; past 65520 infinity; NaN stays NaN.
constexpr std::uint16_t float_to_half(float f) {
  const std::uint32_t bits = float_to_bits(f);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  const std::uint32_t tiny = float_to_bits(bits_to_float(magnitude) + 0.5f) - 0x3f000000u;
  const std::uint32_t normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;
  const std::uint32_t u = magnitude >= 0x47800000u ? special : (magnitude < 0x38800000u ? tiny : normal);
  return static_cast<std::uint16_t>(u | ((bits >> 16) & 0x8000u));
}

constexpr float bfloat_to_float(std::uint16_t b) { return bits_to_float(static_cast<std::uint32_t>(b) << 16); }

constexpr std::uint16_t float_to_bfloat(float f) {
  const std::uint32_t bits = float_to_bits(f);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16) | 0x40u : rounded);
}

template <float (*kDecode)(std::uint16_t), std::uint16_t (*kEncode)(float)>
class Float16 {
 public:
  Float16() = default;
#if defined(TWIN_DEVICE_CHECK)
  constexpr Float16(float value) : bits_(kEncode(value)) {}  // NOLINT: a literal 1.0 is rounded here, not computed with
#else
  template <class N, class = std::enable_if_t<std::is_arithmetic<N>::value>>
  constexpr Float16(N value) : bits_(kEncode(static_cast<float>(value))) {}  // NOLINT: kernels write half x = 1.0
#endif
  template <float (*D)(std::uint16_t), std::uint16_t (*E)(float)>
  constexpr explicit Float16(Float16<D, E> other) : bits_(kEncode(static_cast<float>(other))) {}
  constexpr operator float() const { return kDecode(bits_); }  // NOLINT: nor do they convert back by hand
  constexpr Float16& operator+=(float v) { return *this = static_cast<float>(*this) + v; }
  constexpr Float16& operator-=(float v) { return *this = static_cast<float>(*this) - v; }
  constexpr Float16& operator*=(float v) { return *this = static_cast<float>(*this) * v; }
  constexpr Float16& operator/=(float v) { return *this = static_cast<float>(*this) / v; }
  constexpr std::uint16_t bits() const { return bits_; }
  static Float16 from_bits(std::uint16_t bits) {
    Float16 v;
    v.bits_ = bits;
    return v;
  }

 private:
  std::uint16_t bits_;
};

}  // namespace twin

using half = twin::Float16<twin::half_to_float, twin::float_to_half>;
using bfloat16_t = twin::Float16<twin::bfloat_to_float, twin::float_to_bfloat>;
static_assert(sizeof(half) == 2 && std::is_trivial<half>::value, "half is a plain 16-bit value");
