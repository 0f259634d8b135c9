// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace tessera {
namespace {

std::int64_t clock_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Nanoseconds a tick, measured once over 2 ms: reading both clocks takes 50 ns, so it is right to 1 in 40,000.
double ns_per_tick() noexcept {
  static const double ratio = [] {
    const std::int64_t ns = clock_ns(), ticks = cpu::trace_ticks();
    std::int64_t elapsed = 0;
    while ((elapsed = clock_ns() - ns) < 2'000'000) {
    }
    return static_cast<double>(elapsed) / static_cast<double>(cpu::trace_ticks() - ticks);
  }();
  return ratio;
}

}  // namespace

struct TraceRecorder::Impl {
  struct alignas(64) Lane : cpu::TraceLane {
    std::size_t settled = 0;
  };
  std::size_t capacity;
  std::vector<TraceEvent> events;
  std::vector<Lane> lanes;
  double ratio = ns_per_tick();
  std::int64_t begin_ticks = cpu::trace_ticks();

  Impl(int num_threads, std::size_t events_per_thread)
      : capacity(events_per_thread),
        events(events_per_thread * static_cast<std::size_t>(num_threads)),
        lanes(static_cast<std::size_t>(num_threads)) {
    for (std::size_t t = 0; t < lanes.size(); ++t) {
      lanes[t].events = events.data() + t * capacity;
      lanes[t].capacity = capacity;
    }
  }
  std::int64_t to_ns(std::int64_t ticks) const noexcept {
    return static_cast<std::int64_t>(static_cast<double>(ticks - begin_ticks) * ratio);
  }
};

TraceRecorder::TraceRecorder(int num_threads, std::size_t events_per_thread)
    : impl_(std::make_unique<Impl>(std::max(num_threads, 1), events_per_thread)) {}
TraceRecorder::~TraceRecorder() = default;

int TraceRecorder::num_threads() const noexcept { return static_cast<int>(impl_->lanes.size()); }

std::span<const TraceEvent> TraceRecorder::events(int thread) const noexcept {
  if (thread < 0 || thread >= num_threads()) return {};
  const auto& lane = impl_->lanes[static_cast<std::size_t>(thread)];
  return {lane.events, lane.size};
}

std::size_t TraceRecorder::dropped(int thread) const noexcept {
  return thread < 0 || thread >= num_threads() ? 0 : impl_->lanes[static_cast<std::size_t>(thread)].dropped;
}

void TraceRecorder::clear() noexcept {
  for (auto& lane : impl_->lanes) lane.size = lane.dropped = lane.settled = 0;
}

namespace cpu {
std::int64_t monotonic_ns() { return clock_ns(); }
}  // namespace cpu

namespace runtime {

cpu::TraceLane* lane_of(TraceRecorder& recorder, int thread) noexcept {
  return &recorder.impl().lanes[static_cast<std::size_t>(thread)];
}

void settle(TraceRecorder& recorder) noexcept {
  TraceRecorder::Impl& impl = recorder.impl();
  for (auto& lane : impl.lanes) {
    for (; lane.settled < lane.size; ++lane.settled) {
      TraceEvent& event = lane.events[lane.settled];
      event.begin_ns = impl.to_ns(event.begin_ns);
      event.end_ns = impl.to_ns(event.end_ns);
    }
  }
}

}  // namespace runtime
}  // namespace tessera
