// SPDX-License-Identifier: Apache-2.0
// Qualifiers, enumerations and small helpers that a kernel expects from kernel_operator.h.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "twin/calls.hpp"
#include "twin/engine.hpp"
#include "twin/qualifiers.hpp"

// Public functions of the interface: the coverage page is made from these marks.
#if defined(TWIN_DEVICE_CHECK)
#define TWIN_API inline __attribute__((noinline))  // one instruction, not part of the kernel's own code
#else
#define TWIN_API inline
#endif

using GM_ADDR = __gm__ std::uint8_t*;
using float32_t = float;

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL = 8 };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

namespace AscendC {

using ::twin::Site;
using TEventID = std::int8_t;

enum class TPosition : std::uint8_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  LCM,
  SPM,
  SHM,
  TSCM,
  C2PIPE2GM,
  MAX
};
using QuePosition = TPosition;

enum class HardEvent : std::uint8_t {
  MTE2_MTE1,
  MTE1_MTE2,
  MTE1_M,
  M_MTE1,
  MTE2_V,
  V_MTE2,
  MTE3_V,
  V_MTE3,
  M_V,
  V_M,
  V_V,
  MTE3_MTE1,
  MTE1_MTE3,
  MTE1_V,
  MTE2_M,
  M_MTE2,
  V_MTE1,
  M_FIX,
  FIX_M,
  MTE3_MTE2,
  MTE2_MTE3,
  S_V,
  V_S,
  S_MTE2,
  MTE2_S,
  S_MTE3,
  MTE3_S,
  MTE2_FIX,
  FIX_MTE2,
  FIX_S,
  M_S,
  FIX_MTE3,
  MTE1_FIX,
  FIX_MTE1,
  FIX_FIX,
  MAX
};

enum class RoundMode : std::uint8_t { CAST_NONE, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC, CAST_ODD };
enum class CMPMODE : std::uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : std::uint8_t { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };
enum class ReduceOrder : std::uint8_t { ORDER_VALUE_INDEX, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };
enum class MaskMode : std::uint8_t { NORMAL, COUNTER };
enum class CacheMode : std::uint8_t { CACHE_MODE_DISABLE, CACHE_MODE_NORMAL, CACHE_MODE_LAST, CACHE_MODE_PERSISTENT };
enum class CacheRwMode : std::uint8_t { READ = 1, WRITE = 2, RW = 3 };
enum class CacheLine : std::uint8_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : std::uint8_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class MemDsbT : std::uint8_t { ALL, DDR, UB, SEQ };
enum class GatherMaskMode : std::uint8_t { VERSION_V1, VERSION_V2 };
enum class CO2Layout : std::uint8_t { NZ, ROW_MAJOR };
// With the numbers that the instruction has (the page of copy_matrix_cc_to_gm): kernels pass them as such.
enum QuantMode_t {
  NoQuant = 0,
  F322F16 = 1,
  VREQ8 = 8,
  REQ8 = 9,
  VDEQF16 = 10,
  DEQF16 = 11,
  F322BF16 = 16,
  VQF322B8_PRE = 23,
  QF322B8_PRE = 24
};

constexpr std::int32_t MASK_PLACEHOLDER = -1;
inline std::uint64_t MASK_PLACEHOLDER_LIST[2] = {~0ull, ~0ull};
constexpr std::uint32_t DEFAULT_C0_SIZE = 32;
constexpr std::uint32_t ONE_BLK_SIZE = 32;
constexpr std::uint32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr std::uint32_t ONE_BLK_HALF_NUM = 16, ONE_BLK_FLOAT_NUM = 8, ONE_REPEAT_HALF_SIZE = 128, ONE_REPEAT_FLOAT_SIZE = 64;
constexpr std::int32_t DEFAULT_BLK_NUM = 8, DEFAULT_BLK_STRIDE = 1, DEFAULT_REPEAT_STRIDE = 8,
                       HALF_DEFAULT_REPEAT_STRIDE = 4;
constexpr std::int32_t BLOCK_CUBE = 16, MAX_REPEAT_TIMES = 255, BYTE_PER_C0 = 32;
constexpr std::uint32_t TOTAL_UB_SIZE = 192 * 1024 - 256;  // all that a kernel may use: some give it to one queue

// The kind of core: a constant where the kernel is compiled for one kind, asked of the running core otherwise.
enum { AIC = 1, AIV = 2 };
#if defined(__DAV_C220_CUBE__)
constexpr int g_coreType = AIC;
#define ASCEND_IS_AIC constexpr(true)
#define ASCEND_IS_AIV constexpr(false)
#elif defined(__DAV_C220_VEC__)
constexpr int g_coreType = AIV;
#define ASCEND_IS_AIC constexpr(false)
#define ASCEND_IS_AIV constexpr(true)
#else
struct RunningCoreKind {
  operator int() const {
    return ::twin::core_kind() == ::twin::CoreKind::AIC ? AIC : AIV;
  }  // NOLINT: compared with AIC and AIV
};
inline constexpr RunningCoreKind g_coreType{};
#define ASCEND_IS_AIC (::AscendC::g_coreType == ::AscendC::AIC)
#define ASCEND_IS_AIV (::AscendC::g_coreType == ::AscendC::AIV)
#endif
#define ASCEND_IS_NOT_AIC (!(::AscendC::g_coreType == ::AscendC::AIC))
#define ASCEND_IS_NOT_AIV (!(::AscendC::g_coreType == ::AscendC::AIV))

namespace detail {

template <class T>
struct Same {
  using Type = T;
};
template <class T>
using Given = typename Same<T>::Type;  // not deduced: a literal converts

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

constexpr ::twin::Space space_of(TPosition position) {
  switch (position) {
    case TPosition::GM:
      return ::twin::Space::GM;
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
    case TPosition::TSCM:
      return ::twin::Space::L1;
    case TPosition::A2:
      return ::twin::Space::L0A;
    case TPosition::B2:
      return ::twin::Space::L0B;
    case TPosition::C2:
      return ::twin::Space::BT;
    case TPosition::CO1:
      return ::twin::Space::L0C;
    case TPosition::C2PIPE2GM:
      return ::twin::Space::FB;
    default:
      return ::twin::Space::UB;
  }
}
constexpr const char* name_of(TPosition position) {
  constexpr const char* kNames[] = {"GM",    "A1",     "A2",      "B1",  "B2",  "C1",  "C2",   "CO1",      "CO2",
                                    "VECIN", "VECOUT", "VECCALC", "LCM", "SPM", "SHM", "TSCM", "C2PIPE2GM"};
  return kNames[static_cast<int>(position)];
}
// Who fills a buffer of this position, and who reads it.
constexpr ::twin::Pipe producer_of(TPosition position) {
  switch (position) {
    case TPosition::VECOUT:
    case TPosition::VECCALC:
      return ::twin::Pipe::V;
    case TPosition::A2:
    case TPosition::B2:
    case TPosition::C2:
      return ::twin::Pipe::MTE1;
    case TPosition::CO1:
      return ::twin::Pipe::M;
    case TPosition::CO2:
    case TPosition::C2PIPE2GM:
      return ::twin::Pipe::FIX;
    default:
      return ::twin::Pipe::MTE2;
  }
}
constexpr ::twin::Pipe consumer_of(TPosition position) {
  switch (position) {
    case TPosition::VECIN:
    case TPosition::VECCALC:
      return ::twin::Pipe::V;
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
    case TPosition::TSCM:
      return ::twin::Pipe::MTE1;
    case TPosition::A2:
    case TPosition::B2:
    case TPosition::C2:
      return ::twin::Pipe::M;
    case TPosition::CO1:
    case TPosition::CO2:
    case TPosition::C2PIPE2GM:
      return ::twin::Pipe::FIX;
    default:
      return ::twin::Pipe::MTE3;
  }
}
constexpr ::twin::Pipe pipe_of(pipe_t pipe) { return static_cast<::twin::Pipe>(pipe); }

struct EventPipes {
  ::twin::Pipe from, to;
};
constexpr EventPipes pipes_of(HardEvent event) {
  using P = ::twin::Pipe;
  constexpr EventPipes kPipes[] = {
      {P::MTE2, P::MTE1}, {P::MTE1, P::MTE2}, {P::MTE1, P::M},    {P::M, P::MTE1},   {P::MTE2, P::V},   {P::V, P::MTE2},
      {P::MTE3, P::V},    {P::V, P::MTE3},    {P::M, P::V},       {P::V, P::M},      {P::V, P::V},      {P::MTE3, P::MTE1},
      {P::MTE1, P::MTE3}, {P::MTE1, P::V},    {P::MTE2, P::M},    {P::M, P::MTE2},   {P::V, P::MTE1},   {P::M, P::FIX},
      {P::FIX, P::M},     {P::MTE3, P::MTE2}, {P::MTE2, P::MTE3}, {P::S, P::V},      {P::V, P::S},      {P::S, P::MTE2},
      {P::MTE2, P::S},    {P::S, P::MTE3},    {P::MTE3, P::S},    {P::MTE2, P::FIX}, {P::FIX, P::MTE2}, {P::FIX, P::S},
      {P::M, P::S},       {P::FIX, P::MTE3},  {P::MTE1, P::FIX},  {P::FIX, P::MTE1}, {P::FIX, P::FIX}};
  return kPipes[static_cast<int>(event)];
}

}  // namespace detail

// ---- asked of the core ----
TWIN_API std::int64_t GetBlockIdx() { return ::twin::block_idx(); }
TWIN_API std::int64_t GetBlockNum() { return ::twin::block_num(); }
TWIN_API std::int64_t GetSubBlockIdx() { return ::twin::sub_block_idx(); }
TWIN_API std::int64_t GetTaskRation() { return ::twin::task_ratio(); }
TWIN_API std::int64_t GetTaskRatio() { return ::twin::task_ratio(); }
TWIN_API constexpr std::int64_t GetDataBlockSizeInBytes() { return 32; }
TWIN_API void InitSocState() {
  ::twin::set_mask(~0ull, ~0ull);
  ::twin::set_mask_counter(false);
  ::twin::set_atomic(::twin::Atomic::None, ::twin::DType::F32, Site::none());
}

TWIN_API std::uint32_t CeilDivision(std::uint32_t a, std::uint32_t b) { return b == 0 ? a : (a + b - 1) / b; }
TWIN_API std::uint32_t DivCeil(std::uint32_t a, std::uint32_t b) { return b == 0 ? a : (a + b - 1) / b; }
TWIN_API std::uint32_t AlignUp(std::uint32_t a, std::uint32_t b) { return b == 0 ? a : (a + b - 1) / b * b; }

// ---- the mask register ----
TWIN_API void SetMaskCount() { ::twin::set_mask_counter(true); }
TWIN_API void SetMaskNorm() { ::twin::set_mask_counter(false); }
template <class T, MaskMode mode = MaskMode::NORMAL>
TWIN_API void SetVectorMask(std::uint64_t high, std::uint64_t low) {
  ::twin::set_mask(high, low);
}
template <class T, MaskMode mode = MaskMode::NORMAL>
TWIN_API void SetVectorMask(std::int32_t count) {
  if (mode == MaskMode::COUNTER) return ::twin::set_mask(0, static_cast<std::uint64_t>(count));
  const auto below = [](std::int32_t n) { return n <= 0 ? 0ull : n >= 64 ? ~0ull : (1ull << n) - 1; };
  ::twin::set_mask(below(count - 64), below(count));
}
TWIN_API void ResetMask() { ::twin::set_mask(~0ull, ~0ull); }

}  // namespace AscendC

// What the device compiler offers without a namespace. Two parameters by value: std::min and std::max stay the better match.
// Decayed: of two lvalues of one type the conditional is a reference, to a parameter.
template <class A, class B>
constexpr auto min(A a, B b) -> std::decay_t<decltype(a < b ? a : b)> {
  return a < b ? a : b;
}
template <class A, class B>
constexpr auto max(A a, B b) -> std::decay_t<decltype(a > b ? a : b)> {
  return a > b ? a : b;
}
