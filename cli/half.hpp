// SPDX-License-Identifier: Apache-2.0
// The 16-bit types widened to float; exact.
#pragma once

#include <bit>
#include <cstdint>

#include "tessera/types.hpp"

namespace tessera::cli {

inline float widen_bf16(std::uint16_t h) noexcept { return std::bit_cast<float>(std::uint32_t{h} << 16); }

inline float widen_f16(std::uint16_t h) noexcept {
  const std::uint32_t sign = std::uint32_t{h & 0x8000u} << 16, magnitude = h & 0x7fffu;
  // As a float with the exponent's bias still that of f16; times 2^112 puts that right, subnormals included.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const std::uint32_t infinite = magnitude >= 0x7c00u ? 0x7f800000u : 0u;  // Inf and NaN keep their mantissa
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | infinite | sign);
}

inline float widen(DType dtype, const void* data, std::int64_t index) noexcept {
  if (dtype == DType::f32) return static_cast<const float*>(data)[index];
  const auto h = static_cast<const std::uint16_t*>(data)[index];
  return dtype == DType::bf16 ? widen_bf16(h) : widen_f16(h);
}

inline void widen(DType dtype, const void* data, std::int64_t count, float* out) noexcept {
  for (std::int64_t i = 0; i < count; ++i) out[i] = widen(dtype, data, i);
}

}  // namespace tessera::cli
