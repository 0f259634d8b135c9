// SPDX-License-Identifier: Apache-2.0
// Attention the unfused way, for comparison: S = scale Q K^T for all heads in memory, softmax over its rows, O = P V.
// Each step is a vectorised, cache-blocked, threaded pass in float32; what it lacks is the fusion.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/attend_input.hpp"

namespace tessera::cli {

/// Empty, or why the three steps do not cover this problem (they know dense tensors, causal, window and scale).
std::string unfused_refusal(const Problem& problem);

struct UnfusedAnswer {
  std::vector<float> o;         // packed as q
  std::vector<double> seconds;  // of each repeat
  double score_bytes = 0;       // the score matrix of all heads
  double extra_bytes = 0;       // all memory beyond inputs and output
};

/// Runs until `budget_seconds` are spent, at least once and at most `max_repeats` times. Throws Failure.
UnfusedAnswer run_unfused(const AttendInput& input, int threads, int max_repeats, double budget_seconds);

}  // namespace tessera::cli
