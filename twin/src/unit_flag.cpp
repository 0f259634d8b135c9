// SPDX-License-Identifier: Apache-2.0
// Unit flags: what orders Mmad and Fixpipe on a tile of L0C without M_FIX events.
#include "cube_common.hpp"

namespace twin {
namespace {

// With unit flags the hardware hands L0C over fractal by fractal: every Mmad but the last into a tile has 2, the last has 3,
// and Fixpipe has 3 to give the tile back (the vendor's page on Mmad's unitFlag).
constexpr std::uint8_t kUnitGoesOn = 2, kUnitLast = 3;

void disagree(Instruction& i, const View& tile, const std::string& what, std::uint32_t other, const char* fix) {
  Finding f{Kind::CubeLayout, what, to_string(i.site()), other ? to_string(site_of(other)) : "", core().label()};
  f.pipe_a = name(i.pipe());
  f.fix = fix;
  place(&f, tile);
  report(std::move(f));
}

void check_unit_value(Instruction& i, const View& tile, std::uint8_t value) {
  if (value == 0 || value == kUnitGoesOn || value == kUnitLast) return;
  disagree(i, tile, format("%s with unitFlag %d: 0, 2 and 3 exist", i.name(), value), 0, "0: off; 2: goes on; 3: the last");
}

}  // namespace

void unit_flag_of_mmad(Instruction& i, const MmadCall& call, std::uint64_t c_bytes) {
  Core& c = core();
  check_unit_value(i, call.c, call.unit_flag);
  const auto old = c.unit_flags.find(call.c.addr);
  if (old != c.unit_flags.end() && old->second.value == kUnitLast && call.unit_flag != 0) {
    disagree(i, call.c,
             "Mmad with a unitFlag into a tile that the Mmad before closed with unitFlag 3 and no Fixpipe has read: it "
             "waits for ever",
             old->second.site, "give all but the last Mmad of a tile unitFlag 2");
  }
  if (call.unit_flag != 0) c.learn(Pipe::M, c.unit_read);
  c.unit_flags[call.c.addr] = {call.c.addr + c_bytes, call.unit_flag, site_id(i.site())};
}

void unit_flag_of_fixpipe(Instruction& i, const FixpipeCall& call) {
  Core& c = core();
  check_unit_value(i, call.src, call.unit_flag);
  auto tile = c.unit_flags.upper_bound(call.src.addr);
  const bool known = tile != c.unit_flags.begin() && call.src.addr < (--tile)->second.end;
  if (known && (tile->second.value != 0) != (call.unit_flag != 0)) {
    disagree(i, call.src,
             format("Fixpipe with unitFlag %d after a Mmad with unitFlag %d", call.unit_flag, tile->second.value),
             tile->second.site, "give both unit flags (the last Mmad 3, Fixpipe 3), or 0 to both and M_FIX flags");
  } else if (known && tile->second.value == kUnitGoesOn) {
    disagree(i, call.src,
             format("Fixpipe with unitFlag %d waits for a Mmad with unitFlag 3, but the last into this tile had 2",
                    call.unit_flag),
             tile->second.site, "give the last Mmad of a tile unitFlag 3");
  }
  if (call.unit_flag != 0 || (known && tile->second.value != 0)) c.learn(Pipe::FIX, c.completed(Pipe::M));
  if (known && call.unit_flag == kUnitLast) c.unit_flags.erase(tile);
}

}  // namespace twin
