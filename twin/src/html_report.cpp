// SPDX-License-Identifier: Apache-2.0
// A timeline as one HTML page that needs no network: page/page.html with the data of this launch put in.
//
// A long launch has millions of events. A lane keeps as many as a screen can show apart: stretches of its time in which more
// happens become one event with a count and a share of busy time. The cores of the first block and of the one that ends last
// keep more.
#include <fstream>
#include <set>

#include "text.hpp"
#include "timeline.hpp"

namespace twin {

extern const char *const kPageHtml, *const kPageCharts, *const kPageTimeline;  // page/, made strings by the build

namespace {

constexpr std::size_t kEventsInAll = 120000, kEventsALane = 400, kEventsAKeptLane = 6000, kPathStretches = 4000;
constexpr int kSourceLinesAround = 6;
constexpr std::size_t kSourceLinesInAll = 4000;

class Numbers {  // of strings that occur again and again
 public:
  std::size_t of(const std::string& s) {
    const auto [at, fresh] = ids_.try_emplace(s, list_.size());
    if (fresh) list_.push_back(s);
    return at->second;
  }
  std::string json() const {
    std::string out = "[";
    for (const std::string& s : list_) out += (out.size() > 1 ? "," : "") + json_string(s);
    return out + "]";
  }

 private:
  std::map<std::string, std::size_t> ids_;
  std::vector<std::string> list_;
};

struct Run {  // one event, or several in a row
  double begin, end, busy, longest;
  const Record* record;  // the longest
  std::size_t count;
};

struct Lane {
  std::size_t place;               // as Timeline::place_of
  std::vector<std::size_t> cores;  // that ran there, one after another
  Pipe pipe;
  std::size_t events;
};

// The events of a core; stretches shorter than `resolution` become one.
void add_runs(const Timeline& t, std::size_t core, Pipe pipe, double resolution, std::vector<Run>* all) {
  std::vector<Run>& runs = *all;
  const auto& trace = t.launched->cores[core]->trace;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Record& r = trace[i];
    const Done& d = t.done[t.first[core] + static_cast<std::int64_t>(i)];
    if (r.pipe != pipe || r.step != Step::Execute || d.end <= d.start) continue;
    const double length = d.end - d.start;
    if (!runs.empty() && d.end - runs.back().begin < resolution) {
      Run& run = runs.back();
      run.end = d.end;
      run.busy += length;
      ++run.count;
      if (length > run.longest) {
        run.longest = length;
        run.record = &r;
      }
    } else {
      runs.push_back({d.start, d.end, length, length, &r, 1});
    }
  }
}

std::vector<Lane> lanes_of(const Timeline& t) {
  std::vector<std::vector<std::size_t>> ran(t.places());
  for (std::size_t c = 0; c < t.first.size(); ++c) ran[t.place_of(c)].push_back(c);
  std::vector<Lane> lanes;
  for (std::size_t place = 0; place < ran.size(); ++place) {
    std::array<std::size_t, kPipes> events{};
    std::array<double, kPipes> busy{};
    for (const std::size_t c : ran[place]) {
      const auto& trace = t.launched->cores[c]->trace;
      for (std::size_t n = 0; n < trace.size(); ++n) {
        const Record& r = trace[n];
        if (r.step == Step::Execute && r.pipe != Pipe::ALL) ++events[int(r.pipe)];
      }
      for (int p = 0; p < kPipes; ++p) busy[p] += t.busy[c][p];
    }
    for (int p = 0; p < kPipes; ++p) {
      if (busy[p] > 0) lanes.push_back({place, ran[place], Pipe(p), events[p]});
    }
  }
  return lanes;
}

// [begin, length, name, line] an event, or with busy share and count behind it; times in cycles, begins as differences.
std::string lanes_json(const Timeline& t, Numbers* names, Numbers* lines) {
  const std::vector<Lane> lanes = lanes_of(t);
  std::size_t all = 0;
  for (const Lane& l : lanes) all += l.events;
  const int last = t.last.cause == kNone ? 0 : t.slot[t.launched->cores[t.core_of(t.last.cause)]->block];
  std::string out = "[";
  for (const Lane& l : lanes) {
    const int block = t.launched->cores[l.place]->block;
    const std::size_t room = block == 0 || block == last ? kEventsAKeptLane : kEventsALane;
    const double resolution = all <= kEventsInAll || l.events <= room ? 0 : t.last.time / static_cast<double>(room);
    out += format("%s{\"core\":%zu,\"lane\":%d,\"merged\":%s,\"e\":[", out.size() > 1 ? ",\n" : "", l.place, int(l.pipe),
                  resolution > 0 ? "true" : "false");
    long long before = 0;
    bool first = true;
    std::vector<Run> runs;
    for (const std::size_t core : l.cores) add_runs(t, core, l.pipe, resolution, &runs);
    for (const Run& r : runs) {
      const auto begin = static_cast<long long>(r.begin + 0.5), end = static_cast<long long>(r.end + 0.5);
      out += format("%s%lld,%lld,%zu,%zu", first ? "" : ",", begin - before, std::max(1LL, end - begin),
                    names->of(r.record->name), lines->of(to_string(site_of(r.record->site))));
      if (resolution > 0) out += format(",%d,%zu", static_cast<int>(100 * r.busy / (r.end - r.begin) + 0.5), r.count);
      before = begin;
      first = false;
    }
    out += "]}";
  }
  return out + "]";
}

// [core, lane, begin, length], from the beginning to the end; neighbours on one lane become one.
std::string path_json(const Timeline& t) {
  const std::vector<Stretch> path = critical_path(t);
  const double resolution = path.size() <= kPathStretches ? 0 : t.last.time / kPathStretches;
  std::string out = "[";
  std::size_t core = 0;
  int lane = -1;
  double begin = 0, end = 0;
  const auto flush = [&] {
    if (lane >= 0 && end - begin > resolution)
      out += format("%s[%zu,%d,%.0f,%.0f]", out.size() > 1 ? "," : "", core, lane, begin, end - begin);
  };
  for (std::size_t i = path.size(); i-- > 0;) {
    const Stretch& s = path[i];
    if (s.record == kNone) continue;
    const std::size_t c = t.place_of(t.core_of(s.record));
    const int p = int(t.record(s.record).pipe);
    if (c != core || p != lane) {
      flush();
      core = c;
      lane = p;
      begin = s.begin;
    }
    end = s.end;
  }
  flush();
  return out + "]";
}

// The kernel's source around each line that did something: {"file": [[number, text] ...]}.
std::string source_json(const Timing& timing) {
  std::map<std::string, std::set<int>> wanted;
  std::size_t all = 0;
  const auto want = [&](const std::string& line) {
    const auto colon = line.rfind(':');
    if (colon == std::string::npos || all > kSourceLinesInAll) return;
    auto& numbers = wanted[line.substr(0, colon)];
    const int number = std::atoi(line.c_str() + colon + 1);
    for (int n = number - kSourceLinesAround; n <= number + kSourceLinesAround; ++n)
      all += n > 0 && numbers.insert(n).second;
  };
  for (const LineCost& l : timing.critical_path) want(l.line), want(l.because_line);
  for (const HotLine& l : timing.lines) want(l.line);
  std::string out = "{";
  for (const auto& [file, numbers] : wanted) {
    std::ifstream in(file);
    if (!in) continue;
    out += (out.size() > 1 ? ",\n" : "") + json_string(file) + ":[";
    bool first = true;
    std::string text;
    for (int n = 1; std::getline(in, text); ++n) {
      if (!numbers.count(n)) continue;
      out += format("%s[%d,%s]", first ? "" : ",", n, json_string(text).c_str());
      first = false;
    }
    out += "]";
  }
  return out + "}";
}

void replace(std::string* text, const std::string& mark, const std::string& by) {
  const auto at = text->find(mark);
  if (at != std::string::npos) text->replace(at, mark.size(), by);
}

}  // namespace

std::string html_report(const Timeline& t, const Timing& timing) {
  Numbers names, lines;
  const std::string lanes = lanes_json(t, &names, &lines);
  std::string cores = "[";
  for (std::size_t place = 0; place < t.places(); ++place)
    cores += (cores.size() > 1 ? "," : "") + json_string(t.launched->cores[place]->label());
  std::string lane_names = "[";
  const int lanes_here = t.launched->hccl.empty() ? int(Pipe::HCCL) : kPipes;
  for (int p = 0; p < lanes_here; ++p) lane_names += (p ? "," : "") + json_string(lane_name(Pipe(p)));
  std::string data = "{\"timing\":" + to_json(timing) + ",\n\"cores\":" + cores + "],\n\"lane_names\":" + lane_names +
                     "],\n\"names\":" + names.json() + ",\n\"lines\":" + lines.json() + ",\n\"lanes\":" + lanes +
                     ",\n\"path\":" + path_json(t) + ",\n\"source\":" + source_json(timing) + "}";
  for (auto at = data.find("</"); at != std::string::npos; at = data.find("</", at)) data.replace(at, 2, "<\\/");
  std::string page = kPageHtml;
  replace(&page, "<!--TITLE-->", timing.kernel + ", modelled on " + timing.device);
  replace(&page, "/*CHARTS*/", kPageCharts);
  replace(&page, "/*TIMELINE*/", kPageTimeline);
  replace(&page, "/*DATA*/", data);
  return page;
}

}  // namespace twin
