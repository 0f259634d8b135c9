// SPDX-License-Identifier: Apache-2.0
// Lists of problem strings: one a line, `#` begins a comment.
#pragma once

#include <string>
#include <vector>

namespace tessera::test {

/// The problem strings of workloads/<name>; empty when there is no such file.
std::vector<std::string> read_workload(const std::string& name);

}  // namespace tessera::test
