// SPDX-License-Identifier: Apache-2.0
// What host code asks for kernels that quantise or pad. The sizes are the twin's own, as in library_tiling.hpp.
#pragma once

#include "graph/types.h"
#include "kernel_tiling/pad_tiling.h"
#include "tiling/library_tiling.hpp"

namespace AscendC {

inline void GetAscendQuantMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, std::uint32_t& maxValue,
                                        std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
}
inline void GetAscendDequantMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, std::uint32_t& maxValue,
                                          std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
}
inline void GetAscendAntiQuantMaxMinTmpSize(const ge::Shape& srcShape, const ge::Shape&, bool, ge::DataType, ge::DataType,
                                            std::uint32_t& maxValue, std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
}
inline std::uint32_t GetAscendAntiQuantMaxTmpSize(const ge::Shape& srcShape, const ge::Shape& scaleShape, bool isTranspose,
                                                  ge::DataType inputDataType, ge::DataType outputDataType) {
  std::uint32_t most = 0, least = 0;
  GetAscendAntiQuantMaxMinTmpSize(srcShape, scaleShape, isTranspose, inputDataType, outputDataType, most, least);
  return most;
}
inline std::uint32_t GetAscendAntiQuantMinTmpSize(const ge::Shape& srcShape, const ge::Shape& scaleShape, bool isTranspose,
                                                  ge::DataType inputDataType, ge::DataType outputDataType) {
  std::uint32_t most = 0, least = 0;
  GetAscendAntiQuantMaxMinTmpSize(srcShape, scaleShape, isTranspose, inputDataType, outputDataType, most, least);
  return least;
}

// ---- Pad and UnPad: {height, width} ----
inline void GetPadMaxMinTmpSize(const ge::Shape& srcShape, std::uint32_t, std::uint32_t& maxValue, std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
}
inline void PadTilingFunc(const ge::Shape& srcShape, const ge::Shape& oriSrcShape, std::uint32_t, std::uint32_t,
                          PadTiling& tiling) {
  tiling = PadTiling();
  tiling.srcHeight = host_tiling::dim(srcShape, 0);
  tiling.srcWidth = host_tiling::dim(srcShape, 1);
  tiling.srcOriWidth = host_tiling::dim(oriSrcShape, 1);
}
inline void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const ge::Shape& srcShape, std::uint32_t,
                                  std::uint32_t& maxValue, std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
}
inline void UnPadTilingFunc(const ge::Shape& srcShape, std::uint32_t, std::uint32_t, UnPadTiling& tiling) {
  tiling = UnPadTiling();
  tiling.srcHeight = host_tiling::dim(srcShape, 0);
  tiling.srcWidth = host_tiling::dim(srcShape, 1);
}

}  // namespace AscendC
