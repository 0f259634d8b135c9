// SPDX-License-Identifier: Apache-2.0
// Heads, head dims, strides, and lengths that divide by nothing.
#include "support/kit.hpp"

namespace tessera::test {
namespace {

TEST(Shapes, QueryHeadsReadTheirKvHead) {
  for (const DType dtype : kDTypes) {
    for (const auto& [hq, hkv] : {std::pair{4, 2}, {28, 4}, {3, 3}, {3, 1}, {10, 2}, {7, 1}, {16, 2}, {32, 1}, {64, 2}}) {
      for (const std::string shape : {"sq1 skv20", "sq2 skv20", "sq50 skv20", "sq1 skv300 kvchunk64", "sq4 skv30 hpage8"}) {
        Values values;
        values.v = [](const At& at) { return static_cast<double>(at.head); };
        const Problem problem = parse(dtype, "d8 hq" + std::to_string(hq) + " hkv" + std::to_string(hkv) + " " + shape);
        expect_answer(Instance(problem, values), [&, group = hq / hkv](auto, std::int64_t h, auto) {
          return Answer{static_cast<double>(h / group), std::log(static_cast<double>(problem.seqlen_kv))};
        });
      }
    }
  }
}

TEST(Shapes, HeadsThatDoNotDivideAreInvalid) {
  Problem problem = parse("f32 hq3 hkv1 d8 skv4");
  problem.num_kv_heads = 2;
  const Result<Plan> made = plan(problem);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), StatusCode::invalid);
  EXPECT_NE(made.status().message().find("num_q_heads"), std::string::npos) << made.status().message();
}

TEST(Shapes, EveryHeadDim) {
  std::vector<int> dims;
  for (int d = 1; d <= 40; ++d) dims.push_back(d);
  for (const int d : {48, 63, 64, 65, 80, 96, 100, 112, 127, 128, 129, 192, 255, 256}) dims.push_back(d);
  for (const DType dtype : kDTypes) {
    for (const int d : dims) {
      for (const std::string shape : {"sq1 skv5", "sq20 skv5", "sq1 skv70"}) {
        Values values = random_values(11);
        values.q = constant(0);
        values.v = constant(1);
        const Problem problem = parse(dtype, "hq2 hkv1 d" + std::to_string(d) + " " + shape);
        expect_answer(Instance(problem, values), [&](auto...) {
          return Answer{1, std::log(static_cast<double>(problem.seqlen_kv))};
        });
      }
    }
  }
}

TEST(Shapes, HeadDimsOfKeysAndValuesDiffer) {
  for (const DType dtype : kDTypes) {
    for (const std::string dims : {"dqk1 dv256", "dqk256 dv1", "dqk192 dv128", "dqk64 dv72", "dqk33 dv17", "dqk7 dv130"}) {
      for (const std::string shape : {"sq1 skv90", "sq70 skv90 causal", "sq2 skv200 kvchunk64"}) {
        for (const StrideKind strides : {StrideKind::packed, StrideKind::padded}) {
          Layout layout;
          layout.strides = strides;
          expect_oracle(Instance(parse(dtype, "hq3 hkv1 " + dims + " " + shape), random_values(12), layout));
        }
      }
    }
  }
}

TEST(Shapes, ScaleIsOfTheTrueWidth) {
  for (const DType dtype : kDTypes) {
    for (const int sq : {1, 64}) {
      Values values;
      values.q = constant(rounded(dtype, 0.1));
      values.k = [](const At& at) { return at.token == 0 ? 1.0 : 0.0; };
      values.v = [](const At& at) { return at.token == 0 ? 1.0 : 0.0; };
      const Instance instance(parse(dtype, "hq1 d80 skv2 sq" + std::to_string(sq)), values);
      Expected e = expected(instance);
      EXPECT_NEAR(e.lse[0], std::log1p(std::exp(rounded(dtype, 0.1) * std::sqrt(80.0))), 1e-12);
      if (dtype == DType::f32) {
        EXPECT_NEAR(e.o[0], 0.7098029, 1e-7);
        std::fill(e.o_bound.begin(), e.o_bound.end(), 2 * ulp(dtype, e.o[0]));
      }
      expect_all(instance, e);
    }
  }
}

TEST(Shapes, LengthsThatNoBlockDivides) {
  for (const DType dtype : kDTypes) {
    for (const int keys : {1, 2, 3, 31, 33, 63, 65, 127, 128, 129, 191, 193, 255, 257}) {
      for (const int sq : {1, 3, 8, 17, 65, 129}) {
        const Instance instance(parse(dtype, "hq1 d16 skv" + std::to_string(keys) + " sq" + std::to_string(sq)), Values{});
        expect_answer(instance, [keys](auto...) { return mean_of_tokens(0, keys); });
      }
    }
  }
}

TEST(Shapes, EveryLayoutAndStride) {
  for (const DType dtype : kDTypes) {
    for (const StrideKind strides : {StrideKind::packed, StrideKind::padded, StrideKind::heads_outermost}) {
      for (const std::string layout_name : {"", " page1", " page3", " page16", " hpage1", " hpage5", " hpage64"}) {
        for (const std::string shape : {"sq1 skv100", "sq3 skv40 causal", "sq37 skv100 causal"}) {
          Layout layout;
          layout.strides = strides;
          layout.shuffle_pages = true;
          layout.spare_pages = 3;
          expect_oracle(Instance(parse(dtype, "b2 hq4 hkv2 d20 " + shape + layout_name), random_values(13), layout));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::test
