// SPDX-License-Identifier: Apache-2.0
#include "support/instance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "base/convert.hpp"

namespace tessera::test {
namespace {

struct Extent {
  std::int64_t outer, seq, heads, dim;
};

/// Strides of a tensor of this extent, and the elements from its first to one past its last.
std::int64_t lay_out(StrideKind kind, bool head_major, const Extent& e, Strides& strides) {
  const std::int64_t gap = kind == StrideKind::padded ? 1 : 0;
  if (kind == StrideKind::heads_outermost) {
    strides = {e.seq * e.dim, e.dim, e.outer * e.seq * e.dim};
  } else if (head_major) {
    strides.seq = e.dim + 3 * gap;
    strides.head = e.seq * strides.seq + 5 * gap;
    strides.outer = e.heads * strides.head + 7 * gap;
  } else {
    strides.head = e.dim + 3 * gap;
    strides.seq = e.heads * strides.head + 5 * gap;
    strides.outer = e.seq * strides.seq + 7 * gap;
  }
  if (e.outer == 0 || e.seq == 0 || e.heads == 0) return 0;
  return (e.outer - 1) * strides.outer + (e.seq - 1) * strides.seq + (e.heads - 1) * strides.head + e.dim;
}

void put(const GuardedBuffer& buffer, DType dtype, std::int64_t index, double x) {
  if (dtype == DType::f32) {
    buffer.as<float>()[index] = static_cast<float>(x);
  } else {
    buffer.as<std::uint16_t>()[index] = static_cast<std::uint16_t>(encode(dtype, x));
  }
}

GuardedBuffer filled(std::int64_t elems, DType dtype, Poison poison) {
  const double x = poison == Poison::zero  ? 0.0
                   : poison == Poison::nan ? std::numeric_limits<double>::quiet_NaN()
                   : poison == Poison::inf ? std::numeric_limits<double>::infinity()
                                           : 1e4;
  GuardedBuffer buffer(static_cast<std::size_t>(elems) * size_of(dtype), size_of(dtype));
  const std::uint32_t bits = encode(dtype, x);
  if (dtype == DType::f32) {
    std::fill_n(buffer.as<std::uint32_t>(), elems, bits);
  } else {
    std::fill_n(buffer.as<std::uint16_t>(), elems, static_cast<std::uint16_t>(bits));
  }
  return buffer;
}

GuardedBuffer floats(const std::vector<float>& values) {
  GuardedBuffer buffer(values.size() * sizeof(float), alignof(float));
  std::copy(values.begin(), values.end(), buffer.as<float>());
  return buffer;
}

std::int64_t query_position(const Problem& p, std::int64_t b, std::int64_t i) {
  return p.alignment == Alignment::top_left ? i : i + p.key_length(b) - p.query_length(b);
}

}  // namespace

std::uint32_t encode(DType dtype, double x) {
  const auto narrow = static_cast<float>(x);
  if (dtype == DType::f32) return std::bit_cast<std::uint32_t>(narrow);
  return dtype == DType::f16 ? base::float_to_f16(narrow) : base::float_to_bf16(narrow);
}

float decode(DType dtype, std::uint32_t bits) {
  if (dtype == DType::f32) return std::bit_cast<float>(bits);
  const auto half = static_cast<std::uint16_t>(bits);
  return dtype == DType::f16 ? base::f16_to_float(half) : base::bf16_to_float(half);
}

double ulp(DType dtype, double x) {
  const int digits = dtype == DType::f32 ? 24 : dtype == DType::f16 ? 11 : 8;
  const int lowest = dtype == DType::f16 ? -14 : -126;
  const int exponent = x == 0 ? lowest : std::max(std::ilogb(x), lowest);
  return std::ldexp(1.0, exponent - digits + 1);
}

bool visible(const Problem& p, const Values& values, const Layout& layout, std::int64_t b, std::int64_t h, std::int64_t i,
             std::int64_t j) {
  const std::int64_t distance = j - query_position(p, b, i);
  if (j >= p.key_length(b) || (p.causal && distance > 0)) return false;
  if (p.window_left >= 0 && -distance > p.window_left) return false;
  if (p.window_right >= 0 && distance > p.window_right) return false;
  const auto at = [&](const std::array<bool, 4>& one) {
    return ScoreAt{one[0] ? 0 : values.id(b), one[1] ? 0 : h, one[2] ? 0 : i, one[3] ? 0 : j};
  };
  if (p.has_mask && !values.mask(at(layout.mask_broadcast))) return false;
  return !(p.has_bias && values.bias(at(layout.bias_broadcast)) == -INFINITY);
}

Instance::Instance(Problem problem, Values values, Layout layout)
    : problem_(std::move(problem)), values_(std::move(values)), layout_(layout) {
  make_queries();
  make_block_table();
  make_keys();
  make_score_tensors();
}

std::int64_t Instance::output_offset(std::int64_t b, std::int64_t i, std::int64_t h) const {
  const Strides& s = tensors_.o.strides;
  if (problem_.cu_seqlens_q.empty()) return b * s.outer + i * s.seq + h * s.head;
  return (problem_.cu_seqlens_q[b] + i) * s.seq + h * s.head;
}

std::int64_t Instance::lse_index(std::int64_t b, std::int64_t i, std::int64_t h) const {
  if (problem_.cu_seqlens_q.empty()) return (b * problem_.num_q_heads + h) * problem_.seqlen_q + i;
  return h * problem_.total_queries() + problem_.cu_seqlens_q[b] + i;
}

void Instance::make_queries() {
  const bool ragged = !problem_.cu_seqlens_q.empty();
  const std::int64_t outer = ragged ? 1 : problem_.batch, rows = ragged ? problem_.total_queries() : problem_.seqlen_q;
  const std::int64_t heads = problem_.num_q_heads;
  const std::int64_t elems = lay_out(layout_.strides, false, {outer, rows, heads, problem_.head_dim_qk}, tensors_.q.strides);
  output_elems_ = lay_out(layout_.strides, false, {outer, rows, heads, problem_.head_dim_v}, tensors_.o.strides);
  q_ = filled(elems, problem_.dtype, layout_.poison);
  const Strides& s = tensors_.q.strides;
  for (std::int64_t b = 0; b < problem_.batch; ++b) {
    const std::int64_t start = ragged ? problem_.cu_seqlens_q[b] * s.seq : b * s.outer;
    for (std::int64_t i = 0; i < problem_.query_length(b); ++i) {
      for (std::int64_t h = 0; h < heads; ++h) {
        for (std::int64_t c = 0; c < problem_.head_dim_qk; ++c) {
          put(q_, problem_.dtype, start + i * s.seq + h * s.head + c, values_.q({values_.id(b), i, h, c}));
        }
      }
    }
  }
  tensors_.q.data = q_.as();
}

void Instance::make_block_table() {
  if (!problem_.paged()) return;
  std::int64_t most = 0, total = 0;
  for (std::int64_t b = 0; b < problem_.batch; ++b) {
    const std::int64_t pages = (problem_.key_length(b) + problem_.page_size - 1) / problem_.page_size;
    most = std::max(most, pages);
    total += pages;
  }
  tensors_.num_pages = total + layout_.spare_pages;
  tensors_.block_table_stride = most + 2;
  std::vector<std::int32_t> order(static_cast<std::size_t>(tensors_.num_pages));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(layout_.seed);
  if (layout_.shuffle_pages) std::shuffle(order.begin(), order.end(), random);

  block_table_ = GuardedBuffer(static_cast<std::size_t>(problem_.batch * tensors_.block_table_stride) * 4, 4);
  std::size_t next = 0;
  for (std::int64_t b = 0; b < problem_.batch; ++b) {
    for (std::int64_t n = 0; n < tensors_.block_table_stride; ++n) {
      const bool live = n * problem_.page_size < problem_.key_length(b);
      block_table()[b * tensors_.block_table_stride + n] = live ? order[next++] : n % 2 == 0 ? -1 : 999999;
    }
  }
  tensors_.block_table = block_table();
}

bool Instance::seen_by_any(std::int64_t b, std::int64_t kv_head, std::int64_t j) const {
  const bool by_position_only = !problem_.has_mask && !problem_.has_bias;
  const std::int64_t group = problem_.num_q_heads / problem_.num_kv_heads;
  for (std::int64_t h = kv_head * group; h < (by_position_only ? kv_head * group + 1 : (kv_head + 1) * group); ++h) {
    for (std::int64_t i = problem_.query_length(b) - 1; i >= 0; --i) {
      if (visible(problem_, values_, layout_, b, h, i, j)) return true;
    }
  }
  return false;
}

GuardedBuffer Instance::kv_buffer(const Field& field, std::int64_t dim, ConstTensor& tensor) {
  const Problem& p = problem_;
  const bool ragged = !p.cu_seqlens_kv.empty();
  const std::int64_t outer = p.paged() ? tensors_.num_pages : ragged ? 1 : p.batch;
  const std::int64_t seq = p.paged() ? p.page_size : ragged ? p.cu_seqlens_kv.back() : p.seqlen_kv;
  const std::int64_t elems =
      lay_out(layout_.strides, p.kv_layout == KvLayout::paged_head_major, {outer, seq, p.num_kv_heads, dim}, tensor.strides);
  GuardedBuffer buffer = filled(elems, p.dtype, layout_.poison);
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t j = 0; j < p.key_length(b); ++j) {
      const std::int64_t place =
          p.paged()
              ? block_table_.as<std::int32_t>()[b * tensors_.block_table_stride + j / p.page_size] * tensor.strides.outer +
                    j % p.page_size * tensor.strides.seq
          : ragged ? (p.cu_seqlens_kv[b] + j) * tensor.strides.seq
                   : b * tensor.strides.outer + j * tensor.strides.seq;
      for (std::int64_t h = 0; h < p.num_kv_heads; ++h) {
        if (layout_.poison_masked_keys && !seen_by_any(b, h, j)) continue;
        for (std::int64_t c = 0; c < dim; ++c) {
          put(buffer, p.dtype, place + h * tensor.strides.head + c, field({values_.id(b), j, h, c}));
        }
      }
    }
  }
  tensor.data = buffer.as();
  return buffer;
}

void Instance::make_keys() {
  k_ = kv_buffer(values_.k, problem_.head_dim_qk, tensors_.k);
  v_ = kv_buffer(values_.v, problem_.head_dim_v, tensors_.v);
}

void Instance::make_score_tensors() {
  const Problem& p = problem_;
  std::int64_t rows = 0, keys = p.cu_seqlens_kv.empty() && !p.paged() ? p.seqlen_kv : 0;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    rows = std::max(rows, p.query_length(b));
    keys = std::max(keys, p.key_length(b));
  }
  const std::int64_t extent[4] = {p.batch, p.num_q_heads, rows, keys};
  const std::int64_t padded = layout_.strides == StrideKind::padded ? 1 : 0;

  // Sets strides and returns the number of elements; then every element is set through `store(index, ScoreAt)`.
  const auto fill = [&](const std::array<bool, 4>& broadcast, std::int64_t(&strides)[4], auto make, auto store) {
    std::int64_t size[4], next = 1 + padded, elems = 1;
    for (int axis = 3; axis >= 0; --axis) {
      size[axis] = broadcast[axis] ? std::min<std::int64_t>(extent[axis], 1) : extent[axis];
      strides[axis] = broadcast[axis] ? 0 : next;
      next = next * size[axis] + padded;
      elems += strides[axis] * std::max<std::int64_t>(size[axis] - 1, 0);
    }
    make(elems);
    for (std::int64_t b = 0; b < size[0]; ++b) {
      for (std::int64_t h = 0; h < size[1]; ++h) {
        for (std::int64_t i = 0; i < size[2]; ++i) {
          for (std::int64_t j = 0; j < size[3]; ++j) {
            const std::int64_t sequence = broadcast[0] ? 0 : values_.id(b);
            store(b * strides[0] + h * strides[1] + i * strides[2] + j * strides[3], ScoreAt{sequence, h, i, j});
          }
        }
      }
    }
  };
  if (p.has_bias) {
    fill(
        layout_.bias_broadcast, tensors_.bias.strides,
        [&](std::int64_t elems) { bias_ = filled(elems, layout_.bias_dtype, layout_.poison); },
        [&](std::int64_t index, const ScoreAt& at) { put(bias_, layout_.bias_dtype, index, values_.bias(at)); });
    tensors_.bias.data = bias_.as();
    tensors_.bias.dtype = layout_.bias_dtype;
  }
  if (p.has_mask) {
    fill(
        layout_.mask_broadcast, tensors_.mask.strides,
        [&](std::int64_t elems) { mask_ = GuardedBuffer(static_cast<std::size_t>(elems), 1, 0xff); },
        [&](std::int64_t index, const ScoreAt& at) {
          // Any non-zero byte lets the query through.
          mask_.as<std::uint8_t>()[index] = values_.mask(at) ? static_cast<std::uint8_t>(1 + at.key % 255) : 0;
        });
    tensors_.mask.data = mask_.as<std::uint8_t>();
  }
  if (values_.alibi_slopes.empty()) {
    for (std::int64_t h = 0; h < p.num_q_heads; ++h) {
      values_.alibi_slopes.push_back(
          static_cast<float>(std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(p.num_q_heads))));
    }
  }
  if (values_.sink.empty()) {
    for (std::int64_t h = 0; h < p.num_q_heads; ++h) values_.sink.push_back(0.5f - static_cast<float>(h) / 4);
  }
  if (p.has_alibi) {
    alibi_slopes_ = floats(values_.alibi_slopes);
    tensors_.alibi_slopes = alibi_slopes_.as<float>();
  }
  if (p.has_sink) {
    sink_ = floats(values_.sink);
    tensors_.sink = sink_.as<float>();
  }
}

Problem single_sequence(const Problem& problem, std::int64_t b) {
  Problem one = problem;
  one.batch = 1;
  one.ragged_min = one.ragged_max = 0;
  one.seed.reset();
  one.seqlen_q = problem.query_length(b);
  one.seqlen_kv = problem.key_length(b);
  one.cu_seqlens_q.clear();
  one.cu_seqlens_kv.clear();
  one.seqlens_kv.clear();
  return one;
}

Values single_values(const Values& values, std::int64_t b) {
  Values one = values;
  one.sequence_ids = {values.id(b)};
  return one;
}

}  // namespace tessera::test
