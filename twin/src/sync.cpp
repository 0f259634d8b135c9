// SPDX-License-Identifier: Apache-2.0
// Order between cores: flags that a group of cores sets and a group waits for.
#include "engine.hpp"

namespace twin {
namespace {

// Who must set, and who is released, for a flag of this mode set by this core. Mode 3 here: every core of the launch
// (SyncAll<false>).
void members(const Core& c, int mode, std::vector<Core*>* setters, std::vector<Core*>* released) {
  for (auto& other : launched().cores) {
    const bool same_kind = other->kind == c.kind;
    const bool same_block = other->block == c.block;
    const bool sets = mode == 0 ? same_kind : mode == 3 ? true : same_kind && same_block;
    const bool gets = mode == 2 ? !same_kind && same_block : sets;
    if (sets) setters->push_back(other.get());
    if (gets) released->push_back(other.get());
  }
}

Finding cross_finding(const Core& c, Kind kind, const std::string& what, Site site, const std::string& fix) {
  return {kind, what, to_string(site), "", c.label(), "", "", "", fix};
}

}  // namespace

Clock as_foreign(const Core& c, const Clock& known) {
  auto all = known.foreign ? std::make_shared<Foreign>(*known.foreign)
                           : std::make_shared<Foreign>(launched().cores.size() * kPipes, 0u);
  for (int p = 0; p < kPipes; ++p) (*all)[c.index * kPipes + p] = std::max((*all)[c.index * kPipes + p], known.own[p]);
  Clock out;
  out.foreign = std::move(all);
  return out;
}

namespace {

void set(int mode, Pipe pipe, int id, Site site) {
  Core& c = core();
  Launched& l = launched();
  std::vector<Core*> setters, released;
  members(c, mode, &setters, &released);
  const int group = mode == 0 ? int(c.kind) : mode == 3 ? 0 : c.block * 2 + int(c.kind);
  auto& waiting = l.arrivals[{mode, id, group}].by_core;
  const Clock known = as_foreign(c, c.completed(pipe));
  // The token of the how-manieth meeting this is, the same for all its setters.
  Record r;
  r.step = Step::CrossSet;
  r.pipe = pipe;
  r.site = site_id(site);
  auto& mine = waiting[c.index];
  const std::size_t turn = mine.size();
  std::uint32_t token = 0;
  for (auto& [who, queue] : waiting) {
    if (who != c.index && queue.size() > turn) token = queue[turn].second;
  }
  if (!token) {
    token = ++l.cross_tokens;
    l.cross_token_sets[token] = static_cast<int>(setters.size());
  }
  mine.emplace_back(known, token);
  r.token = token;
  c.append(r);
  for (const Core* s : setters) {
    if (waiting[s->index].empty()) return;
  }
  Clock all;
  for (const Core* s : setters) {
    all.join_with(waiting[s->index].front().first);
    waiting[s->index].pop_front();
  }
  for (Core* t : released) {
    auto& delivered = t->cross[id].delivered;
    delivered.push_back({all, token, site_id(site)});
    if (delivered.size() > 15) {
      report(cross_finding(c, Kind::Flag, format("cross-core flag %d of %s counts past 15", id, t->label().c_str()), site,
                           "wait for flags as often as they are set"));
    }
  }
}

struct Awaited {
  Core* core;
  int id;
};

void wait(int id, Site site, const std::string& what) {
  Core& c = core();
  Awaited awaited{&c, id};
  block_core_until(
      [](void* a) { return !static_cast<Awaited*>(a)->core->cross[static_cast<Awaited*>(a)->id].delivered.empty(); },
      &awaited, what, site);
  auto& delivered = c.cross[id].delivered;
  if (delivered.empty()) return;
  Clock known = delivered.front().clock;
  for (int p = 0; p < kPipes; ++p) known.own[p] = known.of(c.index, p);
  for (int p = 0; p < kPipes; ++p) c.clock[p].join_with(known);  // it holds back issue to every pipe
  Record r;
  r.step = Step::CrossWait;
  r.site = site_id(site);
  r.token = delivered.front().token;
  c.append(r);
  delivered.pop_front();
}

bool usable(const char* api, int mode, int id, Site site) {
  const Core& c = core();
  const KernelType type = launched().type;
  const bool mix = type != KernelType::Unset && type != KernelType::AivOnly && type != KernelType::AicOnly;
  if (!mix) {
    report(cross_finding(c, Kind::KernelType, format("%s in a kernel that is not of a mix type", api), site,
                         "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0), MIX_AIC_1_0, MIX_AIC_1_1 or MIX_AIC_1_2"));
  }
  if (mode < 0 || mode > 2) {
    report(cross_finding(c, Kind::Limit, format("%s with mode %d: modes are 0, 1 and 2", api, mode), site,
                         "see the three modes of CrossCoreSetFlag"));
    return false;
  }
  if (id < 0 || id > 10) {
    report(cross_finding(c, Kind::Flag, format("%s with id %d: ids are 0 to 10, the rest belongs to SyncAll", api, id), site,
                         "use another id"));
  }
  return true;
}

}  // namespace

void cross_core_set(int mode, Pipe pipe, int id, Site site) {
  if (usable("CrossCoreSetFlag", mode, id, site)) set(mode, pipe, id, site);
}

void cross_core_wait(int mode, Pipe, int id, Site site) {
  // The wait names no group: any set that releases this core under the id counts.
  if (!usable("CrossCoreWaitFlag", mode < 0 ? 0 : mode, id, site)) return;
  wait(id, site, format("cross-core flag %d", id));
}

void sync_all(bool vector_only, Site site) {
  Core& c = core();
  const Launched& l = launched();
  c.barrier(Pipe::ALL, site_id(site));
  const bool pure_vector = !l.has_aic;
  if (!vector_only && pure_vector) {
    report(cross_finding(c, Kind::KernelType, "SyncAll<false> in a pure vector kernel hangs: no cube core answers", site,
                         "SyncAll<true>() or SyncAll()"));
    return;
  }
  if (vector_only && c.kind == CoreKind::AIC) return;  // the default form concerns vector cores only
  if (pure_vector && l.type != KernelType::MixAiv10) {
    report(cross_finding(c, Kind::KernelType, "SyncAll() in a vector kernel that is not of type KERNEL_TYPE_MIX_AIV_1_0",
                         site, "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0), or the form of SyncAll with workspaces"));
  }
  const int id = vector_only ? 14 : 13;
  const int mode = vector_only ? 0 : 3;
  set(mode, c.kind == CoreKind::AIV ? Pipe::MTE3 : Pipe::FIX, id, site);
  wait(id, site, "SyncAll: the other cores");
}

void sync_all_soft(const View& gm, const View& ub, int used_cores, Site site) {
  Core& c = core();
  c.barrier(Pipe::ALL, site_id(site));
  const std::uint64_t blocks = launched().blocks;
  const std::uint64_t cores = used_cores > 0 ? used_cores : blocks;
  const auto need = [&](const View& v, const char* what) {
    if (v.bytes && v.bytes < cores * 32) {
      report(cross_finding(c, Kind::OutOfBounds,
                           format("SyncAll: the %s workspace has %llu bytes; %llu cores need %llu", what,
                                  static_cast<unsigned long long>(v.bytes), static_cast<unsigned long long>(cores),
                                  static_cast<unsigned long long>(cores * 32)),
                           site, "32 bytes for each core"));
    }
  };
  need(gm, "GM");
  need(ub, "UB");
  Memory* m = GlobalMemory::get().find(gm.addr);
  if (m && !all_defined(m->state + (gm.addr - reinterpret_cast<std::uint64_t>(m->data)),
                        std::min<std::uint64_t>(cores * 32, m->bytes))) {
    report(cross_finding(c, Kind::Uninitialised, "SyncAll: nothing has zeroed its GM workspace", site,
                         "zero it on the host or on one core before"));
  }
  set(0, Pipe::MTE3, 15, site);
  wait(15, site, "SyncAll: the other cores");
}

}  // namespace twin
