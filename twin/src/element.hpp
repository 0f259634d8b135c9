// SPDX-License-Identifier: Apache-2.0
// Elements where they lie in memory: of a type known here, or floats of a type known when the kernel runs.
#pragma once

#include <cstdint>
#include <cstring>

#include "twin/half.hpp"
#include "twin/types.hpp"

namespace twin {

template <class T>
T load(const std::uint8_t* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
template <class T>
void store(std::uint8_t* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

// Calls f with a word of so many bytes: for what moves elements without looking at them.
template <class F>
void with_word(std::uint32_t bytes, F&& f) {
  if (bytes == 1) return f(std::uint8_t{});
  if (bytes == 2) return f(std::uint16_t{});
  if (bytes == 4) return f(std::uint32_t{});
  f(std::uint64_t{});
}

// One of the two integers of four bits in a byte.
inline int int4_of(std::uint8_t both, bool second) { return ((both >> (second ? 4 : 0) & 15) ^ 8) - 8; }
inline std::uint8_t with_int4(std::uint8_t both, bool second, int value) {
  return static_cast<std::uint8_t>(second ? (both & 0x0f) | (value & 15) << 4 : (both & 0xf0) | (value & 15));
}

inline float load_float(const std::uint8_t* p, DType dtype) {
  if (dtype == DType::F16) return half_to_float(load<std::uint16_t>(p));
  if (dtype == DType::BF16) return bfloat_to_float(load<std::uint16_t>(p));
  return load<float>(p);
}
inline void store_float(std::uint8_t* p, DType dtype, float value) {
  if (dtype == DType::F16) return store(p, float_to_half(value));
  if (dtype == DType::BF16) return store(p, float_to_bfloat(value));
  store(p, value);
}

}  // namespace twin
