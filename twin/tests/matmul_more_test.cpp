// SPDX-License-Identifier: Apache-2.0
// Matmul beyond one product: batches, partial sums, several objects, operands in UB, copies of the kernel's own.
#include "matmul_cases.hpp"

// As a kernel that has a CeilDiv and uses the library's namespace.
template <class T>
inline T CeilDiv(T a, T b) {
  return 100 * ((a + b - 1) / b);
}
namespace with_the_library {
using namespace matmul;
inline std::uint32_t own(std::uint32_t a) { return CeilDiv(a, 32u); }
}  // namespace with_the_library

namespace twin_test {
namespace {

using namespace AscendC;
using F = CubeFormat;
template <class T, bool kTrans = false, LayoutMode kLayout = LayoutMode::NONE, TPosition kPlace = TPosition::GM>
using In = MatmulType<kPlace, F::ND, T, kTrans, kLayout>;

// Runs a kernel of a mix type, with three inputs and an output.
using Kernel = void(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR, TCubeTiling);
template <Kernel* kKernel>
std::vector<float> run(const std::vector<half>& a, const std::vector<half>& b, const std::vector<half>& c, std::size_t count,
                       const TCubeTiling& t) {
  Device<half> da(a), db(b), dc(c);
  Device<float> out(std::vector<float>(count, 55.0f));
  twin::take_findings();
  twin::launcher<Kernel, kKernel>(1).auto_sync(false).as(twin::KernelType::MixAic12)(da, db, dc, out, t);
  EXPECT_SILENT();
  return out.values();
}
std::vector<half> numbers(std::size_t n, int seed) {
  std::vector<half> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(static_cast<int>((i * 7 + seed) % 11) - 5);
  return out;
}
TCubeTiling tiling(int m, int n, int k, int base = 32) {
  matmul_tiling::MatmulApiTiling choice;
  choice.SetShape(m, n, k);
  choice.SetFixSplit(base, base, -1);
  TCubeTiling t;
  EXPECT_EQ(choice.GetTiling(t), 0);
  return t;
}
template <class T>
GlobalTensor<T> global(GM_ADDR p) {
  GlobalTensor<T> t;
  t.SetGlobalBuffer((__gm__ T*)p);
  return t;
}

// ---- batches ----
// Products of m × k matrices with n × k ones, each of which serves two.
struct PairedBatch {
  int products, m, n, k;
};
template <class C>
void expect_products(const PairedBatch& p, const std::vector<half>& a, const std::vector<half>& b, const C& c) {
  for (int q = 0; q < p.products; ++q) {
    for (int r = 0; r < p.m; ++r) {
      for (int j = 0; j < p.n; ++j) {
        float sum = 0;
        for (int i = 0; i < p.k; ++i) sum += float(a[(q * p.m + r) * p.k + i]) * float(b[(q / 2 * p.n + j) * p.k + i]);
        ASSERT_EQ(c[(q * p.m + r) * p.n + j], sum) << q << ", " << r << ", " << j;
      }
    }
  }
}
void batches(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR c, TCubeTiling t) {
  TPipe pipe;
  Matmul<In<half, false, LayoutMode::NORMAL>, In<half, true, LayoutMode::NORMAL>, In<float, false, LayoutMode::NORMAL>> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  if (GetSubBlockIdx() != 0) return;
  mm.SetTensorA(global<half>(a));
  mm.SetTensorB(global<half>(b), true);
  mm.IterateBatch(global<float>(c), 4, 2, false);
}
TEST(MatmulBatch, FewerMatricesServeSeveralProducts) {
  constexpr int kM = 40, kN = 24, kK = 48;
  const auto a = numbers(4 * kM * kK, 1), b = numbers(2 * kN * kK, 2);
  const auto c = run<batches>(a, b, a, 4 * kM * kN, tiling(kM, kN, kK));
  expect_products({4, kM, kN, kK}, a, b, c);
}
// Three batches of two products by one call; half of the results through UB, half from the workspace.
enum class Fetch { Sync, Async, Waited };
template <Fetch kFetch>
void batches_of_batches(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR c, TCubeTiling t) {
  TPipe pipe;
  Matmul<In<half, false, LayoutMode::NORMAL>, In<half, true, LayoutMode::NORMAL>,
         In<float, false, LayoutMode::NORMAL, TPosition::VECIN>>
      mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  if (GetSubBlockIdx() != 0) return;
  const int one = t.M * t.N;
  TBuf<TPosition::VECIN> buffer;
  pipe.InitBuffer(buffer, 2 * one * 4);
  GlobalTensor<float> space = global<float>(c)[6 * one];
  mm.SetWorkspace(space);
  mm.SetTensorA(global<half>(a));
  mm.SetTensorB(global<half>(b), true);
  mm.template IterateNBatch<kFetch == Fetch::Sync, kFetch == Fetch::Waited>(3, 2, 1, false);
  if (kFetch == Fetch::Waited) mm.WaitIterateBatch();
  constexpr bool kSync = kFetch == Fetch::Sync;
  LocalTensor<float> tile = buffer.Get<float>();
  for (int loop = 0; loop < 3; ++loop) {
    if (loop == 1) {
      const GlobalTensor<float> batch = mm.template GetBatchC<kSync>(2, 1);
      DataCopy(tile, batch, 2 * one);
    } else {
      mm.template GetBatchTensorC<kSync>(tile, 2, 1);
    }
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID5);
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID5);
    DataCopy(global<float>(c)[loop * 2 * one], tile, 2 * one);
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID5);
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID5);
  }
}
template <Fetch kFetch>
void check_batches_of_batches() {
  constexpr int kM = 40, kN = 24, kK = 48;
  const auto a = numbers(6 * kM * kK, 1), b = numbers(3 * kN * kK, 2);
  const auto c = run<batches_of_batches<kFetch>>(a, b, a, 12 * kM * kN, tiling(kM, kN, kK));
  expect_products({6, kM, kN, kK}, a, b, c);
}
TEST(MatmulBatch, SeveralBatchesByOneCall) {
  check_batches_of_batches<Fetch::Sync>();
  check_batches_of_batches<Fetch::Async>();
  check_batches_of_batches<Fetch::Waited>();
}
void too_many_batches(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR c, TCubeTiling t) {
  TPipe pipe;
  Matmul<In<half, false, LayoutMode::NORMAL>, In<half, true, LayoutMode::NORMAL>, In<float, false, LayoutMode::NORMAL>> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  if (GetSubBlockIdx() != 0) return;
  mm.SetTensorA(global<half>(a));
  mm.SetTensorB(global<half>(b), true);
  mm.IterateNBatch<false>(2, 1, 1, false);  // no workspace
  GlobalTensor<float> space = global<float>(c);
  mm.SetWorkspace(space);
  mm.IterateNBatch<false>(2, 1, 1, false);
  for (int loop = 0; loop < 3; ++loop) mm.GetBatchTensorC<false>(1, 1);
}
TEST(MatmulBatch, SaysWhatIsWrongWithSeveral) {
  constexpr int kM = 32, kN = 32, kK = 32;
  Device<half> a(numbers(2 * kM * kK, 1)), b(numbers(2 * kN * kK, 2));
  Device<float> c(2 * kM * kN);
  twin::take_findings();
  twin::launcher<Kernel, too_many_batches>(1).as(twin::KernelType::MixAic12)(a, b, a, c, tiling(kM, kN, kK));
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 2u) << text(found);
  EXPECT_NE(found[0].what.find("IterateNBatch without a workspace"), std::string::npos) << text(found);
  EXPECT_NE(found[1].what.find("GetBatchTensorC more often than the batchLoop"), std::string::npos) << text(found);
}
void heads(GM_ADDR q, GM_ADDR k, GM_ADDR, GM_ADDR s, TCubeTiling t) {
  TPipe pipe;
  Matmul<In<half, false, LayoutMode::BSNGD>, In<half, true, LayoutMode::BSNGD>, In<float, false, LayoutMode::BNGS1S2>> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  if (GetSubBlockIdx() != 0) return;
  mm.SetTensorA(global<half>(q));
  mm.SetTensorB(global<half>(k), true);
  mm.IterateBatch<false, true>(global<float>(s), 6, 3, false);
  mm.WaitIterateBatch();
}
TEST(MatmulBatch, HeadsBesideEachOther) {  // S = Q Kᵀ of 3 heads, 2 query heads each; row: 6 or 3 heads of 16
  constexpr int kS1 = 24, kS2 = 40, kD = 16;
  matmul_tiling::BatchMatmulTiling choice;
  choice.SetShape(kS1, kS2, kD);
  choice.SetALayout(1, kS1, 3, 2, kD);
  choice.SetBLayout(1, kS2, 3, 1, kD);
  choice.SetCLayout(1, kS1, 3, 2, kS2);
  choice.SetBatchNum(6);
  TCubeTiling t;
  ASSERT_EQ(choice.GetTiling(t), 0);
  const auto q = numbers(kS1 * 6 * kD, 3), k = numbers(kS2 * 3 * kD, 4);
  const auto s = run<heads>(q, k, q, 6 * kS1 * kS2, t);
  for (int h = 0; h < 6; ++h) {
    for (int r = 0; r < kS1; ++r) {
      for (int j = 0; j < kS2; ++j) {
        float sum = 0;
        for (int d = 0; d < kD; ++d) sum += float(q[(r * 6 + h) * kD + d]) * float(k[(j * 3 + h / 2) * kD + d]);
        ASSERT_EQ(s[(h * kS1 + r) * kS2 + j], sum) << h << ", " << r << ", " << j;
      }
    }
  }
}

// ---- partial sums, two objects ----
void partial(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR c, TCubeTiling t) {
  TPipe pipe;
  Matmul<In<half>, In<half>, In<float>> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  if (GetSubBlockIdx() != 0) return;
  for (int part = 0; part < 3; ++part) {  // A (32, 96), B (96, 32) in slices of 32 of K
    mm.SetTensorA(global<half>(a)[part * 32]);
    mm.SetTensorB(global<half>(b)[part * 32 * 32]);
    mm.SetSingleShape(32, 32, 32);
    mm.Iterate(part > 0);
  }
  mm.GetTensorC(global<float>(c));
  mm.End();
}
TEST(Matmul, AddsUpPartialSums) {
  const auto a = numbers(32 * 96, 1), b = numbers(96 * 32, 2);
  const auto c = run<partial>(a, b, a, 32 * 32, tiling(32, 32, 96));
  for (int r = 0; r < 32; ++r) {
    for (int j = 0; j < 32; ++j) {
      float sum = 0;
      for (int k = 0; k < 96; ++k) sum += float(a[r * 96 + k]) * float(b[k * 32 + j]);
      ASSERT_EQ(c[r * 32 + j], sum);
    }
  }
}
// (A B) C on both vector cores, each its 32 rows: the first product leaves as half in GM, the second reads it there, and is
// asked for by another object. It is also read through UB.
void chain(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR out, TCubeTiling t) {
  TPipe pipe;
  Matmul<In<half>, In<half>, MatmulType<TPosition::VECIN, F::ND, float>> first;
  Matmul<In<half, false, LayoutMode::NONE, TPosition::VECOUT>, In<half>, In<float>> second;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), first, &t, second, &t);
  const int mine = static_cast<int>(GetSubBlockIdx()) * 32 * 32;
  TBuf<TPosition::VECCALC> wide, narrow;
  pipe.InitBuffer(wide, 32 * 32 * sizeof(float));
  pipe.InitBuffer(narrow, 32 * 32 * sizeof(half));
  LocalTensor<float> product = wide.Get<float>();
  LocalTensor<half> rounded = narrow.Get<half>();
  first.SetTensorA(global<half>(a)[mine]);
  first.SetTensorB(global<half>(b));
  first.Iterate();
  first.GetTensorC(product, 0, true);
  first.End();
  Cast(rounded, product, RoundMode::CAST_NONE, 32 * 32);
  second.SetTensorA(rounded);
  second.SetTensorB(global<half>(c));
  second.IterateAll(global<float>(out)[mine]);
  second.End();
}
TEST(Matmul, TwoObjectsAndAnOperandInUb) {
  std::vector<half> a = numbers(64 * 32, 1), b = numbers(32 * 32, 2), c = numbers(32 * 32, 3);
  const auto out = run<chain>(a, b, c, 64 * 32, tiling(32, 32, 32));
  for (int r = 0; r < 64; ++r) {
    float first[32] = {};
    for (int j = 0; j < 32; ++j) {
      for (int k = 0; k < 32; ++k) first[j] += float(a[r * 32 + k]) * float(b[k * 32 + j]);
    }
    for (int j = 0; j < 32; ++j) {
      float sum = 0;
      for (int k = 0; k < 32; ++k) sum += first[k] * float(c[k * 32 + j]);
      ASSERT_EQ(out[r * 32 + j], sum) << r << ", " << j;
    }
  }
}

// A and B in UB, product after product of one object: what the cube core may still read has been waited for, with C.
template <bool kAll>
void again(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR out, TCubeTiling t) {
  TPipe pipe;
  Matmul<In<half, false, LayoutMode::NONE, TPosition::VECOUT>, In<half, false, LayoutMode::NONE, TPosition::VECOUT>,
         MatmulType<TPosition::VECIN, F::ND, float>>
      mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  TQue<TPosition::VECOUT, 1> product;
  TBuf<TPosition::VECOUT> left, right;
  pipe.InitBuffer(product, 1, 32 * 32 * sizeof(float));
  pipe.InitBuffer(left, 32 * 32 * sizeof(half));
  pipe.InitBuffer(right, 32 * 32 * sizeof(half));
  LocalTensor<half> l = left.Get<half>(), r = right.Get<half>();
  for (int round = static_cast<int>(GetSubBlockIdx()); round < 5; round += 2) {
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    DataCopy(l, global<half>(a)[round * 32 * 32], 32 * 32);
    DataCopy(r, global<half>(b), 32 * 32);
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    mm.SetTensorA(l);
    mm.SetTensorB(r);
    LocalTensor<float> c = product.AllocTensor<float>();
    if (kAll) {
      mm.IterateAll(c);
    } else {
      while (mm.Iterate<true>()) mm.GetTensorC<true>(c, false, true);
    }
    product.EnQue(c);
    c = product.DeQue<float>();
    DataCopy(global<float>(out)[round * 32 * 32], c, 32 * 32);
    product.FreeTensor(c);
  }
  mm.End();
}
TEST(Matmul, AsksAgainWithOperandsInUb) {
  const auto a = numbers(5 * 32 * 32, 1), b = numbers(32 * 32, 2);
  for (const bool all : {false, true}) {
    const auto out = all ? run<again<true>>(a, b, b, 5 * 32 * 32, tiling(32, 32, 32))
                         : run<again<false>>(a, b, b, 5 * 32 * 32, tiling(32, 32, 32));
    for (int r = 0; r < 5 * 32; ++r) {
      for (int j = 0; j < 32; ++j) {
        float sum = 0;
        for (int k = 0; k < 32; ++k) sum += float(a[r * 32 + k]) * float(b[k * 32 + j]);
        ASSERT_EQ(out[r * 32 + j], sum) << all << ", " << r << ", " << j;
      }
    }
  }
}

// ---- tiling that is known at compile time ----
constexpr MatmulConfig kShape = GetMMConfig<MatmulConfigMode::CONFIG_MDL>(MatmulShapeParams{48, 80, 200, 32, 32, 32});
constexpr MatmulApiStaticTiling kStatic = GetMatmulApiTiling<In<half>, In<half>, In<float>>(kShape);
static_assert(kStatic.baseM == 32 && kStatic.baseK == 32 && kStatic.depthA1 == 2 * kStatic.step_k, "as asked");
void constant(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR c, TCubeTiling) {
  TPipe pipe;
  Matmul<In<half>, In<half>, In<float>, In<float>, kStatic> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, (TCubeTiling*)nullptr);
  if (GetSubBlockIdx() != 0) return;
  mm.SetTensorA(global<half>(a));
  mm.SetTensorB(global<half>(b));
  mm.IterateAll(global<float>(c));
}
TEST(MatmulHelpers, CeilDivGivesWayToAKernelsOwn) {
  EXPECT_EQ(matmul::CeilDiv(33u, 32) * 32, 64);
  EXPECT_EQ(matmul::CeilDiv(std::uint64_t{64}, std::int16_t{32}), 2);
  EXPECT_EQ(with_the_library::own(33), 200u) << "the kernel's own";
}
TEST(Matmul, ConstantTiling) {
  const auto a = numbers(48 * 200, 1), b = numbers(200 * 80, 2);
  const auto c = run<constant>(a, b, a, 48 * 80, {});
  for (int r = 0; r < 48; ++r) {
    for (int j = 0; j < 80; ++j) {
      float sum = 0;
      for (int k = 0; k < 200; ++k) sum += float(a[r * 200 + k]) * float(b[k * 80 + j]);
      ASSERT_EQ(c[r * 80 + j], sum) << r << ", " << j;
    }
  }
}

// ---- operands in L1 ----
// An operand of rows × columns, in NZ at TSCM. The kernel fills it, and orders that before Matmul reads it.
void fill_l1(TPipe& pipe, TBuf<TPosition::A1>& buffer, GM_ADDR from, int rows, int columns, bool flag) {
  const auto high = static_cast<std::uint16_t>((rows + 15) / 16 * 16);
  pipe.InitBuffer(buffer, high * columns * 2);
  LocalTensor<half> tile = buffer.Get<half>();
  DataCopy(tile, global<half>(from),
           Nd2NzParams(1, static_cast<std::uint16_t>(rows), static_cast<std::uint16_t>(columns), 0,
                       static_cast<std::uint16_t>(columns), high, 1, 0));
  if (!flag) return;
  SetFlag<HardEvent::MTE2_MTE1>(EVENT_ID5);
  WaitFlag<HardEvent::MTE2_MTE1>(EVENT_ID5);
}
template <bool kFlag, bool kTurned>
void operands_in_l1(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR c, TCubeTiling t) {
  using Tscm = MatmulType<TPosition::TSCM, F::NZ, half, kTurned>;
  TPipe pipe;
  TBuf<TPosition::A1> l1_a, l1_b;
  Matmul<Tscm, Tscm, In<float>> mm;
  mm.Init(&t, &pipe);
  fill_l1(pipe, l1_a, a, kTurned ? t.Ka : t.M, kTurned ? t.M : t.Ka, true);
  fill_l1(pipe, l1_b, b, kTurned ? t.N : t.Kb, kTurned ? t.Kb : t.N, kFlag);
  mm.SetTensorA(l1_a.Get<half>(), kTurned);
  mm.SetTensorB(l1_b.Get<half>(), kTurned);
  mm.IterateAll(global<float>(c));
}
template <bool kTurned>
void check_operands_in_l1() {
  constexpr int kM = 80, kN = 48, kK = 64;
  const auto a = numbers(kM * kK, 1), b = numbers(kN * kK, 2);
  Device<half> da(a), db(b);
  Device<float> c(kM * kN);
  twin::take_findings();
  twin::launcher<Kernel, operands_in_l1<true, kTurned>>(1).auto_sync(false).as(twin::KernelType::AicOnly)(
      da, db, da, c, tiling(kM, kN, kK));
  EXPECT_SILENT();
  const auto got = c.values();
  for (int r = 0; r < kM; ++r) {
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kK; ++k)
        sum += float(a[kTurned ? k * kM + r : r * kK + k]) * float(b[kTurned ? j * kK + k : k * kN + j]);
      ASSERT_EQ(got[r * kN + j], sum) << r << ", " << j;
    }
  }
}
TEST(Matmul, OperandsOfTscm) {
  check_operands_in_l1<false>();
  check_operands_in_l1<true>();
}
TEST(Matmul, OperandsOfTscmNeedAFlagOfTheKernels) {
  Device<half> a(numbers(32 * 32, 1)), b(numbers(32 * 32, 2));
  Device<float> c(32 * 32);
  twin::take_findings();
  twin::launcher<Kernel, operands_in_l1<false, false>>(1).auto_sync(false).as(twin::KernelType::AicOnly)(a, b, a, c,
                                                                                                         tiling(32, 32, 32));
  expect_found(twin::Kind::ReadAfterWrite, "nothing orders the two");
  twin::launcher<Kernel, operands_in_l1<true, false>>(1).as(twin::KernelType::MixAic12)(a, b, a, c, tiling(32, 32, 32));
  EXPECT_TRUE(find(twin::take_findings(), twin::Kind::KernelType));
}

// ---- copies of the kernel's own ----
void copy_a(const LocalTensor<std::int8_t>& to, const __gm__ void* gm, int row, int col, int m, int k, const std::uint64_t,
            const std::uint64_t stride) {
  GlobalTensor<half> from;
  from.SetGlobalBuffer((__gm__ half*)gm);
  const auto line = static_cast<std::uint16_t>(stride);
  DataCopy(to.ReinterpretCast<half>(), from[std::size_t(row) * 32 * stride + col * 32],
           Nd2NzParams(1, static_cast<std::uint16_t>(m), static_cast<std::uint16_t>(k), 0, line,
                       static_cast<std::uint16_t>((m + 15) / 16 * 16), 1, 0));
}
void strided(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR c, TCubeTiling t) {
  TPipe pipe;
  Matmul<In<half>, In<half>, In<float>, In<float>, CFG_NORM, MatmulCallBackFunc<nullptr, copy_a, nullptr>> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  if (GetSubBlockIdx() != 0) return;
  mm.SetSelfDefineData(100);  // the stride of A's rows, which the tiling does not say
  mm.SetTensorA(global<half>(a));
  mm.SetTensorB(global<half>(b));
  mm.IterateAll(global<float>(c));
}
TEST(Matmul, CopiesByAFunctionOfTheKernels) {
  TCubeTiling t = tiling(48, 64, 64);
  t.baseK = 32;
  const auto a = numbers(48 * 100, 1), b = numbers(64 * 64, 2);
  const auto c = run<strided>(a, b, a, 48 * 64, t);
  for (int r = 0; r < 48; ++r) {
    for (int j = 0; j < 64; ++j) {
      float sum = 0;
      for (int k = 0; k < 64; ++k) sum += float(a[r * 100 + k]) * float(b[k * 64 + j]);
      ASSERT_EQ(c[r * 64 + j], sum);
    }
  }
}

// ---- one value for an operand: sums along K ----
template <class T, bool kLeft>
void sums(GM_ADDR x, GM_ADDR, GM_ADDR, GM_ADDR c, TCubeTiling t) {
  TPipe pipe;
  Matmul<In<T>, In<T>, MatmulType<TPosition::GM, F::ND, float>> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  if (GetSubBlockIdx() != 0) return;
  if (kLeft) {
    mm.SetTensorA(T(0.5f));
    mm.SetTensorB(global<T>(x));
  } else {
    mm.SetTensorA(global<T>(x));
    mm.SetTensorB(T(0.5f));
  }
  mm.IterateAll(global<float>(c));
  mm.End();
}
template <class T, bool kLeft>
void check_sums() {
  constexpr int kOther = 72, kK = 200;  // neither fills base blocks
  const auto values = numbers(std::size_t{kOther} * kK, 3);
  std::vector<T> x(values.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = T(float(values[i]));
  const TCubeTiling t = tiling(kLeft ? 1 : kOther, kLeft ? kOther : 1, kK);
  Device<T> in(x);
  Device<half> none(16);
  Device<float> out(std::vector<float>(kOther, 55.0f));
  twin::take_findings();
  twin::launcher<Kernel, &sums<T, kLeft>>(1).auto_sync(false).as(twin::KernelType::MixAic12)(in, none, none, out, t);
  EXPECT_SILENT();
  const auto got = out.values();
  for (int j = 0; j < kOther; ++j) {
    float sum = 0;
    for (int k = 0; k < kK; ++k) sum += 0.5f * float(x[kLeft ? k * kOther + j : j * kK + k]);
    EXPECT_EQ(got[j], sum) << j;
  }
}
TEST(Matmul, TakesOneValueForAnOperand) {
  check_sums<half, true>();
  check_sums<half, false>();
  check_sums<float, true>();
  check_sums<float, false>();
}
TEST(Matmul, ReportsOneValueForMoreThanALine) {
  Device<half> in(64 * 64), none(16);
  Device<float> out(64 * 64);
  twin::take_findings();
  twin::launcher<Kernel, &sums<half, true>>(1).as(twin::KernelType::MixAic12)(in, none, none, out, tiling(64, 64, 64));
  expect_found(twin::Kind::Limit, "SetTensorA with a scalar stands for one row of K, and M is 64");
}

}  // namespace
}  // namespace twin_test
