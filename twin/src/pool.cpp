// SPDX-License-Identifier: Apache-2.0
// Parts of a core's memory that pools hand out, and what is left when the buffers are placed.
#include "engine.hpp"

namespace twin {

void pool_enter(Space space, std::uint64_t next) {
  Core& c = core();
  c.outside_pool[int(space)] = c.allocated[int(space)];
  c.allocated[int(space)] = next;
}

std::uint64_t pool_leave(Space space, std::uint64_t end, Site site) {
  Core& c = core();
  const std::uint64_t next = c.allocated[int(space)];
  c.allocated[int(space)] = c.outside_pool[int(space)];
  if (next > end) {
    report({Kind::Capacity,
            format("InitBuffer in a pool: its buffers would end at 0x%llx of %s, the pool ends at 0x%llx",
                   static_cast<unsigned long long>(next), name(space), static_cast<unsigned long long>(end)),
            to_string(site), "", c.label(), "", "", hex_range(name(space), end, next),
            "give InitBufPool more bytes, or use smaller or fewer buffers"});
  }
  return next;
}

View pipe_rest(Space space, Site site) {
  Core& c = core();
  View v;
  v.space = space;
  v.addr = c.allocated[int(space)];
  // The last 8 KB of UB belong to Select and others.
  const std::uint64_t capacity = c.memory[int(space)].bytes - (space == Space::UB ? 8192 : 0);
  v.bytes = capacity > v.addr ? (capacity - v.addr) / 32 * 32 : 0;
  v.tensor = declare_tensor("PopStackBuffer", space, Maker::Static, v.addr, v.bytes, site);
  return v;
}

}  // namespace twin
