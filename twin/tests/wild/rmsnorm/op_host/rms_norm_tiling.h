// SPDX-License-Identifier: Apache-2.0
// Tiling data as an operator project declares it.
#ifndef OP_HOST_RMS_NORM_TILING_H
#define OP_HOST_RMS_NORM_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(RmsNormBasics)
TILING_DATA_FIELD_DEF(float, epsilon);
TILING_DATA_FIELD_DEF(uint32_t, usedCores);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(RmsNormBasicsOp, RmsNormBasics)

BEGIN_TILING_DATA_DEF(RmsNormTilingData)
TILING_DATA_FIELD_DEF(uint64_t, rows);
TILING_DATA_FIELD_DEF(uint32_t, cols);
TILING_DATA_FIELD_DEF_ARR(uint32_t, 48, firstRow);
TILING_DATA_FIELD_DEF_STRUCT(RmsNormBasics, basics);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(RmsNorm, RmsNormTilingData)
}  // namespace optiling
#endif
