// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "engine.hpp"
#include "gm_range.hpp"
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
  auto memory = std::make_unique<Memory>();
  Memory& m = *memory;
  m.data = static_cast<std::uint8_t*>(GmRange::get().take(bytes));
  m.state = static_cast<std::uint8_t*>(map_zeroed(bytes + 1));
  if (!m.data || !m.state) {
    if (m.data) GmRange::get().give_back(m.data, bytes);
    if (m.state) munmap(m.state, bytes + 1);
    return nullptr;
  }
  m.space = Space::GM;
  m.of_each_launch = of_each_launch;
  m.bytes = bytes;
  m.history = History(16);
  m.name = format("GM buffer %d (%s, %zu bytes)", ++count_, by, bytes);
  void* const pointer = m.data;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  forget_freed(address, address + bytes);
  blocks_[address] = std::move(memory);
  last_ = nullptr;
  return pointer;
}

void GlobalMemory::forget_freed(std::uint64_t begin, std::uint64_t end) {
  auto f = freed_.lower_bound(begin);
  if (f != freed_.begin() && std::prev(f)->first + std::prev(f)->second > begin) --f;
  while (f != freed_.end() && f->first < end) f = freed_.erase(f);
}

bool GlobalMemory::release(void* pointer) {
  const auto found = blocks_.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == blocks_.end()) return false;
  constexpr std::size_t kRemembered = 4096;
  const Memory& m = *found->second;
  munmap(m.state, m.bytes + 1);
  GmRange::get().give_back(m.data, m.bytes);
  Streams::get().forget(m);
  freed_[found->first] = m.bytes;
  freed_in_order_.push_back(found->first);
  if (freed_in_order_.size() > kRemembered) {
    freed_.erase(freed_in_order_.front());
    freed_in_order_.pop_front();
  }
  blocks_.erase(found);
  last_ = nullptr;
  return true;
}

Memory* GlobalMemory::find(std::uint64_t address, bool* freed) {
  if (freed) *freed = false;
  if (last_ && address - reinterpret_cast<std::uint64_t>(last_->data) < last_->bytes) return last_;
  const auto next = blocks_.upper_bound(address);
  if (next != blocks_.begin() && address - std::prev(next)->first < std::prev(next)->second->bytes)
    return last_ = std::prev(next)->second.get();
  if (!freed) return nullptr;
  const auto behind = freed_.upper_bound(address);
  *freed = behind != freed_.begin() && address - std::prev(behind)->first < std::prev(behind)->second;
  return nullptr;
}

const Memory* GlobalMemory::before(std::uint64_t address) const {
  constexpr std::uint64_t kNear = 1 << 20;
  const auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin()) return nullptr;
  const Memory& m = *std::prev(next)->second;
  return address - reinterpret_cast<std::uint64_t>(m.data) - m.bytes < kNear ? &m : nullptr;
}

void GlobalMemory::forget_history() {
  for (auto& [address, memory] : blocks_) {
    memory->history.clear();
    memory->cached.clear();
    memory->sums.clear();
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
