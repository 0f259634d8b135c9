// SPDX-License-Identifier: Apache-2.0
// exp and ln of floats against double, over floats of every exponent, and at their ends.
#include "float_math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

using twin::lane::bits_as;

// How many of the results are not the float nearest to the true value; none may be further than its neighbour.
template <class F, class Reference>
int not_nearest(F f, Reference reference, int samples) {
  std::mt19937 random(1);
  int wrong = 0;
  for (int i = 0; i < samples; ++i) {
    const float x = bits_as<float>(static_cast<std::uint32_t>(random()));
    const float nearest = static_cast<float>(reference(static_cast<double>(x))), y = f(x);
    if (std::isnan(nearest)) {
      EXPECT_TRUE(std::isnan(y)) << x;
    } else if (y != nearest) {
      ++wrong;
      EXPECT_TRUE(y == std::nextafter(nearest, INFINITY) || y == std::nextafter(nearest, -INFINITY))
          << "of " << x << ": " << y << ", not " << nearest;
    }
  }
  return wrong;
}

TEST(FloatMath, ExpIsTheNearestFloat) {
  EXPECT_LE(not_nearest(
                twin::lane::exponential, [](double x) { return std::exp(x); }, 2000000),
            4);
  for (const float x : {0.0f, -0.0f}) EXPECT_EQ(twin::lane::exponential(x), 1.0f);
  EXPECT_EQ(twin::lane::exponential(88.72284f), std::exp(88.72284f));  // the largest that is finite
  EXPECT_EQ(twin::lane::exponential(88.7229f), INFINITY);
  EXPECT_EQ(twin::lane::exponential(-103.27893f), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(twin::lane::exponential(-104.0f), 0.0f);
  EXPECT_EQ(twin::lane::exponential(-INFINITY), 0.0f);
  EXPECT_EQ(twin::lane::exponential(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(twin::lane::exponential(NAN)));
}

TEST(FloatMath, LnIsTheNearestFloat) {
  EXPECT_LE(not_nearest(
                twin::lane::logarithm, [](double x) { return std::log(x); }, 2000000),
            1);
  EXPECT_EQ(twin::lane::logarithm(1.0f), 0.0f);
  for (const float x :
       {0.99999994f, 1.0000001f, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()})
    EXPECT_EQ(twin::lane::logarithm(x), static_cast<float>(std::log(static_cast<double>(x)))) << x;
  for (const float x : {0.0f, -0.0f}) EXPECT_EQ(twin::lane::logarithm(x), -INFINITY);
  EXPECT_EQ(twin::lane::logarithm(INFINITY), INFINITY);
  for (const float x : {-1.0f, -INFINITY, NAN}) EXPECT_TRUE(std::isnan(twin::lane::logarithm(x))) << x;
}

}  // namespace
