// SPDX-License-Identifier: Apache-2.0
#include "pointers.hpp"

#include <algorithm>
#include <cstring>

#include "code_lines.hpp"
#include "fiber.hpp"
#include "gm_range.hpp"
#include "host_lock.hpp"
#include "launched.hpp"
#include "scalar.hpp"
#include "twin/tiling.hpp"

namespace twin {
namespace {

constexpr const char* kLoad = "pointer load";
constexpr const char* kStore = "pointer store";
constexpr std::uint64_t kWidest = 8;  // bytes that the scalar unit moves at a time

View view_at(std::uint64_t address) {
  View v;
  v.space = Space::GM;
  v.addr = address;
  return v;
}

void require_aligned(Instruction& i, const View& view, std::uint64_t bytes) {
  if (bytes <= kWidest && view.addr % bytes != 0) {
    i.refuse(Kind::Alignment,
             format("%s of %llu bytes at an address that is not a multiple of them", i.name(),
                    static_cast<unsigned long long>(bytes)),
             "keep each value on a multiple of its size", &view);
  }
}

// Bytes between the members of a struct are copied with it, and need not be written: a word without any written byte is none
// of those.
bool nothing_written(const std::uint8_t* state, std::uint64_t bytes) {
  return std::find(state, state + bytes, kDefined) == state + bytes;
}

// The value that the kernel is about to load has not been computed: it finds another one there until the round is over.
void put_stand_in(Memory& m, std::uint64_t at, std::uint32_t bytes, std::uint32_t site) {
  if (!any_skipped(m.state + at, bytes)) return;
  const std::uint8_t state = *std::find_if(m.state + at, m.state + at + bytes, is_skipped);
  const DType dtype = skipped_dtype(state);
  if (const std::uint32_t one = size_bytes(dtype); bytes > one && bytes % one == 0) {  // several values in one load
    for (std::uint32_t k = 0; k < bytes; k += one) put_stand_in(m, at + k, one, site);
    return;
  }
  std::uint8_t value[kWidest];
  stand_in(core(), size_bytes(dtype) == bytes ? dtype : DType::U8, state, site, value, bytes);
  launched().stood_in.push_back({&m, at, {m.data + at, m.data + at + bytes}, {}});
  std::memcpy(m.data + at, value, bytes);
}

void load(const View& view, std::uint32_t bytes, bool aligned, Site site, const char* name) {
  const std::uint32_t id = site_id(site);
  note_poll(view.addr, id);
  yield_now_and_then();  // before it is checked: the value is taken after this
  Instruction i(Pipe::S, name, site);
  if (aligned) require_aligned(i, view, bytes);
  i.read(view, 0, bytes);
  std::uint64_t at = 0;
  Memory* const gm = i.refused() ? nullptr : gm_at(view.addr, &at);
  i.cost(gm ? cache_cost(core(), *gm, at) : "ScalarGm", 1);
  if (gm && cache_before_load(core(), *gm, at)) i.tag(kPolled);
  if (!i.issue()) return;
  const std::uint8_t* const state = gm->state + at;
  if (any_skipped(state, bytes)) return put_stand_in(*gm, at, bytes, id);
  if (nothing_written(state, bytes)) i.use(view, 0, bytes, "reads");
  note_words(gm->data + at, bytes);
  cache_load(core(), *gm, at, at + bytes, 0, id, name);
}

void store(const View& view, std::uint32_t bytes, bool aligned, Site site) {
  yield_now_and_then();
  Instruction i(Pipe::S, kStore, site);
  if (aligned) require_aligned(i, view, bytes);
  i.write(view, 0, bytes);
  std::uint64_t at = 0;
  Memory* const gm = i.refused() ? nullptr : gm_at(view.addr, &at);
  i.cost(gm ? cache_cost(core(), *gm, at) : "ScalarGm", 1);
  if (!i.issue()) return;
  std::memset(gm->state + at, kDefined, bytes);
  cache_store(core(), *gm, at, at + bytes, 0, site_id(site), kStore);
}

void of_the_kernel(const PointerAccess& a, Site site, const char* load_name = kLoad) {
  const std::uint64_t end = a.address + a.bytes;
  for (std::uint64_t at = a.address, next; at < end; at = next) {
    // A value that is not aligned is looked at whole, so that the report says so.
    next = !a.any_alignment && a.bytes <= kWidest ? end : std::min<std::uint64_t>(end, at / kWidest * kWidest + kWidest);
    const auto bytes = static_cast<std::uint32_t>(next - at);
    if (a.write) {
      store(view_at(at), bytes, !a.any_alignment, site);
    } else {
      load(view_at(at), bytes, !a.any_alignment, site, load_name);
    }
  }
}

// On a host with the device beside it, these are no addresses of its own.
void of_the_host(const PointerAccess& a, Site site) {
  const HostLock lock;
  std::uint64_t at = 0;
  const Memory* const m = gm_at(a.address, &at);
  if (!m || m->of_the_host) return;
  Finding f{Kind::OutOfBounds};
  f.what = format("the host %s %s through a pointer: that is memory of the device, where the host's program crashes",
                  a.write ? "writes" : "reads", m->name.c_str());
  f.line_a = to_string(site);
  f.core = "host";
  f.range = hex_range(m->name, at, at + a.bytes);
  f.fix = "aclrtMemcpy to or from memory of the host";
  report(std::move(f));
}

}  // namespace

void pointer_access(const PointerAccess& a) {
  if (a.bytes == 0) return;
  const Site site = site_of_code(a.code);
  if (!in_kernel()) return of_the_host(a, site);
  Fiber::unwinds(false);  // compilers take it that these calls do not throw
  of_the_kernel(a, site);
  Fiber::unwinds(true);
  const bool there = GlobalMemory::get().find(a.address) && GlobalMemory::get().find(a.address + a.bytes - 1);
  if (!there) GmRange::get().make_accessible(a.address, a.bytes);
}

void load_tiling(void* to, const void* from, std::size_t bytes, Site site) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const auto there = [&] { return GlobalMemory::get().find(address) && GlobalMemory::get().find(address + bytes - 1); };
  if (in_kernel() && (gm_bounds.contain(address) || there())) {
    of_the_kernel({address, bytes, false, true, nullptr}, site, "GET_TILING_DATA");
    if (!there()) return void(std::memset(to, 0, bytes));
  }
  std::memcpy(to, from, bytes);
  note_words(to, bytes);
}

}  // namespace twin
