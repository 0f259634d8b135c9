// SPDX-License-Identifier: Apache-2.0
// memcpy and its like as the files that twincc compiles call them: it gives the calls these names, since compilers copy
// large structs by them, and announce nothing of it.
#include <cstring>

#include "gm_range.hpp"
#include "pointers.hpp"

namespace {
void meet(const void* p, std::size_t bytes, bool write, const void* code) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  if (twin::gm_bounds.contain(address)) twin::pointer_access({address, bytes, write, true, code});
}
}  // namespace

extern "C" {

void* twin_memcpy(void* to, const void* from, std::size_t bytes) {
  meet(from, bytes, false, __builtin_return_address(0));
  meet(to, bytes, true, __builtin_return_address(0));
  return std::memcpy(to, from, bytes);
}
void* twin_memmove(void* to, const void* from, std::size_t bytes) {
  meet(from, bytes, false, __builtin_return_address(0));
  meet(to, bytes, true, __builtin_return_address(0));
  return std::memmove(to, from, bytes);
}
void* twin_memset(void* to, int value, std::size_t bytes) {
  meet(to, bytes, true, __builtin_return_address(0));
  return std::memset(to, value, bytes);
}
// The names that compilers of the LLVM project give such calls from version 16 on.
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) __attribute__((weak, alias("twin_memcpy")));
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) __attribute__((weak, alias("twin_memmove")));
void* __tsan_memset(void* to, int value, std::size_t bytes) __attribute__((weak, alias("twin_memset")));

}  // extern "C"
