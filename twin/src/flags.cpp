// SPDX-License-Identifier: Apache-2.0
// Flags between the pipes of a core, and barriers.
#include <set>

#include "engine.hpp"
#include "launched.hpp"

namespace twin {

std::string event_name(Pipe from, Pipe to) { return std::string(name(from)) + "_" + name(to); }

namespace {

using PipePair = std::pair<Pipe, Pipe>;

const std::set<PipePair>& hard_events(CoreKind kind) {
  using P = Pipe;
  static const std::set<PipePair> kVector = {{P::MTE2, P::V}, {P::V, P::MTE2},    {P::MTE3, P::V},    {P::V, P::MTE3},
                                             {P::V, P::V},    {P::MTE3, P::MTE2}, {P::MTE2, P::MTE3}, {P::S, P::V},
                                             {P::V, P::S},    {P::S, P::MTE2},    {P::MTE2, P::S},    {P::S, P::MTE3},
                                             {P::MTE3, P::S}};
  static const std::set<PipePair> kCube = {
      {P::MTE2, P::MTE1}, {P::MTE1, P::MTE2}, {P::MTE1, P::M},   {P::M, P::MTE1},   {P::MTE3, P::MTE1}, {P::MTE1, P::MTE3},
      {P::MTE2, P::M},    {P::M, P::MTE2},    {P::M, P::FIX},    {P::FIX, P::M},    {P::MTE3, P::MTE2}, {P::MTE2, P::MTE3},
      {P::S, P::MTE2},    {P::MTE2, P::S},    {P::S, P::MTE3},   {P::MTE3, P::S},   {P::MTE2, P::FIX},  {P::FIX, P::MTE2},
      {P::FIX, P::S},     {P::M, P::S},       {P::FIX, P::MTE3}, {P::MTE1, P::FIX}, {P::FIX, P::MTE1},  {P::FIX, P::FIX}};
  return kind == CoreKind::AIV ? kVector : kCube;
}

Finding flag_finding(const Core& core, const std::string& what, std::uint32_t at, std::uint32_t other,
                     const std::string& fix, Pipe from = Pipe::ALL, Pipe to = Pipe::ALL) {
  Finding f{Kind::Flag, what, to_string(site_of(at)), other ? to_string(site_of(other)) : "", core.label(), "", "", "", fix};
  if (to != Pipe::ALL) f.pipe_a = name(to), f.pipe_b = name(from);
  return f;
}

const char* kind_text(CoreKind kind) { return kind == CoreKind::AIV ? "vector" : "cube"; }

// Of a wait that nothing answers: how often the flag was set, or which other one was set instead.
std::string nearest_set(Core& c, Pipe from, Pipe to, int id, std::uint32_t* site) {
  const auto same = c.flags.find({from, to, id});
  if (same != c.flags.end() && same->second.sets) {
    *site = same->second.last_set;
    return format("; it was set %u time%s, last at %s, and waited for as often", same->second.sets,
                  same->second.sets == 1 ? "" : "s", to_string(site_of(*site)).c_str());
  }
  for (auto& [key, flag] : c.flags) {
    const auto& [f, t, other] = key;
    if (!flag.set || ((f != from || t != to) && other != id)) continue;
    *site = flag.site;
    flag.named = true;
    return format("; the nearest that is set is %s(%d), at %s", event_name(f, t).c_str(), other,
                  to_string(site_of(*site)).c_str());
  }
  return "";
}

// stopped: the line at which the scalar unit waits for this pipe, 0 for the end of the kernel.
void never_set(Core& c, Pipe from, Pipe to, int id, std::uint32_t at, std::uint32_t stopped = 0) {
  std::uint32_t other = 0;
  const std::string nearest = nearest_set(c, from, to, id, &other);
  const std::string until =
      stopped ? format(" before %s, where the scalar unit waits for pipe %s", to_string(site_of(stopped)).c_str(), name(to))
              : "";
  report(flag_finding(c,
                      format("WaitFlag<HardEvent::%s>(%d): nothing sets this flag%s%s", event_name(from, to).c_str(), id,
                             until.c_str(), nearest.c_str()),
                      at, other, "set it on every path that leads here; the core would hang", from, to));
}

// Pipes that wait for each other, each set behind the other's wait: the pipe that has stood longest.
int longest_in_circle(const Core& c) {
  int p = 0;
  while (!(c.standing >> p & 1)) ++p;
  for (int k = 0; k < kPipes; ++k) p = int(c.held_back[p].front().from);  // now inside of it
  int longest = p;
  for (int k = 0; k < kPipes; ++k) {
    p = int(c.held_back[p].front().from);
    if (c.held_back[p].front().number < c.held_back[longest].front().number) longest = p;
  }
  return longest;
}

void report_circle(const Core& c) {
  Finding f{Kind::Deadlock};
  f.core = c.label();
  f.what = "pipes wait for each other:";
  const int first = longest_in_circle(c);
  for (int p = first; f.line_a.empty() || p != first;) {
    const HeldBack& wait = c.held_back[p].front();
    const std::string at = to_string(site_of(wait.site));
    f.what += format("%s %s for %s at %s", f.line_a.empty() ? "" : ",", name(Pipe(p)), name(wait.from), at.c_str());
    (f.line_a.empty() ? f.line_a : f.line_b) = at;
    (f.pipe_a.empty() ? f.pipe_a : f.pipe_b) = name(Pipe(p));
    p = int(wait.from);
  }
  f.fix = "put one of the sets before the wait of its own pipe";
  report(std::move(f));
}

bool known_event(const Core& c, const char* what, Pipe from, Pipe to, std::uint32_t at) {
  if (hard_events(c.kind).count({from, to})) return true;
  report(flag_finding(
      c, format("%s<HardEvent::%s>: a %s core has no such event", what, event_name(from, to).c_str(), kind_text(c.kind)), at,
      0, "use an event between pipes that this core has", from, to));
  return false;
}

}  // namespace

void set_flag(Pipe from, Pipe to, int id, Site site) {
  Core& c = core();
  const std::uint32_t at = site_id(site);
  known_event(c, "SetFlag", from, to, at);
  if (id < 0 || id > 7) {
    report(flag_finding(c, format("SetFlag<HardEvent::%s>(%d): ids are 0 to 7", event_name(from, to).c_str(), id), at, 0,
                        "take the id from AllocEventID or FetchEventID", from, to));
    return;
  }
  Flag& flag = c.flags[{from, to, id}];
  if (flag.set) {
    ++flag.lost;
    report(flag_finding(c,
                        format("SetFlag<HardEvent::%s>(%d) while the flag is still set", event_name(from, to).c_str(), id),
                        at, flag.site, "wait for each set before the next one, or use another id", from, to));
  }
  flag.last_set = at;
  ++flag.sets;
  if (!flag.early.empty()) {
    const std::shared_ptr<Promise> promise = std::move(flag.early.front().promise);
    flag.early.pop_front();
    return c.keep(promise, from, at);
  }
  if (flag.given_up) {
    --flag.given_up;
    return;
  }
  flag.set = true;
  flag.site = at;
  flag.handover = c.hand_over(from, at);
}

void wait_flag(Pipe from, Pipe to, int id, Site site) {
  Core& c = core();
  const std::uint32_t at = site_id(site);
  if (id < 0 || id > 7) {
    report(flag_finding(c, format("WaitFlag<HardEvent::%s>(%d): ids are 0 to 7", event_name(from, to).c_str(), id), at, 0,
                        "take the id from AllocEventID or FetchEventID", from, to));
    return;
  }
  Flag& flag = c.flags[{from, to, id}];
  if (!flag.set && flag.lost) {  // the wait of a set that was reported
    --flag.lost;
    return c.learn(to, c.completed(from));
  }
  if (!flag.set) {
    if (!known_event(c, "WaitFlag", from, to, at)) return;
    if (to == Pipe::S) {  // the scalar unit would issue nothing more, not even the set
      never_set(c, from, to, id, at);
      return c.learn(to, c.completed(from));
    }
    Handover awaited;
    awaited.promise = std::make_shared<Promise>();
    flag.early.push_back({at, awaited.promise});
    c.take_over(to, awaited, from, at);
    return;
  }
  flag.set = false;
  c.take_over(to, flag.handover, from, at);
}

void report_standing(Core& c, std::uint32_t stopped) {
  bool early = false;
  for (const auto& [key, flag] : c.flags) {
    const auto& [from, to, id] = key;
    for (const EarlyWait& wait : flag.early) never_set(c, from, to, id, wait.site, stopped);
    early |= !flag.early.empty();
  }
  if (!early && c.standing) report_circle(c);
}

void Core::stop(std::uint32_t site) {
  if (going_on >= 0) return;
  while (standing) {
    report_standing(*this, site);
    bool early = false;
    for (auto& [key, flag] : flags) {
      for (const EarlyWait& wait : flag.early) {  // as if it had been set, so that what follows is no finding of its own
        wait.promise->clock = completed(std::get<0>(key));
        wait.promise->kept = true;
      }
      early |= !flag.early.empty();
      if (site) flag.given_up += static_cast<std::uint32_t>(flag.early.size());
      flag.early.clear();
    }
    if (!early && standing) held_back[longest_in_circle(*this)].front().awaits->kept = true;
    go_on();
  }
}

void pipe_barrier(Pipe pipe, Site site) {
  Core& c = core();
  if (pipe == Pipe::S) {
    report(flag_finding(c, "PipeBarrier<PIPE_S> is a hardware error", site_id(site), 0,
                        "leave it out: the scalar pipe orders itself"));
    return;
  }
  c.barrier(pipe, site_id(site));
}

int alloc_event(Pipe from, Pipe to, bool keep, Site site) {
  Core& c = core();
  std::uint8_t& used = c.events[{from, to}];
  for (int id = 0; id < 8; ++id) {
    if (used & (1 << id)) continue;
    if (keep) used |= 1 << id;
    return id;
  }
  report(flag_finding(c, format("AllocEventID<HardEvent::%s>: all 8 ids are taken", event_name(from, to).c_str()),
                      site_id(site), 0, "ReleaseEventID what is no longer used", from, to));
  return 7;
}

void release_event(Pipe from, Pipe to, int id, Site) {
  core().events[{from, to}] &= static_cast<std::uint8_t>(~(1 << (id & 7)));
}

void check_flags_at_end(Core& c) {
  for (const auto& [key, flag] : c.flags) {
    const auto& [from, to, id] = key;
    if (!flag.set || flag.named || !hard_events(c.kind).count({from, to})) continue;  // the others have been reported
    report(flag_finding(c,
                        format("flag %s(%d) is still set when the kernel ends, and leaks into the next one",
                               event_name(from, to).c_str(), id),
                        flag.site, 0, "wait for it before the end", from, to));
  }
}

void check_cross_flags_at_end(Core& c) {
  if (!is_mix(launched().type)) return;  // reported at the set
  for (const auto& [id, flag] : c.cross) {
    if (flag.delivered.empty()) continue;
    report(flag_finding(
        c, format("cross-core flag %d is still set when the kernel ends (%zu times)", id, flag.delivered.size()),
        flag.delivered.front().site, 0, "one CrossCoreWaitFlag for each CrossCoreSetFlag"));
  }
}

}  // namespace twin
