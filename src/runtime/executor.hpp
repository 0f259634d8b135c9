// SPDX-License-Identifier: Apache-2.0
// The library's own pool, and a join that every tool can see.
#pragma once

#include <atomic>

#include "base/float_mode.hpp"
#include "tessera/executor.hpp"

namespace tessera::runtime {

/// Threads of oneTBB's pool, which a process has once, so that runs inside a program's own oneTBB tasks add none. May throw
/// std::bad_alloc at the first call.
Executor& default_executor();

/// Runs task(i) for i in [0, count) on the executor, in the default floating-point mode, and on the calling thread, in its
/// own mode, when count is 1.
/// What happens before the call is visible to each task, and what a task does is visible after it. The executor promises
/// that anyway; two atomics of our own say it to thread sanitizers that cannot look into a pool they did not compile.
template <class Task>
void parallel(Executor& executor, int count, Task& task) {
  if (count == 1) {
    task(0);
    return;
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
  (void)fork.ended.load(std::memory_order_acquire);
}

}  // namespace tessera::runtime
