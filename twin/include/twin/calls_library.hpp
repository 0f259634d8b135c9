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
  MaybeView work;  // left undefined
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
  MaybeView work;
  std::uint32_t outer = 1, middle = 1, inner = 1, used = 1;
  std::uint32_t middle_step = 1, outer_step = 1;  // elements of the source, padding included
};
void library_fold(const LibraryFold& call, Site site);

// Rows of `columns` elements; a byte (or any integer) each chooses between the source and the scalar. The mask's rows hold
// mask_columns of them.
struct LibraryChoice {
  View dst, src, mask;
  MaybeView work;
  std::uint64_t scalar;
  bool scalar_where_zero;
  std::uint32_t rows, columns, mask_columns;
};
void library_choose(const LibraryChoice& call, Site site);
void library_running_sum(const View& dst, const MaybeView& last_row, const View& src, const MaybeView& work,
                         std::uint32_t rows, std::uint32_t columns, bool along_rows, Site site);

// dst of dst_shape repeats src along the dimensions in which src has 1.
void library_broadcast(const View& dst, const View& src, const MaybeView& work, const std::uint32_t* dst_shape,
                       const std::uint32_t* src_shape, int dims, Site site);

// Rows of `columns` elements, of which the first `used` count. sum, max and the factor hold 32 bytes a row, all of one
// value.
//   Whole    max, sum of exp(x − max), dst = exp(x − max) / sum
//   Given    dst = exp(x − max) / sum with the max and sum of the caller
//   Flash    as Whole, but dst is not divided
//   Update   max over old and new, factor = exp(old max − max), sum = factor · old sum + the new one, dst not divided
//   DividedUpdate  the same max and sum; dst divided, factor = exp(old max − max) · old sum / sum
//   Log      as Whole, then dst = log10(dst)
struct LibrarySoftmax {
  enum Mode : std::uint8_t { Whole, Given, Flash, Update, DividedUpdate, Log } mode = Whole;
  const char* name = "SoftMax";
  View dst, src;
  MaybeView sum, max, factor, old_sum, old_max, work;
  std::uint32_t rows = 0, columns = 0, used = 0;
  bool nz = false;  // columns of 16 elements, each `rows` high
};
void library_softmax(const LibrarySoftmax& call, Site site);

}  // namespace twin
