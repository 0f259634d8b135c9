// SPDX-License-Identifier: Apache-2.0
// Communication between chips, of which there is one: rank 0 of 1. A server beside the cores carries out tasks in the order
// of their commits; each is a copy from the send to the receive buffer, on a pipe of its own (HCCL) of the core that
// committed it.
#include "hccl.hpp"

#include <cstring>

#include "lanes.hpp"
#include "launched.hpp"

namespace twin {
namespace {

constexpr std::size_t kMostTasks = 63;  // Prepares of one communicator, by the pages of the Prepare functions

Finding finding(Kind kind, const std::string& what, Site site, const char* fix) {
  return {kind, "Hccl: " + what, to_string(site), "", core().label(), "", "", "", fix};
}

HcclGroup& group_of(int group) {
  auto& groups = launched().hccl;
  if (static_cast<std::size_t>(group) >= groups.size()) groups.resize(group + 1);
  if (!groups[group]) groups[group] = std::make_shared<HcclGroup>();
  return *groups[group];
}

// Whether it is this core that the server listens to.
bool listens_to(HcclGroup& g, const HcclClient& client, Site site) {
  const Core& c = core();
  if (block_idx() != client.block || (client.kind >= 0 && client.kind != int(c.kind))) return false;
  if (g.kind < 0) g.kind = int(c.kind);
  if (g.kind == int(c.kind)) return true;
  report(finding(Kind::KernelType, "called by a cube and by a vector core: the server listens to one of the two", site,
                 "if ASCEND_IS_AIC, or if ASCEND_IS_AIV, around all of its calls"));
  return false;
}

void copy(const HcclTask& t, std::uint32_t nth, Site site) {
  View src, dst;
  src.space = dst.space = Space::GM;
  src.dtype = dst.dtype = DType::U8;
  const std::uint64_t step = nth * t.bytes;
  src.addr = t.send + step;
  dst.addr = t.receive + step;
  Instruction i(Pipe::HCCL, t.what, site);
  i.read(src, 0, t.bytes);
  i.write(dst, 0, t.bytes);
  i.cost("Hccl", t.bytes);
  if (!i.issue() || t.bytes == 0) return;
  States ds(i, dst), ss(i, src);
  std::memmove(i.bytes(dst), i.bytes(src), t.bytes);
  for (std::uint64_t at = 0; at < t.bytes; ++at) ds.set(at, 1, ss.of(at, 1));
}

HcclTask* task_of(const HcclClient& client, int handle, const char* call, Site site) {
  HcclGroup& g = group_of(client.group);
  if (handle >= 0 && handle < client.prepared) {
    if (static_cast<std::size_t>(handle) < g.tasks.size()) return &g.tasks[handle];
    return nullptr;  // prepared here, and not yet on the core that the server listens to
  }
  report(finding(Kind::Limit, format("%s of handle %d, which no Prepare of this core has given", call, handle), site,
                 "the handle that AllReduce, AllGather, ReduceScatter or AlltoAll returns"));
  return nullptr;
}

}  // namespace

bool hccl_ready(const HcclClient& client, const char* call, Site site) {
  if (client.initialised && client.has_tiling) return true;
  report(finding(Kind::Limit,
                 format("%s before %s", call, client.initialised ? "SetCcTilingV2 (or SetCcTiling)" : "InitV2 (or Init)"),
                 site, "GetHcclContext, InitV2, SetCcTilingV2, and then the tasks"));
  return false;
}

int hccl_prepare(HcclClient& client, const HcclTaskCall& task, Site site) {
  if (!hccl_ready(client, task.what, site)) return -1;
  HcclGroup& g = group_of(client.group);
  if (client.prepared >= static_cast<int>(kMostTasks)) {
    report(finding(Kind::Limit, format("task number %d: a communicator takes %zu", client.prepared + 1, kMostTasks), site,
                   "one task with repeat, or another communicator"));
    return -1;
  }
  const int handle = client.prepared++;
  if (!listens_to(g, client, site)) return handle;
  if (task.repeat == 0 || task.bytes == 0) {
    report(
        finding(Kind::Limit,
                format("%s of %llu bytes, repeat %u", task.what, static_cast<unsigned long long>(task.bytes), task.repeat),
                site, "a count and a repeat of at least 1"));
  }
  g.tasks.push_back({task, site_id(site), {}});
  return handle;
}

void hccl_commit(const HcclClient& client, int handle, Site site) {
  if (!hccl_ready(client, "Commit", site)) return;
  HcclGroup& g = group_of(client.group);
  HcclTask* const t = task_of(client, handle, "Commit", site);
  if (!t || !listens_to(g, client, site)) return;
  if (t->done.size() >= t->repeat) {
    report(finding(Kind::Limit, format("Commit number %zu of a task with repeat %u", t->done.size() + 1, t->repeat), site,
                   "as many Commits as repeats; a Prepare with commit = true has done all of them itself"));
    return;
  }
  core().synchronise(Pipe::S, Pipe::HCCL, site_id(site));  // what the scalar unit has waited for is there
  copy(*t, static_cast<std::uint32_t>(t->done.size()), site);
  t->done.push_back(send_from(Pipe::HCCL, site));
}

int hccl_query(const HcclClient& client, int handle, Site site) {
  if (!hccl_ready(client, "Query", site)) return -1;
  const HcclTask* const t = task_of(client, handle, "Query", site);
  yield_core();  // a kernel may ask again and again until the core that the server listens to has committed
  return t ? static_cast<int>(t->done.size()) : handle >= 0 && handle < client.prepared ? 0 : -1;
}

int hccl_wait(HcclClient& client, int handle, Site site) {
  if (!hccl_ready(client, "Wait", site)) return -1;
  if (handle < 0 || handle >= client.prepared) return task_of(client, handle, "Wait", site), -1;
  HcclGroup& g = group_of(client.group);
  Core& c = core();
  struct Awaited {
    HcclGroup* group;
    std::size_t handle, nth;
    bool there() const { return handle < group->tasks.size() && nth < group->tasks[handle].done.size(); }
  } awaited{&g, static_cast<std::size_t>(handle), client.waits[handle]};
  if (!awaited.there() && block_idx() == client.block && (client.kind < 0 || client.kind == int(c.kind))) {
    report(finding(Kind::Deadlock,
                   format("Wait number %zu of a task that has been committed %zu times: nobody else could commit it",
                          awaited.nth + 1, awaited.nth),
                   site, "a Commit for each Wait, before it"));
    return -1;
  }
  ++client.waits[handle];
  c.waits_text = "a task of Hccl";
  c.waits_at = site_id(site);
  block_core_until([](void* a) { return static_cast<Awaited*>(a)->there(); }, &awaited);
  c.waits_text.clear();
  if (!awaited.there()) return -1;
  const CrossFlag::Delivery& done = g.tasks[handle].done[awaited.nth];
  learn_from_other(c, done.clock, done.token, site_id(site));
  return 0;
}

void hccl_finalize(const HcclClient& client, Site site) {
  if (!hccl_ready(client, "Finalize", site)) return;
  HcclGroup& g = group_of(client.group);
  if (!listens_to(g, client, site)) return;
  g.finalized = true;
  for (const HcclTask& t : g.tasks) {
    if (!t.done.empty()) learn_from_other(core(), t.done.back().clock, t.done.back().token, site_id(site));
  }
}

std::uint8_t* hccl_window(int group, bool in) {
  // 200 MB on the device, unless HCCL_BUFFSIZE says otherwise.
  static auto* windows = new std::map<std::pair<int, bool>, void*>;
  void*& window = (*windows)[{group, in}];
  if (!window) window = GlobalMemory::get().allocate(32 << 20, in ? "Hccl's window for input" : "Hccl's window for output");
  return static_cast<std::uint8_t*>(window);
}

void check_hccl_at_end() {
  for (const auto& g : launched().hccl) {
    if (!g || g->tasks.empty()) continue;
    for (const HcclTask& t : g->tasks) {
      if (t.done.size() == t.repeat) continue;
      report({Kind::Limit, format("Hccl: %s was committed %zu times, its repeat is %u", t.what, t.done.size(), t.repeat),
              to_string(site_of(t.site)), "", "", "", "", "", "Commit as often as repeat says, or commit = true for one"});
    }
    if (!g->finalized) {
      report({Kind::Limit, "Hccl: the kernel ends without Finalize: the server goes on waiting for tasks",
              to_string(site_of(g->tasks.back().site)), "", "", "", "", "", "Finalize on the core that prepares the tasks"});
    }
  }
}

}  // namespace twin
