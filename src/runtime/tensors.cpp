// SPDX-License-Identifier: Apache-2.0
// Packed strides, and the checks that a run makes before it reads or writes anything.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "base/text.hpp"
#include "planner/checked.hpp"
#include "runtime/footprint.hpp"
#include "runtime/plan_impl.hpp"
#include "runtime/tensor_checks.hpp"

namespace tessera {

Strides packed_query_strides(const Problem& p, std::int64_t head_dim) noexcept {
  Strides s;
  s.head = head_dim;
  s.seq = p.num_q_heads * head_dim;
  s.outer = p.cu_seqlens_q.empty() ? p.seqlen_q * s.seq : 0;
  return s;
}

Strides packed_kv_strides(const Problem& p, std::int64_t head_dim) noexcept {
  if (p.kv_layout == KvLayout::paged_head_major) {
    return {p.num_kv_heads * p.page_size * head_dim, head_dim, p.page_size * head_dim};
  }
  const std::int64_t seq = p.num_kv_heads * head_dim;
  if (p.kv_layout == KvLayout::paged_token_major) return {p.page_size * seq, seq, head_dim};
  return {p.cu_seqlens_kv.empty() ? p.seqlen_kv * seq : 0, seq, head_dim};
}

AttentionTensors packed_tensors(const Problem& p, const void* q, const void* k, const void* v, void* o,
                                float* lse) noexcept {
  AttentionTensors t;
  t.q = {q, packed_query_strides(p, p.head_dim_qk)};
  t.k = {k, packed_kv_strides(p, p.head_dim_qk)};
  t.v = {v, packed_kv_strides(p, p.head_dim_v)};
  t.o = {o, packed_query_strides(p, p.head_dim_v)};
  t.lse = lse;
  return t;
}

namespace runtime {
namespace {

using base::number;

std::array<Axis, 3> query_axes(const Problem& p, const Strides& strides) {
  const bool ragged = !p.cu_seqlens_q.empty();
  return {Axis{"outer", ragged ? 1 : p.batch, ragged ? 0 : strides.outer},
          Axis{"seq", ragged ? p.total_queries() : p.seqlen_q, strides.seq}, Axis{"head", p.num_q_heads, strides.head}};
}

std::array<Axis, 3> kv_axes(const Problem& p, std::int64_t num_pages, const Strides& strides) {
  const bool ragged = !p.cu_seqlens_kv.empty();
  return {Axis{"outer",
               p.paged() ? num_pages
               : ragged  ? 1
                         : p.batch,
               strides.outer},
          Axis{"seq",
               p.paged() ? p.page_size
               : ragged  ? p.cu_seqlens_kv.back()
                         : p.seqlen_kv,
               strides.seq},
          Axis{"head", p.num_kv_heads, strides.head}};
}

Status check_query_tensor(const Problem& p, const std::string& name, const void* data, const Strides& strides,
                          std::int64_t head_dim, bool written) {
  const std::array<Axis, 3> axes = query_axes(p, strides);
  if (strides.outer < 0) return Status::invalid(name + ".strides.outer: " + number(strides.outer) + " is negative");
  if (Status s = check_strides(name, axes, head_dim, size_of(p.dtype)); !s) return s;
  if (p.total_queries() == 0) return {};
  if (Status s = check_pointer(name, data, size_of(p.dtype)); !s) return s;
  return written ? check_disjoint(name, data, axes, head_dim) : Status{};
}

std::int64_t total_keys(const Problem& p) {
  std::int64_t total = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) total += p.key_length(b);
  return total;
}

Status check_kv_tensor(const Problem& p, const AttentionTensors& t, const std::string& name, const ConstTensor& tensor,
                       std::int64_t head_dim, bool any_keys) {
  const std::array<Axis, 3> axes = kv_axes(p, t.num_pages, tensor.strides);
  if (Status s = check_strides(name, axes, head_dim, size_of(p.dtype)); !s) return s;
  return any_keys ? check_pointer(name, tensor.data, size_of(p.dtype)) : Status{};
}

/// Entries inside live lengths; those beyond are never read.
Status check_block_table(const Problem& p, const AttentionTensors& t, bool any_keys) {
  if (!p.paged()) {
    if (t.block_table) return Status::invalid("block_table: given, but the problem's kv_layout is contiguous");
    return {};
  }
  if (t.num_pages < 0) return Status::invalid("num_pages: " + number(t.num_pages) + " is negative");
  if (t.block_table_stride < 0)
    return Status::invalid("block_table_stride: " + number(t.block_table_stride) + " is negative");
  if (t.block_table_stride > (std::int64_t{1} << 60) / p.batch) {
    return Status::invalid("block_table_stride: " + number(t.block_table_stride) + " entries for batch " + number(p.batch) +
                           " span more than 2^62 bytes");
  }
  if (!any_keys) return {};
  if (Status s = check_pointer("block_table", t.block_table, sizeof(std::int32_t)); !s) return s;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const std::int64_t pages = (p.key_length(b) + p.page_size - 1) / p.page_size;
    if (pages > t.block_table_stride) {
      return Status::invalid("block_table_stride: " + number(t.block_table_stride) + " entries, but sequence " + number(b) +
                             " has " + number(pages) + " pages");
    }
    const std::int32_t* entries = t.block_table + b * t.block_table_stride;
    const auto limit = static_cast<std::uint32_t>(std::min<std::int64_t>(t.num_pages, std::int64_t{1} << 31));
    bool bad = false;  // one pass without branches: a vector operation for each few entries
    for (std::int64_t i = 0; i < pages; ++i) bad |= static_cast<std::uint32_t>(entries[i]) >= limit;
    if (!bad) continue;
    std::int64_t i = 0;
    while (static_cast<std::uint32_t>(entries[i]) < limit) ++i;
    return Status::invalid("block_table[" + number(b) + "][" + number(i) + "]: page " + number(entries[i]) +
                           " is not in [0, " + number(t.num_pages) + ")");
  }
  return {};
}

Status check_option(const char* name, bool declared, const void* data, std::size_t alignment) {
  if (declared) return check_pointer(name, data, alignment);
  if (data == nullptr) return {};
  return Status::invalid(std::string(name) + ": given, but the problem's has_" +
                         (std::string_view(name) == "alibi_slopes" ? "alibi" : name) + " is false");
}

std::array<Axis, 4> score_axes(const Problem& p, const std::int64_t (&strides)[4]) {
  std::int64_t max_q = 0, max_kv = 0;  // p.seqlen_q says nothing of ragged queries
  for (std::int64_t b = 0; b < p.batch; ++b) {
    max_q = std::max(max_q, p.query_length(b));
    max_kv = std::max(max_kv, p.key_length(b));
  }
  return {Axis{"[0]", p.batch, strides[0]}, Axis{"[1]", p.num_q_heads, strides[1]}, Axis{"[2]", max_q, strides[2]},
          Axis{"[3]", max_kv, strides[3]}};
}

Status check_options(const Problem& p, const AttentionTensors& t) {
  // A bias or mask without elements may be null, like any other tensor without elements.
  const bool any_scores = p.total_queries() > 0 && total_keys(p) > 0;
  if (Status s = check_option("alibi_slopes", p.has_alibi, t.alibi_slopes, sizeof(float)); !s) return s;
  if (Status s = check_option("sink", p.has_sink, t.sink, sizeof(float)); !s) return s;
  if (t.bias.dtype > DType::bf16)
    return Status::invalid("bias.dtype: " + number(static_cast<int>(t.bias.dtype)) + " is no data type");
  if (any_scores || t.bias.data) {
    if (Status s = check_option("bias", p.has_bias, t.bias.data, size_of(t.bias.dtype)); !s) return s;
  }
  if (any_scores || t.mask.data) {
    if (Status s = check_option("mask", p.has_mask, t.mask.data, 1); !s) return s;
  }
  if (p.has_bias) {
    if (Status s = check_strides("bias", score_axes(p, t.bias.strides), 1, size_of(t.bias.dtype)); !s) return s;
  }
  if (p.has_mask) {
    if (Status s = check_strides("mask", score_axes(p, t.mask.strides), 1, 1); !s) return s;
  }
  for (std::int64_t h = 0; p.has_alibi && h < p.num_q_heads; ++h) {
    if (!(t.alibi_slopes[h] > 0 && t.alibi_slopes[h] <= std::numeric_limits<float>::max())) {
      return Status::invalid("alibi_slopes[" + number(h) + "]: " + base::shortest(t.alibi_slopes[h]) +
                             " is not a positive number");
    }
  }
  return {};
}

/// Nothing that is written is anything else, too.
Status check_aliasing(const Problem& p, const AttentionTensors& t, const Footprint& workspace, bool any_keys) {
  const auto element = static_cast<std::int64_t>(size_of(p.dtype));
  const std::int64_t queries = p.total_queries(), heads = p.num_q_heads;
  if (queries == 0) return {};
  const Footprint o(t.o.data, query_axes(p, t.o.strides), p.head_dim_v, element);
  std::int64_t lse_bytes = 0;
  if (!planner::multiply({heads, queries, 4}, lse_bytes)) return Status::invalid("lse: spans more than 2^63 bytes");
  const Footprint lse(t.lse, lse_bytes);
  const std::array<NamedFootprint, 3> written = {{{"o", o}, {"lse", lse}, {"workspace", workspace}}};
  std::array<NamedFootprint, 8> read;
  std::size_t n = 0;
  read[n++] = {"q", Footprint(t.q.data, query_axes(p, t.q.strides), p.head_dim_qk, element)};
  if (any_keys) {
    read[n++] = {"k", Footprint(t.k.data, kv_axes(p, t.num_pages, t.k.strides), p.head_dim_qk, element)};
    read[n++] = {"v", Footprint(t.v.data, kv_axes(p, t.num_pages, t.v.strides), p.head_dim_v, element)};
  }
  if (p.has_alibi) read[n++] = {"alibi_slopes", Footprint(t.alibi_slopes, heads * 4)};
  if (p.has_sink) read[n++] = {"sink", Footprint(t.sink, heads * 4)};
  if (p.has_bias && any_keys) {
    const auto bytes = static_cast<std::int64_t>(size_of(t.bias.dtype));
    read[n++] = {"bias", Footprint(t.bias.data, score_axes(p, t.bias.strides), 1, bytes)};
  }
  if (p.has_mask && any_keys) read[n++] = {"mask", Footprint(t.mask.data, score_axes(p, t.mask.strides), 1, 1)};
  if (p.paged() && any_keys) {
    std::int64_t most = 0;  // entries that are read
    for (std::int64_t b = 0; b < p.batch; ++b) most = std::max(most, (p.key_length(b) + p.page_size - 1) / p.page_size);
    const Axis axes[] = {{"", p.batch, t.block_table_stride}};
    read[n++] = {"block_table", Footprint(t.block_table, axes, most, 4)};
  }
  return check_apart(written, {read.data(), n});
}

}  // namespace

Status check_tensors(const Problem& p, const AttentionTensors& t, const void* workspace, std::size_t workspace_bytes) {
  const bool any_keys = total_keys(p) > 0;
  if (Status s = check_query_tensor(p, "q", t.q.data, t.q.strides, p.head_dim_qk, false); !s) return s;
  if (Status s = check_kv_tensor(p, t, "k", t.k, p.head_dim_qk, any_keys); !s) return s;
  if (Status s = check_kv_tensor(p, t, "v", t.v, p.head_dim_v, any_keys); !s) return s;
  if (Status s = check_query_tensor(p, "o", t.o.data, t.o.strides, p.head_dim_v, true); !s) return s;
  if (t.lse) {
    if (Status s = check_pointer("lse", t.lse, sizeof(float)); !s) return s;
  }
  if (Status s = check_options(p, t); !s) return s;
  if (Status s = check_block_table(p, t, any_keys); !s) return s;
  return check_aliasing(p, t, Footprint(workspace, static_cast<std::int64_t>(workspace_bytes)), any_keys);
}

}  // namespace runtime
}  // namespace tessera
