// SPDX-License-Identifier: Apache-2.0
// Gradients of softmax, its older and newer steps, its logarithm, and rows set by their maximum, against the formulas.
#include <algorithm>

#include "rows_support.hpp"

using namespace AscendC;
using twin_test::expect_close;
using twin_test::InRows;
using twin_test::random_values;
using twin_test::Rows;
using twin_test::run_rows;
using twin_test::ub;

namespace {

constexpr std::uint32_t kRows = 8, kColumns = 64, kUsed = 43, kWhole = kRows * kColumns;

template <class T>
constexpr std::uint32_t kBlock = 32 / sizeof(T);
SoftMaxShapeInfo shape(std::uint32_t used = kUsed) { return {kRows, kColumns, kRows, used}; }

template <class T>
double at(const std::vector<T>& v, std::uint32_t r, std::uint32_t k, std::uint32_t from = 0) {
  return static_cast<double>(v[from + r * kColumns + k]);
}

// ---- gradients ----
template <class T>
void check_grad(twin_test::RowsBody<T> body, bool front) {
  const auto in = random_values<T>(3, 2 * kWhole, -1, 1);  // gradient, softmax
  const auto got =
      front ? run_rows<T>(in, {kRows, kBlock<T>, kBlock<T>, 0}, body) : run_rows<T>(in, {kRows, kColumns, kUsed, 0}, body);
  for (std::uint32_t r = 0; r < kRows; ++r) {
    double sum = 0;
    for (std::uint32_t k = 0; k < kUsed; ++k) sum += at(in, r, k) * at(in, r, k, kWhole);
    if (front) {
      for (std::uint32_t k = 0; k < kBlock<T>; ++k) expect_close(got[r * kBlock<T> + k], sum, "sum", r);
      continue;
    }
    for (std::uint32_t k = 0; k < kUsed; ++k) {
      const double want = (at(in, r, k) - sum) * at(in, r, k, kWhole);
      EXPECT_NEAR(static_cast<double>(got[r * kUsed + k]), want, (sizeof(T) == 2 ? 1e-3 : 1e-6) * (std::fabs(want) + 0.1));
    }
  }
}
template <class T>
void grad_forms() {
  check_grad<T>([](InRows<T>& t) { SoftmaxGrad<T>(t.y, t.x, t.x[kWhole], t.work, SoftMaxTiling(), false, shape()); }, false);
  check_grad<T>([](InRows<T>& t) { SoftmaxGrad<T, false, false>(t.y, t.x, t.x[kWhole], SoftMaxTiling(), false, shape()); },
                false);
  check_grad<T>([](InRows<T>& t) { SoftmaxGrad(t.y, t.x, t.x[kWhole], SoftMaxTiling(), true, shape()); }, true);
  check_grad<T>([](InRows<T>& t) { SoftmaxGradFront<T>(t.y, t.x, t.x[kWhole], t.work, SoftMaxTiling(), shape()); }, true);
  check_grad<T>([](InRows<T>& t) { SoftmaxGradFront<T, true>(t.y, t.x, t.x[kWhole], SoftMaxTiling(), shape()); }, true);
}
TEST(SoftMaxSteps, GradientsWholeAndTheirFront) {
  grad_forms<float>();
  grad_forms<half>();
}

// ---- LogSoftMax ----
template <class T>
void check_log() {
  const auto in = random_values<T>(4, kWhole, -3, 3);
  const auto got = run_rows<T>(in, {kRows, kColumns, kUsed, 2 * kRows * kBlock<T>}, [](InRows<T>& t) {
    LogSoftMax<T>(t.y, t.y[kWhole], t.y[kWhole + kRows * kBlock<T>], t.x, t.work, LogSoftMaxTiling(), shape());
  });
  for (std::uint32_t r = 0; r < kRows; ++r) {
    double most = -100, sum = 0;
    for (std::uint32_t k = 0; k < kUsed; ++k) most = std::max(most, at(in, r, k));
    for (std::uint32_t k = 0; k < kUsed; ++k) sum += std::exp(at(in, r, k) - most);
    for (std::uint32_t k = 0; k < kUsed; ++k)
      expect_close(got[r * kUsed + k], std::log10(std::exp(at(in, r, k) - most) / sum), "log", k);
    for (std::uint32_t k = 0; k < kBlock<T>; ++k) {
      expect_close(got[kRows * kUsed + r * kBlock<T> + k], sum, "sum", r);
      expect_close(got[kRows * kUsed + (kRows + r) * kBlock<T> + k], most, "max", r);
    }
  }
}
TEST(SoftMaxSteps, LogarithmToBaseTen) {
  check_log<float>();
  check_log<half>();
}

// ---- SoftmaxFlash: two blocks of columns; the first is corrected by the factor afterwards ----
template <class T, bool kWork>
void check_flash() {
  constexpr std::uint32_t kPer = kRows * kBlock<T>;
  const auto in = random_values<T>(5, 2 * kWhole, -3, 3);
  const auto got = run_rows<T>(in, {kRows, kColumns, kColumns, kWhole + 3 * kPer}, [](InRows<T>& t) {
    const auto first = t.y, second = t.y[kWhole], sum = t.y[2 * kWhole], max = t.y[2 * kWhole + kPer],
               factor = t.y[2 * kWhole + 2 * kPer];
    SoftMaxTiling tiling;
    tiling.srcM = kRows;
    tiling.srcK = kColumns;
    if constexpr (kWork) {
      SoftmaxFlash<T>(first, sum, max, t.x, factor, sum, max, t.work, tiling);
      SoftmaxFlash<T>(second, sum, max, t.x[kWhole], factor, sum, max, t.work, tiling, true);
    } else {
      SoftmaxFlash<T, false, false>(first, sum, max, t.x, factor, sum, max, tiling, false, shape(kColumns));
      SoftmaxFlash<T, false, false>(second, sum, max, t.x[kWhole], factor, sum, max, tiling, true, shape(kColumns));
    }
  });
  for (std::uint32_t r = 0; r < kRows; ++r) {
    double most = -100, sum = 0;
    for (std::uint32_t k = 0; k < kColumns; ++k) most = std::max({most, at(in, r, k), at(in, r, k, kWhole)});
    for (std::uint32_t k = 0; k < kColumns; ++k)
      sum += std::exp(at(in, r, k) - most) + std::exp(at(in, r, k, kWhole) - most);
    const double step = sizeof(T) == 2 ? 4e-3 : 1e-6;  // through rounded sums
    const double factor = static_cast<double>(got[2 * kWhole + 2 * kPer + r * kBlock<T>]);
    for (std::uint32_t k = 0; k < kColumns; ++k) {
      const double one = std::exp(at(in, r, k) - most) / sum, two = std::exp(at(in, r, k, kWhole) - most) / sum;
      EXPECT_NEAR(at(got, r, k) * factor, one, step * one + step * 1e-3);
      EXPECT_NEAR(at(got, r, k, kWhole), two, step * two + step * 1e-3);
    }
    EXPECT_NEAR(static_cast<double>(got[2 * kWhole + r * kBlock<T>]), sum, step * sum);
    EXPECT_EQ(static_cast<double>(got[2 * kWhole + kPer + r * kBlock<T>]), most);
  }
}
TEST(SoftMaxSteps, FlashDividesAtOnceAndCorrectsWhatWasBefore) {
  check_flash<float, true>();
  check_flash<float, false>();
  check_flash<half, true>();
  check_flash<half, false>();
}
void mixed_kernel(GM_ADDR in, GM_ADDR out) {
  const auto x = ub<half>(0, kWhole), y = ub<half>(8192, kWhole), factor = ub<half>(16384, kRows * 16);
  const auto sum = ub<float>(20480, kRows * 8), max = ub<float>(24576, kRows * 8);
  DataCopy(x, twin_test::gm<half>(in, kWhole), kWhole);
  twin_test::order<HardEvent::MTE2_V>();
  SoftmaxFlash<half>(y, sum, max, x, factor, sum, max, SoftMaxTiling(), false, shape(kColumns));
  twin_test::order<HardEvent::V_MTE3>();
  DataCopy(twin_test::gm<float>(out, kRows * 8), sum, kRows * 8);
}
TEST(SoftMaxSteps, FlashOfHalvesKeepsSumsInFloat) {
  const auto in = random_values<half>(6, kWhole, -3, 3);
  twin_test::Device<half> x(in);
  twin_test::Device<float> y(kRows * 8);
  RUN(mixed_kernel, 1).auto_sync(false)(x, y);
  EXPECT_SILENT();
  for (std::uint32_t r = 0; r < kRows; ++r) {
    double most = -100, sum = 0;
    for (std::uint32_t k = 0; k < kColumns; ++k) most = std::max(most, at(in, r, k));
    for (std::uint32_t k = 0; k < kColumns; ++k) sum += std::exp(at(in, r, k) - most);
    expect_close(y.values()[r * 8], sum, "sum", r);
  }
}

// ---- SoftmaxFlashV3 ----
constexpr std::uint32_t kLong = 512, kPasaRows = 8;
constexpr float kAlpha = 0.9375f;
// mean, sum, max of the two steps, the factor of the second, and both results.
template <bool kWork>
void pasa_kernel(GM_ADDR in, GM_ADDR out, GM_ADDR rows) {
  constexpr int kN = kPasaRows * kLong;
  const auto x = ub<half>(0, kN), x1 = ub<half>(8192, kN), y = ub<half>(16384, kN), y1 = ub<half>(24576, kN);
  const auto mean = ub<float>(32768, 64), sum = ub<float>(33792, 64), max = ub<float>(34816, 64);
  const auto factor = ub<half>(35840, 128);
  const auto work = ub<std::uint8_t>(65536, 32768);
  DataCopy(x, twin_test::gm<half>(in, kN), kN);
  DataCopy(x1, twin_test::gm<half>(in + kN * 2, kN), kN);
  twin_test::order<HardEvent::MTE2_V>();
  const SoftMaxParams first = {kPasaRows, kLong, kPasaRows, kLong, 1, 8, kAlpha};
  const SoftMaxParams second = {kPasaRows, kLong, kPasaRows, kLong, 2, 8, kAlpha};
  const SoftMaxTiling tiling;
  if constexpr (kWork) {
    SoftmaxFlashV3<half, float, false>(y, mean, sum, max, x, factor, mean, sum, max, work, tiling, first);
    SoftmaxFlashV3<half, float, true>(y1, mean, sum, max, x1, factor, mean, sum, max, work, tiling, second);
  } else {
    SoftmaxFlashV3<half, float>(y, mean, sum, max, x, factor, mean, sum, max, tiling, first);
    SoftmaxFlashV3<half, float, true>(y1, mean, sum, max, x1, factor, mean, sum, max, tiling, second);
  }
  twin_test::order<HardEvent::V_MTE3>();
  DataCopy(twin_test::gm<half>(out, kN), y, kN);
  DataCopy(twin_test::gm<half>(out + kN * 2, kN), y1, kN);
  DataCopy(twin_test::gm<half>(out + kN * 4, 128), factor, 128);
  DataCopy(twin_test::gm<float>(rows, 64), mean, 64);
  DataCopy(twin_test::gm<float>(rows + 256, 64), sum, 64);
  DataCopy(twin_test::gm<float>(rows + 512, 64), max, 64);
}
// Subtracting the same from every key of a row changes no softmax: undone, both steps give the softmax of rows whose blocks
// were each shifted towards the row's mean.
template <bool kWork>
void check_pasa() {
  constexpr std::uint32_t kN = kPasaRows * kLong;
  const auto in = random_values<half>(9, 2 * kN, -2, 2);
  twin_test::Device<half> x(in), y(2 * kN + 128);
  twin_test::Device<float> rows(192);
  RUN(pasa_kernel<kWork>, 1).auto_sync(false)(x, y, rows);
  EXPECT_SILENT();
  const auto got = y.values();
  const auto per_row = rows.values();
  const double c = kAlpha / (1 - static_cast<double>(kAlpha));
  for (std::uint32_t r = 0; r < kPasaRows; ++r) {
    std::vector<double> shifted(2 * kLong);
    double mean[2] = {};
    for (int s = 0; s < 2; ++s) {
      const half* const row = &in[s * kN + r * kLong];
      for (std::uint32_t k = 0; k < kLong; ++k) mean[s] += static_cast<double>(row[k]) / kLong;
      for (std::uint32_t b = 0; b < 8; ++b) {
        double local = 0;
        for (std::uint32_t k = b * 64; k < b * 64 + 64; ++k) local += static_cast<double>(row[k]) / 64;
        for (std::uint32_t k = b * 64; k < b * 64 + 64; ++k)
          shifted[s * kLong + k] = static_cast<double>(row[k]) - (mean[s] - local) * c;
      }
    }
    const double both = (mean[0] + mean[1]) / 2;
    double most = -1e9, sum = 0;
    for (std::uint32_t k = 0; k < 2 * kLong; ++k) most = std::max(most, shifted[k] + (mean[k / kLong] - both) * c);
    for (std::uint32_t k = 0; k < 2 * kLong; ++k) sum += std::exp(shifted[k] + (mean[k / kLong] - both) * c - most);
    EXPECT_NEAR(per_row[r * 8], both, 1e-6);
    EXPECT_NEAR(per_row[64 + r * 8], sum, 1e-4 * sum);
    EXPECT_NEAR(per_row[128 + r * 8], most, 1e-5);
    const double factor = static_cast<double>(got[2 * kN + r * 16]);
    for (std::uint32_t k = 0; k < 2 * kLong; ++k) {
      const double want = std::exp(shifted[k] + (mean[k / kLong] - both) * c - most);
      const double have = static_cast<double>(got[k / kLong * kN + r * kLong + k % kLong]) * (k < kLong ? factor : 1);
      EXPECT_NEAR(have, want, 2e-3 * want + 1e-6) << "row " << r << ", key " << k;
    }
  }
}
TEST(SoftMaxSteps, PasaShiftsBlocksTowardsTheRow) {
  check_pasa<true>();
  check_pasa<false>();
}

// ---- AdjustSoftMaxRes ----
template <class T>
void adjust_kernel(GM_ADDR in, GM_ADDR out, bool dense, GM_ADDR said) {
  const auto res = ub<T>(0, kWhole);
  const auto max = ub<T>(16384, kRows * kBlock<T>);
  DataCopy(res, twin_test::gm<T>(in, kWhole), kWhole);
  for (std::uint32_t r = 0; r < kRows; ++r) {
    const T value = r % 3 == 1 ? T(-65504.0f) : T(2.0f);
    for (std::uint32_t k = 0; k < kBlock<T>; ++k) max.SetValue(r * kBlock<T> + k, value);
  }
  for (std::uint32_t r = 0; dense && r < kRows; ++r) max.SetValue(r, r == 2 ? T(-65504.0f) : T(2.0f));
  twin_test::order<HardEvent::MTE2_V>();
  twin_test::order<HardEvent::S_V>();
  const std::uint32_t from = sizeof(T) == 2 ? 0xfbffu : 0xc77fe000u;
  const bool any = dense ? AdjustSoftMaxRes<T, T, false, 1>(res, max, from, T(0.0f), shape())
                         : AdjustSoftMaxRes<T, T>(res, max, from, T(0.5f), shape());
  const bool none = AdjustSoftMaxRes<T, T>(res, max, 0x1234u, T(9.0f), shape());
  twin_test::order<HardEvent::V_MTE3>();
  DataCopy(twin_test::gm<T>(out, kWhole), res, kWhole);
  twin_test::gm<std::int32_t>(said, 8).SetValue(0, any);
  twin_test::gm<std::int32_t>(said, 8).SetValue(1, none);
  DataCacheCleanAndInvalid<std::int32_t, CacheLine::ENTIRE_DATA_CACHE>(twin_test::gm<std::int32_t>(said, 8));
}
template <class T>
void check_adjust(bool dense) {
  const auto in = random_values<T>(7, kWhole, 1, 2);
  twin_test::Device<T> x(in), y(kWhole);
  twin_test::Device<std::int32_t> said(8);
  RUN(adjust_kernel<T>, 1).auto_sync(false)(x, y, dense, said);
  EXPECT_SILENT();
  EXPECT_EQ(said.values()[0], 1);
  EXPECT_EQ(said.values()[1], 0);
  for (std::uint32_t r = 0; r < kRows; ++r) {
    const bool set = dense ? r == 2 : r % 3 == 1;
    for (std::uint32_t k = 0; k < kColumns; ++k)
      ASSERT_EQ(at(y.values(), r, k), set ? (dense ? 0 : 0.5) : at(in, r, k)) << "row " << r;
  }
}
TEST(SoftMaxSteps, SetsRowsByTheirMaximum) {
  check_adjust<float>(false);
  check_adjust<float>(true);
  check_adjust<half>(false);
  check_adjust<half>(true);
}

// ---- misuse ----
void call(GM_ADDR p, void (*kernel)(GM_ADDR)) { kernel(p); }
void expect_refusal(void (*kernel)(GM_ADDR), twin::Kind kind, const char* text) {
  twin_test::Device<float> x(8);
  RUN(call, 1)(x, kernel);
  twin_test::expect_found(kind, text);
}
template <class T>
LocalTensor<T> filled(int offset_bytes, int count) {
  const auto t = ub<T>(offset_bytes, count);
  Duplicate(t, T(1.0f), count);
  return t;
}
TEST(SoftMaxSteps, RefusesGradientsOfNoShapeOrOverOneAnother) {
  expect_refusal(
      [](GM_ADDR) { SoftmaxGrad(ub<float>(0, 64), filled<float>(1024, 64), filled<float>(2048, 64), SoftMaxTiling()); },
      twin::Kind::Limit, "SoftmaxGrad of 0 rows");
  expect_refusal(
      [](GM_ADDR) {
        SoftmaxGradFront(ub<float>(0, 64), filled<float>(1024, 64), filled<float>(2048, 64), SoftMaxTiling(),
                         {2, 30, 2, 30});
      },
      twin::Kind::Alignment, "rows of 30 elements");
  expect_refusal(
      [](GM_ADDR) {
        SoftmaxGrad(ub<float>(1056, 64), filled<float>(1024, 64), filled<float>(2048, 64), SoftMaxTiling(), false,
                    {2, 32, 2, 32});
      },
      twin::Kind::Overlap, "the destination lies over the gradient");
}
template <std::uint32_t kM, std::uint32_t kK, std::uint32_t kOwn, std::uint32_t kBlocks>
void pasa_of(GM_ADDR) {
  const auto x = filled<half>(0, 8192), y = ub<half>(16384, 8192), factor = ub<half>(65536, 1024);
  const auto mean = ub<float>(40960, 1024), sum = ub<float>(45056, 1024), max = ub<float>(49152, 1024);
  SoftmaxFlashV3<half, float>(y, mean, sum, max, x, factor, mean, sum, max, SoftMaxTiling(),
                              {kM, kK, kM, kOwn, 1, kBlocks, kAlpha});
}
TEST(SoftMaxSteps, RefusesPasaOutsideOfItsLimits) {
  expect_refusal(pasa_of<8, 448, 448, 8>, twin::Kind::Limit, "SoftmaxFlashV3 of 8 rows of 448 elements");
  expect_refusal(pasa_of<4, 512, 512, 8>, twin::Kind::Limit, "SoftmaxFlashV3 of 4 rows");
  expect_refusal(pasa_of<8, 512, 500, 8>, twin::Kind::Limit, "oriSrcK 500 of 512");
  expect_refusal(pasa_of<8, 512, 512, 4>, twin::Kind::Limit, "splitMeanCnt 4");
}

}  // namespace
