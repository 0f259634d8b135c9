// SPDX-License-Identifier: Apache-2.0
// What a Matmul object is made of: the types of its matrices, and MatmulConfig. Of the latter the twin heeds the template
// (Norm moves one base block a transfer, MDL stepM × stepKa of them), iterateOrder, and the sizes of constant tiling; what
// only saves scalar work or overlaps more is accepted.
#pragma once

#include <type_traits>

#include "ascendc/fixpipe.hpp"
#include "kernel_tiling/kernel_tiling.h"
#include "twin/calls_matmul.hpp"

enum class CubeFormat : std::uint8_t { ND, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR };
enum class LayoutMode : std::uint8_t { NONE, BSNGD, SBNGD, BNGS1S2, NORMAL };
enum class BatchMode : std::uint8_t { NONE, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1 };
enum class BatchOutMode : std::uint8_t { SINGLE_BATCH, MULTI_BATCH, DOUBLE_BATCH };
enum class IterateOrder : std::uint8_t { ORDER_M, ORDER_N, UNDEF };
enum class ScheduleType : std::uint8_t { INNER_PRODUCT, OUTER_PRODUCT, N_BUFFER_33 };
enum class IterateMode : std::uint8_t {
  ITERATE_MODE_NORMAL = 1,
  ITERATE_MODE_ALL = 2,
  ITERATE_MODE_BATCH = 4,
  ITERATE_MODE_N_BATCH = 8,
  ITERATE_MODE_DEFAULT = 15
};
enum class MatmulConfigMode : std::uint8_t { CONFIG_NORM, CONFIG_MDL, CONFIG_SPECIALMDL, CONFIG_IBSHARE };

struct MatmulConfig {
  bool doNorm = false, doBasicBlock = false, doMultiDataLoad = false;
  std::uint32_t basicM = 0, basicN = 0, basicK = 0;
  bool intrinsicsCheck = false, isNBatch = false, enVecND2NZ = false, doSpecialBasicBlock = false;
  std::uint32_t doMTE2Preload = 0, singleCoreM = 0, singleCoreN = 0, singleCoreK = 0, stepM = 0, stepN = 0, baseMN = 0;
  bool singleCoreMN = false, enUnitFlag = true, isPerTensor = false, hasAntiQuantOffset = false, doIBShareNorm = false,
       doSpecialMDL = false, enableInit = true;
  BatchMode batchMode = BatchMode::NONE;
  bool enableEnd = true, enableGetTensorC = true, enableSetOrgShape = true, enableSetBias = true, enableSetTail = true,
       enableQuantVector = true, enableSetDefineData = true;
  std::uint8_t iterateMode = 15;
  bool enableReuse = true, enableUBReuse = false, enableL1CacheUB = false, intraBlockPartSum = false;
  IterateOrder iterateOrder = IterateOrder::UNDEF;
  ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
  bool enableDoubleCache = false, isBiasBatch = true, enableStaticPadZeros = false, isPartialOutput = false,
       enableMixDualMaster = false, isA2B2Shared = false, isEnableChannelSplit = false, enableKdimReorderLoad = false,
       isCO1Shared = false;
  std::uint32_t sharedCO1BufferSize = 0;
  BatchOutMode batchOutMode = BatchOutMode::SINGLE_BATCH;
};

struct MatmulShapeParams {
  std::uint32_t singleCoreM = 0, singleCoreN = 0, singleCoreK = 0, basicM = 0, basicN = 0, basicK = 0;
};
struct MatmulQuantParams {
  bool isPerTensor = false, hasAntiQuantOffset = false;
};
struct MatmulBatchParams {
  bool isNBatch = false;
  BatchMode batchMode = BatchMode::BATCH_LESS_THAN_L1;
  bool isBiasBatch = true;
  BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
};
struct MatmulFuncParams {
  bool intrinsicsCheck = false, enVecND2NZ = false, enableDoubleCache = false, enableL1CacheUB = false;
  std::uint32_t doMTE2Preload = 0;
  IterateOrder iterateOrder = IterateOrder::UNDEF;
  ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
  bool enableReuse = true, enableUBReuse = true, isPartialOutput = false, isA2B2Shared = false, isEnableChannelSplit = false,
       enableKdimReorderLoad = false;
};

namespace AscendC {

namespace detail {
constexpr MatmulConfig common_config(bool intrinsics, bool batches, bool nd2nz, BatchMode batch) {
  MatmulConfig c;
  c.intrinsicsCheck = intrinsics;
  c.isNBatch = batches;
  c.enVecND2NZ = nd2nz;
  c.batchMode = batch;
  return c;
}
constexpr void take(MatmulConfig& c, const MatmulShapeParams& p) {
  c.singleCoreM = p.singleCoreM;
  c.singleCoreN = p.singleCoreN;
  c.singleCoreK = p.singleCoreK;
  c.basicM = p.basicM;
  c.basicN = p.basicN;
  c.basicK = p.basicK;
}
constexpr void take(MatmulConfig& c, const MatmulQuantParams& p) {
  c.isPerTensor = p.isPerTensor;
  c.hasAntiQuantOffset = p.hasAntiQuantOffset;
}
constexpr void take(MatmulConfig& c, const MatmulBatchParams& p) {
  c.isNBatch = p.isNBatch;
  c.batchMode = p.batchMode;
  c.isBiasBatch = p.isBiasBatch;
  c.batchOutMode = p.bmmOutMode;
}
constexpr void take(MatmulConfig& c, const MatmulFuncParams& p) {
  c.intrinsicsCheck = p.intrinsicsCheck;
  c.enVecND2NZ = p.enVecND2NZ;
  c.doMTE2Preload = p.doMTE2Preload;
  c.iterateOrder = p.iterateOrder;
  c.scheduleType = p.scheduleType;
  c.isEnableChannelSplit = p.isEnableChannelSplit;
}
}  // namespace detail

TWIN_API constexpr MatmulConfig GetNormalConfig(const bool intrinsicsLimit = false, const bool batchLoop = false,
                                                const bool isVecND2NZ = false,
                                                const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1,
                                                const bool isMsgReuse = true,
                                                const IterateOrder iterateOrder = IterateOrder::UNDEF,
                                                const ScheduleType scheduleType = ScheduleType::INNER_PRODUCT,
                                                const bool enUnitFlag = true, const bool enableMixDualMaster = false,
                                                const BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH) {
  MatmulConfig c = detail::common_config(intrinsicsLimit, batchLoop, isVecND2NZ, bmmMode);
  c.doNorm = true;
  c.enableReuse = isMsgReuse;
  c.iterateOrder = iterateOrder;
  c.scheduleType = scheduleType;
  c.enUnitFlag = enUnitFlag;
  c.enableMixDualMaster = enableMixDualMaster;
  c.batchOutMode = bmmOutMode;
  return c;
}
TWIN_API constexpr MatmulConfig GetMDLConfig(const bool intrinsicsLimit = false, const bool batchLoop = false,
                                             const std::uint32_t doMTE2Preload = 0, const bool isVecND2NZ = false,
                                             const bool isPerTensor = false, const bool hasAntiQuantOffset = false,
                                             const bool enUnitFlag = false, const bool isMsgReuse = true,
                                             const bool enableUBReuse = true, const bool enableL1CacheUB = false,
                                             const bool enableMixDualMaster = false,
                                             const bool enableKdimReorderLoad = false) {
  MatmulConfig c = detail::common_config(intrinsicsLimit, batchLoop, isVecND2NZ, BatchMode::BATCH_LESS_THAN_L1);
  c.doMultiDataLoad = true;
  c.doMTE2Preload = doMTE2Preload;
  c.isPerTensor = isPerTensor;
  c.hasAntiQuantOffset = hasAntiQuantOffset;
  c.enUnitFlag = enUnitFlag;
  c.enableReuse = isMsgReuse;
  c.enableUBReuse = enableUBReuse;
  c.enableL1CacheUB = enableL1CacheUB;
  c.enableMixDualMaster = enableMixDualMaster;
  c.enableKdimReorderLoad = enableKdimReorderLoad;
  return c;
}
TWIN_API constexpr MatmulConfig GetSpecialMDLConfig(const bool intrinsicsLimit = false, const bool batchLoop = false,
                                                    const std::uint32_t doMTE2Preload = 0, const bool isVecND2NZ = false,
                                                    const bool isPerTensor = false, const bool hasAntiQuantOffset = false) {
  MatmulConfig c = GetMDLConfig(intrinsicsLimit, batchLoop, doMTE2Preload, isVecND2NZ, isPerTensor, hasAntiQuantOffset);
  c.doSpecialMDL = true;
  return c;
}
TWIN_API constexpr MatmulConfig GetIBShareNormConfig(const bool intrinsicsLimit = false, const bool batchLoop = false,
                                                     const bool isVecND2NZ = false,
                                                     const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1,
                                                     const bool isDoubleCache = false, const bool enUnitFlag = true) {
  MatmulConfig c = GetNormalConfig(intrinsicsLimit, batchLoop, isVecND2NZ, bmmMode);
  c.doIBShareNorm = true;
  c.enableDoubleCache = isDoubleCache;
  c.enUnitFlag = enUnitFlag;
  return c;
}
TWIN_API constexpr MatmulConfig GetBasicConfig(const std::uint32_t basicM, const std::uint32_t basicN,
                                               const std::uint32_t basicK, const bool intrinsicsLimit = false,
                                               const bool batchLoop = false,
                                               const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1) {
  MatmulConfig c = detail::common_config(intrinsicsLimit, batchLoop, false, bmmMode);
  c.doBasicBlock = true;
  c.basicM = basicM;
  c.basicN = basicN;
  c.basicK = basicK;
  return c;
}
TWIN_API constexpr MatmulConfig GetSpecialBasicConfig(const std::uint32_t basicM, const std::uint32_t basicN,
                                                      const std::uint32_t basicK, const std::uint32_t singleCoreM,
                                                      const std::uint32_t singleCoreN, const std::uint32_t singleCoreK,
                                                      const std::uint32_t stepM, const std::uint32_t stepN,
                                                      const bool intrinsicsLimit = false, const bool batchLoop = false,
                                                      const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1) {
  MatmulConfig c = GetBasicConfig(basicM, basicN, basicK, intrinsicsLimit, batchLoop, bmmMode);
  c.doSpecialBasicBlock = true;
  c.singleCoreM = singleCoreM;
  c.singleCoreN = singleCoreN;
  c.singleCoreK = singleCoreK;
  c.stepM = stepM;
  c.stepN = stepN;
  return c;
}
template <MatmulConfigMode configMode, class... ArgTypes>
TWIN_API constexpr MatmulConfig GetMMConfig(ArgTypes&&... args) {
  MatmulConfig c = configMode == MatmulConfigMode::CONFIG_MDL          ? GetMDLConfig()
                   : configMode == MatmulConfigMode::CONFIG_SPECIALMDL ? GetSpecialMDLConfig()
                   : configMode == MatmulConfigMode::CONFIG_IBSHARE    ? GetIBShareNormConfig()
                                                                       : GetNormalConfig();
  (detail::take(c, args), ...);
  return c;
}
}  // namespace AscendC

inline constexpr MatmulConfig CFG_NORM = AscendC::GetNormalConfig();
inline constexpr MatmulConfig CFG_MDL = AscendC::GetMDLConfig();
inline constexpr MatmulConfig CFG_IBSHARE_NORM = AscendC::GetIBShareNormConfig();
inline constexpr MatmulConfig MM_CFG_BB = AscendC::GetBasicConfig(128, 128, 128);
using AscendC::GetBasicConfig;
using AscendC::GetIBShareNormConfig;
using AscendC::GetMDLConfig;
using AscendC::GetMMConfig;
using AscendC::GetNormalConfig;
using AscendC::GetSpecialBasicConfig;
using AscendC::GetSpecialMDLConfig;

namespace AscendC {

template <TPosition kPosition, CubeFormat kFormat, class Type, bool kTranspose = false,
          LayoutMode kLayout = LayoutMode::NONE, bool kShare = false>
struct MatmulType {
  static constexpr TPosition pos = kPosition;
  static constexpr CubeFormat format = kFormat;
  using T = Type;
  static constexpr bool isTrans = kTranspose;
  static constexpr LayoutMode layout = kLayout;
  static constexpr bool ibShare = kShare;
};

// Tiling that is known at compile time, in place of a MatmulConfig: what it has is not taken from the TCubeTiling, which may
// then be absent.
struct MatmulApiStaticTiling : MatmulConfig {
  constexpr MatmulApiStaticTiling(const MatmulConfig& config = GetNormalConfig()) : MatmulConfig(config), cfg(config) {}
  std::int32_t baseM = 0, baseN = 0, baseK = 0, depthA1 = 0, depthB1 = 0, step_k = 0;
  MatmulConfig cfg;
};
namespace detail {
constexpr std::int32_t whole(std::int64_t value, std::int32_t of) {
  return static_cast<std::int32_t>((value + of - 1) / of * of);
}
inline TCubeTiling static_tiling(const MatmulApiStaticTiling& t) {
  TCubeTiling out;
  out.M = out.singleCoreM = static_cast<std::int32_t>(t.singleCoreM);
  out.N = out.singleCoreN = static_cast<std::int32_t>(t.singleCoreN);
  out.Ka = out.Kb = out.singleCoreK = static_cast<std::int32_t>(t.singleCoreK);
  out.baseM = t.baseM;
  out.baseN = t.baseN;
  out.baseK = t.baseK;
  out.depthA1 = t.depthA1;
  out.depthB1 = t.depthB1;
  out.stepM = out.stepN = out.usedCoreNum = 1;
  out.stepKa = out.stepKb = t.step_k;
  return out;
}
inline TCubeTiling static_tiling(const MatmulConfig&) { return {}; }
}  // namespace detail
// The blocks of the config, or of 128 × 128 and as much of K as both halves of L0 hold; L1 in two halves.
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE>
TWIN_API constexpr MatmulApiStaticTiling GetMatmulApiTiling(const MatmulConfig& mmCFG, std::int32_t l1Size = 512 * 1024) {
  MatmulApiStaticTiling t(mmCFG);
  constexpr std::int32_t kBits = ::twin::size_bits(::twin::DTypeOf<typename A_TYPE::T>::kValue), kHalf = 32 * 1024;
  constexpr std::int32_t kLeast = kBits == 4 ? 64 : 32;  // of K
  const auto block = [](std::uint32_t asked, std::uint32_t single) {
    return asked ? static_cast<std::int32_t>(asked) : single && single < 128 ? detail::whole(single, 16) : 128;
  };
  t.baseM = block(mmCFG.basicM, mmCFG.singleCoreM);
  t.baseN = block(mmCFG.basicN, mmCFG.singleCoreN);
  t.baseK = static_cast<std::int32_t>(mmCFG.basicK);
  const std::int32_t larger = t.baseM > t.baseN ? t.baseM : t.baseN;
  if (t.baseK == 0) {
    t.baseK = kLeast;
    while (t.baseK * 2 * larger * kBits / 8 <= kHalf) t.baseK *= 2;
    const std::int32_t all = detail::whole(mmCFG.singleCoreK, kLeast);
    if (all && all < t.baseK) t.baseK = all;
  }
  t.step_k = 1;
  while (t.step_k * 4 * (t.baseM + t.baseN) * t.baseK * kBits / 8 <= l1Size - 4096) t.step_k *= 2;
  const std::int32_t slices = static_cast<std::int32_t>((mmCFG.singleCoreK + t.baseK - 1) / t.baseK);
  if (slices && slices < t.step_k) t.step_k = slices;
  t.depthA1 = t.depthB1 = 2 * t.step_k;
  return t;
}

// What a DataCopyOut is told: fields as FixpipeParams has them.
struct DataCopyOutParams {
  std::uint16_t cBurstNum = 0, burstLen = 0, srcStride = 0;
  std::uint32_t dstStride = 0;
  std::uint16_t oriNSize = 0;
  bool enUnitFlag = false;
  std::uint64_t quantScalar = 0, cbufWorkspaceAddr = 0;
};
namespace detail {
// Whether a function is one: by type, because under UBSan GCC does not take a comparison with null for a constant.
template <class F, F kFunction>
inline constexpr bool kGiven = !std::is_same_v<std::integral_constant<F, kFunction>, std::integral_constant<F, nullptr>>;
}  // namespace detail
// One base block of A, of B, or of C, copied by functions of the kernel's own.
template <void (*DataCopyOut)(const __gm__ void* gm, const LocalTensor<std::int8_t>& co1Local, const void* params,
                              const std::uint64_t tilingPtr, const std::uint64_t dataPtr) = nullptr,
          void (*CopyA1)(const LocalTensor<std::int8_t>& aMatrix, const __gm__ void* gm, int row, int col, int useM,
                         int useK, const std::uint64_t tilingPtr, const std::uint64_t dataPtr) = nullptr,
          void (*CopyB1)(const LocalTensor<std::int8_t>& bMatrix, const __gm__ void* gm, int row, int col, int useK,
                         int useN, const std::uint64_t tilingPtr, const std::uint64_t dataPtr) = nullptr>
struct MatmulCallBackFunc {
  static constexpr bool kCopiesOut = detail::kGiven<decltype(DataCopyOut), DataCopyOut>;
  template <bool kLeft>
  static constexpr ::twin::MatmulLoad load() {
    if constexpr (kLeft ? detail::kGiven<decltype(CopyA1), CopyA1> : detail::kGiven<decltype(CopyB1), CopyB1>) {
      return [](const ::twin::View& to, const void* gm, int row, int column, int rows, int columns, std::uint64_t tiling,
                std::uint64_t data) {
        const LocalTensor<std::int8_t> tensor(to, kLeft ? TPosition::A1 : TPosition::B1);
        if constexpr (kLeft) {
          CopyA1(tensor, gm, row, column, rows, columns, tiling, data);
        } else {
          CopyB1(tensor, gm, row, column, rows, columns, tiling, data);
        }
      };
    } else {
      return nullptr;
    }
  }
  static constexpr ::twin::MatmulStore store() {
    if constexpr (kCopiesOut) {
      return [](const void* gm, const ::twin::View& l0c, const ::twin::MatmulBursts& b, std::uint64_t tiling,
                std::uint64_t data) {
        const DataCopyOutParams p{b.count, b.length, 0, b.dst_stride, b.columns, false, b.scale, b.scales};
        DataCopyOut(gm, LocalTensor<std::int8_t>(l0c, TPosition::CO1), &p, tiling, data);
      };
    } else {
      return nullptr;
    }
  }
};
struct MatmulPolicy {};

}  // namespace AscendC
