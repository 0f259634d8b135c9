// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "capi/capi.hpp"

namespace tessera::capi {
namespace {

Status unknown_value(std::string_view name, std::int64_t value) {
  return Status::invalid(std::string(name) + " is " + std::to_string(value) + ", which is none of its values");
}

Result<bool> to_bool(std::int32_t value, std::string_view name) {
  if (value != 0 && value != 1) return unknown_value(name, value);
  return value == 1;
}

std::vector<std::int32_t> copy(const std::int32_t* values, std::int64_t count) {
  return values == nullptr ? std::vector<std::int32_t>{} : std::vector<std::int32_t>(values, values + count);
}

Status to_flags(const tessera_problem_desc& d, Problem& p) {
  const struct {
    std::int32_t value;
    std::string_view name;
    bool& to;
  } flags[] = {{d.causal, "desc.causal", p.causal},
               {d.has_alibi, "desc.has_alibi", p.has_alibi},
               {d.has_sink, "desc.has_sink", p.has_sink},
               {d.has_bias, "desc.has_bias", p.has_bias},
               {d.has_mask, "desc.has_mask", p.has_mask}};
  for (const auto& flag : flags) {
    const Result<bool> value = to_bool(flag.value, flag.name);
    if (!value) return value.status();
    flag.to = *value;
  }
  return {};
}

Result<Problem> to_problem(const tessera_problem_desc& d) {
  Problem p;
  const Result<DType> dtype = to_dtype(d.dtype, "desc.dtype");
  if (!dtype) return dtype.status();
  p.dtype = *dtype;
  if (d.kv_layout < TESSERA_KV_CONTIGUOUS || d.kv_layout > TESSERA_KV_PAGED_HEAD_MAJOR) {
    return unknown_value("desc.kv_layout", d.kv_layout);
  }
  p.kv_layout = static_cast<KvLayout>(d.kv_layout);
  if (d.alignment != TESSERA_BOTTOM_RIGHT && d.alignment != TESSERA_TOP_LEFT) {
    return unknown_value("desc.alignment", d.alignment);
  }
  p.alignment = static_cast<Alignment>(d.alignment);
  if (Status status = to_flags(d, p); !status) return status;
  // The arrays are read below, so their length is checked first.
  if (d.batch < 1 || d.batch >= std::numeric_limits<std::int32_t>::max()) {
    return Status::invalid("desc.batch is " + std::to_string(d.batch) + ", which is not in [1, 2147483646]");
  }
  p.batch = d.batch;
  p.num_q_heads = d.num_q_heads;
  p.num_kv_heads = d.num_kv_heads;
  p.head_dim_qk = d.head_dim_qk;
  p.head_dim_v = d.head_dim_v;
  p.seqlen_q = d.seqlen_q;
  p.seqlen_kv = d.seqlen_kv;
  p.page_size = d.page_size;
  p.cu_seqlens_q = copy(d.cu_seqlens_q, d.batch + 1);
  p.cu_seqlens_kv = copy(d.cu_seqlens_kv, d.batch + 1);
  p.seqlens_kv = copy(d.seqlens_kv, d.batch);
  p.window_left = d.window_left;
  p.window_right = d.window_right;
  if (!std::isnan(d.softmax_scale)) p.softmax_scale = d.softmax_scale;
  p.softcap = d.softcap;
  p.kv_chunk = d.kv_chunk;
  return p;
}

const std::int32_t* pointer(const std::vector<std::int32_t>& values) { return values.empty() ? nullptr : values.data(); }

tessera_problem_desc to_desc(const Problem& p) {
  tessera_problem_desc d = {};
  d.dtype = static_cast<std::int32_t>(p.dtype);
  d.kv_layout = static_cast<std::int32_t>(p.kv_layout);
  d.batch = p.batch;
  d.num_q_heads = p.num_q_heads;
  d.num_kv_heads = p.num_kv_heads;
  d.head_dim_qk = p.head_dim_qk;
  d.head_dim_v = p.head_dim_v;
  d.seqlen_q = p.seqlen_q;
  d.seqlen_kv = p.seqlen_kv;
  d.page_size = p.page_size;
  d.cu_seqlens_q = pointer(p.cu_seqlens_q);
  d.cu_seqlens_kv = pointer(p.cu_seqlens_kv);
  d.seqlens_kv = pointer(p.seqlens_kv);
  d.causal = p.causal ? 1 : 0;
  d.alignment = static_cast<std::int32_t>(p.alignment);
  d.window_left = p.window_left;
  d.window_right = p.window_right;
  d.softmax_scale = p.softmax_scale.value_or(std::numeric_limits<double>::quiet_NaN());
  d.softcap = p.softcap;
  d.has_alibi = p.has_alibi ? 1 : 0;
  d.has_sink = p.has_sink ? 1 : 0;
  d.has_bias = p.has_bias ? 1 : 0;
  d.has_mask = p.has_mask ? 1 : 0;
  d.kv_chunk = p.kv_chunk;
  return d;
}

static_assert(static_cast<int>(DType::f32) == TESSERA_F32 && static_cast<int>(DType::bf16) == TESSERA_BF16);
static_assert(static_cast<int>(KvLayout::contiguous) == TESSERA_KV_CONTIGUOUS);
static_assert(static_cast<int>(KvLayout::paged_token_major) == TESSERA_KV_PAGED_TOKEN_MAJOR);
static_assert(static_cast<int>(KvLayout::paged_head_major) == TESSERA_KV_PAGED_HEAD_MAJOR);
static_assert(static_cast<int>(Alignment::bottom_right) == TESSERA_BOTTOM_RIGHT);
static_assert(static_cast<int>(Alignment::top_left) == TESSERA_TOP_LEFT);

/// The common end of create and parse: a valid problem becomes a handle.
Status make_handle(Result<Problem> made, tessera_problem** problem) {
  if (!made) return made.status();
  if (Status status = made->validate(); !status) return status;
  *problem = new tessera_problem{std::move(made).value()};
  return {};
}

}  // namespace

Result<DType> to_dtype(std::int32_t dtype, std::string_view name) {
  if (dtype < TESSERA_F32 || dtype > TESSERA_BF16) return unknown_value(name, dtype);
  return static_cast<DType>(dtype);
}

Status write_text(std::string_view text, char* buffer, std::size_t buffer_bytes, std::size_t* needed_bytes) {
  if (buffer == nullptr && buffer_bytes != 0) return null_argument("buffer");
  if (needed_bytes != nullptr) *needed_bytes = text.size() + 1;
  if (buffer_bytes != 0) {
    const std::size_t length = std::min(text.size(), buffer_bytes - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
  }
  return {};
}

}  // namespace tessera::capi

namespace capi = tessera::capi;
using tessera::Status;

extern "C" {

const char* tessera_version(void) { return TESSERA_VERSION_TEXT; }

void tessera_problem_desc_init(tessera_problem_desc* desc, size_t struct_size) {
  capi::init_struct(capi::to_desc(tessera::Problem{}), desc, struct_size);
}

tessera_code tessera_problem_create(const tessera_problem_desc* desc, tessera_problem** problem, tessera_error* error) {
  return capi::fenced(error, [&]() -> Status {
    if (problem == nullptr) return capi::null_argument("problem");
    *problem = nullptr;
    const tessera::Result<tessera_problem_desc> known = capi::read_struct(desc, "desc");
    if (!known) return known.status();
    return capi::make_handle(capi::to_problem(*known), problem);
  });
}

tessera_code tessera_problem_parse(const char* text, tessera_problem** problem, tessera_error* error) {
  return capi::fenced(error, [&]() -> Status {
    if (problem == nullptr) return capi::null_argument("problem");
    *problem = nullptr;
    if (text == nullptr) return capi::null_argument("text");
    return capi::make_handle(tessera::Problem::parse(text), problem);
  });
}

void tessera_problem_destroy(tessera_problem* problem) { delete problem; }

tessera_code tessera_problem_describe(const tessera_problem* problem, tessera_problem_desc* desc, tessera_error* error) {
  return capi::fenced(error, [&]() -> Status {
    if (problem == nullptr) return capi::null_argument("problem");
    if (Status status = capi::check_struct_size(desc, "desc"); !status) return status;
    capi::write_struct(capi::to_desc(problem->value), desc, desc->struct_size);
    return {};
  });
}

tessera_code tessera_problem_string(const tessera_problem* problem, char* buffer, size_t buffer_bytes, size_t* needed_bytes,
                                    tessera_error* error) {
  return capi::fenced(error, [&]() -> Status {
    if (problem == nullptr) return capi::null_argument("problem");
    return capi::write_text(problem->value.to_string(), buffer, buffer_bytes, needed_bytes);
  });
}

}  // extern "C"
