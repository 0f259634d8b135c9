// SPDX-License-Identifier: Apache-2.0
// Orders keys of 64 bits, all different, the largest first. The upper half decides, the lower one is the place it came from.
#pragma once

#include <cstdint>
#include <vector>

namespace twin {

void sort_groups(std::vector<std::uint64_t>& keys);      // each 32 of them
void sort_descending(std::vector<std::uint64_t>& keys);  // all; they come with their places in order

}  // namespace twin
