// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/float_mode.hpp"
#include "base/refused.hpp"
#include "base/text.hpp"
#include "reference/reference.hpp"
#include "runtime/cpu/machine.hpp"
#include "runtime/executor.hpp"
#include "runtime/plan_impl.hpp"

namespace tessera {
namespace {

using runtime::Candidate;

constexpr int kMaxThreads = 4096;

/// Ok, or the one reason why the candidate does not take impl.problem.
Status try_candidate(const Candidate& candidate, Plan::Impl& impl) {
  if (!candidate.info.available) return Status::unsupported(std::string(candidate.info.reason));
  impl.candidate = &candidate;
  return candidate.table ? runtime::plan_cpu_kernels(*candidate.table, impl) : Status{};
}

Status choose(const Candidate* forced, Plan::Impl& impl) {
  for (const Candidate& candidate : runtime::candidates()) {
    if (forced && forced != &candidate) continue;
    Status status = try_candidate(candidate, impl);
    if (status.ok() || status.code() != StatusCode::unsupported) return status;
    if (forced)
      return Status::unsupported("implementation: \"" + std::string(candidate.info.name) + "\": " + status.message());
    impl.refusals.push_back({&candidate, status.message()});
  }
  return Status::unsupported("no implementation takes " + impl.problem.to_string());
}

Status check_run(const Plan::Impl& impl, const void* workspace, std::size_t workspace_bytes, const RunOptions& options) {
  using base::number;
  if (options.num_threads < 0 || options.num_threads > impl.max_threads) {
    return Status::invalid("num_threads: " + number(options.num_threads) + " is not in [0, " + number(impl.max_threads) +
                           "], the plan's max_threads");
  }
  if (Status status = runtime::check_executor(options.executor); !status) return status;
  if (impl.layout.bytes == 0) return {};
  if (workspace == nullptr) return Status::invalid("workspace: null; " + number(impl.layout.bytes) + " bytes are needed");
  if (reinterpret_cast<std::uintptr_t>(workspace) % kWorkspaceAlignment != 0) {
    return Status::invalid("workspace: its address is " +
                           number(reinterpret_cast<std::uintptr_t>(workspace) % kWorkspaceAlignment) +
                           " bytes past a multiple of " + number(kWorkspaceAlignment));
  }
  if (workspace_bytes < impl.layout.bytes) {
    return Status::invalid("workspace_bytes: " + number(workspace_bytes) + "; " + number(impl.layout.bytes) + " are needed");
  }
  return {};
}

/// What a plan of `p` holds: its lengths once more, and a row for each sequence.
std::size_t plan_bytes(const Problem& p) noexcept {
  const std::size_t lengths = p.cu_seqlens_q.size() + p.cu_seqlens_kv.size() + p.seqlens_kv.size();
  return lengths * sizeof(std::int32_t) + static_cast<std::size_t>(p.batch) * sizeof(planner::SequencePlan);
}

Status plan_refused(const Problem& p) noexcept {
  return base::refused([&] {
    return "plan: memory was refused; a batch of " + base::number(p.batch) + " takes " + base::number(plan_bytes(p)) +
           " bytes";
  });
}

/// Null where it is refused.
void* new_workspace(std::size_t bytes) noexcept try {
  return ::operator new (bytes, std::align_val_t{kWorkspaceAlignment});
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace

Result<Plan> plan(const Problem& problem, const PlanOptions& options) try {
  const base::DefaultFloatMode mode;
  if (Status status = problem.validate(); !status) return status;
  if (options.max_threads < 0 || options.max_threads > kMaxThreads) {
    return Status::invalid("max_threads: " + base::number(options.max_threads) + " is not in [0, " +
                           base::number(kMaxThreads) + "]");
  }
  const auto forced = runtime::forced_candidate(options.implementation);
  if (!forced) return forced.status();
  auto impl = std::make_shared<Plan::Impl>();
  impl->problem = problem;
  impl->max_threads = options.max_threads > 0 ? options.max_threads : std::min(runtime::detect_machine().cores, kMaxThreads);
  if (Status status = choose(*forced, *impl); !status) return status;
  return Plan(std::move(impl));
} catch (const std::bad_alloc&) {
  return plan_refused(problem);
}

const Problem& Plan::problem() const noexcept { return impl_->problem; }
std::string_view Plan::implementation() const noexcept { return impl_->candidate->info.name; }
int Plan::max_threads() const noexcept { return impl_->max_threads; }
std::size_t Plan::workspace_bytes() const noexcept { return impl_->layout.bytes; }
std::string Plan::explain() const { return runtime::explain(*impl_); }
std::string Plan::explain_json() const { return runtime::explain_json(*impl_); }

Status Plan::run(const AttentionTensors& tensors, void* workspace, std::size_t workspace_bytes,
                 const RunOptions& options) const try {
  const base::DefaultFloatMode mode;
  const Impl& impl = *impl_;
  if (Status status = check_run(impl, workspace, workspace_bytes, options); !status) return status;
  if (Status status = runtime::check_tensors(impl.problem, tensors, workspace, impl.layout.bytes); !status) return status;
  if (!impl.candidate->table) return reference::run(impl.problem, tensors);
  const int threads = options.num_threads > 0 ? options.num_threads : impl.max_threads;
  return runtime::run_cpu_kernels(impl, tensors, static_cast<std::byte*>(workspace), threads, options);
} catch (const std::bad_alloc&) {
  return base::refused("run");
}

Status attention(const Problem& problem, const AttentionTensors& tensors, const PlanOptions& options) try {
  const auto planned = plan(problem, options);
  if (!planned) return planned.status();
  const std::size_t bytes = planned->workspace_bytes();
  const auto release = [](void* p) { ::operator delete (p, std::align_val_t{kWorkspaceAlignment}); };
  const std::unique_ptr<void, decltype(release)> workspace(bytes > 0 ? new_workspace(bytes) : nullptr, release);
  if (bytes > 0 && !workspace)
    return base::refused([&] { return "workspace: " + base::number(bytes) + " bytes were refused"; });
  return planned->run(tensors, workspace.get(), bytes);
} catch (const std::bad_alloc&) {
  return plan_refused(problem);
}

Status accepts(std::string_view implementation, const Problem& problem) try {
  const auto found = runtime::find_candidate(implementation, "implementation");
  if (!found) return found.status();
  if (Status status = problem.validate(); !status) return status;
  Plan::Impl impl;
  impl.problem = problem;
  return try_candidate(**found, impl);
} catch (const std::bad_alloc&) {
  return plan_refused(problem);
}

}  // namespace tessera
