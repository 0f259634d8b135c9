// SPDX-License-Identifier: Apache-2.0
// What a kernel asks about itself, and the registers that it sets.
#include "engine.hpp"
#include "launched.hpp"

namespace twin {

CoreKind core_kind() { return core().kind; }
std::int64_t block_idx() {
  const Core& c = core();
  return c.kind == CoreKind::AIV && launched().has_aic ? c.block * launched().aiv_a_block + c.sub : c.block;
}
std::int64_t core_block() { return core().block; }
std::int64_t block_num() { return launched().blocks; }
std::int64_t sub_block_idx() { return core().sub; }
std::int64_t task_ratio() { return launched().has_aic && launched().has_aiv ? launched().aiv_a_block : 1; }
void set_mask(std::uint64_t high, std::uint64_t low) {
  TWIN_HOLD_BACK(Pipe::V, { set_mask(high, low); })
  core().mask[0] = low;
  core().mask[1] = high;
}
void set_mask_counter(bool counter_mode) {
  TWIN_HOLD_BACK(Pipe::V, { set_mask_counter(counter_mode); })
  core().mask_counts = counter_mode;
}
bool mask_counter(Site site) {
  core().need(Pipe::V, site);
  return core().mask_counts;
}
void set_atomic(Atomic kind, DType dtype, Site) {
  core().atomic = kind;
  core().atomic_dtype = dtype;
}
Atomic atomic_kind() { return core().atomic; }
DType atomic_dtype() { return core().atomic_dtype; }
std::uint64_t local_capacity_bytes(Space space) { return core().memory[int(space)].bytes; }
std::uint8_t* local_pointer(const View& view, Site site) {
  Core& c = core();
  const Memory& m = c.memory[int(view.space)];
  if (view.addr >= m.bytes) {
    report({Kind::OutOfBounds,
            format("GetPhyAddr of a tensor at 0x%llx of %s", static_cast<unsigned long long>(view.addr), name(view.space)),
            to_string(site), "", c.label(), "", "", "", "keep tensors inside the memory"});
    return m.data;
  }
  return m.data + view.addr;
}

}  // namespace twin
