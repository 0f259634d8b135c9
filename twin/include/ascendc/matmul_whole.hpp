// SPDX-License-Identifier: Apache-2.0
// Matmul all at once: one product, several, or several times several.
#pragma once

#include "ascendc/matmul_setup.hpp"

namespace AscendC {
namespace detail {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE, const auto& MM_CFG, class MM_CB>
class MatmulWhole : public MatmulSetup<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB> {
  using Setup = MatmulSetup<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB>;

 protected:
  using Setup::client_, Setup::kBlockC, Setup::s_, Setup::waited_, Setup::workspace_;
  using typename Setup::DstT;

 public:
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
  TWIN_API void WaitIterateAll(Site site = Site::here()) {
    if (waited_ == 0 && !Setup::kCubeCallsToo)
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
    static_assert(!Setup::kCubeCallsToo, "Matmul: with enableMixDualMaster C comes by IterateAll to GM only");
    (void)enSequentialWrite;  // C's layout says where its matrices lie
    if (enPartialSum) ::twin::refuse_call("Matmul: IterateBatch with enPartialSum", "false: L0C holds one product", site);
    ::twin::MatmulState s = s_;
    const ::twin::MatmulBatch batch = lay_out(s, batchA, batchB, matrixStrideA, matrixStrideB, matrixStrideC);
    if (!divide(batchA, batchB, site) || !whole_bytes(batch, site) || !::twin::matmul_check(s, site)) return;
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
  // batchLoop times as many, one batch behind another in A, B and the workspace; each is fetched by GetBatchTensorC.
  template <bool sync = true, bool waitIterateBatch = false>
  TWIN_API void IterateNBatch(const std::uint32_t batchLoop, std::uint32_t batchA, std::uint32_t batchB,
                              bool enSequentialWrite, const std::uint32_t matrixStrideA = 0,
                              const std::uint32_t matrixStrideB = 0, const std::uint32_t matrixStrideC = 0,
                              Site site = Site::here()) {
    static_assert(!Setup::kCubeCallsToo, "Matmul: with enableMixDualMaster C comes by IterateAll to GM only");
    (void)enSequentialWrite;  // batches lie one behind another in the workspace
    ::twin::MatmulState s = s_;
    ::twin::MatmulBatch batch =
        lay_out(s, batchA * batchLoop, batchB * batchLoop, matrixStrideA, matrixStrideB, matrixStrideC);
    if (!divide(batchA, batchB, site) || !whole_bytes(batch, site)) return;
    const TCubeTiling& t = s.tiling;
    const auto crosses = [&](LayoutMode mode, std::uint32_t count, int n, int g) {
      return mode == LayoutMode::BSNGD && count > static_cast<std::uint32_t>(n * g);
    };
    if (crosses(A_TYPE::layout, batch.a_count, t.ALayoutInfoN, t.ALayoutInfoG) ||
        crosses(B_TYPE::layout, batch.b_count, t.BLayoutInfoN, t.BLayoutInfoG))
      return ::twin::refuse_call("Matmul: IterateNBatch over more than one B of a BSNGD layout", "one call each", site);
    if (workspace_.addr == 0)
      return ::twin::refuse_call("Matmul: IterateNBatch without a workspace for its results", "SetWorkspace before it",
                                 site);
    if (!::twin::matmul_check(s, site)) return;
    batch.group = batchA > batchB ? batchA : batchB;
    s.org_m = s.m;
    s.org_c = s.n;
    batch.c_stride = matrixStrideC ? matrixStrideC : c_elements();
    ::twin::matmul_all(client_, s, {workspace_, 0, false, 1}, true, false, site, batch);
    first_batch_ = client_.ticket;
    batches_ = batchLoop;
    fetched_batches_ = 0;
    batch_elements_ = batch.group * batch.c_stride;
    if (sync) {
      for (std::uint32_t k = 0; k < batchLoop; ++k) ::twin::matmul_wait(first_batch_ + k, site);
      first_batch_ = 0;
    } else if (waitIterateBatch && batchLoop) {  // WaitIterateBatch then waits for the last, and so for all
      waited_ = first_batch_ + batchLoop - 1;
      first_batch_ = 0;
    }
  }
  // The results of the next batch: max(batchA, batchB) matrices.
  template <bool sync = true>
  TWIN_API GlobalTensor<DstT> GetBatchTensorC(std::uint32_t batchA = 0, std::uint32_t batchB = 0,
                                              bool enSequentialWrite = false, Site site = Site::here()) {
    (void)batchA;
    (void)batchB;
    (void)enSequentialWrite;
    GlobalTensor<DstT> batch;
    if (fetched_batches_ >= batches_) {
      ::twin::refuse_call("Matmul: GetBatchTensorC more often than the batchLoop of IterateNBatch", "once a batch", site);
      return batch;
    }
    batch.SetGlobalBuffer(reinterpret_cast<__gm__ DstT*>(workspace_.addr) + fetched_batches_ * batch_elements_,
                          batch_elements_, site);
    if (first_batch_) ::twin::matmul_wait(first_batch_ + fetched_batches_, site);
    ++fetched_batches_;
    return batch;
  }
  template <bool sync = true>
  TWIN_API void GetBatchTensorC(const LocalTensor<DstT>& c, std::uint32_t batchA = 0, std::uint32_t batchB = 0,
                                bool enSequentialWrite = false, Site site = Site::here()) {
    static_assert(Setup::in_ub(C_TYPE::pos), "Matmul: GetBatchTensorC into UB needs C of position VECIN or VECCALC");
    if (C_TYPE::format == CubeFormat::ND && s_.n % kBlockC)
      return ::twin::refuse_call("Matmul: GetBatchTensorC into UB of rows that do not fill blocks of 32 bytes",
                                 "CubeFormat::ND_ALIGN for C", site);
    const GlobalTensor<DstT> batch = GetBatchTensorC<sync>(batchA, batchB, enSequentialWrite, site);
    const std::uint64_t bytes = batch.GetSize() * sizeof(DstT);
    if (bytes) ::twin::matmul_to_ub(c.view(), batch.view(), {1, bytes, bytes, bytes}, sync, site);
  }
  // By its older name.
  template <bool sync = true>
  TWIN_API GlobalTensor<DstT> GetBatchC(std::uint32_t batchA, std::uint32_t batchB, bool enSequentialWrite = false,
                                        Site site = Site::here()) {
    return GetBatchTensorC<sync>(batchA, batchB, enSequentialWrite, site);
  }
  template <bool sync = true>
  TWIN_API void GetBatchC(const LocalTensor<DstT>& c, std::uint32_t batchA, std::uint32_t batchB,
                          bool enSequentialWrite = false, Site site = Site::here()) {
    GetBatchTensorC<sync>(c, batchA, batchB, enSequentialWrite, site);
  }
  TWIN_API void WaitIterateBatch(Site site = Site::here()) { WaitIterateAll(site); }

 private:
  // Where the matrices of a batch lie; the state gets the lengths of their rows.
  ::twin::MatmulBatch lay_out(::twin::MatmulState& s, std::uint32_t batchA, std::uint32_t batchB,
                              std::uint32_t matrixStrideA, std::uint32_t matrixStrideB, std::uint32_t matrixStrideC) const {
    ::twin::MatmulBatch batch{batchA > batchB ? batchA : batchB, batchA, batchB};
    const TCubeTiling& t = s.tiling;
    const auto stride_of = [](LayoutMode mode, int b, int n, int g, int width, std::int32_t& line, std::uint64_t stride) {
      if (mode == LayoutMode::BSNGD || mode == LayoutMode::SBNGD) {
        line = (mode == LayoutMode::SBNGD ? b : 1) * n * g * width;
        return static_cast<std::uint64_t>(width);
      }
      return stride;
    };
    const auto matrix = [](std::int32_t rows, std::int32_t columns) { return static_cast<std::uint64_t>(rows) * columns; };
    batch.a_stride = stride_of(A_TYPE::layout, t.ALayoutInfoB, t.ALayoutInfoN, t.ALayoutInfoG, t.ALayoutInfoD,
                               s.a.turned ? s.org_m : s.org_ka, matrix(s.org_m, s.org_ka));
    batch.b_stride = stride_of(B_TYPE::layout, t.BLayoutInfoB, t.BLayoutInfoN, t.BLayoutInfoG, t.BLayoutInfoD,
                               s.b.turned ? s.org_kb : s.org_n, matrix(s.org_kb, s.org_n));
    batch.c_stride = stride_of(C_TYPE::layout, t.CLayoutInfoB, t.CLayoutInfoN, t.CLayoutInfoG, t.CLayoutInfoS2, s.org_c,
                               matrix(s.org_m, s.org_c));
    if (matrixStrideA) batch.a_stride = matrixStrideA;
    if (matrixStrideB) batch.b_stride = matrixStrideB;
    if (matrixStrideC) batch.c_stride = matrixStrideC;
    return batch;
  }
  bool divide(std::uint32_t batchA, std::uint32_t batchB, Site site) const {
    if (batchA != 0 && batchB != 0 && (batchA % batchB == 0 || batchB % batchA == 0)) return true;
    ::twin::refuse_call("Matmul: IterateBatch with batchA and batchB of which neither divides the other",
                        "equal numbers, or a multiple", site);
    return false;
  }
  // Where a matrix of int4b_t begins, a byte begins.
  static bool whole_bytes(const ::twin::MatmulBatch& batch, Site site) {
    if (!Setup::kPairs || (batch.a_stride % 2 == 0 && batch.b_stride % 2 == 0)) return true;
    ::twin::refuse_call("Matmul: IterateBatch over matrices of int4b_t an odd number of elements apart", "even strides",
                        site);
    return false;
  }
  std::uint64_t c_elements() const {  // of one matrix with its padding
    const auto up = [](std::int32_t value, int to) { return static_cast<std::uint64_t>((value + to - 1) / to * to); };
    if (C_TYPE::format == CubeFormat::NZ) return up(s_.m, 16) * up(s_.n, sizeof(DstT) == 4 ? 16 : kBlockC);
    return static_cast<std::uint64_t>(s_.m) * (C_TYPE::format == CubeFormat::ND_ALIGN ? up(s_.n, kBlockC) : up(s_.n, 1));
  }

  std::uint32_t batch_a_ = 0, batch_b_ = 0;                            // SetBatchNum
  std::uint32_t first_batch_ = 0, batches_ = 0, fetched_batches_ = 0;  // IterateNBatch: its first ticket
  std::uint64_t batch_elements_ = 0;
};

}  // namespace detail
}  // namespace AscendC
