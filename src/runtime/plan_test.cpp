// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tessera/attention.hpp"
#include "tessera/implementations.hpp"

namespace tessera {
namespace {

/// Packed f32 tensors of a problem: q = 0 and V[j] = j, so O is the mean of the visible keys' indices.
struct MeanOfKeys {
  explicit MeanOfKeys(const char* text) : problem(*Problem::parse(text)) {
    const auto& p = problem;
    q.assign(static_cast<std::size_t>(p.total_queries() * p.num_q_heads * p.head_dim_qk), 0.0f);
    k.assign(static_cast<std::size_t>(p.batch * p.seqlen_kv * p.num_kv_heads * p.head_dim_qk), 1.0f);
    o.assign(static_cast<std::size_t>(p.total_queries() * p.num_q_heads * p.head_dim_v), NAN);
    lse.assign(static_cast<std::size_t>(p.total_queries() * p.num_q_heads), NAN);
    const std::int64_t row = p.num_kv_heads * p.head_dim_v;
    for (std::int64_t i = 0; i < p.batch * p.seqlen_kv * row; ++i) v.push_back(static_cast<float>(i / row % p.seqlen_kv));
    tensors = packed_tensors(p, q.data(), k.data(), v.data(), o.data(), lse.data());
  }
  Problem problem;
  std::vector<float> q, k, v, o, lse;
  AttentionTensors tensors;
};

TEST(Plan, RunsOnEveryImplementationThatAccepts) {
  for (const auto& info : implementations()) {
    for (const char* text :
         {"f32 b2 hq4 hkv2 d8 sq1 skv5", "f32 b2 hq4 hkv2 d64 sq1 skv2000", "f32 b2 hq4 hkv2 d64 sq100 skv200",
          "f32 b1 hq4 hkv2 d64 sq3 skv2000 kvchunk7", "f32 b1 hq4 hkv2 d64 sq100 skv200 kvchunk7"}) {
      MeanOfKeys m(text);
      if (!accepts(info.name, m.problem).ok()) continue;
      PlanOptions options;
      options.implementation = info.name;
      const Status status = attention(m.problem, m.tensors, options);
      ASSERT_TRUE(status.ok()) << info.name << " " << text << ": " << status.message();
      for (float o : m.o) ASSERT_NEAR(o, static_cast<float>(m.problem.seqlen_kv - 1) / 2, 2e-3) << info.name << " " << text;
      for (float lse : m.lse)
        ASSERT_NEAR(lse, std::log(static_cast<float>(m.problem.seqlen_kv)), 1e-5) << info.name << " " << text;
    }
  }
}

}  // namespace
}  // namespace tessera
