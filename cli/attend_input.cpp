// SPDX-License-Identifier: Apache-2.0
#include "cli/attend_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "cli/attend_tensors.hpp"
#include "cli/failure.hpp"

namespace tessera::cli {
namespace {

constexpr std::string_view kNames[] = {"q",         "k",    "v",    "cu_seqlens_q", "cu_seqlens_k", "block_table",
                                       "seqlens_k", "bias", "mask", "alibi_slopes", "sink"};

std::int32_t narrow(const TensorReader& reader, const TensorInfo& tensor, std::int64_t value) {
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max())
    reader.refuse(tensor, fmt::format("it holds {}", value));
  return static_cast<std::int32_t>(value);
}

// [batch + 1], from 0, never falling, up to the rows of the packed tensor.
std::vector<std::int32_t> load_cu_seqlens(const TensorReader& reader, const char* name, std::int64_t total, const char* of) {
  const auto& tensor = reader.required(name);
  const auto values = reader.indices(tensor, 1);
  if (values.size() < 2) reader.refuse(tensor, "it must hold batch + 1 offsets, so at least 2");
  if (values[0] != 0) reader.refuse(tensor, fmt::format("the first offset must be 0, it is {}", values[0]));
  std::vector<std::int32_t> offsets;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && values[i] < values[i - 1]) {
      reader.refuse(tensor, fmt::format("offset {} falls from {} to {}", i, values[i - 1], values[i]));
    }
    offsets.push_back(narrow(reader, tensor, values[i]));
  }
  if (offsets.back() != total) {
    reader.refuse(tensor, fmt::format("the last offset is {}, \"{}\" has {} rows", offsets.back(), of, total));
  }
  return offsets;
}

void load_queries(const TensorReader& reader, AttendInput& in) {
  const auto& q = reader.required("q");
  auto& p = in.problem;
  const bool ragged = reader.has("cu_seqlens_q");
  p.dtype = reader.float_dtype(q);
  reader.expect_rank(q, ragged ? 3 : 4, ragged ? "[total, hq, dqk] (cu_seqlens_q is there)" : "[b, sq, hq, dqk]");
  p.num_q_heads = q.shape[q.shape.size() - 2];
  p.head_dim_qk = q.shape.back();
  if (ragged) {
    p.cu_seqlens_q = load_cu_seqlens(reader, "cu_seqlens_q", q.shape[0], "q");
    p.batch = static_cast<std::int64_t>(p.cu_seqlens_q.size()) - 1;
  } else {
    p.batch = q.shape[0];
    p.seqlen_q = q.shape[1];
  }
  in.q_shape = q.shape;
  in.q = reader.load(q);
}

void check_keys(const TensorReader& reader, const AttendInput& in, const TensorInfo& k, const TensorInfo& v) {
  const auto& p = in.problem;
  if (reader.float_dtype(k) != p.dtype)
    reader.refuse(k, fmt::format("its dtype must be that of \"q\", {}", name_of(p.dtype)));
  if (reader.float_dtype(v) != p.dtype)
    reader.refuse(v, fmt::format("its dtype must be that of \"q\", {}", name_of(p.dtype)));
  const std::size_t rank = reader.has("cu_seqlens_k") ? 3 : 4;
  const auto* axes = reader.has("block_table")
                         ? "a paged cache: [pages, page_size, hkv, dim], or head-major with --kv-layout"
                     : reader.has("cu_seqlens_k") ? "[total, hkv, dim] (cu_seqlens_k is there)"
                                                  : "[b, sk, hkv, dim]";
  reader.expect_rank(k, rank, axes);
  reader.expect_rank(v, rank, axes);
  reader.expect_axis(k, rank - 1, p.head_dim_qk, "the head dim of \"q\"");
  for (std::size_t axis = 0; axis + 1 < rank; ++axis) reader.expect_axis(v, axis, k.shape[axis], "as in \"k\"");
}

void load_lengths(const TensorReader& reader, AttendInput& in, std::int64_t capacity, const char* of_what) {
  auto& p = in.problem;
  const auto& tensor = reader.required("seqlens_k");
  const auto lengths = reader.indices(tensor, 1);
  reader.expect_axis(tensor, 0, p.batch, "the batch of \"q\"");
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] < 0 || lengths[b] > capacity) {
      reader.refuse(tensor, fmt::format("length {} is {}; {} {}", b, lengths[b], of_what, capacity));
    }
    p.seqlens_kv.push_back(narrow(reader, tensor, lengths[b]));
  }
}

void load_pages(const TensorReader& reader, AttendInput& in, const TensorInfo& k, bool head_major) {
  auto& p = in.problem;
  if (reader.has("cu_seqlens_k"))
    reader.refuse("\"block_table\" and \"cu_seqlens_k\" exclude one another: keys are paged or ragged");
  const auto& table = reader.required("block_table");
  const auto entries = reader.indices(table, 2);
  reader.expect_axis(table, 0, p.batch, "the batch of \"q\"");
  p.kv_layout = head_major ? KvLayout::paged_head_major : KvLayout::paged_token_major;
  p.page_size = k.shape[head_major ? 2 : 1];
  p.num_kv_heads = k.shape[head_major ? 1 : 2];
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();  // of a length
  if (p.page_size < 1 || p.page_size > kMost) reader.refuse(k, fmt::format("a page must hold 1 to {} tokens", kMost));
  in.num_pages = k.shape[0];
  in.block_table_stride = table.shape[1];
  load_lengths(reader, in, std::min(in.block_table_stride, kMost / p.page_size + 1) * p.page_size,
               "the block table has room for");
  p.seqlen_kv = p.seqlens_kv.empty() ? 0 : *std::max_element(p.seqlens_kv.begin(), p.seqlens_kv.end());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto b = static_cast<std::int64_t>(i) / in.block_table_stride,
               column = static_cast<std::int64_t>(i) % in.block_table_stride;
    const bool live = column * p.page_size < p.seqlens_kv[static_cast<std::size_t>(b)];
    const bool inside = entries[i] >= 0 && entries[i] < in.num_pages;
    if (live && !inside) {
      reader.refuse(table, fmt::format("entry [{}, {}] is {}; entries inside a length must be in [0, {})", b, column,
                                       entries[i], in.num_pages));
    }
    in.block_table.push_back(inside ? static_cast<std::int32_t>(entries[i]) : -1);
  }
}

void load_keys(const TensorReader& reader, AttendInput& in, const std::string& kv_layout) {
  auto& p = in.problem;
  const auto &k = reader.required("k"), &v = reader.required("v");
  check_keys(reader, in, k, v);
  p.head_dim_v = v.shape.back();
  if (!kv_layout.empty() && !reader.has("block_table")) {
    throw Failure(kBadInput, "--kv-layout: only paged keys have a layout, and there is no tensor \"block_table\"");
  }
  if (reader.has("block_table")) {
    load_pages(reader, in, k, kv_layout == "head-major");
  } else if (reader.has("cu_seqlens_k")) {
    if (reader.has("seqlens_k"))
      reader.refuse("\"cu_seqlens_k\" and \"seqlens_k\" exclude one another: both give the lengths");
    p.num_kv_heads = k.shape[1];
    p.cu_seqlens_kv = load_cu_seqlens(reader, "cu_seqlens_k", k.shape[0], "k");
    if (static_cast<std::int64_t>(p.cu_seqlens_kv.size()) - 1 != p.batch) {
      reader.refuse(reader.required("cu_seqlens_k"),
                    fmt::format("it has {} sequences, the queries have {}", p.cu_seqlens_kv.size() - 1, p.batch));
    }
  } else {
    reader.expect_axis(k, 0, p.batch, "the batch of \"q\"");
    p.seqlen_kv = k.shape[1];
    p.num_kv_heads = k.shape[2];
    if (reader.has("seqlens_k")) load_lengths(reader, in, p.seqlen_kv, "\"k\" has room for");
  }
  in.k_shape = k.shape;
  in.v_shape = v.shape;
  in.k = reader.load(k);
  in.v = reader.load(v);
}

void load_score_tensors(const TensorReader& reader, AttendInput& in) {
  auto& p = in.problem;
  const std::int64_t full[4] = {p.batch, p.num_q_heads, p.seqlen_q, p.seqlen_kv};
  for (const char* name : {"bias", "mask"}) {
    if (!reader.has(name)) continue;
    const auto& tensor = reader.required(name);
    if (!p.cu_seqlens_q.empty() || !p.cu_seqlens_kv.empty() || p.paged()) {
      reader.refuse(tensor, "it goes with dense queries and keys only, not with cu_seqlens or pages");
    }
  }
  if (reader.has("bias")) {
    const auto& tensor = reader.required("bias");
    in.bias_view.dtype = reader.float_dtype(tensor);
    reader.broadcast(tensor, full, in.bias_view.strides);
    in.bias = reader.load(tensor);
    in.bias_view.data = in.bias.data();
    p.has_bias = true;
  }
  if (reader.has("mask")) {
    const auto& tensor = reader.required("mask");
    if (tensor.dtype != "BOOL" && tensor.dtype != "U8")
      reader.refuse(tensor, "the dtype must be BOOL or U8 (non-zero: attend)");
    reader.broadcast(tensor, full, in.mask_view.strides);
    in.mask = reader.load(tensor);
    in.mask_view.data = in.mask.as<std::uint8_t>();
    p.has_mask = true;
  }
  if (reader.has("alibi_slopes")) {
    in.alibi_slopes = reader.floats(reader.required("alibi_slopes"), p.num_q_heads, "the query heads of \"q\"");
    p.has_alibi = true;
  }
  if (reader.has("sink")) {
    in.sink = reader.floats(reader.required("sink"), p.num_q_heads, "the query heads of \"q\"");
    p.has_sink = true;
  }
}

Alignment alignment_named(const std::string& name) {
  return name == "top-left" ? Alignment::top_left : Alignment::bottom_right;
}

void apply_flags(const AttendFlags& flags, Problem& p) {
  if (!flags.causal.empty()) {
    p.causal = true;
    p.alignment = alignment_named(flags.causal);
  }
  if (!flags.window.empty()) {
    p.window_left = flags.window[0];
    p.window_right = flags.window[1];
  }
  if (!flags.align.empty()) {
    if (!flags.causal.empty() && flags.align != flags.causal) {
      throw Failure(kBadInput, fmt::format("--align {}: --causal {} says otherwise", flags.align, flags.causal));
    }
    if (flags.causal.empty() && flags.window.empty() && !p.has_alibi) {
      throw Failure(kBadInput, "--align: without --window, --causal or alibi_slopes it would have no effect");
    }
    p.alignment = alignment_named(flags.align);
  }
  if (flags.softcap) p.softcap = *flags.softcap;
  if (flags.scale) p.softmax_scale = *flags.scale;
  if (flags.kv_chunk) p.kv_chunk = *flags.kv_chunk;
}

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

std::vector<std::int64_t> AttendInput::o_shape() const {
  auto shape = q_shape;
  shape.back() = problem.head_dim_v;
  return shape;
}

std::vector<std::int64_t> AttendInput::lse_shape() const {
  if (!problem.cu_seqlens_q.empty()) return {problem.num_q_heads, problem.total_queries()};
  return {problem.batch, problem.num_q_heads, problem.seqlen_q};
}

std::int64_t AttendInput::o_elements() const { return product(o_shape()); }
std::int64_t AttendInput::lse_elements() const { return product(lse_shape()); }

AttentionTensors AttendInput::tensors(void* o, float* lse) const {
  auto t = packed_tensors(problem, q.data(), k.data(), v.data(), o, lse);
  if (problem.paged()) {
    t.block_table = block_table.data();
    t.block_table_stride = block_table_stride;
    t.num_pages = num_pages;
  }
  if (problem.has_alibi) t.alibi_slopes = alibi_slopes.data();
  if (problem.has_sink) t.sink = sink.data();
  t.bias = bias_view;
  t.mask = mask_view;
  return t;
}

AttendInput load_attend_input(const SafetensorsFile& file, const AttendFlags& flags) {
  const TensorReader reader(file);
  AttendInput in;
  load_queries(reader, in);
  load_keys(reader, in, flags.kv_layout);
  load_score_tensors(reader, in);
  apply_flags(flags, in.problem);
  for (const auto& tensor : file.header().tensors) {
    if (std::find(std::begin(kNames), std::end(kNames), tensor.name) == std::end(kNames)) in.unused.push_back(tensor.name);
  }
  check(in.problem.validate(), file.path().string());
  return in;
}

}  // namespace tessera::cli
