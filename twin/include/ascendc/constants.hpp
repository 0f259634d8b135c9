// SPDX-License-Identifier: Apache-2.0
// Numbers and helpers that come with the device's headers and that kernels lean on, though no page lists them. A constant
// gives way to a kernel's own of that name (TWIN_OWN_<name>, from twincc).
#pragma once

#include <type_traits>

#include "ascendc/base.hpp"

namespace AscendC {

#ifndef TWIN_OWN_PI
constexpr float PI = 3.14159265358979f;
#endif
#ifndef TWIN_OWN_TWO
constexpr std::int32_t TWO = 2;
#endif
#ifndef TWIN_OWN_FULL_MASK
constexpr std::uint64_t FULL_MASK = ~0ull;
#endif
#ifndef TWIN_OWN_BRCB_BROADCAST_NUMBER
constexpr std::int32_t BRCB_BROADCAST_NUMBER = 8;  // elements that one repeat of Brcb spreads
#endif
// Bytes of an element; elements in a block of 32 bytes; elements in a repeat of 256.
#ifndef TWIN_OWN_B8_BYTE_SIZE
constexpr std::int32_t B8_BYTE_SIZE = 1;
#endif
#ifndef TWIN_OWN_B16_BYTE_SIZE
constexpr std::int32_t B16_BYTE_SIZE = 2;
#endif
#ifndef TWIN_OWN_B32_BYTE_SIZE
constexpr std::int32_t B32_BYTE_SIZE = 4;
#endif
#ifndef TWIN_OWN_B64_BYTE_SIZE
constexpr std::int32_t B64_BYTE_SIZE = 8;
#endif
#ifndef TWIN_OWN_B16_DATA_NUM_PER_BLOCK
constexpr std::int32_t B16_DATA_NUM_PER_BLOCK = 16;
#endif
#ifndef TWIN_OWN_B32_DATA_NUM_PER_BLOCK
constexpr std::int32_t B32_DATA_NUM_PER_BLOCK = 8;
#endif
#ifndef TWIN_OWN_B16_DATA_NUM_PER_REPEAT
constexpr std::int32_t B16_DATA_NUM_PER_REPEAT = 128;
#endif
#ifndef TWIN_OWN_B32_DATA_NUM_PER_REPEAT
constexpr std::int32_t B32_DATA_NUM_PER_REPEAT = 64;
#endif

// Beside the library's Ceil of tensors. Two types, so that a kernel's own template of one is the better match.
template <class T, class U, std::enable_if_t<std::is_integral<T>::value && std::is_integral<U>::value, bool> = true>
TWIN_API constexpr std::uint32_t Ceil(T num1, U num2) {
  return num2 == 0 ? 0 : static_cast<std::uint32_t>((static_cast<std::uint64_t>(num1) + num2 - 1) / num2);
}

class AscendCUtils {
 public:
  TWIN_API static constexpr std::int32_t GetBitSize(std::int32_t byteSize) { return byteSize * 8; }
  TWIN_API static constexpr std::int32_t GetC0Size() { return 32; }
};

}  // namespace AscendC

// The compiler's own: x with one bit cleared or set.
TWIN_API constexpr std::uint64_t sbitset0(std::uint64_t x, std::int64_t bit) { return x & ~(1ull << (bit & 63)); }
TWIN_API constexpr std::uint64_t sbitset1(std::uint64_t x, std::int64_t bit) { return x | 1ull << (bit & 63); }
