// SPDX-License-Identifier: Apache-2.0
// Values and layouts that nobody expects: huge scores and biases, subnormals, visible NaN and Inf, broadcast and shared
// tensors.
#include <algorithm>
#include <string>
#include <vector>

#include "support/kit.hpp"

namespace tessera::test {
namespace {

const char* const kPaths[] = {"sq1 skv300", "sq3 skv40 causal", "sq40 skv100", "sq100 skv100 causal",
                              "sq1 skv200 kvchunk32"};

TEST(Adversarial, BiasesAsLargeAsTheyGetNeverMask) {
  for (const float bias : {-3.4028235e38f, 3.4028235e38f, -1e38f, 1e30f}) {
    for (const std::string path : {"sq1 skv300", "sq40 skv100", "sq1 skv200 kvchunk32"}) {
      Values values;
      values.bias = [bias](const ScoreAt&) { return bias; };
      const Problem problem = parse("f32 hq2 hkv1 d16 bias " + path);
      expect_answer(Instance(problem, values), [&](auto...) {
        return Answer{static_cast<double>(problem.seqlen_kv - 1) / 2, bias};
      });
      // One key far above all others.
      values.bias = [bias](const ScoreAt& at) { return at.key == 7 ? std::abs(bias) : -std::abs(bias); };
      expect_answer(Instance(problem, values), [&](auto...) { return Answer{7, std::abs(bias)}; });
    }
  }
}

/// Elements of q and k and a scale; q.k of four of them is 4 size^2. The last scores are next to FLT_MAX.
struct HugeScore {
  double size;
  std::string scale;
  double score() const { return 4 * size * size * std::stod(scale); }
};
std::vector<HugeScore> huge_scores(DType dtype) {
  std::vector<HugeScore> all;
  for (const double size : {1e2, 3e3, 2e4, 6e4}) all.push_back({rounded(dtype, size), "0.5"});
  all.push_back({rounded(dtype, 1.0), "1e12"});
  all.push_back({rounded(dtype, 6e4), "2.3e28"});
  if (dtype == DType::f16) return all;
  for (const double size : {1e6, 1e10, 1e15, 4e18}) all.push_back({rounded(dtype, size), "0.5"});
  all.push_back({rounded(dtype, 4e18), "5.2"});
  return all;
}

TEST(Adversarial, HugeScoresPickTheirKey) {
  for (const DType dtype : kDTypes) {
    for (const HugeScore& huge : huge_scores(dtype)) {
      for (const std::string path : {"sq1 skv90", "sq40 skv90", "sq1 skv90 kvchunk16"}) {
        for (const double sign : {1.0, -1.0}) {
          Values values;
          const double x = huge.size;
          values.q = constant(x);
          // One score for key 5, and far below for all others.
          values.k = [=](const At& at) { return at.token == 5 ? sign * x : sign * x - 3 * x; };
          values.v = [](const At& at) { return static_cast<double>(at.token % 64); };
          expect_answer(Instance(parse(dtype, "hq2 hkv1 d4 scale" + huge.scale + " " + path), values), [=](auto...) {
            return Answer{5, sign * huge.score()};
          });
        }
      }
    }
  }
}

TEST(Adversarial, HugeEqualScoresShareTheirWeight) {
  for (const DType dtype : kDTypes) {
    for (const HugeScore& huge : huge_scores(dtype)) {
      for (const std::string path : {"sq1 skv64", "sq40 skv64", "sq1 skv64 kvchunk16"}) {
        for (const double sign : {1.0, -1.0}) {
          Values values;
          values.q = constant(huge.size);
          values.k = constant(sign * huge.size);
          const Instance instance(parse(dtype, "hq2 hkv1 d4 scale" + huge.scale + " " + path), values);
          Expected e = expected(instance);
          EXPECT_EQ(e.o[0], 31.5);
          // The scores are exact and equal, so their size costs nothing: 64 roundings of a sum remain.
          std::fill(e.o_bound.begin(), e.o_bound.end(), 24 * 0x1p-24 * 31.5 + 2 * ulp(dtype, 31.5));
          std::fill(e.lse_bound.begin(), e.lse_bound.end(), 2 * ulp(DType::f32, e.lse[0]));
          expect_all(instance, e);
        }
      }
    }
  }
}

TEST(Adversarial, ScoresOfAnySizeAgreeWithTheOracle) {
  for (const DType dtype : kDTypes) {
    for (const std::string scale : {"1e4", "1e12", "-1e12", "1e30", "1e-30", "1e-38", "0"}) {
      for (const std::string path : {"sq1 skv300", "sq40 skv100 causal", "sq1 skv200 kvchunk32", "sq60 skv200 kvchunk64"}) {
        expect_oracle(Instance(parse(dtype, "hq2 hkv1 d64 scale" + scale + " " + path), random_values(78)));
      }
    }
  }
}

TEST(Adversarial, SubnormalInputs) {
  for (const DType dtype : kDTypes) {
    for (const std::string path : kPaths) {
      Values values = random_values(71);
      const double tiny = dtype == DType::f16 ? 0x1p-22 : 0x1p-130;
      values.q = [tiny, q = values.q](const At& at) { return tiny * q(at); };
      expect_oracle(Instance(parse(dtype, "hq2 hkv1 d32 " + path), values));
      values = random_values(72);
      values.v = [tiny, v = values.v](const At& at) { return tiny * v(at); };
      expect_oracle(Instance(parse(dtype, "hq2 hkv1 d32 " + path), values));
    }
  }
}

TEST(Adversarial, VisibleInfinityAndNanReachWhatTheyTouch) {
  for (const DType dtype : kDTypes) {
    for (const std::string path : kPaths) {
      for (const double bad : {kInf, -kInf, std::nan("")}) {
        Values values = random_values(73);
        values.v = [bad, v = values.v](const At& at) { return at.token == 20 && at.channel == 3 ? bad : v(at); };
        expect_oracle(Instance(parse(dtype, "hq2 hkv1 d32 " + path), values));
        values = random_values(74);
        values.k = [bad, k = values.k](const At& at) { return at.token == 20 && at.channel == 3 ? bad : k(at); };
        values.q = [q = values.q](const At& at) { return std::abs(q(at)) + 0.25; };  // a score of -inf weighs nothing
        expect_oracle(Instance(parse(dtype, "hq2 hkv1 d32 " + path), values));
      }
    }
  }
}

TEST(Adversarial, NanInOneQueryStaysInItsRows) {
  for (const DType dtype : kDTypes) {
    for (const std::string path : kPaths) {
      Values values = random_values(75);
      values.q = [q = values.q](const At& at) { return at.token == 2 && at.head == 1 ? std::nan("") : q(at); };
      expect_oracle(Instance(parse(dtype, "hq4 hkv1 d32 " + path), values));
    }
  }
}

/// Runs `problem` on `tensors` (o and lse left open) and expects the bits of `wanted`.
void expect_bits(const Problem& problem, AttentionTensors tensors, const Instance& wanted) {
  for (const std::string& implementation : runnable()) {
    Output expected_output, got;
    ASSERT_TRUE(run(wanted, {implementation}, expected_output));
    std::vector<float> o(expected_output.o.size());
    got.lse.resize(expected_output.lse.size());
    tensors.o = {o.data(), packed_query_strides(problem, problem.head_dim_v)};
    tensors.lse = got.lse.data();
    PlanOptions options;
    options.implementation = implementation;
    const Status status = attention(problem, tensors, options);
    ASSERT_TRUE(status.ok()) << implementation << ": " << status.message();
    got.o = o;
    EXPECT_EQ(first_difference(got, expected_output), "") << context(wanted, {implementation});
  }
}

TEST(Adversarial, StridesOfZeroBroadcast) {
  for (const std::string path : {"sq1 skv70", "sq50 skv70 causal"}) {
    const Problem problem = parse("f32 b2 hq4 hkv4 d20 " + path);
    const auto flat = [](const Field& field, bool heads, bool sequences) -> Field {
      return [=](const At& at) { return field({sequences ? 0 : at.sequence, at.token, heads ? 0 : at.head, at.channel}); };
    };
    const Values base = random_values(76);
    for (const auto& [heads, sequences] : {std::pair{true, false}, {false, true}, {true, true}}) {
      Values repeated = base;
      repeated.q = flat(base.q, heads, sequences);
      repeated.k = flat(base.k, heads, sequences);
      repeated.v = flat(base.v, heads, sequences);
      const Instance full(problem, repeated);
      AttentionTensors tensors = full.tensors();
      for (ConstTensor* tensor : {&tensors.q, &tensors.k, &tensors.v}) {
        if (heads) tensor->strides.head = 0;
        if (sequences) tensor->strides.outer = 0;
      }
      expect_bits(problem, tensors, full);
    }
  }
}

TEST(Adversarial, KeysAndValuesMayShareABuffer) {
  for (const std::string path : {"sq1 skv70", "sq50 skv70 causal", "sq4 skv70 page16"}) {
    const Problem problem = parse("f32 b2 hq4 hkv2 d20 " + path);
    Values values = random_values(77);
    values.v = values.k;
    const Instance separate(problem, values);
    AttentionTensors tensors = separate.tensors();
    tensors.v = tensors.k;
    expect_bits(problem, tensors, separate);
  }
}

}  // namespace
}  // namespace tessera::test
