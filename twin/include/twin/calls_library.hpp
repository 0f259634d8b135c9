// SPDX-License-Identifier: Apache-2.0
// What the library builds from many instructions, as one step each of the vector pipe: its own order inside, a barrier
// behind.
#pragma once

#include "twin/calls.hpp"

namespace twin {

// dst[i] = f(sources at i): rounded to dst's type; integers to nearest and kept inside.
struct LibraryMap {
  const char* name;
  View dst, src[3];
  int sources = 1;
  const View* work = nullptr;  // left undefined
  std::uint32_t count = 0;
  int passes = 1;
  double scalar = 0;
  double (*value)(const double* x, double scalar) = nullptr;
};
void library_map(const LibraryMap& call, Site site);

// The source as (outer, middle, inner): the middle dimension is reduced, its first `used` elements. dst: (outer, inner).
enum class Fold : std::uint8_t { Sum, Mean, Max, Min, Prod, Any, All };
struct LibraryFold {
  const char* name;
  Fold fold;
  View dst, src;
  const View* work = nullptr;
  std::uint32_t outer = 1, middle = 1, inner = 1, used = 1;
  std::uint32_t middle_step = 1, outer_step = 1;  // elements of the source, padding included
};
void library_fold(const LibraryFold& call, Site site);

// dst of dst_shape repeats src along the dimensions in which src has 1.
void library_broadcast(const View& dst, const View& src, const View* work, const std::uint32_t* dst_shape,
                       const std::uint32_t* src_shape, int dims, Site site);

}  // namespace twin
