// SPDX-License-Identifier: Apache-2.0
// Order between two blocks through flags in GM: IBSet and IBWait, and the turns of blocks one after another.
#include "engine.hpp"
#include "launched.hpp"

namespace twin {

Clock as_foreign(const Core& c, const Clock& known);

namespace {

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

void set(const View& gm, int block, int event, Site site) {
  Core& c = core();
  Launched& l = launched();
  c.barrier(Pipe::ALL, site_id(site));
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
    if (other->kind == c.kind && index_of(*other) == block) c.waits_on = other.get();
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

}  // namespace twin
