// SPDX-License-Identifier: Apache-2.0
// Gathers, transposes and index ramps: the forms over repeats, TransDataTo5HD, Gatherb, BilinearInterpolation.
#pragma once

#include "ascendc/vector.hpp"
#include "twin/calls_vector.hpp"

namespace AscendC {

constexpr std::int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;

struct TransDataTo5HDParams {
  TransDataTo5HDParams() = default;
  TransDataTo5HDParams(bool dst_high, bool src_high, std::uint8_t repeats, std::uint16_t dst, std::uint16_t src)
      : dstHighHalf(dst_high), srcHighHalf(src_high), repeatTimes(repeats), dstRepStride(dst), srcRepStride(src) {}
  bool dstHighHalf = false, srcHighHalf = false;
  std::uint8_t repeatTimes = 1;
  std::uint16_t dstRepStride = 0, srcRepStride = 0;
};
struct GatherRepeatParams {
  GatherRepeatParams() = default;
  GatherRepeatParams(std::uint8_t block, std::uint8_t repeat) : dstBlkStride(block), dstRepStride(repeat) {}
  std::uint8_t dstBlkStride = 1, dstRepStride = 8;
};
enum class TransposeType : std::uint8_t {
  TRANSPOSE_TYPE_NONE,
  TRANSPOSE_NZ2ND_0213,
  TRANSPOSE_NZ2NZ_0213,
  TRANSPOSE_NZ2NZ_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITHOUT_N,
  TRANSPOSE_NZ2NZ_012_WITHOUT_N,
  TRANSPOSE_ND2ND_ONLY,
  TRANSPOSE_ND_UB_GM,
  TRANSPOSE_GRAD_ND_UB_GM,
  TRANSPOSE_ND2ND_B16,
  TRANSPOSE_NCHW2NHWC,
  TRANSPOSE_NHWC2NCHW
};
struct TransposeParamsExt {
  TransposeParamsExt() = default;
  TransposeParamsExt(std::uint16_t n, std::uint16_t c, std::uint16_t h, std::uint16_t w, TransposeType type)
      : nSize(n), cSize(c), hSize(h), wSize(w), transposeType(type) {}
  std::uint16_t nSize = 0, cSize = 0, hSize = 0, wSize = 0;
  TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;
};

namespace detail {
template <class T, class Views>
void transpose_blocks(Views&& views, const TransDataTo5HDParams& p, Site site) {
  ::twin::BlockTranspose call;
  for (int b = 0; b < NCHW_CONV_ADDR_LIST_SIZE; ++b) views(call, b);
  call.dst_high = p.dstHighHalf;
  call.src_high = p.srcHighHalf;
  call.repeats = p.repeatTimes;
  call.dst_step = p.dstRepStride;
  call.src_step = p.srcRepStride;
  ::twin::vector_transpose_blocks(call, site);
}
}  // namespace detail

// Sixteen tensors on each side; their addresses as GetPhyAddr gives them; or those addresses in two tensors.
template <class T>
TWIN_API void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                             const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE], const TransDataTo5HDParams& params,
                             Site site = Site::here()) {
  detail::transpose_blocks<T>(
      [&](::twin::BlockTranspose& call, int b) {
        call.dst[b] = dstList[b].view();
        call.src[b] = srcList[b].view();
      },
      params, site);
}
template <class T>
TWIN_API void TransDataTo5HD(std::uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE],
                             std::uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE], const TransDataTo5HDParams& params,
                             Site site = Site::here()) {
  detail::transpose_blocks<T>(
      [&](::twin::BlockTranspose& call, int b) {
        const auto view = [&](std::uint64_t address) {
          return ::twin::local_view(reinterpret_cast<const void*>(address), ::twin::DTypeOf<T>::kValue, site);
        };
        call.dst[b] = view(dstList[b]);
        call.src[b] = view(srcList[b]);
      },
      params, site);
}
template <class T>
TWIN_API void TransDataTo5HD(const LocalTensor<std::uint64_t>& dst, const LocalTensor<std::uint64_t>& src,
                             const TransDataTo5HDParams& params, Site site = Site::here()) {
  std::uint64_t to[NCHW_CONV_ADDR_LIST_SIZE], from[NCHW_CONV_ADDR_LIST_SIZE];
  for (int b = 0; b < NCHW_CONV_ADDR_LIST_SIZE; ++b) {
    to[b] = dst.GetValue(static_cast<std::uint32_t>(b), site);
    from[b] = src.GetValue(static_cast<std::uint32_t>(b), site);
  }
  TransDataTo5HD<T>(to, from, params, site);
}
template <class T>
TWIN_API void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                        const LocalTensor<std::uint8_t>& sharedTmpBuffer, const TransposeParamsExt& p,
                        Site site = Site::here()) {
  if (p.transposeType == TransposeType::TRANSPOSE_ND2ND_B16) return Transpose(dst, src, site);
  ::twin::vector_transpose_channels(dst.view(), src.view(), sharedTmpBuffer.view(), p.nSize, p.cSize,
                                    std::uint32_t{p.hSize} * p.wSize, p.transposeType == TransposeType::TRANSPOSE_NCHW2NHWC,
                                    site);
}

template <class T, bool isSetMask = true>
TWIN_API void CreateVecIndex(const LocalTensor<T>& dst, const detail::Given<T>& firstValue, std::uint64_t mask,
                             const detail::Repeat repeatTime, std::uint16_t dstBlkStride, std::uint8_t dstRepStride,
                             Site site = Site::here()) {
  ::twin::vector_index_lanes(detail::first_lanes(mask, repeatTime, isSetMask), dst.view(), {dstBlkStride, dstRepStride},
                             detail::bits_of(firstValue), site);
}
template <class T, bool isSetMask = true>
TWIN_API void CreateVecIndex(const LocalTensor<T>& dst, const detail::Given<T>& firstValue, std::uint64_t mask[],
                             const detail::Repeat repeatTime, std::uint16_t dstBlkStride, std::uint8_t dstRepStride,
                             Site site = Site::here()) {
  ::twin::vector_index_lanes(detail::bit_lanes(mask, repeatTime, isSetMask), dst.view(), {dstBlkStride, dstRepStride},
                             detail::bits_of(firstValue), site);
}
template <class T>
TWIN_API void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint32_t>& srcOffset,
                     const std::uint32_t srcBaseAddr, const std::uint64_t mask, const detail::Repeat repeatTime,
                     const std::uint16_t dstRepStride, Site site = Site::here()) {
  ::twin::vector_gather_lanes(detail::first_lanes(mask, repeatTime, true), dst.view(), dstRepStride, src.view(),
                              srcOffset.view(), srcBaseAddr, site);
}
template <class T>
TWIN_API void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint32_t>& srcOffset,
                     const std::uint32_t srcBaseAddr, const std::uint64_t mask[], const detail::Repeat repeatTime,
                     const std::uint16_t dstRepStride, Site site = Site::here()) {
  ::twin::vector_gather_lanes(detail::bit_lanes(mask, repeatTime, true), dst.view(), dstRepStride, src.view(),
                              srcOffset.view(), srcBaseAddr, site);
}
template <class T>
TWIN_API void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<std::uint32_t>& offset,
                      const detail::Repeat repeatTime, const GatherRepeatParams& p, Site site = Site::here()) {
  ::twin::vector_gatherb(dst.view(), src0.view(), offset.view(), repeatTime, {p.dstBlkStride, p.dstRepStride}, site);
}

template <class T>
TWIN_API void BilinearInterpolation(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                                    const LocalTensor<std::uint32_t>& src0Offset, const LocalTensor<T>& src1,
                                    std::uint64_t mask, std::uint8_t hRepeat, bool repeatMode, std::uint16_t dstBlkStride,
                                    std::uint16_t vROffset, std::uint8_t vRepeat,
                                    const LocalTensor<std::uint8_t>& sharedTmpBuffer, Site site = Site::here()) {
  ::twin::vector_interpolate({dst.view(), src0.view(), src0Offset.view(), src1.view(), sharedTmpBuffer.view(),
                              detail::first_lanes(mask, 1, true), hRepeat, vRepeat, repeatMode, dstBlkStride, vROffset},
                             site);
}
template <class T>
TWIN_API void BilinearInterpolation(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                                    const LocalTensor<std::uint32_t>& src0Offset, const LocalTensor<T>& src1,
                                    std::uint64_t mask[], std::uint8_t hRepeat, bool repeatMode, std::uint16_t dstBlkStride,
                                    std::uint16_t vROffset, std::uint8_t vRepeat,
                                    const LocalTensor<std::uint8_t>& sharedTmpBuffer, Site site = Site::here()) {
  ::twin::vector_interpolate({dst.view(), src0.view(), src0Offset.view(), src1.view(), sharedTmpBuffer.view(),
                              detail::bit_lanes(mask, 1, true), hRepeat, vRepeat, repeatMode, dstBlkStride, vROffset},
                             site);
}

}  // namespace AscendC
