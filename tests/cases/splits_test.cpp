// SPDX-License-Identifier: Apache-2.0
// Split-KV, the sink, and the public merge.
#include <algorithm>
#include <vector>

#include "cases/splits.hpp"
#include "support/kit.hpp"
#include "tessera/merge.hpp"

namespace tessera::test {
namespace {

TEST(Splits, TwoKeysInDifferentSplits) {
  for (const double high : {151.29, -151.29, 0.0, 1000.0, -1000.0}) {
    const double low = high - 1, k0 = rounded(DType::f32, high), k1 = rounded(DType::f32, low);
    for (const std::string shape : {"skv2 kvchunk1 sq1", "skv2 sq1", "skv2 kvchunk1 sq70"}) {
      Values values;
      values.q = constant(1);
      values.k = [=](const At& at) { return at.token == 0 ? k0 : k1; };
      values.v = [](const At& at) { return at.token == 0 ? 1.0 : 0.0; };
      const double lse = k0 + std::log1p(std::exp(k1 - k0));
      // Scores of this size are known to their own ulp, which is an absolute error of exp's argument.
      Instance instance(parse("f32 hq1 d1 scale1 " + shape), values);
      Expected e = expected(instance);
      EXPECT_NEAR(e.lse[0], lse, 1e-9);
      EXPECT_NEAR(e.o[0], 1 / (1 + std::exp(k1 - k0)), 1e-9);
      std::fill(e.o_bound.begin(), e.o_bound.end(), 2 * ulp(DType::f32, e.o[0]) + ulp(DType::f32, high));
      std::fill(e.lse_bound.begin(), e.lse_bound.end(), 2 * ulp(DType::f32, lse));
      expect_all(instance, e);
    }
  }
}

TEST(Splits, KeysFarApartWithNothingBetween) {
  Values values = random_values(17);
  values.mask = [](const ScoreAt& at) { return at.key == 3 || at.key == 900; };
  for (const DType dtype : kDTypes) {
    for (const std::string chunk : {"", " kvchunk64", " kvchunk300", " kvchunk1000"}) {
      expect_oracle(Instance(parse(dtype, "hq4 hkv2 d64 sq1 skv1000 mask" + chunk), values));
    }
  }
}

TEST(Splits, SinkCountsOnce) {
  for (const DType dtype : kDTypes) {
    for (const std::string shape : {"skv2", "skv2 kvchunk1", "skv3 kvchunk1", "skv130 kvchunk64", "skv300 kvchunk100"}) {
      for (const int sq : {1, 3, 66}) {
        Problem problem = parse(dtype, "hq2 hkv1 d4 sink mask sq" + std::to_string(sq) + " " + shape);
        Values values;
        values.v = constant(1);
        values.sink = {0, 0};
        // The last two keys only: with several chunks the first are empty.
        values.mask = [n = problem.seqlen_kv](const ScoreAt& at) { return at.key >= n - 2; };
        expect_answer(Instance(problem, values), [](auto...) { return Answer{2.0 / 3, std::log(3.0)}; });
      }
    }
  }
}

TEST(Splits, AnyLengthByAnyNumberOfSplits) { sweep_splits(1, 7, {1, 2, 3, 7, 17, 33}); }

/// Merges (o, lse) scalars, each one row of one head with head_dim 3.
Answer merge_scalars(const std::vector<Answer>& parts) {
  MergeProblem problem;
  problem.head_dim_v = 3;
  std::vector<std::vector<float>> o;
  std::vector<float> lse;
  for (const Answer& part : parts) {
    o.emplace_back(3, static_cast<float>(part.o));
    lse.push_back(static_cast<float>(part.lse));
  }
  std::vector<PartialResult> partials;
  for (std::size_t n = 0; n < parts.size(); ++n) partials.push_back({{o[n].data(), {3, 3, 3}}, &lse[n]});
  float out[3] = {7, 7, 7}, out_lse = 7;
  const Status merged = merge(problem, partials, {out, {3, 3, 3}}, &out_lse);
  EXPECT_TRUE(merged.ok()) << merged.message();
  EXPECT_EQ(out[0], out[1]);
  EXPECT_EQ(out[0], out[2]);
  return {out[0], out_lse};
}

TEST(Merge, EmptyIsTheNeutralElement) {
  const Answer empty{0, -kInf};
  EXPECT_EQ(merge_scalars({empty, empty}).o, 0);
  EXPECT_EQ(merge_scalars({empty, empty}).lse, -kInf);
  EXPECT_EQ(merge_scalars({empty}).lse, -kInf);
  for (const float o : {1.0f, -0.3333333f, 1e-30f, 3e38f}) {
    for (const float s : {0.0f, 0.1f, 88.7f, -1000.3f, 1e30f, -1e30f}) {
      const Answer x{o, s};
      for (const auto& parts :
           {std::vector{x, empty}, {empty, x}, {empty, x, empty}, {x, empty, empty}, {empty, empty, x}, {x}}) {
        const Answer got = merge_scalars(parts);
        EXPECT_EQ(static_cast<float>(got.o), o) << o << " " << s;
        EXPECT_EQ(static_cast<float>(got.lse), s) << o << " " << s;
      }
    }
  }
}

TEST(Merge, LargeLogSumExps) {
  const auto near = [](double got, double wanted) { EXPECT_NEAR(got, wanted, 2 * ulp(DType::f32, wanted)); };
  near(merge_scalars({{1, 100}, {0, 0}}).lse, 100);
  near(merge_scalars({{1, 1000}, {0, 990}}).lse, 1000.0000454);
  near(merge_scalars({{1, -1000}, {0, -1001}}).lse, -999.686738);
  near(merge_scalars({{1, -1000}, {0, -1001}}).o, 0.7310586);
  near(merge_scalars({{1, 0}, {0, 1000}}).o, 0);
  near(merge_scalars({{1, 3e38}, {0, -3e38}}).o, 1);
}

TEST(Merge, PrefixAndSuffixUseNaturalLogarithms) {
  for (const std::string& implementation : runnable()) {
    Values prefix, suffix;
    prefix.v = constant(0);
    suffix.v = constant(1);
    Output a, b;
    ASSERT_TRUE(run(Instance(parse("f32 hq1 d8 skv4096"), prefix), {implementation}, a));
    ASSERT_TRUE(run(Instance(parse("f32 hq1 d8 skv64"), suffix), {implementation}, b));
    EXPECT_NEAR(a.lse[0], 8.317766, 2e-6);
    const Answer merged = merge_scalars({{a.o[0], a.lse[0]}, {b.o[0], b.lse[0]}});
    EXPECT_NEAR(merged.o, 64.0 / 4160, 1e-8) << implementation;
    EXPECT_NEAR(merged.lse, std::log(4160.0), 1e-6) << implementation;
  }
}

}  // namespace
}  // namespace tessera::test
