// SPDX-License-Identifier: Apache-2.0
#include "planner/cpu_plan.hpp"

#include <gtest/gtest.h>
#include <algorithm>

#include <chrono>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "planner/cpu_cost.hpp"
#include "problem/visible.hpp"

namespace tessera::planner {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::int64_t operator()(std::int64_t min, std::int64_t max) {
    return std::uniform_int_distribution<std::int64_t>(min, max)(engine_);
  }

 private:
  std::mt19937 engine_;
};

Problem random_problem(Random& random) {
  Problem p;
  p.batch = random(1, 4);
  p.num_kv_heads = random(1, 5);
  p.num_q_heads = p.num_kv_heads * random(1, 5);
  p.head_dim_qk = random(1, 256);
  p.head_dim_v = random(1, 256);
  p.seqlen_q = random(0, 3) == 0 ? random(0, 300) : random(0, 6);
  p.seqlen_kv = random(0, 700);
  p.causal = random(0, 1);
  p.alignment = random(0, 2) == 0 ? Alignment::top_left : Alignment::bottom_right;
  if (random(0, 2) == 0) p.window_left = random(0, 200);
  if (random(0, 2) == 0) p.window_right = random(0, 200);
  if (random(0, 1)) p.kv_chunk = random(0, 1) ? random(1, 20) : random(1, 300);
  if (random(0, 1)) {
    for (std::int64_t b = 0; b < p.batch; ++b) p.seqlens_kv.push_back(static_cast<std::int32_t>(random(0, p.seqlen_kv)));
  }
  if (random(0, 1)) {
    p.cu_seqlens_q.push_back(0);
    for (std::int64_t b = 0; b < p.batch; ++b)
      p.cu_seqlens_q.push_back(p.cu_seqlens_q.back() + static_cast<std::int32_t>(random(0, 90)));
  }
  if (random(0, 1)) {
    p.kv_layout = random(0, 1) ? KvLayout::paged_head_major : KvLayout::paged_token_major;
    p.page_size = random(1, 64);
  }
  EXPECT_TRUE(p.validate().ok()) << p.validate().message();
  return p;
}

KernelLimits random_limits(Random& random) {
  return {static_cast<std::int32_t>(1 << random(0, 6)), static_cast<std::int32_t>(1 << random(0, 6)), random(1, 16)};
}

using RowKey = std::tuple<std::int32_t, std::int32_t, std::int64_t>;  // sequence, kv head, row

/// Key ranges of each row, in the order of its splits.
std::map<RowKey, std::vector<Keys>> ranges_of_rows(const CpuPlan& plan, const Problem& p) {
  std::map<RowKey, std::vector<Keys>> rows;
  const auto add = [&](const Item& item, std::int64_t split) {
    const Keys keys = keys_of(plan, p, *item.sequence, item.row_begin, item.row_end, split);
    for (std::int32_t h = item.kv_head_begin; h < item.kv_head_end; ++h) {
      for (std::int64_t r = item.row_begin; r < item.row_end; ++r) rows[{item.sequence->sequence, h, r}].push_back(keys);
    }
  };
  for (std::int64_t i = 0; i < plan.num_items; ++i) {
    const Item item = item_at(plan, p, i);
    const std::int64_t local_splits = item.sequence->split == Split::local ? item.sequence->num_splits : 1;
    for (std::int64_t split = 0; split < local_splits; ++split)
      add(item, item.sequence->split == Split::local ? split : item.split);
  }
  return rows;
}

TEST(CpuPlan, CoversEveryKeyOfEveryRowOnce) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Problem p = random_problem(random);
    const KernelLimits limits = random_limits(random);
    CpuModel model;
    model.cores = static_cast<int>(random(1, 9));
    const auto planned = plan_cpu(p, limits, model, static_cast<int>(random(1, 9)));
    ASSERT_TRUE(planned.ok()) << planned.status().message();
    const auto rows = ranges_of_rows(*planned, p);
    const std::int64_t group = p.num_q_heads / p.num_kv_heads;
    std::int64_t expected_rows = 0;
    for (std::int64_t b = 0; b < p.batch; ++b) expected_rows += p.query_length(b) * group * p.num_kv_heads;
    ASSERT_EQ(static_cast<std::int64_t>(rows.size()), expected_rows) << "seed " << seed << ": " << p.to_string();
    for (const auto& [key, ranges] : rows) {
      const auto [b, head, row] = key;
      const auto visible = problem::visibility(p, b).keys(row / group, row / group + 1);
      std::vector<int> seen(static_cast<std::size_t>(p.key_length(b)), 0);
      for (const Keys& keys : ranges) {
        ASSERT_LE(0, keys.begin);
        ASSERT_LE(keys.begin, keys.end);
        for (std::int64_t j = keys.begin; j < keys.end; ++j) {
          ASSERT_LT(j, p.key_length(b)) << "seed " << seed << ": " << p.to_string();
          ++seen[static_cast<std::size_t>(j)];
        }
      }
      for (std::int64_t j = 0; j < p.key_length(b); ++j) {
        const int count = seen[static_cast<std::size_t>(j)];
        const bool must = visible.begin <= j && j < visible.end;
        ASSERT_TRUE(must ? count == 1 : count <= 1) << "seed " << seed << ": " << p.to_string() << " sequence " << b
                                                    << " row " << row << " key " << j << " is covered " << count << " times";
      }
    }
  }
}

TEST(CpuPlan, MergesEveryRowOfSplitSequencesOnce) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Problem p = random_problem(random);
    const auto planned = plan_cpu(p, random_limits(random), CpuModel{}, 3);
    ASSERT_TRUE(planned.ok());
    std::set<RowKey> rows;
    for (std::int64_t i = 0; i < planned->num_merge_items; ++i) {
      const MergeCell cell = merge_at(*planned, p, i);
      for (std::int64_t r = cell.row_begin; r < cell.row_end; ++r) {
        ASSERT_TRUE(rows.insert({cell.sequence->sequence, cell.kv_head, r}).second)
            << "seed " << seed << ": " << p.to_string();
      }
    }
    std::int64_t expected = 0, partials = 0;
    for (const SequencePlan& s : planned->sequences) {
      if (s.split != Split::spread) continue;
      expected += s.rows * p.num_kv_heads;
      ASSERT_EQ(s.partial_begin, partials);
      partials += s.rows * p.num_kv_heads * s.num_splits;
    }
    ASSERT_EQ(static_cast<std::int64_t>(rows.size()), expected) << "seed " << seed << ": " << p.to_string();
    ASSERT_EQ(planned->partial_rows, partials);
  }
}

/// What decides bits: kernel, chunk and where the tiles of each row begin.
std::vector<std::tuple<Kernel, std::int64_t, std::int64_t, std::int64_t>> arithmetic_of(const CpuPlan& plan,
                                                                                        const Problem& p, std::int32_t b) {
  std::vector<std::tuple<Kernel, std::int64_t, std::int64_t, std::int64_t>> result;
  const std::int64_t group = p.num_q_heads / p.num_kv_heads;
  for (std::int64_t i = 0; i < plan.num_items; ++i) {
    const Item item = item_at(plan, p, i);
    const SequencePlan& s = *item.sequence;
    if (s.sequence != b || item.kv_head_begin != 0) continue;
    for (std::int64_t split = 0; split < (s.split == Split::local ? s.num_splits : 1); ++split) {
      const Keys keys = keys_of(plan, p, s, item.row_begin, item.row_end, s.split == Split::local ? split : item.split);
      for (std::int64_t r = item.row_begin; r < item.row_end; ++r) {
        const auto visible = problem::visibility(p, b).keys(r / group, r / group + 1);
        const std::int64_t begin = std::max(keys.begin, visible.begin), end = std::min(keys.end, visible.end);
        if (begin >= end) continue;
        // The tile grid that this row's visible keys fall into, by the first tile with a visible key.
        const std::int64_t tile = plan.tile_kv[static_cast<int>(s.kernel)];
        result.emplace_back(s.kernel, r, keys.begin + (begin - keys.begin) / tile * tile, end);
      }
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

TEST(CpuPlan, ArithmeticOfASequenceDependsOnItAlone) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Random random(seed);
    Problem one = random_problem(random);
    const KernelLimits limits = random_limits(random);
    const std::int64_t b = random(0, one.batch - 1);
    Problem alone = one;  // the same sequence, by itself, elsewhere, in other pages
    alone.batch = 1;
    alone.seqlen_q = one.query_length(b);
    alone.seqlen_kv = one.key_length(b);
    alone.cu_seqlens_q.clear();
    alone.seqlens_kv.clear();
    alone.kv_layout = random(0, 1) ? KvLayout::contiguous : KvLayout::paged_token_major;
    alone.page_size = alone.paged() ? random(1, 50) : 0;
    CpuModel small, large;
    large.cores = 64;
    large.l2_bytes = 8 << 20;
    small.l2_bytes = 64 << 10;
    const auto a = plan_cpu(one, limits, small, 1), c = plan_cpu(alone, limits, large, 64);
    ASSERT_TRUE(a.ok() && c.ok());
    ASSERT_EQ(arithmetic_of(*a, one, static_cast<std::int32_t>(b)), arithmetic_of(*c, alone, 0))
        << "seed " << seed << ": " << one.to_string();
  }
}

CpuPlan plan_of(const char* text, int threads = 2) {
  const auto p = Problem::parse(text);
  EXPECT_TRUE(p.ok()) << p.status().message();
  CpuModel model;
  model.cores = 2;
  model.l3_bytes = 32 << 20;
  for (double& rate : model.flops_per_core) rate = 250e9;
  auto plan = plan_cpu(*p, {}, model, threads);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return *plan;
}

TEST(CpuPlan, LongSequencesHaveLongerChunksAndStillSixteenOfThem) {
  const auto chunk = [](const char* text) { return plan_of(text).sequences[0].chunk; };
  EXPECT_EQ(chunk("bf16 hq32 hkv8 d128 sq1 skv32767"), 1024);
  EXPECT_EQ(chunk("bf16 hq32 hkv8 d128 sq1 skv32768"), 2048);
  EXPECT_EQ(chunk("bf16 hq32 hkv8 d128 sq1 skv65535"), 2048);
  EXPECT_EQ(chunk("bf16 hq32 hkv8 d128 sq1 skv65536"), 4096);
  EXPECT_EQ(chunk("bf16 hq32 hkv8 d128 sq1 skv10000000"), 4096);
  EXPECT_EQ(chunk("bf16 hq32 hkv8 d128 sq1 skv100000 win4095,0"), 1024);  // what is visible counts
  EXPECT_EQ(chunk("bf16 hq32 hkv8 d128 sq1 skv100000 kvchunk512"), 512);
}

TEST(CpuPlan, SmallProblemsStayOnOneThread) {
  EXPECT_EQ(plan_of("bf16 hq32 hkv8 d128 sq1 skv64").threads, 1);
  EXPECT_EQ(plan_of("bf16 hq32 hkv8 d128 sq1 skv512").threads, 2);
  EXPECT_EQ(plan_of("bf16 hq32 hkv8 d128 sq1 skv100000").threads, 2);
  EXPECT_EQ(plan_of("bf16 hq8 hkv2 d128 sq1024 skv1024 causal").threads, 2);
}

TEST(CpuPlan, SmallDecodesHaveAnItemAThread) {
  EXPECT_EQ(plan_of("bf16 hq32 hkv8 d128 sq1 skv512").num_items, 2);
  EXPECT_EQ(plan_of("bf16 b64 hq32 hkv8 d128 sq1 skv64").num_items, 64);
}

TEST(CpuPlan, ALongSequenceIsCutFinerThanItsNeighbours) {
  Problem p = *Problem::parse("bf16 b2 hq32 hkv8 d128 sq1 skv1000");
  p.seqlens_kv = {10, 1000};
  CpuModel model;
  model.cores = 2;
  const CpuPlan plan = *plan_cpu(p, {}, model, 2);
  double seconds = 0;
  for (std::int64_t i = 0; i < plan.num_items; ++i) seconds += item_cost(plan, p, model, i);
  EXPECT_LE(item_cost(plan, p, model, 0), 0.65 * seconds);
}

TEST(CpuPlan, WorkspaceDoesNotGrowWithSqTimesSk) {
  const auto bytes = [](const char* text) { return lay_out_workspace(plan_of(text), 128, 1 << 20)->bytes; };
  EXPECT_EQ(bytes("bf16 hq8 hkv2 d128 sq8192 skv8192"), bytes("bf16 hq8 hkv2 d128 sq65536 skv65536"));
  EXPECT_LE(bytes("bf16 hq8 hkv2 d128 sq65536 skv65536 kvchunk64"), 40u << 20);  // partials of one row tile a thread
}

TEST(CpuPlan, RefusesWhatDoesNotFit) {
  Problem p = *Problem::parse("bf16 b2147483646 hq65536 d256 sq1 skv2147483647 kvchunk1");
  p.batch = 128;  // planned in full, so keep it small
  const auto plan = plan_cpu(p, {}, CpuModel{}, 2);
  ASSERT_TRUE(plan.ok());
  const auto layout = lay_out_workspace(*plan, 256, 0);  // 128 * 65536 * 2^31 rows of 1032 bytes
  ASSERT_FALSE(layout.ok());
  EXPECT_NE(layout.status().message().find("kv_chunk"), std::string::npos);
}

TEST(CpuPlan, CostliestItemsComeFirst) {
  for (const char* text : {"bf16 hq8 hkv2 d128 sq4096 skv4096 causal", "bf16 b16 hq32 hkv8 d128 ragged100-8000"}) {
    const Problem p = *Problem::parse(text);
    const CpuPlan plan = plan_of(text);
    for (std::int64_t i = 0; i < plan.num_items; ++i) {
      ASSERT_LE(item_cost(plan, p, CpuModel{}, i), 1.001 * item_cost(plan, p, CpuModel{}, 0)) << text << " item " << i;
    }
  }
}

TEST(CpuPlan, SixtyFourSequencesInFiftyMicroseconds) {
  const Problem p = *Problem::parse("bf16 b64 hq32 hkv8 d128 ragged100-8000 page16");
  double best = 1;
  for (int round = 0; round < 50; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const auto plan = plan_cpu(p, {}, CpuModel{}, 2);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    ASSERT_TRUE(plan.ok());
  }
  std::printf("%.1f us\n", best * 1e6);
#if defined(NDEBUG)
  EXPECT_LT(best, 50e-6);
#endif
}

}  // namespace
}  // namespace tessera::planner
