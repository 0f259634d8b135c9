// SPDX-License-Identifier: Apache-2.0
// Order between cores: flags that a group of cores sets and a group waits for.
#include <utility>

#include "engine.hpp"
#include "launched.hpp"

namespace twin {
namespace {

constexpr int kEverybody = 3;  // a mode of the twin's own: every core of the launch (SyncAll<false>)
constexpr int kLastId = 10, kLastRawId = 15, kFirstOfSyncAll = 11, kLastOfSyncAll = 14;
constexpr int kSyncAll = 16, kSyncEverybody = 17, kSyncSoft = 18;  // what SyncAll waits for here: no id of a kernel's
constexpr int kFirst = 4;  // from here on: the first (mode - 4) vector cores (SyncAll with usedCores)

int vector_index(const Core& c) { return launched().has_aic ? c.block * launched().aiv_a_block + c.sub : c.block; }

bool sets_with(const Core& c, const Core& other, int mode) {
  if (mode == kEverybody) return true;
  if (other.kind != c.kind) return false;
  if (mode >= kFirst) return vector_index(other) < mode - kFirst;
  return mode == 0 || other.block == c.block;
}

// Who must set, and who is released, for a flag of this mode set by this core.
void members(const Core& c, int mode, std::vector<Core*>* setters, std::vector<Core*>* released) {
  for (auto& other : launched().cores) {
    const bool sets = sets_with(c, *other, mode);
    const bool gets = mode == 2 ? other->kind != c.kind && other->block == c.block : sets;
    if (sets) setters->push_back(other.get());
    if (gets) released->push_back(other.get());
  }
}

int group_of(const Core& c, int mode) {
  return mode == 0 ? int(c.kind) : mode >= kEverybody ? 0 : c.block * 2 + int(c.kind);
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

void learn_from_other(Core& c, const Clock& brought, std::uint32_t token, std::uint32_t site) {
  Clock known = brought;
  for (int p = 0; p < kPipes; ++p) known.own[p] = known.of(c.index, p);
  c.learn_everywhere(known);  // it holds back issue to every pipe
  Record r;
  r.step = Step::CrossWait;
  r.site = site;
  r.token = token;
  c.append(r);
}

CrossFlag::Delivery send_from(Pipe pipe, Site site) {
  Core& c = core();
  c.need(pipe, site);
  Launched& l = launched();
  Record r;
  r.step = Step::CrossSet;
  r.pipe = pipe;
  r.site = site_id(site);
  r.token = ++l.cross_tokens;
  l.cross_token_sets[r.token] = 1;
  c.append(r);
  return {as_foreign(c, c.completed(pipe)), r.token, r.site};
}

namespace {

void set(int mode, Pipe pipe, int id, Site site) {
  Core& c = core();
  TWIN_HOLD_BACK(pipe, { set(mode, pipe, id, site); })
  Launched& l = launched();
  std::vector<Core*> setters, released;
  members(c, mode, &setters, &released);
  auto& waiting = l.arrivals[{mode, id, group_of(c, mode)}].by_core;
  auto& sets = l.cross_sets[{c.index, mode, id}];
  ++sets.count;
  l.last_cross_set[c.index] = sets.last_site = site_id(site);
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

// What a core knows after a wait: one of the sets that have come is over. Several from one pipe come in order; of several
// from different pipes any may have been the one, so only what all of them bring is sure.
Clock known_of_all(const std::deque<CrossFlag::Delivery>& delivered) {
  Clock known = delivered.front().clock;
  bool copied = false;
  Foreign least;
  for (std::size_t i = 1; i < delivered.size(); ++i) {
    const auto& other = *delivered[i].clock.foreign;
    for (std::size_t k = 0; k < other.size(); ++k) {
      if (other[k] >= (copied ? least[k] : (*known.foreign)[k])) continue;
      if (!copied) least = *known.foreign, copied = true;
      least[k] = other[k];
    }
  }
  if (copied) known.foreign = std::make_shared<const Foreign>(std::move(least));
  return known;
}

struct Awaited {
  Core* core;
  int id;
};

void wait(int mode, int id, Site site) {
  Core& c = core();
  Awaited awaited{&c, id};
  c.waits_for = id;
  c.waits_mode = mode;
  c.waits_at = site_id(site);
  block_core_until(
      [](void* a) { return !static_cast<Awaited*>(a)->core->cross[static_cast<Awaited*>(a)->id].delivered.empty(); },
      &awaited);
  c.waits_for = -1;
  auto& delivered = c.cross[id].delivered;
  if (delivered.empty()) return;
  learn_from_other(c, known_of_all(delivered), delivered.front().token, site_id(site));
  delivered.pop_front();
}

// Blocks that do not run at the same time cannot wait for each other.
void need_all(const char* api, Site site) {
  Launched& l = launched();
  if (l.blocks <= l.at_once) return;
  report(cross_finding(
      core(), Kind::KernelType,
      format("%s waits for all %d blocks of the launch, but the device runs %d at once", api, l.blocks, l.at_once), site,
      format("launch at most %d blocks and loop inside; the kernel would hang", l.at_once)));
  l.all_at_once = true;  // goes on as if the device were larger
}

// SyncAll's hard form has flags 11 to 14: a kernel that sets them by the compiler's own name may not call it.
void report_clash(Site site, std::uint32_t other, int id) {
  Finding f = cross_finding(core(), Kind::Flag, format("flag %d between cores is one of those that SyncAll sets itself", id),
                            site, "use ids 0 to 10, or the form of SyncAll with workspaces");
  f.line_b = to_string(site_of(other));
  report(std::move(f));
}

bool usable(const char* api, int mode, int id, bool raw, Site site) {
  const Core& c = core();
  Launched& l = launched();
  if (!is_mix(l.type) && !std::exchange(l.type_reported, true)) {
    report(cross_finding(c, Kind::KernelType, format("%s in a kernel that is not of a mix type", api), site,
                         "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0), MIX_AIC_1_0, MIX_AIC_1_1 or MIX_AIC_1_2"));
  }
  if (mode < 0 || mode > 2) {
    report(cross_finding(c, Kind::Limit, format("%s with mode %d: modes are 0, 1 and 2", api, mode), site,
                         "see the three modes of CrossCoreSetFlag"));
    return false;
  }
  matmul_meets_flag(api, id, site);
  if (id < 0 || id > (raw ? kLastRawId : kLastId)) {
    report(cross_finding(c, Kind::Flag,
                         raw ? format("%s with id %d: ids are 0 to %d", api, id, kLastRawId)
                             : format("%s with id %d: ids are 0 to %d, the rest belongs to SyncAll", api, id, kLastId),
                         site, "use another id"));
  } else if (id >= kFirstOfSyncAll && id <= kLastOfSyncAll) {
    l.raw_sync_flag.emplace(id, site_id(site));
    if (l.hard_sync) report_clash(site, l.hard_sync, id);
  }
  return true;
}

}  // namespace

void cross_core_set(int mode, Pipe pipe, int id, bool raw, Site site) {
  if (!usable(raw ? "ffts_cross_core_sync" : "CrossCoreSetFlag", mode, id, raw, site)) return;
  if (mode == 0) need_all("CrossCoreSetFlag<0>", site);
  set(mode, pipe, id, site);
}

void cross_core_wait(int mode, Pipe, int id, bool raw, Site site) {
  // The wait names no group: any set that releases this core under the id counts.
  if (!usable(raw ? "wait_flag_dev" : "CrossCoreWaitFlag", mode < 0 ? 0 : mode, id, raw, site)) return;
  wait(mode, id, site);
}

void sync_all(bool vector_only, Site site) {
  Core& c = core();
  Launched& l = launched();
  c.barrier(Pipe::ALL, site_id(site));
  const bool pure_vector = !l.has_aic;
  if (!vector_only && pure_vector) {
    report(cross_finding(c, Kind::KernelType, "SyncAll<false> in a pure vector kernel hangs: no cube core answers", site,
                         "SyncAll<true>() or SyncAll()"));
    return;
  }
  if (vector_only && c.kind == CoreKind::AIC) return;  // the default form concerns vector cores only
  if (pure_vector && l.type != KernelType::MixAiv10 && !std::exchange(l.type_reported, true)) {
    report(cross_finding(c, Kind::KernelType, "SyncAll() in a vector kernel that is not of type KERNEL_TYPE_MIX_AIV_1_0",
                         site, "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0), or the form of SyncAll with workspaces"));
  }
  need_all("SyncAll", site);
  const int id = vector_only ? kSyncAll : kSyncEverybody;
  l.hard_sync = site_id(site);
  for (const auto& [raw, where] : l.raw_sync_flag) report_clash(site, where, raw);
  const int mode = vector_only ? 0 : kEverybody;
  set(mode, c.kind == CoreKind::AIV ? Pipe::MTE3 : Pipe::FIX, id, site);
  wait(mode, id, site);
}

void sync_all_soft(const View& gm, const View& ub, int used_cores, Site site) {
  Core& c = core();
  c.barrier(Pipe::ALL, site_id(site));
  if (c.kind == CoreKind::AIC) return;  // it concerns vector cores only
  const std::uint64_t all = static_cast<std::uint64_t>(launched().blocks) * launched().aiv_a_block;
  const std::uint64_t cores = used_cores > 0 ? std::min<std::uint64_t>(used_cores, all) : all;
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
  if (vector_index(c) >= static_cast<int>(cores)) {
    report(cross_finding(c, Kind::KernelType,
                         format("SyncAll among the first %llu cores, called on core %d",
                                static_cast<unsigned long long>(cores), vector_index(c)),
                         site, "call it on those cores only, or leave usedCores out"));
    return;
  }
  need_all("SyncAll", site);
  const int mode = used_cores > 0 ? kFirst + used_cores : 0;
  set(mode, Pipe::MTE3, kSyncSoft, site);
  wait(mode, kSyncSoft, site);
}

// ---- deadlock ----
namespace {

// By which mode a waiting core can be released: what its flag was set with anywhere, else the pair of a mix kernel.
int mode_of_flag(const Core& stuck) {
  if (stuck.waits_for > kLastRawId) return stuck.waits_mode;
  for (const auto& [key, sets] : launched().cross_sets) {
    if (std::get<2>(key) == stuck.waits_for) return std::get<1>(key);
  }
  return launched().has_aic && launched().has_aiv ? 2 : 0;
}

bool waits(const Core& c) { return c.waits_for >= 0 || !c.waits_text.empty(); }
std::string waited_for(const Core& c) {
  if (!c.waits_text.empty()) return c.waits_text;
  return c.waits_for > kLastRawId ? "SyncAll" : format("cross-core flag %d", c.waits_for);
}

// The first core whose set is missing, with the line of the set that it did instead, or of what it waits for itself.
const Core* who_should_have(const Core& stuck, int mode, std::string* why, std::uint32_t* line) {
  const Launched& l = launched();
  const auto sets_of = [&](const Core& c) {
    if (stuck.waits_sets) return *stuck.waits_sets;
    const auto at = l.cross_sets.find({c.index, mode, stuck.waits_for});
    return at == l.cross_sets.end() ? CrossSets{} : at->second;
  };
  const Core* missing = stuck.waits_on;
  for (const auto& other : l.cores) {
    if (stuck.waits_on) break;
    const bool may = mode == 2 ? other->kind != stuck.kind && other->block == stuck.block : sets_with(stuck, *other, mode);
    if (may && (!missing || sets_of(*other).count < sets_of(*missing).count)) missing = other.get();
  }
  if (!missing) return nullptr;
  const CrossSets sets = sets_of(*missing);
  const auto any = l.last_cross_set.find(missing->index);
  *line = sets.count ? sets.last_site : any != l.last_cross_set.end() ? any->second : missing->waits_at;
  if (sets.count) {
    *why = format("it has done so %d time%s, last at %s", sets.count, sets.count == 1 ? "" : "s",
                  to_string(site_of(sets.last_site)).c_str());
  } else if (any != l.last_cross_set.end()) {
    *why = format("its nearest set is that of another flag or mode, at %s", to_string(site_of(any->second)).c_str());
  } else {
    *why = "it has set none";
  }
  if (!missing->started) {
    *why += ", and has not begun";
  } else if (missing->finished) {
    *why += ", and has ended";
  } else if (missing != &stuck && waits(*missing)) {
    *why += format(", and waits itself for %s at %s", waited_for(*missing).c_str(),
                   to_string(site_of(missing->waits_at)).c_str());
  }
  return missing;
}

}  // namespace

void cross_deadlock(const Core& stuck) {
  if (!waits(stuck)) {
    Finding f{Kind::Deadlock};
    f.core = stuck.label();
    f.line_a = to_string(site_of(stuck.waits_at));
    f.pipe_a = name(Pipe::S);
    f.what = f.core + " reads one value of GM again and again, and no core is left that could change it";
    View polled;
    polled.space = Space::GM;
    polled.addr = stuck.polled;
    place(&f, polled);
    f.fix = "store what it waits for on every path of another core, or wait with flags";
    report(std::move(f));
    return;
  }
  const int mode = mode_of_flag(stuck);
  std::string why;
  std::uint32_t line = 0;
  const Core* const missing = who_should_have(stuck, mode, &why, &line);
  Finding f{Kind::Deadlock};
  f.core = stuck.label();
  f.line_a = to_string(site_of(stuck.waits_at));
  f.what = format("%s waits for ever for %s", f.core.c_str(), waited_for(stuck).c_str());
  if (missing) {
    if (line) f.line_b = to_string(site_of(line));
    f.what += format("%s, which %s should have set: %s",
                     stuck.waits_for > kLastRawId || stuck.waits_on ? "" : format(" (mode %d)", mode).c_str(),
                     missing->label().c_str(), why.c_str());
    f.core += " against " + missing->label();
  }
  f.fix = "set it on every path of the core that should, as often as it is waited for";
  report(std::move(f));
}

}  // namespace twin
