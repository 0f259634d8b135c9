// SPDX-License-Identifier: Apache-2.0
// Sums are float32, and the row sum is that of the weights that V is given.
#include "support/kit.hpp"

namespace tessera::test {
namespace {

TEST(Sums, StayExactOverManyKeys) {
  for (const DType dtype : kDTypes) {
    for (const auto& [keys, value] : {std::pair{4096, 60.0}, {4096, 1.0}, {16384, 1.0}}) {
      for (const std::string queries : {"sq1", "sq5", "sq40"}) {
        Values values;
        values.v = constant(value);
        const Instance instance(parse(dtype, "hq2 hkv1 d8 skv" + std::to_string(keys) + " " + queries), values);
        expect_answer(instance, [keys = keys, value = value](auto...) {
          return Answer{value, std::log(static_cast<double>(keys))};
        });
      }
    }
  }
}

TEST(Sums, RowSumMatchesTheWeights) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    for (const int keys : {512, 2048, 8192}) {
      // 1000 rows in all: 200 heads of one query in a batch of 5, and 20 heads of 50 queries.
      for (const std::string shape : {"b5 hq200 hkv5 sq1", "hq20 hkv1 sq50"}) {
        Values values = random_values(15);
        values.v = constant(1);
        const Instance instance(parse(dtype, "d16 skv" + std::to_string(keys) + " " + shape), values);
        for (const std::string& implementation : runnable_kernels()) {
          Output output;
          ASSERT_TRUE(run(instance, {implementation, 2}, output));
          double sum = 0;
          for (const float x : output.o) {
            ASSERT_NEAR(x, 1, ulp(dtype, 1)) << context(instance, {implementation, 2});
            sum += x - 1.0;
          }
          EXPECT_LT(std::abs(sum) / static_cast<double>(output.o.size()), 2e-4) << context(instance, {implementation, 2});
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::test
