// SPDX-License-Identifier: Apache-2.0
// The library's normalisations against their formulas, in each form and type; what is wrong with a call.
#include "rows_support.hpp"

using namespace AscendC;
using twin_test::expect_close;
using twin_test::InRows;
using twin_test::random_values;
using twin_test::Rows;
using twin_test::run_rows;
using twin_test::ub;

namespace {

constexpr std::uint32_t kB = 2, kS = 4, kRows = kB * kS, kColumns = 64, kUsed = 43;
constexpr std::uint32_t kWhole = kRows * kColumns, kGamma = kWhole, kBeta = kGamma + kColumns, kInputs = kBeta + kColumns;
constexpr double kEpsilon = 0.0009765625, kAlpha = 0.75;  // halves have them exactly
constexpr Rows kShape = {kRows, kColumns, kUsed, 64};

template <class Tiling>
Tiling tiling_of(std::uint32_t used = kUsed) {
  Tiling t;
  t.bLength = kB;
  t.sLength = kS;
  t.hLength = kColumns;
  t.originalHLength = used;
  return t;
}

struct Moments {
  double mean = 0, variance = 0, squares = 0;
};
template <class F>
Moments moments(std::uint32_t n, F&& x) {
  Moments m;
  for (std::uint32_t k = 0; k < n; ++k) {
    m.mean += x(k) / n;
    m.squares += x(k) * x(k) / n;
  }
  for (std::uint32_t k = 0; k < n; ++k) m.variance += (x(k) - m.mean) * (x(k) - m.mean) / n;
  return m;
}

template <class T>
struct Case {
  std::vector<T> in = random_values<T>(7, kInputs, -3, 5);
  double x(std::uint32_t r, std::uint32_t k) const { return static_cast<double>(in[r * kColumns + k]); }
  double gamma(std::uint32_t k) const { return static_cast<double>(in[kGamma + k]); }
  double beta(std::uint32_t k) const { return static_cast<double>(in[kBeta + k]); }
};

// ---- RmsNorm ----
template <class T>
void check_rms(twin_test::RowsBody<T> body) {
  const Case<T> c;
  const auto got = run_rows<T>(c.in, kShape, body);
  for (std::uint32_t r = 0; r < kRows; ++r) {
    const Moments m = moments(kUsed, [&](std::uint32_t k) { return c.x(r, k); });
    for (std::uint32_t k = 0; k < kUsed; ++k)
      expect_close(got[r * kUsed + k], c.x(r, k) / std::sqrt(m.squares + kEpsilon) * c.gamma(k), "RmsNorm", r * kUsed + k);
  }
  for (std::uint32_t k = 0; k < kShape.more; ++k) ASSERT_EQ(float(got[kRows * kUsed + k]), -7);
}
template <class T>
void rms_forms() {
  check_rms<T>(
      [](InRows<T>& t) { RmsNorm<T>(t.y, t.x, t.x[kGamma], t.work, T(float(kEpsilon)), tiling_of<RmsNormTiling>()); });
  check_rms<T>([](InRows<T>& t) {
    AscendC::RmsNorm<T, false>(t.y, t.x, t.x[kGamma], T(float(kEpsilon)), tiling_of<RmsNormTiling>());
  });
  check_rms<T>([](InRows<T>& t) {  // in place, then moved
    RmsNorm(t.x, t.x, t.x[kGamma], t.work, T(float(kEpsilon)), tiling_of<RmsNormTiling>());
    Adds(t.y, t.x, T(0), kWhole);
    PipeBarrier<PIPE_V>();
  });
}
TEST(Norm, RmsNormOfRowsWithPadding) {
  rms_forms<float>();
  rms_forms<half>();
}

// ---- LayerNorm ----
constexpr std::uint32_t kMean = kWhole, kOther = kWhole + 32;  // in the results
template <class T>
void check_layer(twin_test::RowsBody<T> body, bool with_rstd, bool gammas, bool betas) {
  const Case<T> c;
  const auto got = run_rows<T>(c.in, kShape, body);
  for (std::uint32_t r = 0; r < kRows; ++r) {
    const Moments m = moments(kUsed, [&](std::uint32_t k) { return c.x(r, k); });
    const double rstd = 1 / std::sqrt(m.variance + kEpsilon);
    for (std::uint32_t k = 0; k < kUsed; ++k) {
      const double want = (c.x(r, k) - m.mean) * rstd * (gammas ? c.gamma(k) : 1) + (betas ? c.beta(k) : 0);
      EXPECT_NEAR(static_cast<double>(got[r * kUsed + k]), want, (sizeof(T) == 2 ? 1e-3 : 1e-6) * (std::fabs(want) + 1));
    }
    const T* const mean = &got[kRows * kUsed];
    if (with_rstd) {
      expect_close(reinterpret_cast<const float*>(mean)[r], m.mean, "mean", r);
      expect_close(reinterpret_cast<const float*>(mean + 32)[r], rstd, "rstd", r);
    } else {
      expect_close(mean[r], m.mean, "mean", r);
      expect_close(mean[32 + r], m.variance, "variance", r);
    }
  }
}
constexpr LayerNormConfig kNoBeta = {true, false, false};
constexpr LayerNormConfig kNoGamma = {true, true, false};
template <class T>
void layer_forms() {
  check_layer<T>(
      [](InRows<T>& t) {
        LayerNorm<T>(t.y, t.y[kMean], t.y[kOther], t.x, t.x[kGamma], t.x[kBeta], t.work, T(float(kEpsilon)),
                     tiling_of<LayerNormTiling>());
      },
      false, true, true);
  check_layer<T>(
      [](InRows<T>& t) {
        auto tiling = tiling_of<LayerNormTiling>();
        LayerNorm<T, false>(t.y, t.y[kMean], t.y[kOther], t.x, t.x[kGamma], t.x[kBeta], T(float(kEpsilon)), tiling);
      },
      false, true, true);
  static constexpr LayerNormPara kPara = {kRows, kUsed, kColumns};
  check_layer<T>(
      [](InRows<T>& t) {
        LayerNorm<T, T>(t.y, t.y[kMean].template ReinterpretCast<float>(), t.y[kOther].template ReinterpretCast<float>(),
                        t.x, t.x[kGamma], t.x[kBeta], float(kEpsilon), t.work, kPara, LayerNormSeparateTiling());
      },
      true, true, true);
  check_layer<T>(
      [](InRows<T>& t) {
        LayerNorm<T, T, false, kNoBeta>(t.y, t.y[kMean].template ReinterpretCast<float>(),
                                        t.y[kOther].template ReinterpretCast<float>(), t.x, t.x[kGamma], t.x[kBeta],
                                        float(kEpsilon), kPara, LayerNormSeparateTiling());
      },
      true, true, false);
  check_layer<T>(
      [](InRows<T>& t) {
        LayerNorm<T, T, true, kNoGamma>(t.y, t.y[kMean].template ReinterpretCast<float>(),
                                        t.y[kOther].template ReinterpretCast<float>(), t.x, t.x[kGamma], t.x[kBeta],
                                        float(kEpsilon), t.work, kPara, LayerNormSeparateTiling());
      },
      true, false, false);
}
TEST(Norm, LayerNormWithVarianceOrItsReciprocalRoot) {
  layer_forms<float>();
  layer_forms<half>();
}

// ---- Normalize: the second half of LayerNorm ----
constexpr NormalizeConfig kOnlyOutput = {ReducePattern::AR, -1, false, false, true};
template <class T>
void check_normalize() {
  const Case<T> c;
  std::vector<T> in = c.in;
  in.resize(kInputs + 64);
  auto* const given = reinterpret_cast<float*>(&in[kInputs]);
  for (std::uint32_t r = 0; r < kRows; ++r) {
    given[r] = 0.5f * static_cast<float>(r);
    given[(32 * sizeof(T)) / 4 + r] = 1.0f + static_cast<float>(r);
  }
  const auto body = [](InRows<T>& t) {
    const NormalizePara para = {kRows, kUsed, kColumns};
    const auto mean = t.x[kInputs].template ReinterpretCast<float>();
    const auto variance = t.x[kInputs + 32].template ReinterpretCast<float>();
    Normalize<T, T>(t.y, t.y[kMean].template ReinterpretCast<float>(), mean, variance, t.x, t.x[kGamma], t.x[kBeta], t.work,
                    float(kEpsilon), para);
    Normalize<T, T, false, kOnlyOutput>(t.y, t.y[kMean].template ReinterpretCast<float>(), mean, variance, t.x, t.x[kGamma],
                                        t.x[kBeta], float(kEpsilon), para);
  };
  const auto got = run_rows<T>(in, kShape, body);
  for (std::uint32_t r = 0; r < kRows; ++r) {
    const double rstd = 1 / std::sqrt(1.0 + r + kEpsilon);
    expect_close(reinterpret_cast<const float*>(&got[kRows * kUsed])[r], rstd, "rstd", r);
    for (std::uint32_t k = 0; k < kUsed; ++k) {
      const double want = (c.x(r, k) - 0.5 * r) * rstd * c.gamma(k) + c.beta(k);
      EXPECT_NEAR(static_cast<double>(got[r * kUsed + k]), want, (sizeof(T) == 2 ? 1e-3 : 1e-6) * (std::fabs(want) + 1));
    }
  }
}
TEST(Norm, NormalizeTakesMeanAndVariance) {
  check_normalize<float>();
  check_normalize<half>();
}

// ---- DeepNorm ----
template <class T>
void check_deep(twin_test::RowsBody<T> body) {
  const Case<T> c;
  std::vector<T> in = c.in;
  const auto gx = random_values<T>(8, kWhole, -2, 2);
  in.insert(in.end(), gx.begin(), gx.end());
  const auto got = run_rows<T>(in, kShape, body);
  for (std::uint32_t r = 0; r < kRows; ++r) {
    const auto x = [&](std::uint32_t k) { return kAlpha * c.x(r, k) + static_cast<double>(gx[r * kColumns + k]); };
    const Moments m = moments(kUsed, x);
    const double rstd = 1 / std::sqrt(m.variance + kEpsilon);
    expect_close(got[kRows * kUsed + r], m.mean, "mean", r);
    expect_close(got[kRows * kUsed + 32 + r], rstd, "rstd", r);
    for (std::uint32_t k = 0; k < kUsed; ++k) {
      const double want = (x(k) - m.mean) * rstd * c.gamma(k) + c.beta(k);
      EXPECT_NEAR(static_cast<double>(got[r * kUsed + k]), want, (sizeof(T) == 2 ? 1e-3 : 1e-6) * (std::fabs(want) + 1));
    }
  }
}
template <class T>
void deep_forms() {
  check_deep<T>([](InRows<T>& t) {
    DeepNorm<T>(t.y, t.y[kMean], t.y[kOther], t.x, t.x[kInputs], t.x[kBeta], t.x[kGamma], t.work, T(float(kAlpha)),
                T(float(kEpsilon)), tiling_of<DeepNormTiling>());
  });
  check_deep<T>([](InRows<T>& t) {
    DeepNorm<T, false, false>(t.y, t.y[kMean], t.y[kOther], t.x, t.x[kInputs], t.x[kBeta], t.x[kGamma], T(float(kAlpha)),
                              T(float(kEpsilon)), tiling_of<DeepNormTiling>());
  });
}
TEST(Norm, DeepNormOfAWeightedSum) {
  deep_forms<float>();
  deep_forms<half>();
}

// ---- BatchNorm: over the rows, a gamma a row ----
constexpr Rows kFull = {kRows, kColumns, kColumns, 2 * kColumns};
template <class T>
void check_batch(twin_test::RowsBody<T> body) {
  const Case<T> c;
  const auto got = run_rows<T>(c.in, kFull, body);
  for (std::uint32_t k = 0; k < kColumns; ++k) {
    const Moments m = moments(kRows, [&](std::uint32_t r) { return c.x(r, k); });
    expect_close(got[kWhole + k], m.mean, "mean", k);
    expect_close(got[kWhole + kColumns + k], m.variance, "variance", k);
    for (std::uint32_t r = 0; r < kRows; ++r) {
      const double want = (c.x(r, k) - m.mean) / std::sqrt(m.variance + kEpsilon) * c.gamma(r) + c.beta(r);
      EXPECT_NEAR(static_cast<double>(got[r * kColumns + k]), want, (sizeof(T) == 2 ? 1e-3 : 1e-6) * (std::fabs(want) + 1));
    }
  }
}
BatchNormTiling batch_tiling() {
  BatchNormTiling t;
  t.originalBLength = kRows;
  t.meanVarSize = kColumns;
  return t;
}
template <class T>
void batch_forms() {
  check_batch<T>([](InRows<T>& t) {
    BatchNorm<T>(t.y, t.y[kWhole], t.y[kWhole + kColumns], t.x, t.x[kGamma], t.x[kBeta], t.work, T(float(kEpsilon)),
                 batch_tiling());
  });
  check_batch<T>([](InRows<T>& t) {
    BatchNorm<T>(t.y, t.y[kWhole], t.y[kWhole + kColumns], t.x, t.x[kGamma], t.x[kBeta], T(float(kEpsilon)), batch_tiling());
  });
}
TEST(Norm, BatchNormOverRows) {
  batch_forms<float>();
  batch_forms<half>();
}

// ---- GroupNorm: (2, 8, 27) in groups of two channels, each padded to 32 ----
constexpr std::uint32_t kN = 2, kC = 8, kHw = 27, kPadded = 32, kGroups = 4, kD = kC / kGroups;
GroupNormTiling group_tiling() {
  GroupNormTiling t;
  t.n = kN;
  t.c = kC;
  t.hw = kHw;
  t.g = kGroups;
  t.d = kD;
  return t;
}
template <class T>
void check_group(twin_test::RowsBody<T> body) {
  static_assert(kN * kC * kPadded == kWhole);
  const Case<T> c;
  const auto got = run_rows<T>(c.in, {kN * kC, kPadded, kHw, 128}, body);
  for (std::uint32_t g = 0; g < kN * kGroups; ++g) {
    const auto x = [&](std::uint32_t k) { return static_cast<double>(c.in[(g * kD + k / kHw) * kPadded + k % kHw]); };
    const Moments m = moments(kD * kHw, x);
    expect_close(got[kN * kC * kHw + g], m.mean, "mean", g);
    expect_close(got[kN * kC * kHw + kColumns + g], m.variance, "variance", g);
    for (std::uint32_t k = 0; k < kD * kHw; ++k) {
      const std::uint32_t channel = g % kGroups * kD + k / kHw;
      const double want = (x(k) - m.mean) / std::sqrt(m.variance + kEpsilon) * c.gamma(channel) + c.beta(channel);
      EXPECT_NEAR(static_cast<double>(got[g * kD * kHw + k]), want, (sizeof(T) == 2 ? 1e-3 : 1e-6) * (std::fabs(want) + 1));
    }
  }
}
template <class T>
void group_forms() {
  check_group<T>([](InRows<T>& t) {
    GroupNorm<T>(t.y, t.y[kWhole], t.y[kWhole + kColumns], t.x, t.x[kGamma], t.x[kBeta], t.work, T(float(kEpsilon)),
                 group_tiling());
  });
  check_group<T>([](InRows<T>& t) {
    GroupNorm<T>(t.y, t.y[kWhole], t.y[kWhole + kColumns], t.x, t.x[kGamma], t.x[kBeta], T(float(kEpsilon)), group_tiling());
  });
}
TEST(Norm, GroupNormOfChannels) {
  group_forms<float>();
  group_forms<half>();
}

// ---- misuse ----
void run_wrong(twin_test::RowsBody<float> body) {
  const std::vector<float> in(kInputs, 1.0f);
  twin_test::Device<float> x(in), y(kRows * kUsed);
  RUN(twin_test::rows_kernel<float>, 1)
      .auto_sync(false)(x, y, static_cast<int>(in.size()), Rows{kRows, kColumns, kUsed, 0}, body, false);
}
void expect_refusal(twin_test::RowsBody<float> body, twin::Kind kind, const char* text) {
  run_wrong(body);
  twin_test::expect_found(kind, text);
}
TEST(Norm, RefusesAShapeThatIsNone) {
  expect_refusal([](InRows<float>& t) { RmsNorm<float>(t.y, t.x, t.x[kGamma], 1e-3f, RmsNormTiling()); }, twin::Kind::Limit,
                 "RmsNorm of 0 rows of 0 elements");
  expect_refusal(
      [](InRows<float>& t) { RmsNorm<float>(t.y, t.x, t.x[kGamma], 1e-3f, tiling_of<RmsNormTiling>(kColumns + 1)); },
      twin::Kind::Limit, "65 of them used");
  expect_refusal(
      [](InRows<float>& t) {
        auto tiling = group_tiling();
        tiling.g = 3;
        GroupNorm<float>(t.y, t.y[64], t.y[128], t.x, t.x[kGamma], t.x[kBeta], 1e-3f, tiling);
      },
      twin::Kind::Limit, "GroupNorm of 0 rows");
}
TEST(Norm, RefusesRowsThatDoNotFillBlocks) {
  expect_refusal(
      [](InRows<float>& t) {
        auto tiling = tiling_of<RmsNormTiling>(43);
        tiling.hLength = 43;
        RmsNorm<float>(t.y, t.x, t.x[kGamma], 1e-3f, tiling);
      },
      twin::Kind::Alignment, "rows of 43 elements do not fill blocks");
  expect_refusal([](InRows<float>& t) { RmsNorm<float>(t.y, t.x, t.x[3], 1e-3f, tiling_of<RmsNormTiling>()); },
                 twin::Kind::Alignment, "gamma");
}
TEST(Norm, RefusesOperandsOverOneAnother) {
  expect_refusal([](InRows<float>& t) { RmsNorm<float>(t.x[64], t.x, t.x[kGamma], 1e-3f, tiling_of<RmsNormTiling>()); },
                 twin::Kind::Overlap, "the destination lies over the source");
  expect_refusal(
      [](InRows<float>& t) {
        const LayerNormPara para = {kRows, kUsed, kColumns};
        LayerNorm<float, float>(t.x, t.y, t.y[64], t.x, t.x[kGamma], t.x[kBeta], 1e-3f, para, LayerNormSeparateTiling());
      },
      twin::Kind::Overlap, "the destination lies over the source");
  expect_refusal(
      [](InRows<float>& t) {
        RmsNorm<float>(t.y, t.x, t.x[kGamma], t.y[64].ReinterpretCast<std::uint8_t>(), 1e-3f, tiling_of<RmsNormTiling>());
      },
      twin::Kind::Overlap, "the temporary lies over the destination");
}
TEST(Norm, RefusesTensorsThatAreTooShort) {
  expect_refusal([](InRows<float>& t) { RmsNorm<float>(t.y, t.x, ub<float>(0, 32), 1e-3f, tiling_of<RmsNormTiling>()); },
                 twin::Kind::OutOfBounds, "RmsNorm");
}
TEST(Norm, ReportsValuesThatNothingWroteWhereTheyAreStored) {
  run_wrong([](InRows<float>& t) { RmsNorm<float>(t.y, t.x, ub<float>(180000, 64), 1e-3f, tiling_of<RmsNormTiling>()); });
  const auto all = twin::take_findings();
  ASSERT_NE(twin_test::find(all, twin::Kind::Uninitialised), nullptr) << twin_test::text(all);
}
void padding_kernel(GM_ADDR in, GM_ADDR out) {
  const auto x = ub<float>(0, kWhole), y = ub<float>(8192, kWhole), gamma = ub<float>(16384, kColumns);
  DataCopy(x, twin_test::gm<float>(in, kWhole), kWhole);
  DataCopy(gamma, twin_test::gm<float>(in, kWhole), kColumns);
  twin_test::order<HardEvent::MTE2_V>();
  RmsNorm<float>(y, x, gamma, 1e-3f, tiling_of<RmsNormTiling>());
  twin_test::order<HardEvent::V_MTE3>();
  DataCopy(twin_test::gm<float>(out, kWhole), y, kWhole);
}
TEST(Norm, LeavesThePaddingOfRowsWithoutAValue) {
  twin_test::Device<float> x(std::vector<float>(kWhole, 1.0f)), y(kWhole);
  RUN(padding_kernel, 1).auto_sync(false)(x, y);
  const auto all = twin::take_findings();
  const auto* const f = twin_test::find(all, twin::Kind::Uninitialised);
  ASSERT_NE(f, nullptr);
  EXPECT_NE((f->what + f->fix + f->line_b).find("leaves the padding"), std::string::npos) << twin_test::text(all);
}
void temporary_kernel(GM_ADDR in, GM_ADDR out) {
  const auto x = ub<float>(0, kWhole), y = ub<float>(8192, kWhole), gamma = ub<float>(16384, kColumns);
  const auto work = ub<std::uint8_t>(32768, 4096);
  DataCopy(x, twin_test::gm<float>(in, kWhole), kWhole);
  DataCopy(gamma, twin_test::gm<float>(in, kWhole), kColumns);
  Duplicate(work.ReinterpretCast<float>(), 1.0f, 1024);
  twin_test::order<HardEvent::MTE2_V>();
  PipeBarrier<PIPE_V>();
  RmsNorm<float>(y, x, gamma, work, 1e-3f, tiling_of<RmsNormTiling>(kColumns));
  twin_test::order<HardEvent::V_MTE3>();
  DataCopy(twin_test::gm<float>(out, 8), work.ReinterpretCast<float>(), 8);
}
TEST(Norm, LeavesNoValueInTheTemporary) {
  twin_test::Device<float> x(std::vector<float>(kWhole, 1.0f)), y(8);
  RUN(temporary_kernel, 1).auto_sync(false)(x, y);
  const auto all = twin::take_findings();
  const auto* const f = twin_test::find(all, twin::Kind::Uninitialised);
  ASSERT_NE(f, nullptr);
  EXPECT_NE((f->what + f->fix + f->line_b).find("the temporary of RmsNorm"), std::string::npos) << twin_test::text(all);
}
void timed_kernel(GM_ADDR, std::uint32_t rows) {
  const auto x = ub<float>(0, 64 * 256), y = ub<float>(65536, 64 * 256), gamma = ub<float>(131072, 256);
  Duplicate(x, 1.0f, 64 * 256);
  Duplicate(gamma, 1.0f, 256);
  PipeBarrier<PIPE_V>();
  RmsNormTiling tiling;
  tiling.bLength = 1;
  tiling.sLength = rows;
  tiling.hLength = tiling.originalHLength = 256;
  RmsNorm<float>(y, x, gamma, 1e-3f, tiling);
}
double cycles(std::uint32_t rows) {
  twin_test::Device<float> x(8);
  RUN(timed_kernel, 1)(x, rows);
  EXPECT_SILENT();
  return twin::last_timing().cycles;
}
TEST(Norm, TakesTimeInProportionToItsRows) {
  const double few = cycles(8), many = cycles(64);
  EXPECT_NEAR(many - few, 56 * 4 * 16, 1);  // 16 passes over 256 floats, 64 a cycle
}

}  // namespace
