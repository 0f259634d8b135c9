// SPDX-License-Identifier: Apache-2.0
// What compilers call before each load and store of a file that twincc compiles: it passes -fsanitize=thread to them, and
// not to the linker, so that these functions are found here. A program that is linked with that sanitizer has its own, and
// this object stays in its archive: nothing else may be in it, and nothing may need it.
#if !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TWIN_THREAD_SANITIZER 1
#endif
#endif
#ifndef TWIN_THREAD_SANITIZER

#include "gm_range.hpp"
#include "pointers.hpp"

namespace {

using twin::gm_bounds;

// Out of line, so that the callbacks themselves are a comparison and a return: they come before every load and store.
__attribute__((noinline, cold)) void meet(const void* p, std::size_t bytes, bool write, bool any_alignment,
                                          const void* code) {
  twin::pointer_access({reinterpret_cast<std::uintptr_t>(p), bytes, write, any_alignment, code});
}
inline bool in_gm(const volatile void* p) { return gm_bounds.contain(reinterpret_cast<std::uintptr_t>(p)); }

}  // namespace

#define TWIN_CALLBACK(name, bytes, write, any_alignment)                                                  \
  void __tsan_##name(void* p) {                                                                           \
    if (__builtin_expect(in_gm(p), 0)) meet(p, bytes, write, any_alignment, __builtin_return_address(0)); \
  }
#define TWIN_BOTH(name, bytes, any_alignment)                          \
  void __tsan_##name(void* p) {                                        \
    if (__builtin_expect(!in_gm(p), 1)) return;                        \
    meet(p, bytes, false, any_alignment, __builtin_return_address(0)); \
    meet(p, bytes, true, any_alignment, __builtin_return_address(0));  \
  }
#define TWIN_CALLBACKS(n)                                   \
  TWIN_CALLBACK(read##n, n, false, false)                   \
  TWIN_CALLBACK(write##n, n, true, false)                   \
  TWIN_BOTH(read_write##n, n, false)                        \
  TWIN_CALLBACK(unaligned_read##n, n, false, true)          \
  TWIN_CALLBACK(unaligned_write##n, n, true, true)          \
  TWIN_BOTH(unaligned_read_write##n, n, true)               \
  TWIN_CALLBACK(volatile_read##n, n, false, false)          \
  TWIN_CALLBACK(volatile_write##n, n, true, false)          \
  TWIN_CALLBACK(unaligned_volatile_read##n, n, false, true) \
  TWIN_CALLBACK(unaligned_volatile_write##n, n, true, true)

// An atomic operation of the host's code, or of a kernel's; of the latter GM sees a load, a store, or both.
#define TWIN_ATOMIC(n, bits)                                                                                               \
  using Atomic##n = std::uint##bits##_t;                                                                                   \
  Atomic##n __tsan_atomic##bits##_load(const volatile Atomic##n* p, int) {                                                 \
    if (in_gm(p)) meet(const_cast<Atomic##n*>(p), n, false, false, __builtin_return_address(0));                           \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                                           \
  }                                                                                                                        \
  void __tsan_atomic##bits##_store(volatile Atomic##n* p, Atomic##n v, int) {                                              \
    if (in_gm(p)) meet(const_cast<Atomic##n*>(p), n, true, false, __builtin_return_address(0));                            \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                                              \
  }                                                                                                                        \
  TWIN_CHANGE(n, bits, exchange, __atomic_exchange_n)                                                                      \
  TWIN_CHANGE(n, bits, fetch_add, __atomic_fetch_add)                                                                      \
  TWIN_CHANGE(n, bits, fetch_sub, __atomic_fetch_sub)                                                                      \
  TWIN_CHANGE(n, bits, fetch_and, __atomic_fetch_and)                                                                      \
  TWIN_CHANGE(n, bits, fetch_or, __atomic_fetch_or)                                                                        \
  TWIN_CHANGE(n, bits, fetch_xor, __atomic_fetch_xor)                                                                      \
  TWIN_CHANGE(n, bits, fetch_nand, __atomic_fetch_nand)                                                                    \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile Atomic##n* p, Atomic##n* expected, Atomic##n v, int, int) {   \
    TWIN_MEET_BOTH(n)                                                                                                      \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                         \
  }                                                                                                                        \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile Atomic##n* p, Atomic##n* expected, Atomic##n v, int, int) {     \
    TWIN_MEET_BOTH(n)                                                                                                      \
    return __atomic_compare_exchange_n(p, expected, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                          \
  }                                                                                                                        \
  Atomic##n __tsan_atomic##bits##_compare_exchange_val(volatile Atomic##n* p, Atomic##n expected, Atomic##n v, int, int) { \
    TWIN_MEET_BOTH(n)                                                                                                      \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                               \
    return expected;                                                                                                       \
  }
#define TWIN_MEET_BOTH(n)                                                          \
  if (in_gm(p)) {                                                                  \
    meet(const_cast<Atomic##n*>(p), n, false, false, __builtin_return_address(0)); \
    meet(const_cast<Atomic##n*>(p), n, true, false, __builtin_return_address(0));  \
  }
#define TWIN_CHANGE(n, bits, name, builtin)                                         \
  Atomic##n __tsan_atomic##bits##_##name(volatile Atomic##n* p, Atomic##n v, int) { \
    TWIN_MEET_BOTH(n)                                                               \
    return builtin(p, v, __ATOMIC_SEQ_CST);                                         \
  }

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"  // it knows some of them as builtins, with other qualifiers
#endif
extern "C" {

TWIN_CALLBACKS(1)
TWIN_CALLBACKS(2)
TWIN_CALLBACKS(4)
TWIN_CALLBACKS(8)
TWIN_CALLBACKS(16)
void __tsan_read_range(void* p, std::size_t bytes) {
  if (__builtin_expect(in_gm(p), 0)) meet(p, bytes, false, true, __builtin_return_address(0));
}
void __tsan_write_range(void* p, std::size_t bytes) {
  if (__builtin_expect(in_gm(p), 0)) meet(p, bytes, true, true, __builtin_return_address(0));
}

TWIN_ATOMIC(1, 8)
TWIN_ATOMIC(2, 16)
TWIN_ATOMIC(4, 32)
TWIN_ATOMIC(8, 64)

// Of no interest here.
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

}  // extern "C"

#endif
#endif
