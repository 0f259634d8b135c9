// SPDX-License-Identifier: Apache-2.0
// Lines of kernel code that are known by an address in the program only, as those of accesses through pointers are. What
// line it is says the program's debug information, which is asked (addr2line of binutils) when a report needs it.
#pragma once

#include <cstdint>
#include <string>

#include "twin/types.hpp"

namespace twin {

// pc: where a call returns to. The line of the call, or if that is in a header of the twin or of the system, of the call of
// the function there: first seen.
Site site_of_code(const void* pc);
bool is_code(const Site& site);
std::string line_of_code(const Site& site);   // "/a/kernel.asc:12"
void headers_lie_at(const char* engine_hpp);  // the twin's twin/engine.hpp as the compiler saw it

}  // namespace twin
