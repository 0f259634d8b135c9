// SPDX-License-Identifier: Apache-2.0
// The happens-before model of one core. See docs/twin_races.md.
#include <set>

#include "engine.hpp"

namespace twin {
namespace {

using PipePair = std::pair<Pipe, Pipe>;

// What the device compiler orders by itself on a vector core with --cce-auto-sync=on.
bool compiler_orders(Pipe from, Pipe to) {
  const auto other_with_scalar = [](Pipe p) { return p == Pipe::V || p == Pipe::MTE2 || p == Pipe::MTE3; };
  if (from == Pipe::V && to == Pipe::V) return true;
  return (from == Pipe::S && other_with_scalar(to)) || (to == Pipe::S && other_with_scalar(from));
}

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

std::string event_name(Pipe from, Pipe to) { return std::string(name(from)) + "_" + name(to); }

std::string how_to_order(const Core& core, const Event& old, Pipe pipe) {
  if (old.core != core.index) {
    return "order the two cores: CrossCoreSetFlag after the one and CrossCoreWaitFlag before the other, or SyncAll between "
           "them";
  }
  if (old.pipe == pipe) return format("PipeBarrier<PIPE_%s>() between the two", name(pipe));
  return format(
      "SetFlag<HardEvent::%s> after the first and WaitFlag before the second, or a queue (EnQue, DeQue) between them",
      event_name(old.pipe, pipe).c_str());
}

Finding flag_finding(const Core& core, const std::string& what, std::uint32_t at, std::uint32_t other,
                     const std::string& fix, Pipe from = Pipe::ALL, Pipe to = Pipe::ALL) {
  Finding f{Kind::Flag, what, to_string(site_of(at)), other ? to_string(site_of(other)) : "", core.label(), "", "", "", fix};
  if (to != Pipe::ALL) f.pipe_a = name(to), f.pipe_b = name(from);
  return f;
}

}  // namespace

Core::Core(int i, CoreKind k, int b, int s) : index(i), block(b), sub(s), kind(k) {}

std::string Core::label() const {
  return format("%s %d", kind == CoreKind::AIV ? "AIV" : "AIC",
                kind == CoreKind::AIV && launched().has_aic ? block * launched().aiv_a_block + sub : block);
}

Clock Core::completed(Pipe pipe) const {
  Clock c = clock[int(pipe)];
  c.own[int(pipe)] = issued[int(pipe)];
  return c;
}

void Core::learn(Pipe pipe, const Clock& c) {
  clock[int(pipe)].join_with(c);
  if (pipe != Pipe::S) return;
  // The scalar unit issues everything: what it has waited for is over before any later instruction starts, on any pipe. Its
  // own stores are not: they need a flag.
  Clock known = c;
  known.own[int(Pipe::S)] = 0;
  for (Clock& each : clock) each.join_with(known);
}

std::uint32_t Core::record_set(Pipe pipe, std::uint32_t site) {
  Record r;
  r.step = Step::Set;
  r.pipe = pipe;
  r.site = site;
  r.token = ++tokens;
  append(r);
  return r.token;
}

void Core::record_wait(Pipe pipe, std::uint32_t token, std::uint32_t site) {
  Record r;
  r.step = Step::Wait;
  r.pipe = pipe;
  r.site = site;
  r.token = token;
  append(r);
}

void Core::barrier(Pipe pipe, std::uint32_t site) {
  if (pipe == Pipe::ALL) {
    Clock all;
    for (int p = 0; p < kPipes; ++p) all.join_with(completed(Pipe(p)));
    clock.fill(all);
  } else {
    clock[int(pipe)].own[int(pipe)] = issued[int(pipe)];
  }
  Record r;
  r.step = Step::Barrier;
  r.pipe = pipe;
  r.site = site;
  append(r);
}

void Core::synchronise(Pipe from, Pipe to, std::uint32_t site) {
  if (from == to) return barrier(from, site);
  const Clock known = completed(from);
  record_wait(to, record_set(from, site), site);
  learn(to, known);
}

void Core::check_order(Pipe pipe, Memory& m, std::uint64_t begin, std::uint64_t end, bool write, const Event& now,
                       const char* instruction) {
  const auto ordered = [&](const Event& old, bool old_write) {
    if (old.tag & now.tag & kAtomic) return true;
    if (old.tag & kPolled && write && pipe == Pipe::S) return true;
    const Clock& known = clock[int(pipe)];
    if (old.core != index) return known.of(old.core, int(old.pipe)) >= old.time;
    if (old.pipe != pipe) return known.own[int(old.pipe)] >= old.time;
    if (old.time == now.time || !old_write) return true;  // a pipe reads its operands in issue order
    switch (pipe) {
      case Pipe::V:
      case Pipe::MTE2:
      case Pipe::MTE3:
        return known.own[int(pipe)] >= old.time;
      case Pipe::M:
        return !(old.tag & now.tag & kSmallMmad) || known.own[int(pipe)] >= old.time;
      default:
        return true;
    }
  };
  const auto on_meet = [&](const Event& old, bool old_write, std::uint64_t b, std::uint64_t e, std::uint32_t lost) {
    if (!write && lost && lost == now.tensor && old.tensor != lost) {
      Finding f{Kind::Overlap};
      f.line_a = to_string(site_of(now.site));
      f.line_b = to_string(site_of(old.site));
      f.core = label();
      f.pipe_a = name(pipe);
      f.pipe_b = name(old.pipe);
      f.range = hex_range(m.name, std::max(b, begin), std::min(e, end));
      f.tensor = tensor_text(now.tensor);
      f.other_tensor = tensor_text(old.tensor);
      f.what = format("%s reads a tensor that %s at %s has overwritten through another one: the two lie over each other",
                      instruction, name(old.pipe), f.line_b.c_str());
      f.fix = "move one of the two: addresses are bytes from the start of the memory, counts are elements";
      report(std::move(f));
    }
    if (old.tag & now.tag & kAtomic && old.core != index && old_write && !knows(*this, clock[int(pipe)], old)) {
      atomic_other = {&m, std::max(b, begin), std::min(e, end), old, now};
    }
    if (ordered(old, old_write)) return;
    if (launched().auto_sync && kind == CoreKind::AIV && old.core == index && compiler_orders(old.pipe, pipe)) {
      synchronise(old.pipe, pipe, now.site);
      return;
    }
    const bool other_core = old.core != index;
    const Kind k = other_core ? Kind::GmRace
                              : (!write ? Kind::ReadAfterWrite : (old_write ? Kind::WriteAfterWrite : Kind::WriteAfterRead));
    Finding f{k};
    f.line_a = to_string(site_of(now.site));
    f.line_b = to_string(site_of(old.site));
    f.core = label() + (other_core ? " against " + launched().cores[old.core]->label() : "");
    f.pipe_a = name(pipe);
    f.pipe_b = name(old.pipe);
    f.range = hex_range(m.name, std::max(b, begin), std::min(e, end));
    f.tensor = tensor_text(now.tensor);
    f.other_tensor = tensor_text(old.tensor);
    f.what = format("%s %s what %s at %s %s, and nothing orders the two", instruction, write ? "overwrites" : "reads",
                    name(old.pipe), f.line_b.c_str(), old_write ? "writes" : "reads");
    f.fix = how_to_order(*this, old, pipe);
    report(std::move(f));
  };
  m.history.access(begin, end, write, now, on_meet);
}

// ---- flags ----
namespace {

const char* kind_text(CoreKind kind) { return kind == CoreKind::AIV ? "vector" : "cube"; }

// Of a wait that nothing answers: how often the flag was set, or which other one was set instead.
std::string nearest_set(const Core& c, Pipe from, Pipe to, int id, std::uint32_t* site) {
  const auto same = c.flags.find({from, to, id});
  if (same != c.flags.end() && same->second.sets) {
    *site = same->second.last_set;
    return format("; it was set %u time%s, last at %s, and waited for as often", same->second.sets,
                  same->second.sets == 1 ? "" : "s", to_string(site_of(*site)).c_str());
  }
  for (const auto& [key, flag] : c.flags) {
    const auto& [f, t, other] = key;
    if (!flag.set || ((f != from || t != to) && other != id)) continue;
    *site = flag.site;
    return format("; the nearest that is set is %s(%d), at %s", event_name(f, t).c_str(), other,
                  to_string(site_of(*site)).c_str());
  }
  return "";
}

void never_set(const Core& c, Pipe from, Pipe to, int id, std::uint32_t at) {
  std::uint32_t other = 0;
  const std::string nearest = nearest_set(c, from, to, id, &other);
  report(flag_finding(
      c, format("WaitFlag<HardEvent::%s>(%d): nothing sets this flag%s", event_name(from, to).c_str(), id, nearest.c_str()),
      at, other, "set it on every path that leads here; the core would hang", from, to));
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
  const std::string label = event_name(from, to);
  known_event(c, "SetFlag", from, to, at);
  if (id < 0 || id > 7) {
    report(flag_finding(c, format("SetFlag<HardEvent::%s>(%d): ids are 0 to 7", label.c_str(), id), at, 0,
                        "take the id from AllocEventID or FetchEventID", from, to));
    return;
  }
  Flag& flag = c.flags[{from, to, id}];
  if (flag.set) {
    report(flag_finding(c, format("SetFlag<HardEvent::%s>(%d) while the flag is still set", label.c_str(), id), at,
                        flag.site, "wait for each set before the next one, or use another id", from, to));
  }
  flag.set = true;
  flag.site = flag.last_set = at;
  flag.token = c.record_set(from, at);
  flag.clock = c.completed(from);
  ++flag.sets;
  if (!flag.early_wait) return;
  // The wait was issued first: its pipe has stood still since. That is the same as set, then wait, unless something was
  // issued to that pipe in between: the chip runs it after this set, the twin has run it already.
  if (c.activity[int(to)] != flag.early_activity) {
    report(
        flag_finding(c,
                     format("WaitFlag<HardEvent::%s>(%d) stands before its SetFlag, at %s: what pipe %s got in between "
                            "runs after the set on the chip; the twin, which executes in program order, has run it before",
                            label.c_str(), id, to_string(site).c_str(), name(to)),
                     flag.early_wait, at, "put the SetFlag before the WaitFlag", from, to));
  }
  const std::uint32_t wait_site = flag.early_wait;
  flag.early_wait = 0;
  flag.set = false;
  c.learn(to, flag.clock);
  c.record_wait(to, flag.token, wait_site);
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
  if (!flag.set) {
    if (!known_event(c, "WaitFlag", from, to, at)) return;
    if (to == Pipe::S || flag.early_wait) {  // the scalar unit would issue nothing more, not even the set
      never_set(c, from, to, id, at);
      return;
    }
    flag.early_wait = at;
    flag.early_activity = c.activity[int(to)];
    return;
  }
  flag.set = false;
  c.learn(to, flag.clock);
  c.record_wait(to, flag.token, at);
}

void check_early_waits(Core& c) {
  for (auto& [key, flag] : c.flags) {
    if (!flag.early_wait) continue;
    const auto& [from, to, id] = key;
    const std::uint32_t at = flag.early_wait;
    flag.early_wait = 0;
    never_set(c, from, to, id, at);
  }
}

void pipe_barrier(Pipe pipe, Site site) {
  Core& c = core();
  if (pipe == Pipe::S) {
    report(flag_finding(c, "PipeBarrier<PIPE_S> is a hardware error", site_id(site), 0,
                        "leave it out: the scalar pipe orders itself"));
    return;
  }
  if (pipe == Pipe::ALL) check_early_waits(c);  // it waits for every pipe, so a pipe that stands still stops the core
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
  check_early_waits(c);
  for (const auto& [key, flag] : c.flags) {
    if (!flag.set) continue;
    const auto& [from, to, id] = key;
    report(flag_finding(c,
                        format("flag %s(%d) is still set when the kernel ends, and leaks into the next one",
                               event_name(from, to).c_str(), id),
                        flag.site, 0, "wait for it before the end", from, to));
  }
}

void check_cross_flags_at_end(Core& c) {
  for (const auto& [id, flag] : c.cross) {
    if (flag.delivered.empty()) continue;
    report(flag_finding(
        c, format("cross-core flag %d is still set when the kernel ends (%zu times)", id, flag.delivered.size()),
        flag.delivered.front().site, 0, "one CrossCoreWaitFlag for each CrossCoreSetFlag"));
  }
}

}  // namespace twin
