// SPDX-License-Identifier: Apache-2.0
// What a Plan holds. Immutable once made, so any number of runs may read it at once.
#pragma once

#include <string>
#include <vector>

#include "planner/cpu_plan.hpp"
#include "runtime/candidates.hpp"
#include "tessera/attention.hpp"

namespace tessera {

struct Plan::Impl {
  Problem problem;
  const runtime::Candidate* candidate = nullptr;
  int max_threads = 1;

  struct Refusal {
    const runtime::Candidate* candidate;
    std::string reason;
  };
  std::vector<Refusal> refusals;  // of better candidates

  // CPU kernels only.
  planner::CpuModel model;
  planner::CpuPlan cpu;
  planner::WorkspaceLayout layout;
  cpu::RunConstants constants{};  // but for what a run brings
};

namespace runtime {

/// Cuts the problem for the kernels of a table; or the one reason why they do not take it.
Status plan_cpu_kernels(const cpu::KernelTable& table, Plan::Impl& impl);

/// Items, then merges. Everything is checked already.
Status run_cpu_kernels(const Plan::Impl& impl, const AttentionTensors& tensors, std::byte* workspace, int threads,
                       const RunOptions& options);

/// Pointers, strides, block table and options against the problem, and the workspace that is used against all of them; ok,
/// or what is wrong with the first bad one.
Status check_tensors(const Problem& problem, const AttentionTensors& tensors, const void* workspace,
                     std::size_t workspace_bytes);

/// The table that Plan::explain prints, and the same as a JSON object.
std::string explain(const Plan::Impl& impl);
std::string explain_json(const Plan::Impl& impl);

}  // namespace runtime
}  // namespace tessera
