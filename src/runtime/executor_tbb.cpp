// SPDX-License-Identifier: Apache-2.0
// The only file that knows oneTBB. Compiled without thread sanitizer, as libtbb is: its tasks are handed from thread to
// thread by code that the sanitizer cannot see (executor.hpp has the join that it can).
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "runtime/executor.hpp"

namespace tessera::runtime {
namespace {

class TbbExecutor final : public Executor {
 public:
  int concurrency() const noexcept override { return tbb::this_task_arena::max_concurrency(); }

  void parallel(int count, void (*task)(void*, int), void* context) override {
    // Isolated: while it waits, the caller takes up our tasks only, never an outer one that could take long.
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(
          0, count, 1, [=](int index) { task(context, index); }, tbb::simple_partitioner{});
    });
  }
};

}  // namespace

Executor& default_executor() noexcept {
  static TbbExecutor executor;
  return executor;
}

}  // namespace tessera::runtime
