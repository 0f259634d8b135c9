// SPDX-License-Identifier: Apache-2.0
// Everything a value can become on its way out of L0C, and the sparse product, against plain loops.
#include <cmath>
#include <cstring>
#include <random>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;

namespace {

constexpr int kM = 20, kRows = 32, kN = 64;  // a tile of 20 rows in the place of 32

std::uint64_t scale_bits(float scale, int offset = 0) {
  std::uint32_t bits;
  std::memcpy(&bits, &scale, 4);
  return (std::uint64_t{1} << 46) | std::uint64_t(offset & 0x1ff) << 37 | (bits & 0xffffe000u);
}
float column_scale(int column) { return 0.0625f * static_cast<float>(column % 7 + 1); }
int column_offset(int column) { return column % 5 - 2; }

struct How {
  QuantMode_t quant;
  bool relu = false, row_major = true, tensor = false, split = false;
  enum { Call, Register, Copy } by = Call;  // where the tensor comes from
};

// C = A, by way of a product with the identity; then out as `how` says, columns of the destination in a row: kN.
template <class T, class C, class D>
void kernel(GM_ADDR a, GM_ADDR identity, GM_ADDR scales, GM_ADDR out, How how) {
  constexpr int kC0 = 32 / sizeof(T);
  LocalTensor<T> a1(TPosition::A1, 0, kRows * kN), b1(TPosition::B1, 65536, kN * kN);
  LocalTensor<std::uint64_t> s1(TPosition::C1, 131072, kN), fb(TPosition::C2PIPE2GM, 0, kN);
  LocalTensor<T> a2(TPosition::A2, 0, kRows * kN), b2(TPosition::B2, 0, kN * kN);
  LocalTensor<C> c(TPosition::CO1, 0, kRows * kN);
  DataCopy(a1, gm<T>(a, kRows * kN), Nd2NzParams(1, kRows, kN, 0, kN, kRows, 1, 0));
  DataCopy(b1, gm<T>(identity, kN * kN), Nd2NzParams(1, kN, kN, 0, kN, kN, 1, 0));
  DataCopy(s1, gm<std::uint64_t>(scales, kN), kN);
  order<HardEvent::MTE2_MTE1>();
  SetFlag<HardEvent::MTE2_FIX>(1);
  WaitFlag<HardEvent::MTE2_FIX>(1);
  for (int r = 0; r < kRows / 16; ++r)
    LoadData(a2[r * kN * 16], a1, LoadData2DParams(static_cast<std::uint16_t>(r), kN / kC0, kRows / 16, 0, 0, false, 0));
  LoadData(b2, b1, LoadData2DParams(0, kN / kC0 * kN / 16, 1, 0, 0, false, 0));
  order<HardEvent::MTE1_M>();
  Mmad(c, a2, b2, MmadParams(kRows, kN, kN, false));
  order<HardEvent::M_FIX>();
  const auto to = gm<D>(out, kRows * kN);
  const std::uint32_t step = how.row_major ? kN : (how.split || sizeof(D) <= 2 ? kRows : 2 * kRows);
  if (how.by != How::Call) {
    DataCopy(fb, s1, kN);
    PipeBarrier<PIPE_FIX>();
    SetFixPipeConfig(fb);
  }
  if (how.by == How::Copy) {
    SetFixpipePreQuantFlag(scale_bits(0.25f, 1));
    SetFixpipeNz2ndFlag(1, 0, 0);
    DataCopy(to, c, DataCopyCO12DstParams(kN, kM, step, kRows, how.quant, how.relu, how.split, how.row_major));
    return;
  }
  FixpipeParamsV220 p(kN, kM, kRows, step, how.relu);
  p.quantPre = how.quant;
  p.deqScalar = scale_bits(0.25f, 1);
  p.isChannelSplit = how.split;
  if (how.tensor && how.by == How::Call) {
    if (how.row_major) {
      Fixpipe(to, c, s1, p);
    } else {
      Fixpipe<D, C, CFG_NZ>(to, c, s1, p);
    }
  } else if (how.row_major) {
    Fixpipe(to, c, p);
  } else {
    Fixpipe<D, C, CFG_NZ>(to, c, p);
  }
}

template <class T, class C, class D>
void check(const How& how) {
  std::mt19937 random(9);
  std::vector<T> a(kRows * kN), eye(kN * kN, T(0));
  for (T& v : a) v = T(static_cast<int>(random() % 250) - 125);
  for (int k = 0; k < kN; ++k) eye[k * kN + k] = T(1);
  std::vector<std::uint64_t> scales;
  for (int k = 0; k < kN; ++k) scales.push_back(scale_bits(column_scale(k), column_offset(k)));
  twin_test::Device<T> da(a), di(eye);
  twin_test::Device<std::uint64_t> ds(scales);
  const std::vector<D> before(kRows * kN, D(99));
  twin_test::Device<D> out(before);
  RUN((kernel<T, C, D>), 1).as(twin::KernelType::AicOnly)(da, di, ds, out, how);
  EXPECT_SILENT();
  const auto got = out.values();
  std::vector<bool> touched(got.size());
  for (int r = 0; r < kM; ++r) {
    for (int j = 0; j < kN; ++j) {
      const float scale = how.tensor ? column_scale(j) : 0.25f;
      float v = float(a[r * kN + j]);
      if (how.quant != NoQuant && how.quant != F322F16 && how.quant != F322BF16) v *= scale;
      if (how.relu) v = std::max(v, 0.0f);
      if (sizeof(D) == 1) {
        const bool is_signed = std::is_signed<D>::value;
        v = std::nearbyint(v) + static_cast<float>(how.tensor ? column_offset(j) : 1);
        v = std::min(std::max(v, is_signed ? -128.0f : 0.0f), is_signed ? 127.0f : 255.0f);
      }
      int at = r * kN + j;
      if (!how.row_major) {
        const int width = sizeof(D) == 1 ? 32 : how.split ? 8 : 16;
        at = (j / width * kRows + r) * width + j % width;
      }
      touched[at] = true;
      ASSERT_EQ(float(got[at]), float(D(v))) << r << " " << j;
    }
  }
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (!touched[k]) {
      ASSERT_EQ(float(got[k]), 99) << k;
    }
  }
}

TEST(Fixpipe, ConvertsFloatInEveryMode) {
  for (const bool relu : {false, true}) {
    for (const bool row_major : {true, false}) {
      check<half, float, float>({NoQuant, relu, row_major});
      check<half, float, half>({F322F16, relu, row_major});
      check<half, float, bfloat16_t>({F322BF16, relu, row_major});
      check<half, float, std::int8_t>({QF322B8_PRE, relu, row_major});
      check<half, float, std::uint8_t>({QF322B8_PRE, relu, row_major});
      check<half, float, std::int8_t>({VQF322B8_PRE, relu, row_major, true});
    }
  }
  check<half, float, float>({NoQuant, false, false, false, true});
}
TEST(Fixpipe, DequantisesInt32) {
  for (const bool relu : {false, true}) {
    for (const bool row_major : {true, false}) {
      check<std::int8_t, std::int32_t, std::int32_t>({NoQuant, relu, row_major});
      check<std::int8_t, std::int32_t, half>({DEQF16, relu, row_major});
      check<std::int8_t, std::int32_t, half>({VDEQF16, relu, row_major, true});
      check<std::int8_t, std::int32_t, std::int8_t>({REQ8, relu, row_major});
      check<std::int8_t, std::int32_t, std::uint8_t>({VREQ8, relu, row_major, true});
    }
  }
}
TEST(Fixpipe, TakesTheTensorOfItsRegister) {
  check<std::int8_t, std::int32_t, half>({VDEQF16, false, true, true, false, How::Register});
}
TEST(DataCopy, OutOfL0cTakesModesFromRegisters) {
  check<std::int8_t, std::int32_t, half>({DEQF16, true, true, false, false, How::Copy});
  check<std::int8_t, std::int32_t, half>({VDEQF16, false, false, true, false, How::Copy});
  check<half, float, half>({F322F16, true, false, false, false, How::Copy});
  check<half, float, float>({NoQuant, false, false, false, true, How::Copy});
}
void untold_kernel(GM_ADDR out) {
  LocalTensor<float> c(TPosition::CO1, 0, 256);
  FixpipeParamsV220 p(16, 16, 16, 16, false);
  p.quantPre = VQF322B8_PRE;
  Fixpipe(gm<std::int8_t>(out, 256), c, p);
}
TEST(Fixpipe, ReportsAModeWithoutItsTensor) {
  twin_test::Device<std::int8_t> y(256);
  RUN(untold_kernel, 1).as(twin::KernelType::AicOnly)(y);
  EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::Limit), nullptr);
}

// ---- HF32 ----
void hf32_kernel(GM_ADDR a, GM_ADDR b, GM_ADDR out, bool toward_zero) {
  LocalTensor<float> a1(TPosition::A1, 0, 256), b1(TPosition::B1, 65536, 256), a2(TPosition::A2, 0, 256),
      b2(TPosition::B2, 0, 256);
  LocalTensor<float> c(TPosition::CO1, 0, 256);
  DataCopy(a1, gm<float>(a, 256), Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
  DataCopy(b1, gm<float>(b, 256), Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  LoadData(a2, a1, LoadData2DParams(0, 2, 1, 0, 0, false, 0));
  LoadData(b2, b1, LoadData2DParams(0, 2, 1, 0, 0, false, 0));
  order<HardEvent::MTE1_M>();
  SetHF32Mode(true);
  SetHF32TransMode(toward_zero);
  Mmad(c, a2, b2, MmadParams(16, 16, 16, false));
  SetHF32Mode(false);
  order<HardEvent::M_FIX>();
  Fixpipe(gm<float>(out, 256), c, FixpipeParamsV220(16, 16, 16, 16, false));
}
TEST(Mmad, RoundsItsOperandsInHf32Mode) {
  std::vector<float> a(256, 0), eye(256, 0);
  for (int k = 0; k < 256; ++k) a[k] = std::ldexp(1.0f + static_cast<float>(k * 331 % 4096) / 8192, k % 9 - 4);
  for (int k = 0; k < 16; ++k) eye[k * 17] = 1;
  for (const bool toward_zero : {false, true}) {
    twin_test::Device<float> x(a), y(eye), z(256);
    RUN(hf32_kernel, 1).as(twin::KernelType::AicOnly)(x, y, z, toward_zero);
    EXPECT_SILENT();
    const auto got = z.values();
    for (int k = 0; k < 256; ++k) {
      const int exponent = std::ilogb(a[k]);
      const double scaled = std::ldexp(static_cast<double>(a[k]), 11 - exponent);
      ASSERT_EQ(got[k], std::ldexp(toward_zero ? std::trunc(scaled) : std::nearbyint(scaled), exponent - 11));
    }
  }
}

// ---- sparse ----
void sparse_kernel(GM_ADDR a, GM_ADDR b, GM_ADDR index, GM_ADDR out) {
  LocalTensor<std::int8_t> a1(TPosition::A1, 0, 16 * 128), b1(TPosition::B1, 65536, 16 * 64);
  LocalTensor<std::uint8_t> i1(TPosition::B1, 131072, 256);
  LocalTensor<std::int8_t> a2(TPosition::A2, 0, 16 * 128), b2(TPosition::B2, 0, 16 * 64);
  LocalTensor<std::int32_t> c(TPosition::CO1, 0, 256);
  DataCopy(a1, gm<std::int8_t>(a, 16 * 128), Nd2NzParams(1, 16, 128, 0, 128, 16, 1, 0));
  DataCopy(b1, gm<std::int8_t>(b, 16 * 64), Nd2NzParams(1, 16, 64, 0, 64, 16, 1, 0));  // rows of n
  DataCopy(i1, gm<std::uint8_t>(index, 256), 256);
  order<HardEvent::MTE2_MTE1>();
  LoadData(a2, a1, LoadData2DParams(0, 4, 1, 0, 0, false, 0));
  LoadDataWithSparse(b2, b1, i1, LoadData2DParams(0, 2, 1, 0, 0, false, 0));
  order<HardEvent::MTE1_M>();
  MmadWithSparse(c, a2, b2, MmadParams(16, 16, 128, false));
  order<HardEvent::M_FIX>();
  Fixpipe(gm<std::int32_t>(out, 256), c, FixpipeParamsV220(16, 16, 16, 16, false));
}
TEST(MmadWithSparse, PutsEachPairIntoItsGroupOfFour) {
  std::mt19937 random(13);
  std::vector<std::int8_t> a(16 * 128), b(16 * 64);
  std::vector<std::uint8_t> index(256, 0);
  std::vector<int> full(128 * 16, 0);  // (k, n)
  for (auto& v : a) v = static_cast<std::int8_t>(random() % 15 - 7);
  for (int n = 0; n < 16; ++n) {
    for (int p = 0; p < 64; ++p) {
      b[n * 64 + p] = static_cast<std::int8_t>(random() % 15 - 7);
      const int first = static_cast<int>(random() % 3), place = p % 2 == 0 ? first : 2;  // the second: row 3
      const int byte = (p / 32 * 16 + n) * 32 + p % 32;
      index[byte / 4] = static_cast<std::uint8_t>(index[byte / 4] | place << (byte % 4 * 2));
      full[(p / 2 * 4 + (p % 2 == 0 ? first : 3)) * 16 + n] += b[n * 64 + p];
    }
  }
  twin_test::Device<std::int8_t> da(a), db(b);
  twin_test::Device<std::uint8_t> di(index);
  twin_test::Device<std::int32_t> out(256);
  RUN(sparse_kernel, 1).as(twin::KernelType::AicOnly)(da, db, di, out);
  EXPECT_SILENT();
  const auto c = out.values();
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 16; ++n) {
      int sum = 0;
      for (int k = 0; k < 128; ++k) sum += a[m * 128 + k] * full[k * 16 + n];
      ASSERT_EQ(c[m * 16 + n], sum) << m << " " << n;
    }
  }
}

}  // namespace
