// SPDX-License-Identifier: Apache-2.0
// Tiling structs of the library's normalisations, softmax and TopK, as the reference lists their fields. The twin reads the
// shape out of them, and nothing else: how the vendor cuts the work changes no value.
#pragma once

#include <cstdint>

#include "kernel_tiling/saved_tiling.h"

struct LayerNormTiling : twin::SavedTiling<LayerNormTiling> {
  std::uint32_t bLength = 0, sLength = 0, hLength = 0, originalHLength = 0, inputXSize = 0, meanVarSize = 0,
                numberOfTmpBuf = 0, meanTmpTensorPos = 0, meanTmpTensorSize = 0, varianceTmpTensorPos = 0,
                varianceTmpTensorSize = 0, tmpBufSize = 0, oneTmpSize = 0, firstTmpStartPos = 0, secondTmpStartPos = 0,
                thirdTmpStartPos = 0, loopRound = 0, inputRoundSize = 0, inputTailSize = 0, inputTailPos = 0,
                meanVarRoundSize = 0, meanVarTailSize = 0, meanVarTailPos = 0, bshCurLength = 0, bsCurLength = 0;
  float lastDimValueBack = 0;
};
using DeepNormTiling = LayerNormTiling;
struct LayerNormSeparateTiling : twin::SavedTiling<LayerNormSeparateTiling> {
  std::uint32_t aLength = 0, rLength = 0, halfAddRepeatTimes = 0, rHeadLength = 0;
  float k2Rec = 0, k2RRec = 0;
  std::uint32_t inputXSize = 0, meanVarSize = 0, numberOfTmpBuf = 0, varianceTmpTensorPos = 0, varianceTmpTensorSize = 0,
                tmpBufSize = 0, oneTmpSize = 0, firstTmpStartPos = 0, secondTmpStartPos = 0, thirdTmpStartPos = 0,
                loopRound = 0, inputRoundSize = 0, inputTailSize = 0, inputTailPos = 0, meanVarRoundSize = 0,
                meanVarTailSize = 0, meanVarTailPos = 0, arCurLength = 0, aCurLength = 0;
  float rValueBack = 0;
};
struct RmsNormTiling : twin::SavedTiling<RmsNormTiling> {
  std::uint32_t bLength = 0, sLength = 0, hLength = 0, originalHLength = 0;
  float reciprocalOfHLength = 0;
  std::uint32_t mainBshLength = 0, mainBsLength = 0, mainBsLengthAlign = 0, loopRound = 0, inputTailPos = 0,
                tailBshLength = 0, tailBsLength = 0;
};
struct BatchNormTiling : twin::SavedTiling<BatchNormTiling> {
  std::uint32_t originalBLength = 0, meanVarSize = 0, meanTmpTensorPos = 0, varianceTmpTensorPos = 0, tmpBufSize = 0,
                oneTmpSize = 0, firstTmpStartPos = 0, secondTmpStartPos = 0, thirdTmpStartPos = 0, loopRound = 0,
                inputTailSize = 0, inputTailPos = 0, meanVarTailSize = 0, meanVarTailPos = 0, bshCurLength = 0,
                shCurLength = 0;
  float firstDimValueBack = 0;
  std::uint32_t castHalfRepStride = 0, shCurLengthBlockNum = 0, castHalfOutRepStride = 0;
};
struct GroupNormTiling : twin::SavedTiling<GroupNormTiling> {
  std::uint32_t n = 0, c = 0, hw = 0, g = 0, d = 0, hwAlignSize = 0, dhwAlignSize = 0, inputXSize = 0, meanVarSize = 0,
                numberOfTmpBuf = 0, meanTmpTensorPos = 0, meanTmpTensorSize = 0, varianceTmpTensorPos = 0,
                varianceTmpTensorSize = 0, tmpBufSize = 0, oneTmpSize = 0, firstTmpStartPos = 0, secondTmpStartPos = 0,
                thirdTmpStartPos = 0, loopRound = 0, inputRoundSize = 0, inputTailSize = 0, inputTailPos = 0,
                meanVarRoundSize = 0, meanVarTailSize = 0, meanVarTailPos = 0, bshCurLength = 0, bsCurLength = 0;
  float factor = 0;
  bool smallShape = false;
};
struct LayerNormGradTiling : twin::SavedTiling<LayerNormGradTiling> {
  std::uint32_t stackBufferSize = 0, bLength = 0, sLength = 0, hLength = 0, originalHLength = 0, oneCalSize = 0,
                nohCalSize = 0, loopNum = 0, tailSize = 0, nohTailSize = 0, tmpTensorBSHPos = 0, tmpTensorBSHSize = 0,
                pdVarTensorPos = 0, pdVarTensorSize = 0, pdMeanTensorPos = 0, pdMeanTensorSize = 0, x1TensorPos = 0,
                x1TensorSize = 0, x2TensorPos = 0, x2TensorSize = 0, x3TensorPos = 0, x3TensorSize = 0, tmpTensorPos = 0,
                tmpTensorSize = 0, tmpTensor1Pos = 0, tmpTensor1Size = 0, tmpTensor2Pos = 0, tmpTensor2Size = 0,
                lastDimValueBack = 0, lastDimValueBackMulTwo = 0;
};
struct LayerNormGradBetaTiling : twin::SavedTiling<LayerNormGradBetaTiling> {
  std::uint32_t stackBufferSize = 0, bLength = 0, sLength = 0, hLength = 0, originalHLength = 0, bshLength = 0, bsLength = 0,
                oneCalSize = 0, numberOfTmpBuf = 0, loopRound = 0, inputTailSize = 0, inputTailPos = 0, bsTailSize = 0,
                bshCurLength = 0, bsCurLength = 0, gammaTempTensorPos = 0, betaTempTensorPos = 0, inputDyTmpTensorPos = 0,
                resForGammaTmpTensorPos = 0, reserved = 0;
};
struct LogSoftMaxTiling : twin::SavedTiling<LogSoftMaxTiling> {
  std::uint32_t srcM = 0, srcK = 0, srcSize = 0, outMaxM = 0, outMaxK = 0, outMaxSize = 0, splitM = 0, splitK = 0,
                splitSize = 0, reduceM = 0, reduceK = 0, reduceSize = 0, rangeM = 0, tailM = 0, tailSplitSize = 0,
                tailReduceSize = 0;
};
struct TopkTiling : twin::SavedTiling<TopkTiling> {
  std::int32_t tmpLocalSize = 0, allDataSize = 0, innerDataSize = 0;
  std::uint32_t sortRepeat = 0;
  std::int32_t mrgSortRepeat = 0, kAlignFourBytes = 0, kAlignTwoBytes = 0, maskOffset = 0, maskVreducev2FourBytes = 0,
               maskVreducev2TwoBytes = 0, mrgSortSrc1offset = 0, mrgSortSrc2offset = 0, mrgSortSrc3offset = 0,
               mrgSortTwoQueueSrc1Offset = 0, mrgFourQueueTailPara1 = 0, mrgFourQueueTailPara2 = 0, srcIndexOffset = 0;
  std::uint32_t copyUbToUbBlockCount = 0;
  std::int32_t topkMrgSrc1MaskSizeOffset = 0, topkNSmallSrcIndexOffset = 0;
  std::uint32_t vreduceValMask0 = 0, vreduceValMask1 = 0, vreduceIdxMask0 = 0, vreduceIdxMask1 = 0;
  std::uint16_t vreducehalfValMask0 = 0, vreducehalfValMask1 = 0, vreducehalfValMask2 = 0, vreducehalfValMask3 = 0,
                vreducehalfValMask4 = 0, vreducehalfValMask5 = 0, vreducehalfValMask6 = 0, vreducehalfValMask7 = 0;
};

namespace optiling {
using ::BatchNormTiling;
using ::DeepNormTiling;
using ::GroupNormTiling;
using ::LayerNormGradBetaTiling;
using ::LayerNormGradTiling;
using ::LayerNormSeparateTiling;
using ::LayerNormTiling;
using ::LogSoftMaxTiling;
using ::RmsNormTiling;
using ::TopkTiling;
}  // namespace optiling
namespace AscendC {
// Which of TopK's two algorithms: host and kernel must name the same.
enum class TopKMode : std::uint8_t { TOPK_NORMAL, TOPK_NSMALL };
}  // namespace AscendC
