// SPDX-License-Identifier: Apache-2.0
// The library's changes of layout, as one step of the vector pipe. See twin/calls_library.hpp.
#pragma once

#include "twin/calls_library.hpp"

namespace twin {

// Where an element of a tensor of five axes lies: the sum over its axes of (i / split) · outer + (i mod split) · inner.
struct AxisLayout {
  std::uint64_t outer = 0, inner = 0;
  std::uint32_t split = 1;
};
struct TensorLayout {
  AxisLayout axis[5];
  std::uint64_t elements = 0;  // with its padding
};

// Each element moves from its place in one layout to that in another; what pads the destination is left undefined.
struct LibraryLayout {
  const char* name = "";
  View dst, src;
  MaybeView work;
  std::uint32_t count[5] = {};
  TensorLayout to, from;
  const char* wrong = nullptr;  // what is wrong with the call, and
  const char* fix = "";
};
void library_layout(const LibraryLayout& call, Site site);

}  // namespace twin
