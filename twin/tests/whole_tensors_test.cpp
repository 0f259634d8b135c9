// SPDX-License-Identifier: Apache-2.0
// Operators between tensors, and other spellings that kernels in the wild use.
#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

constexpr int kN = 128;

// ---- dst = a op b ----
template <class T, int kOp>
void operator_kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, bool by_name) {
  LocalTensor<T> a = ub<T>(0, kN), b = ub<T>(1024, kN), c = ub<T>(2048, kN);
  DataCopy(a, gm<T>(x, kN), kN);
  DataCopy(b, gm<T>(y, kN), kN);
  order<HardEvent::MTE2_V>();
  if constexpr (kOp == 0) by_name ? Add(c, a, b, kN) : void(c = a + b);
  if constexpr (kOp == 1) by_name ? Sub(c, a, b, kN) : void(c = a - b);
  if constexpr (kOp == 2) by_name ? Mul(c, a, b, kN) : void(c = a * b);
  if constexpr (kOp == 3) by_name ? Div(c, a, b, kN) : void(c = a / b);
  if constexpr (kOp == 4) by_name ? And(c, a, b, kN) : void(c = a & b);
  if constexpr (kOp == 5) by_name ? Or(c, a, b, kN) : void(c = a | b);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<T>(z, kN), c, kN);
}
template <class T, int kOp>
void check_operator() {
  std::vector<T> a(kN), b(kN);
  for (int k = 0; k < kN; ++k) a[k] = T(k - 60), b[k] = T(k % 7 + 1);
  const twin_test::Device<T> x(a), y(b), named(kN), signed_(kN);
  RUN((operator_kernel<T, kOp>), 1)(x, y, named, true);
  RUN((operator_kernel<T, kOp>), 1)(x, y, signed_, false);
  EXPECT_SILENT();
  const auto want = named.values(), got = signed_.values();
  for (int k = 0; k < kN; ++k) EXPECT_EQ(float(got[k]), float(want[k])) << kOp << " " << k;
}
TEST(WholeTensors, OperatorsAreTheInstructions) {
  check_operator<float, 0>();
  check_operator<float, 1>();
  check_operator<half, 2>();
  check_operator<half, 3>();
  check_operator<std::int16_t, 4>();
  check_operator<std::uint16_t, 5>();
}

template <int kMode>
void comparison_kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  LocalTensor<float> a = ub<float>(0, kN), b = ub<float>(1024, kN);
  LocalTensor<std::uint8_t> c = ub<std::uint8_t>(2048, 32);
  DataCopy(a, gm<float>(x, kN), kN);
  DataCopy(b, gm<float>(y, kN), kN);
  order<HardEvent::MTE2_V>();
  Duplicate(c.ReinterpretCast<std::int16_t>(), std::int16_t(0), 16);
  PipeBarrier<PIPE_V>();
  if constexpr (kMode == 0) c = a < b;
  if constexpr (kMode == 1) c = a > b;
  if constexpr (kMode == 2) c = a == b;
  if constexpr (kMode == 3) c = a <= b;
  if constexpr (kMode == 4) c = a >= b;
  if constexpr (kMode == 5) c = a != b;
  order<HardEvent::V_MTE3>();
  DataCopy(gm<std::uint8_t>(z, 32), c, 32);
}
template <int kMode>
void check_comparison(bool (*holds)(float, float)) {
  std::vector<float> a(kN), b(kN);
  for (int k = 0; k < kN; ++k) a[k] = k % 5, b[k] = k % 3;
  const twin_test::Device<float> x(a), y(b);
  const twin_test::Device<std::uint8_t> z(32);
  RUN(comparison_kernel<kMode>, 1)(x, y, z);
  EXPECT_SILENT();
  const auto got = z.values();
  for (int k = 0; k < kN; ++k) EXPECT_EQ(got[k / 8] >> (k % 8) & 1, holds(a[k], b[k])) << kMode << " " << k;
}
TEST(WholeTensors, ComparisonsGiveABitAnElement) {
  check_comparison<0>([](float a, float b) { return a < b; });
  check_comparison<1>([](float a, float b) { return a > b; });
  check_comparison<2>([](float a, float b) { return a == b; });
  check_comparison<3>([](float a, float b) { return a <= b; });
  check_comparison<4>([](float a, float b) { return a >= b; });
  check_comparison<5>([](float a, float b) { return a != b; });
}

int first_line, second_line;
void race_kernel(GM_ADDR x) {
  LocalTensor<float> a = ub<float>(0, kN), b = ub<float>(1024, kN);
  Duplicate(a, 1.0f, kN);
  PipeBarrier<PIPE_V>();
  b = a + a, first_line = __LINE__;
  b = b * a, second_line = __LINE__;
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(x, kN), b, kN);
}
TEST(WholeTensors, AreReportedWithTheirLines) {
  const twin_test::Device<float> x(kN);
  RUN(race_kernel, 1).auto_sync(false)(x);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << twin_test::text(found);
  EXPECT_TRUE(twin_test::ends_with(found[0].line_a, twin_test::at(second_line))) << found[0].line_a;
  EXPECT_TRUE(twin_test::ends_with(found[0].line_b, twin_test::at(first_line))) << found[0].line_b;
}

// ---- And, Or, Not of bytes: not of this chip ----
void bytes_kernel(GM_ADDR x, GM_ADDR y) {
  LocalTensor<std::uint8_t> a = ub<std::uint8_t>(0, 64), b = ub<std::uint8_t>(64, 64), c = ub<std::uint8_t>(128, 64);
  DataCopy(a, gm<std::uint8_t>(x, 64), 64);
  DataCopy(b, gm<std::uint8_t>(x, 128)[64], 64);
  order<HardEvent::MTE2_V>();
  for (int k = 0; k < 2; ++k) And(c, a, b, 64);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<std::uint8_t>(y, 64), c, 64);
}
TEST(Bytes, OfAndAreReportedOnceAndDone) {
  std::vector<std::uint8_t> in(128);
  for (int k = 0; k < 128; ++k) in[k] = static_cast<std::uint8_t>(k * 37);
  const twin_test::Device<std::uint8_t> x(in), y(64);
  RUN(bytes_kernel, 1)(x, y);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << twin_test::text(found);
  EXPECT_EQ(found[0].kind, twin::Kind::Limit);
  const auto out = y.values();
  for (int k = 0; k < 64; ++k) EXPECT_EQ(out[k], in[k] & in[k + 64]) << k;
}

// ---- more repeats than 8 bits hold ----
int repeats_line;
void repeats_kernel(GM_ADDR x, int repeats) {
  LocalTensor<float> a = ub<float>(0, 64 * 260);
  Duplicate(a, 0.0f, 64 * 260);
  PipeBarrier<PIPE_V>();
  Adds(a, a, 1.0f, 64, repeats, {1, 1, 8, 8}), repeats_line = __LINE__;
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(x, 64 * 260), a, 64 * 260);
}
TEST(Repeats, BeyondEightBitsAreReportedWhereTheyAreGiven) {
  const twin_test::Device<float> x(64 * 260);
  RUN(repeats_kernel, 1)(x, 255);
  EXPECT_SILENT();
  EXPECT_EQ(x.values()[64 * 255 - 1], 1);
  RUN(repeats_kernel, 1)(x, 258);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << twin_test::text(found);
  EXPECT_EQ(found[0].kind, twin::Kind::Limit);
  EXPECT_TRUE(twin_test::ends_with(found[0].line_a, twin_test::at(repeats_line))) << found[0].line_a;
  EXPECT_EQ(x.values()[127], 1);
  EXPECT_EQ(x.values()[128], 0);
}

// ---- elements, defaults, buffers ----
void element_kernel(GM_ADDR x, GM_ADDR y) {
  const auto in = gm<std::int32_t>(x, 16);
  LocalTensor<std::int32_t> a = ub<std::int32_t>(0, 8);
  a(0) = 3;
  a(0) += in(1);
  a(1) = 5;
  a(1) -= 2;
  a(1) *= 7;
  a(1) /= 2;
  for (int k = 2; k < 8; ++k) a(k) = 0;
  order<HardEvent::S_MTE3>();
  DataCopy(gm<std::int32_t>(y, 8), a, 8);
}
TEST(Element, TakesCompoundAssignments) {
  const twin_test::Device<std::int32_t> x(std::vector<std::int32_t>(16, 4)), y(8);
  RUN(element_kernel, 1)(x, y);
  EXPECT_SILENT();
  EXPECT_EQ(y.values()[0], 7);
  EXPECT_EQ(y.values()[1], 10);
}

void defaults_kernel(GM_ADDR x, GM_ADDR y) {
  LocalTensor<float> a = ub<float>(0, 256), b = ub<float>(1024, 128);
  const DataCopyParams whole(1, 32, 0, 0);
  DataCopy(a, gm<float>(x, 256), whole, {});  // DataCopyEnhancedParams
  order<HardEvent::MTE2_V>();
  GatherMaskParams p;
  p.repeatTimes = 4;
  std::uint64_t kept = 0;
  GatherMask(b, a, 2, false, MASK_PLACEHOLDER, p, kept);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(y, 128), b, 128);
}
TEST(GatherMaskParams, GoesFromRepeatToRepeatByItself) {
  std::vector<float> in(256);
  for (int k = 0; k < 256; ++k) in[k] = k;
  const twin_test::Device<float> x(in), y(128);
  RUN(defaults_kernel, 1)(x, y);
  EXPECT_SILENT();
  for (int k = 0; k < 128; ++k) EXPECT_EQ(y.values()[k], 2 * k + 1) << k;
}

void buffers_kernel(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
  TBuf<> buffer;
  pipe.InitBuffer(queue, 1, kN * sizeof(float));
  pipe.InitBuffer(buffer, kN * sizeof(float));
  LocalTensor<float> a = queue.AllocTensor<float>(), one = buffer.AllocTensor<float>();
  Duplicate(one, 1.0f, kN);
  DataCopy(a, gm<float>(x, kN), kN);
  queue.EnQue(a);
  queue.DeQue();  // and goes on with a
  order<HardEvent::MTE2_V>();
  PipeBarrier<PIPE_V>();
  Add(a, a, one, kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(y, kN), a, kN);
  queue.FreeTensor(a);
  buffer.FreeTensor(one);
}
TEST(Queue, GivesATensorBackThatTheKernelHolds) {
  const twin_test::Device<float> x(std::vector<float>(kN, 2)), y(kN);
  RUN(buffers_kernel, 1)(x, y);
  EXPECT_SILENT();
  EXPECT_EQ(y.values()[kN - 1], 3);
}

// In place: in from GM, computed, out again, by the events of both ways.
template <bool kPositions>
void in_place_kernel(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 2, kN * sizeof(float));
  for (int k = 0; k < 3; ++k) {
    LocalTensor<float> t = queue.AllocTensor<float>();
    DataCopy(t, gm<float>(x, 3 * kN)[k * kN], kN);
    if constexpr (kPositions) {
      queue.EnQue<TPosition::GM, TPosition::VECIN, float>(t);
      t = queue.DeQue<TPosition::GM, TPosition::VECIN, float>();
      Adds(t, t, 1.0f, kN);
      queue.EnQue<TPosition::VECOUT, TPosition::GM, float>(t);
      t = queue.DeQue<TPosition::VECOUT, TPosition::GM, float>();
    } else {
      queue.EnQue(t);
      queue.DeQue();
      PipeBarrier<PIPE_ALL>();
      Adds(t, t, 1.0f, kN);
      queue.EnQue(t);
      queue.DeQue();
      PipeBarrier<PIPE_ALL>();
    }
    DataCopy(gm<float>(y, 3 * kN)[k * kN], t, kN);
    queue.FreeTensor(t);
  }
}
TEST(Queue, OfTwoPositionsTakesATensorTwice) {
  std::vector<float> in(3 * kN);
  for (int k = 0; k < 3 * kN; ++k) in[k] = k;
  const twin_test::Device<float> x(in), y(3 * kN), z(3 * kN);
  RUN(in_place_kernel<true>, 1).auto_sync(false)(x, y);
  RUN(in_place_kernel<false>, 1).auto_sync(false)(x, z);
  EXPECT_SILENT();
  for (int k = 0; k < 3 * kN; ++k) {
    EXPECT_EQ(y.values()[k], k + 1);
    EXPECT_EQ(z.values()[k], k + 1);
  }
}
void half_way_kernel(GM_ADDR x) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, kN * sizeof(float));
  LocalTensor<float> t = queue.AllocTensor<float>();
  DataCopy(t, gm<float>(x, kN), kN);
  queue.EnQue(t);  // the events of a tensor that goes through as it is
  t = queue.DeQue<float>();
  Adds(t, t, 1.0f, kN);
  queue.FreeTensor(t);
}
TEST(Queue, OfTwoPositionsOrdersNoVectorUnlessToldTo) {
  const twin_test::Device<float> x(kN);
  RUN(half_way_kernel, 1)(x);
  EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::ReadAfterWrite), nullptr);
}

TEST(Constants, AreThoseOfTheDevicesHeaders) {
  const std::uint32_t shape[] = {Ceil(100, 8u), Ceil(std::uint8_t(3), B32_DATA_NUM_PER_BLOCK), Ceil(0, 4)};
  EXPECT_EQ(shape[0], 13u);
  EXPECT_EQ(shape[1], 1u);
  EXPECT_EQ(shape[2], 0u);
  EXPECT_EQ(B16_DATA_NUM_PER_BLOCK * B16_BYTE_SIZE, 32);
  EXPECT_EQ(B32_DATA_NUM_PER_REPEAT * B32_BYTE_SIZE, 256);
  EXPECT_EQ(AscendCUtils::GetBitSize(sizeof(std::uint8_t)), 8);
  EXPECT_EQ(sbitset0(0xff, 3), 0xf7u);
  EXPECT_EQ(sbitset1(0, 40), 1ull << 40);
}

// ---- a comparison whose count is no whole repeat ----
void part_of_a_repeat_kernel(GM_ADDR x, GM_ADDR z) {
  LocalTensor<float> a = ub<float>(0, kN);
  LocalTensor<uint8_t> bits = ub<uint8_t>(1024, 32);
  DataCopy(a, gm<float>(x, kN), kN);
  Duplicate(bits.ReinterpretCast<uint16_t>(), uint16_t(0), 16);
  order<HardEvent::MTE2_V>();
  PipeBarrier<PIPE_V>();
  CompareScalar(bits, a, 30.0f, CMPMODE::LT, 40);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<uint8_t>(z, 32), bits, 32);
}
TEST(Compare, OfPartOfARepeatIsReportedAndDone) {
  std::vector<float> values(kN);
  for (int k = 0; k < kN; ++k) values[k] = float(k);
  const twin_test::Device<float> x(values);
  const twin_test::Device<uint8_t> z(32);
  RUN(part_of_a_repeat_kernel, 1)(x, z);
  twin_test::expect_found(twin::Kind::Alignment, "CompareScalar of 40 elements: they must fill whole 256-byte repeats");
  const auto got = z.values();
  EXPECT_EQ(std::vector<int>(got.begin(), got.begin() + 6), (std::vector<int>{0xff, 0xff, 0xff, 0x3f, 0, 0}));
}

// ---- tensors of a trait ----
using Trait = TensorTrait<float, TPosition::VECCALC>;
static_assert(is_tensorTrait<Trait>::value && !is_tensorTrait<float>::value && std::is_same_v<PrimT<Trait>, float>);
void traits_kernel(GM_ADDR x, GM_ADDR z) {
  GlobalTensor<Trait> in, out;
  in.SetGlobalBuffer((__gm__ float*)x, kN);
  out.SetGlobalBuffer((__gm__ float*)z, kN);
  LocalTensor<Trait> a(TPosition::VECCALC, 0, kN), b(TPosition::VECCALC, 1024, kN);
  DataCopy(a, in, kN);
  order<HardEvent::MTE2_V>();
  Muls(b, a, 2.0f, kN);
  PipeBarrier<PIPE_V>();
  Adds(b[64], b[64], 1.0f, 64, 1, {1, 1, 8, 8});
  order<HardEvent::V_S>();
  b.SetValue(3, b.GetValue(2) + 1.0f);
  order<HardEvent::S_MTE3>();
  order<HardEvent::V_MTE3>();
  DataCopy(out[8], b[8], kN - 8);
  DataCopy(out, b, 8);
}
TEST(TensorTrait, StandsForItsElements) {
  std::vector<float> values(kN);
  for (int k = 0; k < kN; ++k) values[k] = float(k);
  const twin_test::Device<float> x(values), z(kN);
  RUN(traits_kernel, 1)(x, z);
  EXPECT_SILENT();
  const auto got = z.values();
  for (int k = 0; k < kN; ++k) EXPECT_EQ(got[k], k == 3 ? 5.0f : 2.0f * float(k) + (k >= 64 ? 1.0f : 0.0f)) << k;
  const auto made = MakeTensorTrait<half, TPosition::VECIN>(MakeLayout(MakeShape(10, 20), MakeStride(20, 1)));
  EXPECT_EQ(Std::get<1>(made.GetLayout().GetShape()), 20);
  EXPECT_EQ(Std::get<0>(made.GetLayout().layout().GetStride()), 20);
  EXPECT_EQ(decltype(made)::tPos, TPosition::VECIN);
}

}  // namespace
