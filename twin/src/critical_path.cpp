// SPDX-License-Identifier: Apache-2.0
// The critical path: from the end backwards, always to what the present record had to wait for.
#include <algorithm>
#include <tuple>

#include "timeline.hpp"

namespace twin {

std::vector<Stretch> critical_path(const Timeline& t) {
  std::vector<Stretch> path;
  Stretch s{t.last.cause, kNone, t.last.via, 0, t.last.time};
  while (s.record != kNone && s.end > 0) {
    const Done& d = t.done[s.record];
    s.begin = std::min(d.start, s.end);
    path.push_back(s);
    s = {d.cause, s.record, d.via, 0, s.begin};
  }
  if (s.end > 0) path.push_back({kNone, s.waiter, 0, 0, s.end});
  return path;
}

namespace {

struct Words {
  std::map<std::tuple<std::string, std::uint32_t, const char*, std::uint32_t>, double> cycles;
  void add(std::string what, std::uint32_t site, const char* name, std::uint32_t because, double c) {
    if (c > 0) cycles[{std::move(what), site, name, because}] += c;
  }
};

void add_stretch(const Timeline& t, const Stretch& s, Words* words) {
  if (s.record == kNone) return words->add("the scalar unit issues", 0, "", 0, s.end - s.begin);
  const Record& ran = t.record(s.record);
  const std::string works = std::string(name(ran.pipe)) + " works";
  if (s.via == 0) {
    // What the scalar unit does between its own work and the instruction that waited is to issue.
    const double issued = ran.pipe == Pipe::S ? std::max(0.0, s.end - std::max(s.begin, t.done[s.record].end)) : 0;
    words->add("the scalar unit issues", 0, "", 0, issued);
    return words->add(works, ran.site, ran.name, 0, s.end - s.begin - issued);
  }
  const std::size_t ran_on = t.core_of(s.record);
  const std::size_t waits_on = s.waiter == kNone ? ran_on : t.core_of(s.waiter);
  const Record& wait = t.launched->cores[waits_on]->trace[s.via - 1];
  if (wait.step == Step::Barrier && wait.pipe != Pipe::ALL) {
    // The pipe was at work until it had taken in the last operand; the rest is the wait for the result.
    const double worked = std::min(s.end, t.done[s.record].end);
    words->add(works, ran.site, ran.name, 0, worked - s.begin);
    return words->add(std::string("waits for PipeBarrier<PIPE_") + name(wait.pipe) + ">", wait.site, ran.name, ran.site,
                      s.end - std::max(s.begin, worked));
  }
  std::string what = "waits for ";
  if (wait.step == Step::Barrier) {
    what += "PipeBarrier<PIPE_ALL>";
  } else if (wait.step == Step::Wait) {
    what += std::string(name(ran.pipe)) + "→" + name(wait.pipe);
  } else {
    const bool same = t.launched->cores[ran_on]->kind == t.launched->cores[waits_on]->kind;
    what += std::string(same ? "another " : "") + (t.launched->cores[ran_on]->kind == CoreKind::AIC ? "AIC" : "AIV") +
            "'s " + name(ran.pipe);
  }
  words->add(what, wait.site, ran.name, ran.site, s.end - s.begin);
}

}  // namespace

std::vector<LineCost> in_words(const Timeline& t, const std::vector<Stretch>& path) {
  Words words;
  for (const Stretch& s : path) add_stretch(t, s, &words);
  std::vector<LineCost> out;
  for (const auto& [key, cycles] : words.cycles) {
    const auto& [what, site, instruction, because] = key;
    out.push_back(
        {what, site ? to_string(site_of(site)) : "", instruction, because ? to_string(site_of(because)) : "", cycles});
  }
  std::stable_sort(out.begin(), out.end(), [](const LineCost& a, const LineCost& b) {
    return std::tie(b.cycles, a.line, a.what, a.because_line) < std::tie(a.cycles, b.line, b.what, b.because_line);
  });
  return out;
}

}  // namespace twin
