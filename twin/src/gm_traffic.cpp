// SPDX-License-Identifier: Apache-2.0
#include "gm_traffic.hpp"

#include <cmath>

namespace twin {

GmTraffic::GmTraffic(const Device& d)
    : device_(d),
      l2_(std::uint64_t(d.at("l2_bytes")), std::uint32_t(d.at("l2_line_bytes")), std::uint32_t(d.at("l2_ways"))),
      hz_(d.mhz() * 1e6),
      line_(d.at("l2_line_bytes")),
      turn_(d.at("gm_line_turn_cycles")),
      small_row_(d.at("small_row_bytes")) {}

double GmTraffic::next_end() const {
  return idle() ? HUGE_VAL : now_ + (active_.begin()->first.first - virtual_) * slowdown();
}

void GmTraffic::advance(double to) {
  if (to <= now_) return;
  virtual_ += (to - now_) / slowdown();
  now_ = to;
}

GmTraffic::Transfer GmTraffic::finish_next() {
  const Active first = active_.begin()->second;
  active_.erase(active_.begin());
  demand_ = active_.empty() ? 0 : demand_ - first.demand;
  return first.transfer;
}

// Passes the transfer's lines through L2. A line that another core is at is had after it: the two take turns.
GmTraffic::Lines GmTraffic::touch_lines(int index, const Core& core, const Record& r, double alone) {
  Lines lines;
  const auto line_bytes = static_cast<std::uint64_t>(line_);
  const auto for_each_line = [&](auto&& f) {
    for (std::uint32_t k = r.span_first; k < r.span_first + r.span_count; ++k) {
      const GmSpan& span = core.spans[k];
      for (std::uint64_t row = 0; row < span.rows; ++row) {
        const std::uint64_t begin = span.address + row * span.stride;
        for (std::uint64_t line = begin / line_bytes; line <= (begin + span.bytes - 1) / line_bytes; ++line) f(line);
      }
    }
  };
  double all = 0;
  for_each_line([&](std::uint64_t) { ++all; });
  const double pace = alone / std::max(all, 1.0);
  double at = now_;
  for_each_line([&](std::uint64_t number) {
    L2::Line& line = l2_.access(number, r.gm_write, &lines.outcome);
    if (line.user != index && line.free_at > at + lines.delay) lines.delay = line.free_at - at;
    line.user = index;
    line.free_at = at + lines.delay + turn_;
    at += pace;
  });
  return lines;
}

// What copies of that size get of HBM: in between the two measured sizes in proportion to the logarithm.
double GmTraffic::hbm_rate(double bytes) const {
  const double small = device_.at("small_copy_bytes"), large = device_.at("large_copy_bytes");
  const double low = device_.at("hbm_read_bytes_per_second"), high = device_.at("hbm_large_copy_bytes_per_second");
  if (bytes <= small) return low;
  if (bytes >= large) return high;
  return low + (high - low) * std::log(bytes / small) / std::log(large / small);
}

// How long GM as a whole is taken up by the transfer.
double GmTraffic::service_seconds(const Record& r, double bytes, double size, const L2::Outcome& lines) {
  if (r.no_cache) {
    traffic_.hbm += bytes;
    return bytes / device_.at("hbm_stream_bytes_per_second");
  }
  const double hbm = hbm_rate(size);
  const double evicted = static_cast<double>(lines.evicted_lines) * line_;
  traffic_.hbm += evicted;
  if (r.gm_write) return bytes / device_.at("l2_total_bytes_per_second") + evicted / hbm;
  const double all = static_cast<double>(lines.hit_lines + lines.miss_lines);
  const double hits = bytes * static_cast<double>(lines.hit_lines) / all;
  const double missed = static_cast<double>(lines.miss_lines) * line_;  // HBM gives whole lines
  traffic_.read_hits += hits;
  traffic_.hbm += missed;
  return hits / device_.at("l2_read_bytes_per_second") + (missed + evicted) / hbm;
}

void GmTraffic::start(int index, const Core& core, std::uint32_t record, const Record& r) {
  const auto bytes = static_cast<double>(r.units);
  double row = 0;
  for (std::uint32_t k = r.span_first; k < r.span_first + r.span_count; ++k)
    row = std::max<double>(row, core.spans[k].bytes);
  // A strided copy is as good as one stretch [doc], but for rows shorter than a line; the change to Nz goes row by row.
  const double size = r.path == Path::GmToL1Nz ? row : bytes;
  const double charged = row < bytes ? bytes * std::max(1.0, small_row_ / row) : bytes;
  double alone = device_.moves[int(r.path)].cycles(charged);
  if (core.spans[r.span_first].address % std::uint64_t(line_) != 0) alone *= device_.at("unaligned_copy_factor");
  const Lines lines = r.no_cache ? Lines{} : touch_lines(index, core, r, alone);
  const double service = service_seconds(r, bytes, size, lines.outcome);
  (r.gm_write ? traffic_.written : traffic_.read) += bytes;
  const double latency = r.gm_write                               ? device_.at("mte3_latency_cycles")
                         : r.no_cache || lines.outcome.miss_lines ? device_.at("hbm_latency_cycles")
                                                                  : device_.at("l2_latency_cycles");
  alone += lines.delay;
  const double demand = service * hz_ / alone;
  demand_ += demand;
  active_.emplace(std::make_pair(virtual_ + alone, ++count_), Active{{index, int(r.pipe), record, latency}, demand});
}

}  // namespace twin
