// SPDX-License-Identifier: Apache-2.0
// int4b_t, two to a byte: tensors, copies, Cast in every mode and form, the cube; and what is refused.
#include <cmath>
#include <random>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

using Bytes = std::vector<std::uint8_t>;
int element(const Bytes& packed, std::size_t k) {
  const int nibble = packed[k / 2] >> (k % 2 * 4) & 15;
  return nibble < 8 ? nibble : nibble - 16;
}
Bytes random_bytes(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  Bytes out(n);
  for (auto& b : out) b = static_cast<std::uint8_t>(random());
  return out;
}

TEST(Int4, IsANumberFromMinusEightToSeven) {
  for (int v = -40; v < 40; ++v) {
    const int want = ((v % 16 + 16) % 16 + 8) % 16 - 8;
    EXPECT_EQ(std::int8_t(int4b_t(v)), want) << v;
  }
  EXPECT_EQ(twin::elements_in<int4b_t>(32), 64u);
  EXPECT_EQ(twin::bytes_of<int4b_t>(64), 32u);
  EXPECT_EQ(twin::bytes_of<int4b_t>(3), 2u);
  EXPECT_EQ(twin::bytes_of<half>(3), 6u);
}

// ---- tensors ----
void int4_tensor_kernel(GM_ADDR in, GM_ADDR out) {
  auto x = gm<int4b_t>(in, 256);
  auto y = gm<int4b_t>(out, 256);
  ASSERT_EQ(x.GetSize(), 256u);
  ASSERT_EQ(x[64].GetSize(), 192u);
  ASSERT_EQ(reinterpret_cast<std::uint8_t*>(x.GetPhyAddr(64)) - in, 32);
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  TBuf<> buffer;
  pipe.InitBuffer(queue, 1, 128);
  pipe.InitBuffer(buffer, 256);
  ASSERT_EQ(buffer.Get<int4b_t>().GetSize(), 512u);
  ASSERT_EQ(buffer.Get<int4b_t>(64).GetLength(), 32u);
  ASSERT_EQ(buffer.GetWithOffset<int4b_t>(128, 64).GetLength(), 64u);
  LocalTensor<int4b_t> a = queue.AllocTensor<int4b_t>();
  ASSERT_EQ(a.GetSize(), 256u);
  DataCopy(a, x, 256);  // elements
  queue.EnQue(a);
  queue.DeQue(a);
  ASSERT_EQ(a.ReinterpretCast<std::int8_t>().GetSize(), 128u);
  ASSERT_EQ(a.ReinterpretCast<std::int32_t>()[8].ReinterpretCast<int4b_t>().GetSize(), 192u);
  SetFlag<HardEvent::MTE2_S>(0);
  WaitFlag<HardEvent::MTE2_S>(0);
  const int third = std::int8_t(a.GetValue(3)), last = std::int8_t(a[64].GetValue(191));
  a.SetValue(0, third);
  a(1) = int4b_t(last);
  ASSERT_EQ(std::int8_t(x.GetValue(5)), std::int8_t(a.GetValue(5)));
  SetFlag<HardEvent::S_MTE3>(0);
  WaitFlag<HardEvent::S_MTE3>(0);
  DataCopy(y[128], a[128], 128);
  DataCopyPad(y, a, DataCopyExtParams(1, 64, 0, 0, 0));  // bytes
  queue.FreeTensor(a);
}
TEST(Int4, TensorsCountElementsOfHalfAByte) {
  const Bytes in = random_bytes(128, 1);
  twin_test::Device<std::uint8_t> x(in), y(128);
  RUN(int4_tensor_kernel, 1)(x, y);
  EXPECT_SILENT();
  const Bytes out = y.values();
  for (int k = 0; k < 256; ++k) EXPECT_EQ(element(out, k), element(in, k == 0 ? 3 : k == 1 ? 255 : k)) << k;
}

void int4_padding_kernel(GM_ADDR in, GM_ADDR out) {
  const auto a = ub<int4b_t>(0, 3 * 64);
  DataCopyPad(a, gm<int4b_t>(in, 80), DataCopyExtParams(2, 20, 0, 0, 0), DataCopyPadExtParams<int4b_t>(true, 4, 20, -3));
  order<HardEvent::MTE2_MTE3>();
  DataCopy(gm<int4b_t>(out, 128), a, 128);
}
TEST(Int4, DataCopyPadCountsBytesAndPadsElements) {
  const Bytes in = random_bytes(40, 2);
  twin_test::Device<std::uint8_t> x(in), y(64);
  RUN(int4_padding_kernel, 1)(x, y);
  EXPECT_SILENT();
  const Bytes out = y.values();
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 64; ++c)
      ASSERT_EQ(element(out, r * 64 + c), c < 4 || c >= 44 ? -3 : element(in, r * 40 + c - 4)) << r << " " << c;
  }
}

// ---- Cast ----
enum Form { kCount, kFirst, kBits, kRepeats };
constexpr std::uint64_t kMask[2] = {0x8000ffff00f1ull, 0x3ull};
// Lanes of the destination that a form writes; two repeats of 128, the second's blocks three apart.
bool writes(Form form, int lane) {
  if (form == kCount) return lane < 250;
  if (form == kFirst) return lane % 128 < 77;
  if (form == kBits) return kMask[lane % 128 / 64] >> (lane % 64) & 1;
  return true;
}
template <class D, class S>
void cast_kernel(GM_ADDR in, GM_ADDR out, int in_count, int out_count, RoundMode mode, Form form) {
  const auto a = ub<S>(0, in_count);
  const auto d = ub<D>(4096, out_count);
  DataCopy(a, gm<S>(in, in_count), in_count);
  DataCopy(d, gm<D>(out, out_count), out_count);
  order<HardEvent::MTE2_V>();
  const std::uint8_t to = sizeof(D) == 1 ? 2 : 8, from = sizeof(S) == 1 ? 2 : 8;  // blocks of a repeat
  std::uint64_t mask[2] = {kMask[0], kMask[1]};
  if (form == kCount) Cast(d, a, mode, 250);
  if (form == kFirst) Cast(d, a, mode, 77, 2, UnaryRepeatParams(1, 1, to, from));
  if (form == kBits) Cast(d, a, mode, mask, 2, UnaryRepeatParams(1, 1, to, from));
  if (form == kRepeats) Cast(d, a, mode, 128, 2, UnaryRepeatParams(1, 1, to, from));
  order<HardEvent::V_MTE3>();
  DataCopy(gm<D>(out, out_count), d, out_count);
}
int rounded(double x, RoundMode mode) {
  const double r = mode == RoundMode::CAST_FLOOR   ? std::floor(x)
                   : mode == RoundMode::CAST_CEIL  ? std::ceil(x)
                   : mode == RoundMode::CAST_ROUND ? std::round(x)
                   : mode == RoundMode::CAST_TRUNC ? std::trunc(x)
                                                   : std::nearbyint(x);
  return std::isnan(r) ? 0 : static_cast<int>(std::min(7.0, std::max(-8.0, r)));
}
TEST(Int4, CastFromHalfRoundsInEveryModeAndForm) {
  std::mt19937 random(3);
  std::vector<half> in(256);
  for (half& v : in) v = half(static_cast<float>(random() % 96) / 4 - 12);  // quarters, some outside
  in[0] = half(NAN), in[1] = half(INFINITY), in[4] = half(-INFINITY);
  const Bytes old = random_bytes(128, 4);
  for (const RoundMode mode : {RoundMode::CAST_NONE, RoundMode::CAST_RINT, RoundMode::CAST_FLOOR, RoundMode::CAST_CEIL,
                               RoundMode::CAST_ROUND, RoundMode::CAST_TRUNC}) {
    for (const Form form : {kCount, kFirst, kBits, kRepeats}) {
      twin_test::Device<half> x(in);
      twin_test::Device<std::uint8_t> y(old);
      RUN((cast_kernel<int4b_t, half>), 1)(x, y, 256, 256, mode, form);
      EXPECT_SILENT();
      const Bytes out = y.values();
      for (int k = 0; k < 256; ++k)
        ASSERT_EQ(element(out, k), writes(form, k) ? rounded(float(in[k]), mode) : element(old, k))
            << "lane " << k << " of " << float(in[k]) << " in mode " << int(mode) << ", form " << form;
    }
  }
}
TEST(Int4, CastToHalfIsExactInEveryForm) {
  const Bytes in = random_bytes(128, 5);
  for (const Form form : {kCount, kFirst, kBits, kRepeats}) {
    twin_test::Device<std::uint8_t> x(in);
    twin_test::Device<half> y(std::vector<half>(256, half(99)));
    RUN((cast_kernel<half, int4b_t>), 1)(x, y, 256, 256, RoundMode::CAST_NONE, form);
    EXPECT_SILENT();
    const auto out = y.values();
    for (int k = 0; k < 256; ++k)
      ASSERT_EQ(float(out[k]), writes(form, k) ? float(element(in, k)) : 99.0f) << "lane " << k << ", form " << form;
  }
}
void int4_in_place_kernel(GM_ADDR in, GM_ADDR out) {
  DataCopy(ub<int4b_t>(0, 512), gm<int4b_t>(in, 512), 512);
  order<HardEvent::MTE2_V>();
  Cast(ub<half>(0, 512), ub<int4b_t>(0, 512), RoundMode::CAST_NONE, 512);
  PipeBarrier<PIPE_V>();
  Cast(ub<int4b_t>(0, 512), ub<half>(0, 512), RoundMode::CAST_RINT, 512);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<int4b_t>(out, 512), ub<int4b_t>(0, 512), 512);
}
TEST(Int4, CastsOverItsOwnSource) {
  const Bytes in = random_bytes(256, 6);
  twin_test::Device<std::uint8_t> x(in), y(256);
  RUN(int4_in_place_kernel, 1).auto_sync(false)(x, y);
  EXPECT_SILENT();
  EXPECT_EQ(y.values(), in);
}

// ---- the cube: A as it lies, B turned by LoadDataWithTranspose; the copies to L1 count bytes ----
constexpr int kK = 128, kN = 64;
void int4_cube_kernel(GM_ADDR a, GM_ADDR b, GM_ADDR out, int m) {
  LocalTensor<int4b_t> a1(TPosition::A1, 0, 16 * kK), b1(TPosition::B1, 65536, kK * kN);
  LocalTensor<int4b_t> a2(TPosition::A2, 0, 16 * kK), b2(TPosition::B2, 0, kK * kN);
  LocalTensor<std::int32_t> c(TPosition::CO1, 0, 16 * kN);
  const auto bytes = [](GM_ADDR p, int n) { return gm<std::int8_t>(p, n); };
  if (m == 1) {
    DataCopy(a1, gm<int4b_t>(a, kK), kK);
  } else {
    DataCopy(a1.ReinterpretCast<std::int8_t>(), bytes(a, m * kK / 2), Nd2NzParams(1, m, kK / 2, 0, kK / 2, 16, 1, 0));
  }
  DataCopy(b1.ReinterpretCast<std::int8_t>(), bytes(b, kK * kN / 2), Nd2NzParams(1, kK, kN / 2, 0, kN / 2, kK, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  LoadData(a2, a1, LoadData2DParams(0, m == 1 ? 1 : kK / 64, 1, 0, 0, false, 0));
  for (int k = 0; k < kK / 64; ++k)
    LoadDataWithTranspose(b2[k * 64 * kN], b1,
                          LoadData2dTransposeParams(static_cast<std::uint16_t>(k), kN / 64, kK / 64, 3, 0));
  order<HardEvent::MTE1_M>();
  Mmad(c, a2, b2, MmadParams(m, kN, kK, false));
  order<HardEvent::M_FIX>();
  Fixpipe(gm<std::int32_t>(out, m * kN), c, FixpipeParamsV220(kN, m, 16, kN, false));
}
TEST(Int4, MmadSumsProductsInInt32) {
  for (const int m : {16, 1}) {
    const Bytes a = random_bytes(16 * kK / 2, 7), b = random_bytes(kK * kN / 2, 8);
    twin_test::Device<std::uint8_t> x(a), y(b);
    twin_test::Device<std::int32_t> z(16 * kN);
    RUN(int4_cube_kernel, 1).as(twin::KernelType::AicOnly)(x, y, z, m);
    EXPECT_SILENT();
    const auto c = z.values();
    for (int i = 0; i < m; ++i) {
      for (int n = 0; n < kN; ++n) {
        int sum = 0;
        for (int k = 0; k < kK; ++k) sum += element(a, i * kK + k) * element(b, k * kN + n);
        ASSERT_EQ(c[i * kN + n], sum) << m << ": " << i << " " << n;
      }
    }
  }
}

// ---- misuse ----
int misuse;
void int4_misuse_kernel(GM_ADDR in, GM_ADDR out) {
  const auto a = ub<int4b_t>(0, 256);
  const auto h = ub<half>(1024, 256);
  DataCopy(a, gm<int4b_t>(in, 256), 256);
  Duplicate(h, half(1), 256);
  PipeBarrier<PIPE_ALL>();
  switch (misuse) {
    case 0:
      Cast(h, a[65], RoundMode::CAST_NONE, 64);
      break;
    case 1:
      Cast(a, h, RoundMode::CAST_RINT, 63);
      break;
    case 2:
      Cast(a, h, RoundMode::CAST_ODD, 64);
      break;
    case 3:
      DataCopy(gm<int4b_t>(out, 256), a, 32);
      break;
    case 4:
      Cast(ub<float>(4096, 64), a, RoundMode::CAST_NONE, 64);
      break;
    case 5:
      DataCopyPad(a, gm<int4b_t>(in, 64), DataCopyExtParams(1, 32, 0, 0, 0), DataCopyPadExtParams<int4b_t>(true, 1, 0, 0));
      break;
    case 6:
      Gather(a, a, ub<std::uint32_t>(8192, 8), 0, 8);
      break;
    case 7:
      DataCopy(gm<int4b_t>(out, 256), a[32], 64);
      break;
    case 8:
      DataCopy(gm<int4b_t>(out, 256), a, 320);
      break;
    default:
      break;
  }
}
TEST(Int4, NamesWhatItCannotDo) {
  const struct {
    twin::Kind kind;
    const char* what;
  } cases[] = {{twin::Kind::Alignment, "odd element"},
               {twin::Kind::Limit, "Cast of 63 int4b_t: the count must be even"},
               {twin::Kind::Limit, "CAST_ODD"},
               {twin::Kind::Alignment, "DataCopy of 16 bytes"},
               {twin::Kind::Limit, "Cast from int4 to float"},
               {twin::Kind::Alignment, "odd number of int4b_t"},
               {twin::Kind::Limit, "Gather does not take int4b_t"},
               {twin::Kind::Alignment, "not on a multiple of 32 bytes"},
               {twin::Kind::OutOfBounds, "of a tensor of 128 bytes"}};
  twin_test::Device<std::uint8_t> x(random_bytes(128, 9)), y(random_bytes(256, 9));
  for (misuse = 0; misuse < 9; ++misuse) {
    RUN(int4_misuse_kernel, 1)(x, y);
    twin_test::expect_found(cases[misuse].kind, cases[misuse].what);
  }
}

void int4_undefined_kernel(GM_ADDR out) {
  const auto a = ub<int4b_t>(0, 128);
  Cast(a, ub<half>(1024, 128), RoundMode::CAST_RINT, 64);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<int4b_t>(out, 128), a, 64);
}
TEST(Int4, UndefinedHalvesStayUndefined) {
  twin_test::Device<std::uint8_t> y(64);
  RUN(int4_undefined_kernel, 1)(y);
  EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::Uninitialised), nullptr);
}

}  // namespace
