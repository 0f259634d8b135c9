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
void shapeless_kernel(GM_ADDR) { SoftMax<float>(ub<float>(0, 64), ub<float>(1024, 64), SoftMaxTiling()); }
TEST(SoftMax, ReportsAMissingShape) {
  twin_test::Device<float> x(8);
  RUN(shapeless_kernel, 1)(x);
  EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::Limit), nullptr);
}

}  // namespace
