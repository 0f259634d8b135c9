// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "bench/inputs.hpp"
#include "cli/half.hpp"
#include "cli/oracle.hpp"

namespace tessera::cli {
namespace {

struct Case {
  Problem problem;
  bench::Inputs inputs;
  OracleAnswer oracle;
};

Case make_case(const char* text) {
  auto problem = Problem::parse(text);
  EXPECT_TRUE(problem.ok()) << text;
  auto inputs = bench::Inputs::make(*problem, 7);
  EXPECT_TRUE(inputs.ok());
  auto oracle = ask_oracle(*problem, inputs->tensors(), 1);
  return {std::move(*problem), std::move(*inputs), std::move(oracle)};
}

TEST(Compare, TheOracleItselfPasses) {
  const auto c = make_case("f32 b2 hq4 hkv2 d32 sq5 skv70 causal");
  const auto result = compare(DType::f32, c.oracle.o.data(), c.oracle.lse.data(), c.oracle);
  EXPECT_TRUE(result.pass());
  EXPECT_EQ(result.o.max_error, 0);
  EXPECT_EQ(result.o.rms_error, 0);
}

TEST(Compare, EveryValueIsLookedAt) {
  const auto c = make_case("f32 b2 hq4 hkv2 d8 sq3 ragged5-20 page4 win6,-1 sink");
  for (std::size_t i = 0; i < c.oracle.o.size(); ++i) {
    auto o = c.oracle.o;
    o[i] += 1e-3f;
    EXPECT_FALSE(compare(DType::f32, o.data(), c.oracle.lse.data(), c.oracle).pass()) << i;
  }
  for (std::size_t i = 0; i < c.oracle.lse.size(); ++i) {
    auto lse = c.oracle.lse;
    lse[i] -= 1e-3f;
    EXPECT_FALSE(compare(DType::f32, c.oracle.o.data(), lse.data(), c.oracle).pass()) << i;
  }
}

TEST(Compare, NamesTheWorstValue) {
  const auto c = make_case("f32 b2 hq4 hkv2 d8 sq3 skv20");
  auto o = c.oracle.o;
  o[((1 * 3 + 2) * 4 + 3) * 8 + 5] += 1;
  const auto result = compare(DType::f32, o.data(), c.oracle.lse.data(), c.oracle);
  EXPECT_EQ(result.o.worst.rfind("query 2 of sequence 1, head 3, feature 5: got ", 0), 0u) << result.o.worst;
  EXPECT_NEAR(result.o.max_error, 1, 1e-6);
}

TEST(Compare, NanAndInfinityMustAgree) {
  auto c = make_case("f32 hq1 hkv1 d4 sq1 skv9");
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  auto o = c.oracle.o;
  o[1] = nan;
  EXPECT_FALSE(compare(DType::f32, o.data(), c.oracle.lse.data(), c.oracle).pass());
  c.oracle.o[1] = nan;
  EXPECT_TRUE(compare(DType::f32, o.data(), c.oracle.lse.data(), c.oracle).pass());
  o[1] = 0;
  EXPECT_FALSE(compare(DType::f32, o.data(), c.oracle.lse.data(), c.oracle).pass());
  auto lse = c.oracle.lse;
  lse[0] = -inf;
  c.oracle.o[1] = 0;
  EXPECT_FALSE(compare(DType::f32, c.oracle.o.data(), lse.data(), c.oracle).pass());
  c.oracle.lse[0] = -inf;
  EXPECT_TRUE(compare(DType::f32, c.oracle.o.data(), lse.data(), c.oracle).pass());
}

std::vector<std::uint16_t> bf16_of(const std::vector<float>& values) {  // without rounding: the upper halves
  std::vector<std::uint16_t> halves;
  for (const float x : values) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    halves.push_back(static_cast<std::uint16_t>(bits >> 16));
  }
  return halves;
}

// A row without a visible key is 0 with LSE -inf exactly: whether keys exist that other rows see, or none at all.
TEST(Compare, RowsWithoutKeysAreExact) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* text :
       {"f32 hq1 hkv1 d4 sq5 skv2 causal", "bf16 hq1 hkv1 d4 sq5 skv2 causal", "f32 hq1 hkv1 d4 sq2 skv0"}) {
    const auto c = make_case(text);
    ASSERT_EQ(c.oracle.lse[1], -INFINITY) << text;
    const auto compared = [&](float o_of_row_1, float lse_of_row_1) {
      auto o = c.oracle.o, lse = c.oracle.lse;
      o[4] = o_of_row_1;
      lse[1] = lse_of_row_1;
      const auto halves = bf16_of(o);
      const void* data = c.problem.dtype == DType::f32 ? static_cast<const void*>(o.data()) : halves.data();
      return compare(c.problem.dtype, data, lse.data(), c.oracle);
    };
    EXPECT_TRUE(compared(0, -INFINITY).pass()) << text;
    EXPECT_TRUE(std::isfinite(compared(0, -INFINITY).o.bound)) << text;
    EXPECT_TRUE(std::isfinite(compared(0, -INFINITY).lse.bound)) << text;
    for (const float wrong : {1.0f, -1e-30f, nan, INFINITY}) {
      EXPECT_EQ(compared(wrong, -INFINITY).o.worst_ratio, INFINITY) << text << ": o " << wrong;
    }
    for (const float wrong : {0.0f, -1e30f, nan, INFINITY}) {
      EXPECT_EQ(compared(0, wrong).lse.worst_ratio, INFINITY) << text << ": lse " << wrong;
    }
  }
}

// The bound may not be so wide that P rounded to the wrong type, or one key too many, slips through.
TEST(Compare, TheBoundIsTight) {
  const auto c = make_case("f32 hq4 hkv4 d64 sq64 skv64 causal");
  const auto wrong = make_case("f32 hq4 hkv4 d64 sq64 skv64 win-1,1");
  EXPECT_FALSE(compare(DType::f32, wrong.oracle.o.data(), wrong.oracle.lse.data(), c.oracle).pass());
  const auto result = compare(DType::f32, c.oracle.o.data(), c.oracle.lse.data(), c.oracle);
  EXPECT_LT(result.o.bound, 3e-4);
}

TEST(Compare, ANegativeScaleHasABoundToo) {
  const auto c = make_case("f32 hq1 hkv1 d16 sq2 skv50 scale-0.05");
  auto lse = c.oracle.lse;
  lse[0] = std::nextafter(lse[0], 100.0f);
  EXPECT_TRUE(compare(DType::f32, c.oracle.o.data(), lse.data(), c.oracle).pass());
}

TEST(Compare, AnOverflowOfF16IsInfinity) {
  auto c = make_case("f16 hq1 hkv1 d4 sq1 skv3");
  const std::uint16_t infinite = 0x7c00;
  std::uint16_t o[4];
  std::memcpy(o, c.inputs.tensors().o.data, sizeof o);
  c.oracle.o.assign(4, 70000.0f);
  std::fill(o, o + 4, infinite);
  EXPECT_TRUE(compare(DType::f16, o, c.oracle.lse.data(), c.oracle).pass());
  c.oracle.o.assign(4, -70000.0f);
  EXPECT_FALSE(compare(DType::f16, o, c.oracle.lse.data(), c.oracle).pass());
}

TEST(Half, WidensEveryPatternExactly) {
  for (std::uint32_t h = 0; h < 65536; ++h) {
    const auto sign = h & 0x8000 ? -1.0 : 1.0;
    const int exponent = static_cast<int>((h >> 10) & 31), mantissa = static_cast<int>(h & 1023);
    const float got = widen_f16(static_cast<std::uint16_t>(h));
    if (exponent == 31 && mantissa != 0) {
      EXPECT_TRUE(std::isnan(got)) << h;
    } else if (exponent == 31) {
      EXPECT_EQ(got, sign * INFINITY) << h;
    } else {
      EXPECT_EQ(got, sign * std::ldexp(exponent == 0 ? mantissa : mantissa + 1024, std::max(exponent, 1) - 25)) << h;
    }
  }
}

}  // namespace
}  // namespace tessera::cli
