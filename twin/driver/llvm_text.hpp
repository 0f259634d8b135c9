// SPDX-License-Identifier: Apache-2.0
// As much of LLVM's textual form as a call graph with source lines needs: the functions of a module, what each refers to,
// and where. Works with typed and opaque pointers (clang 14 to 20); any text is legal input.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace twincc {

struct Place {
  std::string file;
  int line = 0;
  bool operator<(const Place& o) const { return file != o.file ? file < o.file : line < o.line; }
};

struct Reference {
  std::string symbol;
  Place at;
};

struct IrFunction {
  std::string symbol;
  Place at;
  bool defined = false;
  bool artificial = false;               // made by the compiler: implicit constructors and the like
  bool kernel = false, aicore = false;   // its marks, twin/qualifiers.hpp
  std::vector<Reference> references;     // calls, and functions and globals named otherwise
  std::vector<Place> doubles;            // instructions on double or long double
  std::vector<std::string> tiling_keys;  // of TILING_KEY_IS; "" for one that is no constant
};

// What TILING_KEY_IS calls in a module made for the check.
inline constexpr char kIsTilingKey[] = "_ZN4twin13is_tiling_keyEy";
// The module as it is for one tiling key. Leaves a text that does not ask for keys as it is.
std::string with_tiling_key(const std::string& text, const std::string& key);

std::map<std::string, IrFunction> read_module(const std::string& text);

}  // namespace twincc
