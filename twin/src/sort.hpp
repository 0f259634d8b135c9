// SPDX-License-Identifier: Apache-2.0
// Orders, the largest first and equal ones as they came.
#pragma once

#include <cstdint>
#include <vector>

namespace twin {

// The place of each score in its group of 32. No score is the least integer.
void places_in_groups(const std::int32_t* scores, std::uint32_t* places, std::size_t n);
// Keys of 64 bits: the upper half decides, the lower one is the place it came from.
void sort_descending(std::vector<std::uint64_t>& keys);

}  // namespace twin
