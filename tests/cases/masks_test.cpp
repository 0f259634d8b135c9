// SPDX-License-Identifier: Apache-2.0
// Positions, windows, and what is done to scores.
#include "support/kit.hpp"

namespace tessera::test {
namespace {

TEST(Masks, CausalIsBottomRight) {
  for (const DType dtype : kDTypes) {
    for (const auto& [sq, skv] : {std::pair{2, 5}, {1, 4}, {3, 3}, {7, 64}, {64, 65}, {65, 130}}) {
      const std::string lengths = " sq" + std::to_string(sq) + " skv" + std::to_string(skv);
      expect_answer(Instance(parse(dtype, "hq1 d4 causal" + lengths), Values{}),
                    [sq = sq, skv = skv](auto, auto, std::int64_t i) { return mean_of_tokens(0, i + 1 + skv - sq); });
      expect_answer(Instance(parse(dtype, "hq1 d4 causal-tl" + lengths), Values{}),
                    [](auto, auto, std::int64_t i) { return mean_of_tokens(0, i + 1); });
    }
  }
}

TEST(Masks, WindowBoundsBeyondAnything) {
  for (const std::int64_t far : {std::int64_t{2147483647}, std::numeric_limits<std::int64_t>::max()}) {
    for (const auto& [left, right] : {std::pair{std::int64_t{-1}, far}, {far, std::int64_t{-1}}, {far, far}}) {
      for (const int sq : {1, 5, 80}) {
        Problem problem = parse("f32 hq1 d4 skv2 sq" + std::to_string(sq));
        problem.window_left = left;
        problem.window_right = right;
        expect_answer(Instance(problem, Values{}), [](auto...) { return Answer{0.5, std::log(2.0)}; });
        problem.alignment = Alignment::top_left;
        expect_answer(Instance(problem, Values{}), [](auto...) { return Answer{0.5, std::log(2.0)}; });
      }
    }
  }
}

TEST(Masks, WindowAgreesInPrefillAndDecode) {
  for (const DType dtype : kDTypes) {
    const auto window = [](std::int64_t position) {
      return mean_of_tokens(std::max<std::int64_t>(position - 3, 0), position + 1);
    };
    expect_answer(Instance(parse(dtype, "hq1 d4 sq21 skv21 causal win3,0"), Values{}),
                  [&](auto, auto, std::int64_t i) { return window(i); });
    for (int position = 0; position <= 20; ++position) {
      const std::string text = "hq1 d4 sq1 causal win3,0 skv" + std::to_string(position + 1);
      expect_answer(Instance(parse(dtype, text), Values{}), [&](auto...) { return window(position); });
    }
  }
}

TEST(Masks, CausalCutsTheRightOfAWindow) {
  expect_answer(Instance(parse("f32 hq1 d4 sq30 skv30 causal win4,3"), Values{}),
                [](auto, auto, std::int64_t i) { return mean_of_tokens(std::max<std::int64_t>(i - 4, 0), i + 1); });
  expect_answer(Instance(parse("f32 hq1 d4 sq30 skv30 win4,3"), Values{}), [](auto, auto, std::int64_t i) {
    return mean_of_tokens(std::max<std::int64_t>(i - 4, 0), std::min<std::int64_t>(i + 4, 30));
  });
}

TEST(Masks, WindowShorterThanThePrompt) {
  for (const int left : {511, 0, 1, 63, 64, 100, 622, 623}) {
    const Instance instance(parse("f32 hq1 d4 sq623 skv623 causal win" + std::to_string(left) + ",0"), Values{});
    expect_answer(instance,
                  [left](auto, auto, std::int64_t i) { return mean_of_tokens(std::max<std::int64_t>(i - left, 0), i + 1); });
  }
}

// Some queries see keys of a chunk that others have left behind, or do not reach yet.
TEST(Masks, WindowsPassTheBordersOfChunks) {
  for (const std::string window : {"win7,0", "win3,3", "win0,9", "causal win20,0", "win-1,4"}) {
    for (const int sq : {2, 3, 5, 8, 20}) {
      for (int skv = 33; skv <= 75; skv += 3) {
        const Problem problem =
            parse("f32 hq2 hkv1 d8 kvchunk32 " + window + " sq" + std::to_string(sq) + " skv" + std::to_string(skv));
        expect_answer(Instance(problem, Values{}), [&](auto, auto, std::int64_t i) {
          const std::int64_t at = i + skv - sq;
          const std::int64_t begin = problem.window_left < 0 ? 0 : std::max<std::int64_t>(at - problem.window_left, 0);
          return mean_of_tokens(begin, std::min<std::int64_t>(at + (problem.causal ? 0 : problem.window_right) + 1, skv));
        });
      }
    }
  }
  for (const DType dtype : kDTypes) {  // chunks as the planner cuts them
    expect_answer(Instance(parse(dtype, "hq1 d4 sq6 skv1044 causal win19,0"), Values{}),
                  [](auto, auto, std::int64_t i) { return mean_of_tokens(i + 1019, i + 1039); });
  }
}

TEST(Masks, ManyCausalBlocks) {
  expect_answer(Instance(parse("f32 hq1 d2 sq4100 skv4100 causal"), Values{}),
                [](auto, auto, std::int64_t i) { return mean_of_tokens(0, i + 1); });
}

TEST(Masks, CausalInChunks) {
  expect_answer(Instance(parse("f32 hq2 hkv1 d4 sq512 skv512 causal"), Values{}),
                [](auto, auto, std::int64_t i) { return mean_of_tokens(0, i + 1); });
  expect_answer(Instance(parse("f32 hq2 hkv1 d4 sq130 skv642 causal"), Values{}),
                [](auto, auto, std::int64_t i) { return mean_of_tokens(0, i + 513); });
}

TEST(Masks, SoftcapComesBeforeTheMask) {
  for (const DType dtype : kDTypes) {
    for (const std::string by : {"mask", "bias"}) {
      Values values;
      values.v = [](const At& at) { return at.token == 0 ? 1.0 : 0.0; };
      values.mask = [](const ScoreAt& at) { return at.key == 0; };
      values.bias = [](const ScoreAt& at) { return at.key == 0 ? 0.0 : -kInf; };
      for (const int sq : {1, 20}) {
        expect_answer(Instance(parse(dtype, "hq1 d4 skv2 softcap1 " + by + " sq" + std::to_string(sq)), values),
                      [](auto...) {
                        return Answer{1, 0};
                      });
      }
    }
  }
}

TEST(Masks, SoftcapFormulaInEveryPath) {
  for (const DType dtype : kDTypes) {
    for (const std::string path :
         {"sq1 skv1", "sq1 skv40", "sq64 skv40", "sq130 skv64", "sq1 skv200 page16", "sq70 skv200 hpage16",
          "sq1 skv200 kvchunk64", "sq3 skv200 kvchunk50", "sq1 skv3 kvchunk1"}) {
      Values values;
      values.q = values.k = constant(2);  // d 31: score 124
      values.v = constant(1);
      const Problem problem = parse(dtype, "hq2 hkv1 d31 scale1 softcap30 " + path);
      expect_answer(Instance(problem, values), [&](auto...) {
        return Answer{1, 30 * std::tanh(124.0 / 30) + std::log(static_cast<double>(problem.seqlen_kv))};
      });
    }
  }
}

TEST(Masks, SoftcapSweep) {
  for (const DType dtype : kDTypes) {
    for (const std::string cap : {"softcap0.001", "softcap1", "softcap50", "softcap1e6"}) {
      for (const std::string shape : {"sq1 skv300", "sq77 skv200 causal"}) {
        expect_oracle(Instance(parse(dtype, "hq4 hkv2 d64 scale1 " + cap + " " + shape), random_values(9)));
      }
    }
  }
}

TEST(Masks, AlibiIsMinusSlopeTimesDistance) {
  for (const std::string shape : {"sq1 skv3", "sq3 skv3", "sq64 skv3", "sq40 skv40 causal", "sq1 skv90 kvchunk16",
                                  "sq5 skv300", "sq9 skv40 causal-tl", "sq30 skv20 win-tl5,5"}) {
    Values values;
    values.alibi_slopes = {0.25f, 1.0f / 16, 0.5f, 1.0f};
    const Problem problem = parse("f32 hq4 hkv2 d8 alibi " + shape);
    const Instance instance(problem, values);
    const Expected e = expected(instance);
    for (std::int64_t i = 0; i < problem.seqlen_q; ++i) {
      const std::int64_t position = problem.alignment == Alignment::top_left ? i : i + problem.seqlen_kv - problem.seqlen_q;
      for (std::int64_t h = 0; h < problem.num_q_heads; ++h) {
        double sum = 0;
        for (std::int64_t j = 0; j < problem.seqlen_kv; ++j) {
          const double distance = std::abs(static_cast<double>(position - j));
          if (visible(problem, values, {}, 0, h, i, j))
            sum += std::exp(-values.alibi_slopes[static_cast<std::size_t>(h)] * distance);
        }
        const double lse = e.lse[static_cast<std::size_t>(instance.lse_index(0, i, h))];
        EXPECT_TRUE(sum == 0 ? lse == -kInf : std::abs(lse - std::log(sum)) < 1e-12) << shape;
      }
    }
    expect_all(instance, e);
  }
}

}  // namespace
}  // namespace tessera::test
