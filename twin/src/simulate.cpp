// SPDX-License-Identifier: Apache-2.0
// The timing model: replays what the cores recorded on a device's numbers. Every pipe works through its own queue in order;
// only transfers that touch GM meet those of other cores (gm_traffic.hpp). See docs/twin_timing.md.
#include <algorithm>
#include <bit>
#include <cmath>
#include <queue>

#include "gm_traffic.hpp"
#include "launched.hpp"
#include "timeline.hpp"

namespace twin {
namespace {

constexpr double kUnknown = -1;

struct Queued {
  std::uint32_t record;
  Moment ready;
};

// A pipe's queue, and when its last records left it (what works began, what waits was over): as many as the queue is deep.
// Records are counted from the first on.
struct PipeState {
  std::vector<Queued> queue;
  std::vector<Moment> starts;
  std::uint64_t pushed = 0, popped = 0;
  Moment free, done;  // may begin the next; has finished all
  bool transferring = false;

  bool empty() const { return pushed == popped; }
  const Queued& front() const { return queue[popped & (queue.size() - 1)]; }
  void push(std::uint32_t record, const Moment& ready, std::size_t depth) {
    if (queue.empty()) queue.resize(std::bit_ceil(depth)), starts.resize(queue.size());
    Queued& q = queue[pushed++ & (queue.size() - 1)];
    q.record = record;
    q.ready = ready;
  }
  void pop(const Moment& start) {
    // By its parts: a whole one, put together on the stack and copied from there, waits for its own stores.
    Moment& began = starts[popped++ & (starts.size() - 1)];
    began.time = start.time;
    began.cause = start.cause;
    began.via = start.via;
  }
  // Since when there is room for the next record, where the pipe was given as many as the queue is deep: since the one so
  // many before it left. It did, as fewer are waiting.
  const Moment& room_since(std::size_t depth) const { return starts[(pushed - depth) & (starts.size() - 1)]; }
};

struct CoreState {
  const Core* core = nullptr;
  std::int64_t first = 0;  // number of its first record among all
  std::size_t next = 0;
  Moment scalar;
  std::array<PipeState, kPipes> pipes;
  std::vector<Moment> tokens;
  bool ended = false;

  bool at_end() const {
    if (next < core->trace.size()) return false;
    for (const PipeState& p : pipes) {
      if (!p.empty() || p.transferring) return false;
    }
    return true;
  }
  Moment end() const {
    Moment last = scalar;
    for (const PipeState& p : pipes) last.at_least(p.done);
    return last;
  }
};

class Simulation {
 public:
  Simulation(const Launched& l, const Device& d)
      : device_(d),
        gm_(d),
        mmad_queued_(d.cost("MmadQueued").per_unit),
        issue_(d.at("issue_cycles")),
        flag_(d.at("flag_cycles")),
        vector_issue_(d.at("vector_issue_cycles")),
        depth_(static_cast<std::size_t>(d.at("queue_depth"))) {
    for (const std::string& row : cost_rows()) costs_.push_back(d.cost(row));
    out_.launched = &l;
    out_.device = &d;
    std::int64_t records = 0;
    for (const auto& core : l.cores) {
      CoreState s;
      s.core = core.get();
      s.first = records;
      s.tokens.assign(core->tokens + 1, {kUnknown});
      out_.first.push_back(records);
      records += static_cast<std::int64_t>(core->trace.size());
      cores_.push_back(std::move(s));
    }
    out_.done.resize(records);
    out_.busy.resize(cores_.size());
    cross_.assign(l.cross_tokens + 1, {});
    for (const auto& [token, sets] : l.cross_token_sets) cross_[token].missing = sets;
  }

  Timeline run() {
    // A block gets its cores as soon as a block before it has left them.
    blocks_.resize(out_.launched->blocks);
    for (std::size_t c = 0; c < cores_.size(); ++c) blocks_[cores_[c].core->block].push_back(static_cast<int>(c));
    const bool all = out_.launched->all_at_once || out_.launched->at_once == 0;
    const std::size_t at_once = all ? blocks_.size() : static_cast<std::size_t>(out_.launched->at_once);
    out_.slot.resize(blocks_.size());
    while (next_block_ < std::min(at_once, blocks_.size())) begin_block({}, static_cast<int>(next_block_));
    while (!wakes_.empty() || !gm_.idle()) {
      const double next_wake = wakes_.empty() ? HUGE_VAL : wakes_.top().first;
      const double next_end = gm_.next_end();
      gm_.advance(std::min(next_wake, next_end));
      int core;
      if (next_end <= next_wake) {
        const GmTraffic::Transfer t = gm_.finish_next();
        finish(t);
        core = t.core;
      } else {
        core = wakes_.top().second;
        wakes_.pop();
      }
      step(core);
    }
    for (const CoreState& s : cores_) out_.last.at_least(s.end());
    const auto paths = out_.traffic;
    out_.traffic = gm_.traffic();
    std::copy(std::begin(paths.paths), std::end(paths.paths), out_.traffic.paths);
    return std::move(out_);
  }

 private:
  struct Cross {
    int missing = 0;
    Moment time{kUnknown};
    std::vector<int> waiting;
  };

  void wake(int core, double at) { wakes_.push({at, core}); }
  void step(int c) {
    for (bool moved = true; moved;) {
      moved = step_scalar(c);
      for (int p = 1; p < kPipes; ++p) moved |= step_pipe(c, p);
    }
    if (cores_[c].ended || !cores_[c].at_end()) return;
    cores_[c].ended = true;
    Moment end;
    for (const int other : blocks_[cores_[c].core->block]) {
      if (!cores_[other].ended) return;
      end.at_least(cores_[other].end());
    }
    if (next_block_ < blocks_.size()) begin_block(end, out_.slot[cores_[c].core->block]);
  }
  void begin_block(const Moment& when, int slot) {
    out_.slot[next_block_] = slot;
    for (const int c : blocks_[next_block_]) {
      cores_[c].scalar = {when.time, when.cause};
      wake(c, when.time);
    }
    ++next_block_;
  }
  bool step_scalar(int c);
  bool scalar_record(int c, const Record& r);
  bool step_pipe(int c, int p);
  void execute(int c, int p, const Queued& q, const Moment& at);
  void transfer(int c, const Queued& q, const Moment& at);
  void finish(const GmTraffic::Transfer& t);
  void arrive(std::uint32_t token, const Moment& when);

  const Device& device_;
  GmTraffic gm_;
  std::vector<InstructionCost> costs_;
  std::vector<CoreState> cores_;
  std::vector<Cross> cross_;
  std::vector<std::vector<int>> blocks_;  // their cores
  std::size_t next_block_ = 0;
  using Wake = std::pair<double, int>;
  std::priority_queue<Wake, std::vector<Wake>, std::greater<Wake>> wakes_;
  double mmad_queued_, issue_, flag_, vector_issue_;
  std::size_t depth_;
  Timeline out_;
};

// Waits for `what`, at the core's wait or barrier `record`.
void wait_for(Moment* at, const Moment& what, std::size_t record) {
  if (what.time > at->time) *at = {what.time, what.cause, static_cast<std::uint32_t>(record) + 1};
}

void Simulation::arrive(std::uint32_t token, const Moment& when) {
  Cross& x = cross_[token];
  x.time.at_least(when);
  if (--x.missing == 0) {
    x.time.time += device_.at("cross_core_flag_cycles");
    for (const int core : x.waiting) wake(core, std::max(gm_.now(), x.time.time));
  }
}

// What the scalar unit does itself; false: it is held back.
bool Simulation::scalar_record(int c, const Record& r) {
  CoreState& s = cores_[c];
  const std::int64_t id = s.first + static_cast<std::int64_t>(s.next);
  switch (r.step) {
    case Step::CrossWait: {
      Cross& x = cross_[r.token];
      if (x.missing > 0) {
        if (x.waiting.empty() || x.waiting.back() != c) x.waiting.push_back(c);
        return false;
      }
      wait_for(&s.scalar, x.time, s.next);
      break;
    }
    case Step::Barrier:  // of all pipes
      for (const PipeState& pipe : s.pipes) {
        if (&pipe != &s.pipes[int(Pipe::HCCL)] && (!pipe.empty() || pipe.transferring)) return false;
      }
      for (const PipeState& pipe : s.pipes) {
        if (&pipe != &s.pipes[int(Pipe::HCCL)]) wait_for(&s.scalar, pipe.done, s.next);
      }
      break;
    case Step::Wait:
      if (s.tokens[r.token].time == kUnknown) return false;
      wait_for(&s.scalar, s.tokens[r.token], s.next);
      s.scalar.time += flag_;
      break;
    case Step::Set:
      s.tokens[r.token] = s.scalar;
      break;
    case Step::CrossSet:
      arrive(r.token, s.scalar);
      break;
    case Step::Execute: {
      const double cycles = costs_[r.cost].per_unit * static_cast<double>(r.units);
      out_.done[id] = {s.scalar.time, s.scalar.time + cycles, s.scalar.cause, s.scalar.via};
      s.scalar = {s.scalar.time + cycles, id};
      out_.busy[c][0] += cycles;
      break;
    }
  }
  return true;
}

// The scalar unit runs ahead as far as nothing holds it back.
bool Simulation::step_scalar(int c) {
  CoreState& s = cores_[c];
  bool moved = false;
  for (; s.next < s.core->trace.size(); ++s.next, moved = true) {
    const Record& r = s.core->trace[s.next];
    if (r.pipe == Pipe::S || r.pipe == Pipe::ALL || r.step == Step::CrossWait) {
      if (!scalar_record(c, r)) return moved;
      continue;
    }
    PipeState& pipe = s.pipes[int(r.pipe)];
    if (pipe.pushed - pipe.popped >= depth_) return moved;
    if (pipe.pushed >= depth_) s.scalar.at_least(pipe.room_since(depth_));
    pipe.push(static_cast<std::uint32_t>(s.next), s.scalar, depth_);
    s.scalar.time += issue_;
  }
  return moved;
}

bool Simulation::step_pipe(int c, int p) {
  CoreState& s = cores_[c];
  PipeState& pipe = s.pipes[p];
  bool moved = false;
  while (!pipe.empty() && !pipe.transferring) {
    const Queued& q = pipe.front();
    const Record& r = s.core->trace[q.record];
    Moment at = pipe.free;
    at.at_least(q.ready);
    if (r.step == Step::Wait) {
      if (s.tokens[r.token].time == kUnknown) return moved;
      wait_for(&at, s.tokens[r.token], q.record);
      at.time += flag_;
      pipe.free = at;
    } else if (r.step == Step::Set || r.step == Step::CrossSet) {
      Moment set = at;
      set.at_least(pipe.done);
      if (r.step == Step::Set) {
        s.tokens[r.token] = set;
      } else {
        arrive(r.token, set);
      }
    } else if (r.step == Step::Barrier) {
      wait_for(&at, pipe.done, q.record);
      pipe.free = at;
    } else if (r.span_count > 0 && r.path != Path::None) {
      if (at.time > gm_.now() + 1e-9) {
        wake(c, at.time);
        return moved;
      }
      transfer(c, q, at);
    } else {
      execute(c, p, q, at);
    }
    pipe.pop(at);
    moved = true;
  }
  return moved;
}

void Simulation::execute(int c, int p, const Queued& q, const Moment& at) {
  CoreState& s = cores_[c];
  PipeState& pipe = s.pipes[p];
  const Record& r = s.core->trace[q.record];
  const std::int64_t id = s.first + q.record;
  double busy, whole;
  if (r.path != Path::None && r.path != Path::UbToUb) {
    busy = device_.moves[int(r.path)].cycles(static_cast<double>(r.units));
    whole = busy + (r.pipe == Pipe::FIX ? device_.at("fix_latency_cycles") : device_.at("mte1_latency_cycles"));
  } else {
    const InstructionCost& cost = costs_[r.cost];
    const double work = static_cast<double>(r.units) * (r.narrow ? cost.per_unit_16 : cost.per_unit) * r.conflict;
    busy = r.pipe == Pipe::M ? work + mmad_queued_ : std::max(work, vector_issue_);
    whole = std::max(busy, work + cost.fixed);
    if (r.pipe == Pipe::M) out_.cube_cycles += static_cast<double>(r.units);
  }
  out_.traffic.paths[int(r.path)] += r.path == Path::None ? 0 : static_cast<double>(r.units);
  out_.busy[c][p] += busy;
  pipe.free = {at.time + busy, id};
  pipe.done.at_least({at.time + whole, id});
  out_.done[id] = {at.time, at.time + busy, at.cause, at.via};
}

void Simulation::transfer(int c, const Queued& q, const Moment& at) {
  CoreState& s = cores_[c];
  const Record& r = s.core->trace[q.record];
  gm_.start(c, *s.core, q.record, r);
  out_.traffic.paths[int(r.path)] += static_cast<double>(r.units);
  s.pipes[int(r.pipe)].transferring = true;
  out_.done[s.first + q.record] = {at.time, at.time, at.cause, at.via};
}

void Simulation::finish(const GmTraffic::Transfer& t) {
  PipeState& pipe = cores_[t.core].pipes[t.pipe];
  const std::int64_t id = cores_[t.core].first + t.record;
  pipe.transferring = false;
  pipe.free = {gm_.now(), id};
  pipe.done.at_least({gm_.now() + t.latency, id});
  out_.done[id].end = gm_.now();
  out_.busy[t.core][t.pipe] += gm_.now() - out_.done[id].start;
}

}  // namespace

Timeline simulate(const Launched& launched, const Device& device) { return Simulation(launched, device).run(); }

}  // namespace twin
