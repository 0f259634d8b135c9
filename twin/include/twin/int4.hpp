// SPDX-License-Identifier: Apache-2.0
// int4b_t: integers of four bits, two to a byte in tensors, the first in the lower half.
#pragma once

#include <cstdint>

namespace AscendC {

// One such integer by itself, in a byte of its own: −8 to 7.
class int4b_t {
 public:
  int4b_t() = default;
  constexpr int4b_t(int value)  // NOLINT: literals convert, as they do for the types that C++ has
      : value_(static_cast<std::int8_t>(((value & 15) ^ 8) - 8)) {}
  constexpr operator std::int8_t() const { return value_; }  // NOLINT: stands for the number

 private:
  std::int8_t value_ = 0;
};

}  // namespace AscendC
