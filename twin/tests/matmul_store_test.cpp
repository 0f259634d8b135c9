// SPDX-License-Identifier: Apache-2.0
// Matmul whose base blocks of C leave L0C by a function of the kernel's own.
#include "matmul_cases.hpp"

namespace twin_test {
namespace {

using namespace AscendC;
using F = CubeFormat;
constexpr int kM = 72, kN = 80, kK = 64, kBase = 32;  // no whole number of base blocks

constexpr std::uint64_t kHalf = 0x3F000000, kTwo = 0x40000000;  // bits of floats

template <F kFormat, class T>
using Place = MatmulType<TPosition::GM, kFormat, T>;

// As Matmul itself does it, with Fixpipe and the params it is handed, and a relu.
template <class L0, class C, F kFormat>
void copy_out(const __gm__ void* gm, const LocalTensor<std::int8_t>& co1, const void* params, const std::uint64_t tiling,
              const std::uint64_t data) {
  const auto* const p = static_cast<const DataCopyOutParams*>(params);
  const auto* const t = reinterpret_cast<const TCubeTiling*>(tiling);
  if (t->baseM != kBase || data != 7 || p->enUnitFlag) return;
  FixpipeParams<L0> f(p->cBurstNum, p->burstLen, p->srcStride, p->dstStride);
  if (kFormat == F::ND) f.nz2ndParams = {true, 1, 0, 0, p->oriNSize};
  const bool integers = std::is_same<L0, std::int32_t>::value;
  if (sizeof(C) == 2) f.quantParams = {integers ? QuantMode_t::DEQF16 : QuantMode_t::F322F16, p->quantScalar};
  f.reluEn = true;
  GlobalTensor<C> to;
  to.SetGlobalBuffer((__gm__ C*)gm);
  if (p->cbufWorkspaceAddr == 0) return Fixpipe(to, co1.ReinterpretCast<L0>(), f);
  f.quantParams.quantPre = QuantMode_t::VDEQF16;
  const LocalTensor<std::uint64_t> scales(TPosition::C1, static_cast<std::uint32_t>(p->cbufWorkspaceAddr), kBase);
  Fixpipe(to, co1.ReinterpretCast<L0>(), scales, f);
}
/// C = A B, all of it, and the end of the object.
template <class T, class C, class Product>
__aicore__ inline void iterate_all(Product& mm, GM_ADDR a, GM_ADDR b, GM_ADDR c) {
  GlobalTensor<T> ga, gb;
  GlobalTensor<C> gc;
  ga.SetGlobalBuffer((__gm__ T*)a);
  gb.SetGlobalBuffer((__gm__ T*)b);
  gc.SetGlobalBuffer((__gm__ C*)c);
  mm.SetTensorA(ga);
  mm.SetTensorB(gb);
  mm.IterateAll(gc);
  mm.End();
}

template <class T, class C, F kFormat>
void product(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR scales, TCubeTiling t) {
  using L0 = std::conditional_t<std::is_same<T, std::int8_t>::value, std::int32_t, float>;
  TPipe pipe;
  Matmul<Place<F::ND, T>, Place<F::ND, T>, Place<kFormat, C>, Place<F::ND, L0>, CFG_NORM,
         MatmulCallBackFunc<copy_out<L0, C, kFormat>>>
      mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  if (GetSubBlockIdx() != 0) return;
  mm.SetUserDefInfo(reinterpret_cast<std::uint64_t>(&t));
  mm.SetSelfDefineData(7);
  if (scales) {
    GlobalTensor<std::uint64_t> gs;
    gs.SetGlobalBuffer((__gm__ std::uint64_t*)scales);
    mm.SetQuantVector(gs);
  } else if (sizeof(C) == 2 && std::is_same<T, std::int8_t>::value) {
    mm.SetQuantScalar(kHalf);
  }
  iterate_all<T, C>(mm, a, b, c);
}
int number(int i, int seed) { return (i * 7 + seed) % 11 - 5; }
TCubeTiling tiling() {
  matmul_tiling::MatmulApiTiling choice;
  choice.SetShape(kM, kN, kK);
  choice.SetFixSplit(kBase, kBase, -1);
  TCubeTiling t;
  EXPECT_EQ(choice.GetTiling(t), 0);
  return t;
}
template <class T, class C, F kFormat>
std::vector<C> run(std::size_t count, bool a_scale_a_column = false) {
  std::vector<T> a(kM * kK), b(kK * kN);
  for (int i = 0; i < kM * kK; ++i) a[i] = static_cast<T>(number(i, 1));
  for (int i = 0; i < kK * kN; ++i) b[i] = static_cast<T>(number(i, 2));
  std::vector<std::uint64_t> s(kN);
  for (int j = 0; j < kN; ++j) s[j] = j % 3 ? kHalf : kTwo;
  Device<T> da(a), db(b);
  Device<std::uint64_t> ds(s);
  Device<C> out(std::vector<C>(count, C(55)));
  twin::take_findings();
  using Kernel = decltype(product<T, C, kFormat>);
  auto go = twin::launcher<Kernel, &product<T, C, kFormat>>(1).auto_sync(false).as(twin::KernelType::MixAic12);
  go(da, db, out, a_scale_a_column ? GM_ADDR(ds) : nullptr, tiling());
  return out.values();
}
template <class T, class C, F kFormat>
void check(bool a_scale_a_column = false) {
  constexpr int kHigh = (kM + 15) / 16 * 16;
  const auto got = run<T, C, kFormat>(std::size_t{kHigh} * kN, a_scale_a_column);
  EXPECT_SILENT();
  const bool scaled = std::is_same<T, std::int8_t>::value && sizeof(C) == 2;
  for (int r = 0; r < kM; ++r) {
    for (int j = 0; j < kN; ++j) {
      const float scale = !scaled ? 1.0f : a_scale_a_column && j % 3 == 0 ? 2.0f : 0.5f;
      int sum = 0;
      for (int k = 0; k < kK; ++k) sum += number(r * kK + k, 1) * number(k * kN + j, 2);
      const int at = kFormat == F::NZ ? j / 16 * kHigh * 16 + r * 16 + j % 16 : r * kN + j;
      ASSERT_EQ(static_cast<float>(got[at]), sum > 0 ? static_cast<float>(sum) * scale : 0.0f) << r << ", " << j;
    }
  }
}
TEST(MatmulStore, CopiesOutByAFunctionOfTheKernels) {
  check<half, float, F::ND>();
  check<half, half, F::ND>();
  check<half, float, F::NZ>();
  check<half, half, F::NZ>();
  check<float, float, F::ND>();
  check<std::int8_t, std::int32_t, F::ND>();
  check<std::int8_t, half, F::ND>();
  check<std::int8_t, half, F::NZ>();
}
TEST(MatmulStore, HandsTheScalesOfTheBlocksColumns) {
  check<std::int8_t, half, F::ND>(true);
  check<std::int8_t, half, F::NZ>(true);
}
TEST(MatmulStore, ReportsABlockThatLeavesC) {
  run<half, float, F::ND>(std::size_t{kM} * kN - 1);
  expect_found(twin::Kind::OutOfBounds, "Fixpipe");
}

// A function that does not copy leaves C as it was; what reads it finds that out.
void nothing(const __gm__ void*, const LocalTensor<std::int8_t>&, const void*, const std::uint64_t, const std::uint64_t) {}
void no_copy(GM_ADDR a, GM_ADDR b, GM_ADDR c, TCubeTiling t) {
  using T = Place<F::ND, half>;
  using C = Place<F::ND, float>;
  TPipe pipe;
  Matmul<T, T, C, C, CFG_NORM, MatmulCallBackFunc<nothing>> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  if (GetSubBlockIdx() != 0) return;
  iterate_all<half, float>(mm, a, b, c);
}
TEST(MatmulStore, LeavesTheCopyToTheFunction) {
  Device<half> a(std::vector<half>(kM * kK, half(1.0f))), b(std::vector<half>(kK * kN, half(1.0f)));
  Device<float> c(std::vector<float>(kM * kN, 55.0f));
  twin::take_findings();
  twin::launcher<decltype(no_copy), &no_copy>(1).as(twin::KernelType::MixAic12)(a, b, c, tiling());
  EXPECT_SILENT();
  for (const float v : c.values()) ASSERT_EQ(v, 55.0f);
}

}  // namespace
}  // namespace twin_test
