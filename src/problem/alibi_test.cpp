// SPDX-License-Identifier: Apache-2.0
#include "tessera/alibi.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tessera {
namespace {

std::vector<float> slopes(std::int64_t heads) {
  std::vector<float> s(static_cast<std::size_t>(heads), -1.0f);
  alibi_slopes(heads, s.data());
  return s;
}

TEST(Alibi, PowerOfTwoHeads) {
  EXPECT_EQ(slopes(8)[0], 0.5f);
  EXPECT_EQ(slopes(8)[7], 1.0f / 256);
  EXPECT_EQ(slopes(1)[0], 1.0f / 256);
}

TEST(Alibi, OtherNumbersTakeEveryOtherSlopeOfTwiceAsMany) {
  EXPECT_EQ(slopes(6), (std::vector<float>{1.0f / 4, 1.0f / 16, 1.0f / 64, 1.0f / 256, 1.0f / 2, 1.0f / 8}));
  EXPECT_FLOAT_EQ(slopes(12)[8], 0.7071068f);
}

}  // namespace
}  // namespace tessera
