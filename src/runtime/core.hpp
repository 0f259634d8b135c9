// SPDX-License-Identifier: Apache-2.0
// The core that a thread runs on, and how to keep off it.
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

/// What keep_off() did to the calling thread.
struct KeptOff {
  cpu_set_t home;    // the cores it had
  cpu_set_t others;  // and those it was left with; empty: all
};
inline thread_local KeptOff t_kept_off{};

/// Whether the calling thread uses one core less than it was given, of its own accord.
inline bool is_kept_off() noexcept {
  cpu_set_t now;
  return CPU_COUNT(&t_kept_off.others) > 0 && sched_getaffinity(0, sizeof now, &now) == 0 &&
         CPU_EQUAL(&now, &t_kept_off.others);
}

/// Keeps the calling thread off `core`, and off no other, until it is called again; moves it where it runs there. False
/// where that is the only one it may use.
inline bool keep_off(int core) noexcept {
  if (core < 0 || core >= CPU_SETSIZE) return false;
  if (!is_kept_off() && sched_getaffinity(0, sizeof t_kept_off.home, &t_kept_off.home) != 0) return false;
  cpu_set_t others = t_kept_off.home;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return false;
  t_kept_off.others = others;
  return true;
}
#else
inline int current_core() noexcept { return -1; }
inline bool is_kept_off() noexcept { return false; }
inline bool keep_off(int) noexcept { return false; }
#endif

}  // namespace tessera::runtime
