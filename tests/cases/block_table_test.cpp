// SPDX-License-Identifier: Apache-2.0
// What of a block table is read, and what a bad entry does.
#include <vector>

#include "support/kit.hpp"

namespace tessera::test {
namespace {

struct Fixture {
  Problem problem = parse("f32 hq2 hkv1 d4 sq1 skv5 page4");
  std::vector<float> pool = std::vector<float>(8 * 4 * 4, std::nanf(""));
  std::vector<float> q = std::vector<float>(8, 0.0f);
  std::vector<float> o = std::vector<float>(8, -7.0f), lse = std::vector<float>(2, -7.0f);
  std::vector<std::int32_t> table = {3, 7, -1, 999999};

  Fixture() {
    for (int j = 0; j < 5; ++j) std::fill_n(pool.begin() + ((j < 4 ? 3 : 7) * 4 + j % 4) * 4, 4, static_cast<float>(j));
  }
  Status run(const std::string& implementation) {
    AttentionTensors t = packed_tensors(problem, q.data(), pool.data(), pool.data(), o.data(), lse.data());
    t.block_table = table.data();
    t.block_table_stride = 4;
    t.num_pages = 8;
    PlanOptions options;
    options.implementation = implementation;
    return attention(problem, t, options);
  }
};

TEST(BlockTable, OnlyLiveEntriesAreRead) {
  for (const std::string& implementation : runnable()) {
    Fixture f;
    const Status status = f.run(implementation);
    ASSERT_TRUE(status.ok()) << implementation << ": " << status.message();
    for (const float x : f.o) EXPECT_EQ(x, 2.0f) << implementation;
    for (const float x : f.lse) EXPECT_NEAR(x, std::log(5.0), 5e-7) << implementation;
  }
}

TEST(BlockTable, BadLiveEntryIsAnErrorBeforeAnythingIsWritten) {
  for (const std::string& implementation : runnable()) {
    for (const std::int32_t bad : {-1, 8, 999999, -2147483647 - 1, 2147483647}) {
      for (const std::size_t entry : {0u, 1u}) {
        Fixture f;
        f.table[entry] = bad;
        const Status status = f.run(implementation);
        EXPECT_EQ(status.code(), StatusCode::invalid) << implementation << " " << bad;
        EXPECT_NE(status.message().find("block_table"), std::string::npos) << status.message();
        EXPECT_NE(status.message().find(std::to_string(bad)), std::string::npos) << status.message();
        for (const float x : f.o) EXPECT_EQ(x, -7.0f);
        for (const float x : f.lse) EXPECT_EQ(x, -7.0f);
      }
    }
  }
}

TEST(BlockTable, SequencesMayShareOnePage) {
  for (const DType dtype : kDTypes) {
    for (const std::string pages : {"page16", "hpage16"}) {
      // Both sequences begin with the same 16 keys: the second's table names the first's page.
      Values values = random_values(21);
      values.sequence_ids = {4, 4};
      Instance instance(parse(dtype, "b2 hq4 hkv2 d32 sq3 skv40 " + pages), values);
      const std::int64_t stride = instance.tensors().block_table_stride;
      instance.block_table()[stride] = instance.block_table()[0];
      expect_oracle(instance);
    }
  }
}

}  // namespace
}  // namespace tessera::test
