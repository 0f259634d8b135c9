// SPDX-License-Identifier: Apache-2.0
// GM as all cores see it: one L2, one HBM, and every transfer in flight. See docs/twin_timing.md.
#pragma once

#include "l2.hpp"
#include "timeline.hpp"

namespace twin {

class GmTraffic {
 public:
  explicit GmTraffic(const Device& device);

  struct Transfer {
    int core, pipe;
    std::uint32_t record;
    double latency;  // cycles from its end to the moment its data can be used
  };
  // Begins now.
  void start(int index, const Core& core, std::uint32_t record, const Record& r);
  bool idle() const { return active_.empty(); }
  double next_end() const;  // a time; infinite if idle
  Transfer finish_next();

  double now() const { return now_; }
  void advance(double to);
  const Traffic& traffic() const { return traffic_; }

 private:
  struct Active {
    Transfer transfer;
    double demand;  // share of all that GM can serve
  };
  struct Lines {  // of one transfer
    L2::Outcome outcome;
    double delay = 0;  // cycles, behind other cores on the same lines
  };
  double slowdown() const { return demand_ > 1 ? demand_ : 1; }
  Lines touch_lines(int index, const Core& core, const Record& r, double alone);
  double hbm_rate(double bytes) const;
  double service_seconds(const Record& r, double bytes, double largest, const L2::Outcome& lines);

  const Device& device_;
  L2 l2_;
  double hz_, line_, turn_, small_row_;
  // Each transfer runs at its own pace while the demands add up to no more than all that GM can serve; otherwise all slow
  // down alike. In virtual time, which slows down with them, each ends when it would alone.
  std::map<std::pair<double, std::uint64_t>, Active> active_;  // by virtual end
  double now_ = 0, virtual_ = 0, demand_ = 0;
  std::uint64_t count_ = 0;
  Traffic traffic_;
};

}  // namespace twin
