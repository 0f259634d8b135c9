// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/inputs.hpp"
#include "bench/memory.hpp"
#include "bench/statistics.hpp"
#include "bench/timing.hpp"
#include "tessera/attention.hpp"
#include "tessera/implementations.hpp"
#include "tessera/roofline.hpp"

namespace tessera::bench {
namespace {

/// Everything that one problem's repeats share.
struct Bench {
  const Plan& plan;
  const Inputs& inputs;
  const Arena& workspace;

  Result<double> time(int runs) const { return time_runs(plan, inputs, workspace, runs); }
};

/// A repeat and the samples that were taken right after it.
struct Samples {
  std::vector<double> seconds, compute_peak, memory_peak, fraction;
};

constexpr double kRepeatSeconds = 2e-3;  // a repeat lasts at least this long

Status add_pair(const Bench& bench, int runs, const Problem& problem, Samples& samples) {
  const int threads = threads_of(bench.plan);
  const auto seconds = bench.time(runs);
  if (!seconds.ok()) return seconds.status();
  const double sample_seconds = std::clamp(*seconds * runs, kShortestSample, kLongestSample);
  const auto compute = sample_compute_peak(bench.plan.implementation(), problem.dtype, threads, sample_seconds);
  if (!compute.ok()) return compute.status();
  // As many bytes as the problem has, of the very memory that it uses, so that both find the same caches.
  const double least_bytes = 2048.0 * threads;
  const double read_bytes =
      std::clamp(problem.bytes(), least_bytes, std::max(least_bytes, static_cast<double>(bench.inputs.bytes())));
  const auto memory = sample_read_rate(bench.plan.implementation(), bench.inputs.data(),
                                       static_cast<std::size_t>(read_bytes), threads, sample_seconds);
  if (!memory.ok()) return memory.status();
  samples.seconds.push_back(*seconds);
  samples.compute_peak.push_back(*compute);
  samples.memory_peak.push_back(*memory);
  samples.fraction.push_back(std::max(problem.flops() / *compute, problem.bytes() / *memory) / *seconds);
  return {};
}

std::string backend_of(std::string_view implementation) {
  for (const ImplementationInfo& info : implementations()) {
    if (info.name == implementation) return std::string(info.backend);
  }
  return "cpu";
}

Row summarise(const Bench& bench, const Problem& problem, const Samples& samples) {
  Row row;
  row.problem = problem.to_string();
  row.impl = std::string(bench.plan.implementation());
  row.backend = backend_of(row.impl);
  row.threads = threads_of(bench.plan);
  row.repeats = static_cast<int>(samples.seconds.size());
  row.median_s = median(samples.seconds);
  row.spread_s = interquartile_range(samples.seconds);
  row.flops = problem.flops();
  row.bytes = problem.bytes();
  row.flops_per_s = row.flops / row.median_s;
  row.bytes_per_s = row.bytes / row.median_s;
  row.compute_peak = median(samples.compute_peak);
  row.memory_peak = median(samples.memory_peak);
  row.roof = row.flops / row.compute_peak > row.bytes / row.memory_peak ? "compute" : "memory";
  row.roof_fraction = median(samples.fraction);
  row.workspace_bytes = static_cast<std::int64_t>(bench.plan.workspace_bytes());
  return row;
}

}  // namespace

int threads_of(const Plan& plan) noexcept { return plan.implementation() == "reference" ? 1 : plan.max_threads(); }

Result<Row> measure(const Problem& problem, const Options& options) {
  const auto begin = Clock::now();
  auto plan = tessera::plan(problem, {options.num_threads, options.implementation});
  if (!plan.ok()) return plan.status();
  auto inputs = Inputs::make(problem, problem.seed.value_or(1));
  if (!inputs.ok()) return inputs.status();
  auto workspace = Arena::make(plan->workspace_bytes());
  if (!workspace.ok()) return workspace.status();
  const Bench bench{*plan, *inputs, *workspace};

  // The first run starts threads and takes what memory there is to take.
  const PeakMemory memory;
  auto once = bench.time(1);
  if (!once.ok()) return once.status();
  const std::int64_t extra_bytes = memory.extra_bytes();
  if (*once < kRepeatSeconds) once = bench.time(3);
  if (!once.ok()) return once.status();
  const int runs = std::max(1, static_cast<int>(std::lround(kRepeatSeconds / std::max(*once, 1e-7))));

  Samples samples;
  for (int repeat = 0; repeat < options.max_repeats; ++repeat) {
    if (repeat >= options.min_repeats && seconds_since(begin) > options.seconds) break;
    if (Status status = add_pair(bench, runs, problem, samples); !status) return status;
  }
  Row row = summarise(bench, problem, samples);
  row.peak_extra_bytes = extra_bytes;
  return row;
}

}  // namespace tessera::bench
