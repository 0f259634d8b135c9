// SPDX-License-Identifier: Apache-2.0
#include "reference/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tessera::reference {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// One head of float32 with packed rows; q = 0 and v[j] = j unless a test says otherwise.
struct Single {
  Problem problem;
  std::vector<float> q, k, v;
  AttentionTensors tensors;

  Single(std::int64_t seqlen_q, std::int64_t seqlen_kv) {
    problem.dtype = DType::f32;
    problem.head_dim_qk = problem.head_dim_v = 1;
    problem.seqlen_q = seqlen_q;
    problem.seqlen_kv = seqlen_kv;
    problem.softmax_scale = 1.0;
    q.resize(seqlen_q);
    k.resize(seqlen_kv);
    for (std::int64_t j = 0; j < seqlen_kv; ++j) v.push_back(static_cast<float>(j));
  }

  double row(std::int64_t i, double* lse = nullptr) {
    tensors.q = {q.data(), {0, 1, 1}};
    tensors.k = {k.data(), {0, 1, 1}};
    tensors.v = {v.data(), {0, 1, 1}};
    double o = -1;
    const double row_lse = attend_row(problem, tensors, 0, 0, i, &o);
    if (lse != nullptr) *lse = row_lse;
    return o;
  }
};

TEST(Reference, ZeroQueriesGiveTheMean) {
  Single s(1, 5);
  double lse = 0;
  EXPECT_DOUBLE_EQ(s.row(0, &lse), 2.0);
  EXPECT_DOUBLE_EQ(lse, std::log(5.0));
}

TEST(Reference, CausalIsBottomRightUnlessAsked) {
  Single s(2, 5);
  s.problem.causal = true;
  EXPECT_DOUBLE_EQ(s.row(0), 1.5);
  EXPECT_DOUBLE_EQ(s.row(1), 2.0);
  s.problem.alignment = Alignment::top_left;
  EXPECT_DOUBLE_EQ(s.row(0), 0.0);
  EXPECT_DOUBLE_EQ(s.row(1), 0.5);
}

TEST(Reference, EmptyRowIsZeroWithLseMinusInfinityOrTheSink) {
  Single s(3, 2);
  s.problem.causal = true;
  double lse = 0;
  EXPECT_EQ(s.row(0, &lse), 0.0);
  EXPECT_EQ(lse, -kInf);
  const float sink = 0.25f;
  s.problem.has_sink = true;
  s.tensors.sink = &sink;
  EXPECT_EQ(s.row(0, &lse), 0.0);
  EXPECT_EQ(lse, 0.25);
}

TEST(Reference, SoftcapThenBiasThenAlibi) {
  Single s(1, 2);
  s.problem.softcap = 30;
  s.q = {1};
  s.k = {124, 0};
  double lse = 0;
  s.problem.window_left = s.problem.window_right = 0;  // position 1 only: score 0
  s.row(0, &lse);
  EXPECT_EQ(lse, 0.0);
  s.problem.window_left = 1;
  const std::vector<float> bias = {2.0f, -std::numeric_limits<float>::infinity()};
  s.problem.has_bias = true;
  s.tensors.bias.data = bias.data();
  EXPECT_EQ(s.row(0, &lse), 0.0);
  EXPECT_NEAR(lse, 30 * std::tanh(124.0 / 30) + 2, 1e-12);
  const float slope = 0.5f;
  s.problem.has_alibi = true;
  s.tensors.alibi_slopes = &slope;
  s.row(0, &lse);
  EXPECT_NEAR(lse, 30 * std::tanh(124.0 / 30) + 1.5, 1e-12);
}

TEST(Reference, NeverReadsInvisibleKeys) {
  Single s(1, 3);
  const std::vector<std::uint8_t> mask = {1, 0, 1};
  s.problem.has_mask = true;
  s.tensors.mask.data = mask.data();
  s.k[1] = s.v[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_DOUBLE_EQ(s.row(0), 1.0);
}

TEST(Reference, NanOfVisibleKeysReachesTheRow) {
  Single s(2, 3);
  s.problem.causal = true;
  s.k[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_DOUBLE_EQ(s.row(0), 0.5);
  EXPECT_TRUE(std::isnan(s.row(1)));
}

}  // namespace
}  // namespace tessera::reference
