// SPDX-License-Identifier: Apache-2.0
// Modes of the benchmark binary.
#pragma once

#include <cstdio>

#include "tessera/problem.hpp"
#include "tessera/types.hpp"

namespace tessera::bench {

struct Latency {
  double median_s = 0, spread_s = 0;
};

/// Seconds of one call of `plan`.
Result<Latency> measure_plan(const Problem& problem, int num_threads);

/// Answers requests until the input ends; returns the exit code.
int serve(std::FILE* in, std::FILE* out);

}  // namespace tessera::bench
