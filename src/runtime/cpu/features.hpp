// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tessera::runtime {

/// Instruction sets that the processor has and the operating system saves the state of.
struct CpuFeatures {
  bool avx2 = false, fma = false, f16c = false;
  bool avx512f = false, avx512bw = false, avx512dq = false, avx512vl = false, avx512bf16 = false;
  bool amd = false;
  std::uint32_t family = 0;
};

CpuFeatures detect_features() noexcept;

/// The processor's own name, or "".
void read_brand(char (&brand)[49]) noexcept;

}  // namespace tessera::runtime
