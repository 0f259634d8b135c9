// SPDX-License-Identifier: Apache-2.0
#include "support/workload.hpp"

#include <fstream>

namespace tessera::test {

std::vector<std::string> read_workload(const std::string& name) {
  std::ifstream file(std::string(TESSERA_WORKLOADS) + "/" + name);
  std::vector<std::string> problems;
  for (std::string line; std::getline(file, line);) {
    line = line.substr(0, line.find('#'));
    const auto end = line.find_last_not_of(" \t\r");
    if (end != std::string::npos) problems.push_back(line.substr(0, end + 1));
  }
  return problems;
}

}  // namespace tessera::test
