// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cpu/kernels/trace_lane.hpp"
#include "tessera/trace.hpp"

namespace tessera::runtime {

/// The lane of one thread; `thread` is below the recorder's num_threads.
cpu::TraceLane* lane_of(TraceRecorder& recorder, int thread) noexcept;

/// After a run: turns the ticks of new events into nanoseconds since the recorder was made.
void settle(TraceRecorder& recorder) noexcept;

}  // namespace tessera::runtime
