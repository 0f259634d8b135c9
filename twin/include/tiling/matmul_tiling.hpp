// SPDX-License-Identifier: Apache-2.0
// Matmul's tiling on the host: shapes and types in, a TCubeTiling out. The choice of blocks is the twin's own: see
// matmul_blocks.cpp in the twin. Setters return 0, or −1 for a value that cannot be.
#pragma once

#include <cstdint>

#include "kernel_tiling/kernel_tiling.h"
#include "tiling/platform/platform_ascendc.h"

namespace matmul_tiling {

enum class TPosition : std::int32_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  LCM = VECCALC,
  SPM,
  SHM = SPM,
  TSCM,
  MAX
};
enum class CubeFormat : std::int32_t { ND, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR };
enum class DataType : std::int32_t {
  DT_FLOAT = 0,
  DT_FLOAT16 = 1,
  DT_INT8 = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 6,
  DT_UINT16 = 7,
  DT_UINT32 = 8,
  DT_INT64 = 9,
  DT_BF16 = 27,
  DT_BFLOAT16 = 27,
  DT_INT4 = 29,
  DT_UNDEFINED = 28
};
enum class MatrixTraverse : std::int32_t { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : std::int32_t { NORMAL = 0, HF32 = 1, MXMODE = 2 };
enum class DequantType : std::int32_t { SCALAR = 0, TENSOR = 1 };
enum class ScheduleType : std::int32_t { INNER_PRODUCT = 0, OUTER_PRODUCT = 1, N_BUFFER_33 = 2 };

struct PlatformInfo {
  platform_ascendc::SocVersion socVersion = platform_ascendc::SocVersion::ASCEND910B;
  std::uint64_t l1Size = 0, l0CSize = 0, ubSize = 0, l0ASize = 0, l0BSize = 0;
};
struct MatmulConfigParams {
  std::int32_t mmConfigType = 0;  // 0 Norm, 1 MDL
  bool enableL1CacheUB = false;
  ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
  MatrixTraverse traverse = MatrixTraverse::NOSET;
  bool enVecND2NZ = false;
};

class MatmulApiTilingBase {
 public:
  MatmulApiTilingBase();
  explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& platform);
  explicit MatmulApiTilingBase(const PlatformInfo& platform);

  std::int32_t SetAType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false);
  std::int32_t SetBType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false);
  std::int32_t SetCType(TPosition pos, CubeFormat type, DataType dataType);
  std::int32_t SetBiasType(TPosition pos, CubeFormat type, DataType dataType);
  // AscendC::TPosition has the same numbers.
  template <class Position>
  std::int32_t SetAType(Position pos, CubeFormat type, DataType dataType, bool isTrans = false) {
    return SetAType(static_cast<TPosition>(pos), type, dataType, isTrans);
  }
  template <class Position>
  std::int32_t SetBType(Position pos, CubeFormat type, DataType dataType, bool isTrans = false) {
    return SetBType(static_cast<TPosition>(pos), type, dataType, isTrans);
  }
  template <class Position>
  std::int32_t SetCType(Position pos, CubeFormat type, DataType dataType) {
    return SetCType(static_cast<TPosition>(pos), type, dataType);
  }
  template <class Position>
  std::int32_t SetBiasType(Position pos, CubeFormat type, DataType dataType) {
    return SetBiasType(static_cast<TPosition>(pos), type, dataType);
  }
  std::int32_t SetDequantType(DequantType) { return 0; }
  std::int32_t SetShape(std::int32_t m, std::int32_t n, std::int32_t k);
  std::int32_t SetOrgShape(std::int32_t orgMIn, std::int32_t orgNIn, std::int32_t orgKIn);
  std::int32_t SetOrgShape(std::int32_t orgMIn, std::int32_t orgNIn, std::int32_t orgKaIn, std::int32_t orgKbIn);
  std::int32_t SetBias(bool isBiasIn = false) { return EnableBias(isBiasIn); }
  std::int32_t EnableBias(bool isBiasIn = false) {
    bias_ = isBiasIn;
    return 0;
  }
  std::int32_t SetFixSplit(std::int32_t baseMIn = -1, std::int32_t baseNIn = -1, std::int32_t baseKIn = -1);
  std::int32_t SetBufferSpace(std::int32_t l1Size = -1, std::int32_t l0CSize = -1, std::int32_t ubSize = -1,
                              std::int32_t btSize = -1);
  std::int32_t SetTraverse(MatrixTraverse traverse) {
    traverse_ = traverse;
    return 0;
  }
  std::int32_t SetMadType(MatrixMadType) { return 0; }  // HF32 is the kernel's SetHF32
  std::int32_t SetSplitRange(std::int32_t maxBaseM = -1, std::int32_t maxBaseN = -1, std::int32_t maxBaseK = -1,
                             std::int32_t minBaseM = -1, std::int32_t minBaseN = -1, std::int32_t minBaseK = -1);
  std::int32_t SetDoubleBuffer(bool a, bool b, bool c, bool bias, bool transND2NZ = true, bool transNZ2ND = true);
  void SetMatmulConfigParams(std::int32_t mmConfigTypeIn = 1, bool enableL1CacheUBIn = false,
                             ScheduleType scheduleTypeIn = ScheduleType::INNER_PRODUCT,
                             MatrixTraverse traverseIn = MatrixTraverse::NOSET, bool enVecND2NZIn = false);
  void SetMatmulConfigParams(const MatmulConfigParams& configParams);
  // Of products in batches; blocks are chosen for one of them.
  std::int32_t SetALayout(std::int32_t b, std::int32_t s, std::int32_t n, std::int32_t g, std::int32_t d);
  std::int32_t SetBLayout(std::int32_t b, std::int32_t s, std::int32_t n, std::int32_t g, std::int32_t d);
  std::int32_t SetCLayout(std::int32_t b, std::int32_t s1, std::int32_t n, std::int32_t g, std::int32_t s2);
  std::int32_t SetBatchNum(std::int32_t batch);
  std::int32_t SetBatchInfoForNormal(std::int32_t batchA, std::int32_t batchB, std::int32_t m, std::int32_t n,
                                     std::int32_t k);
  std::int32_t GetBaseM() const { return base_m_; }
  std::int32_t GetBaseN() const { return base_n_; }
  std::int32_t GetBaseK() const { return base_k_; }

  // −1 if there is no tiling: a shape or type is missing, or fixed blocks do not fit.
  std::int64_t GetTiling(TCubeTiling& tiling);

 protected:
  virtual ~MatmulApiTilingBase() = default;
  virtual bool divide() = 0;  // single_m_, single_n_ and used_ from the shape
  double choose_blocks();     // for that share; its cycles, infinite if nothing fits

  struct Range {
    std::int32_t low = 16, high = 1 << 20;
  };
  std::int32_t m_ = 0, n_ = 0, k_ = 0, org_m_ = 0, org_n_ = 0, org_ka_ = 0, org_kb_ = 0;
  std::int32_t single_m_ = 0, single_n_ = 0, single_k_ = 0, used_ = 1;
  std::int32_t fixed_m_ = -1, fixed_n_ = -1, fixed_k_ = -1, base_m_ = 0, base_n_ = 0, base_k_ = 0, step_k_ = 1;
  std::int64_t l1_ = 0, l0a_ = 0, l0b_ = 0, l0c_ = 0, ub_ = 0, bt_ = 0;
  Range range_m_, range_n_, range_k_;
  DataType a_type_ = DataType::DT_FLOAT16, c_type_ = DataType::DT_FLOAT;
  TPosition c_pos_ = TPosition::GM;
  bool a_trans_ = false, b_trans_ = false, bias_ = false, double_l0a_ = true, double_l0b_ = true, double_l0c_ = true;
  MatrixTraverse traverse_ = MatrixTraverse::NOSET;
  TCubeTiling layouts_;
};

// One core.
class MatmulApiTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;

 protected:
  bool divide() override;
};

using BatchMatmulTiling = MatmulApiTiling;

// M and N, and K if EnableMultiCoreSplitK says so, divided among `dim` objects: vector cores in a mix kernel.
class MultiCoreMatmulTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;
  std::int32_t SetDim(std::int32_t dim);
  std::int32_t SetSingleShape(std::int32_t singleMIn = -1, std::int32_t singleNIn = -1, std::int32_t singleKIn = -1);
  std::int32_t SetSingleRange(std::int32_t maxM = -1, std::int32_t maxN = -1, std::int32_t maxK = -1, std::int32_t minM = -1,
                              std::int32_t minN = -1, std::int32_t minK = -1);
  std::int32_t SetAlignSplit(std::int32_t alignM, std::int32_t alignN, std::int32_t alignK);
  std::int32_t GetSingleShape(std::int32_t& shapeM, std::int32_t& shapeN, std::int32_t& shapeK) const;
  std::int32_t GetCoreNum(std::int32_t& dim, std::int32_t& mDim, std::int32_t& nDim) const;
  void EnableMultiCoreSplitK(bool flag) { split_k_ = flag; }
  void SetSplitK(bool flag) { split_k_ = flag; }

 protected:
  bool divide() override;

 private:
  std::int32_t dim_ = 1, m_dim_ = 1, n_dim_ = 1, align_m_ = 16, align_n_ = 16, asked_m_ = -1, asked_n_ = -1, asked_k_ = -1;
  Range single_m_range_, single_n_range_;
  bool split_k_ = false;
};

}  // namespace matmul_tiling
