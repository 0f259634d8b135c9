// SPDX-License-Identifier: Apache-2.0
// Instructions that are not elementwise: conversions, reductions, selections, rearrangements, padding, atomics, and the
// cube.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "support.hpp"

using namespace AscendC;

namespace {

template <class T>
LocalTensor<T> ub(int offset_bytes, int count) {
  return LocalTensor<T>(TPosition::VECCALC, offset_bytes, count);
}
template <class T>
GlobalTensor<T> gm(GM_ADDR p, int count) {
  GlobalTensor<T> t;
  t.SetGlobalBuffer((__gm__ T*)p, count);
  return t;
}
template <HardEvent event>
void order() {
  SetFlag<event>(0);
  WaitFlag<event>(0);
}

TEST(Half, ConvertsEveryValueThereAndBack) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float f = twin::half_to_float(static_cast<std::uint16_t>(bits));
    const int exponent = static_cast<int>(bits >> 10 & 31), mantissa = static_cast<int>(bits & 1023);
    if (exponent == 31) {
      ASSERT_EQ(std::isnan(f), mantissa != 0) << bits;
      if (mantissa) continue;
    } else {
      const double value = std::ldexp(exponent ? 1024 + mantissa : mantissa, (exponent ? exponent : 1) - 25);
      ASSERT_EQ(std::fabs(f), value) << bits;
    }
    ASSERT_EQ(twin::float_to_half(f), bits);
  }
}
constexpr half kLargest = static_cast<half>(65504);
constexpr bfloat16_t kMinusTwo{-2.0f};
TEST(Half, IsAConstant) {
  static_assert(kLargest.bits() == 0x7bff && static_cast<float>(kLargest) == 65504.0f, "rounded by the compiler");
  static_assert(half(1e-7f).bits() == 2 && half(1e6f).bits() == 0x7c00, "below the normal numbers, and past the largest");
  static_assert(kMinusTwo.bits() == 0xc000 && kLargest * 2 == 131008.0f, "products of constants are floats");
  EXPECT_EQ(twin::float_to_half(65504.0f), kLargest.bits());
}
TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(twin::float_to_half(1.0f + 1.0f / 2048), twin::float_to_half(1.0f));
  EXPECT_EQ(twin::float_to_half(1.0f + 3.0f / 2048), twin::float_to_half(1.0f + 2.0f / 1024));
  EXPECT_EQ(twin::float_to_half(65519.0f), 0x7bff);
  EXPECT_EQ(twin::float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(twin::float_to_half(std::ldexp(1.0f, -25)), 0);
  EXPECT_EQ(twin::float_to_half(std::ldexp(3.0f, -26)), 1);
  EXPECT_EQ(twin::float_to_bfloat(1.0f + 1.0f / 256), twin::float_to_bfloat(1.0f));
}

// ---- Copies past a GlobalTensor's end, rounded up to blocks: reported, and done where the GM is there ----
void read_past_the_tensor(GM_ADDR in, GM_ADDR out) {
  DataCopy(ub<float>(0, 16), gm<float>(in, 12), 16);
  order<HardEvent::MTE2_MTE3>();
  DataCopy(gm<float>(out, 16), ub<float>(0, 16), 16);
}
TEST(DataCopy, ReadsPastATensorWhereThereIsMemory) {
  std::vector<float> in(16);
  for (int i = 0; i < 16; ++i) in[i] = static_cast<float>(i);
  twin_test::Device<float> x(in), y(16), small(std::vector<float>(12));
  RUN(read_past_the_tensor, 1)(x, y);
  auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << twin_test::text(found);
  EXPECT_EQ(found[0].kind, twin::Kind::OutOfBounds);
  EXPECT_NE(found[0].what.find("reads bytes [0, 64) of a tensor of 48 bytes"), std::string::npos) << found[0].what;
  EXPECT_EQ(y.values(), in);
  RUN(read_past_the_tensor, 1)(small, y);
  found = twin::take_findings();
  EXPECT_NE(twin_test::text(found).find("reads bytes [0, 64) of GM buffer"), std::string::npos) << twin_test::text(found);
}

// ---- Cast ----
RoundMode cast_mode;
template <class S, class D>
void cast_kernel(GM_ADDR in, GM_ADDR out) {
  DataCopy(ub<S>(0, 64), gm<S>(in, 64), 64);
  order<HardEvent::MTE2_V>();
  Cast(ub<D>(1024, 64), ub<S>(0, 64), cast_mode, 64);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<D>(out, 64), ub<D>(1024, 64), 64);
}
template <class D, class S>
std::vector<D> cast(std::vector<S> in, RoundMode mode) {
  const std::size_t n = in.size();
  in.resize(64, S(0));
  twin_test::Device<S> x(in);
  twin_test::Device<D> y(64);
  cast_mode = mode;
  RUN((cast_kernel<S, D>), 1)(x, y);
  EXPECT_SILENT();
  auto out = y.values();
  out.resize(n);
  return out;
}
TEST(Cast, RoundsToIntegersInEveryMode) {
  const std::vector<float> in = {-2.5f, -1.5f, -1.2f, 0.5f, 1.5f, 1.7f, 2.5f};
  using V = std::vector<std::int32_t>;
  EXPECT_EQ(cast<std::int32_t>(in, RoundMode::CAST_RINT), (V{-2, -2, -1, 0, 2, 2, 2}));
  EXPECT_EQ(cast<std::int32_t>(in, RoundMode::CAST_FLOOR), (V{-3, -2, -2, 0, 1, 1, 2}));
  EXPECT_EQ(cast<std::int32_t>(in, RoundMode::CAST_CEIL), (V{-2, -1, -1, 1, 2, 2, 3}));
  EXPECT_EQ(cast<std::int32_t>(in, RoundMode::CAST_ROUND), (V{-3, -2, -1, 1, 2, 2, 3}));
  EXPECT_EQ(cast<std::int32_t>(in, RoundMode::CAST_TRUNC), (V{-2, -1, -1, 0, 1, 1, 2}));
}
TEST(Cast, SaturatesIntegersAndTurnsNanToZero) {
  EXPECT_EQ(cast<std::int16_t>(std::vector<float>{1e9f, -1e9f, NAN}, RoundMode::CAST_RINT),
            (std::vector<std::int16_t>{32767, -32768, 0}));
  EXPECT_EQ(cast<std::int8_t>(std::vector<half>{half(300), half(-300)}, RoundMode::CAST_RINT),
            (std::vector<std::int8_t>{127, -128}));
}
TEST(Cast, RoundsHalvesOddAndDown) {
  const float between = 1.0f + 1.0f / 4096;
  EXPECT_EQ(cast<half>(std::vector<float>{between}, RoundMode::CAST_ODD)[0].bits(), half(1.0f).bits() + 1);
  EXPECT_EQ(cast<half>(std::vector<float>{between}, RoundMode::CAST_FLOOR)[0].bits(), half(1.0f).bits());
  EXPECT_EQ(cast<half>(std::vector<float>{between}, RoundMode::CAST_CEIL)[0].bits(), half(1.0f).bits() + 1);
  EXPECT_EQ(cast<half>(std::vector<float>{-between}, RoundMode::CAST_FLOOR)[0].bits(), half(-1.0f).bits() + 1);
  EXPECT_EQ(cast<half>(std::vector<float>{70000.0f}, RoundMode::CAST_RINT)[0].bits(), 0x7c00);
}
TEST(Cast, BetweenBfloatAndHalfDoesNotExist) {
  twin_test::Device<bfloat16_t> x(std::vector<bfloat16_t>(64, bfloat16_t(1)));
  twin_test::Device<half> y(std::vector<half>(64, half(0)));
  RUN((cast_kernel<bfloat16_t, half>), 1)(x, y);
  EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::Limit), nullptr);
}

// ---- reductions ----
void reduce_kernel(GM_ADDR in, GM_ADDR out) {
  DataCopy(ub<float>(0, 256), gm<float>(in, 256), 256);
  order<HardEvent::MTE2_V>();
  const auto src = ub<float>(0, 256), work = ub<float>(2048, 256), d = ub<float>(4096, 64);
  Duplicate(d, 0.0f, 64);
  PipeBarrier<PIPE_V>();
  WholeReduceSum(d, src, 64, 4, 1, 1, 8);
  WholeReduceMax(d[8], src, 64, 4, 1, 1, 8);
  BlockReduceMax(d[16], src, 2, 64, 1, 1, 8);
  PairReduceSum(d[32], src, 1, 16, 1, 1, 8);
  ReduceMax(d[40], src, work, 200, true);
  PipeBarrier<PIPE_V>();
  ReduceMin(d[48], src, work, 200);
  ReduceSum(d[56], src, work, 200);
  DataCopy(gm<float>(out, 64), d, 64);
}
TEST(Reduce, EveryFormMatches) {
  std::vector<float> in(256);
  for (int i = 0; i < 256; ++i) in[i] = static_cast<float>((i * 37) % 101) - 20;
  in[150] = 500;
  twin_test::Device<float> x(in), y(64);
  RUN(reduce_kernel, 1).auto_sync(false)(x, y);
  // ReduceSum orders itself after the vector pipe, so the last copy needs only what S_MTE3 gives.
  EXPECT_SILENT();
  const auto d = y.values();
  for (int r = 0; r < 4; ++r) {
    float sum = 0;
    for (int i = 0; i < 64; ++i) sum += in[r * 64 + i];  // integers: any order
    const auto most = std::max_element(in.begin() + r * 64, in.begin() + r * 64 + 64);
    EXPECT_EQ(d[r], sum);
    EXPECT_EQ(d[8 + 2 * r], *most);
    std::uint32_t index;
    std::memcpy(&index, &d[8 + 2 * r + 1], 4);
    EXPECT_EQ(index, most - in.begin() - r * 64);
  }
  for (int b = 0; b < 16; ++b) EXPECT_EQ(d[16 + b], *std::max_element(in.begin() + b * 8, in.begin() + b * 8 + 8));
  for (int p = 0; p < 8; ++p) EXPECT_EQ(d[32 + p], in[2 * p] + in[2 * p + 1]);
  EXPECT_EQ(d[40], 500);
  std::uint32_t index;
  std::memcpy(&index, &d[41], 4);
  EXPECT_EQ(index, 150u);
  EXPECT_EQ(d[48], *std::min_element(in.begin(), in.begin() + 200));
  float sum = 0;
  for (int i = 0; i < 200; ++i) sum += in[i];
  EXPECT_EQ(d[56], sum);
}
void tree_kernel(GM_ADDR in, GM_ADDR out) {
  DataCopy(ub<float>(0, 64), gm<float>(in, 64), 64);
  order<HardEvent::MTE2_V>();
  WholeReduceSum(ub<float>(1024, 8), ub<float>(0, 64), 64, 1, 1, 1, 8);
  order<HardEvent::V_MTE3>();
  DataCopyPad(gm<float>(out, 1), ub<float>(1024, 8), DataCopyExtParams(1, 4, 0, 0, 0));
}
TEST(Reduce, SumInsideARepeatIsATree) {
  std::vector<float> in(64);
  for (int i = 0; i < 64; ++i) in[i] = std::ldexp(1.0f, (i * 11) % 40);
  twin_test::Device<float> x(in), y(1);
  RUN(tree_kernel, 1)(x, y);
  EXPECT_SILENT();
  for (int width = 64; width > 1; width /= 2) {
    for (int i = 0; i < width / 2; ++i) in[i] = in[2 * i] + in[2 * i + 1];
  }
  EXPECT_EQ(y.values()[0], in[0]);
}

// ---- compare, select, rearrange ----
void select_kernel(GM_ADDR in, GM_ADDR out) {
  const auto x = ub<float>(0, 128), d = ub<float>(1024, 128);
  const auto bits = ub<std::uint8_t>(2048, 32);
  DataCopy(x, gm<float>(in, 128), 128);
  order<HardEvent::MTE2_V>();
  CompareScalar(bits, x, 0.0f, CMPMODE::GT, 128);
  PipeBarrier<PIPE_V>();
  Select(d, bits, x, -1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 128);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(out, 128), d, 128);
}
TEST(Select, TakesTheScalarWhereTheBitIsClear) {
  std::vector<float> in(128);
  for (int i = 0; i < 128; ++i) in[i] = static_cast<float>(i % 7) - 3;
  twin_test::Device<float> x(in), y(128);
  RUN(select_kernel, 1).auto_sync(false)(x, y);
  EXPECT_SILENT();
  const auto d = y.values();
  for (int i = 0; i < 128; ++i) EXPECT_EQ(d[i], in[i] > 0 ? in[i] : -1);
}
std::uint64_t kept = 0;
void rearrange_kernel(GM_ADDR in, GM_ADDR out) {
  const auto x = ub<half>(0, 256), d = ub<half>(1024, 256), e = ub<half>(2048, 256), b = ub<half>(4096, 256);
  const auto offsets = ub<std::uint32_t>(8192, 256);
  DataCopy(x, gm<half>(in, 256), 256);
  order<HardEvent::MTE2_V>();
  Transpose(d, x);
  GatherMask(e, x, 2, false, 0, GatherMaskParams(1, 2, 8, 0), kept);
  Brcb(b, x, 2, BrcbRepeatParams(1, 8));
  PipeBarrier<PIPE_V>();
  for (int i = 0; i < 128; ++i) offsets.SetValue(i, (255 - i) * 2);
  order<HardEvent::S_V>();
  Gather(e[128], x, offsets, 0, 128);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<half>(out, 768), d, 256);
  DataCopy(gm<half>(out, 768)[256], e, 256);
  DataCopy(gm<half>(out, 768)[512], b, 256);
}
TEST(Rearrange, TransposeGatherMaskBrcbAndGather) {
  std::vector<half> in(256);
  for (int i = 0; i < 256; ++i) in[i] = half(i);
  twin_test::Device<half> x(in), y(768);
  RUN(rearrange_kernel, 1).auto_sync(false)(x, y);
  EXPECT_SILENT();
  const auto d = y.values();
  for (int i = 0; i < 256; ++i) EXPECT_EQ(float(d[i]), i % 16 * 16 + i / 16);
  EXPECT_EQ(kept, 128u);
  for (int i = 0; i < 128; ++i) EXPECT_EQ(float(d[256 + i]), 2 * i + 1);
  for (int i = 0; i < 128; ++i) EXPECT_EQ(float(d[384 + i]), 255 - i);
  for (int i = 0; i < 256; ++i) EXPECT_EQ(float(d[512 + i]), i / 16);
}
void counter_kernel(GM_ADDR in, GM_ADDR out) {
  DataCopy(ub<float>(0, 128), gm<float>(in, 128), 128);
  DataCopy(ub<float>(1024, 128), gm<float>(in, 128), 128);
  order<HardEvent::MTE2_V>();
  SetMaskCount();
  SetVectorMask<float, MaskMode::COUNTER>(100);
  Adds<float, false>(ub<float>(1024, 128), ub<float>(0, 128), 1.0f, MASK_PLACEHOLDER, 1, UnaryRepeatParams());
  SetMaskNorm();
  ResetMask();
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(out, 128), ub<float>(1024, 128), 128);
}
TEST(Mask, CounterModeCountsAllLanes) {
  twin_test::Device<float> x(std::vector<float>(128, 5.0f)), y(128);
  RUN(counter_kernel, 1)(x, y);
  EXPECT_SILENT();
  const auto d = y.values();
  for (int i = 0; i < 128; ++i) EXPECT_EQ(d[i], i < 100 ? 6 : 5) << i;
}
void compare_under_a_mask(GM_ADDR out) {
  Duplicate(ub<float>(0, 64), 1.0f, 64);
  Duplicate(ub<float>(1024, 64), 0.0f, 64);
  PipeBarrier<PIPE_V>();
  SetMaskNorm();
  SetVectorMask<float, MaskMode::NORMAL>(0, 0xf);
  Compare<float, uint8_t, false>(ub<uint8_t>(2048, 32), ub<float>(0, 64), ub<float>(1024, 64), CMPMODE::GT, MASK_PLACEHOLDER,
                                 1, {1, 1, 1, 8, 8, 8});
  PipeBarrier<PIPE_V>();
  Adds<float, false>(ub<float>(1024, 64), ub<float>(0, 64), 1.0f, MASK_PLACEHOLDER, 1, UnaryRepeatParams());
  ResetMask();
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(out, 64), ub<float>(1024, 64), 64);
}
TEST(Mask, ACompareThatSetsNoneLeavesTheRegister) {
  twin_test::Device<float> y(64);
  RUN(compare_under_a_mask, 1)(y);
  EXPECT_SILENT();
  const auto d = y.values();
  for (int i = 0; i < 64; ++i) EXPECT_EQ(d[i], i < 4 ? 2 : 0) << i;
}

// ---- moves ----
void pad_kernel(GM_ADDR in, GM_ADDR out) {
  DataCopyPad(ub<float>(0, 64), gm<float>(in, 64), DataCopyExtParams(3, 20, 4, 1, 0),
              DataCopyPadExtParams<float>(true, 1, 2, 9.0f));
  order<HardEvent::MTE2_MTE3>();
  DataCopyPad(gm<float>(out, 64), ub<float>(0, 64), DataCopyExtParams(3, 32, 1, 8, 0));
}
TEST(DataCopyPad, FillsBothSidesAndStepsOverGaps) {
  std::vector<float> in(64);
  for (int i = 0; i < 64; ++i) in[i] = static_cast<float>(i);
  twin_test::Device<float> x(in), y(std::vector<float>(64, -1.0f));
  RUN(pad_kernel, 1)(x, y);
  EXPECT_SILENT();
  const auto d = y.values();
  for (int r = 0; r < 3; ++r) {
    EXPECT_EQ(d[r * 10], 9);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(d[r * 10 + 1 + i], r * 6 + i);
    EXPECT_EQ(d[r * 10 + 6], 9);
    EXPECT_EQ(d[r * 10 + 7], 9);
    EXPECT_EQ(d[r * 10 + 8], -1);
  }
}
void atomic_kernel(GM_ADDR in, GM_ADDR out) {
  DataCopy(ub<float>(0, 64), gm<float>(in, 64), 64);
  order<HardEvent::MTE2_MTE3>();
  SetAtomicAdd<float>();
  DataCopy(gm<float>(out, 64), ub<float>(0, 64), 64);
  SetAtomicNone();
}
TEST(Atomic, AddsOfAllCoresMeetWithoutARace) {
  twin_test::Device<float> x(std::vector<float>(64, 2.0f)), y(std::vector<float>(64, 1.0f));
  RUN(atomic_kernel, 40)(x, y);
  EXPECT_SILENT();
  EXPECT_EQ(y.values()[63], 81.0f);
}

// ---- cube ----
template <class T, class C>
void cube_kernel(GM_ADDR a, GM_ADDR b, GM_ADDR c, int m, int n, int k) {
  constexpr int kC0 = 32 / sizeof(T);
  const int fm = (m + 15) / 16, fn = (n + 15) / 16, fk = (k + kC0 - 1) / kC0;
  LocalTensor<T> a1(TPosition::A1, 0, 65536 / sizeof(T)), b1(TPosition::B1, 131072, 65536 / sizeof(T));
  LocalTensor<T> a2(TPosition::A2, 0, 65536 / sizeof(T)), b2(TPosition::B2, 0, 65536 / sizeof(T));
  LocalTensor<C> l0c(TPosition::CO1, 0, fm * fn * 256);
  InitConstValue(a1, InitConstValueParams<T>(1, fm * 16 * fk, 0, T(0)));
  InitConstValue(b1, InitConstValueParams<T>(1, fn * 16 * fk, 0, T(0)));
  PipeBarrier<PIPE_MTE2>();
  DataCopy(a1, gm<T>(a, m * k), Nd2NzParams(1, m, k, 0, k, fm * 16, 1, 0));
  DataCopy(b1, gm<T>(b, n * k), Nd2NzParams(1, n, k, 0, k, fn * 16, 1, 0));  // B comes transposed: rows of n
  order<HardEvent::MTE2_MTE1>();
  for (int r = 0; r < fm; ++r) LoadData(a2[r * fk * 16 * kC0], a1, LoadData2DParams(r, fk, fm, 0, 0, false, 0));
  LoadData(b2, b1, LoadData2DParams(0, fk * fn, 1, 0, 0, false, 0));  // (n, k) row-major fractals are Zn fractals of (k, n)
  order<HardEvent::MTE1_M>();
  Mmad(l0c, a2, b2, MmadParams(m, n, k, false));
  order<HardEvent::M_FIX>();
  FixpipeParamsV220 p(fn * 16, m, fm * 16, fn * 16, false);
  Fixpipe(gm<C>(c, m * fn * 16), l0c, p);
}
template <class T, class C>
void check_cube(int m, int n, int k) {
  std::mt19937 random(static_cast<unsigned>(m * 10007 + n * 101 + k));
  const int width = (n + 15) / 16 * 16;
  std::vector<T> a(m * k), b(n * k);
  for (T& v : a) v = T(static_cast<int>(random() % 9) - 4);
  for (T& v : b) v = T(static_cast<int>(random() % 9) - 4);
  twin_test::Device<T> da(a), db(b);
  twin_test::Device<C> dc(m * width);
  RUN((cube_kernel<T, C>), 1).as(twin::KernelType::AicOnly)(da, db, dc, m, n, k);
  EXPECT_SILENT();
  const auto c = dc.values();
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p) sum += static_cast<double>(a[i * k + p]) * static_cast<double>(b[j * k + p]);
      ASSERT_EQ(static_cast<double>(c[i * width + j]), sum) << m << " " << n << " " << k << " at " << i << ", " << j;
    }
  }
}
TEST(Mmad, MatchesInEveryTypeAndAtRaggedSizes) {
  for (const auto& [m, n, k] : {std::tuple(16, 16, 16), std::tuple(48, 32, 64), std::tuple(20, 24, 40),
                                std::tuple(100, 80, 96), std::tuple(2, 16, 48)}) {
    check_cube<half, float>(m, n, k);
    check_cube<bfloat16_t, float>(m, n, k);
    check_cube<float, float>(m, n, k);
    check_cube<std::int8_t, std::int32_t>(m, n, k);
  }
}
void fixpipe_kernel(GM_ADDR a, GM_ADDR c) {
  LocalTensor<half> a1(TPosition::A1, 0, 256), a2(TPosition::A2, 0, 256), b2(TPosition::B2, 0, 256);
  LocalTensor<float> l0c(TPosition::CO1, 0, 256);
  DataCopy(a1, gm<half>(a, 256), Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  LoadData(a2, a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  LoadDataWithTranspose(b2, a1, LoadData2dTransposeParams(0, 1, 1, 0, 0));
  order<HardEvent::MTE1_M>();
  Mmad(l0c, a2, b2, MmadParams(16, 16, 16, false));
  order<HardEvent::M_FIX>();
  FixpipeParamsV220 p(16, 16, 16, 16, true);
  p.quantPre = F322F16;
  Fixpipe(gm<half>(c, 256), l0c, p);
}
TEST(Fixpipe, RoundsToHalfAndAppliesRelu) {
  std::vector<half> a(256);
  for (int i = 0; i < 256; ++i) a[i] = half(static_cast<float>(i * 7 % 23) - 11);
  twin_test::Device<half> x(a), y(256);
  RUN(fixpipe_kernel, 1).as(twin::KernelType::AicOnly)(x, y);
  EXPECT_SILENT();
  const auto c = y.values();
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      float sum = 0;
      for (int p = 0; p < 16; ++p) sum += float(a[i * 16 + p]) * float(a[p * 16 + j]);  // LoadDataWithTranspose: B = A
      EXPECT_EQ(float(c[i * 16 + j]), float(half(std::max(sum, 0.0f))));
    }
  }
}

// ---- determinism ----
TEST(Run, GivesTheSameCyclesEveryTime) {
  twin_test::Device<float> x(std::vector<float>(64, 2.0f)), y(std::vector<float>(64, 1.0f));
  twin::settings().keep_trace = true;
  RUN(atomic_kernel, 48)(x, y);
  const double first = twin::last_timing().cycles;
  const std::string trace = twin::last_chrome_trace();
  for (int i = 0; i < 3; ++i) {
    twin_test::Device<float> another(std::vector<float>(1000, 0.0f));
    RUN(atomic_kernel, 48)(x, y);
    EXPECT_EQ(first, twin::last_timing().cycles);
    EXPECT_EQ(trace, twin::last_chrome_trace());
  }
  EXPECT_NE(trace.find("\"MTE2\""), std::string::npos);
  twin::settings().keep_trace = false;
}

}  // namespace
