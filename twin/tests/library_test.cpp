// SPDX-License-Identifier: Apache-2.0
// The library: every row of library.inc in every type it takes, reductions of matrices, Broadcast.
#include <cmath>
#include <cstring>
#include <random>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

constexpr int kN = 200;

// Runs body(dst, a, b, scratch) on kN elements; the rest of dst keeps −7.
template <class T>
using Body = void (*)(const LocalTensor<T>&, const LocalTensor<T>&, const LocalTensor<T>&, LocalTensor<std::uint8_t>&);
template <class T>
void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, int n, Body<T> body) {
  const auto a = ub<T>(0, n), b = ub<T>(32768, n), d = ub<T>(65536, n);
  LocalTensor<std::uint8_t> scratch = ub<std::uint8_t>(98304, 32768);
  DataCopy(a, gm<T>(x, n), n);
  DataCopy(b, gm<T>(y, n), n);
  if constexpr (sizeof(T) >= 2) Duplicate(d, T(-7), n);
  order<HardEvent::MTE2_V>();
  PipeBarrier<PIPE_V>();
  body(d, a, b, scratch);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<T>(z, n), d, n);
}
template <class T>
std::vector<T> run(const std::vector<T>& a, const std::vector<T>& b, Body<T> body) {
  twin_test::Device<T> x(a), y(b), z(a.size());
  RUN(kernel<T>, 1).auto_sync(false)(x, y, z, static_cast<int>(a.size()), body);
  EXPECT_SILENT();
  return z.values();
}
template <class T>
std::vector<T> values(unsigned seed, double low, double high, int n = 256) {
  std::mt19937 random(seed);
  std::vector<T> v(n);
  for (T& e : v) e = T(static_cast<float>(low + (high - low) * (random() % 1000) / 1000));
  return v;
}
template <class T>
void expect(const std::vector<T>& got, const std::vector<T>& a, const std::vector<T>& b, double (*value)(double, double),
            const char* name) {
  for (int k = 0; k < 256; ++k) {
    const T want = k < kN ? T(static_cast<float>(value(static_cast<double>(a[k]), static_cast<double>(b[k])))) : T(-7);
    ASSERT_EQ(std::memcmp(&got[k], &want, sizeof(T)), 0)
        << name << " element " << k << ": " << static_cast<double>(got[k]) << ", expected " << static_cast<double>(want);
  }
}

#define CHECK_ONE(name, T, low, high, reference)                                                                         \
  {                                                                                                                      \
    const auto a = values<T>(1, low, high);                                                                              \
    expect<T>(                                                                                                           \
        run<T>(a, a,                                                                                                     \
               [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>&,                               \
                  LocalTensor<std::uint8_t>& scratch) { AscendC::name(d, x, scratch, kN); }),                            \
        a, a, [](double x, double) -> double { return reference; }, #name);                                              \
    expect<T>(                                                                                                           \
        run<T>(a, a,                                                                                                     \
               [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>&, LocalTensor<std::uint8_t>&) { \
                 AscendC::name(d, x, kN);                                                                                \
               }),                                                                                                       \
        a, a, [](double x, double) -> double { return reference; }, #name);                                              \
  }
#define CHECK_BOTH(name, low, high, reference) \
  CHECK_ONE(name, float, low, high, reference) \
  CHECK_ONE(name, half, low, high, reference)

TEST(Library, Mathematics){
    CHECK_BOTH(Tanh, -4, 4, std::tanh(x)) CHECK_BOTH(Sinh, -4, 4, std::sinh(x)) CHECK_BOTH(Cosh, -4, 4, std::cosh(x))
        CHECK_BOTH(Sin, -9, 9, std::sin(x)) CHECK_BOTH(Cos, -9, 9, std::cos(x)) CHECK_BOTH(Tan, -1, 1, std::tan(x))
            CHECK_BOTH(Asin, -1, 1, std::asin(x)) CHECK_BOTH(Acos, -1, 1, std::acos(x)) CHECK_BOTH(Atan, -9, 9, std::atan(x))
                CHECK_BOTH(Asinh, -9, 9, std::asinh(x)) CHECK_BOTH(Acosh, 1, 9, std::acosh(x))
                    CHECK_BOTH(Atanh, -0.9, 0.9, std::atanh(x)) CHECK_BOTH(Erf, -3, 3, std::erf(x))
                        CHECK_BOTH(Erfc, -3, 3, std::erfc(x)) CHECK_BOTH(Lgamma, 0.5, 9, std::lgamma(x))
                            CHECK_BOTH(Log, 0.5, 9, std::log(x)) CHECK_BOTH(Log2, 0.5, 9, std::log2(x))
                                CHECK_BOTH(Log10, 0.5, 9, std::log10(x)) CHECK_BOTH(Floor, -9, 9, std::floor(x))
                                    CHECK_BOTH(Ceil, -9, 9, std::ceil(x)) CHECK_BOTH(Round, -9, 9, std::nearbyint(x))
                                        CHECK_BOTH(Trunc, -9, 9, std::trunc(x)) CHECK_BOTH(Frac, -9, 9, x - std::trunc(x))
                                            CHECK_BOTH(Sign, -9, 9,
                                                       x > 0   ? 1
                                                       : x < 0 ? -1
                                                               : x)} TEST(Library, Activations) {
  CHECK_BOTH(Sigmoid, -6, 6, 1 / (1 + std::exp(-x)))
  CHECK_BOTH(Silu, -6, 6, x / (1 + std::exp(-x)))
  CHECK_BOTH(FasterGelu, -6, 6, x / (1 + std::exp(-1.702 * x)))
  CHECK_BOTH(FasterGeluV2, -6, 6,
             x * ((x < 0 ? -1 : 1) * (-0.1444 * std::pow(std::min(std::fabs(0.7071 * x), 1.769) - 1.769, 2) + 0.5) + 0.5))
  CHECK_BOTH(Gelu, -6, 6, x / (1 + std::exp(-1.5957691216057308 * (x + 0.044715 * x * x * x))))
}

template <class T>
void check_two() {
  const auto a = values<T>(2, 0.5, 4), b = values<T>(3, -2, 3);
  expect<T>(
      run<T>(a, b,
             [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>& y, LocalTensor<std::uint8_t>& s) {
               Power(d, x, y, s, kN);
             }),
      a, b, [](double x, double y) { return std::pow(x, y); }, "Power");
  expect<T>(
      run<T>(a, b,
             [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>&, LocalTensor<std::uint8_t>&) {
               Power(d, x, T(1.5f), kN);
             }),
      a, b, [](double x, double) { return std::pow(x, 1.5); }, "Power of a scalar exponent");
  expect<T>(
      run<T>(a, b,
             [](const LocalTensor<T>& d, const LocalTensor<T>&, const LocalTensor<T>& y, LocalTensor<std::uint8_t>& s) {
               Power(d, T(2.0f), y, s, kN);
             }),
      a, b, [](double, double y) { return std::pow(2.0, y); }, "Power of a scalar base");
  expect<T>(
      run<T>(b, a,
             [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>& y, LocalTensor<std::uint8_t>&) {
               Fmod(d, x, y, kN);
             }),
      b, a, [](double x, double y) { return std::fmod(x, y); }, "Fmod");
  expect<T>(
      run<T>(a, b,
             [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>& y, LocalTensor<std::uint8_t>& s) {
               SwiGLU(d, x, y, 1.25f, s, kN);
             }),
      a, b, [](double x, double y) { return x * y / (1 + std::exp(-1.25 * y)); }, "SwiGLU");
  expect<T>(
      run<T>(a, b,
             [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>& y, LocalTensor<std::uint8_t>& s) {
               ReGlu(d, x, y, s, kN);
             }),
      a, b, [](double x, double y) { return x * std::max(y, 0.0); }, "ReGlu");
  expect<T>(
      run<T>(a, b,
             [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>& y, LocalTensor<std::uint8_t>& s) {
               Fma(d, x, y, x, s, kN);
             }),
      a, b, [](double x, double y) { return x * y + x; }, "Fma");
  expect<T>(
      run<T>(b, b,
             [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>&, LocalTensor<std::uint8_t>& s) {
               ClampMax(d, x, s, T(1), kN);
             }),
      b, b, [](double x, double) { return std::min(x, 1.0); }, "ClampMax");
  expect<T>(
      run<T>(b, b,
             [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>&, LocalTensor<std::uint8_t>&) {
               ClampMin(d, x, T(1), kN);
             }),
      b, b, [](double x, double) { return std::max(x, 1.0); }, "ClampMin");
  expect<T>(
      run<T>(b, b,
             [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>&, LocalTensor<std::uint8_t>&) {
               Swish(d, x, kN, T(2));
             }),
      b, b, [](double x, double) { return x / (1 + std::exp(-2 * x)); }, "Swish");
}
TEST(Library, OfTwoTensorsAndScalars) {
  check_two<float>();
  check_two<half>();
}
TEST(Library, XorAndRamps) {
  std::vector<std::int16_t> a(256), b(256);
  for (int k = 0; k < 256; ++k)
    a[k] = static_cast<std::int16_t>(k * 331 - 30000), b[k] = static_cast<std::int16_t>(k * 17 - 300);
  const auto x =
      run<std::int16_t>(a, b,
                        [](const LocalTensor<std::int16_t>& d, const LocalTensor<std::int16_t>& p,
                           const LocalTensor<std::int16_t>& q, LocalTensor<std::uint8_t>& s) { Xor(d, p, q, s, kN); });
  for (int k = 0; k < kN; ++k) ASSERT_EQ(x[k], static_cast<std::int16_t>(a[k] ^ b[k]));
  const std::vector<std::int32_t> zeros(256, 0);
  const auto ramp = run<std::int32_t>(
      zeros, zeros,
      [](const LocalTensor<std::int32_t>& d, const LocalTensor<std::int32_t>&, const LocalTensor<std::int32_t>&,
         LocalTensor<std::uint8_t>&) { ArithProgression(d, 5, -3, kN); });
  for (int k = 0; k < 256; ++k) ASSERT_EQ(ramp[k], k < kN ? 5 - 3 * k : -7);
  EXPECT_EQ(ramp,
            run<std::int32_t>(zeros, zeros,
                              [](const LocalTensor<std::int32_t>& d, const LocalTensor<std::int32_t>&,
                                 const LocalTensor<std::int32_t>&, LocalTensor<std::uint8_t>&) { Arange(d, 5, -3, kN); }));
}
// With a number of terms Exp is the library's; with isSetMask, or nothing, it is the instruction.
template <class T>
void check_exp() {
  const auto a = values<T>(9, -4, 4);
  const auto with = run<T>(
      a, a, [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>&, LocalTensor<std::uint8_t>& s) {
        Exp<T, 15, false>(d, x, s, kN);
      });
  constexpr std::uint8_t kTerms = 1;
  const auto without =
      run<T>(a, a, [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>&, LocalTensor<std::uint8_t>&) {
        Exp<T, kTerms>(d, x, std::uint32_t{kN});
      });
  const auto instruction =
      run<T>(a, a, [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>&, LocalTensor<std::uint8_t>&) {
        Exp<T, true>(d, x, kN);
      });
  for (int k = 0; k < kN; ++k) {
    ASSERT_EQ(float(with[k]), float(T(static_cast<float>(std::exp(static_cast<double>(a[k]))))));
    ASSERT_EQ(float(without[k]), float(with[k]));
    ASSERT_NEAR(float(instruction[k]), float(with[k]), 0.002 * float(with[k]));
  }
  EXPECT_EQ(float(with[kN]), -7);
}
TEST(Library, ExpWithTerms) {
  check_exp<float>();
  check_exp<half>();
}

// ---- matrices ----
template <class T>
void check_folds() {
  const auto a = values<T>(5, 0.5, 2);  // 12 rows of 17, padded
  constexpr int kRows = 12, kColumns = 17, kRow = 32 / sizeof(T) == 8 ? 24 : 32;
  std::vector<T> in(kRows * kRow, T(100));
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) in[r * kRow + c] = a[(r * kColumns + c) % 256];
  }
  const auto rows = run<T>(
      in, in, [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>&, LocalTensor<std::uint8_t>& s) {
        const std::uint32_t shape[] = {kRows, kColumns};
        ReduceSum<T, Pattern::Reduce::AR>(d, x, s, shape, true);
        ReduceMax<T, Pattern::Reduce::AR>(d[16], x, s, shape, true);
        Sum(d[32], x, s, SumParams{kRows, kRow, kColumns});
        Mean(d[48], x, s, MeanParams{kRows, kRow, kColumns});
      });
  const auto columns = run<T>(
      in, in, [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>&, LocalTensor<std::uint8_t>& s) {
        const std::uint32_t shape[] = {kRows, kColumns};
        ReduceMin<T, Pattern::Reduce::RA>(d, x, s, shape, true);
        ReduceSum<T, Pattern::Reduce::RA>(d[32], x, shape, true);
        ReduceProd<T, Pattern::Reduce::RA>(d[64], x, shape, true);
      });
  for (int r = 0; r < kRows; ++r) {
    double sum = 0, most = 0;
    for (int c = 0; c < kColumns; ++c) {
      sum += static_cast<double>(in[r * kRow + c]);
      most = std::max(most, static_cast<double>(in[r * kRow + c]));
    }
    EXPECT_EQ(float(rows[r]), float(T(static_cast<float>(sum))));
    EXPECT_EQ(float(rows[16 + r]), float(most));
    EXPECT_EQ(float(rows[32 + r]), float(T(static_cast<float>(sum))));
    EXPECT_EQ(float(rows[48 + r]), float(T(static_cast<float>(sum / kColumns))));
  }
  for (int c = 0; c < kColumns; ++c) {
    double sum = 0, least = 100, product = 1;
    for (int r = 0; r < kRows; ++r) {
      const auto x = static_cast<double>(in[r * kRow + c]);
      sum += x;
      product *= x;
      least = std::min(least, x);
    }
    EXPECT_EQ(float(columns[c]), float(least));
    EXPECT_EQ(float(columns[32 + c]), float(T(static_cast<float>(sum))));
    EXPECT_EQ(float(columns[64 + c]), float(T(static_cast<float>(product))));
  }
}
TEST(Library, ReducesRowsAndColumns) {
  check_folds<float>();
  check_folds<half>();
}
TEST(Library, BroadcastsAlongEitherDimension) {
  const auto a = values<half>(6, 0, 99);
  const auto across = run<half>(
      a, a,
      [](const LocalTensor<half>& d, const LocalTensor<half>& x, const LocalTensor<half>&, LocalTensor<std::uint8_t>& s) {
        const std::uint32_t to[] = {8, 16}, from[] = {8, 1};
        Broadcast<half, 2, 1>(d, x, to, from, s);
      });
  const auto down = run<half>(
      a, a,
      [](const LocalTensor<half>& d, const LocalTensor<half>& x, const LocalTensor<half>&, LocalTensor<std::uint8_t>&) {
        const std::uint32_t to[] = {8, 16}, from[] = {1, 16};
        BroadCast<half, 2, 0>(d, x, to, from);  // the older name
      });
  for (int r = 0; r < 8; ++r) {
    for (int c = 0; c < 16; ++c) {
      EXPECT_EQ(float(across[r * 16 + c]), float(a[r]));
      EXPECT_EQ(float(down[r * 16 + c]), float(a[c]));
    }
  }
}

template <class T>
void check_choice() {
  std::vector<T> a(256);
  for (int k = 0; k < 256; ++k) a[k] = T(static_cast<float>(k % 90));
  const auto choose = [](const LocalTensor<T>& d, const LocalTensor<T>& x, const LocalTensor<T>&,
                         LocalTensor<std::uint8_t>& s) {
    const auto mask = ub<std::uint8_t>(135168, 256);
    for (std::uint32_t k = 0; k < 256; ++k) mask.SetValue(k, static_cast<std::uint8_t>(k % 3 == 0 ? 0 : k));
    order<HardEvent::S_V>();
    SelectWithBytesMask(d, x, T(-1), mask, s, SelectWithBytesMaskShapeInfo{4, 16, 32});
    SelectWithBytesMask(d[64], T(-2), x, mask, s, SelectWithBytesMaskShapeInfo{4, 16, 32});
  };
  const auto d = run<T>(a, a, choose);
  for (int k = 0; k < 64; ++k) {
    const int m = k / 16 * 32 + k % 16;
    const bool zero = m % 3 == 0 || m % 256 == 0;
    ASSERT_EQ(float(d[k]), zero ? float(a[k]) : -1.0f) << k;
    ASSERT_EQ(float(d[64 + k]), zero ? -2.0f : float(a[k])) << k;
  }
}
TEST(Library, ChoosesByBytes) {
  check_choice<float>();
  check_choice<half>();
}
constexpr CumSumConfig kDown = {false, false, true};
template <class T>
void check_running_sum() {
  std::vector<T> a(256);
  for (int k = 0; k < 256; ++k) a[k] = T(static_cast<float>(k * 7 % 23) - 9);
  const auto d = run<T>(
      a, a, [](const LocalTensor<T>& out, const LocalTensor<T>& x, const LocalTensor<T>&, LocalTensor<std::uint8_t>& s) {
        LocalTensor<T> first = out, second = out[64], last = out[128];
        CumSum<T>(first, last, x, s, CumSumInfo{4, 16});
        CumSum<T, kDown>(second, last, x, CumSumInfo{4, 16});
      });
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 16; ++c) {
      float along = 0, down = 0;
      for (int k = 0; k <= c; ++k) along += float(a[r * 16 + k]);
      for (int k = 0; k <= r; ++k) down += float(a[k * 16 + c]);
      EXPECT_EQ(float(d[r * 16 + c]), along);
      EXPECT_EQ(float(d[64 + r * 16 + c]), down);
      if (r == 3) {
        EXPECT_EQ(float(d[128 + c]), down);
      }
    }
  }
}
TEST(Library, SumsAsItGoes) {
  check_running_sum<float>();
  check_running_sum<half>();
}

}  // namespace
