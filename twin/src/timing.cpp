// SPDX-License-Identifier: Apache-2.0
// A timeline in figures: use of pipes, bytes, utilisation, hot lines.
#include <tuple>

#include "recent.hpp"
#include "timeline.hpp"

namespace twin {
namespace {

const char* in_words(Path path) {
  constexpr const char* kWords[kPaths] = {"",          "GM to L1",  "GM to L1, ND to NZ", "GM to UB", "GM to L0",
                                          "UB to GM",  "L0C to GM", "L0C to L1",          "L1 to GM", "L1 to L0A",
                                          "L1 to L0B", "L1 to BT",  "UB to UB",           "UB to L1"};
  return kWords[static_cast<int>(path)];
}

// What a unit of each cost row is: a repeat, an element, or no lane.
enum class Unit : std::uint8_t { Repeat, Element, None };
std::vector<Unit> units_of_rows() {
  std::vector<Unit> units;
  for (const std::string& row : cost_rows()) {
    const bool element = row == "Gather" || row == "Transpose" || row == "Sort";
    units.push_back(row == "UbCopy" ? Unit::None : element ? Unit::Element : Unit::Repeat);
  }
  return units;
}
double lanes_of(const Record& r, Unit unit) {
  if (r.path != Path::None || unit == Unit::None) return 0;
  return static_cast<double>(r.units) * (unit == Unit::Element ? 1 : r.narrow ? 128 : 64);
}

struct LineKey {
  std::uint32_t site;
  Pipe pipe;
  std::string name;
  bool operator<(const LineKey& o) const { return std::tie(site, pipe, name) < std::tie(o.site, o.pipe, o.name); }
};

void add_lines(const Timeline& t, Timing* out) {
  struct Entry {
    std::uint64_t count = 0;
    double busy = 0, bytes = 0, critical = 0;
  };
  const std::vector<Unit> units = units_of_rows();
  std::map<LineKey, Entry> lines;
  Recent<std::tuple<std::uint32_t, Pipe, const char*>, Entry*> recent;
  const auto entry = [&](const Record& r) -> Entry& {
    return *recent.of({r.site, r.pipe, r.name}, r.site * 8ull + std::uint64_t(r.pipe), [&] {
      return &lines[{r.site, r.pipe, r.name}];
    });
  };
  for (std::size_t c = 0; c < t.first.size(); ++c) {
    const auto& trace = t.launched->cores[c]->trace;
    for (std::size_t i = 0; i < trace.size(); ++i) {
      const Record& r = trace[i];
      if (r.step != Step::Execute) continue;
      const Done& d = t.done[t.first[c] + static_cast<std::int64_t>(i)];
      Entry& e = entry(r);
      ++e.count;
      e.busy += d.end - d.start;
      if (r.path != Path::None) e.bytes += static_cast<double>(r.units);
      if (r.pipe == Pipe::V) out->vector_lanes += lanes_of(r, units[r.cost]);
    }
  }
  each_stretch(t, [&](const Stretch& s) {
    if (s.record != kNone) entry(t.record(s.record)).critical += s.end - s.begin;
  });
  for (const auto& [key, e] : lines)
    out->lines.push_back({line_for_later(key.site), name(key.pipe), key.name, e.count, e.busy, e.bytes, e.critical});
}

}  // namespace

Timing summarise(const Timeline& t) {
  const Device& d = *t.device;
  const double hz = d.mhz() * 1e6;
  Timing out;
  out.device = d.name;
  out.kernel = t.launched->kernel;
  out.blocks = t.launched->blocks;
  out.mhz = d.mhz();
  out.cycles = t.last.time;
  out.microseconds = t.last.time / d.mhz();
  double vector_busy = 0;
  std::vector<std::array<double, kPipes>> busy(t.places());
  for (std::size_t c = 0; c < t.busy.size(); ++c) {
    for (int p = 0; p < kPipes; ++p) busy[t.place_of(c)][p] += t.busy[c][p];
    vector_busy += t.busy[c][int(Pipe::V)];
  }
  for (std::size_t place = 0; place < busy.size(); ++place) {
    for (int p = 0; p < kPipes; ++p) {
      if (busy[place][p] > 0) out.pipes.push_back({t.launched->cores[place]->label(), name(Pipe(p)), busy[place][p]});
    }
  }
  for (int p = 1; p < kPaths; ++p) {
    if (t.traffic.paths[p] > 0) out.paths.push_back({in_words(Path(p)), t.traffic.paths[p]});
  }
  out.gm_read_bytes = t.traffic.read;
  out.gm_write_bytes = t.traffic.written;
  out.l2_hit_bytes = t.traffic.read_hits;
  out.hbm_bytes = t.traffic.hbm;
  out.cube_macs = t.cube_cycles * d.at("cube_macs_per_cycle");
  out.peaks = {2 * d.at("cube_macs_per_cycle") * d.at("cube_cores") * hz, 64 * d.at("vector_cores") * hz,
               d.at("hbm_bytes_per_second"), d.at("l2_total_bytes_per_second")};
  if (out.cycles > 0) {
    out.hbm_utilisation = out.hbm_bytes / (out.cycles / hz) / out.peaks.hbm_bytes;
    out.cube_utilisation = t.cube_cycles / (out.cycles * d.at("cube_cores"));
    out.vector_utilisation = vector_busy / (out.cycles * d.at("vector_cores"));
  }
  out.critical_path = path_in_words(t);
  add_lines(t, &out);
  sort_lines(&out);
  return out;
}

}  // namespace twin
