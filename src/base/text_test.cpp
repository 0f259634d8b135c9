// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tessera::base {
namespace {

TEST(Text, IsWhatPrintfWritesInTheCLocale) {
  for (const double x : {0.0, -0.0, 1.0, 0.1, 1e-7, 123456.5, 9999999.0, 1e31, 1e300, -2.5, 0.00012345678,
                         std::numeric_limits<double>::max(), std::numeric_limits<double>::infinity()}) {
    for (const int digits : {1, 3, 6}) {
      char text[512];
      std::snprintf(text, sizeof text, "%.*g", digits, x);
      EXPECT_EQ(significant(x, digits), text);
      std::snprintf(text, sizeof text, "%.*f", digits, x);
      EXPECT_EQ(fixed(x, digits), text);
    }
  }
}

TEST(Text, ShortestReadsBack) {
  EXPECT_EQ(shortest(0.1f), "0.1");
  EXPECT_EQ(shortest(-1e-30f), "-1e-30");
  EXPECT_EQ(shortest(0.30000000000000004), "0.30000000000000004");
}

TEST(Text, NanHasNoSign) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(shortest(nan) + shortest(-nan) + significant(-nan, 3) + fixed(-nan, 3), "nannannannan");
}

TEST(Text, WholeNumbers) {
  EXPECT_EQ(number(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(number(~std::uint64_t{0}), "18446744073709551615");
}

}  // namespace
}  // namespace tessera::base
