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

/// What step_aside() did to the calling thread.
struct Aside {
  cpu_set_t home;    // the cores it had
  cpu_set_t others;  // and those it was left with; empty: it never stepped aside
};
inline thread_local Aside t_aside{};

/// Whether the calling thread may use one core less than it was given, of its own accord.
inline bool stepped_aside() noexcept {
  cpu_set_t now;
  return CPU_COUNT(&t_aside.others) > 0 && sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &t_aside.others);
}

/// Moves the calling thread away where it runs on `core`, and keeps it off that core for as long as it is not asked to leave
/// another one. For good, because a thread that sleeps and is woken on the core of a busy caller waits there for the next
/// ticks of the clock, 4 to 12 ms. Three system calls at the first time, else 20 ns.
inline void step_aside(int core) noexcept {
  if (core < 0 || core >= CPU_SETSIZE || current_core() != core) return;
  if (!stepped_aside() && sched_getaffinity(0, sizeof t_aside.home, &t_aside.home) != 0) return;
  cpu_set_t others = t_aside.home;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0) t_aside.others = others;
}
#else
inline int current_core() noexcept { return -1; }
inline bool stepped_aside() noexcept { return false; }
inline void step_aside(int) noexcept {}
#endif

}  // namespace tessera::runtime
