// SPDX-License-Identifier: Apache-2.0
// Device files of the twin: any text is read or refused with the line and a reason, and a device that was read is whole.
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "fuzz/check.hpp"
#include "twin/src/device.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::map<std::string, twin::Device> devices;
  std::string error;
  if (!twin::parse_devices(text, &devices, &error)) {
    FUZZ_CHECK(!error.empty(), "%s", text.c_str());
    return 0;
  }
  for (const auto& [name, device] : devices) {
    FUZZ_CHECK(device.name == name, "%s", text.c_str());
    FUZZ_CHECK(std::isfinite(device.mhz()) && device.mhz() > 0, "%s", text.c_str());
    FUZZ_CHECK(device.cost("Unlisted").per_unit >= 0, "%s", text.c_str());
    for (int path = 1; path < twin::kPaths; ++path)  // 0 is no path
      FUZZ_CHECK(std::isfinite(device.moves[path].cycles(4096)), "%s", text.c_str());
  }
  return 0;
}
