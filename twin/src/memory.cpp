// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "engine.hpp"
#include "streams.hpp"

namespace twin {
namespace {

void* map_zeroed(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

}  // namespace

bool all_defined(const std::uint8_t* state, std::uint64_t bytes) {
  // Eight at a time; memcmp against a constant block is what compilers turn into wide compares.
  static const auto kAllDefined = [] {
    std::array<std::uint8_t, 256> block;
    block.fill(kDefined);
    return block;
  }();
  for (; bytes >= 256; state += 256, bytes -= 256) {
    if (std::memcmp(state, kAllDefined.data(), 256) != 0) return false;
  }
  return std::memcmp(state, kAllDefined.data(), bytes) == 0;
}

GlobalMemory& GlobalMemory::get() {
  static GlobalMemory memory;
  return memory;
}

void* GlobalMemory::allocate(std::size_t bytes, const char* by, bool of_each_launch) {
  auto block = std::make_unique<Block>();
  Memory& m = block->memory;
  m.data = static_cast<std::uint8_t*>(map_zeroed(bytes + 1));
  m.state = static_cast<std::uint8_t*>(map_zeroed(bytes + 1));
  if (!m.data || !m.state) {
    if (m.data) munmap(m.data, bytes + 1);
    if (m.state) munmap(m.state, bytes + 1);
    return nullptr;
  }
  m.space = Space::GM;
  m.of_each_launch = of_each_launch;
  m.bytes = bytes;
  m.history = History(16);
  m.name = format("GM buffer %d (%s, %zu bytes)", ++count_, by, bytes);
  void* const pointer = m.data;
  blocks_[reinterpret_cast<std::uint64_t>(pointer)] = std::move(block);  // an old, freed block at this address is forgotten
  last_ = nullptr;
  return pointer;
}

bool GlobalMemory::release(void* pointer) {
  const auto found = blocks_.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == blocks_.end() || !found->second->live) return false;
  Memory& m = found->second->memory;
  munmap(m.data, m.bytes + 1);
  munmap(m.state, m.bytes + 1);
  m.history.clear();
  m.cached.clear();
  m.sums.clear();
  Streams::get().forget(m);
  found->second->live = false;
  last_ = nullptr;
  return true;
}

Memory* GlobalMemory::find(std::uint64_t address, bool* freed) {
  if (freed) *freed = false;
  if (last_ && address - reinterpret_cast<std::uint64_t>(last_->data) < last_->bytes) return last_;
  auto next = blocks_.upper_bound(address);
  while (next != blocks_.begin()) {  // a freed block may overlap a live one that came later
    Block& block = *std::prev(next)->second;
    const bool inside = address - std::prev(next)->first < block.memory.bytes;
    if (inside && block.live) return last_ = &block.memory;
    if (inside && freed) *freed = true;
    if (block.live) break;
    --next;
  }
  return nullptr;
}

void GlobalMemory::forget_history() {
  for (auto& [address, block] : blocks_) {
    block->memory.history.clear();
    block->memory.cached.clear();
    block->memory.sums.clear();
  }
}

void GlobalMemory::mark_defined(const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  Memory* m = find(address);
  if (!m) return;
  const std::uint64_t offset = address - reinterpret_cast<std::uint64_t>(m->data);
  std::memset(m->state + offset, kDefined, std::min<std::uint64_t>(bytes, m->bytes - offset));
}

}  // namespace twin
