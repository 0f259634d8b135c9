// SPDX-License-Identifier: Apache-2.0
// The library's softmax against its formulas, whole and as FlashAttention takes it: two blocks of keys in turn.
#include <algorithm>
#include <cmath>
#include <random>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

constexpr std::uint32_t kRows = 6, kColumns = 32, kUsed = 27;

template <class T>
void whole_kernel(GM_ADDR in, GM_ADDR out, GM_ADDR again) {
  constexpr int kN = kRows * kColumns, kWide = 32 / sizeof(T);
  const auto x = ub<T>(0, kN), d = ub<T>(4096, kN), e = ub<T>(8192, kN);
  const auto sum = ub<T>(16384, kRows * kWide), max = ub<T>(20480, kRows * kWide);
  const auto scratch = ub<std::uint8_t>(32768, 8192);
  SoftMaxTiling tiling;
  const SoftMaxShapeInfo shape{kRows, kColumns, kRows, kUsed};
  DataCopy(x, gm<T>(in, kN), kN);
  order<HardEvent::MTE2_V>();
  SoftMax<T>(d, sum, max, x, scratch, tiling, shape);
  SimpleSoftMax<T>(e, sum, max, x, tiling, shape);
  order<HardEvent::V_MTE3>();
  const DataCopyExtParams rows(kRows, kUsed * sizeof(T), (kColumns - kUsed) * sizeof(T) / 32, 0, 0);
  DataCopyPad(gm<T>(out, kRows * kUsed), d, rows);
  DataCopyPad(gm<T>(again, kRows * kUsed), e, rows);
}
template <class T>
void check_whole(float tolerance) {
  const double least = sizeof(T) == 2 ? std::ldexp(1.0, -24) : 0;  // halves below 2^-14 have a fixed step
  std::mt19937 random(3);
  std::vector<T> in(kRows * kColumns);
  for (T& v : in) v = T(static_cast<float>(random() % 100) / 10 - 5);
  twin_test::Device<T> x(in), y(kRows * kUsed), z(kRows * kUsed);
  RUN(whole_kernel<T>, 1).auto_sync(false)(x, y, z);
  EXPECT_SILENT();
  const auto got = y.values(), again = z.values();
  for (std::uint32_t r = 0; r < kRows; ++r) {
    double most = -1e9, sum = 0;
    for (std::uint32_t c = 0; c < kUsed; ++c) most = std::max(most, static_cast<double>(in[r * kColumns + c]));
    for (std::uint32_t c = 0; c < kUsed; ++c) sum += std::exp(static_cast<double>(in[r * kColumns + c]) - most);
    for (std::uint32_t c = 0; c < kUsed; ++c) {
      const double want = std::exp(static_cast<double>(in[r * kColumns + c]) - most) / sum;
      EXPECT_NEAR(static_cast<double>(got[r * kUsed + c]), want, tolerance * want + least);
      EXPECT_NEAR(static_cast<double>(again[r * kUsed + c]), want, 3 * tolerance * want + least);  // through a rounded sum
    }
  }
}
TEST(SoftMax, WholeRowsAndWithGivenSums) {
  check_whole<float>(1e-7f);
  check_whole<half>(1e-3f);
}

void flash_kernel(GM_ADDR in, GM_ADDR out) {
  constexpr int kN = kRows * kColumns;
  const auto x0 = ub<float>(0, kN), x1 = ub<float>(4096, kN), p = ub<float>(8192, kN);
  const auto sum = ub<float>(16384, kRows * 8), max = ub<float>(20480, kRows * 8), factor = ub<float>(24576, kRows * 8);
  const auto sum1 = ub<float>(28672, kRows * 8), max1 = ub<float>(30720, kRows * 8);
  const auto scratch = ub<std::uint8_t>(32768, 8192);
  SoftMaxTiling tiling;
  tiling.srcM = kRows;
  tiling.srcK = kColumns;
  DataCopy(x0, gm<float>(in, kN), kN);
  DataCopy(x1, gm<float>(in + kN * 4, kN), kN);
  order<HardEvent::MTE2_V>();
  SoftmaxFlashV2<float, false>(p, sum, max, x0, factor, sum, max, scratch, tiling);
  SoftmaxFlashV2<float, true>(p, sum1, max1, x1, factor, sum, max, scratch, tiling);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(out, kRows * 8), sum1, kRows * 8);
  DataCopy(gm<float>(out + kRows * 32, kRows * 8), max1, kRows * 8);
  DataCopy(gm<float>(out + kRows * 64, kRows * 8), factor, kRows * 8);
  DataCopy(gm<float>(out + kRows * 96, kN), p, kN);
}
TEST(SoftMax, FlashUpdatesMaximumAndSum) {
  constexpr int kN = kRows * kColumns;
  std::mt19937 random(4);
  std::vector<float> in(2 * kN);
  for (float& v : in) v = static_cast<float>(random() % 100) / 10 - 5;
  twin_test::Device<float> x(in), y(kRows * 24 + kN);
  RUN(flash_kernel, 1).auto_sync(false)(x, y);
  EXPECT_SILENT();
  const auto got = y.values();
  for (std::uint32_t r = 0; r < kRows; ++r) {
    float first = -100, most = -100;
    for (std::uint32_t c = 0; c < kColumns; ++c) {
      first = std::max(first, in[r * kColumns + c]);
      most = std::max({most, in[r * kColumns + c], in[kN + r * kColumns + c]});
    }
    double sum = 0;
    for (std::uint32_t c = 0; c < kColumns; ++c)
      sum += std::exp(double(in[r * kColumns + c]) - most) + std::exp(double(in[kN + r * kColumns + c]) - most);
    for (int k = 0; k < 8; ++k) {
      EXPECT_NEAR(got[r * 8 + k], sum, 1e-5 * sum);
      EXPECT_EQ(got[kRows * 8 + r * 8 + k], most);
      EXPECT_NEAR(got[kRows * 16 + r * 8 + k], std::exp(double(first) - most), 1e-6);
    }
    for (std::uint32_t c = 0; c < kColumns; ++c)
      EXPECT_NEAR(got[kRows * 24 + r * kColumns + c], std::exp(double(in[kN + r * kColumns + c]) - most), 1e-6);
  }
}
// Nz: the same rows in columns of 16 halves.
constexpr std::uint32_t kHigh = 32, kWide = 48, kFilled = 41;
std::size_t nz(std::uint32_t row, std::uint32_t column) { return (column / 16 * kHigh + row) * 16 + column % 16; }
void nz_kernel(GM_ADDR in, GM_ADDR out, int what) {
  constexpr int kN = kHigh * kWide;
  const auto x = ub<half>(0, kN), d = ub<half>(4096, kN);
  const auto sum = ub<half>(16384, kHigh * 16), max = ub<half>(20480, kHigh * 16), factor = ub<half>(24576, kHigh * 16);
  const auto sum_f = ub<float>(28672, kHigh * 8), max_f = ub<float>(30720, kHigh * 8);
  const SoftMaxShapeInfo shape{kHigh, kWide, kHigh, kFilled};
  SoftMaxTiling tiling;
  DataCopy(x, gm<half>(in, kN), kN);
  order<HardEvent::MTE2_V>();
  if (what == 0 || what == 4) SoftMax<half, false, false, true>(d, sum, max, x, tiling, shape);
  if (what == 1) SoftmaxFlashV2<half, false, false, false, true>(d, sum_f, max_f, x, factor, sum_f, max_f, tiling, shape);
  if (what == 2) SoftmaxGrad<half, false, true>(d, x, x, tiling, false, shape);
  if (what == 3) SoftmaxGradFront<half, false, true>(d, x, x, tiling, shape);
  if (what == 4) {
    SimpleSoftMax<half, false, false, true>(d, sum, max, x, tiling, shape);
    AdjustSoftMaxRes<half, half, true>(d, max, 0x4500, half(7.0f), shape);  // rows whose maximum is 5
  }
  if (what != 3) {
    std::uint64_t padding[2] = {0xfe00fe00fe00fe00, 0xfe00fe00fe00fe00};  // lanes 9 to 15 of the last column
    PipeBarrier<PIPE_V>();
    Duplicate(d[2 * kHigh * 16], half(0.0f), padding, kHigh * 16 / 128, 1, 8);
  }
  order<HardEvent::V_MTE3>();
  DataCopy(gm<half>(out, kN), d, what == 3 ? kHigh * 16 : kN);
}
TEST(SoftMax, TakesNzData) {
  std::mt19937 random(5);
  std::vector<half> in(kHigh * kWide);
  for (half& v : in) v = half(static_cast<float>(random() % 80) / 16 - 3);
  in[nz(3, 20)] = half(5.0f);
  for (int what = 0; what < 5; ++what) {
    twin_test::Device<half> x(in), y(std::vector<half>(kHigh * kWide, half(0.0f)));
    RUN(nz_kernel, 1).auto_sync(false)(x, y, what);
    EXPECT_SILENT();
    const auto got = y.values();
    for (std::uint32_t r = 0; r < kHigh; ++r) {
      double most = -1e9, sum = 0, products = 0;
      const auto value = [&](std::uint32_t c) { return static_cast<double>(in[nz(r, c)]); };
      for (std::uint32_t c = 0; c < kFilled; ++c) most = std::max(most, value(c)), products += value(c) * value(c);
      for (std::uint32_t c = 0; c < kFilled; ++c) sum += std::exp(value(c) - most);
      if (what == 3) {
        EXPECT_NEAR(static_cast<double>(got[r * 16]), products, 1e-3 * products);
      }
      for (std::uint32_t c = 0; c < kFilled && what != 3; ++c) {
        const double e = std::exp(value(c) - most);
        const double want = what == 1                ? e
                            : what == 2              ? (value(c) - products) * value(c)
                            : what == 4 && most == 5 ? 7
                                                     : e / sum;
        ASSERT_NEAR(static_cast<double>(got[nz(r, c)]), want, 3e-3 * std::abs(want) + 1e-4)
            << what << ": " << r << ", " << c;
      }
    }
  }
}
void thin_kernel(GM_ADDR) {
  SoftMax<half, false, false, true>(ub<half>(0, 640), ub<half>(4096, 320), ub<half>(8192, 320), ub<half>(16384, 640),
                                    SoftMaxTiling(), SoftMaxShapeInfo{20, 32, 20, 32});
}
TEST(SoftMax, ReportsNzDataThatFillsNoFractals) {
  twin_test::Device<float> x(8);
  RUN(thin_kernel, 1)(x);
  twin_test::expect_found(twin::Kind::Alignment, "whole fractals");
}
void shapeless_kernel(GM_ADDR) { SoftMax<float>(ub<float>(0, 64), ub<float>(1024, 64), SoftMaxTiling()); }
TEST(SoftMax, ReportsAMissingShape) {
  twin_test::Device<float> x(8);
  RUN(shapeless_kernel, 1)(x);
  EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::Limit), nullptr);
}

}  // namespace
