// SPDX-License-Identifier: Apache-2.0
// Matmul of int4b_t matrices against a plain product: layouts, directions, rests, ways to fetch C; and what is refused.
#include "kernels.hpp"
#include "matmul_cases.hpp"

namespace twin_test {
namespace {

using F = CubeFormat;
using AscendC::int4b_t;
using AscendC::TPosition;
template <class C, F kA = F::ND, F kB = F::ND, bool kTransB = false, const auto& kConfig = CFG_NORM, F kC = F::ND,
          TPosition kPlace = TPosition::GM>
using Pairs = Case<int4b_t, C, kA, kB, kC, false, kTransB, std::int32_t, kPlace, kConfig>;

// Rests in each direction; rows in memory are whole bytes, so K is even, and so is N where B is not transposed.
constexpr Shape kWhole{128, 128, 128}, kTails{77, 46, 38}, kLong{33, 70, 450}, kMany{200, 150, 300, 6, 32, 64, 64},
    kNarrow{50, 90, 200, 1, 16, 16, 64};

template <class K>
void on_all(Options o = {}) {
  for (const bool cube_only : {false, true}) {
    o.cube_only = cube_only;
    for (const Shape& s : {kWhole, kTails, kLong, kMany}) expect_product<K>(s, o);
  }
}
std::uint64_t a_quarter() {
  std::uint64_t bits = 0;
  const float scale = 0.25f;
  std::memcpy(&bits, &scale, 4);
  return bits;
}

TEST(MatmulInt4, IntoIntegers) {
  Options with_bias;
  with_bias.bias = true;
  on_all<Pairs<std::int32_t>>();
  on_all<Pairs<std::int32_t>>(with_bias);
  on_all<Pairs<std::int32_t, F::ND, F::ND, true>>();
  on_all<Pairs<std::int32_t, F::ND, F::ND, true>>(with_bias);
  expect_product<Pairs<std::int32_t>>(kNarrow, with_bias);
  expect_product<Pairs<std::int32_t, F::ND, F::ND, true>>(kNarrow);
  expect_product<Pairs<std::int32_t, F::ND, F::ND, true>>({1, 45, 38});
  expect_product<Pairs<std::int32_t, F::ND, F::ND, true>>({77, 45, 38});
}
TEST(MatmulInt4, IntoHalvesByAScale) {
  Options o;
  o.scale = a_quarter();
  on_all<Pairs<half>>(o);
  on_all<Pairs<half, F::ND, F::ND, true>>(o);
  o.bias = true;
  on_all<Pairs<half, F::ND, F::ND, true>>(o);
}
TEST(MatmulInt4, NzMatrices) {
  on_all<Pairs<std::int32_t, F::NZ, F::ND>>();
  on_all<Pairs<std::int32_t, F::ND, F::NZ>>();
  on_all<Pairs<std::int32_t, F::NZ, F::NZ, true>>();
  for (const Shape& s : {kWhole, Shape{208, 192, 128, 6, 32, 64, 64}})
    expect_product<Pairs<std::int32_t, F::ND, F::ND, false, CFG_NORM, F::NZ>>(s);
}
TEST(MatmulInt4, LargeLoads) {
  Options o;
  o.bias = true;
  for (const bool cube_only : {false, true}) {
    o.cube_only = cube_only;
    for (const int step : {1, 2, 3}) {
      const auto check = [&](auto product) {
        using K = decltype(product);
        TCubeTiling t = tiling_of<K>({150, 260, 450, 3, 32, 64, 64}, true);
        t.stepM = step;
        t.stepN = 3 - step % 2;
        t.stepKa = t.stepKb = step;
        t.depthA1 = 2 * t.stepM * t.stepKa;
        t.depthB1 = t.stepN * t.stepKb;
        t.iterateOrder = step % 2;
        expect_product<K>({150, 260, 450, 3}, o, t);
      };
      check(Pairs<std::int32_t, F::ND, F::ND, false, CFG_MDL>());
      check(Pairs<std::int32_t, F::ND, F::ND, true, CFG_MDL>());
      check(Pairs<std::int32_t, F::ND, F::ND, true, CFG_IBSHARE_NORM>());
    }
  }
}
TEST(MatmulInt4, BlocksToGmAndToUb) {
  Options o;
  o.way = Way::BlocksToGm;
  on_all<Pairs<std::int32_t>>(o);
  for (const Way way : {Way::BlocksToUb, Way::BlocksInPlace}) {
    o.way = way;
    for (const Shape& s : {kWhole, kTails, kMany})
      expect_product<Pairs<std::int32_t, F::ND, F::ND, true, CFG_NORM, F::ND, TPosition::VECIN>>(s, o);
  }
}

// ---- batches, an operand in UB, constant tiling ----
template <TPosition kPlace, bool kTrans = false>
using In = AscendC::MatmulType<kPlace, F::ND, int4b_t, kTrans, LayoutMode::NORMAL>;
using Out = AscendC::MatmulType<TPosition::GM, F::ND, std::int32_t, false, LayoutMode::NORMAL>;
template <class T>
AscendC::GlobalTensor<T> global(GM_ADDR p) {
  AscendC::GlobalTensor<T> t;
  t.SetGlobalBuffer((__gm__ T*)p);
  return t;
}
std::vector<int4b_t> numbers(std::size_t n, int seed) {
  std::vector<int4b_t> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = int4b_t(static_cast<int>((i * 7 + i / 13 + seed) % 16) - 8);
  return out;
}
int sum_of(const std::vector<int4b_t>& a, const std::vector<int4b_t>& b, std::size_t row, std::size_t column, int k) {
  int sum = 0;
  for (int i = 0; i < k; ++i) sum += std::int8_t(a[row * k + i]) * std::int8_t(b[column * k + i]);
  return sum;
}
using Kernel = void(GM_ADDR, GM_ADDR, GM_ADDR, TCubeTiling, int);
constexpr int kM = 40, kN = 24, kK = 96;
constexpr MatmulConfig kShape = AscendC::GetMMConfig<MatmulConfigMode::CONFIG_NORM>(MatmulShapeParams{kM, kN, kK});
constexpr auto kStatic = AscendC::GetMatmulApiTiling<In<TPosition::GM>, In<TPosition::GM, true>, Out>(kShape);
static_assert(kStatic.baseK == 128, "whole fractals of 64");

// A is (4, kM, kK), B is (2, kN, kK); stride: between the matrices of A, 0 for the kernel's own.
void batches(GM_ADDR a, GM_ADDR b, GM_ADDR c, TCubeTiling t, int stride) {
  AscendC::TPipe pipe;
  AscendC::Matmul<In<TPosition::GM>, In<TPosition::GM, true>, Out> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  if (AscendC::GetSubBlockIdx() != 0) return;
  mm.SetTensorA(global<int4b_t>(a));
  mm.SetTensorB(global<int4b_t>(b), true);
  mm.IterateBatch(global<std::int32_t>(c), 4, 2, false, stride);
}
void from_ub(GM_ADDR a, GM_ADDR b, GM_ADDR c, TCubeTiling, int) {
  using namespace AscendC;
  TPipe pipe;
  Matmul<In<TPosition::VECOUT>, In<TPosition::GM, true>, Out, Out, kStatic> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, (TCubeTiling*)nullptr);
  if (GetSubBlockIdx() != 0) return;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, kM * kK / 2);
  LocalTensor<int4b_t> tile = buffer.Get<int4b_t>();
  DataCopy(tile, global<int4b_t>(a), kM * kK);
  order<HardEvent::MTE2_MTE3>();
  mm.SetTensorA(tile);
  mm.SetTensorB(global<int4b_t>(b), true);
  mm.IterateAll(global<std::int32_t>(c));
}
TCubeTiling tiling() {
  matmul_tiling::MatmulApiTiling choice;
  using P = matmul_tiling::TPosition;
  using Nd = matmul_tiling::CubeFormat;
  choice.SetAType(P::GM, Nd::ND, matmul_tiling::DataType::DT_INT4);
  choice.SetBType(P::GM, Nd::ND, matmul_tiling::DataType::DT_INT4, true);
  choice.SetShape(kM, kN, kK);
  TCubeTiling t;
  EXPECT_EQ(choice.GetTiling(t), 0);
  return t;
}
template <Kernel* kKernel>
void expect_products(int count) {
  const auto a = numbers(4 * kM * kK, 1), b = numbers(2 * kN * kK, 2);
  Device<std::uint8_t> da(packed(a)), db(packed(b));
  Device<std::int32_t> dc(4 * kM * kN);
  twin::take_findings();
  twin::launcher<Kernel, kKernel>(1).auto_sync(false).as(twin::KernelType::MixAic12)(da, db, dc, tiling(), 0);
  EXPECT_SILENT();
  const auto c = dc.values();
  for (int q = 0; q < count; ++q) {
    for (int r = 0; r < kM; ++r) {
      for (int j = 0; j < kN; ++j)
        ASSERT_EQ(c[(q * kM + r) * kN + j], sum_of(a, b, q * kM + r, q / 2 * kN + j, kK)) << q << ", " << r << ", " << j;
    }
  }
}
TEST(MatmulInt4, Batches) { expect_products<batches>(4); }
TEST(MatmulInt4, AnOperandInUbAndConstantTiling) { expect_products<from_ub>(1); }

// ---- misuse ----
template <class K>
std::vector<twin::Finding> findings_of(const Shape& s, TCubeTiling t, Options o = {}) {
  Device<std::uint8_t> a(std::vector<std::uint8_t>(64 * 1024)), b(std::vector<std::uint8_t>(64 * 1024));
  Device<typename K::Out> c(std::vector<typename K::Out>(std::size_t(s.m) * s.n)), work(256 * 256);
  Device<std::int32_t> bias(std::vector<std::int32_t>(s.n + 64));
  o.cube_only = true;
  twin::take_findings();
  twin::launcher<void(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR, TCubeTiling, Options), product<K>>(1).as(
      twin::KernelType::AicOnly)(a, b, bias, c, work, t, o);
  return twin::take_findings();
}
template <class K>
void expect_says(const Shape& s, const TCubeTiling& t, twin::Kind kind, const char* words) {
  const auto found = findings_of<K>(s, t);
  ASSERT_FALSE(found.empty()) << "nothing was found: " << words;
  EXPECT_EQ(found[0].kind, kind) << text(found);
  EXPECT_NE(found[0].what.find(words), std::string::npos) << text(found);
  EXPECT_FALSE(found[0].fix.empty());
}
TEST(MatmulInt4, SaysWhatItCannotDo) {
  using K = Pairs<std::int32_t>;
  using Turned = Pairs<std::int32_t, F::ND, F::ND, true>;
  const Shape odd_k{64, 64, 63}, odd_n{64, 63, 64};
  expect_says<Turned>(odd_k, tiling_of<Turned>(odd_k, false), twin::Kind::Alignment, "63 and 63 elements of int4b_t");
  expect_says<K>(odd_n, tiling_of<K>(odd_n, false), twin::Kind::Alignment, "64 and 63 elements of int4b_t");
  EXPECT_TRUE(findings_of<Turned>(odd_n, tiling_of<Turned>(odd_n, false)).empty()) << "B's rows are even";
  TCubeTiling t = tiling_of<K>(kWhole, false);
  t.baseK = 96;
  expect_says<K>(kWhole, t, twin::Kind::Alignment, "multiples of 16, 16 and 64");
  using Large = Pairs<std::int32_t, F::ND, F::ND, false, CFG_MDL>;
  t = tiling_of<Large>({128, 128, 128, 1, 64, 32, 64}, false);
  t.stepN = 2;
  t.depthB1 = 4 * t.stepKb;
  expect_says<Large>(kWhole, t, twin::Kind::Alignment, "of int4, several to a transfer, turned on the way to L0: multiples");
  t = tiling_of<K>(kWhole, false);
  t.baseM = t.baseN = 16;  // turned in squares of 64 columns
  t.baseK = 4096;
  expect_says<K>(kWhole, t, twin::Kind::Capacity, "L0B has 4096 x 64 elements, 131072 bytes");
  using Scaled = Pairs<half>;
  expect_says<Scaled>(kWhole, tiling_of<Scaled>(kWhole, false), twin::Kind::Limit, "C of half from int4 needs a scale");
  const Shape nz{64, 96, 64, 1, 32, 32, 64};
  using Nz = Pairs<std::int32_t, F::ND, F::NZ>;
  expect_says<Nz>(nz, tiling_of<Nz>(nz, false), twin::Kind::Alignment, "cut the columns of 64 elements");
}
TEST(MatmulInt4, BatchesBeginAtWholeBytes) {
  Device<std::uint8_t> a(4 * kM * kK), b(2 * kN * kK);
  Device<std::int32_t> c(4 * kM * kN);
  twin::take_findings();
  twin::launcher<Kernel, batches>(1).as(twin::KernelType::MixAic12)(a, b, c, tiling(), kM * kK + 1);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << text(found);
  EXPECT_NE(found[0].what.find("an odd number of elements apart"), std::string::npos) << text(found);
}
TEST(MatmulInt4, HasATilingUnlessAIsTransposed) {
  matmul_tiling::MatmulApiTiling choice;
  using P = matmul_tiling::TPosition;
  using Nd = matmul_tiling::CubeFormat;
  EXPECT_EQ(choice.SetAType(P::GM, Nd::ND, matmul_tiling::DataType::DT_INT4, true), -1);
  const TCubeTiling t = tiling_of<Pairs<std::int32_t>>({1000, 2000, 3000, 20}, true);
  EXPECT_EQ(t.baseK % 64, 0);
  EXPECT_LE(t.baseM * t.baseK / 2, 64 * 1024);
  EXPECT_LE((t.baseN + 63) / 64 * 64 * t.baseK / 2, 64 * 1024);
  EXPECT_LE((t.depthA1 * t.baseM + t.depthB1 * t.baseN) * t.baseK / 2, 512 * 1024);
  EXPECT_EQ(t.shareL1Size, (t.depthA1 * t.baseM + t.depthB1 * t.baseN) * t.baseK / 2);
}

}  // namespace
}  // namespace twin_test
