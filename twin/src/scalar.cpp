// SPDX-License-Identifier: Apache-2.0
// The scalar pipe: loads and stores of elements, and the data cache's instructions.
#include <cstring>

#include "element.hpp"
#include "engine.hpp"
#include "launched.hpp"
#include "scalar.hpp"

namespace twin {
namespace {
void require_aligned_element(Instruction& i, const View& view, std::uint64_t offset, std::uint32_t size) {
  if ((view.addr + offset) % size == 0) return;
  i.refuse(Kind::Alignment, format("%s of %u bytes at an address that is not a multiple of them", i.name(), size),
           "begin the tensor on a multiple of its element's size", &view);
}

// For the timing-only mode: a number that the kernel was given in GM.
void note_element(DType dtype, const void* value, std::uint32_t size) {
  const auto* const p = static_cast<const std::uint8_t*>(value);
  if (dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16)
    return note_scalar(static_cast<double>(load_float(p, dtype)));
  const bool is_signed = dtype == DType::I8 || dtype == DType::I16 || dtype == DType::I32 || dtype == DType::I64;
  std::int64_t i = 0;
  std::memcpy(&i, p, size);  // little-endian
  const int above = 64 - 8 * static_cast<int>(size);
  note_scalar(
      static_cast<double>(is_signed ? static_cast<std::int64_t>(static_cast<std::uint64_t>(i) << above) >> above : i));
}
}  // namespace

void note_poll(std::uint64_t address, std::uint32_t site) {
  Core& c = core();
  std::uint64_t activity = 0;
  for (int p = 1; p < kPipes; ++p) activity += c.activity[p];
  const bool again = c.polled == address && c.polled_activity == activity;
  c.polls = again ? c.polls + 1 : 0;
  c.polled = address;
  c.polled_activity = activity;
  if (!again) c.waits_at = site;
}

void yield_now_and_then() {
  if (++core().scalar_steps % 4096 == 0) yield_core();  // a kernel may spin on GM until another core has written it
}

Memory* gm_at(std::uint64_t address, std::uint64_t* at) {
  Memory* const gm = GlobalMemory::get().find(address);
  if (gm) *at = address - reinterpret_cast<std::uint64_t>(gm->data);
  return gm;
}

void scalar_load(const View& view, std::uint64_t offset, void* value, std::uint32_t size, Site site) {
  Instruction i(Pipe::S, "GetValue", site);
  i.take_int4();
  require_aligned_element(i, view, offset, size);
  i.read(view, offset, size);
  std::uint64_t at = 0;
  Memory* const gm = view.space == Space::GM && !i.refused() ? gm_at(view.addr + offset, &at) : nullptr;
  i.cost(gm ? cache_cost(core(), *gm, at) : "ScalarAccess", 1);
  if (gm && cache_before_load(core(), *gm, at)) i.tag(kPolled);
  if (!i.issue()) {
    std::memset(value, 0, size);
    return;
  }
  const std::uint8_t* const state = i.state(view) + offset;
  if (any_skipped(state, size)) return stand_in(core(), view.dtype, *state, site_id(site), value, size);
  i.use(view, offset, size, "reads");
  std::memcpy(value, i.bytes(view) + offset, size);
  if (!gm) return;
  if (launched().timing_only) note_element(view.dtype, value, size);
  cache_load(core(), *gm, at, at + size, view.tensor, site_id(site), i.name());
  note_poll(view.addr + offset, site_id(site));
  yield_now_and_then();
}

void scalar_store(const View& view, std::uint64_t offset, const void* value, std::uint32_t size, Site site,
                  std::uint8_t keep) {
  Instruction i(Pipe::S, "SetValue", site);
  i.take_int4();
  require_aligned_element(i, view, offset, size);
  i.write(view, offset, size);
  std::uint64_t at = 0;
  Memory* const gm = view.space == Space::GM && !i.refused() ? gm_at(view.addr + offset, &at) : nullptr;
  i.cost(gm ? cache_cost(core(), *gm, at) : "ScalarAccess", 1);
  if (!i.issue()) return;
  std::uint8_t* const at_byte = i.bytes(view) + offset;
  if (keep) {
    *at_byte = static_cast<std::uint8_t>((*at_byte & keep) | (*static_cast<const std::uint8_t*>(value) & ~keep));
  } else {
    std::memcpy(at_byte, value, size);
  }
  std::memset(i.state(view) + offset, kDefined, size);
  if (gm) cache_store(core(), *gm, at, at + size, view.tensor, site_id(site), i.name());
}

void cache_clean(const View& view, bool whole, Site site) {
  Core& c = core();
  Instruction i(Pipe::S, "DataCacheCleanAndInvalid", site);
  i.cost("ScalarGm", 1);
  Memory* const m = whole ? nullptr : GlobalMemory::get().find(view.addr);
  i.require(whole || m, Kind::OutOfBounds, "DataCacheCleanAndInvalid of GM outside of every allocation",
            "check the offset and the size given to aclrtMalloc", &view);
  if (!i.issue()) return;
  Event now{c.issued[int(Pipe::S)], site_id(site), 0, static_cast<std::uint16_t>(c.index), Pipe::S, kPlain};
  if (m) {
    cache_clean_line(c, *m, (view.addr - reinterpret_cast<std::uint64_t>(m->data)) / kCacheLineBytes, now);
  } else {
    for (const auto& [memory, line] : c.cached) cache_clean_line(c, *memory, line, now);
    c.cached.clear();
  }
  yield_core();
}

// Holds back what follows, on every pipe, until the scalar unit's stores are done.
void data_sync_barrier(Site) {
  Core& c = core();
  Clock stored;
  stored.own[int(Pipe::S)] = c.issued[int(Pipe::S)];
  c.learn_everywhere(stored);
}

}  // namespace twin
