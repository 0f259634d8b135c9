// SPDX-License-Identifier: Apache-2.0
// Every primitive of every ISA this machine has, against scalars.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <algorithm>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/convert.hpp"
#include "cpu/simd/isa_test.hpp"
#include "cpu/simd/simd_probe.hpp"

#define TESSERA_ISA(name)            \
  namespace tessera::cpu::name {     \
  extern const SimdProbe simd_probe; \
  }
#include "cpu/kernels/kernels.inc"
#undef TESSERA_ISA

namespace tessera::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

const SimdProbe& probe_of(std::string_view isa) {
#define TESSERA_ISA(name) \
  if (isa == #name) return name::simd_probe;
#include "cpu/kernels/kernels.inc"
#undef TESSERA_ISA
  std::abort();
}

class Simd : public testing::TestWithParam<std::string_view> {
 protected:
  const SimdProbe& probe = probe_of(GetParam());
  const int width = probe.width;
};
INSTANTIATE_TEST_SUITE_P(Isa, Simd, testing::ValuesIn(isas_of_this_machine()),
                         [](const auto& info) { return std::string(info.param); });

/// Memory that ends where an inaccessible page begins.
class FencedBytes {
 public:
  FencedBytes()
      : pages_(static_cast<std::byte*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(pages_ + 4096, 4096, PROT_NONE);
  }
  ~FencedBytes() { munmap(pages_, 8192); }
  template <class T>
  T* last(int n) {
    return reinterpret_cast<T*>(pages_ + 4096) - n;
  }

 private:
  std::byte* pages_;
};

std::vector<float> random_floats(int n, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(n);
  for (float& value : x) value = normal(rng);
  return x;
}

TEST_P(Simd, PartialFloatsTouchNothingElse) {
  FencedBytes in, out;
  for (int n = 0; n <= width; ++n) {
    float *from = in.last<float>(n), *to = out.last<float>(n);
    for (int i = 0; i < n; ++i) from[i] = static_cast<float>(i + 1);
    to[-1] = -5.0f;
    probe.copy_n(from, n, to);
    for (int i = 0; i < n; ++i) EXPECT_EQ(to[i], from[i]);
    EXPECT_EQ(to[-1], -5.0f);
  }
}

TEST_P(Simd, HalvesWidenExactly) {
  FencedBytes in;
  for (const bool bf16 : {false, true}) {
    for (std::uint32_t start = 0; start < 0x10000; start += static_cast<std::uint32_t>(width)) {
      for (const int n : {width, static_cast<int>(start / static_cast<std::uint32_t>(width)) % width}) {
        auto* from = in.last<std::uint16_t>(n);
        for (int i = 0; i < n; ++i) from[i] = static_cast<std::uint16_t>(start + static_cast<std::uint32_t>(i));
        float out[16];
        probe.widen(bf16, from, n, out);
        for (int i = 0; i < n; ++i) {
          const float want = bf16 ? base::bf16_to_float(from[i]) : base::f16_to_float(from[i]);
          if (std::isnan(want)) {
            EXPECT_TRUE(std::isnan(out[i])) << from[i];
          } else {
            ASSERT_EQ(std::bit_cast<std::uint32_t>(out[i]), std::bit_cast<std::uint32_t>(want)) << from[i];
          }
        }
        for (int i = n; i < width; ++i) ASSERT_EQ(out[i], 0.0f);
      }
    }
  }
}

TEST_P(Simd, HalvesRoundToNearestEven) {
  std::mt19937 rng(3);
  FencedBytes out;
  for (int round = 0; round < 40000; ++round) {
    float in[16];
    for (float& x : in) {
      std::uint32_t bits = rng();
      if (round % 2) bits = (bits & 0x83ffffff) | 0x38000000;                            // near the range of f16
      if (round % 4 == 3) bits = (bits & 0xfffff000) | (rng() % 3 == 0 ? 0x1000u : 0u);  // ties
      x = std::bit_cast<float>(bits);
    }
    for (const bool bf16 : {false, true}) {
      const int n = round % 3 ? width : round % (width + 1);
      auto* to = out.last<std::uint16_t>(n);
      to[-1] = 0x1234;
      probe.narrow(bf16, in, n, to);
      ASSERT_EQ(to[-1], 0x1234);
      for (int i = 0; i < n; ++i) {
        const std::uint16_t want = bf16 ? base::float_to_bf16(in[i]) : base::float_to_f16(in[i]);
        if (std::isnan(in[i])) {
          ASSERT_TRUE(std::isnan(bf16 ? base::bf16_to_float(to[i]) : base::f16_to_float(to[i]))) << in[i];
        } else {
          ASSERT_EQ(to[i], want) << in[i] << (bf16 ? " to bf16" : " to f16");
        }
      }
    }
  }
}

TEST_P(Simd, ArithmeticIsThatOfScalars) {
  const auto a = random_floats(width, 1), b = random_floats(width, 2), c = random_floats(width, 3);
  std::vector<float> out(static_cast<std::size_t>(6 * width));
  probe.arithmetic(a.data(), b.data(), c.data(), out.data());
  for (int i = 0; i < width; ++i) {
    EXPECT_EQ(out[i], a[i] + b[i]);
    EXPECT_EQ(out[width + i], a[i] - b[i]);
    EXPECT_EQ(out[2 * width + i], a[i] * b[i]);
    EXPECT_EQ(out[3 * width + i], std::max(a[i], b[i]));
    EXPECT_EQ(out[4 * width + i], std::min(a[i], b[i]));
    EXPECT_NEAR(out[5 * width + i], std::fma(a[i], b[i], c[i]), 1e-6);
  }
}

TEST_P(Simd, MaxGivesItsSecondOperandWhenEitherIsNan) {
  const std::vector<float> nan(width, kNan), one(width, 1.0f);
  std::vector<float> out(static_cast<std::size_t>(6 * width));
  probe.arithmetic(nan.data(), one.data(), one.data(), out.data());
  EXPECT_EQ(out[3 * width], 1.0f);
  probe.arithmetic(one.data(), nan.data(), one.data(), out.data());
  EXPECT_TRUE(std::isnan(out[3 * width]));
}

TEST_P(Simd, ComparisonsAreFalseForNan) {
  const float pairs[][2] = {{1, 2}, {2, 1}, {1, 1}, {kNan, 1}, {1, kNan}, {-kInf, kInf}, {0.0f, -0.0f}};
  for (const auto& [x, y] : pairs) {
    const std::vector<float> a(width, x), b(width, y);
    std::vector<float> out(static_cast<std::size_t>(3 * width));
    probe.compare(a.data(), b.data(), out.data());
    for (int i = 0; i < width; ++i) {
      EXPECT_EQ(out[i], x < y) << x << " < " << y;
      EXPECT_EQ(out[width + i], x <= y) << x << " <= " << y;
      EXPECT_EQ(out[2 * width + i], x == y) << x << " == " << y;
    }
  }
}

TEST_P(Simd, FirstCountsLanes) {
  for (int n = 0; n <= width; ++n) {
    float out[16];
    bool any, all;
    probe.first(n, out, &any, &all);
    for (int i = 0; i < width; ++i) EXPECT_EQ(out[i], i < n ? 1.0f : 0.0f);
    EXPECT_EQ(any, n > 0);
    EXPECT_EQ(all, n == width);
  }
}

using Function = void (*)(const float* in, float* out);

double worst_ulp_of_exp2(Function exp2) {
  float in[16], out[16];
  double worst = 0;
  for (float x = -125.99f; x <= 127.0f; x += 0.00093f) {
    for (float& lane : in) lane = x;
    exp2(in, out);
    const double want = std::exp2(static_cast<double>(x));
    const double ulp = std::ldexp(1.0, std::ilogb(want) - 23);
    worst = std::max(worst, std::abs(out[0] - want) / ulp);
  }
  return worst;
}

void check_special_values_of_exp2(Function exp2, int width) {
  const float cases[][2] = {{0, 1},        {-kInf, 0}, {-200, 0},         {-1e30f, 0},
                            {-3.4e38f, 0}, {1, 2},     {-126, 0x1p-126f}, {10, 1024}};
  for (const auto& [x, want] : cases) {
    float in[16], out[16];
    for (float& lane : in) lane = x;
    exp2(in, out);
    for (int i = 0; i < width; ++i) EXPECT_EQ(out[i], want) << x;
  }
  float in[16], out[16];
  for (float& lane : in) lane = kNan;
  exp2(in, out);
  EXPECT_TRUE(std::isnan(out[0]));
}

TEST_P(Simd, Exp2IsWithinTwoUlp) { EXPECT_LE(worst_ulp_of_exp2(probe.exp2), 2.0); }
TEST_P(Simd, Exp2OfSpecialValues) { check_special_values_of_exp2(probe.exp2, width); }

TEST_P(Simd, Exp2ToRoundIsWithinThreeUlp) {
  if (!probe.has_pair_dot) GTEST_SKIP() << "no products of pairs";
  EXPECT_LE(worst_ulp_of_exp2(probe.exp2_to_round), 3.0);
  check_special_values_of_exp2(probe.exp2_to_round, width);
}

TEST_P(Simd, Reductions) {
  const auto x = random_floats(width, 4);
  float sum, max;
  probe.reduce(x.data(), &sum, &max);
  double want = 0;
  for (const float value : x) want += value;
  EXPECT_NEAR(sum, want, 1e-5);
  EXPECT_EQ(max, *std::max_element(x.begin(), x.end()));
}

TEST_P(Simd, SumsDoNotDependOnTheLane) {
  const auto row = random_floats(width, 5);
  std::vector<float> in;
  for (int i = 0; i < width; ++i) in.insert(in.end(), row.begin(), row.end());
  std::vector<float> out(width);
  probe.sums(in.data(), out.data());
  for (int i = 0; i < width; ++i) EXPECT_EQ(std::bit_cast<std::uint32_t>(out[i]), std::bit_cast<std::uint32_t>(out[0]));

  in = random_floats(width * width, 6);
  probe.sums(in.data(), out.data());
  for (int i = 0; i < width; ++i) {
    double want = 0;
    for (int j = 0; j < width; ++j) want += in[static_cast<std::size_t>(i * width + j)];
    EXPECT_NEAR(out[i], want, 1e-5);
  }
}

TEST_P(Simd, PairDotAddsTwoProducts) {
  if (!probe.has_pair_dot) GTEST_SKIP() << "no bf16 products in " << GetParam();
  const auto a = random_floats(2 * width, 7), b = random_floats(2 * width, 8), acc = random_floats(width, 9);
  std::vector<std::uint16_t> ha, hb, rounded(static_cast<std::size_t>(2 * width));
  for (const float x : a) ha.push_back(base::float_to_bf16(x));
  for (const float x : b) hb.push_back(base::float_to_bf16(x));
  std::vector<float> out(static_cast<std::size_t>(2 * width));
  probe.pair_dot(ha.data(), hb.data(), acc.data(), out.data());
  for (int i = 0; i < width; ++i) {
    const auto product = [&](int j) { return base::bf16_to_float(ha[j]) * base::bf16_to_float(hb[j]); };
    EXPECT_NEAR(out[i], acc[i] + product(2 * i) + product(2 * i + 1), 1e-5);
  }
  probe.round_pairs(a.data(), b.data(), rounded.data());
  for (int i = 0; i < width; ++i) {
    EXPECT_EQ(rounded[2 * i], ha[i]);
    EXPECT_EQ(rounded[2 * i + 1], hb[i]);
  }
}

TEST_P(Simd, InterleavedRowsComeBackInOrder) {
  if (!probe.has_pair_dot) GTEST_SKIP() << "no bf16 products in " << GetParam();
  FencedBytes fence_a, fence_b;
  const std::uint16_t pair[2] = {base::float_to_bf16(2.0f), base::float_to_bf16(0.5f)};
  for (int n = 0; n <= 2 * width; ++n) {
    auto *a = fence_a.last<std::uint16_t>(n), *b = fence_b.last<std::uint16_t>(n);
    for (int i = 0; i < n; ++i)
      a[i] = base::float_to_bf16(static_cast<float>(i)), b[i] = base::float_to_bf16(static_cast<float>(-i));
    float out[32];
    probe.interleaved(a, b, n, pair, out);
    for (int i = 0; i < 2 * width; ++i) EXPECT_EQ(out[i], i < n ? 1.5f * static_cast<float>(i) : 0.0f);
  }
}

}  // namespace
}  // namespace tessera::cpu
