// SPDX-License-Identifier: Apache-2.0
// Which implementations there are, and which of them this machine can run.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/problem.hpp"
#include "tessera/types.hpp"

namespace tessera {

struct ImplementationInfo {
  std::string_view name;     // "avx512bf16", "avx512", "avx2", "portable", "reference"
  std::string_view backend;  // "cpu" or "reference"
  bool available = false;    // this machine can run it
  std::string_view reason;   // when not available: why
};

/// Every implementation, best first. `plan` takes the first available one that accepts the problem; the environment
/// variable TESSERA_FORCE_IMPL or force_implementation names the only one to try.
TESSERA_EXPORT std::span<const ImplementationInfo> implementations() noexcept;

/// Forces one implementation for plans made from now on; an empty name takes it back. Unknown or unavailable: an error.
TESSERA_EXPORT Status force_implementation(std::string_view name);

/// Ok, or the one reason why `implementation` does not take `problem`.
TESSERA_EXPORT Status accepts(std::string_view implementation, const Problem& problem);

/// What the machine offers, as the planner sees it.
struct MachineInfo {
  std::string cpu_model;
  int cores = 1;  // that this process may use: by its affinity and by the quota of its container
  std::int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  std::vector<std::string> isa_features;  // of those that an implementation uses
};
TESSERA_EXPORT MachineInfo machine_info();

}  // namespace tessera
