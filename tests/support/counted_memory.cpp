// SPDX-License-Identifier: Apache-2.0
#include "support/counted_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> g_counting{false};
std::atomic<int> g_count{0};
thread_local int g_granted = -1;                         // allocations until all are refused; -1: never
thread_local std::size_t g_most = std::size_t{1} << 40;  // bytes of one allocation; sanitizers abort beyond
thread_local bool g_refused = false;

void count_one() noexcept {
  if (g_counting.load(std::memory_order_relaxed)) g_count.fetch_add(1, std::memory_order_relaxed);
}

void* take(std::size_t size, std::size_t alignment) noexcept {
  count_one();
  if (g_granted == 0 || size > g_most) {
    g_refused = true;
    return nullptr;
  }
  if (g_granted > 0) --g_granted;
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* take_or_throw(std::size_t size, std::size_t alignment) {
  if (void* p = take(size, alignment)) return p;
  throw std::bad_alloc();
}

constexpr std::size_t kDefault = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // GCC inlines one of a pair under sanitizers and misses the other
#endif
void* operator new(std::size_t size) { return take_or_throw(size, kDefault); }
void* operator new[](std::size_t size) { return take_or_throw(size, kDefault); }
void* operator new(std::size_t size, std::align_val_t a) { return take_or_throw(size, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return take_or_throw(size, static_cast<std::size_t>(a)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size, kDefault); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take(size, kDefault); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* malloc(std::size_t size) {
  count_one();
  return __libc_malloc(size);
}
#endif

namespace tessera::test {

CountAllocations::CountAllocations() noexcept {
  g_count = 0;
  g_counting = true;
}
CountAllocations::~CountAllocations() { g_counting = false; }
int CountAllocations::count() const noexcept { return g_count; }

RefuseAllocations::RefuseAllocations(int granted) noexcept {
  g_refused = false;
  g_granted = granted;
}
RefuseAllocations::~RefuseAllocations() { g_granted = -1; }
RefuseLarge::RefuseLarge(std::size_t most) noexcept : before_(g_most) { g_most = most; }
RefuseLarge::~RefuseLarge() { g_most = before_; }
bool RefuseAllocations::any_refused() const noexcept { return g_refused; }

}  // namespace tessera::test
