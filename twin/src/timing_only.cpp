// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "engine.hpp"
#include "launched.hpp"
#include "stand_ins.hpp"

namespace twin {
namespace {

struct Skipper {
  std::uint32_t site;
  const char* instruction;
  DType dtype;
};
// By state, from kFirstSkipped on; they outlive a launch, as GM does. The last one stands for all that did not fit.
std::vector<Skipper>& skippers() {
  static auto* all = new std::vector<Skipper>;
  return *all;
}

std::string instruction_at(const char* instruction, std::uint32_t site) {
  return format("%s at %s", instruction, to_string(site_of(site)).c_str());
}

bool same_spans(const Core& a, const Record& x, const Core& b, const Record& y) {
  if (x.span_count != y.span_count) return false;
  for (std::uint32_t k = 0; k < x.span_count; ++k) {
    const GmSpan& s = a.spans[x.span_first + k];
    const GmSpan& t = b.spans[y.span_first + k];
    if (s.address != t.address || s.bytes != t.bytes || s.rows != t.rows || s.stride != t.stride) return false;
  }
  return true;
}

void diverge(Core& core) {
  Launched& l = launched();
  l.diverged = &core;
  for (auto& each : l.cores) each->first_round = nullptr;
  yield_core();  // the launch stops here
}

}  // namespace

bool is_skipped(std::uint8_t state) { return state >= kFirstSkipped && state < kFirstOrigin; }

bool any_skipped(const std::uint8_t* state, std::uint64_t bytes) {
  bool any = false;
  for (std::uint64_t k = 0; k < bytes; ++k) any |= is_skipped(state[k]);
  return any;
}

std::uint8_t skipped_state(std::uint32_t site, const char* instruction, DType dtype) {
  auto& all = skippers();
  constexpr std::size_t kRoom = kFirstOrigin - kFirstSkipped;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (all[k].site == site) return static_cast<std::uint8_t>(kFirstSkipped + k);
  }
  if (all.size() < kRoom) all.push_back({site, instruction, dtype});
  return static_cast<std::uint8_t>(kFirstSkipped + all.size() - 1);
}

DType skipped_dtype(std::uint8_t state) { return skippers()[state - kFirstSkipped].dtype; }

std::string skipped_by(std::uint8_t state) {
  const Skipper& s = skippers()[state - kFirstSkipped];
  return instruction_at(s.instruction, s.site);
}

void stand_in(Core& core, DType dtype, std::uint8_t state, std::uint32_t site, void* value, std::uint32_t size) {
  std::memset(value, 0, size);
  if (core.hinting) {
    core.hint_used = true;
    return;
  }
  Rerun* const rerun = launched().rerun;
  const double given =
      rerun ? rerun->give(core.index, site, state, dtype, value, size) : write_stand_in({}, dtype, value, size);
  core.skipped_reads.push_back({core.appended, site, state, dtype, given});
}

// Called before an instruction of a timing-only launch is executed: whether it is.
bool Instruction::executes() {
  Launched& l = launched();
  const bool cube = pipe_ == Pipe::M || pipe_ == Pipe::MTE1 || pipe_ == Pipe::FIX || core_.kind == CoreKind::AIC;
  skipped_ = pipe_ != Pipe::S && (values_ || cube);
  if (skipped_ && pipe_ == Pipe::V) core_.registers.skipped = skipped_state(record_.site, name_, written_);
  const std::uint8_t mark = skipped_ ? skipped_state(record_.site, name_, written_) : kDefined;
  for (const Access& a : accesses_) {
    if (!a.write) continue;
    std::uint8_t* const state = a.memory->state + a.begin;
    const std::uint64_t bytes = a.end - a.begin;
    if (a.memory->space == Space::GM && !l.rerun) {
      // Most is written once, or again and again by what is skipped: only the first needs to be kept.
      if (!skipped_) {
        const std::uint8_t* const data = a.memory->data + a.begin;
        l.overwritten.push_back({a.memory, a.begin, {data, data + bytes}, {state, state + bytes}});
      } else if (!is_skipped(state[0]) || !is_skipped(state[bytes - 1])) {
        l.overwritten.push_back({a.memory, a.begin, {}, {state, state + bytes}});
      }
    }
    if (skipped_) std::memset(state, mark, bytes);
  }
  return !skipped_;
}

// A skipped value is about to be used up. Stored, it is skipped there too; needed, it is a finding.
void Instruction::use_skipped(const View& view, std::uint8_t state, const char* how) {
  if (view.space == Space::GM || std::strstr(how, "GM")) return;
  skipped_operand_ = refused_ = true;
  Finding f{Kind::SkippedData};
  f.what = format("%s %s a value that the timing-only mode has skipped: %s", name_, how, skipped_by(state).c_str());
  f.line_a = to_string(site_);
  f.line_b = to_string(site_of(skippers()[state - kFirstSkipped].site));
  f.core = core_.label();
  f.pipe_a = twin::name(pipe_);
  f.tensor = tensor_text(view.tensor);
  f.fix = "compute addresses and masks with integers, or time a smaller shape with its values";
  report(std::move(f));
}

void compare_with_first(Core& core, const Record& r) {
  const Core& first = *core.first_round;
  const std::size_t at = core.appended;
  const bool there = at < first.trace.size();
  const Record& x = there ? first.trace[at] : r;
  if (there && x.step == r.step && x.pipe == r.pipe && x.path == r.path && x.cost == r.cost && x.site == r.site &&
      x.units == r.units && x.token == r.token && same_spans(first, x, core, r)) {
    core.spans.resize(r.span_first);
    return;
  }
  core.diverging = r;
  core.ended = false;
  diverge(core);
}

void compare_end_with_first(Core& core) {
  if (!core.first_round || core.appended >= core.first_round->trace.size()) return;
  core.ended = true;
  launched().diverged = &core;
}

// The read that is to blame: of that line, or of any, the last before the two runs part.
const SkippedRead* last_read(const Core& core, std::uint32_t site) {
  const SkippedRead* read = nullptr;
  for (const SkippedRead& r : core.skipped_reads) {
    if (r.record <= core.appended && (site == Rerun::kNoSite || r.site == site)) read = &r;
  }
  return read;
}

Finding divergence(const Launched& first, const Launched& later, std::uint32_t site) {
  const Core& b = *later.diverged;
  const Core& a = *first.cores[b.index];
  const auto describe = [](const Record& r) {
    if (r.step == Step::Execute) return instruction_at(r.name, r.site);
    constexpr const char* kSteps[] = {"", "a set", "a wait", "a barrier", "a cross-core set", "a cross-core wait"};
    return instruction_at(kSteps[int(r.step)], r.site);
  };
  const bool a_ends = b.appended >= a.trace.size();
  const std::string one = a_ends ? "the end" : describe(a.trace[b.appended]);
  const std::string other = b.ended ? "the end" : describe(b.diverging);
  const SkippedRead* read = last_read(b, site);
  for (std::size_t c = 0; !read && c < later.cores.size(); ++c) read = last_read(*later.cores[c], site);  // by way of GM
  Finding f{Kind::SkippedData};
  f.core = b.label();
  f.pipe_a = name(Pipe::S);
  f.fix = hint_for_skipped();
  if (!read || site == Rerun::kNobody) {
    f.line_a = to_string(site_of(a.trace[std::min<std::size_t>(b.appended, a.trace.size() - 1)].site));
    f.what = "the kernel does something else each time it is launched: " + one + ", then " + other;
    f.fix = "the timing-only mode runs a launch several times: what the kernel keeps outside of GM must not change it";
    return f;
  }
  f.line_a = to_string(site_of(read->site));
  f.line_b = a_ends ? (b.ended ? "" : to_string(site_of(b.diverging.site))) : to_string(site_of(a.trace[b.appended].site));
  f.what = format(
      "a branch, count or address depends on the value read here, which the timing-only mode has skipped "
      "(%s): with 1 the kernel goes on with %s, with %s ",
      skipped_by(read->state).c_str(), one.c_str(), stand_in_text(read->value).c_str());
  f.what += one == other ? "with other sizes or addresses of it" : "with " + other;
  return f;
}

void restore_gm(Launched& l) {
  for (auto at = l.overwritten.rbegin(); at != l.overwritten.rend(); ++at) {
    if (!at->data.empty()) std::memcpy(at->memory->data + at->begin, at->data.data(), at->data.size());
    std::memcpy(at->memory->state + at->begin, at->state.data(), at->state.size());
  }
}

void take_stand_ins_away(Launched& l) {
  for (auto at = l.stood_in.rbegin(); at != l.stood_in.rend(); ++at) {
    for (std::size_t k = 0; k < at->data.size(); ++k) {  // but where the kernel has stored a value of its own since
      if (is_skipped(at->memory->state[at->begin + k])) at->memory->data[at->begin + k] = at->data[k];
    }
  }
  l.stood_in.clear();
}

// ---- hints ----
void hint_begin() {
  Core& c = core();
  c.hinting = true;
  c.hint_used = false;
}
bool hint_end() {
  Core& c = core();
  c.hinting = false;
  return c.hint_used;
}

}  // namespace twin
