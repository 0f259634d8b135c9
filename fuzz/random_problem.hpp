// SPDX-License-Identifier: Apache-2.0
// A small valid problem out of fuzzer bytes: every layout, mask and option, sizes around the borders of tiles and pages.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstdint>

#include "tessera/problem.hpp"

namespace tessera::fuzz {

struct Limits {
  std::int64_t batch = 4, heads = 4, group = 8, head_dim = 256, seqlen_q = 80, seqlen_kv = 400;
};

inline std::int32_t pick(FuzzedDataProvider& bytes, std::int64_t min, std::int64_t max) {
  return bytes.ConsumeIntegralInRange<std::int32_t>(static_cast<std::int32_t>(min), static_cast<std::int32_t>(max));
}

inline void pick_lengths(FuzzedDataProvider& bytes, const Limits& limits, Problem& p) {
  if (bytes.ConsumeBool()) {
    p.cu_seqlens_q = {0};
    for (std::int64_t b = 0; b < p.batch; ++b)
      p.cu_seqlens_q.push_back(p.cu_seqlens_q.back() + pick(bytes, 0, limits.seqlen_q));
  } else {
    p.seqlen_q = pick(bytes, 0, limits.seqlen_q);
  }
  switch (pick(bytes, 0, 3)) {
    case 0:
      p.seqlen_kv = pick(bytes, 0, limits.seqlen_kv);
      break;
    case 1:
      p.seqlen_kv = limits.seqlen_kv;
      for (std::int64_t b = 0; b < p.batch; ++b) p.seqlens_kv.push_back(pick(bytes, 0, limits.seqlen_kv));
      break;
    case 2:
      p.cu_seqlens_kv = {0};
      for (std::int64_t b = 0; b < p.batch; ++b) {
        p.cu_seqlens_kv.push_back(p.cu_seqlens_kv.back() + pick(bytes, 0, limits.seqlen_kv));
      }
      break;
    default:
      p.kv_layout = bytes.ConsumeBool() ? KvLayout::paged_token_major : KvLayout::paged_head_major;
      p.page_size = pick(bytes, 1, 40);
      for (std::int64_t b = 0; b < p.batch; ++b) p.seqlens_kv.push_back(pick(bytes, 0, limits.seqlen_kv));
      p.seqlen_kv = *std::max_element(p.seqlens_kv.begin(), p.seqlens_kv.end());
  }
}

inline Problem random_problem(FuzzedDataProvider& bytes, const Limits& limits) {
  Problem p;
  p.dtype = static_cast<DType>(pick(bytes, 0, 2));
  p.batch = pick(bytes, 1, limits.batch);
  p.num_kv_heads = pick(bytes, 1, limits.heads);
  p.num_q_heads = p.num_kv_heads * pick(bytes, 1, limits.group);
  p.head_dim_qk = pick(bytes, 1, limits.head_dim);
  p.head_dim_v = bytes.ConsumeBool() ? p.head_dim_qk : pick(bytes, 1, limits.head_dim);
  pick_lengths(bytes, limits, p);
  p.causal = bytes.ConsumeBool();
  p.alignment = bytes.ConsumeBool() ? Alignment::top_left : Alignment::bottom_right;
  if (bytes.ConsumeBool()) p.window_left = pick(bytes, -1, 200);
  if (bytes.ConsumeBool()) p.window_right = pick(bytes, -1, 200);
  if (!p.causal && p.window_left < 0 && p.window_right < 0) p.alignment = Alignment::bottom_right;
  if (bytes.ConsumeBool()) p.softmax_scale = pick(bytes, -4, 8) / 16.0;
  if (bytes.ConsumeBool()) p.softcap = pick(bytes, 1, 50);
  p.has_alibi = bytes.ConsumeBool();
  p.has_sink = bytes.ConsumeBool();
  p.has_bias = bytes.ConsumeBool();
  p.has_mask = bytes.ConsumeBool();
  if (bytes.ConsumeBool()) p.kv_chunk = pick(bytes, 1, 150);
  return p;
}

}  // namespace tessera::fuzz
