// SPDX-License-Identifier: Apache-2.0
// Tiling structs of Pad and UnPad, as the reference names them. The twin reads the shape out of them, and nothing else.
#pragma once

#include <cstdint>

#include "kernel_tiling/saved_tiling.h"

struct PadTiling : twin::SavedTiling<PadTiling> {
  std::uint32_t srcHeight = 0, srcWidth = 0, srcOriWidth = 0, widthWithoutLastBlock = 0, blocksPerRow = 0, heightTiling = 0,
                heightFractal = 0, heightFractalTail = 0, mainLoopOffset = 0, tailBlockOffset = 0, tmpBuffer1BlockNum = 0,
                tmpBuffer1RowNum = 0, tmpBuffer2Offset = 0, widthTiling = 0, widthFractal = 0, widthFractalTail = 0,
                widthFractalTailAlingned = 0, brcbTiling = 0, brcbFractal = 0, brcbFractalTail = 0, maxRepeatTimes = 0,
                brcbTilingRepeatTimes = 0, brcbTilingRepeatTimesTail = 0;
};
struct UnPadTiling : twin::SavedTiling<UnPadTiling> {
  std::uint32_t srcHeight = 0, srcWidth = 0, tmpBuffer1BlockNum = 0, tmpBuffer1RowNum = 0, tmpBuffer2Offset = 0,
                widthTiling = 0, widthFractal = 0, widthFractalTail = 0;
};

namespace optiling {
using ::PadTiling;
using ::UnPadTiling;
}  // namespace optiling
