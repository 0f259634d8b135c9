// SPDX-License-Identifier: Apache-2.0
// What a Matmul object is told before it computes: types, tiling, shapes, operands.
#pragma once

#include "ascendc/matmul_config.hpp"
#include "ascendc/pipe.hpp"
#include "ascendc/sync.hpp"

namespace AscendC {
namespace detail {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE, const auto& MM_CFG, class MM_CB>
class MatmulSetup {
 protected:
  using SrcT = typename A_TYPE::T;
  using SrcBT = typename B_TYPE::T;
  using DstT = typename C_TYPE::T;
  using BiasT = typename BIAS_TYPE::T;
  template <class T>
  static constexpr ::twin::DType kType = ::twin::DTypeOf<T>::kValue;
  static constexpr bool kPairs = std::is_same<SrcT, int4b_t>::value;  // two to a byte
  static constexpr bool kIntegers = kPairs || std::is_same<SrcT, std::int8_t>::value;
  template <class... T>
  static constexpr bool dst_is = (std::is_same<DstT, T>::value || ...);
  static_assert(std::is_same<SrcT, SrcBT>::value, "Matmul: A and B have the same element type on the 910B");
  static_assert(kIntegers || std::is_same<SrcT, half>::value || std::is_same<SrcT, float>::value ||
                    std::is_same<SrcT, bfloat16_t>::value,
                "Matmul: A and B are half, bfloat16_t, float, int8_t or int4b_t");
  static_assert(kPairs      ? dst_is<std::int32_t, half>
                : kIntegers ? dst_is<std::int32_t, half, std::int8_t>
                            : dst_is<float, half, bfloat16_t, std::int8_t>,
                "Matmul: C is float, half, bfloat16_t or int8_t; of int8_t matrices int32_t, half or int8_t; of int4b_t "
                "matrices int32_t or half");
  static_assert(!kPairs || !A_TYPE::isTrans, "Matmul: A of int4b_t cannot be transposed on the 910B");
  static_assert(!kPairs || (!MM_CFG.doBasicBlock && !MM_CFG.doSpecialMDL),
                "Matmul: int4b_t works with the templates Norm, MDL and IBShare only");
  static constexpr bool known(CubeFormat f) { return f == CubeFormat::ND || f == CubeFormat::NZ; }
  static_assert(known(A_TYPE::format) || A_TYPE::format == CubeFormat::VECTOR, "Matmul: A is ND, NZ or VECTOR");
  static_assert(known(B_TYPE::format), "Matmul: B is ND or NZ");
  static_assert(known(C_TYPE::format) || C_TYPE::format == CubeFormat::ND_ALIGN, "Matmul: C is ND, NZ or ND_ALIGN");
  static_assert(!MM_CB::kCopiesOut || C_TYPE::pos == TPosition::GM, "Matmul: a DataCopyOut copies C to GM");
  static constexpr bool kAlone = MM_CFG.enableMixDualMaster;
  static_assert(!kAlone || (!MM_CFG.doBasicBlock && !MM_CFG.doSpecialMDL && !MM_CFG.doIBShareNorm),
                "Matmul: enableMixDualMaster works with the templates Norm and MDL only");
  static_assert(!kAlone || (A_TYPE::pos == TPosition::GM && B_TYPE::pos == TPosition::GM &&
                            BIAS_TYPE::pos == TPosition::GM && C_TYPE::pos == TPosition::GM),
                "Matmul: with enableMixDualMaster A, B, bias and C lie in GM");
  static constexpr bool in_ub(TPosition p) {
    return p == TPosition::VECIN || p == TPosition::VECOUT || p == TPosition::VECCALC;
  }
  static constexpr bool place(TPosition p) { return p == TPosition::GM || in_ub(p); }
  static constexpr bool in_l1(TPosition p) { return p == TPosition::TSCM; }
  static constexpr bool kCInL0c = C_TYPE::pos == TPosition::CO1;
  static_assert((!in_l1(A_TYPE::pos) || A_TYPE::format == CubeFormat::NZ) &&
                    (!in_l1(B_TYPE::pos) || B_TYPE::format == CubeFormat::NZ),
                "Matmul: A and B of TSCM are NZ");
  static_assert((!in_l1(C_TYPE::pos) && !kCInL0c) || C_TYPE::format == CubeFormat::NZ, "Matmul: C of TSCM and of CO1 is NZ");
  static_assert(!in_l1(C_TYPE::pos) || !std::is_same<DstT, std::int32_t>::value,
                "Matmul: C of TSCM is an operand of the next product: float, half, bfloat16_t or int8_t");
  static_assert((place(A_TYPE::pos) || in_l1(A_TYPE::pos)) && (place(B_TYPE::pos) || in_l1(B_TYPE::pos)) &&
                    (place(BIAS_TYPE::pos) || in_l1(BIAS_TYPE::pos) || std::is_same<BIAS_TYPE, C_TYPE>::value) &&
                    (place(C_TYPE::pos) || in_l1(C_TYPE::pos) || kCInL0c),
                "Matmul: matrices and bias lie in GM, in TSCM or, on vector cores, in UB; C also in CO1");
  static constexpr ::twin::Matrix format_of(CubeFormat f) {
    return f == CubeFormat::NZ         ? ::twin::Matrix::NZ
           : f == CubeFormat::ND_ALIGN ? ::twin::Matrix::NDAlign
                                       : ::twin::Matrix::ND;
  }
  static constexpr int kBlockC = 32 / static_cast<int>(sizeof(DstT));

 public:
  static constexpr bool kCubeCallsToo = kAlone;
  TWIN_API MatmulSetup() {
    s_.types = {kType<SrcT>,
                kType<SrcBT>,
                kType<DstT>,
                kType<BiasT>,
                format_of(A_TYPE::format),
                format_of(B_TYPE::format),
                format_of(C_TYPE::format),
                A_TYPE::isTrans,
                B_TYPE::isTrans,
                MM_CFG.doMultiDataLoad,
                kCInL0c,
                kAlone,
                MM_CFG.iterateOrder == IterateOrder::UNDEF ? -1 : static_cast<int>(MM_CFG.iterateOrder)};
    s_.load_a = MM_CB::template load<true>();
    s_.load_b = MM_CB::template load<false>();
    s_.store_c = MM_CB::store();
  }
  TWIN_API void Init(const TCubeTiling* cubeTiling, TPipe* tpipe = nullptr, Site site = Site::here()) {
    (void)tpipe;
    if (client_.object < 0) client_.object = ::twin::matmul_register(site, kAlone, A_TYPE::ibShare && B_TYPE::ibShare);
    const TCubeTiling fixed = static_tiling(MM_CFG);
    if (cubeTiling == nullptr && fixed.baseM == 0) return;
    TCubeTiling& t = s_.tiling = cubeTiling != nullptr ? *cubeTiling : fixed;
    if (fixed.baseM != 0) {
      t.baseM = fixed.baseM;
      t.baseN = fixed.baseN;
      t.baseK = fixed.baseK;
      t.depthA1 = fixed.depthA1;
      t.depthB1 = fixed.depthB1;
      t.stepM = t.stepN = 1;
      t.stepKa = t.stepKb = fixed.stepKa;
    }
    const auto constant = [](std::int32_t& field, std::uint32_t value) {
      if (value) field = static_cast<std::int32_t>(value);
    };
    constant(t.baseM, MM_CFG.basicM);
    constant(t.baseN, MM_CFG.basicN);
    constant(t.baseK, MM_CFG.basicK);
    constant(t.singleCoreM, MM_CFG.singleCoreM);
    constant(t.singleCoreN, MM_CFG.singleCoreN);
    constant(t.singleCoreK, MM_CFG.singleCoreK);
    SetOrgShape(t.M, t.N, t.Ka, t.Kb);
    SetSingleShape(t.singleCoreM, t.singleCoreN, t.singleCoreK);
  }
  TWIN_API void SetSubBlockIdx(std::uint8_t subBlockIdx) { (void)subBlockIdx; }  // the engine knows

  // ---- shapes ----
  TWIN_API void SetOrgShape(int orgM, int orgN, int orgK) { SetOrgShape(orgM, orgN, orgK, orgK); }
  TWIN_API void SetOrgShape(int orgM, int orgN, int orgKa, int orgKb, int orgKc = 0) {
    s_.org_m = orgM;
    s_.org_n = orgN;
    s_.org_ka = orgKa;
    s_.org_kb = orgKb;
    s_.org_c = orgKc ? orgKc : orgN;
    next_ = 0;
  }
  TWIN_API void SetSingleShape(int singleM, int singleN, int singleK) { SetTail(singleM, singleN, singleK); }
  TWIN_API void SetTail(int tailM = -1, int tailN = -1, int tailK = -1) {
    if (tailM != -1) s_.m = tailM;
    if (tailN != -1) s_.n = tailN;
    if (tailK != -1) s_.k = tailK;
    next_ = 0;
  }

  // ---- operands ----
  TWIN_API void SetTensorA(const GlobalTensor<SrcT>& gm, bool isTransposeA = false) { set(s_.a, gm.view(), isTransposeA); }
  TWIN_API void SetTensorB(const GlobalTensor<SrcBT>& gm, bool isTransposeB = false) { set(s_.b, gm.view(), isTransposeB); }
  TWIN_API void SetTensorA(const LocalTensor<SrcT>& leftMatrix, bool isTransposeA = false, Site site = Site::here()) {
    set(s_.a, leftMatrix.view(), isTransposeA);
    place<A_TYPE>(s_.a, 0, s_.m, s_.k, site);
    s_.org_m = s_.m;
    s_.org_ka = s_.k;
  }
  TWIN_API void SetTensorB(const LocalTensor<SrcBT>& rightMatrix, bool isTransposeB = false, Site site = Site::here()) {
    set(s_.b, rightMatrix.view(), isTransposeB);
    place<B_TYPE>(s_.b, 1, s_.k, s_.n, site);
    s_.org_n = s_.n;
    s_.org_kb = s_.k;
  }
  // One value for all of K: A is a row of it, B a column.
  TWIN_API void SetTensorA(SrcT aScalar) { set_all<SrcT>(s_.a, aScalar); }
  TWIN_API void SetTensorB(SrcBT bScalar) { set_all<SrcBT>(s_.b, bScalar); }
  template <class T>
  void SetSparseIndex(const GlobalTensor<T>&) {
    static_assert(sizeof(T) == 0, "Matmul: SetSparseIndex is not covered by the twin yet, see docs/twin_api.md");
  }
  TWIN_API void SetBias(const GlobalTensor<BiasT>& biasGlobal) { set(s_.bias, biasGlobal.view(), false); }
  TWIN_API void SetBias(const LocalTensor<BiasT>& inputBias, Site site = Site::here()) {
    set(s_.bias, inputBias.view(), false);
    if (in_l1(BIAS_TYPE::pos))
      s_.bias.in_l1 = true;
    else
      stage(s_.bias, 2, 1, s_.n, false, site);
  }
  TWIN_API void ClearBias() { s_.bias.set = false; }
  TWIN_API void DisableBias() { ClearBias(); }
  TWIN_API void SetQuantScalar(const std::uint64_t quantScalar) {
    s_.scale = quantScalar;
    s_.scale_given = true;
    s_.scales_given = false;
  }
  TWIN_API void SetQuantVector(const GlobalTensor<std::uint64_t>& quantTensor) {
    s_.scales = quantTensor.view();
    s_.scales_given = true;
  }
  TWIN_API void SetHF32(bool enableHF32 = false, std::int32_t transMode = 0) {
    s_.hf32 = enableHF32;
    s_.hf32_toward_zero = transMode == 1;
  }
  TWIN_API void SetUserDefInfo(const std::uint64_t tilingPtr) { s_.user_tiling = tilingPtr; }
  TWIN_API void SetSelfDefineData(const std::uint64_t dataPtr) { s_.user_data = dataPtr; }
  // UB of the library: on this chip the vector core's part of Matmul needs none.
  TWIN_API void SetLocalWorkspace(const LocalTensor<std::uint8_t>& tmpBuffer) { (void)tmpBuffer; }
  // Where Iterate<false> leaves its blocks until GetTensorC<false>.
  TWIN_API void SetWorkspace(GlobalTensor<DstT>& addr) { workspace_ = addr.view(); }
  template <class T>
  TWIN_API void SetWorkspace(__gm__ const T* addr, int size) {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(const_cast<__gm__ T*>(addr), static_cast<std::uint64_t>(size));
    workspace_ = tensor.view();
  }

  TWIN_API void End() { next_ = 0; }
  TWIN_API const TCubeTiling& GetTiling() const { return s_.tiling; }

 protected:
  void set(::twin::MatmulOperand& operand, const ::twin::View& view, bool turned) {
    operand.view = view;
    operand.set = true;
    operand.turned = turned;
    operand.in_l1 = false;
    operand.all_one = false;
    ++operand.generation;
    next_ = 0;
  }
  template <class T>
  void set_all(::twin::MatmulOperand& operand, T value) {
    static_assert(std::is_same<T, half>::value || std::is_same<T, float>::value || sizeof(T) == 0,
                  "Matmul: SetTensorA and SetTensorB with a scalar take half and float");
    set(operand, {}, false);
    operand.all_one = true;
    operand.value = bits_of(value);
  }
  // Nz: rows are multiples of 16, columns of C0.
  template <class TYPE>
  void place(::twin::MatmulOperand& operand, int which, std::int32_t rows, std::int32_t columns, Site site) {
    if (in_l1(TYPE::pos))
      operand.in_l1 = true;
    else
      stage(operand, which, rows, columns, TYPE::format == CubeFormat::NZ, site);
  }
  void stage(::twin::MatmulOperand& operand, int which, std::int32_t rows, std::int32_t columns, bool nz, Site site) {
    std::uint64_t count = static_cast<std::uint64_t>(rows) * columns;
    if (nz) {
      const std::int32_t c0 = 256 / static_cast<int>(::twin::size_bits(kType<SrcT>));
      if (operand.turned) {
        const std::int32_t swapped = rows;
        rows = columns;
        columns = swapped;
      }
      count = static_cast<std::uint64_t>((rows + 15) / 16 * 16) * ((columns + c0 - 1) / c0 * c0);
    }
    if (client_.object < 0 || count == 0) return;  // matmul_check says what is missing
    const std::uint64_t bits = count * ::twin::size_bits(operand.view.dtype);
    ::twin::matmul_stage(client_, operand, which, (bits + 7) / 8, site);
  }

  ::twin::MatmulState s_;
  ::twin::MatmulClient client_;
  ::twin::View workspace_;
  std::int32_t next_ = 0;     // base block
  std::uint32_t waited_ = 0;  // what WaitIterateAll waits for
};

}  // namespace detail
}  // namespace AscendC
