// SPDX-License-Identifier: Apache-2.0
// Loops over lanes in the host's vectors: compiled for every host, and again for those with AVX2. By value: what a loop
// captures by value is then known not to change with what it writes.
#pragma once

#include <cstdint>
#include <cstring>

namespace twin {

#if defined(__x86_64__)
// F16C comes with every AVX2. Neither version fuses products and sums, so that the bits are the same.
template <class Loop>
__attribute__((target("avx2,f16c"), flatten)) void run_avx2(Loop loop) {
  loop();
}
inline bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
template <class Loop>
void wide(Loop loop) {
  if (has_avx2()) return run_avx2(loop);
  loop();
}
#else
template <class Loop>
void wide(Loop loop) {
  loop();
}
#endif

}  // namespace twin
