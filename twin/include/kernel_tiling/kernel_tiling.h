// SPDX-License-Identifier: Apache-2.0
// Tiling structs of the high-level libraries, as the reference lists their fields. The twin's libraries do not need what
// they say; a kernel may keep such a struct inside its own tiling data.
#pragma once

#include <cstdint>

#include "kernel_tiling/norm_tiling.h"

struct TCubeTiling {
  std::int32_t usedCoreNum = 0, M = 0, N = 0, Ka = 0, Kb = 0, singleCoreM = 0, singleCoreN = 0, singleCoreK = 0, baseM = 0,
               baseN = 0, baseK = 0, depthA1 = 0, depthB1 = 0, stepM = 0, stepN = 0, isBias = 0, transLength = 0,
               iterateOrder = 0, shareMode = 0, shareL1Size = 0, shareL0CSize = 0, shareUbSize = 0, batchM = 0, batchN = 0,
               singleBatchM = 0, singleBatchN = 0, stepKa = 0, stepKb = 0, depthAL1CacheUB = 0, depthBL1CacheUB = 0,
               dbL0A = 0, dbL0B = 0, dbL0C = 0;
};
struct SoftMaxTiling {
  std::uint32_t srcM = 0, srcK = 0, srcSize = 0, outMaxM = 0, outMaxK = 0, outMaxSize = 0, splitM = 0, splitK = 0,
                splitSize = 0, reduceM = 0, reduceK = 0, reduceSize = 0, rangeM = 0, tailM = 0, tailSplitSize = 0,
                tailReduceSize = 0;
};

namespace optiling {
using ::SoftMaxTiling;
using ::TCubeTiling;
}  // namespace optiling
