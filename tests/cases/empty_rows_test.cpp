// SPDX-License-Identifier: Apache-2.0
// Rows and sequences without keys.
#include "support/kit.hpp"

namespace tessera::test {
namespace {

TEST(EmptyRows, FirstKeyBlocksFullyMasked) {
  for (const DType dtype : kDTypes) {
    for (const std::string mask : {"causal win9,0", "mask"}) {
      Values values;
      values.q = values.k = values.v = constant(1);
      values.mask = [](const ScoreAt& at) { return at.key <= at.query && at.key >= at.query - 9; };
      const Instance instance(parse(dtype, "hq1 d4 sq640 skv640 " + mask), values);
      expect_answer(instance, [](auto, auto, std::int64_t i) {
        return Answer{1, 2 + std::log(static_cast<double>(std::min<std::int64_t>(i + 1, 10)))};
      });
    }
  }
}

TEST(EmptyRows, KeysVisibleOnlyInOneBlock) {
  for (const auto& [begin, end] : {std::pair{0, 64}, {0, 1}, {576, 640}, {639, 640}, {300, 310}}) {
    for (const int sq : {1, 5, 70}) {
      Values values;
      values.mask = [begin = begin, end = end](const ScoreAt& at) { return at.key >= begin && at.key < end; };
      const Instance instance(parse("f32 hq2 hkv1 d4 mask skv640 sq" + std::to_string(sq)), values);
      expect_answer(instance, [begin = begin, end = end](auto...) { return mean_of_tokens(begin, end); });
    }
  }
}

TEST(EmptyRows, OneKeyOnEachBlockBorder) {
  for (const int key : {0, 15, 16, 17, 31, 32, 47, 48, 63, 64, 65, 127, 128, 191, 192, 255, 256, 383, 384, 511, 512, 639}) {
    for (const int sq : {1, 40}) {
      Values values;
      values.mask = [key](const ScoreAt& at) { return at.key == key; };
      const Instance instance(parse("f32 hq1 d8 mask skv640 sq" + std::to_string(sq)), values);
      expect_answer(instance, [key](auto...) { return Answer{static_cast<double>(key), 0}; });
    }
  }
}

TEST(EmptyRows, MaskOfAllFalseGivesZeroAndLeavesOtherRows) {
  for (const DType dtype : kDTypes) {
    for (const int dead : {0, 3, 5}) {
      Values values = random_values(2);
      values.mask = [dead](const ScoreAt& at) { return at.query != dead; };
      const Instance instance(parse(dtype, "hq2 d8 sq6 skv10 mask"), values);
      const Expected e = expected(instance);
      for (int h = 0; h < 2; ++h) EXPECT_EQ(e.lse[static_cast<std::size_t>(h * 6 + dead)], -kInf);
      expect_all(instance, e);
    }
  }
}

TEST(EmptyRows, BiasOfMinusInfinityMasksLikeAMask) {
  for (const DType bias : kDTypes) {
    Values values = random_values(3);
    values.bias = [](const ScoreAt& at) { return at.query == 2 || at.key % 3 == 0 ? -kInf : 0.5; };
    Layout layout;
    layout.bias_dtype = bias;
    expect_oracle(Instance(parse("f32 hq4 hkv2 d16 sq5 skv70 bias"), values, layout));
    expect_oracle(Instance(parse("bf16 hq4 hkv2 d16 sq90 skv170 bias"), values, layout));
  }
}

TEST(EmptyRows, CausalWithMoreQueriesThanKeys) {
  for (const DType dtype : kDTypes) {
    for (const auto& [sq, skv] : {std::pair{5, 2}, {1, 0}, {4, 0}, {8, 1}, {8, 5}, {33, 2}, {130, 70}}) {
      const Instance instance(parse(dtype, "hq1 d4 causal sq" + std::to_string(sq) + " skv" + std::to_string(skv)),
                              Values{});
      expect_answer(instance,
                    [sq = sq, skv = skv](auto, auto, std::int64_t i) { return mean_of_tokens(0, i + 1 + skv - sq); });
    }
  }
}

TEST(EmptyRows, SinkAloneIsTheLse) {
  for (const DType dtype : kDTypes) {
    Values values;
    values.sink = {0.75f, -3.5f};
    const Instance instance(parse(dtype, "hq2 d4 causal sink sq5 skv2"), values);
    expect_answer(instance, [&](auto, std::int64_t h, std::int64_t i) {
      const double sink = values.sink[static_cast<std::size_t>(h)];
      if (i < 3) return Answer{0, sink};
      const double keys = static_cast<double>(i - 2), weight = keys / (keys + std::exp(sink));
      return Answer{weight * (keys - 1) / 2, std::log(keys + std::exp(sink))};
    });
  }
}

/// Ragged queries, over ragged keys and over pages.
void expect_ragged(const std::vector<std::int32_t>& query_lengths, const std::vector<std::int32_t>& key_lengths,
                   DType dtype) {
  Problem problem;
  problem.dtype = dtype;
  problem.batch = static_cast<std::int64_t>(query_lengths.size());
  problem.num_q_heads = 9;
  problem.num_kv_heads = 3;
  problem.head_dim_qk = problem.head_dim_v = 64;
  problem.cu_seqlens_q = {0};
  for (const auto n : query_lengths) problem.cu_seqlens_q.push_back(problem.cu_seqlens_q.back() + n);

  Problem ragged = problem;
  ragged.cu_seqlens_kv = {0};
  for (const auto n : key_lengths) ragged.cu_seqlens_kv.push_back(ragged.cu_seqlens_kv.back() + n);
  expect_oracle(Instance(ragged, random_values(5)));
  ragged.causal = true;
  Layout padded;
  padded.strides = StrideKind::padded;
  expect_oracle(Instance(ragged, random_values(5), padded));

  Problem paged = problem;
  paged.seqlens_kv = key_lengths;
  paged.kv_layout = KvLayout::paged_head_major;
  paged.page_size = 2;
  expect_oracle(Instance(paged, random_values(5), padded));
}

TEST(EmptyRows, ZeroLengthsInRaggedBatches) {
  for (const DType dtype : kDTypes) {
    expect_ragged({0, 1, 0, 1}, {0, 3, 0, 5}, dtype);
    expect_ragged({1, 0}, {0, 4}, dtype);
    expect_ragged({0, 0, 0}, {0, 0, 0}, dtype);
    expect_ragged({0, 0, 0}, {3, 0, 7}, dtype);
    expect_ragged({0, 0, 1, 0, 0, 0, 2, 0}, {0, 0, 1, 0, 0, 0, 2, 0}, dtype);
    expect_ragged({70, 0, 1, 3}, {70, 9, 300, 0}, dtype);
  }
}

}  // namespace
}  // namespace tessera::test
