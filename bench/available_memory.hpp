// SPDX-License-Identifier: Apache-2.0
// What the machine can still give. Linux promises more, and then ends whoever touches it.
#pragma once

#include <cstddef>
#include <fstream>
#include <limits>
#include <string>

namespace tessera::bench {

/// Bytes, by /proc/meminfo; the largest number where that is not there.
inline std::size_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string name, rest; file >> name; std::getline(file, rest)) {
    std::size_t kib = 0;
    if (name == "MemAvailable:" && file >> kib) return kib * 1024;
  }
  return std::numeric_limits<std::size_t>::max();
}

}  // namespace tessera::bench
