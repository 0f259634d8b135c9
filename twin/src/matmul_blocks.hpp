// SPDX-License-Identifier: Apache-2.0
// The search behind Matmul's tiling: of all base blocks that fit, those with which one core is estimated to end first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace matmul_tiling {

inline std::int32_t up(std::int64_t value, std::int32_t to) { return static_cast<std::int32_t>((value + to - 1) / to * to); }
inline std::int32_t parts(std::int64_t value, std::int64_t of) { return static_cast<std::int32_t>((value + of - 1) / of); }

struct Problem {
  std::int64_t m, n, k;              // of one core
  std::int64_t bits;                 // of an element of A and B
  std::int64_t c_size, l1, l0, l0c;  // bytes
  bool double_l0, double_c, a_trans, b_trans;
  std::int32_t m_align, n_align, k_align, k_a_cycle;
  std::int64_t bytes(std::int64_t elements) const { return elements * bits / 8; }
};
struct Blocks {
  std::int32_t m = 0, n = 0, k = 0, step_k = 1;
  double cycles = HUGE_VAL;
};
struct Limits {
  std::int32_t fixed_m, fixed_n, fixed_k, low_m, high_m, low_n, high_n, high_k;
  std::int64_t c_bytes;  // of a base block of C as it leaves
  std::int64_t bias_n;   // columns that the BiasTable holds
};
// Infinite cycles if nothing fits.
Blocks best_blocks(const Problem& problem, const Limits& limits);

}  // namespace matmul_tiling
