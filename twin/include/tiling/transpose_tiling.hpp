// SPDX-License-Identifier: Apache-2.0
// What host code asks before it launches a kernel with ConfusionTranspose (Transpose of the library). Shapes: {B, N, S, H /
// N}; of a matrix {H, W}. The sizes of temporaries are the twin's own, not the vendor's.
#pragma once

#include "graph/tensor.h"
#include "kernel_tiling/transpose_tiling.h"
#include "tiling/library_tiling.hpp"

namespace AscendC {

inline void GetTransposeMaxMinTmpSize(const ge::Shape& srcShape, const std::uint32_t, const std::uint32_t,
                                      std::uint32_t& maxValue, std::uint32_t& minValue) {
  host_tiling::sizes(srcShape, maxValue, minValue);
}
inline void GetTransposeTilingInfo(const ge::Shape& srcShape, const std::uint32_t, const std::uint32_t typeSize,
                                   const std::uint32_t transposeTypeIn, ::ConfusionTransposeTiling& tiling) {
  const bool matrix = srcShape.GetDimNum() == 2;
  tiling = ::ConfusionTransposeTiling();
  tiling.param0 = matrix ? 1 : host_tiling::dim(srcShape, 0);
  tiling.param1 = matrix ? 1 : host_tiling::dim(srcShape, 1);
  tiling.param2 = host_tiling::dim(srcShape, matrix ? 0 : 2);
  tiling.param3 = host_tiling::dim(srcShape, matrix ? 1 : 3);
  tiling.param4 = typeSize;
  tiling.param5 = transposeTypeIn;
}
// By their older names; Only: of a matrix.
inline void GetConfusionTransposeMaxMinTmpSize(const ge::Shape& srcShape, const std::uint32_t typeSize,
                                               const std::uint32_t transposeTypeIn, std::uint32_t& maxValue,
                                               std::uint32_t& minValue) {
  GetTransposeMaxMinTmpSize(srcShape, typeSize, transposeTypeIn, maxValue, minValue);
}
inline void GetConfusionTransposeTilingInfo(const ge::Shape& srcShape, const std::uint32_t stackBufferSize,
                                            const std::uint32_t typeSize, const std::uint32_t transposeTypeIn,
                                            ::ConfusionTransposeTiling& tiling) {
  GetTransposeTilingInfo(srcShape, stackBufferSize, typeSize, transposeTypeIn, tiling);
}
inline void GetConfusionTransposeOnlyTilingInfo(const ge::Shape& srcShape, const std::uint32_t stackBufferSize,
                                                const std::uint32_t typeSize, ::ConfusionTransposeTiling& tiling) {
  constexpr std::uint32_t kMatrix = 7;  // TransposeType::TRANSPOSE_ND2ND_ONLY
  GetTransposeTilingInfo(srcShape, stackBufferSize, typeSize, kMatrix, tiling);
}

}  // namespace AscendC
