// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tessera/problem.hpp"

namespace tessera {
namespace {

struct Misuse {
  const char* message;  // what the message must contain
  std::function<void(Problem&)> spoil;
};

TEST(ProblemValidate, NamesArgumentAndValue) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Misuse misuses[] = {
      {"dtype: 9", [](Problem& p) { p.dtype = static_cast<DType>(9); }},
      {"alignment: 2", [](Problem& p) { p.alignment = static_cast<Alignment>(2); }},
      {"kv_layout: 3", [](Problem& p) { p.kv_layout = static_cast<KvLayout>(3); }},
      {"batch: 0", [](Problem& p) { p.batch = 0; }},
      {"batch: -1", [](Problem& p) { p.batch = -1; }},
      {"num_q_heads: 0", [](Problem& p) { p.num_q_heads = 0; }},
      {"num_kv_heads: 0", [](Problem& p) { p.num_kv_heads = 0; }},
      {"num_q_heads: 8 is not a multiple of num_kv_heads 3", [](Problem& p) { p.num_kv_heads = 3; }},
      {"head_dim_qk: 0", [](Problem& p) { p.head_dim_qk = 0; }},
      {"head_dim_v: 257", [](Problem& p) { p.head_dim_v = 257; }},
      {"seqlen_q: -1", [](Problem& p) { p.seqlen_q = -1; }},
      {"seqlen_kv: -5", [](Problem& p) { p.seqlen_kv = -5; }},
      {"seqlen_kv: 2147483648", [](Problem& p) { p.seqlen_kv = std::int64_t{1} << 31; }},
      {"window_left: -2", [](Problem& p) { p.window_left = -2; }},
      {"window_right: -7", [](Problem& p) { p.window_right = -7; }},
      {"kv_chunk: -1", [](Problem& p) { p.kv_chunk = -1; }},
      {"softmax_scale", [&](Problem& p) { p.softmax_scale = nan; }},
      {"softcap", [&](Problem& p) { p.softcap = inf; }},
      {"softcap: -1", [](Problem& p) { p.softcap = -1; }},
      {"softmax_scale: -1e+39", [](Problem& p) { p.softmax_scale = -1e39; }},  // no float32
      {"softcap: 1e+39", [](Problem& p) { p.softcap = 1e39; }},
      {"softcap: 1e-50", [](Problem& p) { p.softcap = 1e-50; }},
      {"softcap: nan", [&](Problem& p) { p.softcap = nan; }},
      {"page_size: 0", [](Problem& p) { p.kv_layout = KvLayout::paged_token_major; }},
      {"page_size: 4", [](Problem& p) { p.page_size = 4; }},
      {"cu_seqlens_q: 2 entries for batch 2",
       [](Problem& p) {
         p.cu_seqlens_q = {0, 1};
       }},
      {"cu_seqlens_q: starts at 1",
       [](Problem& p) {
         p.cu_seqlens_q = {1, 1, 2};
       }},
      {"cu_seqlens_q: falls from 4 to 3 at entry 2",
       [](Problem& p) {
         p.cu_seqlens_q = {0, 4, 3};
       }},
      {"cu_seqlens_kv: starts at -1",
       [](Problem& p) {
         p.cu_seqlens_kv = {-1, 4, 5};
       }},
      {"cu_seqlens_kv: given with a paged",
       [](Problem& p) {
         p.cu_seqlens_kv = {0, 4, 5};
         p.kv_layout = KvLayout::paged_head_major;
         p.page_size = 1;
       }},
      {"seqlens_kv: given together",
       [](Problem& p) {
         p.cu_seqlens_kv = {0, 4, 5};
         p.seqlens_kv = {4, 1};
       }},
      {"seqlens_kv: 1 entries for batch 2", [](Problem& p) { p.seqlens_kv = {4}; }},
      {"seqlens_kv[1]: 17 is not in [0, 16]",
       [](Problem& p) {
         p.seqlens_kv = {4, 17};
       }},
      {"seqlens_kv[0]: -1",
       [](Problem& p) {
         p.seqlens_kv = {-1, 7};
       }},
      {"ragged_min: 3", [](Problem& p) { p.ragged_min = 3; }},
  };
  for (const Misuse& m : misuses) {
    Problem p = *Problem::parse("bf16 b2 hq8 hkv2 d64 sq3 skv16");
    ASSERT_TRUE(p.validate().ok());
    m.spoil(p);
    const Status status = p.validate();
    EXPECT_EQ(status.code(), StatusCode::invalid) << m.message;
    EXPECT_NE(status.message().find(m.message), std::string::npos) << m.message << " / " << status.message();
    EXPECT_FALSE(p.to_string().empty());  // a bug report can still name it
  }
}

TEST(ProblemValidate, TakesTheLimits) {
  Problem p = *Problem::parse("f32 hq1 d256 skv0 sq0");
  EXPECT_TRUE(p.validate().ok());
  p.window_left = std::numeric_limits<std::int64_t>::max();
  p.window_right = p.window_left;
  p.kv_chunk = p.window_left;
  p.softmax_scale = -1e30;
  p.softcap = 1e-30;
  EXPECT_TRUE(p.validate().ok());
  p.kv_layout = KvLayout::paged_token_major;
  p.page_size = 1;
  p.seqlens_kv = {std::numeric_limits<std::int32_t>::max()};  // paged lengths may exceed seqlen_kv
  EXPECT_TRUE(p.validate().ok());
}

}  // namespace
}  // namespace tessera
