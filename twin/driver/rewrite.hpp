// SPDX-License-Identifier: Apache-2.0
// What twincc reads out of a kernel's source, and what it changes in it: launches become calls, each kernel is registered
// behind its body, and the compiler's own spellings of qualifiers become the twin's. Lines keep their numbers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace twincc {

struct Kernel {
  std::string name;                     // in a macro perhaps with ##
  std::string type;                     // KERNEL_TYPE_... as written or as the qualifiers say; "" if the source does not say
  std::vector<std::string> parameters;  // as declared
  bool is_template = false;
  bool defined = false;
  bool in_macro = false;      // the body of a #define
  bool unclear_type = false;  // only the preprocessor can tell: #if or a macro decides; type is then the qualifiers'
  int line = 0;
};

struct Include {
  std::string name;
  bool quoted = false;
};

struct Source {
  std::string text;  // rewritten
  std::vector<Kernel> kernels;
  std::vector<Include> includes;
  bool has_main = false;
  bool changed = false;          // text is not the source
  bool launches = false;         // <<< >>> was rewritten
  bool names_core_kind = false;  // depends on the kind of core at compile time
  bool uses_cube = false, uses_vector = false;
  bool uses_matmul = false, cube_only = false;    // the library's Matmul; only cube cores call it
  bool meets_all = false, takes_tiling = false;   // SyncAll; GET_TILING_DATA
  std::vector<std::pair<int, int>> device_lines;  // first and last of each function that is __aicore__
  // Classes, enums and aliases that it declares outside of functions and classes, and kernels: a function of the library
  // that has the same name stays undeclared. Names that it qualifies: AscendC::name.
  std::vector<std::string> own_names, qualified_names;
  std::vector<std::pair<int, double>> literals;  // lines and values
  // The words of each #define, to find those that stand for KERNEL_TASK_TYPE….
  std::map<std::string, std::set<std::string>> macros;
  bool unclear_types = false;  // of a kernel, or of the file
  std::string type;            // the KERNEL_TASK_TYPE_DEFAULT of the file, "" if none or several
  std::string error;           // "line 12: ..." if the source cannot be rewritten
};

// Never throws; any text is legal input. A kernel that uses one of these macros has its type from the preprocessor.
Source rewrite(const std::string& source, const std::set<std::string>& typing_macros = {});

// One of the KERNEL_TYPE_... of the device.
bool is_kernel_type(const std::string& word);

// The type of a launch in twin::KernelType's words, given what the file uses if the kernel does not say.
std::string engine_type(const std::string& type, bool uses_cube, bool uses_vector);

// A kernel's parameters as a function that host code calls has them: named, and pointers accept any pointer.
struct HostParameters {
  std::string declared, names;  // ", ::twin::AnyPointer x, int n" and "x, n"
};
HostParameters host_parameters(const Kernel& kernel);

}  // namespace twincc
