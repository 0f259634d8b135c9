// SPDX-License-Identifier: Apache-2.0
// Matmul: C = A · B + bias. On a cube core the object computes; on a vector core it asks the cube core of its block.
//   Iterate: one base block, baseM × baseN of C; GetTensorC fetches it      IterateAll: all of singleCoreM × singleCoreN
#pragma once

#include "ascendc/matmul_config.hpp"
#include "ascendc/pipe.hpp"
#include "ascendc/sync.hpp"

namespace AscendC {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto& MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<>, class... MATMUL_POLICY>
class MatmulImpl {
  using SrcT = typename A_TYPE::T;
  using SrcBT = typename B_TYPE::T;
  using DstT = typename C_TYPE::T;
  using BiasT = typename BIAS_TYPE::T;
  template <class T>
  static constexpr ::twin::DType kType = ::twin::DTypeOf<T>::kValue;
  static constexpr bool kIntegers = std::is_same<SrcT, std::int8_t>::value;
  template <class... T>
  static constexpr bool dst_is = (std::is_same<DstT, T>::value || ...);
  static_assert(std::is_same<SrcT, SrcBT>::value, "Matmul: A and B have the same element type on the 910B");
  static_assert(kIntegers || std::is_same<SrcT, half>::value || std::is_same<SrcT, float>::value ||
                    std::is_same<SrcT, bfloat16_t>::value,
                "Matmul: A and B are half, bfloat16_t, float or int8_t");
  static_assert(kIntegers ? dst_is<std::int32_t, half, std::int8_t> : dst_is<float, half, bfloat16_t, std::int8_t>,
                "Matmul: C is float, half, bfloat16_t or int8_t; of int8_t matrices int32_t, half or int8_t");
  static constexpr bool known(CubeFormat f) { return f == CubeFormat::ND || f == CubeFormat::NZ; }
  static_assert(known(A_TYPE::format) || A_TYPE::format == CubeFormat::VECTOR, "Matmul: A is ND, NZ or VECTOR");
  static_assert(known(B_TYPE::format), "Matmul: B is ND or NZ");
  static_assert(known(C_TYPE::format) || C_TYPE::format == CubeFormat::ND_ALIGN, "Matmul: C is ND, NZ or ND_ALIGN");
  static_assert(!MM_CB::kCopiesOut, "Matmul: the twin does not call a DataCopyOut of the kernel's own yet; use GetTensorC");
  static_assert(!MM_CFG.enableMixDualMaster, "Matmul: the twin does not have enableMixDualMaster yet");
  static constexpr bool in_ub(TPosition p) {
    return p == TPosition::VECIN || p == TPosition::VECOUT || p == TPosition::VECCALC;
  }
  static constexpr bool place(TPosition p) { return p == TPosition::GM || in_ub(p); }
  static_assert(place(A_TYPE::pos) && place(B_TYPE::pos) && place(BIAS_TYPE::pos) && place(C_TYPE::pos),
                "Matmul: in the twin matrices lie in GM or, on vector cores, in UB; TSCM and CO1 are not covered");
  static constexpr ::twin::Matrix format_of(CubeFormat f) {
    return f == CubeFormat::NZ         ? ::twin::Matrix::NZ
           : f == CubeFormat::ND_ALIGN ? ::twin::Matrix::NDAlign
                                       : ::twin::Matrix::ND;
  }
  static constexpr int kBlockC = 32 / static_cast<int>(sizeof(DstT));

 public:
  TWIN_API MatmulImpl() {
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
                MM_CFG.iterateOrder == IterateOrder::UNDEF ? -1 : static_cast<int>(MM_CFG.iterateOrder)};
    s_.load_a = MM_CB::template load<true>();
    s_.load_b = MM_CB::template load<false>();
  }
  TWIN_API void Init(const TCubeTiling* cubeTiling, TPipe* tpipe = nullptr) {
    (void)tpipe;
    if (client_.object < 0) client_.object = ::twin::matmul_register();
    const TCubeTiling fixed = detail::static_tiling(MM_CFG);
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
    stage(s_.a, 0, s_.m, s_.k, A_TYPE::format == CubeFormat::NZ, site);
    s_.org_m = s_.m;
    s_.org_ka = s_.k;
  }
  TWIN_API void SetTensorB(const LocalTensor<SrcBT>& rightMatrix, bool isTransposeB = false, Site site = Site::here()) {
    set(s_.b, rightMatrix.view(), isTransposeB);
    stage(s_.b, 1, s_.k, s_.n, B_TYPE::format == CubeFormat::NZ, site);
    s_.org_n = s_.n;
    s_.org_kb = s_.k;
  }
  TWIN_API void SetBias(const GlobalTensor<BiasT>& biasGlobal) { set(s_.bias, biasGlobal.view(), false); }
  TWIN_API void SetBias(const LocalTensor<BiasT>& inputBias, Site site = Site::here()) {
    set(s_.bias, inputBias.view(), false);
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

  // ---- base block by base block ----
  template <bool sync = true>
  TWIN_API bool Iterate(bool enPartialSum = false, Site site = Site::here()) {
    if (!::twin::matmul_check(s_, site)) return false;
    const std::int32_t blocks = ::twin::matmul_blocks_m(s_) * ::twin::matmul_blocks_n(s_);
    if (next_ >= blocks) {
      next_ = 0;
      return false;
    }
    block_ = next_++;
    if constexpr (sync) {
      ::twin::matmul_compute(client_, s_, block_, enPartialSum, site);
    } else if (block_ == 0) {  // one call for all: their blocks are fetched by GetTensorC<false>
      ::twin::MatmulOut out;
      out.dst = workspace_;
      out.sequential = true;
      out.row_align = kBlockC;
      if (workspace_.addr == 0) {
        ::twin::refuse_call("Matmul: Iterate<false> without a workspace for its blocks", "SetWorkspace before it", site);
        return false;
      }
      ::twin::matmul_all(client_, s_, out, true, true, site);
      first_ticket_ = client_.ticket;
      fetched_ = 0;
    }
    return true;
  }
  template <bool sync = true>
  TWIN_API void GetTensorC(const GlobalTensor<DstT>& gm, std::uint8_t enAtomic = 0, bool enSequentialWrite = false,
                           Site site = Site::here()) {
    static_assert(sync, "Matmul: GetTensorC<false> to GM; take the tensor that GetTensorC<false>() returns");
    if (!computed(site)) return;
    ::twin::matmul_fetch(client_, s_, block_, {gm.view(), enAtomic, enSequentialWrite, 1}, true, site);
    ::twin::matmul_wait(client_.ticket, site);
    fetched_ = block_ + 1;
  }
  template <bool sync = true, bool doPad = false>
  TWIN_API void GetTensorC(const LocalTensor<DstT>& co2Local, std::uint8_t enAtomic = 0, bool enSequentialWrite = false,
                           Site site = Site::here()) {
    static_assert(in_ub(C_TYPE::pos), "Matmul: GetTensorC into UB needs C of position VECIN or VECCALC");
    if (enAtomic != 0)
      ::twin::refuse_call("Matmul: GetTensorC with enAtomic into UB: atomic operations are stores to GM", "0", site);
    if (!sync) {
      const GlobalTensor<DstT> block = GetTensorC<false>(0, true, site);
      to_ub(co2Local, block.view(), fetched_ - 1, enSequentialWrite, false, site);
      return;
    }
    if (!computed(site)) return;
    const auto bytes = static_cast<std::uint64_t>(s_.tiling.baseM) * s_.tiling.baseN * sizeof(DstT);
    const ::twin::View space = ::twin::matmul_stage_c(client_, kType<DstT>, bytes);
    ::twin::matmul_fetch(client_, s_, block_, {space, 0, true, kBlockC}, true, site);
    ::twin::matmul_wait(client_.ticket, site);
    to_ub(co2Local, space, block_, enSequentialWrite, true, site);
    fetched_ = block_ + 1;
  }
  template <bool sync = true>
  TWIN_API void GetTensorC(const GlobalTensor<DstT>& gm, const LocalTensor<DstT>& co2Local, std::uint8_t enAtomic = 0,
                           bool enSequentialWrite = false, Site site = Site::here()) {
    const std::int32_t block = block_;
    GetTensorC<sync>(gm, enAtomic, enSequentialWrite, site);
    ::twin::matmul_compute(client_, s_, block, false, site);  // L0C has been emptied
    GetTensorC<sync>(co2Local, 0, enSequentialWrite, site);
  }
  // The next block of Iterate<false>, in the workspace.
  template <bool sync = true>
  TWIN_API GlobalTensor<DstT> GetTensorC(std::uint8_t enAtomic = 0, bool enSequentialWrite = false,
                                         Site site = Site::here()) {
    (void)enAtomic;
    (void)enSequentialWrite;
    static_assert(!sync, "Matmul: the GetTensorC that returns a tensor is for Iterate<false>: GetTensorC<false>()");
    GlobalTensor<DstT> block;
    const auto count = static_cast<std::uint64_t>(s_.tiling.baseM) * s_.tiling.baseN;
    block.SetGlobalBuffer(reinterpret_cast<__gm__ DstT*>(workspace_.addr) + fetched_ * count, count, site);
    ::twin::matmul_wait(first_ticket_ + static_cast<std::uint32_t>(fetched_++), site);
    return block;
  }
  TWIN_API void WaitGetTensorC(Site site = Site::here()) { ::twin::matmul_wait_ub(site); }
  TWIN_API void AsyncGetTensorC(const LocalTensor<DstT>& c, Site site = Site::here()) {
    GetTensorC<false>(c, 0, true, site);
  }

  // ---- all at once ----
  template <bool sync = true>
  TWIN_API void IterateAll(const GlobalTensor<DstT>& gm, std::uint8_t enAtomic = 0, bool enSequentialWrite = false,
                           bool waitIterateAll = false, bool fakeMsg = false, Site site = Site::here()) {
    (void)fakeMsg;
    if (!::twin::matmul_check(s_, site)) return;
    ::twin::matmul_all(client_, s_, {gm.view(), enAtomic, enSequentialWrite, 1}, sync || waitIterateAll, false, site);
    if (sync) {
      ::twin::matmul_wait(client_.ticket, site);
    } else if (waitIterateAll) {
      waited_ = client_.ticket;
    }
  }
  template <bool sync = true>
  TWIN_API void IterateAll(const LocalTensor<DstT>& ubCmatrix, std::uint8_t enAtomic = 0, Site site = Site::here()) {
    static_assert(in_ub(C_TYPE::pos), "Matmul: IterateAll into UB needs C of position VECIN or VECCALC");
    while (Iterate<true>(false, site)) GetTensorC<true>(ubCmatrix, enAtomic, false, site);
  }
  TWIN_API void WaitIterateAll(Site site = Site::here()) {
    if (waited_ == 0)
      ::twin::refuse_call("Matmul: WaitIterateAll without an IterateAll<false> that answers",
                          "IterateAll<false>(gm, 0, false, true)", site);
    ::twin::matmul_wait(waited_, site);
    waited_ = 0;
  }
  // ---- several products of one shape ----
  // One after another; of A or B there may be fewer, then each serves the next few. Strides in elements, 0: as LayoutMode
  // says.
  template <bool sync = true, bool waitIterateBatch = false>
  TWIN_API void IterateBatch(const GlobalTensor<DstT>& gm, std::uint32_t batchA, std::uint32_t batchB,
                             bool enSequentialWrite, const std::uint32_t matrixStrideA = 0,
                             const std::uint32_t matrixStrideB = 0, const std::uint32_t matrixStrideC = 0,
                             const bool enPartialSum = false, const std::uint8_t enAtomic = 0, Site site = Site::here()) {
    (void)enSequentialWrite;  // C's layout says where its matrices lie
    if (enPartialSum) ::twin::refuse_call("Matmul: IterateBatch with enPartialSum", "false: L0C holds one product", site);
    ::twin::MatmulState s = s_;
    ::twin::MatmulBatch batch{batchA > batchB ? batchA : batchB, batchA, batchB};
    const TCubeTiling& t = s.tiling;
    const auto lay_out = [](LayoutMode mode, int b, int n, int g, int width, std::int32_t& line, std::uint64_t stride) {
      if (mode == LayoutMode::BSNGD || mode == LayoutMode::SBNGD) {
        line = (mode == LayoutMode::SBNGD ? b : 1) * n * g * width;
        return static_cast<std::uint64_t>(width);
      }
      return stride;
    };
    const auto matrix = [](std::int32_t rows, std::int32_t columns) { return static_cast<std::uint64_t>(rows) * columns; };
    batch.a_stride = lay_out(A_TYPE::layout, t.ALayoutInfoB, t.ALayoutInfoN, t.ALayoutInfoG, t.ALayoutInfoD,
                             s.a.turned ? s.org_m : s.org_ka, matrix(s.org_m, s.org_ka));
    batch.b_stride = lay_out(B_TYPE::layout, t.BLayoutInfoB, t.BLayoutInfoN, t.BLayoutInfoG, t.BLayoutInfoD,
                             s.b.turned ? s.org_kb : s.org_n, matrix(s.org_kb, s.org_n));
    batch.c_stride = lay_out(C_TYPE::layout, t.CLayoutInfoB, t.CLayoutInfoN, t.CLayoutInfoG, t.CLayoutInfoS2, s.org_c,
                             matrix(s.org_m, s.org_c));
    if (matrixStrideA) batch.a_stride = matrixStrideA;
    if (matrixStrideB) batch.b_stride = matrixStrideB;
    if (matrixStrideC) batch.c_stride = matrixStrideC;
    if (batchA == 0 || batchB == 0 || batch.count % batchA || batch.count % batchB)
      return ::twin::refuse_call("Matmul: IterateBatch with batchA and batchB of which neither divides the other",
                                 "equal numbers, or a multiple", site);
    if (!::twin::matmul_check(s, site)) return;
    ::twin::matmul_all(client_, s, {gm.view(), enAtomic, false, 1}, sync || waitIterateBatch, false, site, batch);
    if (sync) {
      ::twin::matmul_wait(client_.ticket, site);
    } else if (waitIterateBatch) {
      waited_ = client_.ticket;
    }
  }
  // The form of cube cores: the numbers are those of the tiling, or of SetBatchNum.
  template <class Partial, std::enable_if_t<std::is_same<Partial, bool>::value, bool> = true>
  TWIN_API void IterateBatch(const GlobalTensor<DstT>& gm, Partial enPartialSum, std::uint8_t enAtomic,
                             bool enSequentialWrite, const std::uint32_t matrixStrideA = 0,
                             const std::uint32_t matrixStrideB = 0, const std::uint32_t matrixStrideC = 0,
                             Site site = Site::here()) {
    const auto batches = static_cast<std::uint32_t>(s_.tiling.BatchNum > 0 ? s_.tiling.BatchNum : 1);
    IterateBatch<true, false>(gm, batch_a_ ? batch_a_ : batches, batch_b_ ? batch_b_ : batches, enSequentialWrite,
                              matrixStrideA, matrixStrideB, matrixStrideC, enPartialSum, enAtomic, site);
  }
  TWIN_API void SetBatchNum(std::int32_t batchA, std::int32_t batchB) {
    batch_a_ = static_cast<std::uint32_t>(batchA);
    batch_b_ = static_cast<std::uint32_t>(batchB);
  }
  TWIN_API void WaitIterateBatch(Site site = Site::here()) { WaitIterateAll(site); }
  TWIN_API void End() { next_ = 0; }
  TWIN_API const TCubeTiling& GetTiling() const { return s_.tiling; }

 private:
  void set(::twin::MatmulOperand& operand, const ::twin::View& view, bool turned) {
    operand.view = view;
    operand.set = true;
    operand.turned = turned;
    ++operand.generation;
    next_ = 0;
  }
  // Nz: rows are multiples of 16, columns of C0.
  void stage(::twin::MatmulOperand& operand, int which, std::int32_t rows, std::int32_t columns, bool nz, Site site) {
    std::uint64_t count = static_cast<std::uint64_t>(rows) * columns;
    if (nz) {
      const std::int32_t c0 = 32 / static_cast<int>(sizeof(SrcT));
      if (operand.turned) {
        const std::int32_t swapped = rows;
        rows = columns;
        columns = swapped;
      }
      count = static_cast<std::uint64_t>((rows + 15) / 16 * 16) * ((columns + c0 - 1) / c0 * c0);
    }
    if (client_.object < 0 || count == 0) return;  // matmul_check says what is missing
    ::twin::matmul_stage(client_, operand, which, count * ::twin::size_bytes(operand.view.dtype), site);
  }
  bool computed(Site site) {
    if (next_ != 0 || block_ >= 0) return true;
    ::twin::refuse_call("Matmul: GetTensorC without an Iterate before it", "while (mm.Iterate()) mm.GetTensorC(c)", site);
    return false;
  }
  // A block as it lies in GM, rows rounded up to 32 bytes, to its place in UB.
  void to_ub(const LocalTensor<DstT>& c, const ::twin::View& from, std::int32_t index, bool sequential, bool wait,
             Site site) {
    const ::twin::MatmulBlock block = ::twin::matmul_block(s_, index);
    const auto up = [](std::int32_t value, std::int32_t to) {
      return static_cast<std::uint64_t>((value + to - 1) / to * to);
    };
    ::twin::View dst = c.view();
    ::twin::Blocks blocks;
    std::uint64_t offset;
    if (C_TYPE::format == CubeFormat::NZ) {
      const std::uint64_t row = sizeof(DstT) == 4 ? 64 : 32, columns = row / sizeof(DstT), high = up(s_.m, 16);
      blocks.count = static_cast<std::uint32_t>(up(block.n, static_cast<std::int32_t>(columns)) / columns);
      blocks.bytes = up(block.m, 16) * row;
      blocks.dst_step = (sequential ? up(block.m, 16) : high) * row;
      offset = (block.column / columns * high + block.row) * row;
    } else {
      const std::uint64_t wide = up(s_.n, kBlockC);
      blocks.count = static_cast<std::uint32_t>(block.m);
      blocks.bytes = up(block.n, kBlockC) * sizeof(DstT);
      blocks.dst_step = sequential ? blocks.bytes : wide * sizeof(DstT);
      offset = (block.row * wide + block.column) * sizeof(DstT);
    }
    blocks.src_step = blocks.bytes;
    if (blocks.dst_step == blocks.bytes) {
      blocks.bytes *= blocks.count;
      blocks.count = 1;
    }
    if (!sequential) {
      dst.addr += offset;
      dst.bytes = dst.bytes > offset ? dst.bytes - offset : 1;
    }
    ::twin::matmul_to_ub(dst, from, blocks, wait, site);
  }

  ::twin::MatmulState s_;
  ::twin::MatmulClient client_;
  ::twin::View workspace_;
  std::int32_t next_ = 0, block_ = -1, fetched_ = 0;
  std::uint32_t first_ticket_ = 0, waited_ = 0, batch_a_ = 0, batch_b_ = 0;
};

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto& MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<>, class... MATMUL_POLICY>
using Matmul = MatmulImpl<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY...>;

namespace detail {
// An object, or an object and its tiling, and so on.
inline const TCubeTiling* tiling_pointer(const TCubeTiling* tiling) { return tiling; }
inline const TCubeTiling* tiling_pointer(const TCubeTiling& tiling) { return &tiling; }
inline const TCubeTiling* tiling_pointer(std::nullptr_t) { return nullptr; }
inline void init_matmul(TPipe*) {}
template <class Object>
void init_matmul(TPipe* pipe, Object& object) {
  object.Init(nullptr, pipe);
}
template <class Object, class Tiling, class... More>
void init_matmul(TPipe* pipe, Object& object, Tiling&& tiling, More&&... more) {
  object.Init(tiling_pointer(tiling), pipe);
  init_matmul(pipe, more...);
}
template <class Workspace, class... Objects>
bool register_matmul(bool serve, Site site, TPipe* pipe, const Workspace&, Objects&&... objects) {
  init_matmul(pipe, objects...);
  return serve && ::twin::matmul_serve(site);
}
}  // namespace detail
}  // namespace AscendC
