// SPDX-License-Identifier: Apache-2.0
// Pad and UnPad of the library, as plain descriptions. See twin/calls_library.hpp.
#pragma once

#include "twin/calls.hpp"

namespace twin {

struct LibraryPad {
  View dst, src;
  bool has_work = false;
  View work{};
  std::uint32_t rows = 0, columns = 0;
  std::uint32_t used = 0;  // Pad: columns with values
  std::uint32_t left = 0, right = 0;
  std::uint64_t value = 0;  // bits of an element
};
// Rows of the source get a value at their ends, and blocks of 32 bytes to themselves.
void library_pad(const LibraryPad& call, Site site);
// Rows that fill blocks lose their last columns, and lie one after another.
void library_unpad(const LibraryPad& call, Site site);

}  // namespace twin
