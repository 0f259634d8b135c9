// SPDX-License-Identifier: Apache-2.0
// The timing model: replays what the cores recorded on a device's numbers. Every pipe works through its own queue in order;
// only transfers that touch GM meet those of other cores. See docs/twin_timing.md.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <queue>

#include "engine.hpp"
#include "l2.hpp"

namespace twin {
namespace {

constexpr double kUnknown = -1;
constexpr std::int64_t kNone = -1;

struct Done {  // of one record
  double start = 0, end = 0;
  std::int64_t cause = kNone;  // the record that it had to wait for
};

struct Moment {  // a time, and the record that made it that late
  double time = 0;
  std::int64_t cause = kNone;
  void at_least(const Moment& other) {
    if (other.time > time) *this = other;
  }
};

struct Queued {
  std::uint32_t record;
  Moment ready;
};

struct PipeState {
  std::deque<Queued> queue;
  std::deque<double> starts;  // of the last records, as many as the queue is deep
  std::uint64_t pushed = 0, popped = 0;
  Moment free, done;  // may begin the next; has finished all
  bool transferring = false;
  double busy = 0;
};

struct CoreState {
  const Core* core = nullptr;
  std::int64_t first = 0;  // number of its first record among all
  std::size_t next = 0;
  Moment scalar;
  double scalar_busy = 0;
  std::array<PipeState, kPipes> pipes;
  std::vector<Moment> tokens;
};

struct Transfer {
  int core, pipe;
  std::uint32_t record;
  double finish_virtual, demand, latency;
};

class Simulation {
 public:
  Simulation(const Launched& l, const Device& d)
      : launched_(l),
        device_(d),
        l2_(std::uint64_t(d.at("l2_bytes")), std::uint32_t(d.at("l2_line_bytes")), std::uint32_t(d.at("l2_ways"))) {
    for (const std::string& row : cost_rows()) costs_.push_back(d.cost(row));
    mmad_queued_ = d.cost("MmadQueued").per_unit;
    issue_ = d.at("issue_cycles");
    flag_ = d.at("flag_cycles");
    vector_issue_ = d.at("vector_issue_cycles");
    depth_ = static_cast<std::size_t>(d.at("queue_depth"));
    hz_ = d.mhz() * 1e6;
    line_ = d.at("l2_line_bytes");
    std::int64_t records = 0;
    for (const auto& core : l.cores) {
      CoreState s;
      s.core = core.get();
      s.first = records;
      s.tokens.assign(core->tokens + 1, {kUnknown, kNone});
      records += static_cast<std::int64_t>(core->trace.size());
      cores_.push_back(std::move(s));
    }
    done_.resize(records);
    cross_.assign(l.cross_tokens + 1, {});
    for (const auto& [token, sets] : l.cross_token_sets) cross_[token].missing = sets;
  }

  void run() {
    for (int c = 0; c < static_cast<int>(cores_.size()); ++c) wake(c, 0);
    while (!wakes_.empty() || !transfers_.empty()) {
      const double next_wake = wakes_.empty() ? HUGE_VAL : wakes_.top().first;
      const double next_end =
          transfers_.empty() ? HUGE_VAL : now_ + (transfers_.begin()->first.first - virtual_) * slowdown();
      advance(std::min(next_wake, next_end));
      if (next_end <= next_wake) {
        const Transfer t = transfers_.begin()->second;
        transfers_.erase(transfers_.begin());
        demand_ = transfers_.empty() ? 0 : demand_ - t.demand;
        finish(t);
        step(t.core);
      } else {
        const int core = wakes_.top().second;
        wakes_.pop();
        step(core);
      }
    }
  }

  Timing timing() const;
  std::string chrome_trace() const;

 private:
  struct Cross {
    int missing = 0;
    Moment time{kUnknown, kNone};
    std::vector<int> waiting;
  };

  double slowdown() const { return demand_ > 1 ? demand_ : 1; }
  void advance(double to) {
    if (to > now_) {
      virtual_ += (to - now_) / slowdown();
      now_ = to;
    }
  }
  void wake(int core, double at) { wakes_.push({at, core}); }
  void step(int c);
  bool step_scalar(int c);
  bool step_pipe(int c, int p);
  void execute(int c, int p, const Queued& q);
  void transfer(int c, int p, const Queued& q, double start);
  void finish(const Transfer& t);
  Moment arrive(std::uint32_t token, const Moment& when);

  const Launched& launched_;
  const Device& device_;
  L2 l2_;
  std::vector<InstructionCost> costs_;
  std::vector<CoreState> cores_;
  std::vector<Done> done_;
  std::vector<Cross> cross_;
  using Wake = std::pair<double, int>;
  std::priority_queue<Wake, std::vector<Wake>, std::greater<Wake>> wakes_;
  // Transfers share GM: each runs at its own pace while the demands add up to no more than all that GM can serve, otherwise
  // all slow down alike. In virtual time, which slows down with them, each ends when it would alone.
  std::map<std::pair<double, std::uint64_t>, Transfer> transfers_;
  double now_ = 0, virtual_ = 0, demand_ = 0;
  std::uint64_t transfer_count_ = 0;
  double mmad_queued_, issue_, flag_, vector_issue_, hz_, line_;
  std::size_t depth_;
  double read_bytes_ = 0, write_bytes_ = 0, hit_bytes_ = 0, hbm_bytes_ = 0, macs_ = 0;
};

void Simulation::step(int c) {
  for (bool moved = true; moved;) {
    moved = step_scalar(c);
    for (int p = 1; p < kPipes; ++p) moved |= step_pipe(c, p);
  }
}

Moment Simulation::arrive(std::uint32_t token, const Moment& when) {
  Cross& x = cross_[token];
  x.time.at_least(when);
  if (--x.missing == 0) {
    x.time.time += device_.at("cross_core_flag_cycles");
    for (const int core : x.waiting) wake(core, std::max(now_, x.time.time));
  }
  return x.time;
}

// The scalar unit runs ahead as far as nothing holds it back.
bool Simulation::step_scalar(int c) {
  CoreState& s = cores_[c];
  bool moved = false;
  while (s.next < s.core->trace.size()) {
    const Record& r = s.core->trace[s.next];
    const std::int64_t id = s.first + static_cast<std::int64_t>(s.next);
    const int p = int(r.pipe);
    if (r.step == Step::CrossWait) {
      Cross& x = cross_[r.token];
      if (x.missing > 0) {
        if (x.waiting.empty() || x.waiting.back() != c) x.waiting.push_back(c);
        return moved;
      }
      s.scalar.at_least(x.time);
      done_[id] = {s.scalar.time, s.scalar.time, s.scalar.cause};
    } else if (r.step == Step::Barrier && r.pipe == Pipe::ALL) {
      for (const PipeState& pipe : s.pipes) {
        if (!pipe.queue.empty() || pipe.transferring) return moved;
      }
      for (const PipeState& pipe : s.pipes) s.scalar.at_least(pipe.done);
    } else if (r.pipe == Pipe::S) {
      if (r.step == Step::Wait) {
        if (s.tokens[r.token].time == kUnknown) return moved;
        s.scalar.at_least(s.tokens[r.token]);
        s.scalar.time += flag_;
      } else if (r.step == Step::Set) {
        s.tokens[r.token] = s.scalar;
      } else if (r.step == Step::CrossSet) {
        arrive(r.token, s.scalar);
      } else {
        const double cycles = costs_[r.cost].per_unit * static_cast<double>(r.units);
        done_[id] = {s.scalar.time, s.scalar.time + cycles, s.scalar.cause};
        s.scalar = {s.scalar.time + cycles, id};
        s.scalar_busy += cycles;
      }
    } else {
      PipeState& pipe = s.pipes[p];
      if (pipe.pushed - pipe.popped >= depth_) return moved;
      if (pipe.pushed >= depth_) {  // room since the record that many before began
        const double began = pipe.starts.front();
        if (began > s.scalar.time) s.scalar = {began, s.scalar.cause};
      }
      pipe.queue.push_back({static_cast<std::uint32_t>(s.next), s.scalar});
      ++pipe.pushed;
      s.scalar.time += issue_;
    }
    ++s.next;
    moved = true;
  }
  return moved;
}

bool Simulation::step_pipe(int c, int p) {
  CoreState& s = cores_[c];
  PipeState& pipe = s.pipes[p];
  bool moved = false;
  while (!pipe.queue.empty() && !pipe.transferring) {
    const Queued q = pipe.queue.front();
    const Record& r = s.core->trace[q.record];
    Moment at = pipe.free;
    at.at_least(q.ready);
    if (r.step == Step::Wait) {
      if (s.tokens[r.token].time == kUnknown) return moved;
      at.at_least(s.tokens[r.token]);
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
      pipe.free = at;
      pipe.free.at_least(pipe.done);
    } else {
      const bool gm = r.span_count > 0 && r.path != Path::None;
      if (gm && at.time > now_ + 1e-9) {
        wake(c, at.time);
        return moved;
      }
      if (gm) {
        transfer(c, p, q, at.time);
      } else {
        execute(c, p, q);
      }
      done_[s.first + q.record].cause = at.cause;
    }
    pipe.starts.push_back(at.time);
    if (pipe.starts.size() > depth_) pipe.starts.pop_front();
    pipe.queue.pop_front();
    ++pipe.popped;
    moved = true;
  }
  return moved;
}

void Simulation::execute(int c, int p, const Queued& q) {
  CoreState& s = cores_[c];
  PipeState& pipe = s.pipes[p];
  const Record& r = s.core->trace[q.record];
  const std::int64_t id = s.first + q.record;
  const double start = std::max(pipe.free.time, q.ready.time);
  double busy, whole;
  if (r.path != Path::None && r.path != Path::UbToUb) {
    busy = device_.moves[int(r.path)].cycles(static_cast<double>(r.units));
    whole = busy + (r.pipe == Pipe::FIX ? device_.at("fix_latency_cycles") : device_.at("mte1_latency_cycles"));
  } else {
    const InstructionCost& cost = costs_[r.cost];
    const double work = static_cast<double>(r.units) * (r.narrow ? cost.per_unit_16 : cost.per_unit) * r.conflict;
    busy = r.pipe == Pipe::M ? work + mmad_queued_ : std::max(work, vector_issue_);
    whole = std::max(busy, work + cost.fixed);
    if (r.pipe == Pipe::M) macs_ += static_cast<double>(r.units) * device_.at("cube_macs_per_cycle");
  }
  pipe.busy += busy;
  pipe.free = {start + busy, id};
  pipe.done.at_least({start + whole, id});
  done_[id].start = start;
  done_[id].end = start + busy;
}

void Simulation::transfer(int c, int p, const Queued& q, double start) {
  CoreState& s = cores_[c];
  const Record& r = s.core->trace[q.record];
  L2::Outcome lines;
  double bytes = 0;
  bool large = true;
  for (std::uint32_t k = 0; k < r.span_count; ++k) {
    const GmSpan& span = s.core->spans[r.span_first + k];
    bytes += static_cast<double>(span.bytes) * span.rows;
    large &= span.bytes >= device_.at("large_copy_bytes");
    if (r.no_cache) continue;
    for (std::uint32_t row = 0; row < span.rows; ++row)
      l2_.access(span.address + row * span.stride, span.bytes, r.gm_write, &lines);
  }
  const GmSpan& head = s.core->spans[r.span_first];
  double alone = device_.moves[int(r.path)].cycles(static_cast<double>(r.units));
  if (head.address % std::uint64_t(line_) != 0) alone *= device_.at("unaligned_copy_factor");
  // Seconds that GM as a whole is taken up by this transfer.
  double service = 0;
  if (r.no_cache) {
    service = bytes / device_.at("hbm_stream_bytes_per_second");
    hbm_bytes_ += bytes;
  } else {
    const double hbm = device_.at(large ? "hbm_large_copy_bytes_per_second" : "hbm_read_bytes_per_second");
    const double evicted = static_cast<double>(lines.evicted_lines) * line_;
    if (r.gm_write) {
      service = bytes / device_.at("l2_total_bytes_per_second") + evicted / hbm;
      hbm_bytes_ += evicted;
    } else {
      const double all = static_cast<double>(lines.hit_lines + lines.miss_lines);
      const double hit = bytes * static_cast<double>(lines.hit_lines) / all;
      const double missed = static_cast<double>(lines.miss_lines) * line_;
      service = hit / device_.at("l2_read_bytes_per_second") + (bytes - hit) / hbm + evicted / hbm;
      hit_bytes_ += hit;
      hbm_bytes_ += missed + evicted;
    }
  }
  (r.gm_write ? write_bytes_ : read_bytes_) += bytes;
  const double latency = r.gm_write                       ? device_.at("mte3_latency_cycles")
                         : r.no_cache || lines.miss_lines ? device_.at("hbm_latency_cycles")
                                                          : device_.at("l2_latency_cycles");
  Transfer t{c, p, q.record, virtual_ + alone, service * hz_ / alone, latency};
  demand_ += t.demand;
  transfers_.emplace(std::make_pair(t.finish_virtual, ++transfer_count_), t);
  s.pipes[p].transferring = true;
  done_[s.first + q.record].start = start;
}

void Simulation::finish(const Transfer& t) {
  CoreState& s = cores_[t.core];
  PipeState& pipe = s.pipes[t.pipe];
  const std::int64_t id = s.first + t.record;
  pipe.transferring = false;
  pipe.free = {now_, id};
  pipe.done.at_least({now_ + t.latency, id});
  done_[id].end = now_;
  pipe.busy += now_ - done_[id].start;
}

Timing Simulation::timing() const {
  Timing t;
  t.device = device_.name;
  t.kernel = launched_.kernel;
  Moment last;
  for (const CoreState& s : cores_) {
    last.at_least(s.scalar);
    for (const PipeState& pipe : s.pipes) last.at_least(pipe.done);
    for (int p = 0; p < kPipes; ++p) {
      const double busy = p == 0 ? s.scalar_busy : s.pipes[p].busy;
      if (busy > 0) t.pipes.push_back({s.core->label(), name(Pipe(p)), busy});
    }
  }
  t.cycles = last.time;
  t.microseconds = last.time / device_.mhz();
  t.gm_read_bytes = read_bytes_;
  t.gm_write_bytes = write_bytes_;
  t.l2_hit_bytes = hit_bytes_;
  t.hbm_bytes = hbm_bytes_;
  t.cube_macs = macs_;
  if (t.cycles > 0) {
    double vector_busy = 0;
    for (const CoreState& s : cores_) vector_busy += s.pipes[int(Pipe::V)].busy;
    t.hbm_utilisation = hbm_bytes_ / (t.cycles / hz_) / device_.at("hbm_bytes_per_second");
    t.cube_utilisation = macs_ / (t.cycles * device_.at("cube_macs_per_cycle") * device_.at("cube_cores"));
    t.vector_utilisation = vector_busy / (t.cycles * device_.at("vector_cores"));
  }
  std::map<std::pair<std::uint32_t, std::string>, double> lines;
  double until = last.time;
  for (std::int64_t id = last.cause; id != kNone && until > 0; id = done_[id].cause) {
    const auto owner =
        std::upper_bound(cores_.begin(), cores_.end(), id, [](std::int64_t i, const CoreState& s) { return i < s.first; }) -
        1;
    const Record& r = owner->core->trace[id - owner->first];
    const std::string what = r.step == Step::CrossWait ? "waits for another core" : std::string(name(r.pipe)) + " " + r.name;
    lines[{r.site, what}] += std::max(0.0, until - done_[id].start);
    until = std::min(until, done_[id].start);
  }
  for (const auto& [key, cycles] : lines) t.critical_path.push_back({to_string(site_of(key.first)), key.second, cycles});
  if (until > 0) t.critical_path.push_back({"", "issue", until});
  std::stable_sort(t.critical_path.begin(), t.critical_path.end(),
                   [](const LineCost& a, const LineCost& b) { return a.cycles > b.cycles; });
  return t;
}

std::string Simulation::chrome_trace() const {
  constexpr const char* kLanes[] = {"SCALAR", "VECTOR", "CUBE", "MTE1", "MTE2", "MTE3", "FIXP"};
  constexpr std::size_t kMost = 400000;  // what a viewer still opens
  std::string out = "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"modelled\": \"true\", \"device\": \"" + device_.name +
                    "\"}, \"traceEvents\": [\n";
  std::size_t events = 0;
  for (std::size_t c = 0; c < cores_.size(); ++c) {
    const CoreState& s = cores_[c];
    out += format("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %zu, \"args\": {\"name\": \"%s (modelled)\"}}", c,
                  s.core->label().c_str());
    for (int p = 0; p < kPipes; ++p) {
      out += format(",\n{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %zu, \"tid\": %d, \"args\": {\"name\": \"%s\"}}",
                    c, p, kLanes[p]);
    }
    for (std::size_t i = 0; i < s.core->trace.size() && events < kMost; ++i) {
      const Record& r = s.core->trace[i];
      const Done& d = done_[s.first + static_cast<std::int64_t>(i)];
      if (r.step != Step::Execute || d.end <= d.start) continue;
      const Site& site = site_of(r.site);
      const char* slash = std::strrchr(site.file, '/');
      out += format(
          ",\n{\"ph\": \"X\", \"name\": \"%s\", \"pid\": %zu, \"tid\": %d, \"ts\": %.4f, \"dur\": %.4f, \"args\": "
          "{\"line\": \"%s:%u\"}}",
          r.name, c, int(r.pipe), d.start / device_.mhz(), (d.end - d.start) / device_.mhz(), slash ? slash + 1 : site.file,
          site.line);
      ++events;
    }
    if (c + 1 < cores_.size()) out += ",\n";
  }
  return out + "\n]}\n";
}

}  // namespace

Timing simulate(const Launched& launched, const Device& device, std::string* chrome_trace) {
  Simulation simulation(launched, device);
  simulation.run();
  if (chrome_trace) *chrome_trace = simulation.chrome_trace();
  return simulation.timing();
}

std::string to_text(const Timing& t) {
  std::string out = format("modelled on %s: %s takes %.2f us (%.0f cycles)\n", t.device.c_str(), t.kernel.c_str(),
                           t.microseconds, t.cycles);
  out +=
      format("  GM read %.3f MB, written %.3f MB; L2 hits %.1f %% of reads; HBM %.3f MB, %.1f %% of its peak\n",
             t.gm_read_bytes / 1e6, t.gm_write_bytes / 1e6, t.gm_read_bytes > 0 ? 100 * t.l2_hit_bytes / t.gm_read_bytes : 0,
             t.hbm_bytes / 1e6, 100 * t.hbm_utilisation);
  out += format("  cube %.1f %%, vector %.1f %% of the device\n", 100 * t.cube_utilisation, 100 * t.vector_utilisation);
  std::map<std::string, std::pair<double, int>> pipes;
  for (const PipeUse& p : t.pipes) {
    auto& [busy, cores] = pipes[p.core.substr(0, 3) + " " + p.pipe];
    busy += p.busy_cycles;
    ++cores;
  }
  for (const auto& [pipe, use] : pipes) {
    out += format("  %-9s busy %5.1f %% of the time on %d core%s\n", pipe.c_str(),
                  100 * use.first / use.second / std::max(t.cycles, 1.0), use.second, use.second == 1 ? "" : "s");
  }
  out += "  critical path:\n";
  for (std::size_t i = 0; i < t.critical_path.size() && i < 8; ++i) {
    const LineCost& l = t.critical_path[i];
    out += format("    %5.1f %%  %s%s%s\n", 100 * l.cycles / std::max(t.cycles, 1.0), l.what.c_str(),
                  l.line.empty() ? "" : " at ", l.line.c_str());
  }
  return out;
}

std::string to_json(const Timing& t) {
  std::string out = format(
      "{\"modelled\": true, \"device\": \"%s\", \"kernel\": \"%s\", \"cycles\": %.3f, \"microseconds\": %.6f, "
      "\"gm_read_bytes\": %.0f, "
      "\"gm_write_bytes\": %.0f, \"l2_hit_bytes\": %.0f, \"hbm_bytes\": %.0f, \"hbm_utilisation\": %.6f, "
      "\"cube_utilisation\": %.6f, "
      "\"vector_utilisation\": %.6f, \"critical_path\": [",
      t.device.c_str(), t.kernel.c_str(), t.cycles, t.microseconds, t.gm_read_bytes, t.gm_write_bytes, t.l2_hit_bytes,
      t.hbm_bytes, t.hbm_utilisation, t.cube_utilisation, t.vector_utilisation);
  for (const LineCost& l : t.critical_path) {
    out += format("%s{\"line\": \"%s\", \"what\": \"%s\", \"cycles\": %.3f}", &l == t.critical_path.data() ? "" : ", ",
                  l.line.c_str(), l.what.c_str(), l.cycles);
  }
  return out + "]}";
}

}  // namespace twin
