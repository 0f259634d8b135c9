// SPDX-License-Identifier: Apache-2.0
#include "gm_range.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TWIN_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TWIN_SANITIZED 1
#endif
#endif

namespace twin {

GmBounds gm_bounds;

namespace {

[[maybe_unused]] constexpr std::size_t kMost = std::size_t{1} << 40, kLeast = std::size_t{1} << 34;
constexpr std::size_t kPage = std::size_t{1} << 16;  // no host has larger ones
constexpr std::size_t kHuge = std::size_t{1} << 21;  // a large buffer begins where one of the system's large pages can
constexpr int kNobody = PROT_NONE, kPrivate = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void* map(std::uintptr_t at, std::size_t bytes, int protection) {
  void* const p = mmap(reinterpret_cast<void*>(at), bytes, protection, kPrivate | (at ? MAP_FIXED : 0), -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

// A byte more than was asked for, and a page between two buffers that belongs to nobody.
std::size_t room_for(std::size_t bytes) { return (bytes + 1 + kPage - 1) / kPage * kPage + kPage; }

}  // namespace

GmRange& GmRange::get() {
  static auto* const range = new GmRange;  // outlives every exit handler
  return *range;
}

void GmRange::reserve() {
  reserved_ = true;
#ifndef TWIN_SANITIZED
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return;  // it counts what is reserved
  for (std::size_t bytes = kMost; bytes >= kLeast; bytes /= 2) {
    const auto begin = reinterpret_cast<std::uintptr_t>(map(0, bytes, kNobody));
    if (!begin) continue;
    gm_bounds = {begin, bytes};
    fresh_ = (begin + kPage - 1) / kPage * kPage + kHuge;  // what lies before the first buffer is GM, too
    return;
  }
#endif
}

// Fresh addresses as long as there are any: what was freed long ago is still known as freed then.
std::uintptr_t GmRange::place(std::size_t room) {
  const std::size_t step = room >= 2 * kHuge ? kHuge : kPage;
  const std::uintptr_t at = (fresh_ + step - 1) / step * step;
  if (gm_bounds.begin + gm_bounds.bytes >= at + room) {
    fresh_ = at + room;
    return at;
  }
  for (auto v = vacant_.begin(); v != vacant_.end(); ++v) {
    if (v->second < room) continue;
    const auto [begin, bytes] = *v;
    vacant_.erase(v);
    if (bytes > room) vacant_[begin + room] = bytes - room;
    return begin;
  }
  return 0;
}

void* GmRange::take(std::size_t bytes) {
  if (!reserved_) reserve();
  if (bytes >= kMost) return nullptr;
  const std::uintptr_t at = gm_bounds.bytes ? place(room_for(bytes)) : 0;
  return map(at, bytes + 1, PROT_READ | PROT_WRITE);
}

void GmRange::give_back(void* pointer, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  if (!gm_bounds.contain(at)) {
    munmap(pointer, bytes + 1);
    return;
  }
  map(at, room_for(bytes), kNobody);
  auto v = vacant_.emplace(at, room_for(bytes)).first;
  const auto behind = std::next(v);
  if (behind != vacant_.end() && v->first + v->second == behind->first) {
    v->second += behind->second;
    vacant_.erase(behind);
  }
  if (v == vacant_.begin()) return;
  const auto before = std::prev(v);
  if (before->first + before->second != v->first) return;
  before->second += v->second;
  vacant_.erase(v);
}

void GmRange::make_accessible(std::uintptr_t address, std::size_t bytes) {
  if (!gm_bounds.contain(address) || !gm_bounds.contain(address + bytes - 1)) return;
  const std::uintptr_t begin = address / kPage * kPage;
  mprotect(reinterpret_cast<void*>(begin < gm_bounds.begin ? gm_bounds.begin : begin), address + bytes - begin,
           PROT_READ | PROT_WRITE);
}

}  // namespace twin
