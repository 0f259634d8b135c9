// SPDX-License-Identifier: Apache-2.0
// Order between two blocks through flags in GM: IBSet and IBWait, the turns of blocks one after another, and groups.
#include "engine.hpp"
#include "launched.hpp"

namespace twin {

Clock as_foreign(const Core& c, const Clock& known);

namespace {

// Events at and below it: what an arriving core tells the waiting core kGroup − event.
constexpr int kGroup = -1000;
constexpr std::uint64_t kGroupUb = 1600;  // bytes at the end of UB that the library takes for its messages

int index_of(const Core& c) {
  return c.kind == CoreKind::AIV && launched().has_aic ? c.block * launched().aiv_a_block + c.sub : c.block;
}
int cores_in_all(const Core& c) {
  return launched().blocks * (c.kind == CoreKind::AIV && launched().has_aic ? launched().aiv_a_block : 1);
}

void need(const View& v, std::uint64_t bytes, const char* call, const char* what, Site site) {
  if (!v.bytes || v.bytes >= bytes) return;
  report({Kind::OutOfBounds,
          format("%s: the %s workspace has %llu bytes and needs %llu", call, what, static_cast<unsigned long long>(v.bytes),
                 static_cast<unsigned long long>(bytes)),
          to_string(site), "", core().label(), "", "", "", "32 bytes for each flag"});
}

void set(const View& gm, int block, int event, Site site, Pipe covers = Pipe::ALL) {
  Core& c = core();
  Launched& l = launched();
  c.barrier(covers, site_id(site));
  Record r;
  r.step = Step::CrossSet;
  r.pipe = Pipe::MTE3;
  r.site = site_id(site);
  r.token = ++l.cross_tokens;
  l.cross_token_sets[r.token] = 1;
  c.append(r);
  auto& sets = l.block_sets[{gm.addr, block, event}];
  ++sets.count;
  l.last_cross_set[c.index] = sets.last_site = r.site;
  l.block_flags[{gm.addr, block, event}].push_back({as_foreign(c, c.completed(Pipe::MTE3)), r.token, r.site});
}

void wait(const View& gm, int block, int event, const std::string& what, Site site) {
  Core& c = core();
  auto& flag = launched().block_flags[{gm.addr, block, event}];
  c.waits_text = what;
  c.waits_sets = &launched().block_sets[{gm.addr, block, event}];
  for (const auto& other : launched().cores) {
    if (event > kGroup && other->kind == c.kind && index_of(*other) == block) c.waits_on = other.get();
  }
  c.waits_at = site_id(site);
  block_core_until([](void* f) { return !static_cast<std::deque<CrossFlag::Delivery>*>(f)->empty(); }, &flag);
  c.waits_text.clear();
  c.waits_sets = nullptr;
  c.waits_on = nullptr;
  if (flag.empty()) return;
  learn_from_other(c, flag.front().clock, flag.front().token, site_id(site));
  flag.pop_front();
}

bool usable(const char* call, const View& gm, const View& ub, int block, int event, Site site) {
  const int blocks = cores_in_all(core());
  need(ub, 32, call, "UB", site);
  need(gm, std::uint64_t(blocks) * 32 * (event < 0 ? 1 : std::uint64_t(event) + 1), call, "GM", site);
  if (block >= 0 && block < blocks) return true;
  report({Kind::Limit, format("%s with block %d: the launch has blocks 0 to %d", call, block, blocks - 1), to_string(site),
          "", core().label(), "", "", "", "name a block that runs"});
  return false;
}

}  // namespace

void block_set(const View& gm, const View& ub, int block, int event, Site site) {
  if (usable("IBSet", gm, ub, block, event, site)) set(gm, block, event, site);
}

void block_wait(const View& gm, const View& ub, int block, int event, Site site) {
  if (!usable("IBWait", gm, ub, block, event, site)) return;
  core().barrier(Pipe::ALL, site_id(site));
  wait(gm, block, event, format("IBSet of block %d, event %d", block, event), site);
}

void turns_begin(const View& gm, const View& ub, Site site) {
  usable("InitDetermineComputeWorkspace", gm, ub, 0, kTurns, site);
  core().turns = 0;
}

void turn_wait(const View& gm, const View& ub, Site site) {
  Core& c = core();
  if (!usable("WaitPreBlock", gm, ub, 0, kTurns, site)) return;
  const int mine = index_of(c), all = cores_in_all(c), before = (mine + all - 1) % all;
  if (mine == 0 && c.turns++ == 0) return;  // the first turn is block 0's
  wait(gm, before, kTurns, format("NotifyNextBlock of block %d", before), site);
}

void turn_notify(const View& gm, const View& ub, Site site) {
  if (usable("NotifyNextBlock", gm, ub, 0, kTurns, site)) set(gm, index_of(core()), kTurns, site);
}

void group_begin(const Group& g, Site site) {
  Core& c = core();
  const auto refuse = [&](Kind kind, const std::string& what, const char* fix) {
    report({kind, "GroupBarrier: " + what, to_string(site), "", c.label(), "", "", "", fix});
  };
  if (c.kind != CoreKind::AIV) refuse(Kind::KernelType, "on a cube core", "vector cores arrive and wait");
  if (g.arrivers == 0 || g.waiters == 0)
    refuse(Kind::Limit, format("%u cores arrive and %u wait", g.arrivers, g.waiters), "at least one of each");
  if (g.workspace % 512 != 0)
    refuse(Kind::Alignment, "the workspace does not begin on 512 bytes", "align it: a core's messages have 512 bytes");
  const Memory* const m = GlobalMemory::get().find(g.workspace);
  const std::uint64_t at = m ? g.workspace - reinterpret_cast<std::uint64_t>(m->data) : 0;
  if (!m || m->bytes - at < std::uint64_t{g.waiters} * 512)
    refuse(Kind::OutOfBounds, format("the workspace has no %u bytes of GM", g.waiters * 512), "512 bytes a waiting core");
  const Memory& ub = c.memory[int(Space::UB)];
  if (c.kind == CoreKind::AIV && c.allocated[int(Space::UB)] + kGroupUb > ub.bytes)
    refuse(Kind::Capacity,
           format("it uses the last 1600 bytes of UB, but InitBuffer has given away UB up to 0x%llx",
                  static_cast<unsigned long long>(c.allocated[int(Space::UB)])),
           "leave them to it");
}

namespace {

View workspace_of(const Group& g) {
  View gm;
  gm.space = Space::GM;
  gm.addr = g.workspace;
  return gm;
}

/// False, and reported, where `index` is none of the `count` cores that do this.
bool takes_part(const char* call, std::uint32_t index, std::uint32_t count, const char* what, Site site) {
  if (index < count) return true;
  report({Kind::Limit, format("GroupBarrier: %s(%u) of %u cores that %s", call, index, count, what), to_string(site), "",
          core().label(), "", "", "", "number them from 0"});
  return false;
}

}  // namespace

void group_arrive(const Group& g, std::uint32_t index, Site site) {
  if (!takes_part("Arrive", index, g.arrivers, "arrive", site)) return;
  const View gm = workspace_of(g);
  for (std::uint32_t w = 0; w < g.waiters; ++w)
    set(gm, static_cast<int>(index), kGroup - static_cast<int>(w), site, Pipe::MTE3);
}

void group_wait(const Group& g, std::uint32_t index, Site site) {
  if (!takes_part("Wait", index, g.waiters, "wait", site)) return;
  const View gm = workspace_of(g);
  for (std::uint32_t a = 0; a < g.arrivers; ++a)
    wait(gm, static_cast<int>(a), kGroup - static_cast<int>(index), format("GroupBarrier's Arrive(%u)", a), site);
}

}  // namespace twin
