// SPDX-License-Identifier: Apache-2.0
#include "cli/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/text.hpp"

namespace tessera::cli {
namespace {

struct StageLook {
  std::string_view name, label, colour;
};
// Okabe and Ito, "Color Universal Design" (2008).
constexpr StageLook kLooks[kStages] = {{"pack", "pack", "#56b4e9"},       {"qk", "QKᵀ", "#0072b2"},
                                       {"softmax", "softmax", "#e69f00"}, {"pv", "PV", "#009e73"},
                                       {"merge", "merge", "#cc79a7"},     {"write", "write", "#f0e442"}};

const StageLook& look(TraceStage stage) { return kLooks[std::min<int>(static_cast<int>(stage), kStages - 1)]; }

}  // namespace

std::string_view name_of(TraceStage stage) noexcept { return look(stage).name; }
std::string_view label_of(TraceStage stage) noexcept { return look(stage).label; }
std::string_view colour_of(TraceStage stage) noexcept { return look(stage).colour; }

std::size_t Timeline::events() const noexcept {
  std::size_t n = 0;
  for (const auto& lane : lanes) n += lane.size();
  return n;
}

Timeline read_timeline(const TraceRecorder& recorder) {
  Timeline timeline;
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
  for (int t = 0; t < recorder.num_threads(); ++t) {
    const auto events = recorder.events(t);
    timeline.lanes.emplace_back(events.begin(), events.end());
    timeline.dropped += recorder.dropped(t);
    for (const auto& event : events) {
      first = std::min(first, event.begin_ns);
      last = std::max(last, event.end_ns);
    }
  }
  for (auto& lane : timeline.lanes) {
    std::stable_sort(lane.begin(), lane.end(), [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    for (auto& event : lane) event.begin_ns -= first, event.end_ns -= first;
  }
  timeline.duration_ns = timeline.events() > 0 ? last - first : 0;
  return timeline;
}

LaneUse use_of(const Timeline& timeline, std::size_t lane) {
  LaneUse use;
  std::int64_t busy = 0, until = 0;  // events of one thread may touch but not overlap; an overlap counts once
  std::array<std::int64_t, kStages> spent{};
  for (const auto& event : timeline.lanes[lane]) {
    const auto begin = std::max(event.begin_ns, until);
    if (event.end_ns <= begin) continue;
    spent[std::min<std::size_t>(static_cast<std::size_t>(event.stage), kStages - 1)] += event.end_ns - begin;
    busy += event.end_ns - begin;
    until = event.end_ns;
  }
  const auto whole = static_cast<double>(std::max<std::int64_t>(timeline.duration_ns, 1));
  for (std::size_t s = 0; s < kStages; ++s) use.stage[s] = static_cast<double>(spent[s]) / whole;
  use.idle = 1 - static_cast<double>(busy) / whole;
  use.events = timeline.lanes[lane].size();
  return use;
}

std::string summary_text(const Timeline& timeline) {
  std::vector<std::vector<std::string>> rows = {{"thread"}};
  std::vector<bool> right = {true};
  for (const auto& stage : kLooks) rows[0].emplace_back(stage.label), right.push_back(true);
  rows[0].insert(rows[0].end(), {"idle", "events"});
  right.insert(right.end(), {true, true});
  LaneUse mean;
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  for (std::size_t lane = 0; lane <= timeline.lanes.size(); ++lane) {
    const bool last = lane == timeline.lanes.size();
    const auto use = last ? mean : use_of(timeline, lane);
    const double n = static_cast<double>(timeline.lanes.size());
    std::vector<std::string> row = {last ? "all" : std::to_string(lane)};
    for (std::size_t s = 0; s < kStages; ++s) {
      row.push_back(percent(use.stage[s]));
      mean.stage[s] += use.stage[s] / n;
    }
    row.push_back(percent(use.idle));
    row.push_back(std::to_string(use.events));
    mean.idle += use.idle / n;
    mean.events += use.events;
    rows.push_back(row);
  }
  auto text = fmt::format("problem  {}\nran on   {}, {} {}\n", timeline.problem, timeline.impl, timeline.lanes.size(),
                          timeline.lanes.size() == 1 ? "thread" : "threads");
  text += fmt::format("time     {} from the first event to the last; the run took {} traced, {} not traced\n\n",
                      seconds_text(static_cast<double>(timeline.duration_ns) * 1e-9), seconds_text(timeline.traced_s),
                      seconds_text(timeline.untraced_s));
  text += table_text(rows, right);
  if (timeline.dropped > 0) text += fmt::format("{} events were dropped: more room with --events\n", timeline.dropped);
  return text;
}

std::string summary_json(const Timeline& timeline) {
  nlohmann::ordered_json json = {{"problem", timeline.problem},
                                 {"impl", timeline.impl},
                                 {"threads", timeline.lanes.size()},
                                 {"modelled", false},
                                 {"duration_s", static_cast<double>(timeline.duration_ns) * 1e-9},
                                 {"traced_s", timeline.traced_s},
                                 {"untraced_s", timeline.untraced_s},
                                 {"dropped", timeline.dropped}};
  json["use"] = nlohmann::ordered_json::array();
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    const auto use = use_of(timeline, lane);
    nlohmann::ordered_json row = {{"thread", lane}};
    for (std::size_t s = 0; s < kStages; ++s) row[std::string(kLooks[s].name)] = use.stage[s];
    row["idle"] = use.idle;
    row["events"] = use.events;
    json["use"].push_back(row);
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string chrome_json(const Timeline& timeline) {
  std::string text = "{\"displayTimeUnit\": \"ns\", \"otherData\": ";
  text +=
      nlohmann::ordered_json{
          {"problem", timeline.problem}, {"impl", timeline.impl}, {"modelled", false}, {"dropped", timeline.dropped}}
          .dump();
  text += ", \"traceEvents\": [\n";
  text += R"({"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "tessera"}})";
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    text += fmt::format(
        ",\n{{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 0, \"tid\": {}, \"args\": {{\"name\": \"thread {}\"}}}}",
        lane, lane);
  }
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    for (const auto& e : timeline.lanes[lane]) {  // microseconds, as the format wants
      text += fmt::format(
          ",\n{{\"name\": \"{}\", \"cat\": \"cpu\", \"ph\": \"X\", \"pid\": 0, \"tid\": {}, \"ts\": {:.3f}, \"dur\": "
          "{:.3f}, \"args\": {{\"item\": {}}}}}",
          name_of(e.stage), lane, static_cast<double>(e.begin_ns) * 1e-3, static_cast<double>(e.end_ns - e.begin_ns) * 1e-3,
          e.item);
    }
  }
  return text + "\n]}\n";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace tessera::cli
