// SPDX-License-Identifier: Apache-2.0
// Special registers of the vector unit, and tensors from bare pointers.
#include <algorithm>

#include "engine.hpp"
#include "twin/calls_vector.hpp"

namespace twin {

View local_view(const void* pointer, DType dtype, Site site) {
  Core& c = core();
  const auto* const p = static_cast<const std::uint8_t*>(pointer);
  for (int s = 0; s < kSpaces; ++s) {
    const Memory& m = c.memory[s];
    if (Space(s) == Space::GM || !m.bytes || p < m.data || p >= m.data + m.bytes) continue;
    View v;
    v.space = Space(s);
    v.dtype = dtype;
    v.addr = static_cast<std::uint64_t>(p - m.data);
    v.bytes = m.bytes - v.addr;
    return v;
  }
  report({Kind::OutOfBounds, "an address that lies in no local memory of this core", to_string(site), "", c.label(), "", "",
          "", "take it from GetPhyAddr of a tensor of this core"});
  View nothing;
  nothing.dtype = dtype;
  nothing.addr = c.memory[int(Space::UB)].bytes;  // every access is found outside
  nothing.bytes = 0;
  return nothing;
}

View local_view(Space space, const void* pointer, DType dtype, Site site) {
  const Memory& m = core().memory[int(space)];
  const auto number = reinterpret_cast<std::uint64_t>(pointer);
  return local_view(number < m.bytes ? m.data + number : pointer, dtype, site);
}

std::uint64_t ub_offset(std::uint32_t address) {
  const Memory& ub = core().memory[int(Space::UB)];
  const std::uint32_t from_begin = address - static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(ub.data));
  return from_begin < ub.bytes ? from_begin : address;
}
View ub_view(std::uint32_t address, DType dtype) {
  const Memory& ub = core().memory[int(Space::UB)];
  View v;
  v.space = Space::UB;
  v.dtype = dtype;
  v.addr = std::min<std::uint64_t>(ub_offset(address), ub.bytes);
  v.bytes = ub.bytes - v.addr;
  return v;
}

}  // namespace twin
