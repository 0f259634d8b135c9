// SPDX-License-Identifier: Apache-2.0
#include "base/convert.hpp"

#include <gtest/gtest.h>

namespace tessera::base {
namespace {

TEST(Convert, F16RoundTripsEveryValue) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const float x = f16_to_float(static_cast<std::uint16_t>(h));
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(f16_to_float(float_to_f16(x)))) << h;
    } else {
      EXPECT_EQ(float_to_f16(x), h);
    }
  }
}

TEST(Convert, Bf16RoundTripsEveryValue) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const float x = bf16_to_float(static_cast<std::uint16_t>(h));
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(x)))) << h;
    } else {
      EXPECT_EQ(float_to_bf16(x), h);
    }
  }
}

TEST(Convert, F16RoundsToNearestEven) {
  EXPECT_EQ(float_to_f16(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_f16(2049.0f), float_to_f16(2048.0f));
  EXPECT_EQ(float_to_f16(2051.0f), float_to_f16(2052.0f));
  EXPECT_EQ(float_to_f16(0x1p-25f), 0);
  EXPECT_EQ(float_to_f16(0x1.8p-24f), 2);
}

}  // namespace
}  // namespace tessera::base
