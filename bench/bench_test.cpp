// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "bench/inputs.hpp"
#include "bench/measure.hpp"
#include "bench/render.hpp"
#include "bench/statistics.hpp"

namespace tessera::bench {
namespace {

TEST(Statistics, OneSlowRepeatDoesNotMoveThem) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({1, 1, 1, 1, 1000}), 1);
  EXPECT_EQ(interquartile_range({1, 2, 3, 4, 1000}), 2);
  EXPECT_EQ(interquartile_range({7}), 0);
}

Row example_row() {
  Row row;
  row.problem = "bf16 b1 hq8 hkv2 d128 sq1 skv64";
  row.backend = "cpu";
  row.impl = "avx2";
  row.threads = 2;
  row.repeats = 7;
  row.median_s = 0.5;
  row.spread_s = 0.01;
  row.flops = 123456789012;
  row.bytes = 4096;
  row.roof = "memory";
  row.roof_fraction = 0.25;
  return row;
}

TEST(Render, JsonIsOneObjectALineWithEveryField) {
  const std::vector<Row> rows = {example_row(), example_row()};
  const std::string text = render(rows, Format::json);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  for (const char* field : {"problem", "backend", "impl", "threads", "modelled", "repeats", "median_s", "spread_s", "flops",
                            "bytes", "flops_per_s", "bytes_per_s", "compute_peak", "memory_peak", "roof", "roof_fraction",
                            "workspace_bytes", "peak_extra_bytes"}) {
    EXPECT_NE(text.find(std::string("\"") + field + "\": "), std::string::npos) << field << " in " << text;
  }
  EXPECT_NE(text.find("\"flops\": 123456789012,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"modelled\": false"), std::string::npos) << text;
}

TEST(Render, EveryFormatHasEveryRow) {
  const std::vector<Row> rows = {example_row(), example_row(), example_row()};
  const auto lines = [&](Format format) {
    const std::string text = render(rows, format);
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(Format::table), 4);
  EXPECT_EQ(lines(Format::markdown), 5);
  EXPECT_EQ(lines(Format::csv), 4);
  EXPECT_FALSE(parse_format("yaml").has_value());
}

TEST(Inputs, PagesAreAPermutationAndRowsLieWithin) {
  const auto problem = Problem::parse("bf16 b3 hq4 hkv2 d8 sq1 ragged5-40 hpage4 seed3");
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  const auto inputs = Inputs::make(*problem, 3);
  ASSERT_TRUE(inputs.ok()) << inputs.status().message();
  std::set<const std::byte*> rows;
  std::int64_t expected = 0;
  for (std::int64_t b = 0; b < 3; ++b) {
    expected += problem->key_length(b) * 2;
    for (std::int64_t token = 0; token < problem->key_length(b); ++token) {
      for (std::int64_t head = 0; head < 2; ++head) rows.insert(inputs->k_row(b, token, head));
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(rows.size()), expected);
  EXPECT_GE(*rows.begin(), inputs->data());
  EXPECT_LT(*rows.rbegin(), inputs->data() + inputs->bytes());
}

TEST(Inputs, MoreThanTheMachineHasIsAnError) {
  const auto inputs = Inputs::make(*Problem::parse("f32 b4096 hq32 d256 sq65536 skv65536"), 1);
  EXPECT_EQ(inputs.status().code(), StatusCode::out_of_memory);
  EXPECT_NE(inputs.status().message().find("bytes are needed"), std::string::npos) << inputs.status().message();
}

TEST(Inputs, SameSeedSameBytes) {
  const auto problem = Problem::parse("f16 b1 hq2 hkv1 d16 sq3 skv33");
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  const auto a = Inputs::make(*problem, 5), b = Inputs::make(*problem, 5), c = Inputs::make(*problem, 6);
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  const std::size_t row = 16 * 2;
  EXPECT_EQ(std::memcmp(a->k_row(0, 32, 0), b->k_row(0, 32, 0), row), 0);
  EXPECT_NE(std::memcmp(a->k_row(0, 32, 0), c->k_row(0, 32, 0), row), 0);
}

TEST(Measure, GivesEveryFigureOfARow) {
  const auto problem = Problem::parse("f32 b1 hq2 hkv1 d16 sq4 skv64 causal");
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  Options options;
  options.num_threads = 1;
  options.seconds = 0.01;
  options.min_repeats = 2;
  const auto row = measure(*problem, options);
  ASSERT_TRUE(row.ok()) << row.status().message();
  EXPECT_EQ(row->problem, problem->to_string());
  EXPECT_EQ(row->threads, 1);
  EXPECT_GE(row->repeats, 2);
  EXPECT_GT(row->median_s, 0);
  EXPECT_GT(row->compute_peak, 1e8);
  EXPECT_GT(row->memory_peak, 1e8);
  EXPECT_GT(row->roof_fraction, 0);
  EXPECT_EQ(row->flops, problem->flops());
  EXPECT_FALSE(row->modelled);
}

TEST(Measure, SaysWhatIsWrong) {
  const auto problem = Problem::parse("f32 b1 hq2 hkv1 d16 sq1 skv64");
  ASSERT_TRUE(problem.ok());
  Options options;
  options.implementation = "quantum";
  const auto row = measure(*problem, options);
  ASSERT_FALSE(row.ok());
  EXPECT_NE(row.status().message().find("quantum"), std::string::npos) << row.status().message();
}

}  // namespace
}  // namespace tessera::bench
