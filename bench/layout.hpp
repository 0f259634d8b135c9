// SPDX-License-Identifier: Apache-2.0
// How fast the rows of K and V can be read where a problem's layout puts them: the ceiling of any decode kernel, below the
// sequential read that is its roof.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/inputs.hpp"
#include "bench/measure.hpp"

namespace tessera::bench {

/// Whole cache lines [begin, end).
struct Lines {
  const std::byte *begin, *end;
};

/// In which order rows are read. A block is a page, or 32 keys where pages are smaller or there are none.
enum class RowOrder {
  heads,   // block by block, head by head: 32 rows of K, 32 of V
  tiles,   // 32 keys by 32: K of all heads in the order of addresses, then V
  blocks,  // 128 keys or a page at a time: the same
  caches,  // all of K in the order of keys, then all of V
};
const char* name_of(RowOrder order) noexcept;

/// The lines of K and V that thread `thread` of `num_threads` reads, in order; each line of the problem's keys is in one
/// thread's list, once if rows are whole lines.
std::vector<Lines> lines_to_read(const Problem& problem, const Inputs& inputs, RowOrder order, int thread, int num_threads);

/// One way of reading: bytes ahead at which lines are prefetched, a second time nearer; 0: not.
struct Reading {
  RowOrder order;
  int far_bytes, near_bytes;
  double roof_fraction = 0;  // of the sequential read in the same round, median
};

struct LayoutRates {
  std::string problem, impl;
  int threads = 1, rounds = 0;
  double bytes = 0, memory_peak = 0;  // of K and V; bytes/s
  std::vector<Reading> readings;      // the fastest first
  double kernel_fraction = 0;         // the library's run in the same rounds: its bytes of K and V over the same read
};

/// Measures every reading and the library in turn, each against a sequential read right after it. Errors: those of `plan`
/// and `run`; unsupported where the problem does not read all of its keys (a window, more queries than a decode has).
Result<LayoutRates> measure_layout(const Problem& problem, const Options& options);

std::string render(const LayoutRates& rates, bool json);

}  // namespace tessera::bench
