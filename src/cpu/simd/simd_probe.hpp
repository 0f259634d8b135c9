// SPDX-License-Identifier: Apache-2.0
// The primitives of one ISA behind function pointers, so that one test can call those of every ISA the machine has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::cpu {

/// Each function works on one vector of `width` lanes; n is the count of a partial access.
struct SimdProbe {
  int width;
  bool has_pair_dot;
  void (*copy_n)(const float* in, int n, float* out);                    // load_n, then store_n
  void (*widen)(bool bf16, const std::uint16_t* in, int n, float* out);  // n == width: the full load
  void (*narrow)(bool bf16, const float* in, int n, std::uint16_t* out);
  void (*arithmetic)(const float* a, const float* b, const float* c, float* out);  // add sub mul max min fma, 6 vectors
  void (*compare)(const float* a, const float* b, float* out);  // less, less_equal, equal: 1 or 0, 3 vectors
  void (*first)(int n, float* out, bool* any, bool* all);
  void (*exp2)(const float* in, float* out);
  void (*exp2_to_round)(const float* in, float* out);  // null without pair dot
  void (*reduce)(const float* in, float* sum, float* max);
  void (*sums)(const float* in, float* out);  // width vectors in; out lane i: the sum of vector i
  void (*pair_dot)(const std::uint16_t* a, const std::uint16_t* b, const float* acc, float* out);
  void (*round_pairs)(const float* lo, const float* hi, std::uint16_t* out);
  void (*interleaved)(const std::uint16_t* a, const std::uint16_t* b, int n, const std::uint16_t* pair, float* out);
};

}  // namespace tessera::cpu
