// SPDX-License-Identifier: Apache-2.0
// Vector instructions. Each has three forms: a count; a bit mask, repeats and strides; a count of leading lanes, repeats and
// strides.
#pragma once

#include "ascendc/sync.hpp"

namespace twin {
void refuse_repeats(std::int64_t repeats, Site site);
}  // namespace twin

namespace AscendC {

struct UnaryRepeatParams {
  UnaryRepeatParams() = default;
  UnaryRepeatParams(std::uint16_t dst_block, std::uint16_t src_block, std::uint16_t dst_repeat, std::uint16_t src_repeat)
      : dstBlkStride(dst_block), srcBlkStride(src_block), dstRepStride(dst_repeat), srcRepStride(src_repeat) {}
  UnaryRepeatParams(std::uint16_t dst_block, std::uint16_t src_block, std::uint16_t dst_repeat, std::uint16_t src_repeat,
                    bool half_block)
      : UnaryRepeatParams(dst_block, src_block, dst_repeat, src_repeat) {
    halfBlock = half_block;
  }
  std::uint16_t dstBlkStride = 1, srcBlkStride = 1, dstRepStride = 8, srcRepStride = 8;
  bool halfBlock = false;
};
struct BinaryRepeatParams {
  BinaryRepeatParams() = default;
  BinaryRepeatParams(std::uint8_t dst_block, std::uint8_t src0_block, std::uint8_t src1_block, std::uint8_t dst_repeat,
                     std::uint8_t src0_repeat, std::uint8_t src1_repeat)
      : dstBlkStride(dst_block),
        src0BlkStride(src0_block),
        src1BlkStride(src1_block),
        dstRepStride(dst_repeat),
        src0RepStride(src0_repeat),
        src1RepStride(src1_repeat) {}
  std::uint8_t dstBlkStride = 1, src0BlkStride = 1, src1BlkStride = 1, dstRepStride = 8, src0RepStride = 8,
               src1RepStride = 8;
};
struct CopyRepeatParams {
  CopyRepeatParams() = default;
  CopyRepeatParams(std::uint16_t dst, std::uint16_t src, std::uint16_t dst_repeat, std::uint16_t src_repeat)
      : dstStride(dst), srcStride(src), dstRepeatSize(dst_repeat), srcRepeatSize(src_repeat) {}
  std::uint16_t dstStride = 1, srcStride = 1, dstRepeatSize = 8, srcRepeatSize = 8;
};
struct BrcbRepeatParams {
  BrcbRepeatParams() = default;
  BrcbRepeatParams(std::uint16_t block, std::uint16_t repeat) : dstBlkStride(block), dstRepStride(repeat) {}
  std::uint16_t dstBlkStride = 1, dstRepStride = 8;
};
struct GatherMaskParams {
  GatherMaskParams() = default;
  GatherMaskParams(std::uint8_t block, std::uint16_t repeats, std::uint16_t src0_repeat, std::uint8_t src1_repeat)
      : src0BlockStride(block), repeatTimes(repeats), src0RepeatStride(src0_repeat), src1RepeatStride(src1_repeat) {}
  std::uint8_t src0BlockStride = 1;
  std::uint16_t repeatTimes = 0;
  std::uint16_t src0RepeatStride = 8;
  std::uint8_t src1RepeatStride = 8;
};

namespace detail {

// How often an instruction repeats. The register has 8 bits: a number beyond them is reported where it is given, and cut.
class Repeat {
 public:
  template <class T, std::enable_if_t<std::is_integral<T>::value, bool> = true>
  constexpr Repeat(T repeats, Site site = Site::here()) : repeats_(static_cast<std::uint8_t>(repeats)) {  // NOLINT: a number
    if (static_cast<T>(repeats_) != repeats) ::twin::refuse_repeats(static_cast<std::int64_t>(repeats), site);
  }
  constexpr operator std::uint8_t() const { return repeats_; }  // NOLINT

 private:
  std::uint8_t repeats_;
};

inline ::twin::Lanes count_lanes(std::int64_t count) {
  ::twin::Lanes l;
  l.count = count < 0 ? 0 : static_cast<std::uint32_t>(count);
  return l;
}
inline ::twin::Lanes bit_lanes(const std::uint64_t* mask, std::uint32_t repeats, bool set_mask) {
  ::twin::Lanes l;
  l.form = ::twin::Lanes::BitMask;
  l.set_mask = set_mask;
  l.repeats = repeats;
  if (set_mask) {
    l.mask[0] = mask[0];
    l.mask[1] = mask[1];
  }
  return l;
}
inline ::twin::Lanes first_lanes(std::uint64_t mask, std::uint32_t repeats, bool set_mask) {
  ::twin::Lanes l;
  l.form = ::twin::Lanes::FirstN;
  l.set_mask = set_mask;
  l.repeats = repeats;
  l.count = static_cast<std::uint32_t>(mask);
  return l;
}
inline ::twin::Lanes any_lanes(const std::uint64_t* mask, std::uint32_t repeats, bool set_mask) {
  return bit_lanes(mask, repeats, set_mask);
}
inline ::twin::Lanes any_lanes(std::int64_t mask, std::uint32_t repeats, bool set_mask) {
  return first_lanes(static_cast<std::uint64_t>(mask), repeats, set_mask);
}
template <class D, class S>
void binary(::twin::VecOp op, const ::twin::Lanes& lanes, const LocalTensor<D>& d, const LocalTensor<S>& a,
            const LocalTensor<S>& b, const BinaryRepeatParams& p, Site site) {
  ::twin::vector_elementwise({op,
                              lanes,
                              d.view(),
                              a.view(),
                              b.view(),
                              {p.dstBlkStride, p.dstRepStride},
                              {p.src0BlkStride, p.src0RepStride},
                              {p.src1BlkStride, p.src1RepStride},
                              0},
                             site);
}
template <class D, class S>
void unary(::twin::VecOp op, const ::twin::Lanes& lanes, const LocalTensor<D>& d, const LocalTensor<S>& a,
           std::uint64_t scalar, const UnaryRepeatParams& p, Site site) {
  ::twin::vector_elementwise(
      {op, lanes, d.view(), a.view(), {}, {p.dstBlkStride, p.dstRepStride}, {p.srcBlkStride, p.srcRepStride}, {}, scalar},
      site);
}

}  // namespace detail

namespace detail {
// And, Or and Not of single bytes: kernels call them, the reference has them for 16 bits. Reported, and done two bytes a
// lane.
template <class T, ::twin::VecOp op>
constexpr bool kBytes = sizeof(T) == 1 && ::twin::DTypeOf<T>::kValue != ::twin::DType::I4 &&
                        (op == ::twin::VecOp::And || op == ::twin::VecOp::Or || op == ::twin::VecOp::Not);
template <class T>
LocalTensor<std::uint16_t> words(const LocalTensor<T>& t) {
  return t.template ReinterpretCast<std::uint16_t>();
}
}  // namespace detail

// `head` is the template head: one element type, or a destination type of its own.
#define TWIN_BINARY_BODY(name, D, S, head)                                                                                \
  head TWIN_API void name(const LocalTensor<D>& dst, const LocalTensor<S>& src0, const LocalTensor<S>& src1,              \
                          const std::int32_t& count, Site site = Site::here()) {                                          \
    static_assert(detail::name##Takes<D, S>::kValue || detail::kBytes<D, ::twin::VecOp::name>,                            \
                  #name " does not take these element types on the 910B");                                                \
    if constexpr (detail::kBytes<D, ::twin::VecOp::name>) {                                                               \
      ::twin::refuse_bytes(#name, site);                                                                                  \
      const auto words = detail::count_lanes((count + 1) / 2);                                                            \
      detail::binary(::twin::VecOp::name, words, detail::words(dst), detail::words(src0), detail::words(src1),            \
                     BinaryRepeatParams(), site);                                                                         \
    } else {                                                                                                              \
      detail::binary(::twin::VecOp::name, detail::count_lanes(count), dst, src0, src1, BinaryRepeatParams(), site);       \
    }                                                                                                                     \
  }                                                                                                                       \
  head TWIN_API void name(const LocalTensor<D>& dst, const LocalTensor<S>& src0, const LocalTensor<S>& src1,              \
                          std::uint64_t mask[], const detail::Repeat repeatTime, const BinaryRepeatParams& params,        \
                          Site site = Site::here()) {                                                                     \
    static_assert(detail::name##Takes<D, S>::kValue, #name " does not take these element types on the 910B");             \
    detail::binary(::twin::VecOp::name, detail::bit_lanes(mask, repeatTime, isSetMask), dst, src0, src1, params, site);   \
  }                                                                                                                       \
  head TWIN_API void name(const LocalTensor<D>& dst, const LocalTensor<S>& src0, const LocalTensor<S>& src1,              \
                          std::uint64_t mask, const detail::Repeat repeatTime, const BinaryRepeatParams& params,          \
                          Site site = Site::here()) {                                                                     \
    static_assert(detail::name##Takes<D, S>::kValue, #name " does not take these element types on the 910B");             \
    detail::binary(::twin::VecOp::name, detail::first_lanes(mask, repeatTime, isSetMask), dst, src0, src1, params, site); \
  }
#define TWIN_SCALAR_BODY(name, D, S, head)                                                                                  \
  head TWIN_API void name(const LocalTensor<D>& dst, const LocalTensor<S>& src, const detail::Given<S>& scalar,             \
                          const std::int32_t& count, Site site = Site::here()) {                                            \
    static_assert(detail::name##Takes<D, S>::kValue, #name " does not take these element types on the 910B");               \
    detail::unary(::twin::VecOp::name, detail::count_lanes(count), dst, src, detail::bits_of(scalar), UnaryRepeatParams(),  \
                  site);                                                                                                    \
  }                                                                                                                         \
  head TWIN_API void name(const LocalTensor<D>& dst, const LocalTensor<S>& src, const detail::Given<S>& scalar,             \
                          std::uint64_t mask[], const detail::Repeat repeatTime, const UnaryRepeatParams& params,           \
                          Site site = Site::here()) {                                                                       \
    static_assert(detail::name##Takes<D, S>::kValue, #name " does not take these element types on the 910B");               \
    detail::unary(::twin::VecOp::name, detail::bit_lanes(mask, repeatTime, isSetMask), dst, src, detail::bits_of(scalar),   \
                  params, site);                                                                                            \
  }                                                                                                                         \
  head TWIN_API void name(const LocalTensor<D>& dst, const LocalTensor<S>& src, const detail::Given<S>& scalar,             \
                          std::uint64_t mask, const detail::Repeat repeatTime, const UnaryRepeatParams& params,             \
                          Site site = Site::here()) {                                                                       \
    static_assert(detail::name##Takes<D, S>::kValue, #name " does not take these element types on the 910B");               \
    detail::unary(::twin::VecOp::name, detail::first_lanes(mask, repeatTime, isSetMask), dst, src, detail::bits_of(scalar), \
                  params, site);                                                                                            \
  }
#define TWIN_UNARY_BODY(name, head)                                                                                     \
  head TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::int32_t& count,              \
                          Site site = Site::here()) {                                                                   \
    static_assert(detail::name##Takes<T, T>::kValue || detail::kBytes<T, ::twin::VecOp::name>,                          \
                  #name " does not take this element type on the 910B");                                                \
    if constexpr (detail::kBytes<T, ::twin::VecOp::name>) {                                                             \
      ::twin::refuse_bytes(#name, site);                                                                                \
      const auto words = detail::count_lanes((count + 1) / 2);                                                          \
      detail::unary(::twin::VecOp::name, words, detail::words(dst), detail::words(src), 0, UnaryRepeatParams(), site);  \
    } else {                                                                                                            \
      detail::unary(::twin::VecOp::name, detail::count_lanes(count), dst, src, 0, UnaryRepeatParams(), site);           \
    }                                                                                                                   \
  }                                                                                                                     \
  head TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint64_t mask[],                   \
                          const detail::Repeat repeatTime, const UnaryRepeatParams& params, Site site = Site::here()) { \
    static_assert(detail::name##Takes<T, T>::kValue, #name " does not take this element type on the 910B");             \
    detail::unary(::twin::VecOp::name, detail::bit_lanes(mask, repeatTime, isSetMask), dst, src, 0, params, site);      \
  }                                                                                                                     \
  head TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint64_t mask,                     \
                          const detail::Repeat repeatTime, const UnaryRepeatParams& params, Site site = Site::here()) { \
    static_assert(detail::name##Takes<T, T>::kValue, #name " does not take this element type on the 910B");             \
    detail::unary(::twin::VecOp::name, detail::first_lanes(mask, repeatTime, isSetMask), dst, src, 0, params, site);    \
  }

// What an instruction takes: one type of the row's list; an accumulating one also half into float.
#define TWIN_TAKES(name, types, widens)                                                            \
  namespace detail {                                                                               \
  template <class D, class S>                                                                      \
  struct name##Takes {                                                                             \
    static constexpr auto kD = ::twin::DTypeOf<D>::kValue, kS = ::twin::DTypeOf<S>::kValue;        \
    static constexpr bool wide() {                                                                 \
      using namespace ::twin;                                                                      \
      return kD == kS ? ((types)&bit(kD)) != 0 : (widens) && kD == DType::F32 && kS == DType::F16; \
    }                                                                                              \
    static constexpr bool kValue = wide();                                                         \
  };                                                                                               \
  }
#define TWIN_HEAD_ONE template <class T, bool isSetMask = true>
#define TWIN_HEAD_TWO template <class T, class U, bool isSetMask = true>
#define TWIN_BINARY(name, types, cost, lane) TWIN_TAKES(name, types, false) TWIN_BINARY_BODY(name, T, T, TWIN_HEAD_ONE)
#define TWIN_BINARY_DST(name, types, cost, lane) TWIN_TAKES(name, types, true) TWIN_BINARY_BODY(name, T, U, TWIN_HEAD_TWO)
#define TWIN_SCALAR(name, types, cost, lane) TWIN_TAKES(name, types, false) TWIN_SCALAR_BODY(name, T, T, TWIN_HEAD_ONE)
#define TWIN_SCALAR_DST(name, types, cost, lane) TWIN_TAKES(name, types, true) TWIN_SCALAR_BODY(name, T, U, TWIN_HEAD_TWO)
#define TWIN_UNARY(name, types, cost, lane) TWIN_TAKES(name, types, false) TWIN_UNARY_BODY(name, TWIN_HEAD_ONE)
#include "twin/vector.inc"
#undef TWIN_BINARY_BODY
#undef TWIN_SCALAR_BODY
#undef TWIN_UNARY_BODY
#undef TWIN_TAKES
#undef TWIN_HEAD_ONE
#undef TWIN_HEAD_TWO

// Signed elements, rounded half up instead of down; roundEn false is the form above.
template <class T, bool isSetMask = true>
TWIN_API void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const detail::Given<T>& scalar,
                         std::uint64_t mask[], const detail::Repeat repeatTime, const UnaryRepeatParams& params,
                         bool roundEn, Site site = Site::here()) {
  static_assert(detail::ShiftRightTakes<T, T>::kValue, "ShiftRight does not take these element types on the 910B");
  const auto op = roundEn ? ::twin::VecOp::ShiftRightRounded : ::twin::VecOp::ShiftRight;
  detail::unary(op, detail::bit_lanes(mask, repeatTime, isSetMask), dst, src, detail::bits_of(scalar), params, site);
}
template <class T, bool isSetMask = true>
TWIN_API void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const detail::Given<T>& scalar,
                         std::uint64_t mask, const detail::Repeat repeatTime, const UnaryRepeatParams& params, bool roundEn,
                         Site site = Site::here()) {
  static_assert(detail::ShiftRightTakes<T, T>::kValue, "ShiftRight does not take these element types on the 910B");
  const auto op = roundEn ? ::twin::VecOp::ShiftRightRounded : ::twin::VecOp::ShiftRight;
  detail::unary(op, detail::first_lanes(mask, repeatTime, isSetMask), dst, src, detail::bits_of(scalar), params, site);
}

// ---- fill, copy, convert ----
namespace detail {
template <class T>
constexpr bool kDuplicates = sizeof(T) == 2 || sizeof(T) == 4;  // the 16-bit and 32-bit types
}
template <class T>
TWIN_API void Duplicate(const LocalTensor<T>& dst, const detail::Given<T>& scalar, const std::int32_t& count,
                        Site site = Site::here()) {
  static_assert(detail::kDuplicates<T>, "Duplicate takes elements of 16 and 32 bits on the 910B");
  ::twin::vector_duplicate(detail::count_lanes(count), dst.view(), {}, detail::bits_of(scalar), site);
}
template <class T, bool isSetMask = true>
TWIN_API void Duplicate(const LocalTensor<T>& dst, const detail::Given<T>& scalar, std::uint64_t mask[],
                        const detail::Repeat repeatTime, const std::uint16_t dstBlockStride,
                        const std::uint8_t dstRepeatStride, Site site = Site::here()) {
  static_assert(detail::kDuplicates<T>, "Duplicate takes elements of 16 and 32 bits on the 910B");
  ::twin::vector_duplicate(detail::bit_lanes(mask, repeatTime, isSetMask), dst.view(), {dstBlockStride, dstRepeatStride},
                           detail::bits_of(scalar), site);
}
template <class T, bool isSetMask = true>
TWIN_API void Duplicate(const LocalTensor<T>& dst, const detail::Given<T>& scalar, std::uint64_t mask,
                        const detail::Repeat repeatTime, const std::uint16_t dstBlockStride,
                        const std::uint8_t dstRepeatStride, Site site = Site::here()) {
  static_assert(detail::kDuplicates<T>, "Duplicate takes elements of 16 and 32 bits on the 910B");
  ::twin::vector_duplicate(detail::first_lanes(mask, repeatTime, isSetMask), dst.view(), {dstBlockStride, dstRepeatStride},
                           detail::bits_of(scalar), site);
}
template <class T>
TWIN_API void CreateVecIndex(const LocalTensor<T>& dst, const detail::Given<T>& firstValue, std::uint32_t count,
                             Site site = Site::here()) {
  ::twin::vector_index(dst.view(), detail::bits_of(firstValue), count, site);
}
template <class T, bool isSetMask = true>
TWIN_API void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint64_t mask[],
                   const detail::Repeat repeatTime, const CopyRepeatParams& p, Site site = Site::here()) {
  ::twin::vector_copy(detail::bit_lanes(mask, repeatTime, isSetMask), dst.view(), src.view(), {p.dstStride, p.dstRepeatSize},
                      {p.srcStride, p.srcRepeatSize}, site);
}
template <class T, bool isSetMask = true>
TWIN_API void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint64_t mask, const detail::Repeat repeatTime,
                   const CopyRepeatParams& p, Site site = Site::here()) {
  ::twin::vector_copy(detail::first_lanes(mask, repeatTime, isSetMask), dst.view(), src.view(),
                      {p.dstStride, p.dstRepeatSize}, {p.srcStride, p.srcRepeatSize}, site);
}
template <class D, class S>
TWIN_API void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& mode, const std::uint32_t count,
                   Site site = Site::here()) {
  ::twin::vector_cast(detail::count_lanes(count), dst.view(), src.view(), {}, {}, static_cast<::twin::Round>(mode), site);
}
template <class D, class S, bool isSetMask = true>
TWIN_API void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& mode, const std::uint64_t mask[],
                   const detail::Repeat repeatTime, const UnaryRepeatParams& p, Site site = Site::here()) {
  ::twin::vector_cast(detail::bit_lanes(mask, repeatTime, isSetMask), dst.view(), src.view(),
                      {p.dstBlkStride, p.dstRepStride}, {p.srcBlkStride, p.srcRepStride}, static_cast<::twin::Round>(mode),
                      site);
}
template <class D, class S, bool isSetMask = true>
TWIN_API void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& mode, const std::uint64_t mask,
                   const detail::Repeat repeatTime, const UnaryRepeatParams& p, Site site = Site::here()) {
  ::twin::vector_cast(detail::first_lanes(mask, repeatTime, isSetMask), dst.view(), src.view(),
                      {p.dstBlkStride, p.dstRepStride}, {p.srcBlkStride, p.srcRepStride}, static_cast<::twin::Round>(mode),
                      site);
}

// ---- rearrange ----
template <class T>
TWIN_API void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src, const detail::Repeat repeatTime,
                   const BrcbRepeatParams& p, Site site = Site::here()) {
  ::twin::vector_brcb(dst.view(), src.view(), repeatTime, {p.dstBlkStride, p.dstRepStride}, site);
}
template <class T>
TWIN_API void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint32_t>& srcOffset,
                     const std::uint32_t srcBaseAddr, const std::uint32_t count, Site site = Site::here()) {
  ::twin::vector_gather(dst.view(), src.view(), srcOffset.view(), srcBaseAddr, count, site);
}
template <class T>
TWIN_API void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const std::uint8_t src1Pattern,
                         const bool reduceMode, const std::uint32_t mask, const GatherMaskParams& p, std::uint64_t& rsvdCnt,
                         Site site = Site::here()) {
  rsvdCnt = ::twin::vector_gather_mask(dst.view(), src0.view(), nullptr, src1Pattern, reduceMode, mask, p.repeatTimes,
                                       {p.src0BlockStride, p.src0RepeatStride}, p.src1RepeatStride, site);
}
template <class T, class U>
TWIN_API void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<U>& src1Pattern,
                         const bool reduceMode, const std::uint32_t mask, const GatherMaskParams& p, std::uint64_t& rsvdCnt,
                         Site site = Site::here()) {
  rsvdCnt = ::twin::vector_gather_mask(dst.view(), src0.view(), &src1Pattern.view(), 0, reduceMode, mask, p.repeatTimes,
                                       {p.src0BlockStride, p.src0RepeatStride}, p.src1RepeatStride, site);
}
template <class T>
TWIN_API void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, Site site = Site::here()) {
  ::twin::vector_transpose16(dst.view(), src.view(), site);
}

}  // namespace AscendC
