// SPDX-License-Identifier: Apache-2.0
// What host code asks for the library's mathematics, activations, reductions, sorting and changes of format. The twin's
// functions need no temporary: the sizes are its own, as in library_tiling.hpp, and 256 bytes at least where there are no
// rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ascendc/formats.hpp"
#include "graph/tensor.h"
#include "graph/types.h"
#include "tiling/library_tiling.hpp"
#include "tiling/platform/platform_ascendc.h"

namespace AscendC {

namespace host_tiling {
inline std::uint64_t all(const ge::Shape& shape) { return static_cast<std::uint64_t>(shape.GetShapeSize()); }
// The most of n elements is at most maxLiveNodeCnt * n * typeSize + extraBuf.
inline void factors(std::uint32_t typeSize, std::uint32_t& maxLiveNodeCnt, std::uint32_t& extraBuf) {
  maxLiveNodeCnt = typeSize ? std::max(16 / typeSize, 1u) : 0;
  extraBuf = least(0);
}
}  // namespace host_tiling

// ---- elementwise ----
#define TWIN_HOST_SIZES(name)                                                                           \
  inline void name(const ge::Shape& srcShape, const std::uint32_t, const bool, std::uint32_t& maxValue, \
                   std::uint32_t& minValue) {                                                           \
    host_tiling::sizes(host_tiling::all(srcShape), 0, maxValue, minValue);                              \
  }
#define TWIN_HOST_FACTORS(name)                                                                           \
  inline void Get##name##TmpBufferFactorSize(const std::uint32_t typeSize, std::uint32_t& maxLiveNodeCnt, \
                                             std::uint32_t& extraBuf) {                                   \
    host_tiling::factors(typeSize, maxLiveNodeCnt, extraBuf);                                             \
  }
#define TWIN_HOST_BOTH(name)                \
  TWIN_HOST_SIZES(Get##name##MaxMinTmpSize) \
  TWIN_HOST_FACTORS(name)
TWIN_HOST_BOTH(Acos)
TWIN_HOST_BOTH(Acosh)
TWIN_HOST_BOTH(Asin)
TWIN_HOST_BOTH(Asinh)
TWIN_HOST_BOTH(Atan)
TWIN_HOST_BOTH(Atanh)
TWIN_HOST_BOTH(Ceil)
TWIN_HOST_BOTH(Clamp)
TWIN_HOST_BOTH(Cos)
TWIN_HOST_BOTH(Cosh)
TWIN_HOST_BOTH(Digamma)
TWIN_HOST_BOTH(Erf)
TWIN_HOST_BOTH(Erfc)
TWIN_HOST_BOTH(Floor)
TWIN_HOST_BOTH(Fmod)
TWIN_HOST_BOTH(Frac)
TWIN_HOST_BOTH(GeGLU)
TWIN_HOST_BOTH(Lgamma)
TWIN_HOST_BOTH(Log)
TWIN_HOST_BOTH(Log10)
TWIN_HOST_BOTH(Log2)
TWIN_HOST_BOTH(Sign)
TWIN_HOST_BOTH(Sin)
TWIN_HOST_BOTH(Sinh)
TWIN_HOST_BOTH(Tan)
TWIN_HOST_BOTH(Tanh)
TWIN_HOST_BOTH(Trunc)
TWIN_HOST_BOTH(Xor)
TWIN_HOST_SIZES(GetReGluMaxMinTmpSize)
TWIN_HOST_SIZES(GetSigmoidMaxMinTmpSize)
TWIN_HOST_SIZES(GetSiluTmpSize)
TWIN_HOST_SIZES(GetSwishTmpSize)
TWIN_HOST_FACTORS(Exp)
TWIN_HOST_FACTORS(Mean)
TWIN_HOST_FACTORS(SwiGLU)
#undef TWIN_HOST_BOTH
#undef TWIN_HOST_FACTORS
#undef TWIN_HOST_SIZES

// ---- elementwise, with parameters of their own ----
inline bool GetExpMaxMinTmpSize(const ge::Shape& srcShape, const std::uint32_t, const bool, std::uint32_t& maxValue,
                                std::uint32_t& minValue) {
  host_tiling::sizes(host_tiling::all(srcShape), 0, maxValue, minValue);
  return srcShape.GetShapeSize() > 0;
}
inline void GetGeluMaxMinTmpSize(const ge::Shape& srcShape, const std::uint32_t, std::uint32_t& maxValue,
                                 std::uint32_t& minValue) {
  host_tiling::sizes(host_tiling::all(srcShape), 0, maxValue, minValue);
}
inline std::uint32_t GetGeluMaxTmpSize(const ge::Shape& srcShape, const std::uint32_t) {
  return host_tiling::most(host_tiling::all(srcShape));
}
inline std::uint32_t GetGeluMinTmpSize(const ge::Shape&, const std::uint32_t) { return host_tiling::least(0); }
inline void GetSwiGLUMaxMinTmpSize(const ge::Shape& srcShape, const std::uint32_t, std::uint32_t& maxValue,
                                   std::uint32_t& minValue, const bool) {
  host_tiling::sizes(host_tiling::all(srcShape), 0, maxValue, minValue);
}
inline void GetRoundMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const ge::Shape& srcShape, const std::uint32_t,
                                  const bool, std::uint32_t& maxValue, std::uint32_t& minValue) {
  host_tiling::sizes(host_tiling::all(srcShape), 0, maxValue, minValue);
}
inline void GetRoundTmpBufferFactorSize(const platform_ascendc::PlatformAscendC&, const std::uint32_t typeSize,
                                        std::uint32_t& maxLiveNodeCnt, std::uint32_t& extraBuf) {
  host_tiling::factors(typeSize, maxLiveNodeCnt, extraBuf);
}
// A number has a shape of one element.
inline void GetPowerMaxMinTmpSize(const ge::Shape& srcShape1, const ge::Shape& srcShape2, const bool, const std::uint32_t,
                                  const bool, std::uint32_t& maxValue, std::uint32_t& minValue) {
  host_tiling::sizes(std::max(host_tiling::all(srcShape1), host_tiling::all(srcShape2)), 0, maxValue, minValue);
}
inline void GetPowerTmpBufferFactorSize(const bool, const bool, const bool, const std::uint32_t typeSize,
                                        std::uint32_t& maxLiveNodeCnt, std::uint32_t& extraBuf) {
  host_tiling::factors(typeSize, maxLiveNodeCnt, extraBuf);
}

// ---- rows of n elements, matrices ----
inline void GetSumMaxMinTmpSize(const std::uint32_t n, const std::uint32_t, const bool, std::uint32_t& maxSize,
                                std::uint32_t& minSize) {
  host_tiling::sizes(n, n, maxSize, minSize);
}
inline void GetMeanMaxMinTmpSize(const std::uint32_t n, const std::uint32_t, const std::uint32_t, const bool,
                                 std::uint32_t& maxSize, std::uint32_t& minSize) {
  host_tiling::sizes(n, n, maxSize, minSize);
}
inline void GetCumSumMaxMinTmpSize(const ge::Shape& srcShape, const std::uint32_t, const bool, const bool,
                                   std::uint32_t& maxValue, std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
}
#define TWIN_HOST_REDUCE(name)                                                                                   \
  inline void Get##name##MaxMinTmpSize(const ge::Shape& srcShape, const ge::DataType, ReducePattern, bool, bool, \
                                       std::uint32_t& maxValue, std::uint32_t& minValue) {                       \
    host_tiling::sizes(srcShape, maxValue, minValue);                                                            \
  }
TWIN_HOST_REDUCE(ReduceAll)
TWIN_HOST_REDUCE(ReduceAny)
TWIN_HOST_REDUCE(ReduceMax)
TWIN_HOST_REDUCE(ReduceMean)
TWIN_HOST_REDUCE(ReduceMin)
TWIN_HOST_REDUCE(ReduceProd)
TWIN_HOST_REDUCE(ReduceSum)
#undef TWIN_HOST_REDUCE
inline void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const ge::Shape& srcShape,
                                      const ge::Shape& dstShape, std::uint32_t, const bool, std::uint32_t& maxValue,
                                      std::uint32_t& minValue) {
  host_tiling::sizes(std::max(host_tiling::all(srcShape), host_tiling::all(dstShape)), host_tiling::last(dstShape), maxValue,
                     minValue);
}

// ---- sorting: a pair of value and index takes eight bytes ----
inline std::uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC&, const std::uint32_t elemCount,
                                    const std::uint32_t) {
  return host_tiling::whole_blocks(std::uint64_t{elemCount} * 8);
}
inline std::uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC&, const std::uint32_t elemCount,
                                      const std::uint32_t) {
  return host_tiling::whole_blocks(std::uint64_t{elemCount} * 8);
}

// ---- TransData: false for shapes without elements and for formats that the reference does not convert ----
inline bool GetTransDataMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const ge::Shape& srcShape,
                                      const ge::Shape& dstShape, const ge::DataType, const TransDataConfig& config,
                                      std::uint32_t& maxValue, std::uint32_t& minValue) {
  host_tiling::sizes(std::max(host_tiling::all(srcShape), host_tiling::all(dstShape)), 0, maxValue, minValue);
  const bool back = config.dstFormat == DataFormat::NCDHW;
  const DataFormat plain = back ? config.dstFormat : config.srcFormat, other = back ? config.srcFormat : config.dstFormat;
  return srcShape.GetShapeSize() > 0 && dstShape.GetShapeSize() > 0 && plain == DataFormat::NCDHW &&
         (other == DataFormat::NDC1HWC0 || other == DataFormat::FRACTAL_Z_3D);
}

}  // namespace AscendC
