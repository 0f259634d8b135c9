// SPDX-License-Identifier: Apache-2.0
// Arithmetic as IEEE 754 has it by default, whatever the program has set for its threads.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace tessera::base {

/// While one lives, the thread rounds to nearest, keeps subnormal numbers and traps nothing; then its mode and its sticky
/// flags are what they were. Programs built with -ffast-math flush subnormals on some threads and not on others, so that
/// without it bits would depend on the thread that an item falls to. 10 ns.
class DefaultFloatMode {
 public:
#if defined(__x86_64__)
  DefaultFloatMode() noexcept : before_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~DefaultFloatMode() { _mm_setcsr(before_); }
#else
  DefaultFloatMode() noexcept {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatMode() { std::fesetenv(&before_); }
#endif
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked, to nearest, neither FTZ nor DAZ
  unsigned before_;
#else
  std::fenv_t before_;
#endif
};

}  // namespace tessera::base
