// SPDX-License-Identifier: Apache-2.0
// A device is data: one section of a device file (devices/910b.device has the built-in ones). Each number there names its
// source.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "twin/types.hpp"

namespace twin {

// The ways data moves, as rows of a device's table of move costs.
enum class Path : std::uint8_t {
  None,
  GmToL1,
  GmToL1Nz,
  GmToUb,
  GmToL0,
  UbToGm,
  L0cToGm,
  L0cToL1,
  L1ToGm,
  L1ToL0a,
  L1ToL0b,
  L1ToBt,
  UbToUb,
  UbToL1
};
inline constexpr int kPaths = 14;
const char* name(Path path);

struct MoveCost {
  std::vector<std::pair<double, double>> points;  // bytes, cycles; between them a line
  double bytes_per_cycle = 0;                     // beyond the last
  double cycles(double bytes) const;
};

struct InstructionCost {
  std::string name;
  double per_unit = 1;     // cycles a repeat (or a unit the row names)
  double per_unit_16 = 1;  // the same for 16-bit elements
  double fixed = 0;        // cycles until the result is there, on top
};

struct Device {
  std::string name;
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> sources;  // of each number and row
  std::map<std::string, InstructionCost> costs;
  MoveCost moves[kPaths];

  double at(const std::string& key) const;                    // a number that the loader has checked to be there
  const InstructionCost& cost(const std::string& row) const;  // "Unlisted" if there is none
  double mhz() const { return at("clock_mhz"); }
};

// Parses a device file. On failure returns false and says where and why.
bool parse_devices(const std::string& text, std::map<std::string, Device>* devices, std::string* error);
const Device* find_device(const std::string& name_or_path, std::string* error);
std::vector<std::string> device_names();

}  // namespace twin
