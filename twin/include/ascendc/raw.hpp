// SPDX-License-Identifier: Apache-2.0
// The compiler's own names: of the core, of order, and of the vector instructions over pointers into UB.
#pragma once

#include "ascendc/rearrange.hpp"
#include "ascendc/reduce.hpp"
#include "ascendc/system.hpp"

// ---- the core ----
TWIN_API std::int64_t get_block_idx() { return ::twin::core_block(); }
TWIN_API std::int64_t get_block_num() { return ::twin::block_num(); }
TWIN_API std::int64_t get_subblockid() { return ::twin::sub_block_idx(); }
TWIN_API std::int64_t get_subblockdim() { return ::twin::task_ratio(); }
TWIN_API std::int64_t get_sys_cnt() { return ::twin::system_cycle(); }
TWIN_API void trap(::twin::Site site = ::twin::Site::here()) { ::twin::trap("trap", site); }
TWIN_API constexpr bool likely(bool condition) { return condition; }
TWIN_API constexpr bool unlikely(bool condition) { return condition; }
// Names rather than macros: a kernel's own variable may hide them.
struct TwinBlockIdx {
  operator std::int64_t() const { return get_block_idx(); }  // NOLINT: stands for the number
};
struct TwinBlockNum {
  operator std::int64_t() const { return get_block_num(); }  // NOLINT
};
inline constexpr TwinBlockIdx block_idx{};
inline constexpr TwinBlockNum block_num{};

// ---- order between cores: config is 1 | mode << 4 | id << 8 ----
TWIN_API void ffts_cross_core_sync(pipe_t pipe, std::uint64_t config, ::twin::Site site = ::twin::Site::here()) {
  ::twin::cross_core_set(static_cast<int>(config >> 4 & 3), AscendC::detail::pipe_of(pipe),
                         static_cast<int>(config >> 8 & 15), true, site);
}
TWIN_API void wait_flag_dev(std::int64_t id, ::twin::Site site = ::twin::Site::here()) {
  ::twin::cross_core_wait(-1, ::twin::Pipe::S, static_cast<int>(id), true, site);
}
TWIN_API void set_ffts_base_addr(std::uint64_t) {}  // the twin's flags lie nowhere
TWIN_API std::uint64_t get_ffts_base_addr() { return 0; }
namespace AscendC {
TWIN_API void SetSyncBaseAddr(std::uint64_t) {}
}  // namespace AscendC

// ---- mask and store mode ----
TWIN_API void set_mask_norm() { AscendC::SetMaskNorm(); }
TWIN_API void set_mask_count() { AscendC::SetMaskCount(); }
TWIN_API void set_vector_mask(std::uint64_t high, std::uint64_t low) { ::twin::set_mask(high, low); }
TWIN_API void set_atomic_add(::twin::Site site = ::twin::Site::here()) {
  ::twin::set_atomic(::twin::Atomic::Add, ::twin::atomic_dtype(), site);
}
TWIN_API void set_atomic_max(::twin::Site site = ::twin::Site::here()) {
  ::twin::set_atomic(::twin::Atomic::Max, ::twin::atomic_dtype(), site);
}
TWIN_API void set_atomic_min(::twin::Site site = ::twin::Site::here()) {
  ::twin::set_atomic(::twin::Atomic::Min, ::twin::atomic_dtype(), site);
}
#define TWIN_ATOMIC_TYPE(name, type)                                      \
  TWIN_API void name(::twin::Site site = ::twin::Site::here()) {          \
    ::twin::set_atomic(::twin::atomic_kind(), ::twin::DType::type, site); \
  }
TWIN_ATOMIC_TYPE(set_atomic_f32, F32)
TWIN_ATOMIC_TYPE(set_atomic_f16, F16)
TWIN_ATOMIC_TYPE(set_atomic_bf16, BF16)
TWIN_ATOMIC_TYPE(set_atomic_s32, I32)
TWIN_ATOMIC_TYPE(set_atomic_s16, I16)
TWIN_ATOMIC_TYPE(set_atomic_s8, I8)
#undef TWIN_ATOMIC_TYPE
TWIN_API void set_atomic_none(::twin::Site site = ::twin::Site::here()) { AscendC::SetAtomicNone(site); }
TWIN_API void set_deqscale(half scale) {
  const float s = scale;
  const std::int16_t offset = 0;
  const bool sign = true;
  ::twin::set_deq_scale(&s, &offset, &sign, false, ::twin::Site::none());
}

// ---- moves: bursts of 32-byte blocks; the align forms in bytes, gaps in bytes on the GM side ----
namespace twin_raw {
// Kernels give these functions pointers to whatever they have, also to different types, and to void.
template <class T>
inline constexpr ::twin::DType kTypeOf =
    ::twin::DTypeOf<std::conditional_t<std::is_void<T>::value, std::uint8_t, std::remove_cv_t<T>>>::kValue;
template <class T>
::twin::View gm(const __gm__ T* p) {
  ::twin::View v;
  v.space = ::twin::Space::GM;
  v.dtype = kTypeOf<T>;
  v.addr = reinterpret_cast<std::uint64_t>(p);
  return v;
}
// Pointers into UB and the other memories of a core: as GetPhyAddr gives them, or numbers of bytes made into pointers.
template <class T>
::twin::View local(const T* p, ::twin::Site site, ::twin::Space space = ::twin::Space::UB) {
  return ::twin::local_view(space, (const void*)p, kTypeOf<T>, site);
}
inline ::twin::Blocks bursts(std::uint32_t count, std::uint64_t length, std::uint64_t src_gap, std::uint64_t dst_gap) {
  return {count, length * 32, (length + src_gap) * 32, (length + dst_gap) * 32};
}
}  // namespace twin_raw

template <class D, class S>
TWIN_API void copy_gm_to_ubuf(__ubuf__ D* dst, const __gm__ S* src, std::uint8_t, std::uint16_t nBurst,
                              std::uint16_t lenBurst, std::uint16_t srcStride, std::uint16_t dstStride,
                              ::twin::Site site = ::twin::Site::here()) {
  ::twin::move_blocks(twin_raw::local(dst, site), twin_raw::gm(src),
                      twin_raw::bursts(nBurst, lenBurst, srcStride, dstStride), site);
}
template <class D, class S>
TWIN_API void copy_ubuf_to_gm(__gm__ D* dst, const __ubuf__ S* src, std::uint8_t, std::uint16_t nBurst,
                              std::uint16_t lenBurst, std::uint16_t srcStride, std::uint16_t dstStride,
                              ::twin::Site site = ::twin::Site::here()) {
  ::twin::move_blocks(twin_raw::gm(dst), twin_raw::local(src, site),
                      twin_raw::bursts(nBurst, lenBurst, srcStride, dstStride), site);
}
template <class D, class S>
TWIN_API void copy_ubuf_to_ubuf(__ubuf__ D* dst, const __ubuf__ S* src, std::uint8_t, std::uint16_t nBurst,
                                std::uint16_t lenBurst, std::uint16_t srcStride, std::uint16_t dstStride,
                                ::twin::Site site = ::twin::Site::here()) {
  ::twin::move_blocks(twin_raw::local(dst, site), twin_raw::local(src, site),
                      twin_raw::bursts(nBurst, lenBurst, srcStride, dstStride), site);
}
#define TWIN_ALIGNED_COPY(width)                                                                                            \
  template <class D, class S>                                                                                               \
  TWIN_API void copy_gm_to_ubuf_align_b##width(                                                                             \
      __ubuf__ D* dst, const __gm__ S* src, std::uint8_t, std::uint16_t nBurst, std::uint32_t lenBurst, std::uint8_t left,  \
      std::uint8_t right, std::uint32_t srcGap, std::uint32_t dstGap, ::twin::Site site = ::twin::Site::here()) {           \
    const std::uint64_t before = left * (width / 8), after = right * (width / 8);                                           \
    const std::uint64_t filled = (before + lenBurst + after + 31) / 32 * 32;                                                \
    ::twin::move_padded_in(twin_raw::local(dst, site), twin_raw::gm(src),                                                   \
                           {nBurst, lenBurst, std::uint64_t{lenBurst} + srcGap, filled + std::uint64_t{dstGap} * 32},       \
                           {before, after, false, 0}, site);                                                                \
  }                                                                                                                         \
  template <class D, class S>                                                                                               \
  TWIN_API void copy_ubuf_to_gm_align_b##width(__gm__ D* dst, const __ubuf__ S* src, std::uint8_t, std::uint16_t nBurst,    \
                                               std::uint32_t lenBurst, std::uint8_t, std::uint8_t, std::uint32_t srcGap,    \
                                               std::uint32_t dstGap, ::twin::Site site = ::twin::Site::here()) {            \
    const std::uint64_t held = (std::uint64_t{lenBurst} + 31) / 32 * 32;                                                    \
    ::twin::move_padded_out(twin_raw::gm(dst), twin_raw::local(src, site),                                                  \
                            {nBurst, lenBurst, held + std::uint64_t{srcGap} * 32, std::uint64_t{lenBurst} + dstGap}, site); \
  }
TWIN_ALIGNED_COPY(8)
TWIN_ALIGNED_COPY(16)
TWIN_ALIGNED_COPY(32)
#undef TWIN_ALIGNED_COPY

// ---- vector: the mask register holds the lanes ----
#define TWIN_RAW_BINARY(name, op)                                                                                   \
  template <class T>                                                                                                \
  TWIN_API void name(__ubuf__ T* dst, const __ubuf__ T* src0, const __ubuf__ T* src1, std::uint8_t repeat,          \
                     std::uint8_t dstBlock, std::uint8_t src0Block, std::uint8_t src1Block, std::uint8_t dstRepeat, \
                     std::uint8_t src0Repeat, std::uint8_t src1Repeat, ::twin::Site site = ::twin::Site::here()) {  \
    ::twin::vector_elementwise({::twin::VecOp::op,                                                                  \
                                AscendC::detail::first_lanes(0, repeat, false),                                     \
                                twin_raw::local(dst, site),                                                         \
                                twin_raw::local(src0, site),                                                        \
                                twin_raw::local(src1, site),                                                        \
                                {dstBlock, dstRepeat},                                                              \
                                {src0Block, src0Repeat},                                                            \
                                {src1Block, src1Repeat},                                                            \
                                0},                                                                                 \
                               site);                                                                               \
  }
#define TWIN_RAW_SCALAR(name, op)                                                                                    \
  template <class T>                                                                                                 \
  TWIN_API void name(__ubuf__ T* dst, const __ubuf__ T* src, AscendC::detail::Given<T> scalar, std::uint8_t repeat,  \
                     std::uint16_t dstBlock, std::uint16_t srcBlock, std::uint8_t dstRepeat, std::uint8_t srcRepeat, \
                     ::twin::Site site = ::twin::Site::here()) {                                                     \
    ::twin::vector_elementwise({::twin::VecOp::op,                                                                   \
                                AscendC::detail::first_lanes(0, repeat, false),                                      \
                                twin_raw::local(dst, site),                                                          \
                                twin_raw::local(src, site),                                                          \
                                {},                                                                                  \
                                {dstBlock, dstRepeat},                                                               \
                                {srcBlock, srcRepeat},                                                               \
                                {},                                                                                  \
                                AscendC::detail::bits_of(scalar)},                                                   \
                               site);                                                                                \
  }
#define TWIN_RAW_UNARY(name, op)                                                                          \
  template <class T>                                                                                      \
  TWIN_API void name(__ubuf__ T* dst, const __ubuf__ T* src, std::uint8_t repeat, std::uint16_t dstBlock, \
                     std::uint16_t srcBlock, std::uint8_t dstRepeat, std::uint8_t srcRepeat,              \
                     ::twin::Site site = ::twin::Site::here()) {                                          \
    ::twin::vector_elementwise({::twin::VecOp::op,                                                        \
                                AscendC::detail::first_lanes(0, repeat, false),                           \
                                twin_raw::local(dst, site),                                               \
                                twin_raw::local(src, site),                                               \
                                {},                                                                       \
                                {dstBlock, dstRepeat},                                                    \
                                {srcBlock, srcRepeat},                                                    \
                                {},                                                                       \
                                0},                                                                       \
                               site);                                                                     \
  }
TWIN_RAW_BINARY(vadd, Add)
TWIN_RAW_BINARY(vsub, Sub)
TWIN_RAW_BINARY(vmul, Mul)
TWIN_RAW_BINARY(vdiv, Div)
TWIN_RAW_BINARY(vmax, Max)
TWIN_RAW_BINARY(vmin, Min)
TWIN_RAW_BINARY(vand, And)
TWIN_RAW_BINARY(vor, Or)
TWIN_RAW_BINARY(vaddrelu, AddRelu)
TWIN_RAW_BINARY(vsubrelu, SubRelu)
TWIN_RAW_BINARY(vmla, MulAddDst)
TWIN_RAW_BINARY(vmadd, FusedMulAdd)
TWIN_RAW_BINARY(vmaddrelu, FusedMulAddRelu)
TWIN_RAW_SCALAR(vadds, Adds)
TWIN_RAW_SCALAR(vmuls, Muls)
TWIN_RAW_SCALAR(vmaxs, Maxs)
TWIN_RAW_SCALAR(vmins, Mins)
TWIN_RAW_SCALAR(vlrelu, LeakyRelu)
TWIN_RAW_SCALAR(vaxpy, Axpy)
TWIN_RAW_SCALAR(vshl, ShiftLeft)
TWIN_RAW_SCALAR(vshr, ShiftRight)
TWIN_RAW_UNARY(vabs, Abs)
TWIN_RAW_UNARY(vexp, Exp)
TWIN_RAW_UNARY(vln, Ln)
TWIN_RAW_UNARY(vsqrt, Sqrt)
TWIN_RAW_UNARY(vrsqrt, Rsqrt)
TWIN_RAW_UNARY(vrec, Reciprocal)
TWIN_RAW_UNARY(vrelu, Relu)
TWIN_RAW_UNARY(vnot, Not)
#undef TWIN_RAW_BINARY
#undef TWIN_RAW_SCALAR
#undef TWIN_RAW_UNARY
template <class T>
TWIN_API void vector_dup(__ubuf__ T* dst, AscendC::detail::Given<T> scalar, std::uint8_t repeat, std::uint16_t dstBlock,
                         std::uint16_t, std::uint8_t dstRepeat, std::uint8_t, ::twin::Site site = ::twin::Site::here()) {
  ::twin::vector_duplicate(AscendC::detail::first_lanes(0, repeat, false), twin_raw::local(dst, site), {dstBlock, dstRepeat},
                           AscendC::detail::bits_of(scalar), site);
}
