// SPDX-License-Identifier: Apache-2.0
#include "tessera/roofline.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tessera/implementations.hpp"

namespace tessera {
namespace {

TEST(Roofline, RefusesWhatItCannotSample) {
  const std::vector<char> buffer(8192);
  EXPECT_EQ(sample_compute_peak("quantum", DType::f32, 1, 0.001).status().code(), StatusCode::invalid);
  EXPECT_EQ(sample_compute_peak("portable", DType::f32, 0, 0.001).status().code(), StatusCode::invalid);
  EXPECT_EQ(sample_compute_peak("portable", DType::f32, 1, -1).status().code(), StatusCode::invalid);
  EXPECT_EQ(sample_read_rate("portable", nullptr, 4096, 1, 0.001).status().code(), StatusCode::invalid);
  EXPECT_EQ(sample_read_rate("portable", buffer.data(), 100, 1, 0.001).status().code(), StatusCode::invalid);
  EXPECT_GT(*sample_read_rate("portable", buffer.data(), buffer.size(), 2, 0.001), 1e8);
}

TEST(Roofline, EveryAvailableImplementationHasAPeak) {
  for (const ImplementationInfo& implementation : implementations()) {
    if (!implementation.available) continue;
    const auto peak = sample_compute_peak(implementation.name, DType::bf16, 1, 0.001);
    ASSERT_TRUE(peak.ok()) << implementation.name << ": " << peak.status().message();
    EXPECT_GT(*peak, 1e8) << implementation.name;
  }
}

}  // namespace
}  // namespace tessera
