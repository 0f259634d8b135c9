// SPDX-License-Identifier: Apache-2.0
// The picture: a lane for each thread, coloured by stage, over an axis in microseconds; each thread's use beside it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/text.hpp"
#include "cli/timeline.hpp"

namespace tessera::cli {
namespace {

constexpr double kLeft = 84, kPlot = 1000, kUse = 150, kTop = 92, kLane = 34, kGap = 10, kBottom = 58, kRight = 24;
constexpr double kColumn = 1;                  // pixels; thinner events share a column
constexpr std::size_t kMaxExactEvents = 4000;  // more, and the picture is drawn in columns

double lane_top(std::size_t lane) { return kTop + static_cast<double>(lane) * (kLane + kGap); }

// 1, 2 or 5 times a power of ten, for about ten ticks.
double tick_step(double duration_us) {
  const double raw = std::max(duration_us, 1e-3) / 10, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (raw <= step * power) return step * power;
  }
  return 10 * power;
}

std::string rectangle(double x, double y, double width, double height, std::string_view colour,
                      std::string_view title = {}) {
  auto text = fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"", x, y, width,
                          height, colour);
  return text + (title.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", title));
}

std::string exact_lane(const Timeline& timeline, std::size_t lane, double scale) {
  std::string text;
  for (const auto& e : timeline.lanes[lane]) {
    const auto title = fmt::format("{}, item {}: {:.2f} to {:.2f} µs ({:.2f} µs)", label_of(e.stage), e.item,
                                   static_cast<double>(e.begin_ns) * 1e-3, static_cast<double>(e.end_ns) * 1e-3,
                                   static_cast<double>(e.end_ns - e.begin_ns) * 1e-3);
    text += rectangle(kLeft + static_cast<double>(e.begin_ns) * scale, lane_top(lane),
                      std::max(static_cast<double>(e.end_ns - e.begin_ns) * scale, 0.05), kLane, colour_of(e.stage), title);
  }
  return text;
}

// Each column is divided from top to bottom by what the thread did in it; equal neighbours are drawn as one.
std::string column_lane(const Timeline& timeline, std::size_t lane, double scale) {
  const auto columns = static_cast<std::size_t>(kPlot / kColumn);
  std::vector<std::array<double, kStages>> use(columns + 1);
  for (const auto& e : timeline.lanes[lane]) {
    const double begin = static_cast<double>(e.begin_ns) * scale / kColumn,
                 end = static_cast<double>(e.end_ns) * scale / kColumn;
    for (auto c = static_cast<std::size_t>(begin); c <= columns && static_cast<double>(c) < end; ++c) {
      const double share = std::min(end, static_cast<double>(c + 1)) - std::max(begin, static_cast<double>(c));
      use[c][std::min<std::size_t>(static_cast<std::size_t>(e.stage), kStages - 1)] += share;
    }
  }
  std::string text;
  const auto quantised = [&](std::size_t c) {
    std::array<int, kStages> q{};
    for (std::size_t s = 0; s < kStages; ++s) q[s] = static_cast<int>(std::lround(16 * std::min(use[c][s], 1.0)));
    return q;
  };
  for (std::size_t c = 0; c < columns;) {
    const auto shape = quantised(c);
    std::size_t end = c + 1;
    while (end < columns && quantised(end) == shape) ++end;
    double y = lane_top(lane);
    for (std::size_t s = 0; s < kStages; ++s) {
      if (shape[s] == 0) continue;
      const double height = std::min(kLane * shape[s] / 16, lane_top(lane) + kLane - y);
      text += rectangle(kLeft + static_cast<double>(c) * kColumn, y, static_cast<double>(end - c) * kColumn, height,
                        colour_of(static_cast<TraceStage>(s)));
      y += height;
    }
    c = end;
  }
  return text;
}

std::string use_bar(const Timeline& timeline, std::size_t lane) {
  const auto use = use_of(timeline, lane);
  double x = kLeft + kPlot + 20;
  std::string text =
      rectangle(x, lane_top(lane) + 9, kUse, kLane - 18, "#e8e8e8", fmt::format("idle {:.1f} %", 100 * use.idle));
  for (std::size_t s = 0; s < kStages; ++s) {
    const auto stage = static_cast<TraceStage>(s);
    if (use.stage[s] <= 0) continue;
    text += rectangle(x, lane_top(lane) + 9, kUse * use.stage[s], kLane - 18, colour_of(stage),
                      fmt::format("{} {:.1f} %", label_of(stage), 100 * use.stage[s]));
    x += kUse * use.stage[s];
  }
  return text + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"s\">{:.0f} % busy</text>\n",
                            kLeft + kPlot + 20 + kUse + 8, lane_top(lane) + kLane / 2 + 4, 100 * (1 - use.idle));
}

std::string axis(const Timeline& timeline, double bottom) {
  const double us = static_cast<double>(timeline.duration_ns) * 1e-3, step = tick_step(us);
  std::string text;
  for (int i = 0; i * step <= us * 1.0001; ++i) {
    const double x = kLeft + (us > 0 ? i * step / us * kPlot : 0);
    text += fmt::format("<line x1=\"{0:.2f}\" y1=\"{1:.1f}\" x2=\"{0:.2f}\" y2=\"{2:.1f}\" class=\"g\"/>\n", x, kTop - 6,
                        bottom + 4);
    text += fmt::format("<text x=\"{:.2f}\" y=\"{:.1f}\" class=\"s\" text-anchor=\"middle\">{:g}</text>\n", x, bottom + 18,
                        i * step);
  }
  return text + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"s\" text-anchor=\"middle\">time, µs</text>\n",
                            kLeft + kPlot / 2, bottom + 36);
}

std::string legend() {
  std::string text;
  double x = kLeft;
  for (int s = 0; s < kStages; ++s) {
    const auto stage = static_cast<TraceStage>(s);
    text += rectangle(x, 56, 13, 13, colour_of(stage));
    text += fmt::format("<text x=\"{:.1f}\" y=\"67\" class=\"t\">{}</text>\n", x + 18, label_of(stage));
    x += 92;
  }
  text += rectangle(x, 56, 13, 13, "#f4f4f4");
  return text + fmt::format("<text x=\"{:.1f}\" y=\"67\" class=\"t\">idle</text>\n", x + 18);
}

}  // namespace

std::string svg(const Timeline& timeline) {
  const double bottom = lane_top(timeline.lanes.size()) - kGap, width = kLeft + kPlot + 20 + kUse + 80 + kRight,
               height = bottom + kBottom;
  const double scale =
      timeline.duration_ns > 0 ? kPlot / static_cast<double>(timeline.duration_ns) : 0;  // pixels a nanosecond
  const bool exact = timeline.events() <= kMaxExactEvents;
  auto text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" shape-rendering=\"crispEdges\">\n",
      width, height);
  text +=
      "<style>.h{font-size:16px;font-weight:bold}.t{font-size:13px}.s{font-size:12px;fill:#444}.g{stroke:#000;stroke-"
      "opacity:.12}</style>\n";
  text += fmt::format("<rect width=\"{:.0f}\" height=\"{:.0f}\" fill=\"#ffffff\"/>\n", width, height);
  text += fmt::format("<text x=\"{:.0f}\" y=\"24\" class=\"h\">{}</text>\n", kLeft, escaped(timeline.problem));
  text += fmt::format(
      "<text x=\"{:.0f}\" y=\"43\" class=\"s\">{}, {} {}, {} from first to last event{}{}</text>\n", kLeft,
      escaped(timeline.impl), timeline.lanes.size(), timeline.lanes.size() == 1 ? "thread" : "threads",
      seconds_text(static_cast<double>(timeline.duration_ns) * 1e-9),
      exact ? "" : fmt::format("; {} events, each pixel column divided by what was done in it", timeline.events()),
      timeline.dropped > 0 ? fmt::format("; {} events were dropped", timeline.dropped) : "");
  text += legend();
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"t\" text-anchor=\"end\">thread {}</text>\n", kLeft - 10,
                        lane_top(lane) + kLane / 2 + 4, lane);
    text += rectangle(kLeft, lane_top(lane), kPlot, kLane, "#f4f4f4");
    text += exact ? exact_lane(timeline, lane, scale) : column_lane(timeline, lane, scale);
    text += use_bar(timeline, lane);
  }
  return text + axis(timeline, bottom) + "</svg>\n";
}

}  // namespace tessera::cli
