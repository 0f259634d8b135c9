// SPDX-License-Identifier: Apache-2.0
// UB banks: 16 groups of three, a block of 32 bytes in group (address / 32) mod 16. A repeat reads the eight blocks of a
// source at once and writes those of the destination at once; two of one group, in one operand or in the two sources of an
// instruction, take turns. [doc] Conflicts between reads and writes, and with copies, are not modelled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace twin {

// How many of n blocks, `stride` blocks apart, lie in the fullest group.
inline std::uint32_t fullest_group(std::uint32_t n, std::uint32_t stride) {
  if (n == 0 || stride == 0) return 1;  // one block for all: it is read once
  const std::uint32_t groups = 16 / std::gcd(stride, 16u);
  return (n + groups - 1) / groups;
}

struct Reads {             // of one source
  std::uint64_t first;     // block number
  std::uint32_t n;         // blocks a repeat; 1 if its block stride is 0
  std::uint32_t a_repeat;  // blocks from one repeat to the next
};

// Cycles of a repeat that reads both, 1 to 2: in the mean over repeats, whose distance changes with their strides.
inline double meeting_sources(const Reads& a, const Reads& b, std::uint32_t repeats) {
  const std::uint32_t looked_at = std::clamp(repeats, 1u, 16u);  // the pattern has come round by then
  std::uint32_t meet = 0;
  for (std::uint64_t r = 0; r < looked_at; ++r) {
    const std::uint64_t distance = (b.first + r * b.a_repeat - a.first - r * a.a_repeat) & 15;
    meet += distance < a.n || 16 - distance < b.n;
  }
  return 1 + static_cast<double>(meet) / looked_at;
}

}  // namespace twin
