// SPDX-License-Identifier: Apache-2.0
// The lengths that `ragged<min>-<max>` stands for. The generator is part of the problem string's meaning: never change it.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::problem {

/// splitmix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators", section 4).
inline std::uint64_t splitmix64(std::uint64_t& state) noexcept {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Length b is min + x mod (max - min + 1), x the b-th number of splitmix64 from `seed`. With spans below 2^31 the bias of
/// the modulus is below 2^-33.
inline std::vector<std::int32_t> draw_lengths(std::int64_t batch, std::int64_t min, std::int64_t max, std::uint64_t seed) {
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(batch));
  const auto span = static_cast<std::uint64_t>(max - min + 1);
  for (std::int32_t& length : lengths)
    length = static_cast<std::int32_t>(min + static_cast<std::int64_t>(splitmix64(seed) % span));
  return lengths;
}

}  // namespace tessera::problem
