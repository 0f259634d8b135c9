// SPDX-License-Identifier: Apache-2.0
// For tests: the rows of kernels.inc that this machine can run.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <string_view>
#include <vector>

namespace tessera::cpu {

inline bool machine_has(std::string_view isa) {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx >> 29 & 1) != 0;  // clang 14 does not know the name
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && f16c;
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (isa == "avx2") return avx2;
  if (isa == "avx512") return avx512;
  if (isa == "avx512bf16") return avx512 && __builtin_cpu_supports("avx512bf16");
#endif
  return isa == "portable";
}

inline std::vector<std::string_view> isas_of_this_machine() {
  std::vector<std::string_view> isas;
#define TESSERA_ISA(name) \
  if (machine_has(#name)) isas.push_back(#name);
#include "cpu/kernels/kernels.inc"
#undef TESSERA_ISA
  return isas;
}

}  // namespace tessera::cpu
