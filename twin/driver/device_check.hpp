// SPDX-License-Identifier: Apache-2.0
// What the device compiler would refuse and a host compiler accepts. See docs/twin_device_check.md.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "llvm_text.hpp"
#include "options.hpp"
#include "unit.hpp"

namespace twincc {

struct Complaint {
  Place at;
  std::string what;
  bool fatal = true;  // the device compiler refuses it
  bool operator<(const Complaint& o) const { return at < o.at || (!(o.at < at) && what < o.what); }
};

// The call graph of the kernels: everything they reach, but the instructions of the twin's own headers.
// source_line gives the text of a line of the kernel's source, "" if it is not known. `reached` gets the symbols of those
// functions.
std::vector<Complaint> check_calls(const std::map<std::string, IrFunction>& module, const std::string& twin_headers,
                                   std::string (*source_line)(const Place&),
                                   std::map<std::string, std::set<std::string>>* reached);

// Functions of the host's library that clang makes instructions of if it may; their names for double.
const std::vector<std::string>& host_mathematics();
// "f(int)" of "_Z1fi".
std::string readable(const std::string& symbol);

// Runs clang over the unit as each kind of core sees it and prints what it finds. False if the unit must not be built.
bool device_check(const Options& o, const Unit& unit, const std::filesystem::path& source,
                  const std::vector<std::string>& flags, const std::filesystem::path& work);

}  // namespace twincc
