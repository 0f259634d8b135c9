// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <vector>

#include "bench/modes.hpp"
#include "bench/statistics.hpp"
#include "tessera/attention.hpp"

namespace tessera::bench {

Result<Latency> measure_plan(const Problem& problem, int num_threads) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRepeats = 501;
  std::vector<double> seconds;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto begin = Clock::now();
    const auto plan = tessera::plan(problem, {num_threads, {}});
    const auto end = Clock::now();
    if (!plan.ok()) return plan.status();
    seconds.push_back(std::chrono::duration<double>(end - begin).count());
  }
  return Latency{median(seconds), interquartile_range(seconds)};
}

}  // namespace tessera::bench
