// SPDX-License-Identifier: Apache-2.0
// What a kernel sees of a trace: one lane a thread, filled without calls and without allocation.
//
//   std::int64_t t = trace_begin(lane);
//   pack(...);
//   t = trace_end(lane, TraceStage::pack, item.index, t);  // records [t, now) and returns now
//   ...
//
// An event costs one read of the cycle counter and one 24-byte store, about 10 ns; with a null lane, one test. Kernels are
// compiled once an ISA, so there is nothing of the standard library here, and each function is inlined.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tessera/trace_event.hpp"

namespace tessera::cpu {

/// Events of one thread of one run, with times in ticks; the runtime turns them into nanoseconds afterwards.
class TraceLane {
 public:
  TraceEvent* events = nullptr;
  std::size_t size = 0;
  std::size_t capacity = 0;
  std::size_t dropped = 0;
};

std::int64_t monotonic_ns();  // about 30 ns

static inline __attribute__((always_inline)) std::int64_t trace_ticks() {
#if defined(__x86_64__)
  return static_cast<std::int64_t>(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
  std::int64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return monotonic_ns();
#endif
}

static inline __attribute__((always_inline)) std::int64_t trace_begin(const TraceLane* lane) {
  return lane ? trace_ticks() : 0;
}

static inline __attribute__((always_inline)) std::int64_t trace_end(TraceLane* lane, TraceStage stage, std::int32_t item,
                                                                    std::int64_t begin) {
  if (!lane) return 0;
  const std::int64_t now = trace_ticks();
  if (lane->size < lane->capacity) {
    lane->events[lane->size++] = {begin, now, item, stage};
  } else {
    ++lane->dropped;
  }
  return now;
}

}  // namespace tessera::cpu
