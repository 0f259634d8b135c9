// SPDX-License-Identifier: Apache-2.0
#include "bench/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace tessera::bench {
namespace {

constexpr RowOrder kOrders[] = {RowOrder::heads, RowOrder::tiles, RowOrder::blocks, RowOrder::caches};

Problem problem_of(const char* text) {
  const auto problem = Problem::parse(text);
  EXPECT_TRUE(problem.ok()) << problem.status().message();
  return *problem;
}

TEST(Layout, EveryOrderReadsEachLineOfTheKeysOnce) {
  for (const char* text : {"bf16 b1 hq4 hkv2 d32 sq1 skv300", "f32 b2 hq2 hkv2 d16 sq1 ragged1-200 page16",
                           "f16 b1 hq8 hkv4 d64 sq1 skv513 hpage128", "bf16 b3 hq2 hkv1 dqk96 dv32 sq1 ragged5-400 hpage16",
                           "f32 b1 hq3 hkv3 d16 sq1 skv1 page1"}) {
    const Problem problem = problem_of(text);
    const auto inputs = Inputs::make(problem, 1);
    ASSERT_TRUE(inputs.ok()) << inputs.status().message();
    std::map<const std::byte*, int> expected;
    const auto element = static_cast<std::int64_t>(size_of(problem.dtype));
    for (std::int64_t b = 0; b < problem.batch; ++b) {
      for (std::int64_t key = 0; key < problem.key_length(b); ++key) {
        for (std::int64_t head = 0; head < problem.num_kv_heads; ++head) {
          for (std::int64_t at = 0; at < problem.head_dim_qk * element; at += 64)
            ++expected[inputs->k_row(b, key, head) + at];
          for (std::int64_t at = 0; at < problem.head_dim_v * element; at += 64)
            ++expected[inputs->v_row(b, key, head) + at];
        }
      }
    }
    for (const RowOrder order : kOrders) {
      for (const int threads : {1, 2, 3}) {
        std::map<const std::byte*, int> read;
        for (int thread = 0; thread < threads; ++thread) {
          for (const Lines& lines : lines_to_read(problem, *inputs, order, thread, threads)) {
            for (const std::byte* at = lines.begin; at != lines.end; at += 64) ++read[at];
          }
        }
        EXPECT_TRUE(read == expected) << text << ", " << name_of(order) << ", " << threads << " threads: " << read.size()
                                      << " of " << expected.size() << " lines";
      }
    }
  }
}

TEST(Layout, RowsOffTheLineAreReadWhole) {
  const Problem problem = problem_of("f16 b1 hq2 hkv2 d20 sq1 skv77 hpage16");
  const auto inputs = Inputs::make(problem, 1);
  ASSERT_TRUE(inputs.ok());
  for (const RowOrder order : kOrders) {
    const auto lists = lines_to_read(problem, *inputs, order, 0, 1);
    for (std::int64_t key = 0; key < 77; ++key) {
      const std::byte* row = inputs->k_row(0, key, 1);
      EXPECT_TRUE(std::any_of(lists.begin(), lists.end(),
                              [&](const Lines& lines) { return lines.begin <= row && row + 40 <= lines.end; }))
          << key << " in " << name_of(order);
    }
  }
}

TEST(Layout, HeadMajorPagesAreReadInLongPieces) {
  const Problem problem = problem_of("bf16 b1 hq8 hkv8 d128 sq1 skv256 hpage128");
  const auto inputs = Inputs::make(problem, 1);
  ASSERT_TRUE(inputs.ok());
  const auto blocks = lines_to_read(problem, *inputs, RowOrder::blocks, 0, 1);
  ASSERT_EQ(blocks.size(), 4u);  // K and V of two pages
  EXPECT_EQ(blocks[0].end - blocks[0].begin, 8 * 128 * 256);
  const auto heads = lines_to_read(problem, *inputs, RowOrder::heads, 0, 1);
  EXPECT_EQ(heads[0].end - heads[0].begin, 32 * 256);
}

TEST(Layout, MeasuresTheLibraryAndEveryReading) {
  Options options;
  options.num_threads = 2;
  options.seconds = 0.01;
  const auto rates = measure_layout(problem_of("bf16 b1 hq4 hkv2 d64 sq1 skv512 page16"), options);
  ASSERT_TRUE(rates.ok()) << rates.status().message();
  EXPECT_EQ(rates->bytes, 512 * 2 * 64 * 2 * 2);
  EXPECT_GE(rates->rounds, 3);
  EXPECT_GT(rates->memory_peak, 1e8);
  EXPECT_GT(rates->kernel_fraction, 0);
  EXPECT_EQ(rates->readings.size(), 24u);
  for (const Reading& reading : rates->readings) {
    EXPECT_GT(reading.roof_fraction, 0);
    EXPECT_LE(reading.roof_fraction, rates->readings.front().roof_fraction);
  }
  EXPECT_NE(render(*rates, true).find("\"reading_fraction\": "), std::string::npos);
  EXPECT_NE(render(*rates, false).find("of the fastest that only reads"), std::string::npos);
}

TEST(Layout, RefusesWhatDoesNotReadAllKeysOrIsNoDecode) {
  for (const char* text : {"f32 b1 hq1 hkv1 d16 sq1 skv64 win3,0", "f32 b1 hq1 hkv1 d16 sq9 skv64 causal"}) {
    const auto rates = measure_layout(problem_of(text), {});
    EXPECT_EQ(rates.status().code(), StatusCode::unsupported) << text;
    EXPECT_NE(rates.status().message().find("layout: "), std::string::npos) << rates.status().message();
  }
}

}  // namespace
}  // namespace tessera::bench
