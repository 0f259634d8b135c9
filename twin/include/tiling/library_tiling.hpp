// SPDX-License-Identifier: Apache-2.0
// What host code asks before it launches a kernel with the library's normalisations, softmax, TopK or DropOut: how large a
// temporary may be, and the tiling. The twin's kernels read the shape out of a tiling and nothing else, so that is what
// these fill in. The sizes are the twin's own, not the vendor's: enough for four floats an element at most, for four rows at
// least.
#pragma once

#include <algorithm>
#include <cstdint>

#include "graph/tensor.h"
#include "kernel_tiling/kernel_tiling.h"
#include "tiling/platform/platform_ascendc.h"

namespace AscendC {

namespace host_tiling {
inline std::uint32_t dim(const ge::Shape& shape, std::size_t i) { return static_cast<std::uint32_t>(shape.GetDim(i)); }
inline std::uint32_t last(const ge::Shape& shape) { return shape.GetDimNum() ? dim(shape, shape.GetDimNum() - 1) : 0; }
inline std::uint32_t whole_blocks(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((std::max<std::uint64_t>(bytes, 256) + 31) / 32 * 32);
}
inline std::uint32_t most(std::uint64_t elements) { return whole_blocks(elements * 16); }
inline std::uint32_t least(std::uint64_t row) { return whole_blocks(row * 16); }
// Elements of a shape whose last dimension stands there twice: padded and as it was (4 of them).
inline std::uint64_t bsh(const ge::Shape& s) { return std::uint64_t{dim(s, 0)} * dim(s, 1) * dim(s, 2); }
inline void sizes(std::uint64_t elements, std::uint64_t row, std::uint32_t& maxValue, std::uint32_t& minValue) {
  minValue = least(row);
  maxValue = std::max(minValue, most(elements));
}
inline void sizes(const ge::Shape& shape, std::uint32_t& maxValue, std::uint32_t& minValue) {
  sizes(static_cast<std::uint64_t>(shape.GetShapeSize()), last(shape), maxValue, minValue);
}
template <class Tiling>
void fill_bsh(Tiling& tiling, const ge::Shape& shape, std::uint32_t originalHLength) {
  tiling = Tiling();
  tiling.bLength = dim(shape, 0);
  tiling.sLength = dim(shape, 1);
  tiling.hLength = dim(shape, 2);
  tiling.originalHLength = originalHLength ? originalHLength : tiling.hLength;
}
inline bool is_bsh(const ge::Shape& shape) { return shape.GetDimNum() == 3 && shape.GetShapeSize() > 0; }
template <class Tiling>
void fill_rows(Tiling& tiling, const ge::Shape& shape) {
  tiling = Tiling();
  tiling.srcK = last(shape);
  tiling.srcM = tiling.srcK ? static_cast<std::uint32_t>(shape.GetShapeSize() / tiling.srcK) : 0;
  tiling.srcSize = tiling.srcM * tiling.srcK;
}
}  // namespace host_tiling

// ---- LayerNorm: {B, S, padded H, H}; with rstd {A, R} ----
inline void GetLayerNormMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, bool, std::uint32_t& maxValue,
                                      std::uint32_t& minValue) {
  host_tiling::sizes(host_tiling::bsh(srcShape), host_tiling::dim(srcShape, 2), maxValue, minValue);
}
inline void GetLayerNormMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, bool, bool, bool, std::uint32_t& maxValue,
                                      std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
}
inline void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, std::uint32_t, std::uint32_t, bool,
                                     LayerNormTiling& tiling) {
  host_tiling::fill_bsh(tiling, srcShape, host_tiling::dim(srcShape, 3));
}
inline void GetLayerNormNDTillingInfo(const ge::Shape& srcShape, std::uint32_t stackBufferSize, std::uint32_t typeSize,
                                      bool isReuseSource, LayerNormTiling& tilling) {
  GetLayerNormNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, tilling);
}
inline void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, std::uint32_t, std::uint32_t, bool, bool,
                                     LayerNormSeparateTiling& tiling) {
  tiling = LayerNormSeparateTiling();
  tiling.aLength = host_tiling::dim(srcShape, 0);
  tiling.rLength = host_tiling::dim(srcShape, 1);
}
inline void GetNormalizeMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, std::uint32_t, bool, bool, bool,
                                      std::uint32_t& maxValue, std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
}

// ---- RmsNorm, DeepNorm: {B, S, padded H}, and the shape before the padding ----
inline bool GetRmsNormMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, std::uint32_t& maxValue,
                                    std::uint32_t& minValue, bool = false) {
  host_tiling::sizes(srcShape, maxValue, minValue);
  return host_tiling::is_bsh(srcShape);
}
inline bool GetRmsNormTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape, std::uint32_t, std::uint32_t,
                                 RmsNormTiling& tiling, bool = false) {
  host_tiling::fill_bsh(tiling, srcShape, host_tiling::last(originSrcShape));
  if (tiling.originalHLength) tiling.reciprocalOfHLength = 1.0f / static_cast<float>(tiling.originalHLength);
  return host_tiling::is_bsh(srcShape) && host_tiling::is_bsh(originSrcShape) && tiling.originalHLength <= tiling.hLength;
}
inline bool GetDeepNormMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, bool, bool, std::uint32_t& maxValue,
                                     std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
  return host_tiling::is_bsh(srcShape);
}
inline bool GetDeepNormTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape, std::uint32_t, std::uint32_t,
                                  bool, bool, DeepNormTiling& tiling) {
  host_tiling::fill_bsh(tiling, srcShape, host_tiling::last(originSrcShape));
  return host_tiling::is_bsh(srcShape) && host_tiling::is_bsh(originSrcShape) && tiling.originalHLength <= tiling.hLength;
}

// ---- BatchNorm {B, S, H}, GroupNorm {N, C, H, W} ----
inline bool GetBatchNormMaxMinTmpSize(const ge::Shape& srcShape, const ge::Shape&, std::uint32_t, bool,
                                      std::uint32_t& maxValue, std::uint32_t& minValue, bool = false) {
  host_tiling::sizes(static_cast<std::uint64_t>(srcShape.GetShapeSize()),
                     std::uint64_t{host_tiling::dim(srcShape, 1)} * host_tiling::dim(srcShape, 2), maxValue, minValue);
  return host_tiling::is_bsh(srcShape);
}
inline bool GetBatchNormNDTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape, std::uint32_t,
                                     std::uint32_t, bool, BatchNormTiling& tilling, bool = false) {
  tilling = BatchNormTiling();
  tilling.originalBLength = host_tiling::dim(originSrcShape, 0);
  tilling.meanVarSize = host_tiling::dim(srcShape, 1) * host_tiling::dim(srcShape, 2);
  return host_tiling::is_bsh(srcShape) && host_tiling::is_bsh(originSrcShape);
}
inline void GetGroupNormMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, bool, std::uint32_t groupNum,
                                      std::uint32_t& maxValue, std::uint32_t& minValue) {
  const auto all = static_cast<std::uint64_t>(srcShape.GetShapeSize());
  host_tiling::sizes(all, groupNum && host_tiling::dim(srcShape, 0) ? all / host_tiling::dim(srcShape, 0) / groupNum : 0,
                     maxValue, minValue);
}
inline void GetGroupNormNDTilingInfo(const ge::Shape& srcShape, std::uint32_t, std::uint32_t typeSize, bool,
                                     std::uint32_t groupNum, GroupNormTiling& tiling) {
  tiling = GroupNormTiling();
  const std::uint32_t block = typeSize ? 32 / typeSize : 8;
  tiling.n = host_tiling::dim(srcShape, 0);
  tiling.c = host_tiling::dim(srcShape, 1);
  tiling.hw = host_tiling::dim(srcShape, 2) * host_tiling::dim(srcShape, 3);
  tiling.g = groupNum;
  tiling.d = groupNum ? tiling.c / groupNum : 0;
  tiling.hwAlignSize = (tiling.hw + block - 1) / block * block;
  tiling.dhwAlignSize = tiling.d * tiling.hwAlignSize;
}

// ---- the gradient of LayerNorm: {B, S, padded H, H}; Welford's method ----
inline void GetLayerNormGradMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, bool, std::uint32_t& maxValue,
                                          std::uint32_t& minValue) {
  host_tiling::sizes(host_tiling::bsh(srcShape), host_tiling::dim(srcShape, 2), maxValue, minValue);
}
inline void GetLayerNormGradNDTilingInfo(const ge::Shape& srcShape, std::uint32_t, std::uint32_t, bool,
                                         LayerNormGradTiling& tiling) {
  host_tiling::fill_bsh(tiling, srcShape, host_tiling::dim(srcShape, 3));
}
inline void GetLayerNormGradBetaMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, bool, std::uint32_t& maxValue,
                                              std::uint32_t& minValue) {
  host_tiling::sizes(host_tiling::bsh(srcShape), host_tiling::dim(srcShape, 2), maxValue, minValue);
}
inline void GetLayerNormGradBetaNDTilingInfo(const ge::Shape& srcShape, std::uint32_t, std::uint32_t, bool,
                                             LayerNormGradBetaTiling& tiling) {
  host_tiling::fill_bsh(tiling, srcShape, host_tiling::dim(srcShape, 3));
}
inline void GetWelfordUpdateMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, std::uint32_t, bool, bool,
                                          std::uint32_t& maxValue, std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
}
inline void GetWelfordFinalizeMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, bool, std::uint32_t& maxValue,
                                            std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
}

// ---- softmax: the last dimension is the row ----
inline std::uint32_t GetSoftMaxMaxTmpSize(const ge::Shape& s, std::uint32_t, bool) {
  return host_tiling::most(static_cast<std::uint64_t>(s.GetShapeSize()));
}
inline std::uint32_t GetSoftMaxMinTmpSize(const ge::Shape& s, std::uint32_t, bool) {
  return host_tiling::least(host_tiling::last(s));
}
inline void SoftMaxTilingFunc(const ge::Shape& s, std::uint32_t, std::uint32_t, SoftMaxTiling& softmaxTiling) {
  host_tiling::fill_rows(softmaxTiling, s);
}
inline std::uint32_t GetSoftMaxFlashMaxTmpSize(const ge::Shape& s, std::uint32_t size, bool, bool reuse) {
  return GetSoftMaxMaxTmpSize(s, size, reuse);
}
inline std::uint32_t GetSoftMaxFlashMinTmpSize(const ge::Shape& s, std::uint32_t size, bool, bool reuse) {
  return GetSoftMaxMinTmpSize(s, size, reuse);
}
inline void SoftMaxFlashTilingFunc(const ge::Shape& s, std::uint32_t, std::uint32_t, SoftMaxTiling& softmaxFlashTiling,
                                   bool = false) {
  host_tiling::fill_rows(softmaxFlashTiling, s);
}
inline std::uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape& s, std::uint32_t size, std::uint32_t, bool, bool = false,
                                                 bool = false) {
  return GetSoftMaxMaxTmpSize(s, size, false);
}
inline std::uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape& s, std::uint32_t size, std::uint32_t, bool, bool = false,
                                                 bool = false) {
  return GetSoftMaxMinTmpSize(s, size, false);
}
inline void SoftMaxFlashV2TilingFunc(const ge::Shape& s, std::uint32_t, std::uint32_t, std::uint32_t,
                                     SoftMaxTiling& softmaxFlashTiling, bool, bool = false, bool = false) {
  host_tiling::fill_rows(softmaxFlashTiling, s);
}
inline void GetSoftMaxFlashV3MaxMinTmpSize(const ge::Shape& s, std::uint32_t, std::uint32_t, std::uint32_t& maxValue,
                                           std::uint32_t& minValue, bool, bool = false) {
  host_tiling::sizes(s, maxValue, minValue);
}
inline void SoftMaxFlashV3TilingFunc(const ge::Shape& s, std::uint32_t, std::uint32_t, std::uint32_t,
                                     SoftMaxTiling& softmaxFlashV3Tiling, bool, bool = false) {
  host_tiling::fill_rows(softmaxFlashV3Tiling, s);
}
inline std::uint32_t GetSoftMaxGradMaxTmpSize(const ge::Shape& s, std::uint32_t size, bool, bool reuse) {
  return GetSoftMaxMaxTmpSize(s, size, reuse);
}
inline std::uint32_t GetSoftMaxGradMinTmpSize(const ge::Shape& s, std::uint32_t size, bool, bool reuse) {
  return GetSoftMaxMinTmpSize(s, size, reuse);
}
inline void SoftMaxGradTilingFunc(const ge::Shape& s, std::uint32_t, std::uint32_t, SoftMaxTiling& softmaxGradTiling,
                                  bool = false) {
  host_tiling::fill_rows(softmaxGradTiling, s);
}
inline std::uint32_t GetLogSoftMaxMaxTmpSize(const ge::Shape& s, std::uint32_t size, bool reuse) {
  return GetSoftMaxMaxTmpSize(s, size, reuse);
}
inline std::uint32_t GetLogSoftMaxMinTmpSize(const ge::Shape& s, std::uint32_t size, bool reuse) {
  return GetSoftMaxMinTmpSize(s, size, reuse);
}
inline void LogSoftMaxTilingFunc(const ge::Shape& s, std::uint32_t, std::uint32_t, LogSoftMaxTiling& softmaxTiling) {
  host_tiling::fill_rows(softmaxTiling, s);
}

// ---- TopK, DropOut, ReduceXorSum ----
inline bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, std::int32_t inner, std::int32_t outter, bool,
                                 bool, TopKMode, bool, std::uint32_t, std::uint32_t& maxValue, std::uint32_t& minValue) {
  if (inner <= 0 || inner % 32 || outter <= 0) return false;
  host_tiling::sizes(static_cast<std::uint64_t>(inner) * static_cast<std::uint64_t>(outter),
                     static_cast<std::uint64_t>(inner), maxValue, minValue);
  return true;
}
inline bool TopKTilingFunc(const platform_ascendc::PlatformAscendC&, std::int32_t inner, std::int32_t outter, std::int32_t k,
                           std::uint32_t dataTypeSize, bool, TopKMode, bool, TopkTiling& topKTiling) {
  if (inner <= 0 || inner % 32 || outter <= 0 || k <= 0 || k > inner || (dataTypeSize != 2 && dataTypeSize != 4))
    return false;
  topKTiling = TopkTiling();
  topKTiling.allDataSize = inner * outter;
  topKTiling.innerDataSize = inner;
  return true;
}
inline void GetDropOutMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, bool, std::uint32_t& maxValue,
                                    std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
}
inline void GetReduceXorSumMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, bool, std::uint32_t& maxValue,
                                         std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
}

}  // namespace AscendC
