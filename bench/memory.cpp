// SPDX-License-Identifier: Apache-2.0
#include "bench/memory.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

namespace tessera::bench {
namespace {

/// "VmRSS:  1234 kB" of /proc/self/status, in bytes.
std::int64_t status_bytes(const char* field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, std::strlen(field), field) == 0) return std::stoll(line.substr(std::strlen(field) + 1)) * 1024;
  }
  return 0;
}

}  // namespace

PeakMemory::PeakMemory() {
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): sets the peak back to what is resident now
  before_ = status_bytes("VmHWM");
}

std::int64_t PeakMemory::extra_bytes() const { return std::max<std::int64_t>(0, status_bytes("VmHWM") - before_); }

}  // namespace tessera::bench
