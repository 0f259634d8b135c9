// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "cli/unfused_steps.hpp"
#include "tessera/implementations.hpp"

namespace tessera::cli {

extern const UnfusedSteps kUnfusedSteps_portable;
#if defined(__x86_64__)
extern const UnfusedSteps kUnfusedSteps_avx512;
extern const UnfusedSteps kUnfusedSteps_avx2;
#endif

const UnfusedSteps& unfused_steps() noexcept {
#if defined(__x86_64__)
  const auto runs = [](std::string_view name) {
    for (const auto& info : implementations()) {
      if (info.name == name) return info.available;
    }
    return false;
  };
  if (runs("avx512")) return kUnfusedSteps_avx512;
  if (runs("avx2")) return kUnfusedSteps_avx2;
#endif
  return kUnfusedSteps_portable;
}

}  // namespace tessera::cli
