// SPDX-License-Identifier: Apache-2.0
// The scalar unit: bit counts and casts of single values, counters, caches of instructions.
#pragma once

#include <cmath>

#include "ascendc/tensor.hpp"

namespace AscendC {

// It grows with every instruction of the core but is no time: the model computes time after the run.
TWIN_API std::int64_t GetSystemCycle() { return ::twin::system_cycle(); }
TWIN_API std::int64_t GetProgramCounter() { return ::twin::system_cycle(); }
TWIN_API void GetArchVersion(std::uint32_t& coreVersion) { coreVersion = 0xc220; }
TWIN_API std::int64_t GetSubBlockNum() { return ::twin::task_ratio(); }
// Instruction fetches take no time in the model.
TWIN_API void ICachePreLoad(const std::int64_t preFetchLen) { (void)preFetchLen; }
TWIN_API std::int64_t GetICachePreloadStatus() { return 0; }
template <class T>
TWIN_API void DataCachePreload(const GlobalTensor<std::uint64_t>& src, const T cacheOffset) {
  (void)src;  // a hint; the twin's data cache loads what is read
  (void)cacheOffset;
}
// The tasks of a super kernel: a kernel of its own has no neighbours.
TWIN_API void SetNextTaskStart() {}
TWIN_API void WaitPreTaskEnd() {}

// ---- single values ----
template <int countValue>
TWIN_API std::int64_t ScalarGetCountOfValue(std::uint64_t valueIn) {
  static_assert(countValue == 0 || countValue == 1, "ScalarGetCountOfValue counts zeros or ones");
  const int ones = __builtin_popcountll(valueIn);
  return countValue ? ones : 64 - ones;
}
TWIN_API std::int64_t ScalarCountLeadingZero(std::uint64_t valueIn) { return valueIn ? __builtin_clzll(valueIn) : 64; }
// Bits below the sign bit that equal it, down to the first that does not.
TWIN_API std::int64_t CountBitsCntSameAsSignBit(std::int64_t valueIn) { return __builtin_clrsbll(valueIn); }
// The place of the lowest zero or one; −1 if there is none.
template <int countValue>
TWIN_API std::int64_t ScalarGetSFFValue(std::uint64_t valueIn) {
  static_assert(countValue == 0 || countValue == 1, "ScalarGetSFFValue looks for a zero or a one");
  const std::uint64_t bits = countValue ? valueIn : ~valueIn;
  return bits ? __builtin_ctzll(bits) : -1;
}
template <int countValue>
TWIN_API std::int64_t GetBitCount(std::uint64_t valueIn) {
  return ScalarGetCountOfValue<countValue>(valueIn);
}
TWIN_API std::int64_t CountLeadingZero(std::uint64_t valueIn) { return ScalarCountLeadingZero(valueIn); }
template <int countValue>
TWIN_API std::int64_t GetSFFValue(std::uint64_t valueIn) {
  return ScalarGetSFFValue<countValue>(valueIn);
}
TWIN_API float ToFloat(const bfloat16_t& value) { return value; }
TWIN_API bfloat16_t ToBfloat16(const float& value) { return bfloat16_t(value); }

// From T to U. The pairs of the reference: float to half, with CAST_ODD, and float to int32.
template <class T, class U, RoundMode roundMode>
TWIN_API U ScalarCast(T valueIn) {
  static_assert(std::is_same<T, float>::value && (std::is_same<U, half>::value || std::is_same<U, std::int32_t>::value),
                "ScalarCast goes from float to half or int32_t");
  float x = valueIn;
  if constexpr (std::is_same<U, half>::value) {
    static_assert(roundMode == RoundMode::CAST_ODD || roundMode == RoundMode::CAST_NONE, "ScalarCast to half: CAST_ODD");
    const half nearest(x);
    if (roundMode == RoundMode::CAST_NONE || static_cast<float>(nearest) == x || std::isnan(x)) return nearest;
    const bool up = std::fabs(static_cast<float>(nearest)) > std::fabs(x);
    const auto down = static_cast<std::uint16_t>(nearest.bits() - (up ? 1 : 0));
    return half::from_bits(static_cast<std::uint16_t>(down | 1));
  } else {
    x = roundMode == RoundMode::CAST_FLOOR   ? std::floor(x)
        : roundMode == RoundMode::CAST_CEIL  ? std::ceil(x)
        : roundMode == RoundMode::CAST_ROUND ? std::round(x)
        : roundMode == RoundMode::CAST_TRUNC ? std::trunc(x)
                                             : std::nearbyint(x);
    return x != x ? 0 : x >= 2147483648.0f ? INT32_MAX : x < -2147483648.0f ? INT32_MIN : static_cast<std::int32_t>(x);
  }
}
template <class T, class U, RoundMode roundMode>
TWIN_API U Cast(const T valueIn) {
  return ScalarCast<T, U, roundMode>(valueIn);
}
// x / divisor = (x * magic >> 32) + x, shifted, for 32-bit x: what a division by a constant becomes.
TWIN_API void GetUintDivMagicAndShift(std::uint32_t& magic, std::uint32_t& shift, std::uint32_t divisor) {
  shift = 0;
  while (shift < 32 && (std::uint64_t{1} << shift) < divisor) ++shift;
  magic = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) * ((std::uint64_t{1} << shift) - divisor)) / divisor + 1);
}

// A function on one kind of core only.
enum class EngineType : std::int32_t { AIC, AIV };
template <EngineType engine, auto funPtr, class... Args>
TWIN_API void Async(Args... args) {
  if ASCEND_IS_AIC {
    if constexpr (engine == EngineType::AIC) funPtr(args...);
  } else {
    if constexpr (engine == EngineType::AIV) funPtr(args...);
  }
}

// ---- the control register. Bits that the page of asc_set_ctrl gives for the 910B: 48 halves keep Inf and NaN, 53 integers
// saturate, 56 the mask counts elements, 59 conversions to integers truncate. The twin computes with 48 set, 53 and 59
// clear; another value of those is reported. ----
namespace detail {
template <std::int8_t startBit, std::int8_t endBit>
constexpr void known_control_bit() {
  static_assert(startBit == endBit && (startBit == 48 || startBit == 53 || startBit == 56 || startBit == 59),
                "SetCtrlSpr: of the 910B the bits 48, 53, 56 and 59 are given, one at a time");
}
}  // namespace detail
template <std::int8_t startBit, std::int8_t endBit>
TWIN_API std::int64_t GetCtrlSpr(Site site = Site::here()) {
  detail::known_control_bit<startBit, endBit>();
  return startBit == 56 ? ::twin::mask_counter(site) : startBit == 48;
}
template <std::int8_t startBit, std::int8_t endBit>
TWIN_API void SetCtrlSpr(std::int64_t value, Site site = Site::here()) {
  detail::known_control_bit<startBit, endBit>();
  if (startBit == 56) return ::twin::set_mask_counter((value & 1) != 0);
  if ((value & 1) == (startBit == 48)) return;
  ::twin::refuse_call(startBit == 48   ? "SetCtrlSpr<48, 48>(0): the twin computes halves that keep Inf and NaN"
                      : startBit == 53 ? "SetCtrlSpr<53, 53>(1): the twin computes integers that wrap"
                                       : "SetCtrlSpr<59, 59>(1): the twin converts to integers that saturate",
                      "leave the bit as it is; what the twin computes would not be what the chip does", site);
}

// ---- a range of UB whose accesses are reported: on the chip an exception. Blocks of 32 bytes behind startAddr, up to and
// with endAddr ----
struct CheckLocalMemoryIAParam {
  CheckLocalMemoryIAParam() = default;
  CheckLocalMemoryIAParam(std::uint8_t bit, std::uint32_t start, std::uint32_t end, bool scalar_read, bool scalar_write,
                          bool vector_read, bool vector_write, bool mte_read, bool mte_write, bool enable)
      : enableBit(bit),
        startAddr(start),
        endAddr(end),
        isScalarRead(scalar_read),
        isScalarWrite(scalar_write),
        isVectorRead(vector_read),
        isVectorWrite(vector_write),
        isMteRead(mte_read),
        isMteWrite(mte_write),
        isEnable(enable) {}
  std::uint8_t enableBit = 0;
  std::uint32_t startAddr = 0, endAddr = 0;
  bool isScalarRead = false, isScalarWrite = false, isVectorRead = false, isVectorWrite = false, isMteRead = false,
       isMteWrite = false, isEnable = false;
  std::uint32_t reserved = 0;
};
TWIN_API void CheckLocalMemoryIA(const CheckLocalMemoryIAParam& checkParams, Site site = Site::here()) {
  const CheckLocalMemoryIAParam& p = checkParams;
  ::twin::watch_ub({p.enableBit,
                    p.startAddr,
                    p.endAddr,
                    {p.isScalarRead, p.isVectorRead, p.isMteRead},
                    {p.isScalarWrite, p.isVectorWrite, p.isMteWrite},
                    p.isEnable},
                   site);
}

}  // namespace AscendC
