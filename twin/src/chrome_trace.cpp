// SPDX-License-Identifier: Apache-2.0
// A timeline as Chrome trace JSON: a process a core, and the lanes that the vendor's profiler has.
#include "text.hpp"
#include "timeline.hpp"

namespace twin {

std::string chrome_trace(const Timeline& t) {
  constexpr std::size_t kMost = 400000;  // events a viewer still opens
  const double mhz = t.device->mhz();
  std::string out = format(
      "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"modelled\": \"true\", \"device\": %s, \"kernel\": %s}, "
      "\"traceEvents\": [\n",
      json_string(t.device->name).c_str(), json_string(t.launched->kernel).c_str());
  std::size_t events = 0;
  bool cut = false;
  const char* comma = "";
  for (std::size_t place = 0; place < t.places(); ++place) {
    out += format("%s{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %zu, \"args\": {\"name\": \"%s (modelled)\"}}",
                  comma, place, t.launched->cores[place]->label().c_str());
    comma = ",\n";
    for (int p = 0; p < kPipes; ++p) {
      if (Pipe(p) == Pipe::HCCL && t.launched->hccl.empty()) continue;
      out += format(",\n{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %zu, \"tid\": %d, \"args\": {\"name\": \"%s\"}}",
                    place, p, lane_name(Pipe(p)));
      out += format(
          ",\n{\"ph\": \"M\", \"name\": \"thread_sort_index\", \"pid\": %zu, \"tid\": %d, \"args\": "
          "{\"sort_index\": %d}}",
          place, p, p);
    }
  }
  for (std::size_t c = 0; c < t.first.size(); ++c) {
    const Core& core = *t.launched->cores[c];
    for (std::size_t i = 0; i < core.trace.size(); ++i) {
      const Record& r = core.trace[i];
      const Done& d = t.done[t.first[c] + static_cast<std::int64_t>(i)];
      if (r.step != Step::Execute || d.end <= d.start) continue;
      if (events >= kMost) {
        cut = true;
        break;
      }
      out += format(
          ",\n{\"ph\": \"X\", \"name\": %s, \"pid\": %zu, \"tid\": %d, \"ts\": %.4f, \"dur\": %.4f, \"args\": "
          "{\"line\": %s%s}}",
          json_string(r.name).c_str(), t.place_of(c), int(r.pipe), d.start / mhz, (d.end - d.start) / mhz,
          json_string(short_line(to_string(site_of(r.site)))).c_str(),
          r.path == Path::None ? "" : format(", \"bytes\": %llu", static_cast<unsigned long long>(r.units)).c_str());
      ++events;
    }
  }
  if (cut)
    out +=
        format(",\n{\"ph\": \"i\", \"s\": \"g\", \"name\": \"cut after %zu events\", \"pid\": 0, \"tid\": 0, \"ts\": %.4f}",
               kMost, t.last.time / mhz);
  return out + "\n]}\n";
}

}  // namespace twin
