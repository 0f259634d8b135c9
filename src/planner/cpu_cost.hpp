// SPDX-License-Identifier: Apache-2.0
// The cost model of the CPU planner: seconds from flops, bytes and a machine's rates. See docs/planner.md for its fit.
#pragma once

#include "planner/cpu_plan.hpp"

namespace tessera::planner {

/// Flops and bytes of the problem, and the seconds of one thread.
void estimate(const Problem& problem, const CpuModel& model, CpuPlan& plan);

/// Seconds on `threads` threads: the larger of compute and memory, plus fork and join.
double predict(const Problem& problem, const CpuModel& model, const CpuPlan& plan, int threads) noexcept;

/// The number of threads up to max_threads that predict() likes best; the smaller one of equals.
int choose_threads(const Problem& problem, const CpuModel& model, int max_threads, const CpuPlan& plan) noexcept;

/// Seconds of the costliest item of a sequence.
double costliest_item(const Problem& problem, const CpuModel& model, const CpuPlan& plan, const SequencePlan& s) noexcept;

/// What bounds the run on `threads` threads: "compute", "L2", "L3", "DRAM" or "overhead".
const char* bound(const Problem& problem, const CpuModel& model, const CpuPlan& plan, int threads) noexcept;

}  // namespace tessera::planner
