// SPDX-License-Identifier: Apache-2.0
// What scalar accesses share, through a tensor (scalar.cpp) and through a pointer (pointers.cpp).
#pragma once

#include "engine.hpp"

namespace twin {

// How often the core has read this address without doing anything else: a loop that waits for another core.
void note_poll(std::uint64_t address, std::uint32_t site);
void yield_now_and_then();
// The allocation that holds the address, and where in it; null if there is none.
Memory* gm_at(std::uint64_t address, std::uint64_t* at);

}  // namespace twin
