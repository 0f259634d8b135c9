// SPDX-License-Identifier: Apache-2.0
// The tiling of ConfusionTranspose, whose fields have numbers for names in the reference. The twin's own hold:
//   param0 to param3: B, N, S, H / N (of a matrix: 1, 1, H, W)   param4: bytes of an element   param5: the TransposeType
#pragma once

#include <cstdint>

#include "kernel_tiling/saved_tiling.h"

struct ConfusionTransposeTiling : twin::SavedTiling<ConfusionTransposeTiling> {
  std::uint32_t param0 = 0, param1 = 0, param2 = 0, param3 = 0, param4 = 0, param5 = 0, param6 = 0, param7 = 0, param8 = 0,
                param9 = 0, param10 = 0, param11 = 0, param12 = 0, param13 = 0, param14 = 0, param15 = 0, param16 = 0,
                param17 = 0;
};

namespace optiling {
using ::ConfusionTransposeTiling;
}  // namespace optiling
