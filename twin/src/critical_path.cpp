// SPDX-License-Identifier: Apache-2.0
// The critical path: from the end backwards, always to what the present record had to wait for.
#include <algorithm>
#include <tuple>

#include "recent.hpp"
#include "timeline.hpp"

namespace twin {

std::vector<Stretch> critical_path(const Timeline& t) {
  std::vector<Stretch> path;
  each_stretch(t, [&](const Stretch& s) { path.push_back(s); });
  return path;
}

namespace {

// What a stretch was spent with: `ran` works, or somebody waits for it.
enum class Spent : std::uint32_t { Issue, Work, Barrier, BarrierOfAll, Flag, OtherKind, SameKind };
struct Key {
  Spent spent = Spent::Issue;
  Pipe ran = Pipe::S, waits = Pipe::S;
  CoreKind kind = CoreKind::AIV;  // of the core that ran
  std::uint32_t site = 0, because = 0;
  const char* name = "";
  auto tie() const { return std::tie(spent, ran, waits, kind, site, name, because); }
  bool operator<(const Key& o) const { return tie() < o.tie(); }
  bool operator==(const Key& o) const { return tie() == o.tie(); }
};

std::string in_words(const Key& k) {
  const std::string ran = name(k.ran);
  switch (k.spent) {
    case Spent::Issue:
      return "the scalar unit issues";
    case Spent::Work:
      return ran + " works";
    case Spent::Barrier:
      return std::string("waits for PipeBarrier<PIPE_") + name(k.waits) + ">";
    case Spent::BarrierOfAll:
      return "waits for PipeBarrier<PIPE_ALL>";
    case Spent::Flag:
      return "waits for " + ran + "→" + name(k.waits);
    default:
      return std::string("waits for ") + (k.spent == Spent::SameKind ? "another " : "") +
             (k.kind == CoreKind::AIC ? "AIC" : "AIV") + "'s " + ran;
  }
}

struct Sums {
  std::map<Key, double> cycles;
  Recent<Key, double*> recent;
  void add(const Key& key, double c) {
    if (c > 0)
      *recent.of(key, key.site * 64ull + key.because * 8ull + std::uint64_t(key.spent), [&] { return &cycles[key]; }) += c;
  }
};

void add_stretch(const Timeline& t, const Stretch& s, Sums* sums) {
  if (s.record == kNone) return sums->add({}, s.end - s.begin);
  const Record& ran = t.record(s.record);
  const Key works{Spent::Work, ran.pipe, Pipe::S, CoreKind::AIV, ran.site, 0, ran.name};
  if (s.via == 0) {
    // What the scalar unit does between its own work and the instruction that waited is to issue.
    const double issued = ran.pipe == Pipe::S ? std::max(0.0, s.end - std::max(s.begin, t.done[s.record].end)) : 0;
    sums->add({}, issued);
    return sums->add(works, s.end - s.begin - issued);
  }
  const std::size_t ran_on = t.core_of(s.record);
  const std::size_t waits_on = s.waiter == kNone ? ran_on : t.core_of(s.waiter);
  const Record& wait = t.launched->cores[waits_on]->trace[s.via - 1];
  Key key{Spent::BarrierOfAll, Pipe::S, Pipe::S, CoreKind::AIV, wait.site, ran.site, ran.name};
  if (wait.step == Step::Barrier && wait.pipe != Pipe::ALL) {
    // The pipe was at work until it had taken in the last operand; the rest is the wait for the result.
    const double worked = std::min(s.end, t.done[s.record].end);
    sums->add(works, worked - s.begin);
    key.spent = Spent::Barrier, key.waits = wait.pipe;
    return sums->add(key, s.end - std::max(s.begin, worked));
  }
  if (wait.step == Step::Wait) {
    key.spent = Spent::Flag, key.ran = ran.pipe, key.waits = wait.pipe;
  } else if (wait.step != Step::Barrier) {
    key.kind = t.launched->cores[ran_on]->kind;
    key.spent = key.kind == t.launched->cores[waits_on]->kind ? Spent::SameKind : Spent::OtherKind, key.ran = ran.pipe;
  }
  sums->add(key, s.end - s.begin);
}

}  // namespace

std::vector<LineCost> path_in_words(const Timeline& t) {
  Sums sums;
  each_stretch(t, [&](const Stretch& s) { add_stretch(t, s, &sums); });
  std::vector<LineCost> out;
  for (const auto& [key, cycles] : sums.cycles) {
    out.push_back({in_words(key), key.site ? line_for_later(key.site) : "", key.name,
                   key.because ? line_for_later(key.because) : "", cycles});
  }
  return out;
}

}  // namespace twin
