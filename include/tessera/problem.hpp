// SPDX-License-Identifier: Apache-2.0
// What is asked: shapes, lengths, masks and the layout of the KV cache.
//
// Contracts (each has a test):
//  1. Layouts. Contiguous [batch, seq, heads, dim], ragged [total, heads, dim] with cu_seqlens, or keys in pages with a
//     block table; per-sequence key lengths on request. Offsets are 64-bit throughout.
//  2. GQA. Query head h reads kv head h / (num_q_heads / num_kv_heads). A ratio that does not divide is an error.
//  3. Positions. Key j stands at position j, query i at i + seqlen_kv - seqlen_q (bottom-right) or at i (top-left).
//     Causal: key position <= query position. A window (left, right) is inclusive and measured from the query's
//     position; -1 is unbounded. With causal, right is min(right, 0).
//  4. Scores. softmax_scale * q.k, then cap * tanh(s / cap), then bias, then -slope * |query pos - key pos|, then the
//     mask. A finite bias never masks; a bias of -inf masks like a mask does.
//  5. Empty rows. A row that may see no key gives O = 0 and LSE = -inf.
//  6. Sink. One logit a query head, neither scaled nor capped, that takes part in the softmax and adds nothing to O.
//     LSE includes it. A row without keys then has O = 0 and LSE = sink.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/types.hpp"

namespace tessera {

enum class Alignment : std::uint8_t { bottom_right, top_left };

/// Where a sequence's keys and values lie.
enum class KvLayout : std::uint8_t {
  contiguous,         // [batch, seqlen_kv, num_kv_heads, dim], or [total_kv, num_kv_heads, dim] with cu_seqlens_kv
  paged_token_major,  // [pages, page_size, num_kv_heads, dim]
  paged_head_major,   // [pages, num_kv_heads, page_size, dim]
};

struct TESSERA_EXPORT Problem {
  DType dtype = DType::bf16;
  std::int64_t batch = 1;
  std::int64_t num_q_heads = 1;
  std::int64_t num_kv_heads = 1;
  std::int64_t head_dim_qk = 128;  // 1 to 256
  std::int64_t head_dim_v = 128;   // 1 to 256

  std::int64_t seqlen_q = 1;   // dense queries: every sequence's length. Ignored when cu_seqlens_q is given
  std::int64_t seqlen_kv = 0;  // dense keys: every sequence's length; with seqlens_kv: the capacity of a padded cache

  std::vector<std::int32_t> cu_seqlens_q;   // [batch + 1], or empty: ragged queries, sequence b is rows [c[b], c[b+1])
  std::vector<std::int32_t> cu_seqlens_kv;  // [batch + 1], or empty: ragged keys (contiguous layout only)
  std::vector<std::int32_t> seqlens_kv;     // [batch], or empty: key length of each sequence; required when paged ...
                                            // ... unless all have seqlen_kv

  KvLayout kv_layout = KvLayout::contiguous;
  std::int64_t page_size = 0;  // tokens a page; paged layouts only, any size from 1

  bool causal = false;
  Alignment alignment = Alignment::bottom_right;
  std::int64_t window_left = -1;   // -1: unbounded
  std::int64_t window_right = -1;  // -1: unbounded

  std::optional<double> softmax_scale;  // default 1 / sqrt(head_dim_qk); in [-1e30, 1e30]
  double softcap = 0;                   // 0: none; else in [1e-30, 1e30]

  bool has_alibi = false;  // the run is given alibi_slopes [num_q_heads]
  bool has_sink = false;   // the run is given sink [num_q_heads]
  bool has_bias = false;   // the run is given an additive bias, broadcast to [batch, num_q_heads, seqlen_q, seqlen_kv]
  bool has_mask = false;   // the run is given a boolean mask, broadcast likewise

  std::int64_t kv_chunk = 0;  // keys a chunk of split-KV; 0: the planner's constant

  // How a problem string drew its lengths; kept so that the string prints back the same.
  std::int64_t ragged_min = 0;
  std::int64_t ragged_max = 0;
  std::optional<std::uint64_t> seed;

  /// Parses "bf16 b4 hq32 hkv8 d128 sq1 skv4096 causal page128". Tokens in any order; an unknown or repeated token is
  /// an `invalid` status that names it. Draws seqlens_kv where `ragged` asks for it.
  static Result<Problem> parse(std::string_view text);

  /// The canonical problem string; parse(to_string()) gives this problem again (arbitrary lengths print as ragged).
  std::string to_string() const;

  /// Checks every field alone and against the others. `plan` calls it.
  Status validate() const;

  /// Query and key length of sequence b.
  std::int64_t query_length(std::int64_t b) const noexcept {
    return cu_seqlens_q.empty() ? seqlen_q : cu_seqlens_q[b + 1] - cu_seqlens_q[b];
  }
  std::int64_t key_length(std::int64_t b) const noexcept {
    if (!seqlens_kv.empty()) return seqlens_kv[b];
    return cu_seqlens_kv.empty() ? seqlen_kv : cu_seqlens_kv[b + 1] - cu_seqlens_kv[b];
  }
  /// Rows of Q and O over the whole batch.
  std::int64_t total_queries() const noexcept { return cu_seqlens_q.empty() ? batch * seqlen_q : cu_seqlens_q.back(); }
  bool paged() const noexcept { return kv_layout != KvLayout::contiguous; }
  double scale() const noexcept;  // softmax_scale, or its default

  /// Useful work of the problem: 2 * (dqk + dv) for each (query head, query, visible key); mask tensors count as all true.
  double flops() const noexcept;
  /// Q, O and each visible K and V row, once.
  double bytes() const noexcept;
};

}  // namespace tessera
