// SPDX-License-Identifier: Apache-2.0
// What a thread gets of a memory that it shares. Inlined everywhere, as all that kernels of several ISAs use.
#pragma once

#include "cpu/kernels/kernel.hpp"
#include "cpu/kernels/trace_lane.hpp"

namespace tessera::cpu {

/// Whether threads wait for one another's memory. Then its own order is worth more than what it costs in instructions: two
/// threads that share 52 GB/s read a token-major cache at 0.82 instead of 0.74 of that, two that share 85 at 0.64 instead of
/// 0.73. A host may give the one or the other from one second to the next, so it goes by what this thread has got lately.
class Crowd {
 public:
  __attribute__((always_inline)) explicit Crowd(const RunConstants& constants)
      : possible_(constants.kv_source == KvSource::shared_memory), bytes_per_s_(constants.crowded_bytes_per_s) {}

  __attribute__((always_inline)) bool now() const { return now_; }

  /// After a step that read so many bytes.
  __attribute__((always_inline)) void read(std::int64_t bytes) {
    if (!possible_) return;
    bytes_ += bytes;
    if (++steps_ % kSteps != 1) return;
    const std::int64_t ns = monotonic_ns();
    if (steps_ > 1) now_ = static_cast<float>(bytes_) * 1e9f < static_cast<float>(ns - since_) * bytes_per_s_;
    since_ = ns, bytes_ = 0;
  }

 private:
  static constexpr int kSteps = 4;  // about 25 us

  bool possible_, now_ = false;
  float bytes_per_s_;
  int steps_ = 0;
  std::int64_t bytes_ = 0, since_ = 0;
};

}  // namespace tessera::cpu
