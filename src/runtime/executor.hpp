// SPDX-License-Identifier: Apache-2.0
// A join that every tool can see, and the check of a lent pool. The library's own is in executor_tbb.cpp.
#pragma once

#include <atomic>
#include <string>

#include "base/float_mode.hpp"
#include "base/text.hpp"
#include "tessera/executor.hpp"
#include "tessera/types.hpp"

namespace tessera::runtime {

/// A lent executor, or null.
inline Status check_executor(const Executor* executor) {
  const int concurrency = executor ? executor->concurrency() : 1;
  if (concurrency >= 1) return {};
  return Status::invalid("executor: its concurrency is " + base::number(concurrency) + "; at least 1 is needed");
}

/// Runs task(i) for i in [0, count) on the executor, in the default floating-point mode, and on the calling thread, in its
/// own mode, when count is 1. `invalid` when the executor has returned before each task has: what it should have done is
/// then missing from the results. What happens before the call is visible to each task, and what a task does is visible
/// after it. The executor promises that anyway; two atomics of our own say it to thread sanitizers that cannot look into a
/// pool they did not compile.
template <class Task>
Status parallel(Executor& executor, int count, Task& task) {
  if (count == 1) {
    task(0);
    return {};
  }
  struct Fork {
    Task& task;
    std::atomic<int> begun{0}, ended{0};
  } fork{task};
  fork.begun.store(1, std::memory_order_release);
  executor.parallel(
      count,
      [](void* context, int index) {
        const base::DefaultFloatMode mode;
        Fork& fork = *static_cast<Fork*>(context);
        (void)fork.begun.load(std::memory_order_acquire);
        fork.task(index);
        fork.ended.fetch_add(1, std::memory_order_release);
      },
      &fork);
  const int ended = fork.ended.load(std::memory_order_acquire);
  if (ended == count) return {};
  return Status::invalid("executor: its parallel returned after " + base::number(ended) + " of " + base::number(count) +
                         " tasks");
}

}  // namespace tessera::runtime
