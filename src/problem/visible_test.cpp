// SPDX-License-Identifier: Apache-2.0
#include "problem/visible.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tessera {
namespace {

TEST(ProblemVisible, CountsAsTheDefinitionDoes) {
  std::mt19937 random(1);
  const auto draw = [&](std::int64_t min, std::int64_t max) {
    return std::uniform_int_distribution<std::int64_t>(min, max)(random);
  };
  for (int round = 0; round < 4000; ++round) {
    Problem p;
    p.dtype = DType::f16;
    p.num_q_heads = 6;
    p.num_kv_heads = 2;
    p.head_dim_qk = 3;
    p.head_dim_v = 5;
    p.seqlen_q = draw(0, 12);
    p.seqlen_kv = draw(0, 12);
    p.causal = draw(0, 1);
    p.alignment = draw(0, 1) ? Alignment::top_left : Alignment::bottom_right;
    p.window_left = draw(-1, 6);
    p.window_right = draw(-1, 6);
    const std::int64_t begin = draw(0, p.seqlen_q), end = draw(begin, p.seqlen_q);

    std::int64_t pairs = 0, pairs_all = 0;
    std::set<std::int64_t> keys, keys_all;
    for (std::int64_t i = 0; i < p.seqlen_q; ++i) {
      const std::int64_t position = p.alignment == Alignment::top_left ? i : i + p.seqlen_kv - p.seqlen_q;
      for (std::int64_t j = 0; j < p.seqlen_kv; ++j) {
        if (p.causal && j > position) continue;
        if (p.window_left >= 0 && j < position - p.window_left) continue;
        if (p.window_right >= 0 && j > position + p.window_right) continue;
        ++pairs_all, keys_all.insert(j);
        if (i >= begin && i < end) ++pairs, keys.insert(j);
      }
    }
    const auto v = problem::visibility(p, 0);
    ASSERT_EQ(v.pairs(begin, end), pairs) << p.to_string() << " queries " << begin << ".." << end;
    const auto range = v.keys(begin, end);
    ASSERT_EQ(range.size(), static_cast<std::int64_t>(keys.size())) << p.to_string() << " queries " << begin << ".." << end;
    if (!keys.empty()) {
      ASSERT_EQ(range.begin, *keys.begin()) << p.to_string();
    }
    ASSERT_EQ(p.flops(), 2.0 * 8 * 6 * static_cast<double>(pairs_all)) << p.to_string();
    ASSERT_EQ(p.bytes(), 2.0 * 8 * static_cast<double>(6 * p.seqlen_q + 2 * static_cast<std::int64_t>(keys_all.size())))
        << p.to_string();
  }
}

TEST(ProblemVisible, LongSequencesInClosedForm) {
  const Problem p = *Problem::parse("bf16 hq8 hkv2 d128 sq1000000 skv1000000 causal");
  EXPECT_EQ(p.flops(), 2.0 * 256 * 8 * (1e6 * (1e6 + 1) / 2));
}

TEST(ProblemVisible, LargeBatchesInClosedForm) {
  const Problem p = *Problem::parse("f32 b2147483646 hq2 hkv1 d4 sq3 skv5");  // one by one it would take half a minute
  EXPECT_EQ(p.flops(), 2.0 * 8 * 2 * 15 * 2147483646.0);
  EXPECT_EQ(p.bytes(), 4.0 * 8 * (3 * 2 + 5 * 1) * 2147483646.0);
}

}  // namespace
}  // namespace tessera
