// SPDX-License-Identifier: Apache-2.0
// CheckLocalMemoryIA: ranges of UB whose accesses the chip answers with an exception, and the twin with a report.
#include <algorithm>

#include "engine.hpp"

namespace twin {
namespace {

constexpr std::uint64_t kBlock = 32;

// A block's offset in UB: of a number of blocks, or of an address divided by 32, of which 32 bits are left.
std::uint64_t offset_of_block(const Memory& ub, std::uint32_t block) {
  constexpr std::uint64_t kKept = (std::uint64_t{1} << 37) - 1;
  const std::uint64_t address = block * kBlock;
  const std::uint64_t from_begin = (address - reinterpret_cast<std::uintptr_t>(ub.data)) & kKept;
  return from_begin < ub.bytes ? from_begin : address;
}

int unit_of(Pipe pipe) { return pipe == Pipe::S ? 0 : pipe == Pipe::V ? 1 : 2; }

}  // namespace

void watch_ub(const WatchCall& call, Site site) {
  Core& c = core();
  const Memory& ub = c.memory[int(Space::UB)];
  const auto refuse = [&](Kind kind, const std::string& what, const char* fix) {
    report({kind, "CheckLocalMemoryIA: " + what, to_string(site), "", c.label(), "", "", "", fix});
  };
  if (call.which > 3) return refuse(Kind::Limit, format("enableBit %u, of 0 to 3", call.which), "there are four");
  UbWatch& w = c.watches[call.which];
  w = {};
  if (call.on) {
    w.begin = offset_of_block(ub, call.start) + kBlock;
    w.end = offset_of_block(ub, call.end) + kBlock;
    if (w.begin > ub.bytes || w.end > ub.bytes)
      return refuse(Kind::OutOfBounds, format("blocks %u to %u do not lie in UB of this core", call.start, call.end),
                    "GetPhyAddr() / 32, or blocks from its begin");
    if (w.begin >= w.end)
      return refuse(Kind::Limit, format("nothing lies behind block %u and up to block %u", call.start, call.end),
                    "startAddr is left out, endAddr is in");
    std::copy(call.reads, call.reads + 3, w.reads);
    std::copy(call.writes, call.writes + 3, w.writes);
    w.site = site_id(site);
    w.on = true;
  }
  c.watching = std::any_of(c.watches.begin(), c.watches.end(), [](const UbWatch& each) { return each.on; });
}

void Instruction::meet_watches() {
  const int unit = unit_of(pipe_);
  for (const UbWatch& w : core_.watches) {
    if (!w.on) continue;
    for (const Access& a : accesses_) {
      if (a.memory->space != Space::UB || !(a.write ? w.writes : w.reads)[unit]) continue;
      if (a.begin >= w.end || a.end <= w.begin) continue;
      Finding f{Kind::OutOfBounds};
      f.what = format("%s %s what CheckLocalMemoryIA watches", name_, a.write ? "writes" : "reads");
      f.line_a = to_string(site_);
      f.line_b = to_string(site_of(w.site));
      f.core = core_.label();
      f.pipe_a = twin::name(pipe_);
      f.range = hex_range("UB", std::max(a.begin, w.begin), std::min(a.end, w.end));
      f.tensor = tensor_text(a.tensor);
      f.fix = "the chip stops with an exception here; keep out of the range, or stop the watch with isEnable false";
      report(std::move(f));
      break;
    }
  }
}

}  // namespace twin
