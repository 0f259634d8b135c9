// SPDX-License-Identifier: Apache-2.0
// The happens-before model of one core. See docs/twin_races.md.
#include "engine.hpp"
#include "launched.hpp"

namespace twin {
namespace {

// What the device compiler orders by itself on a vector core with --cce-auto-sync=on.
bool compiler_orders(Pipe from, Pipe to) {
  const auto other_with_scalar = [](Pipe p) { return p == Pipe::V || p == Pipe::MTE2 || p == Pipe::MTE3; };
  if (from == Pipe::V && to == Pipe::V) return true;
  return (from == Pipe::S && other_with_scalar(to)) || (to == Pipe::S && other_with_scalar(from));
}

std::string how_to_order(const Core& core, const Event& old, Pipe pipe) {
  if (old.pipe == Pipe::HCCL) return "Wait for the task first";
  if (pipe == Pipe::HCCL) return "PipeBarrier<PIPE_ALL>(), or SyncAll where other cores take part, before Commit";
  if (old.core != core.index) {
    return "order the two cores: CrossCoreSetFlag after the one and CrossCoreWaitFlag before the other, or SyncAll between "
           "them";
  }
  if (old.pipe == pipe) return format("PipeBarrier<PIPE_%s>() between the two", name(pipe));
  return format(
      "SetFlag<HardEvent::%s> after the first and WaitFlag before the second, or a queue (EnQue, DeQue) between them",
      event_name(old.pipe, pipe).c_str());
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
  learn_everywhere(known);
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
    stop(site);  // it waits for every pipe, so a pipe that stands stops the core
    Clock all;
    for (int p = 0; p < kPipes; ++p) all.join_with(Pipe(p) == Pipe::HCCL ? clock[p] : completed(Pipe(p)));
    clock.fill(all);
  } else {
    if (stands(pipe)) return hold_back(pipe, [this, pipe, site] { barrier(pipe, site); });
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
  if (stands(from) || stands(to)) return take_over(to, hand_over(from, site), from, site);
  const Clock known = completed(from);
  record_wait(to, record_set(from, site), site);
  learn(to, known);
}

void Core::assume_order(const Event& old, Pipe pipe) {
  Clock known = clock[int(old.pipe)];
  known.own[int(old.pipe)] = std::max(known.own[int(old.pipe)], old.time);
  learn(pipe, known);
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
    if (!other_core) assume_order(old, pipe);
  };
  m.history.access(begin, end, write, now, on_meet);
}

}  // namespace twin
