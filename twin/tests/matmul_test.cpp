// SPDX-License-Identifier: Apache-2.0
// Matmul of the library against a plain product: every layout, direction, type and way to fetch C.
#include "matmul_cases.hpp"

namespace twin_test {
namespace {

using F = CubeFormat;
using AscendC::TPosition;
constexpr Shape kWhole{128, 96, 64}, kTails{77, 45, 39}, kMany{200, 150, 300, 6, 32, 48, 32};

template <class K>
void on_all(Options o = {}) {
  for (const bool cube_only : {false, true}) {
    o.cube_only = cube_only;
    for (const Shape& s : {kWhole, kTails, kMany}) expect_product<K>(s, o);
  }
}

template <class T, class C, class Bias>
void all_directions() {
  Options with_bias;
  with_bias.bias = true;
  on_all<Case<T, C, F::ND, F::ND, F::ND, false, false, Bias>>();
  on_all<Case<T, C, F::ND, F::ND, F::ND, false, true, Bias>>(with_bias);
  on_all<Case<T, C, F::ND, F::ND, F::ND, true, false, Bias>>(with_bias);
  on_all<Case<T, C, F::ND, F::ND, F::ND, true, true, Bias>>();
}

TEST(Matmul, HalvesIntoFloats) { all_directions<half, float, float>(); }
TEST(Matmul, HalvesIntoHalvesWithHalfBias) { all_directions<half, half, half>(); }
TEST(Matmul, Bfloats) { all_directions<bfloat16_t, bfloat16_t, float>(); }
TEST(Matmul, Floats) { all_directions<float, float, float>(); }
TEST(Matmul, BytesIntoIntegers) { all_directions<std::int8_t, std::int32_t, std::int32_t>(); }

// A pipe of the caller stands: MTE1 on a cube core, MTE3, by which a call leaves, on a vector core.
TEST(Matmul, IsCalledWhileAPipeStands) {
  Options o;
  o.way = Way::Standing;
  o.bias = true;
  on_all<Case<half, half, F::ND, F::ND, F::ND, false, true, half>>(o);
  on_all<Case<half, float>>(o);
}

TEST(Matmul, NzMatrices) {
  Options bias;
  bias.bias = true;
  on_all<Case<half, float, F::NZ, F::ND>>(bias);
  on_all<Case<half, float, F::ND, F::NZ>>();
  on_all<Case<half, half, F::NZ, F::NZ, F::ND, true, true>>();
  on_all<Case<float, float, F::NZ, F::NZ, F::ND, true, false>>();
  for (const Shape& s : {kWhole, kTails, Shape{200, 150, 300, 6, 64, 32, 64}})
    expect_product<Case<std::int8_t, std::int32_t, F::NZ, F::NZ, F::ND, true, false, std::int32_t>>(s);
  for (const Shape& s : {kWhole, Shape{208, 160, 96, 6, 32, 48, 32}}) {
    expect_product<Case<half, float, F::ND, F::ND, F::NZ>>(s);
    expect_product<Case<half, half, F::ND, F::ND, F::NZ>>(s);
  }
}
TEST(Matmul, RowsOfCRoundedUp) {
  on_all<Case<half, float, F::ND, F::ND, F::ND_ALIGN>>();
  on_all<Case<half, half, F::ND, F::ND, F::ND_ALIGN>>();
}
TEST(Matmul, AVectorTimesAMatrix) {
  expect_product<Case<half, float, F::VECTOR>>({1, 200, 160});
  expect_product<Case<half, float>>({1, 200, 160, 4});
}
TEST(Matmul, BlocksToGm) {
  Options o;
  o.way = Way::BlocksToGm;
  on_all<Case<half, float>>(o);
  o.way = Way::Async;
  on_all<Case<half, float>>(o);
}
TEST(Matmul, BlocksToUb) {
  Options o;
  o.bias = true;
  for (const Way way : {Way::BlocksToUb, Way::BlocksInPlace, Way::Ahead}) {
    o.way = way;
    for (const Shape& s : {kWhole, kTails, kMany}) {
      expect_product<Case<half, float, F::ND, F::ND, F::ND, false, true, float, TPosition::VECIN>>(s, o);
      expect_product<Case<half, half, F::ND, F::ND, F::ND, false, false, float, TPosition::VECCALC>>(s, o);
    }
  }
}
TEST(Matmul, LargeLoads) {
  Options o;
  o.bias = true;
  for (const bool cube_only : {false, true}) {
    o.cube_only = cube_only;
    for (const Shape& s : {Shape{300, 260, 1000, 3}, Shape{200, 150, 300, 6, 32, 48, 32}}) {
      for (const int step : {1, 2, 3}) {
        using K = Case<half, float, F::ND, F::ND, F::ND, true, false, float, TPosition::GM, CFG_MDL>;
        TCubeTiling t = tiling_of<K>(s, true);
        t.stepM = step;
        t.stepN = 3 - step % 2;
        t.stepKb = step;
        t.depthA1 = 2 * t.stepM * t.stepKa;
        t.depthB1 = t.stepN * t.stepKb;
        t.baseM = std::min(t.baseM, 64);
        t.baseN = std::min(t.baseN, 48);
        t.iterateOrder = step % 2;
        expect_product<K>(s, o, t);
      }
    }
  }
}
TEST(Matmul, ScalesIntoBytesAndHalves) {
  Options o;
  const float scale = 0.25f;
  std::memcpy(&o.scale, &scale, 4);
  o.scale |= std::uint64_t{1} << 46;  // signed bytes
  on_all<Case<half, std::int8_t>>(o);
  on_all<Case<std::int8_t, half, F::ND, F::ND, F::ND, false, true, std::int32_t>>(o);
  on_all<Case<std::int8_t, std::int8_t, F::ND, F::ND, F::ND, false, false, std::int32_t>>(o);
}
TEST(Matmul, AddsToWhatGmHolds) {
  Options o;
  for (const int atomic : {1, 2}) {
    o.atomic = atomic;
    on_all<Case<half, float>>(o);
  }
}

// ---- misuse ----
using Plain = Case<half, float>;
using Large = Case<half, float, F::ND, F::ND, F::ND, false, false, float, TPosition::GM, CFG_MDL>;

// A launch of one block whose findings are looked at; `f` runs behind REGIST_MATMUL_OBJ on each vector core.
struct Misuse {
  int what = 0;
  int line = 0;
};
template <class K>
void misuse(GM_ADDR a, GM_ADDR b, GM_ADDR c, TCubeTiling t, Misuse* m) {
  using namespace AscendC;
  TPipe pipe;
  typename K::Object mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  if (GetSubBlockIdx() != 0) return;
  GlobalTensor<half> ga, gb;
  GlobalTensor<float> gc;
  ga.SetGlobalBuffer((__gm__ half*)a, 128 * 128);
  gb.SetGlobalBuffer((__gm__ half*)b, 128 * 128);
  gc.SetGlobalBuffer((__gm__ float*)c, 128 * 128);
  mm.SetTensorA(ga, m->what == 1);
  if (m->what != 2) mm.SetTensorB(gb);
  if (m->what == 3) return mm.GetTensorC(gc);
  if (m->what == 4) return mm.WaitIterateAll();
  if (m->what == 5 || m->what == 6) {
    m->line = __LINE__ + 1;
    mm.template IterateAll<false>(gc, 0, false, true);
    if (m->what == 6) mm.WaitIterateAll();
    LocalTensor<float> ub(TPosition::VECIN, 0, 128);
    DataCopy(ub, gc, 128);
    PipeBarrier<PIPE_ALL>();
    if (m->what == 5) mm.WaitIterateAll();
    return;
  }
  m->line = __LINE__ + 1;
  mm.IterateAll(gc);
}
template <class K>
std::vector<twin::Finding> findings_of(Misuse* m, const TCubeTiling& t, twin::KernelType type = twin::KernelType::MixAic12) {
  Device<half> a(std::vector<half>(128 * 128)), b(std::vector<half>(128 * 128));
  Device<float> c(std::vector<float>(128 * 128));
  twin::take_findings();
  twin::launcher<void(GM_ADDR, GM_ADDR, GM_ADDR, TCubeTiling, Misuse*), misuse<K>>(1).auto_sync(false).as(type)(a, b, c, t,
                                                                                                                m);
  return twin::take_findings();
}
TCubeTiling square() {
  TCubeTiling t = tiling_of<Plain>({128, 128, 128, 1, 64, 64, 64}, false);
  t.usedCoreNum = 2;
  return t;
}
void expect_says(const std::vector<twin::Finding>& found, twin::Kind kind, const char* words, int line = 0) {
  ASSERT_FALSE(found.empty()) << "nothing was found: " << words;
  EXPECT_EQ(found[0].kind, kind) << text(found);
  EXPECT_NE(found[0].what.find(words), std::string::npos) << text(found);
  EXPECT_FALSE(found[0].fix.empty());
  EXPECT_TRUE(line == 0 || ends_with(found[0].line_a, at(line)) || ends_with(found[0].line_b, at(line))) << text(found);
}

TEST(Matmul, SaysWhatKeepsItFromComputing) {
  Misuse m;
  EXPECT_TRUE(findings_of<Plain>(&m, square()).empty());
  m.what = 1;
  expect_says(findings_of<Plain>(&m, square()), twin::Kind::Limit, "isTransposeA, which its MatmulType excludes");
  m.what = 2;
  expect_says(findings_of<Plain>(&m, square()), twin::Kind::Limit, "B has not been set");
  m.what = 3;
  expect_says(findings_of<Plain>(&m, square()), twin::Kind::Limit, "GetTensorC without an Iterate");
  m.what = 4;
  expect_says(findings_of<Plain>(&m, square()), twin::Kind::Limit, "WaitIterateAll without an IterateAll<false>");
  m.what = 0;
  expect_says(findings_of<Plain>(&m, {}), twin::Kind::Limit, "of the tiling, all at least 1", m.line);
}
TEST(Matmul, SaysWhichBlockDoesNotFit) {
  Misuse m;
  TCubeTiling t = square();
  t.baseM = t.baseN = 256;
  expect_says(findings_of<Plain>(&m, t), twin::Kind::Capacity, "C (baseM, baseN) in L0C has 256 x 256 elements", m.line);
  t = square();
  t.baseK = 1024;
  expect_says(findings_of<Plain>(&m, t), twin::Kind::Capacity, "A (baseM, baseK) in L0A", m.line);
  t = square();
  t.baseN = 40;
  expect_says(findings_of<Plain>(&m, t), twin::Kind::Alignment, "baseN 40", m.line);
  t = square();
  t.depthA1 = t.depthB1 = 64;  // 2 x 64 x 8 KB
  expect_says(findings_of<Plain>(&m, t), twin::Kind::Capacity, "Matmul's part of L1", m.line);
  t = square();
  t.stepKa = 4;
  t.depthA1 = 2;
  expect_says(findings_of<Large>(&m, t), twin::Kind::Limit, "depthA1 2", m.line);
}
TEST(Matmul, CReadBeforeTheWaitIsARace) {
  Misuse m;
  m.what = 5;
  expect_says(findings_of<Plain>(&m, square()), twin::Kind::GmRace, "nothing orders the two", m.line);
  m.what = 6;
  const auto found = findings_of<Plain>(&m, square());
  EXPECT_TRUE(found.empty()) << text(found);
}
TEST(Matmul, NobodyToServeIsFound) {
  Misuse m;
  expect_says(findings_of<Plain>(&m, square(), twin::KernelType::AivOnly), twin::Kind::KernelType, "no cube cores");
  expect_says(findings_of<Plain>(&m, square(), twin::KernelType::AicOnly), twin::Kind::KernelType, "no vector cores");
}

}  // namespace
}  // namespace twin_test
