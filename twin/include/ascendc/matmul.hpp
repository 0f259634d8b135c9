// SPDX-License-Identifier: Apache-2.0
// Matmul: C = A · B + bias. On a cube core the object computes; on a vector core it asks the cube core of its block.
//   Iterate: one base block, baseM × baseN of C; GetTensorC fetches it      IterateAll: all of singleCoreM × singleCoreN
#pragma once

#include "ascendc/matmul_whole.hpp"

namespace AscendC {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto& MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<>, class... MATMUL_POLICY>
class MatmulImpl : public detail::MatmulWhole<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB> {
  using Whole = detail::MatmulWhole<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB>;
  using typename Whole::DstT;
  using Whole::client_, Whole::in_l1, Whole::in_ub, Whole::kBlockC, Whole::kCInL0c, Whole::next_, Whole::s_,
      Whole::workspace_;
  template <class T>
  static constexpr ::twin::DType kType = ::twin::DTypeOf<T>::kValue;

 public:
  using Whole::IterateAll;
  // ---- base block by base block ----
  template <bool sync = true>
  TWIN_API bool Iterate(bool enPartialSum = false, Site site = Site::here()) {
    static_assert(!kCInL0c, "Matmul: with C of CO1 the kernel gives Iterate the tensor for its block");
    static_assert(!Whole::kCubeCallsToo, "Matmul: with enableMixDualMaster C comes by IterateAll to GM only");
    if (!next_block(enPartialSum, site)) return false;
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
  // Into L0C of the kernel's own: fractals of 16 × 16 in columns as high as the block, rounded up to 16. The kernel's
  // Fixpipe takes it out, behind its flag from M to FIX.
  template <bool sync = true, class T>
  TWIN_API bool Iterate(bool enPartialSum, const LocalTensor<T>& localCmatrix, Site site = Site::here()) {
    static_assert(kCInL0c, "Matmul: Iterate into a tensor of CO1 needs C of position CO1");
    static_assert(std::is_same<T, std::conditional_t<Whole::kIntegers, std::int32_t, float>>::value,
                  "Matmul: what Iterate leaves in CO1 is float, or int32_t of int8_t and int4b_t matrices");
    if (!next_block(enPartialSum, site)) return false;
    if (localCmatrix.view().space != ::twin::Space::L0C) {
      ::twin::refuse_call("Matmul: Iterate into a tensor that does not lie in CO1", "AllocTensor from a queue of CO1", site);
      return false;
    }
    ::twin::matmul_compute(client_, s_, block_, enPartialSum, site, &localCmatrix.view());
    return true;
  }
  template <bool sync = true>
  TWIN_API void GetTensorC(const GlobalTensor<DstT>& gm, std::uint8_t enAtomic = 0, bool enSequentialWrite = false,
                           Site site = Site::here()) {
    static_assert(sync, "Matmul: GetTensorC<false> to GM; take the tensor that GetTensorC<false>() returns");
    static_assert(!kCInL0c, "Matmul: with C of CO1 the kernel's own Fixpipe takes it out");
    if (!computed(site)) return;
    ::twin::matmul_fetch(client_, s_, block_, {gm.view(), enAtomic, enSequentialWrite, 1}, true, site);
    ::twin::matmul_wait(client_.ticket, site);
    fetched_ = block_ + 1;
  }
  template <bool sync = true, bool doPad = false>
  TWIN_API void GetTensorC(const LocalTensor<DstT>& co2Local, std::uint8_t enAtomic = 0, bool enSequentialWrite = false,
                           Site site = Site::here()) {
    static_assert(in_ub(C_TYPE::pos) || in_l1(C_TYPE::pos),
                  "Matmul: GetTensorC into a local tensor needs C of position VECIN, VECCALC or TSCM");
    if (enAtomic != 0)
      ::twin::refuse_call("Matmul: GetTensorC with enAtomic into local memory: atomic operations are stores to GM", "0",
                          site);
    if (in_l1(C_TYPE::pos)) {
      static_assert(sync || !in_l1(C_TYPE::pos), "Matmul: GetTensorC<false> into TSCM; GetTensorC<true> returns at once");
      if (!computed(site)) return;
      ::twin::matmul_fetch(client_, of_its_own_height(), block_, {co2Local.view(), 0, enSequentialWrite, 1}, true, site);
      ::twin::matmul_wait(client_.ticket, site);
      fetched_ = block_ + 1;
      return;
    }
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
  template <bool sync = true>
  TWIN_API void IterateAll(const LocalTensor<DstT>& ubCmatrix, std::uint8_t enAtomic = 0, Site site = Site::here()) {
    static_assert(in_ub(C_TYPE::pos) || in_l1(C_TYPE::pos),
                  "Matmul: IterateAll into a local tensor needs C of position VECIN, VECCALC or TSCM");
    while (Iterate<true>(false, site)) GetTensorC<true>(ubCmatrix, enAtomic, false, site);
  }

 private:
  // C in L1 has the rows of singleCoreM, whatever the whole matrix has.
  ::twin::MatmulState of_its_own_height() const {
    ::twin::MatmulState s = s_;
    s.org_m = s.m;
    return s;
  }
  bool next_block(bool adds, Site site) {
    if (!::twin::matmul_check(s_, site)) return false;
    const std::int32_t blocks = ::twin::matmul_blocks_m(s_) * ::twin::matmul_blocks_n(s_);
    if (next_ >= blocks) {
      next_ = 0;
      return false;
    }
    if (adds && blocks != 1) {
      ::twin::refuse_call("Matmul: Iterate with enPartialSum over more than one base block: L0C holds one",
                          "singleCoreM = baseM and singleCoreN = baseN", site);
      return false;
    }
    block_ = next_++;
    return true;
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

  std::int32_t block_ = -1, fetched_ = 0;
  std::uint32_t first_ticket_ = 0;
};

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto& MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<>, class... MATMUL_POLICY>
using Matmul = MatmulImpl<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY...>;

namespace detail {
// An object, or an object and its tiling, and so on.
inline const TCubeTiling* tiling_pointer(const TCubeTiling* tiling) { return tiling; }
inline const TCubeTiling* tiling_pointer(const TCubeTiling& tiling) { return &tiling; }
inline const TCubeTiling* tiling_pointer(std::nullptr_t) { return nullptr; }
inline void init_matmul(Site, TPipe*) {}
template <class Object>
void init_matmul(Site site, TPipe* pipe, Object& object) {
  object.Init(nullptr, pipe, site);
}
template <class Object, class Tiling, class... More>
void init_matmul(Site site, TPipe* pipe, Object& object, Tiling&& tiling, More&&... more) {
  object.Init(tiling_pointer(tiling), pipe, site);
  init_matmul(site, pipe, more...);
}
template <class Object>
constexpr auto is_matmul(int) -> decltype(Object::kCubeCallsToo, 0) {
  return 1;
}
template <class Object>
constexpr int is_matmul(long) {
  return 0;
}
template <class Object>
constexpr auto alone(int) -> decltype(Object::kCubeCallsToo, 0) {
  return Object::kCubeCallsToo;
}
template <class Object>
constexpr int alone(long) {
  return 0;
}
template <class Workspace, class... Objects>
bool register_matmul(bool serve, Site site, TPipe* pipe, const Workspace&, Objects&&... objects) {
  init_matmul(site, pipe, objects...);
  constexpr int kAlone = (alone<std::decay_t<Objects>>(0) + ...), kAll = (is_matmul<std::decay_t<Objects>>(0) + ...);
  static_assert(kAlone == 0 || kAlone == kAll, "Matmul: enableMixDualMaster is the same for all objects of an operator");
  return serve && kAlone == 0 && ::twin::matmul_serve(site);
}
}  // namespace detail
}  // namespace AscendC
