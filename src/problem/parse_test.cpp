// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "problem/lengths.hpp"
#include "tessera/problem.hpp"

namespace tessera {
namespace {

Problem parse(std::string_view text) {
  auto problem = Problem::parse(text);
  EXPECT_TRUE(problem.ok()) << text << ": " << problem.status().message();
  return problem.ok() ? *problem : Problem{};
}

TEST(ProblemString, ReadsEveryToken) {
  const Problem p = parse(
      "seed7 ragged3-9 kvchunk5 page16 mask bias sink alibi softcap30 scale0.125 win-tl4,-1 causal-tl skv12 sq2 dv64 dqk96 "
      "hkv2 "
      "hq8 b3 f16");
  EXPECT_EQ(p.dtype, DType::f16);
  EXPECT_EQ(p.batch, 3);
  EXPECT_EQ(p.num_q_heads, 8);
  EXPECT_EQ(p.num_kv_heads, 2);
  EXPECT_EQ(p.head_dim_qk, 96);
  EXPECT_EQ(p.head_dim_v, 64);
  EXPECT_EQ(p.seqlen_q, 2);
  EXPECT_EQ(p.seqlen_kv, 12);
  EXPECT_TRUE(p.causal);
  EXPECT_EQ(p.alignment, Alignment::top_left);
  EXPECT_EQ(p.window_left, 4);
  EXPECT_EQ(p.window_right, -1);
  EXPECT_EQ(p.softmax_scale, 0.125);
  EXPECT_EQ(p.softcap, 30);
  EXPECT_TRUE(p.has_alibi && p.has_sink && p.has_bias && p.has_mask);
  EXPECT_EQ(p.kv_layout, KvLayout::paged_token_major);
  EXPECT_EQ(p.page_size, 16);
  EXPECT_EQ(p.kv_chunk, 5);
  EXPECT_EQ(p.seed, 7u);
  EXPECT_EQ(p.seqlens_kv, problem::draw_lengths(3, 3, 9, 7));
}

TEST(ProblemString, PrintsInCanonicalOrder) {
  EXPECT_EQ(parse("causal page128 skv4096 sq1 d128 hkv8 hq32 b4 bf16").to_string(),
            "bf16 b4 hq32 hkv8 d128 sq1 skv4096 causal page128");
  EXPECT_EQ(parse("d64\thq4  f32\nskv5").to_string(), "f32 b1 hq4 hkv4 d64 sq1 skv5");
  EXPECT_EQ(parse("bf16 b16 hq32 hkv8 d128 ragged100-8000 page16").to_string(),
            "bf16 b16 hq32 hkv8 d128 sq1 skv8000 page16 ragged100-8000");
}

TEST(ProblemString, RoundTrips) {
  for (const char* text : {
           "bf16 b4 hq32 hkv8 d128 sq1 skv4096 causal page128",
           "f32 b1 hq1 hkv1 dqk192 dv128 sq0 skv0",
           "f16 b2 hq3 hkv1 d1 sq7 skv9 win-1,2147483647",
           "f16 b2 hq3 hkv1 d1 sq7 skv9 causal win5,3 scale-0.1 softcap0.30000000000000004",
           "f16 b2 hq3 hkv1 d1 sq7 skv9 win-tl-1,-1 alibi",
           "f16 b2 hq3 hkv1 d1 sq7 skv9 causal-tl win-tl0,0 alibi sink bias mask hpage1 kvchunk1",
           "bf16 b5 hq8 hkv2 d96 sq3 skv100 ragged0-100 seed18446744073709551615",
           "bf16 b5 hq8 hkv2 d96 sq3 skv120 ragged0-0",
           "f32 b1 hq1 hkv1 d8 sq1 skv9 win9223372036854775807,9223372036854775807 kvchunk9223372036854775807",
       }) {
    EXPECT_EQ(parse(text).to_string(), text);
    EXPECT_EQ(parse(parse(text).to_string()).seqlens_kv, parse(text).seqlens_kv);
  }
}

TEST(ProblemString, DrawsTheDocumentedLengths) {
  std::uint64_t state = 0;
  EXPECT_EQ(problem::splitmix64(state), 0xe220a8397b1dcdafu);  // first outputs of the published generator from seed 0
  EXPECT_EQ(problem::splitmix64(state), 0x6e789e6aa1b965f4u);
  const Problem p = parse("bf16 b1000 hq1 d8 ragged5-7");
  int count[3] = {0, 0, 0};
  for (std::int32_t length : p.seqlens_kv) ++count[length - 5];
  for (int c : count) EXPECT_NEAR(c, 333, 60);
}

TEST(ProblemString, PrintsArbitraryLengthsAsRagged) {
  Problem p = parse("bf16 b3 hq1 d8 skv9");
  p.seqlens_kv = {4, 0, 9};
  EXPECT_EQ(p.to_string(), "bf16 b3 hq1 hkv1 d8 sq1 skv9 ragged0-9");
  p.seqlens_kv.clear();
  p.cu_seqlens_kv = {0, 3, 8, 20};
  p.cu_seqlens_q = {0, 1, 1, 6};
  EXPECT_EQ(p.to_string(), "bf16 b3 hq1 hkv1 d8 sq5 skv12 ragged3-12");
}

struct Refusal {
  const char* text;
  const char* message;  // what the message must contain
};

TEST(ProblemString, RefusesAndNamesTheToken) {
  const Refusal refusals[] = {
      {"", "a dtype"},
      {"bf16 hq1 d8", "skv"},
      {"bf16 d8 skv1", "hq"},
      {"bf16 hq1 skv1", "d<n>"},
      {"bf16 hq1 dqk8 skv1", "dv"},
      {"bf16 hq1 d8 skv1 casual", "'casual' is unknown"},
      {"bf16 hq1 d8 skv1 Causal", "'Causal' is unknown"},
      {"bf16 hq1 d8 skv1 int8", "'int8' is unknown"},
      {"bf16 hq1 d8 skv1 b", "'b' is unknown"},
      {"bf16 hq1 d8 skv1 causal causal", "'causal' is repeated"},
      {"bf16 hq1 d8 skv1 causal causal-tl", "'causal-tl' is repeated after 'causal'"},
      {"bf16 f16 hq1 d8 skv1", "'f16' is repeated after 'bf16'"},
      {"bf16 hq1 hq2 d8 skv1", "'hq2' is repeated after 'hq1'"},
      {"bf16 hq1 d8 skv1 page4 hpage4", "'hpage4' is repeated after 'page4'"},
      {"bf16 hq1 d8 dv8 skv1", "'d8' and 'dv8' exclude"},
      {"bf16 hq1 d8 skv1 page0", "'page0' is malformed"},
      {"bf16 hq1 d8 skv1x", "'skv1x' is malformed"},
      {"bf16 hq1 d8 skv-1", "'skv-1' is malformed"},
      {"bf16 hq1 d8 skv+1", "'skv+1' is malformed"},
      {"bf16 hq1 d8 skv", "'skv' is malformed"},
      {"bf16 hq1 d8 skv99999999999999999999", "'skv99999999999999999999' is malformed"},
      {"bf16 hq1 d8 skv2147483648", "'skv2147483648' is malformed"},
      {"bf16 b0 hq1 d8 skv1", "'b0' is malformed"},
      {"bf16 hq1 d8 skv1 win3", "'win3' is malformed"},
      {"bf16 hq1 d8 skv1 win3,", "'win3,' is malformed"},
      {"bf16 hq1 d8 skv1 win-2,0", "'win-2,0' is malformed"},
      {"bf16 hq1 d8 skv1 causal win-tl3,0", "different alignments"},
      {"bf16 hq1 d8 skv1 scale", "'scale' is malformed"},
      {"bf16 hq1 d8 skv1 scalenan", "'scalenan' is malformed"},
      {"bf16 hq1 d8 skv1 scaleinf", "'scaleinf' is malformed"},
      {"bf16 hq1 d8 skv1 scale1e999", "'scale1e999' is malformed"},
      {"bf16 hq1 d8 skv1 softcap0", "'softcap0' is malformed"},
      {"bf16 hq1 d8 skv1 softcap-1", "'softcap-1' is malformed"},
      {"bf16 hq1 d8 ragged9-3", "'ragged9-3' is malformed"},
      {"bf16 hq1 d8 ragged9", "'ragged9' is malformed"},
      {"bf16 hq1 d8 ragged--3", "'ragged--3' is malformed"},
      {"bf16 hq1 d8 skv2 ragged1-3", "'ragged1-3' asks for more keys than skv2"},
      {"bf16 b2147483646 hq1 d8 ragged1-3", "b2147483646"},
      {"bf16 hq1 d8 skv1 seed-1", "'seed-1' is malformed"},
      {"bf16 hq1 d8 skv1 seed18446744073709551616", "is malformed"},
      {"bf16 hq1 d257 skv1", "head_dim_qk: 257"},
      {"bf16 hq3 hkv2 d8 skv1", "num_q_heads: 3 is not a multiple of num_kv_heads 2"},
  };
  for (const Refusal& r : refusals) {
    const auto problem = Problem::parse(r.text);
    ASSERT_FALSE(problem.ok()) << r.text;
    EXPECT_EQ(problem.status().code(), StatusCode::invalid) << r.text;
    EXPECT_NE(problem.status().message().find(r.message), std::string::npos) << r.text << ": " << problem.status().message();
  }
}

}  // namespace
}  // namespace tessera
