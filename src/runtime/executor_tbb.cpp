// SPDX-License-Identifier: Apache-2.0
// The only file that knows oneTBB, which owns the threads. Compiled without thread sanitizer, as libtbb is: threads are
// handed over by code that the sanitizer cannot see (executor.hpp has the join that it can).
//
// A run of 100 us cannot wait for a worker to wake: 3 to 30 us where a core is idle, and milliseconds where the system packs
// threads onto few cores and puts it behind its caller. So a worker that has finished looks out for the next run for a
// while, giving its core to whoever wants it, and leaves the caller's core when it finds itself there. It keeps off that
// core when it sleeps, too, so that it wakes beside its caller and not behind it: in 0.1 ms instead of 4 to 12. The caller
// always works too, and waits only for tasks that somebody has begun: with no worker about, it does them all.
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "runtime/core.hpp"
#include "runtime/executor.hpp"

namespace tessera::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kLookOut{1000};  // after the last task; bridges the other operators of a layer
constexpr int kSlots = 16;                           // runs at once that workers see; more run on their callers' threads

struct Job {
  int count;
  void (*task)(void*, int);
  void* context;
  int caller_core;
  std::atomic<int> next{0};

  bool open() const { return next.load(std::memory_order_relaxed) < count; }
  void work() {
    for (int i; (i = next.fetch_add(1, std::memory_order_acq_rel)) < count;) task(context, i);
  }
};

/// Where workers find a job, which lives on its caller's stack: who is `inside` keeps it alive.
struct alignas(64) Slot {
  std::atomic<bool> taken{false};
  std::atomic<Job*> job{nullptr};
  std::atomic<int> inside{0};
};

/// Waits a little: first without, then with giving the core away.
void relax(int round) {
  if (round < 100) {
    pause_core();
  } else {
    std::this_thread::yield();
  }
}

class TbbExecutor final : public Executor {
 public:
  int concurrency() const noexcept override { return std::min(limit_, tbb::this_task_arena::max_concurrency()); }

  void parallel(int count, void (*task)(void*, int), void* context) override {
    Job job{count, task, context, current_core()};
    Slot* slot = publish(job);
    if (slot) call_workers(count - 1);
    job.work();
    if (!slot) return;
    // Sequentially consistent, as is join(): either the worker sees that the job is gone, or the caller sees the worker.
    slot->job.store(nullptr, std::memory_order_seq_cst);
    for (int round = 0; slot->inside.load(std::memory_order_seq_cst) != 0; ++round) relax(round);
    slot->taken.store(false, std::memory_order_release);
  }

 private:
  Slot* publish(Job& job) {
    for (Slot& slot : slots_) {
      if (slot.taken.load(std::memory_order_relaxed) || slot.taken.exchange(true, std::memory_order_acquire)) continue;
      slot.job.store(&job, std::memory_order_seq_cst);
      return &slot;
    }
    return nullptr;
  }

  /// Asks for workers beyond those that are looking out already.
  void call_workers(int wanted) {
    bool called = false;
    for (int missing = wanted - idle_.load(std::memory_order_relaxed); missing > 0; --missing) {
      if (members_.fetch_add(1, std::memory_order_relaxed) >= limit_ - 1) {
        members_.fetch_sub(1, std::memory_order_relaxed);
        break;
      }
      try {
        arena_.enqueue([this] { serve(); });
        called = true;
      } catch (...) {  // out of memory: fewer workers, and the caller must not leave its job behind
        members_.fetch_sub(1, std::memory_order_relaxed);
        break;
      }
    }
    // A worker that may wake on this core goes first, and leaves it.
    if (called && kept_free_.load(std::memory_order_relaxed) != current_core()) std::this_thread::yield();
  }

  /// Works on some open job and returns its caller's core; nothing where there is none.
  std::optional<int> join() {
    for (Slot& slot : slots_) {
      if (slot.job.load(std::memory_order_relaxed) == nullptr) continue;
      slot.inside.fetch_add(1, std::memory_order_seq_cst);
      Job* job = slot.job.load(std::memory_order_seq_cst);
      std::optional<int> caller_core;
      if (job && job->open()) {
        caller_core = job->caller_core;
        if (current_core() == *caller_core) keep_off(*caller_core);
        idle_.fetch_sub(1, std::memory_order_relaxed);
        job->work();
        idle_.fetch_add(1, std::memory_order_relaxed);
      }
      slot.inside.fetch_sub(1, std::memory_order_seq_cst);
      if (caller_core) return caller_core;
    }
    return std::nullopt;
  }

  void serve() {
    idle_.fetch_add(1, std::memory_order_relaxed);
    Clock::time_point last = Clock::now();
    int caller_core = -1;
    for (int round = 0;; ++round) {
      if (const std::optional<int> core = join()) {
        caller_core = *core;
        last = Clock::now();
        round = 0;
      } else if (round % 16 == 15 && Clock::now() - last > kLookOut) {
        break;
      }
      relax(round);
    }
    if (keep_off(caller_core)) kept_free_.store(caller_core, std::memory_order_relaxed);
    idle_.fetch_sub(1, std::memory_order_relaxed);
    members_.fetch_sub(1, std::memory_order_relaxed);
  }

  const int limit_ = tbb::info::default_concurrency();
  tbb::task_arena arena_{limit_, 1};
  alignas(64) std::atomic<int> idle_{0};     // workers that look out
  alignas(64) std::atomic<int> members_{0};  // workers asked for and not gone, fewer than limit_
  std::atomic<int> kept_free_{-1};           // the core that workers kept off when they last went to sleep
  Slot slots_[kSlots];
};

}  // namespace
}  // namespace tessera::runtime

namespace tessera {

// Of oneTBB's pool, which a process has once, so that runs inside a program's own oneTBB tasks add no threads.
Executor& default_executor() {
  // Never destroyed: a worker may look out for another millisecond when the process ends.
  static auto* executor = new runtime::TbbExecutor;
  return *executor;
}

// Made when the library is loaded: a run allocates nothing, and oneTBB's own start, which looks for ever if memory is
// refused in the midst of it, is not inside a call.
[[maybe_unused]] static const Executor& kMadeAtLoad = default_executor();

}  // namespace tessera
