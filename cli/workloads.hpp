// SPDX-License-Identifier: Apache-2.0
// The lists of problems that come with the project.
#pragma once

#include <string>

namespace tessera::cli {

/// The path of workloads/`name`: beside the source in a build, in share/tessera of an installation. Throws Failure.
std::string workload_file(const std::string& name);

}  // namespace tessera::cli
