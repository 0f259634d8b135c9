// SPDX-License-Identifier: Apache-2.0
// Accesses of GM through plain pointers. The compiler is told to announce every load and store (gm_callbacks.cpp); those
// that meet GM go through the scalar unit and its data cache, as GetValue and SetValue do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace twin {

struct PointerAccess {
  std::uintptr_t address;
  std::size_t bytes;
  bool write;
  bool any_alignment;  // the type says so, or it is a copy of many bytes: the compiler makes of it what is aligned
  const void* code;    // where the call returns to that announces it
};
// Before it is done. Of a kernel, or of the host, which has no business there.
void pointer_access(const PointerAccess& access);

}  // namespace twin
