// SPDX-License-Identifier: Apache-2.0
// What this machine is: instruction sets that processor and system support, caches, cores.
#pragma once

#include <string_view>

#include "planner/device_model.hpp"
#include "tessera/implementations.hpp"

namespace tessera::runtime {

/// Empty when this machine can run kernels compiled for `isa` (a name of kernels.inc); else what is missing.
std::string_view missing_for(std::string_view isa) noexcept;

/// Detected once, at the first call.
const MachineInfo& detect_machine();

/// The planner's model of this machine when it runs kernels of `isa`.
planner::CpuModel cpu_model(std::string_view isa);

}  // namespace tessera::runtime
