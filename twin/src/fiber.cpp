// SPDX-License-Identifier: Apache-2.0
#include "fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define TWIN_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TWIN_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TWIN_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TWIN_TSAN 1
#endif
#endif

#ifdef TWIN_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef TWIN_TSAN
#include <sanitizer/tsan_interface.h>
#endif
// The sanitizer counts calls and returns: a function that is entered in one fiber and left in another must not be counted,
// or a thread that launches often runs out of its stack of calls.
#if defined(TWIN_TSAN) && defined(__clang__)
#define TWIN_NOT_COUNTED __attribute__((disable_sanitizer_instrumentation))
#elif defined(TWIN_TSAN)
#define TWIN_NOT_COUNTED __attribute__((no_sanitize("thread")))
#else
#define TWIN_NOT_COUNTED
#endif

namespace twin {
namespace {

// The device gives a kernel 32 KB; host frames, the engine's formatting and sanitizers need more.
constexpr std::size_t kStackBytes = 1 << 20;
struct Abandoned {};
thread_local Fiber* current = nullptr;
enum { kFakeInside, kFakeOutside, kTsanInside, kTsanOutside };

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {
  stack_ = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack_ == MAP_FAILED) throw std::bad_alloc();
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_;
  inside_.uc_stack.ss_size = kStackBytes;
  inside_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::entry), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self));
#ifdef TWIN_TSAN
  sanitizer_[kTsanInside] = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#ifdef TWIN_TSAN
  __tsan_destroy_fiber(sanitizer_[kTsanInside]);
#endif
  munmap(stack_, kStackBytes);
}

void Fiber::entry(unsigned high, unsigned low) {
  Fiber* self = reinterpret_cast<Fiber*>((static_cast<std::uintptr_t>(high) << 32) | low);
  self->enter_fiber();
  try {
    self->body_();
  } catch (const Abandoned&) {
  }
  self->end();
}

void Fiber::end() {
  done_ = true;
  leave_fiber(true);
  setcontext(&outside_);
  std::abort();  // it does not return
}

TWIN_NOT_COUNTED void Fiber::enter_fiber() {
#ifdef TWIN_ASAN
  const void* bottom = nullptr;
  __sanitizer_finish_switch_fiber(sanitizer_[kFakeInside], &bottom, &outside_stack_bytes_);
  sanitizer_[kFakeOutside] = const_cast<void*>(bottom);
#endif
}

TWIN_NOT_COUNTED void Fiber::leave_fiber([[maybe_unused]] bool last) {
#ifdef TWIN_ASAN
  __sanitizer_start_switch_fiber(last ? nullptr : &sanitizer_[kFakeInside], sanitizer_[kFakeOutside], outside_stack_bytes_);
#endif
#ifdef TWIN_TSAN
  __tsan_switch_to_fiber(sanitizer_[kTsanOutside], 0);
#endif
}

void Fiber::resume() {
  Fiber* const before = current;
  current = this;
#ifdef TWIN_ASAN
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack_, kStackBytes);
#endif
#ifdef TWIN_TSAN
  sanitizer_[kTsanOutside] = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(sanitizer_[kTsanInside], 0);
#endif
  swapcontext(&outside_, &inside_);
#ifdef TWIN_ASAN
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
  current = before;
}

void Fiber::suspend() {
  Fiber* const self = current;
  self->leave_fiber(false);
  swapcontext(&self->inside_, &self->outside_);
  self->enter_fiber();
  if (!self->abandoned_) return;
  if (!self->unwinds_) self->end();
  throw Abandoned{};
}

void Fiber::unwinds(bool can) { current->unwinds_ = can; }

}  // namespace twin
