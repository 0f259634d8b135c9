// SPDX-License-Identifier: Apache-2.0
#include "cli/unfused_steps.hpp"

namespace tessera::cli {

extern const UnfusedSteps kUnfusedSteps_portable;
#if defined(__x86_64__)
extern const UnfusedSteps kUnfusedSteps_avx512;
extern const UnfusedSteps kUnfusedSteps_avx2;
#endif

const UnfusedSteps& unfused_steps() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return kUnfusedSteps_avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kUnfusedSteps_avx2;
#endif
  return kUnfusedSteps_portable;
}

}  // namespace tessera::cli
