// SPDX-License-Identifier: Apache-2.0
// What twincc reads out of a kernel's source, and what it changes in it: launches, nothing else. Lines keep their numbers.
#pragma once

#include <string>
#include <vector>

namespace twincc {

struct Kernel {
  std::string name;
  std::string type;                     // KERNEL_TYPE_... as written or as the qualifiers say; "" if the source does not say
  std::vector<std::string> parameters;  // as declared
  bool is_template = false;
  bool defined = false;
  int line = 0;
};

struct Source {
  std::string text;  // rewritten
  std::vector<Kernel> kernels;
  std::vector<std::string> quoted_includes;
  bool has_main = false;
  bool launches = false;         // <<< >>> was rewritten
  bool names_core_kind = false;  // depends on the kind of core at compile time
  bool uses_cube = false, uses_vector = false;
  std::string error;  // "line 12: ..." if the source cannot be rewritten
};

// Never throws; any text is legal input.
Source rewrite(const std::string& source);

// The type of a launch in twin::KernelType's words, given what the file uses if the kernel does not say.
std::string engine_type(const std::string& type, bool uses_cube, bool uses_vector);

// The name a parameter declares, "" if none; and the declaration with pointers made to accept any pointer.
std::string parameter_name(const std::string& parameter);
std::string host_parameter(const std::string& parameter);

}  // namespace twincc
