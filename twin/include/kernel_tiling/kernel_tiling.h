// SPDX-License-Identifier: Apache-2.0
// Tiling structs of the high-level libraries, as the reference lists their fields; plain, with the forms in which host code
// fills them. A kernel may keep such a struct inside its own tiling data.
#pragma once

#include <cstdint>

// Sizes in elements. Core: one Matmul object's share, singleCoreM × singleCoreN of C over singleCoreK; base: of one Mmad;
// depth: base blocks that L1 holds; step: base blocks of one transfer along M, N and K. iterateOrder 0: along M first.
#define TWIN_CUBE_TILING(field)                                                                                             \
  field(usedCoreNum) field(M) field(N) field(Ka) field(Kb) field(singleCoreM) field(singleCoreN) field(singleCoreK)         \
      field(baseM) field(baseN) field(baseK) field(depthA1) field(depthB1) field(stepM) field(stepN) field(isBias)          \
          field(transLength) field(iterateOrder) field(shareMode) field(shareL1Size) field(shareL0CSize) field(shareUbSize) \
              field(batchM) field(batchN) field(singleBatchM) field(singleBatchN) field(stepKa) field(stepKb)               \
                  field(depthAL1CacheUB) field(depthBL1CacheUB) field(dbL0A) field(dbL0B) field(dbL0C) field(ALayoutInfoB)  \
                      field(ALayoutInfoS) field(ALayoutInfoN) field(ALayoutInfoG) field(ALayoutInfoD) field(BLayoutInfoB)   \
                          field(BLayoutInfoS) field(BLayoutInfoN) field(BLayoutInfoG) field(BLayoutInfoD)                   \
                              field(CLayoutInfoB) field(CLayoutInfoS1) field(CLayoutInfoN) field(CLayoutInfoG)              \
                                  field(CLayoutInfoS2) field(BatchNum)

#include "kernel_tiling/norm_tiling.h"
#include "kernel_tiling/pad_tiling.h"
#include "kernel_tiling/transpose_tiling.h"

struct TCubeTiling : twin::SavedTiling<TCubeTiling> {
#define TWIN_FIELD(name)                                \
  std::int32_t name = 0;                                \
  void set_##name(std::int32_t value) { name = value; } \
  std::int32_t get_##name() const { return name; }
  TWIN_CUBE_TILING(TWIN_FIELD)
#undef TWIN_FIELD
};
struct SoftMaxTiling : twin::SavedTiling<SoftMaxTiling> {
  std::uint32_t srcM = 0, srcK = 0, srcSize = 0, outMaxM = 0, outMaxK = 0, outMaxSize = 0, splitM = 0, splitK = 0,
                splitSize = 0, reduceM = 0, reduceK = 0, reduceSize = 0, rangeM = 0, tailM = 0, tailSplitSize = 0,
                tailReduceSize = 0;
};
// What the host's Mc2CcTilingConfig fills for communication between chips. Kernels that never communicate carry them in
// their tiling too; the twin has the size only.
struct Mc2InitTiling {
  std::uint8_t reserved[64] = {};
};
struct Mc2CcTiling {
  std::uint8_t reserved[280] = {};
};

namespace optiling {
using ::Mc2CcTiling;
using ::Mc2InitTiling;
using ::SoftMaxTiling;
using ::TCubeTiling;
}  // namespace optiling
namespace AscendC {
namespace tiling {
using namespace ::optiling;  // the same structs by their other name
}
}  // namespace AscendC
