// SPDX-License-Identifier: Apache-2.0
// Times one problem against the roof of this machine: the peaks are sampled in turn with the repeats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/attention.hpp"
#include "tessera/problem.hpp"
#include "tessera/types.hpp"

namespace tessera::bench {

struct Options {
  std::string_view implementation;  // empty: as `plan` chooses
  int num_threads = 0;              // 0: every core the process may use
  double seconds = 2;               // budget of one problem; the least number of repeats may exceed it
  int min_repeats = 7;
  int max_repeats = 200;
};

/// One measurement; docs/file_formats.md has a line for each field.
struct Row {
  std::string problem, backend, impl;
  int threads = 1;
  bool modelled = false;
  int repeats = 0;
  double median_s = 0, spread_s = 0;  // spread: interquartile range
  double flops = 0, bytes = 0;        // useful work of the problem
  double flops_per_s = 0, bytes_per_s = 0;
  double compute_peak = 0, memory_peak = 0;  // medians of the samples
  std::string roof;                          // "compute" or "memory": which floor is the higher one
  double roof_fraction = 0;  // median over the repeats of max(flops / compute_peak, bytes / memory_peak) / seconds
  std::int64_t workspace_bytes = 0, peak_extra_bytes = 0;
};

/// Threads that a run of `plan` uses: the reference stays on the calling one, however many are allowed.
int threads_of(const Plan& plan) noexcept;

/// Runs `problem` on seeded normal data until the budget is spent. A problem of a few microseconds is run many times a
/// repeat. Errors are those of `plan` and `run`.
Result<Row> measure(const Problem& problem, const Options& options);

}  // namespace tessera::bench
