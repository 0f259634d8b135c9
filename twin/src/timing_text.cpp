// SPDX-License-Identifier: Apache-2.0
// Timing as text and as JSON.
#include "engine.hpp"
#include "text.hpp"

namespace twin {

std::string to_text(const Timing& t) {
  const double whole = std::max(t.cycles, 1.0);
  std::string out = format("modelled on %s: %s takes %.2f us (%.0f cycles)\n", t.device.c_str(), t.kernel.c_str(),
                           t.microseconds, t.cycles);
  out +=
      format("  GM read %.3f MB, written %.3f MB; L2 hits %.1f %% of reads; HBM %.3f MB, %.1f %% of its peak\n",
             t.gm_read_bytes / 1e6, t.gm_write_bytes / 1e6, t.gm_read_bytes > 0 ? 100 * t.l2_hit_bytes / t.gm_read_bytes : 0,
             t.hbm_bytes / 1e6, 100 * t.hbm_utilisation);
  out += format("  cube %.1f %%, vector %.1f %% of the device\n", 100 * t.cube_utilisation, 100 * t.vector_utilisation);
  for (const PathUse& p : t.paths)
    out += format("%s%s %.3f MB", &p == t.paths.data() ? "  moved: " : ", ", p.path.c_str(), p.bytes / 1e6);
  if (!t.paths.empty()) out += "\n";
  struct Use {
    double least = 1e300, sum = 0, most = 0;
    int cores = 0;
  };
  std::map<std::string, Use> pipes;
  for (const PipeUse& p : t.pipes) {
    Use& use = pipes[p.core.substr(0, 3) + " " + p.pipe];
    use.least = std::min(use.least, p.busy_cycles);
    use.most = std::max(use.most, p.busy_cycles);
    use.sum += p.busy_cycles;
    ++use.cores;
  }
  for (const auto& [pipe, use] : pipes) {
    out += format("  %-9s busy %5.1f %% of the time", pipe.c_str(), 100 * use.sum / use.cores / whole);
    out += use.cores == 1
               ? " on 1 core\n"
               : format(" on %d cores (%.1f to %.1f %%)\n", use.cores, 100 * use.least / whole, 100 * use.most / whole);
  }
  out += "  critical path:\n";
  for (std::size_t i = 0; i < t.critical_path.size() && i < 8; ++i) {
    const LineCost& l = t.critical_path[i];
    out += format("    %5.1f %%  %s", 100 * l.cycles / whole, l.what.c_str());
    if (!l.line.empty()) out += " at " + short_line(l.line);
    if (!l.because_line.empty()) {
      out += " (" + l.name + " at " + short_line(l.because_line) + ")";
    } else if (!l.name.empty()) {
      out += " (" + l.name + ")";
    }
    out += "\n";
  }
  return out;
}

std::string to_json(const Timing& t) {
  std::string out = format(
      "{\"modelled\": true, \"device\": %s, \"kernel\": %s, \"blocks\": %d, \"mhz\": %g, \"cycles\": %.3f, "
      "\"microseconds\": %.6f, \"gm_read_bytes\": %.0f, \"gm_write_bytes\": %.0f, \"l2_hit_bytes\": %.0f, "
      "\"hbm_bytes\": %.0f, \"hbm_utilisation\": %.6f, \"cube_utilisation\": %.6f, \"vector_utilisation\": %.6f, "
      "\"cube_flops\": %.0f, \"vector_lanes\": %.0f, \"peaks\": {\"cube_flops_per_second\": %.6g, "
      "\"vector_lanes_per_second\": %.6g, \"hbm_bytes_per_second\": %.6g, \"l2_bytes_per_second\": %.6g}",
      json_string(t.device).c_str(), json_string(t.kernel).c_str(), t.blocks, t.mhz, t.cycles, t.microseconds,
      t.gm_read_bytes, t.gm_write_bytes, t.l2_hit_bytes, t.hbm_bytes, t.hbm_utilisation, t.cube_utilisation,
      t.vector_utilisation, 2 * t.cube_macs, t.vector_lanes, t.peaks.cube_flops, t.peaks.vector_lanes, t.peaks.hbm_bytes,
      t.peaks.l2_bytes);
  const auto list = [&](const char* key, const auto& items, auto&& item) {
    out += format(", \"%s\": [", key);
    for (const auto& each : items) out += (&each == items.data() ? "" : ", ") + item(each);
    out += "]";
  };
  list("pipes", t.pipes, [](const PipeUse& p) {
    return format("{\"core\": \"%s\", \"pipe\": \"%s\", \"busy_cycles\": %.3f}", p.core.c_str(), p.pipe.c_str(),
                  p.busy_cycles);
  });
  list("paths", t.paths,
       [](const PathUse& p) { return format("{\"path\": \"%s\", \"bytes\": %.0f}", p.path.c_str(), p.bytes); });
  list("critical_path", t.critical_path, [](const LineCost& l) {
    return format("{\"what\": %s, \"line\": %s, \"instruction\": %s, \"because_line\": %s, \"cycles\": %.3f}",
                  json_string(l.what).c_str(), json_string(l.line).c_str(), json_string(l.name).c_str(),
                  json_string(l.because_line).c_str(), l.cycles);
  });
  list("lines", t.lines, [](const HotLine& l) {
    return format(
        "{\"line\": %s, \"pipe\": \"%s\", \"instruction\": %s, \"count\": %llu, \"busy_cycles\": %.3f, \"bytes\": %.0f, "
        "\"critical_cycles\": %.3f}",
        json_string(l.line).c_str(), l.pipe.c_str(), json_string(l.name).c_str(), static_cast<unsigned long long>(l.count),
        l.busy_cycles, l.bytes, l.critical_cycles);
  });
  return out + "}";
}

}  // namespace twin
