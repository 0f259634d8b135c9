// SPDX-License-Identifier: Apache-2.0
// The kernels of the program, by how the compiler spells them: "... k<float>". Two files may each have one of a name; behind
// the spelling of a kernel in an unnamed namespace its file follows.
#pragma once

#include <string>

#include "engine.hpp"

namespace twin {

inline constexpr char kUnitFollows = '\n';

struct Registered {
  Invoke invoke[3] = {};
  InvokeByName by_name = nullptr;
};
// As register_kernel has left it.
const Registered& registered(const char* spelling);
// "k<float>" out of the spelling.
std::string kernel_name(const std::string& spelling_and_unit);
// Of a kernel's name, at the tiling key of this launch.
KernelType kernel_type(const std::string& name, const std::string& unit);

}  // namespace twin
