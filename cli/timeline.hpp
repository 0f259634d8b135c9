// SPDX-License-Identifier: Apache-2.0
// A trace of one run: what each thread did and when; its summary, and its pictures.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/trace.hpp"

namespace tessera::cli {

inline constexpr int kStages = 6;
std::string_view name_of(TraceStage stage) noexcept;    // "pack", "qk", ...
std::string_view label_of(TraceStage stage) noexcept;   // "QKᵀ"
std::string_view colour_of(TraceStage stage) noexcept;  // "#rrggbb"; a palette that the colour-blind can tell apart

struct Timeline {
  std::string problem, impl;
  std::vector<std::vector<TraceEvent>> lanes;  // one a thread, in order of time; times from the first event
  std::int64_t duration_ns = 0;
  std::size_t dropped = 0;  // events beyond the recorder's capacity
  double traced_s = 0;      // of the traced run
  double untraced_s = 0;    // of a run without trace, for the cost of tracing

  std::size_t events() const noexcept;
};

Timeline read_timeline(const TraceRecorder& recorder);

/// Share of [0, duration_ns) that a thread spent in each stage; what is left is idle.
struct LaneUse {
  std::array<double, kStages> stage{};
  double idle = 0;
  std::size_t events = 0;
};
LaneUse use_of(const Timeline& timeline, std::size_t lane);

std::string summary_text(const Timeline& timeline);
std::string summary_json(const Timeline& timeline);
/// Trace Event Format: chrome://tracing, Perfetto.
std::string chrome_json(const Timeline& timeline);
std::string svg(const Timeline& timeline);
/// Self-contained, to be zoomed and dragged; needs no network.
std::string html(const Timeline& timeline);

/// Text inside XML or HTML.
std::string escaped(std::string_view text);

}  // namespace tessera::cli
