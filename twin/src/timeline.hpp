// SPDX-License-Identifier: Apache-2.0
// What the timing model leaves: when each recorded instruction ran, and what it had to wait for. The reports read this.
#pragma once

#include <algorithm>

#include "launched.hpp"

namespace twin {

inline constexpr std::int64_t kNone = -1;

// A time, and what made it that late.
struct Moment {
  double time = 0;
  std::int64_t cause = kNone;  // the record, counted over all cores, whose end it waited for
  std::uint32_t via = 0;       // 1 + the own core's wait or barrier that passed it on; 0: order of the pipe, or issue
  void at_least(const Moment& other) {
    if (other.time > time) *this = other;
  }
};

struct Done {                  // of one record
  double start = 0, end = 0;   // the time its pipe was busy with it
  std::int64_t cause = kNone;  // as in Moment: why it did not start earlier
  std::uint32_t via = 0;
};

struct Traffic {  // bytes
  double read = 0, written = 0, read_hits = 0, hbm = 0;
  double paths[kPaths] = {};
};

struct Timeline {
  const Launched* launched = nullptr;
  const Device* device = nullptr;
  std::vector<std::int64_t> first;               // number of a core's first record among all
  Pages<Done> done;                              // of all records
  std::vector<std::array<double, kPipes>> busy;  // cycles, a core and pipe
  Moment last;                                   // the end
  Traffic traffic;
  double cube_cycles = 0;
  std::vector<int> slot;  // of each block: the cores that ran it, as those of the block that had them first

  // Where a core's stream ran: the number of the core that had the place first. Places come first among the cores.
  std::size_t place_of(std::size_t core) const {
    const std::size_t a_block = first.size() / std::max<std::size_t>(1, slot.size());
    return slot[core / a_block] * a_block + core % a_block;
  }
  std::size_t places() const {
    std::size_t n = 0;
    for (std::size_t c = 0; c < first.size(); ++c) n = std::max(n, place_of(c) + 1);
    return n;
  }

  const Record& record(std::int64_t id) const { return launched->cores[core_of(id)]->trace[id - first[core_of(id)]]; }
  std::size_t core_of(std::int64_t id) const {
    return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), id) - first.begin()) - 1;
  }
};

Timeline simulate(const Launched& launched, const Device& device);
Timing summarise(const Timeline& timeline);
// In a Timing: a line that only the program's debug information knows stands as a mark until name_lines.
std::string line_for_later(std::uint32_t site);
void name_lines(Timing* timing);
void sort_lines(Timing* timing);
std::string chrome_trace(const Timeline& timeline);
std::string html_report(const Timeline& timeline, const Timing& timing);

// The critical path, last segment first: each stretch of time up to the end belongs to one record.
struct Stretch {
  std::int64_t record;  // that ran
  std::int64_t waiter;  // the record that waited for it; kNone at the end
  std::uint32_t via;    // how, as in Moment, on the waiter's core
  double begin, end;
};
template <class F>
void each_stretch(const Timeline& t, F&& f) {
  Stretch s{t.last.cause, kNone, t.last.via, 0, t.last.time};
  while (s.record != kNone && s.end > 0) {
    const Done& d = t.done[s.record];
    s.begin = std::min(d.start, s.end);
    f(s);
    s = {d.cause, s.record, d.via, 0, s.begin};
  }
  if (s.end > 0) f(Stretch{kNone, s.waiter, 0, 0, s.end});
}
std::vector<Stretch> critical_path(const Timeline& timeline);
std::vector<LineCost> path_in_words(const Timeline& timeline);

}  // namespace twin
