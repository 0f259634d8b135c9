// SPDX-License-Identifier: Apache-2.0
// Matmul with enableMixDualMaster: cube and vector cores run the kernel's code, and no message goes between them.
#include "matmul_cases.hpp"

namespace twin_test {
namespace {

using namespace AscendC;
using F = CubeFormat;
constexpr int kM = 48, kN = 64, kK = 80;

template <bool kMdl>
constexpr MatmulConfig config() {
  return kMdl ? GetMDLConfig(false, false, 0, false, false, false, false, true, true, false, true)
              : GetNormalConfig(false, false, false, BatchMode::BATCH_LESS_THAN_L1, true, IterateOrder::UNDEF,
                                ScheduleType::INNER_PRODUCT, true, true);
}
constexpr MatmulConfig kNorm = config<false>(), kMdl = config<true>();
template <bool kShare>
using In = MatmulType<TPosition::GM, F::ND, half, false, LayoutMode::NONE, kShare>;
using Out = MatmulType<TPosition::GM, F::ND, float>;

template <class T>
GlobalTensor<T> global(GM_ADDR p, std::size_t at = 0) {
  GlobalTensor<T> t;
  t.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(p) + at);
  return t;
}
// What each vector core does meanwhile: x + 1 over its own 64 numbers.
void add_one(TPipe& pipe, const GlobalTensor<float>& x, bool by_flag) {
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, 256);
  pipe.InitBuffer(out, 1, 256);
  if (by_flag) CrossCoreWaitFlag(3);
  LocalTensor<float> a = in.AllocTensor<float>();
  DataCopy(a, x, 64);
  in.EnQue(a);
  a = in.DeQue<float>();
  LocalTensor<float> b = out.AllocTensor<float>();
  Adds(b, a, 1.0f, 64);
  out.EnQue(b);
  b = out.DeQue<float>();
  DataCopy(x, b, 64);
  in.FreeTensor(a);
  out.FreeTensor(b);
}
enum class Vector { OnItsOwn, ReadsCByFlag, ReadsC };
template <const auto& kConfig, bool kShare, Vector kVector>
void product(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR x, TCubeTiling t) {
  TPipe pipe;
  Matmul<In<kShare>, In<kShare>, Out, Out, kConfig> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  const int block = GetBlockIdx() / (g_coreType == AIV ? GetSubBlockNum() : 1);
  mm.SetTensorA(global<half>(a, std::size_t(block) * kM * kK));
  mm.SetTensorB(global<half>(b));
  const auto result = global<float>(c, std::size_t(block) * kM * kN);
  mm.IterateAll(result);
  mm.End();
  if ASCEND_IS_AIC {
    if (kVector == Vector::ReadsCByFlag) CrossCoreSetFlag<2, PIPE_FIX>(3);
  }
  if ASCEND_IS_AIV {
    if (kVector == Vector::OnItsOwn) return add_one(pipe, global<float>(x, std::size_t(GetBlockIdx()) * 64), false);
    add_one(pipe, result[std::size_t(GetSubBlockIdx()) * 64], kVector == Vector::ReadsCByFlag);
  }
}
int number(int i, int seed) { return (i * 7 + seed) % 11 - 5; }
TCubeTiling tiling() {
  matmul_tiling::MatmulApiTiling choice;
  choice.SetShape(kM, kN, kK);
  choice.SetFixSplit(32, 32, -1);
  TCubeTiling t;
  EXPECT_EQ(choice.GetTiling(t), 0);
  return t;
}
template <const auto& kConfig, bool kShare, Vector kVector>
std::pair<std::vector<float>, std::vector<float>> run(twin::KernelType type, int blocks) {
  std::vector<half> a(std::size_t(blocks) * kM * kK), b(kK * kN);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = half(float(number(int(i), 1)));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = half(float(number(int(i), 2)));
  Device<half> da(a), db(b);
  Device<float> c(std::size_t(blocks) * kM * kN), x(std::vector<float>(std::size_t(blocks) * 2 * 64, 7.0f));
  twin::take_findings();
  using Kernel = decltype(product<kConfig, kShare, kVector>);
  twin::launcher<Kernel, &product<kConfig, kShare, kVector>>(blocks).auto_sync(false).as(type)(da, db, c, x, tiling());
  return {c.values(), x.values()};
}
// `plus`: of how many numbers at the head of each block's C a vector core has added 1.
void expect_product(const std::vector<float>& c, int blocks, int plus) {
  for (int i = 0; i < blocks * kM * kN; ++i) {
    const int block = i / (kM * kN), r = i / kN, j = i % kN;
    float sum = i - block * kM * kN < plus ? 1.0f : 0.0f;
    for (int k = 0; k < kK; ++k) sum += static_cast<float>(number(r * kK + k, 1) * number(k * kN + j, 2));
    ASSERT_EQ(c[i], sum) << "block " << block << ", " << r << ", " << j;
  }
}
template <const auto& kConfig, bool kShare>
void check_on_its_own(twin::KernelType type, int vectors) {
  const auto [c, x] = run<kConfig, kShare, Vector::OnItsOwn>(type, 3);
  EXPECT_SILENT();
  expect_product(c, 3, 0);
  for (int i = 0; i < 3 * 2 * 64; ++i) ASSERT_EQ(x[i], i < 3 * vectors * 64 ? 8.0f : 7.0f) << i;
}
TEST(MatmulAlone, CubeAndVectorCoresRunBesideEachOther) {
  check_on_its_own<kNorm, false>(twin::KernelType::MixAic11, 1);
  check_on_its_own<kMdl, false>(twin::KernelType::MixAic11, 1);
  check_on_its_own<kNorm, true>(twin::KernelType::MixAic12, 2);
  check_on_its_own<kMdl, true>(twin::KernelType::MixAic12, 2);
}
TEST(MatmulAlone, AVectorCoreReadsCBehindAFlagOfTheKernels) {
  const auto one = run<kNorm, false, Vector::ReadsCByFlag>(twin::KernelType::MixAic11, 2);
  EXPECT_SILENT();
  expect_product(one.first, 2, 64);
  const auto two = run<kNorm, true, Vector::ReadsCByFlag>(twin::KernelType::MixAic12, 2);
  EXPECT_SILENT();
  expect_product(two.first, 2, 128);
}
TEST(MatmulAlone, ReportsAVectorCoreThatReadsCWithoutAFlag) {
  run<kNorm, true, Vector::ReadsC>(twin::KernelType::MixAic12, 1);
  const auto all = twin::take_findings();
  EXPECT_TRUE(find(all, twin::Kind::GmRace)) << text(all);
}
TEST(MatmulAlone, TwoVectorCoresNeedIbShare) {
  run<kNorm, false, Vector::OnItsOwn>(twin::KernelType::MixAic12, 1);
  expect_found(twin::Kind::KernelType, "not both of IBSHARE");
}
TEST(MatmulAlone, NeedsACubeCore) {
  run<kNorm, false, Vector::OnItsOwn>(twin::KernelType::AivOnly, 1);
  expect_found(twin::Kind::KernelType, "a kernel that has no cube cores");
}

void mixture(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR, TCubeTiling t) {
  TPipe pipe;
  Matmul<In<false>, In<false>, Out, Out, kNorm> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  Matmul<In<false>, In<false>, Out, Out, CFG_NORM> served;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), served, &t);
  served.SetTensorA(global<half>(a));
  served.SetTensorB(global<half>(b));
  served.IterateAll(global<float>(c));
}
TEST(MatmulAlone, IsTheSameForAllObjects) {
  Device<half> a(std::vector<half>(kM * kK, half(1.0f))), b(std::vector<half>(kK * kN, half(1.0f)));
  Device<float> c(kM * kN);
  twin::take_findings();
  twin::launcher<decltype(mixture), &mixture>(1).as(twin::KernelType::MixAic11)(a, b, c, nullptr, tiling());
  expect_found(twin::Kind::KernelType, "Matmul without enableMixDualMaster beside one with");
}

}  // namespace
}  // namespace twin_test
