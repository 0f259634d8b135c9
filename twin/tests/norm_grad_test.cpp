// SPDX-License-Identifier: Apache-2.0
// The gradient of LayerNorm against differences of LayerNorm itself, Welford's method against sums over the whole.
#include "rows_support.hpp"

using namespace AscendC;
using twin_test::expect_found;
using twin_test::gm;
using twin_test::InRows;
using twin_test::order;
using twin_test::random_values;
using twin_test::run_rows;
using twin_test::ub;

namespace {

constexpr std::uint32_t kB = 2, kS = 3, kRows = kB * kS, kColumns = 32, kUsed = 27, kWhole = kRows * kColumns;
constexpr std::uint32_t kX = kWhole, kGamma = 2 * kWhole, kMean = kGamma + kColumns, kVariance = kMean + 32,
                        kInputs = kVariance + 32;
constexpr double kEpsilon = 0.0009765625;

template <class Tiling>
Tiling tiling_of() {
  Tiling t;
  t.bLength = kB;
  t.sLength = kS;
  t.hLength = kColumns;
  t.originalHLength = kUsed;
  return t;
}
double normalised(const std::vector<double>& x, std::size_t k) {
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / static_cast<double>(x.size());
  for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  return (x[k] - mean) / std::sqrt(variance + kEpsilon);
}

// Inputs dy, x, gamma, mean, variance; the mean and variance of each row as LayerNorm gives them.
template <class T>
std::vector<T> inputs() {
  auto in = random_values<T>(21, kInputs, -2, 2);
  for (std::uint32_t r = 0; r < kRows; ++r) {
    double mean = 0, variance = 0;
    for (std::uint32_t k = 0; k < kUsed; ++k) mean += static_cast<double>(in[kX + r * kColumns + k]) / kUsed;
    in[kMean + r] = T(static_cast<float>(mean));
    for (std::uint32_t k = 0; k < kUsed; ++k)
      variance += std::pow(static_cast<double>(in[kX + r * kColumns + k]) - mean, 2) / kUsed;
    in[kVariance + r] = T(static_cast<float>(variance));
  }
  return in;
}
template <class T>
void check_grad(twin_test::RowsBody<T> body) {
  const auto in = inputs<T>();
  const auto got = run_rows<T>(in, {kRows, kColumns, kUsed, 0}, body);
  for (std::uint32_t r = 0; r < kRows; ++r) {
    std::vector<double> x(kUsed);
    for (std::uint32_t k = 0; k < kUsed; ++k) x[k] = static_cast<double>(in[kX + r * kColumns + k]);
    for (std::uint32_t k = 0; k < kUsed; ++k) {
      double want = 0;  // d/dx_k of sum dy · gamma · normalised x
      constexpr double kStep = 1e-5;
      for (const double sign : {1.0, -1.0}) {
        std::vector<double> moved = x;
        moved[k] += sign * kStep;
        for (std::uint32_t m = 0; m < kUsed; ++m)
          want += sign / (2 * kStep) * static_cast<double>(in[r * kColumns + m]) * static_cast<double>(in[kGamma + m]) *
                  normalised(moved, m);
      }
      EXPECT_NEAR(static_cast<double>(got[r * kUsed + k]), want, sizeof(T) == 2 ? 1e-2 : 1e-5) << "row " << r << ", " << k;
    }
  }
}
template <class T>
void check_for_gamma() {
  const auto in = inputs<T>();
  const auto got = run_rows<T>(in, {kRows, kColumns, kUsed, kWhole}, [](InRows<T>& t) {
    LayerNormGrad<T>(t.y[kWhole], t.y, t.x, t.x[kX], t.x[kVariance], t.x[kMean], t.x[kGamma], t.work, T(float(kEpsilon)),
                     tiling_of<LayerNormGradTiling>());
    Duplicate(t.y[kWhole], T(0.0f), kWhole);
    PipeBarrier<PIPE_V>();
  });
  for (std::uint32_t r = 0; r < kRows; ++r) {
    std::vector<double> x(kUsed);
    for (std::uint32_t k = 0; k < kUsed; ++k) x[k] = static_cast<double>(in[kX + r * kColumns + k]);
    for (std::uint32_t k = 0; k < kUsed; ++k)
      EXPECT_NEAR(static_cast<double>(got[r * kUsed + k]), normalised(x, k), sizeof(T) == 2 ? 2e-3 : 1e-6);
  }
}
// The page's formula, where mean and variance are not those of x: then no term of it is zero.
template <class T>
void check_formula() {
  auto in = inputs<T>();
  for (std::uint32_t r = 0; r < kRows; ++r) {
    in[kMean + r] = T(0.25f * static_cast<float>(r));
    in[kVariance + r] = T(1.0f + static_cast<float>(r));
  }
  const auto got = run_rows<T>(in, {kRows, kColumns, kUsed, 0}, [](InRows<T>& t) {
    LayerNormGrad(t.y, t.x[kX], t.x, t.x[kX], t.x[kVariance], t.x[kMean], t.x[kGamma], t.work, T(float(kEpsilon)),
                  tiling_of<LayerNormGradTiling>());
  });
  for (std::uint32_t r = 0; r < kRows; ++r) {
    const double v = 1.0 + r + kEpsilon, h = kUsed;
    double pd_var = 0, pd_mean = 0, differences = 0;
    const auto difference = [&](std::uint32_t k) { return static_cast<double>(in[kX + r * kColumns + k]) - 0.25 * r; };
    const auto pd_xl = [&](std::uint32_t k) {
      return static_cast<double>(in[r * kColumns + k]) * static_cast<double>(in[kGamma + k]);
    };
    for (std::uint32_t k = 0; k < kUsed; ++k) {
      pd_var += -0.5 * pd_xl(k) * difference(k) * std::pow(v, -1.5);
      pd_mean += -1.0 * pd_xl(k) * std::pow(v, -0.5);
      differences += -2.0 * difference(k);
    }
    pd_mean += pd_var * (1 / h) * differences;
    for (std::uint32_t k = 0; k < kUsed; ++k) {
      const double want = pd_xl(k) * std::pow(v, -0.5) + pd_var * (2 / h) * difference(k) + pd_mean * (1 / h);
      EXPECT_NEAR(static_cast<double>(got[r * kUsed + k]), want, (sizeof(T) == 2 ? 1e-3 : 1e-6) * (std::fabs(want) + 1));
    }
  }
}
template <class T>
void grad_forms() {
  check_formula<T>();
  check_grad<T>([](InRows<T>& t) {
    LayerNormGrad<T>(t.y, t.x[kX], t.x, t.x[kX], t.x[kVariance], t.x[kMean], t.x[kGamma], t.work, T(float(kEpsilon)),
                     tiling_of<LayerNormGradTiling>());
  });
  check_grad<T>([](InRows<T>& t) {
    LayerNormGrad<T, false>(t.y, t.x[kX], t.x, t.x[kX], t.x[kVariance], t.x[kMean], t.x[kGamma], T(float(kEpsilon)),
                            tiling_of<LayerNormGradTiling>(), {DataFormat::ND});
  });
  check_for_gamma<T>();
}
TEST(LayerNormGrad, IsTheDerivativeOfLayerNorm) {
  grad_forms<float>();
  grad_forms<half>();
}

template <class T, bool kWork>
void check_beta() {
  const auto in = random_values<T>(22, 2 * kWhole, -2, 2);
  const auto got = run_rows<T>(in, {2, kColumns, kUsed, 0}, [](InRows<T>& t) {
    const auto tiling = tiling_of<LayerNormGradBetaTiling>();
    if constexpr (kWork) {
      LayerNormGradBeta<T>(t.y, t.y[kColumns], t.x, t.x[kWhole], t.work, tiling);
    } else {
      LayerNormGradBeta<T, false>(t.y, t.y[kColumns], t.x, t.x[kWhole], tiling);
    }
  });
  for (std::uint32_t k = 0; k < kUsed; ++k) {
    double gamma = 0, beta = 0;
    for (std::uint32_t r = 0; r < kRows; ++r) {
      const auto dy = static_cast<double>(in[kWhole + r * kColumns + k]);
      gamma += dy * static_cast<double>(in[r * kColumns + k]);
      beta += dy;
    }
    twin_test::expect_close(got[k], gamma, "gamma", k);
    twin_test::expect_close(got[kUsed + k], beta, "beta", k);
  }
}
TEST(LayerNormGrad, OfGammaAndBetaOverAllRows) {
  check_beta<float, true>();
  check_beta<float, false>();
  check_beta<half, true>();
  check_beta<half, false>();
}
void wrong_grad(GM_ADDR, bool shapeless, bool other_format) {
  const auto x = ub<float>(0, 8192), y = ub<float>(65536, 8192);
  Duplicate(x, 1.0f, 8192);
  PipeBarrier<PIPE_V>();
  auto tiling = tiling_of<LayerNormGradTiling>();
  if (shapeless) tiling.hLength = tiling.originalHLength = 0;
  LayerNormGrad<float>(y, y[shapeless || other_format ? 1024 : 64], x, x[1024], x[2048], x[2080], x[2112], 1e-3f, tiling,
                       {other_format ? DataFormat::NZ : DataFormat::ND});
}
TEST(LayerNormGrad, RefusesNoShapeResultsOverOneAnotherAndOtherFormats) {
  twin_test::Device<float> x(8);
  RUN(wrong_grad, 1)(x, true, false);
  expect_found(twin::Kind::Limit, "LayerNormGrad of 6 rows of 0 elements");
  RUN(wrong_grad, 1)(x, false, false);
  expect_found(twin::Kind::Overlap, "resForGamma lies over outputPdX");
  RUN(wrong_grad, 1)(x, false, true);
  expect_found(twin::Kind::Limit, "another format than ND");
}

// ---- Welford ----
constexpr std::uint32_t kBlocks = 5, kAb = 32, kTail = 19;  // the last block has kTail values
constexpr WelfordUpdateConfig kTakeOver = {true};
// Five blocks, one after another, from one pair of tensors to the other; then mean and variance of all.
template <class T, bool kWork, bool kCounts>
void welford_kernel(GM_ADDR in, GM_ADDR counts, GM_ADDR out, std::uint32_t last) {
  const auto x = ub<T>(0, kBlocks * kAb);
  const auto n = ub<std::int32_t>(8192, kAb);
  LocalTensor<float> mean[] = {ub<float>(16384, kAb), ub<float>(17408, kAb)};
  LocalTensor<float> squares[] = {ub<float>(18432, kAb), ub<float>(19456, kAb)};
  const auto result = ub<float>(20480, 16);
  const auto work = ub<std::uint8_t>(32768, 8192);
  DataCopy(x, gm<T>(in, kBlocks * kAb), kBlocks * kAb);
  DataCopy(n, gm<std::int32_t>(counts, kAb), kAb);
  Duplicate(mean[0], 0.0f, kAb);
  Duplicate(squares[0], 0.0f, kAb);
  order<HardEvent::MTE2_V>();
  PipeBarrier<PIPE_V>();
  {
    const twin_test::Standing standing(kWork);
    for (std::uint32_t b = 0; b < kBlocks; ++b) {
      const auto &m0 = mean[b % 2], &m1 = mean[(b + 1) % 2], &s0 = squares[b % 2], &s1 = squares[(b + 1) % 2];
      const WelfordUpdateParam para = {1, kAb, b + 1 == kBlocks ? last : kAb, 1.0f / static_cast<float>(b + 1)};
      if constexpr (kWork) {
        WelfordUpdate<T, float, false, kTakeOver>(m1, s1, m0, s0, x[b * kAb], work, para);
      } else {
        WelfordUpdate<T, float, false, kTakeOver>(m1, s1, m0, s0, x[b * kAb], para);
      }
    }
    const auto &m = mean[kBlocks % 2], &s = squares[kBlocks % 2];
    const std::uint32_t total = (kBlocks - 1) * kAb + last;
    WelfordFinalizePara para = {kBlocks,     kAb,        kBlocks,    last,
                                kBlocks - 1, kAb - last, 1.0f / kAb, 1.0f / static_cast<float>(total)};
    if constexpr (kCounts && kWork) WelfordFinalize(result, result[8], m, s, n, work, para);
    if constexpr (kCounts && !kWork) WelfordFinalize<false>(result, result[8], m, s, n, para);
    if constexpr (!kCounts && kWork) WelfordFinalize<false>(result, result[8], m, s, work, para);
    if constexpr (!kCounts && !kWork) WelfordFinalize(result, result[8], m, s, para);
  }
  order<HardEvent::V_MTE3>();
  DataCopyPad(gm<float>(out, 2), result, DataCopyExtParams(2, 4, 0, 0, 0));
}
template <class T, bool kWork, bool kCounts>
void check_welford(std::uint32_t last) {
  const auto in = random_values<T>(31 + last, kBlocks * kAb, 3, 7);
  std::vector<std::int32_t> counts(kAb, kBlocks);
  for (std::uint32_t k = last; k < kAb; ++k) counts[k] = kBlocks - 1;
  twin_test::Device<T> x(in);
  twin_test::Device<std::int32_t> n(counts);
  twin_test::Device<float> y(2);
  RUN((welford_kernel<T, kWork, kCounts>), 1).auto_sync(false)(x, n, y, last);
  EXPECT_SILENT();
  const std::uint32_t total = (kBlocks - 1) * kAb + last;
  double mean = 0, variance = 0;
  for (std::uint32_t k = 0; k < total; ++k) mean += static_cast<double>(in[k]) / total;
  for (std::uint32_t k = 0; k < total; ++k) variance += std::pow(static_cast<double>(in[k]) - mean, 2) / total;
  EXPECT_NEAR(y.values()[0], mean, 2e-6 * mean);
  EXPECT_NEAR(y.values()[1], variance, 1e-5 * variance);
}
template <class T>
void welford_forms() {
  for (const std::uint32_t last : {kAb, kTail}) {
    check_welford<T, true, true>(last);
    check_welford<T, true, false>(last);
    check_welford<T, false, true>(last);
    check_welford<T, false, false>(last);
  }
}
TEST(Welford, BlocksGiveMeanAndVarianceOfTheWhole) {
  welford_forms<float>();
  welford_forms<half>();
}
void short_kernel(GM_ADDR out, std::uint32_t rows, std::uint32_t length, std::uint32_t used) {
  const auto x = ub<float>(0, 64), m0 = ub<float>(1024, 64), s0 = ub<float>(2048, 64), m1 = ub<float>(3072, 64),
             s1 = ub<float>(4096, 64);
  for (const auto& t : {x, m0, s0, m1, s1}) Duplicate(t, 4.0f, 64);
  PipeBarrier<PIPE_V>();
  WelfordUpdate<float, float>(m1, s1, m0, s0, x, {rows, length, used, 0.5f});
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(out, 64), m1, 64);
}
TEST(Welford, LeavesTheRestAloneUnlessItTakesItOver) {
  twin_test::Device<float> y(64);
  RUN(short_kernel, 1).auto_sync(false)(y, 1u, 64u, 10u);
  EXPECT_SILENT();
  RUN(short_kernel, 1).auto_sync(false)(y, 2u, 64u, 10u);
  expect_found(twin::Kind::Limit, "rnLength 2");
  RUN(short_kernel, 1).auto_sync(false)(y, 1u, 64u, 65u);
  expect_found(twin::Kind::Limit, "abComputeLength 65");
  RUN(short_kernel, 1).auto_sync(false)(y, 1u, 60u, 10u);
  expect_found(twin::Kind::Alignment, "rows of 60 elements");
}
void wrong_finalize(GM_ADDR, std::uint32_t head, std::uint32_t tail, std::uint32_t tail_length, bool over) {
  const auto m = ub<float>(0, 64), s = ub<float>(1024, 64), r = ub<float>(2048, 16);
  Duplicate(m, 1.0f, 64);
  Duplicate(s, 1.0f, 64);
  PipeBarrier<PIPE_V>();
  WelfordFinalize(over ? m : r, r[8], m, s, WelfordFinalizePara{2, 64, 2, head, tail, tail_length, 1.0f / 64, 1.0f / 128});
}
TEST(Welford, RefusesLengthsThatDoNotAddUpAndResultsInPlace) {
  twin_test::Device<float> x(8);
  RUN(wrong_finalize, 1)(x, 40u, 1u, 20u, false);
  expect_found(twin::Kind::Limit, "headCountLength 40");
  RUN(wrong_finalize, 1)(x, 40u, 0u, 24u, false);
  expect_found(twin::Kind::Limit, "tailCount 0");
  RUN(wrong_finalize, 1)(x, 64u, 0u, 0u, true);
  expect_found(twin::Kind::Overlap, "outputMean lies over inputMean");
}

}  // namespace
