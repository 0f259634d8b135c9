// SPDX-License-Identifier: Apache-2.0
// What every measurement of a plan shares: its clock, a run's time, and how long the samples beside it last.
#pragma once

#include <chrono>

#include "bench/inputs.hpp"
#include "tessera/attention.hpp"

namespace tessera::bench {

using Clock = std::chrono::steady_clock;

inline constexpr double kShortestSample = 3e-3, kLongestSample = 20e-3;

inline double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Seconds of one run, averaged over `runs` in a row; errors are those of `run`.
inline Result<double> time_runs(const Plan& plan, const Inputs& inputs, const Arena& workspace, int runs) {
  const auto begin = Clock::now();
  for (int i = 0; i < runs; ++i) {
    if (Status status = plan.run(inputs.tensors(), workspace.data(), plan.workspace_bytes()); !status) return status;
  }
  return seconds_since(begin) / runs;
}

}  // namespace tessera::bench
