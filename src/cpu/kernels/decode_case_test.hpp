// SPDX-License-Identifier: Apache-2.0
// For tests of a kernel alone: one sequence with every option, its tensors, a plain double loop over it, and a run of the
// kernel and the merge on it, cut as the test likes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/convert.hpp"
#include "cpu/kernels/kernel.hpp"
#include "cpu/simd/isa_test.hpp"

#define TESSERA_ISA(name)            \
  namespace tessera::cpu::name {     \
  const KernelTable& kernel_table(); \
  }
#include "cpu/kernels/kernels.inc"
#undef TESSERA_ISA

namespace tessera::cpu {

inline const KernelTable& table_of(std::string_view isa) {
#define TESSERA_ISA(name) \
  if (isa == #name) return name::kernel_table();
#include "cpu/kernels/kernels.inc"
#undef TESSERA_ISA
  std::abort();
}

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

enum class Layout { contiguous, token_major_pages, head_major_pages };

struct DecodeCase {
  DTypeIndex dtype = DTypeIndex::f32;
  int group = 4, kv_heads = 2, dqk = 128, dv = 128;
  std::int64_t seqlen_q = 1, seqlen_kv = 300;
  Layout layout = Layout::contiguous;
  std::int64_t page_size = 16;
  bool causal = false;
  std::int64_t left = kUnbounded, right = kUnbounded;
  float scale = 0;  // 0: 1 / sqrt(dqk)
  bool zero_scale = false;
  float softcap = 0;
  bool alibi = false, sink = false, bias = false, mask = false;
  std::int64_t chunk = 0;          // keys an item; 0: one item writes O and LSE
  bool merge_single = false;       // chunk 0, but through a partial and the merge
  bool all_heads = true;           // an item covers all kv heads
  std::int64_t rows_per_item = 0;  // 0: all
  KvSource kv_source = KvSource::cache;
  float crowded_bytes_per_s = 0;
  unsigned seed = 1;

  std::string name() const {
    std::ostringstream out;
    out << (dtype == DTypeIndex::f32   ? "f32"
            : dtype == DTypeIndex::f16 ? "f16"
                                       : "bf16")
        << " group" << group << " hkv" << kv_heads << " dqk" << dqk << " dv" << dv << " sq" << seqlen_q << " skv"
        << seqlen_kv << " layout" << static_cast<int>(layout) << " page" << page_size << (causal ? " causal" : "") << " win"
        << left << "," << right << " scale" << scale << " softcap" << softcap << (alibi ? " alibi" : "")
        << (sink ? " sink" : "") << (bias ? " bias" : "") << (mask ? " mask" : "") << " chunk" << chunk
        << (all_heads ? "" : " head by head") << " rows_per_item" << rows_per_item << " source"
        << static_cast<int>(kv_source) << " crowded below " << crowded_bytes_per_s << " seed" << seed;
    return out.str();
  }
};

/// A case with its tensors. Elements are held as floats too, rounded to the dtype.
class DecodeRun {
 public:
  explicit DecodeRun(const DecodeCase& c) : c(c), heads(c.group * c.kv_heads), rng_(c.seed) {
    bytes_ = c.dtype == DTypeIndex::f32 ? 4 : 2;
    q = random(c.seqlen_q * heads * c.dqk);
    k = random(c.seqlen_kv * c.kv_heads * c.dqk);
    v = random(c.seqlen_kv * c.kv_heads * c.dv);
    for (int h = 0; h < heads; ++h) {
      slopes.push_back(std::exp2(-8.0f * static_cast<float>(h + 1) / static_cast<float>(heads)));
      sinks.push_back(static_cast<float>(h % 3) - 1.0f);
    }
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < heads * c.seqlen_q * c.seqlen_kv; ++i) {
      bias.push_back(rng_() % 17 == 0 ? -kInf : normal(rng_));
      mask.push_back(rng_() % 4 != 0);
    }
    const std::int64_t pages = (c.seqlen_kv + c.page_size - 1) / c.page_size;
    for (std::int64_t p = 0; p < pages; ++p) table.push_back(static_cast<std::int32_t>(2 * ((p * 7 + 3) % pages) + 1));
    if (pages % 7 == 0) {
      for (std::int64_t p = 0; p < pages; ++p) table[p] = static_cast<std::int32_t>(2 * (pages - 1 - p) + 1);
    }
  }

  float scale() const { return c.zero_scale ? 0.0f : c.scale != 0 ? c.scale : 1.0f / std::sqrt(static_cast<float>(c.dqk)); }
  std::int64_t offset() const { return c.seqlen_kv - c.seqlen_q; }

  bool sees(int head, std::int64_t query, std::int64_t key) const {
    const std::int64_t position = query + offset();
    const std::int64_t right = c.causal ? std::min<std::int64_t>(c.right, 0) : c.right;
    if (key < position - c.left || key > position + right) return false;
    const std::int64_t at = (head * c.seqlen_q + query) * c.seqlen_kv + key;
    return !(c.mask && mask[at] == 0) && !(c.bias && bias[at] == -kInf);
  }

  /// The plain double loop: o [seqlen_q, heads, dv], lse [heads, seqlen_q].
  void expect(std::vector<double>& o, std::vector<double>& lse) const {
    o.assign(c.seqlen_q * heads * c.dv, 0);
    lse.assign(heads * c.seqlen_q, 0);
    for (std::int64_t query = 0; query < c.seqlen_q; ++query) {
      for (int h = 0; h < heads; ++h) expect_row(query, h, &o[(query * heads + h) * c.dv], lse[h * c.seqlen_q + query]);
    }
  }

  /// Runs the kernel of `isa`. What lies outside Q, K and V is NaN.
  void run(std::string_view isa) {
    const KernelTable& t = table_of(isa);
    const auto d = static_cast<std::size_t>(c.dtype);
    const std::vector<std::byte> q_bytes = pack(q), k_bytes = place(k, c.dqk), v_bytes = place(v, c.dv);
    o_bytes.assign(q.size() / c.dqk * c.dv * bytes_, std::byte{0xff});
    lse.assign(heads * c.seqlen_q, kNan);
    RunConstants constants = {heads,
                              c.kv_heads,
                              c.group,
                              c.dqk,
                              c.dv,
                              t.decode[d].tile_kv,
                              scale(),
                              c.softcap,
                              c.left,
                              c.causal ? std::min<std::int64_t>(c.right, 0) : c.right,
                              c.layout == Layout::contiguous ? 0 : c.page_size,
                              c.alibi ? slopes.data() : nullptr,
                              c.sink ? sinks.data() : nullptr,
                              BiasType::f32};
    constants.kv_source = c.kv_source;
    constants.crowded_bytes_per_s = c.crowded_bytes_per_s;
    Sequence sequence = {};
    sequence.q = q_bytes.data();
    sequence.q_stride_token = heads * c.dqk * bytes_, sequence.q_stride_head = c.dqk * bytes_;
    sequence.o = o_bytes.data();
    sequence.o_stride_token = heads * c.dv * bytes_, sequence.o_stride_head = c.dv * bytes_;
    sequence.lse = lse.data();
    sequence.lse_stride_head = c.seqlen_q;
    sequence.k = view(k_bytes, c.dqk);
    sequence.v = view(v_bytes, c.dv);
    sequence.block_table = c.layout == Layout::contiguous ? nullptr : table.data();
    sequence.seqlen_q = c.seqlen_q, sequence.seqlen_kv = c.seqlen_kv, sequence.position_offset = offset();
    const std::int64_t plane = c.seqlen_q * c.seqlen_kv;
    if (c.bias) sequence.bias = {reinterpret_cast<const std::byte*>(bias.data()), plane, c.seqlen_kv, 1};
    if (c.mask) sequence.mask = {reinterpret_cast<const std::byte*>(mask.data()), plane, c.seqlen_kv, 1};
    const std::int64_t rows = c.group * c.seqlen_q, step = c.rows_per_item != 0 ? c.rows_per_item : rows;
    const std::size_t scratch_size = t.decode[d].scratch_bytes(constants, step);
    std::vector<std::byte> scratch(scratch_size + 64 + 64, std::byte{0xff});
    std::byte* aligned = scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64) % 64;
    for (int h = 0; h < c.kv_heads; h += c.all_heads ? c.kv_heads : 1) {
      const int h_end = c.all_heads ? c.kv_heads : h + 1;
      for (std::int64_t row = 0; row < rows; row += step) {
        run_rows(t, constants, sequence, h, h_end, row, std::min(rows, row + step), aligned);
      }
    }
    for (int i = 0; i < 64; ++i) guard_intact = guard_intact && aligned[scratch_size + i] == std::byte{0xff};
  }

  float element(const std::vector<std::byte>& from, std::int64_t i) const {
    if (c.dtype == DTypeIndex::f32) return reinterpret_cast<const float*>(from.data())[i];
    const std::uint16_t h = reinterpret_cast<const std::uint16_t*>(from.data())[i];
    return c.dtype == DTypeIndex::f16 ? base::f16_to_float(h) : base::bf16_to_float(h);
  }

  DecodeCase c;
  int heads;
  std::vector<float> q, k, v, slopes, sinks, bias, lse;
  std::vector<std::uint8_t> mask;
  std::vector<std::int32_t> table;
  std::vector<std::byte> o_bytes;
  bool guard_intact = true;

 private:
  float rounded(float x) const {
    if (c.dtype == DTypeIndex::f16) return base::f16_to_float(base::float_to_f16(x));
    return c.dtype == DTypeIndex::bf16 ? base::bf16_to_float(base::float_to_bf16(x)) : x;
  }
  std::vector<float> random(std::int64_t n) {
    std::normal_distribution<float> normal;
    std::vector<float> x(n);
    for (float& value : x) value = rounded(normal(rng_));
    return x;
  }
  void put(std::vector<std::byte>& to, std::int64_t i, float x) const {
    if (c.dtype == DTypeIndex::f32) {
      reinterpret_cast<float*>(to.data())[i] = x;
    } else {
      reinterpret_cast<std::uint16_t*>(to.data())[i] =
          c.dtype == DTypeIndex::f16 ? base::float_to_f16(x) : base::float_to_bf16(x);
    }
  }
  std::vector<std::byte> pack(const std::vector<float>& x) const {
    std::vector<std::byte> out(x.size() * bytes_);
    for (std::size_t i = 0; i < x.size(); ++i) put(out, static_cast<std::int64_t>(i), x[i]);
    return out;
  }

  std::int64_t pages() const { return 2 * static_cast<std::int64_t>(table.size()) + 1; }
  KvView view(const std::vector<std::byte>& data, int dim) const {
    const std::int64_t row = dim * bytes_;
    if (c.layout == Layout::head_major_pages) return {data.data(), c.kv_heads * c.page_size * row, row, c.page_size * row};
    return {data.data(), c.kv_heads * c.page_size * row, c.kv_heads * row, row};
  }
  std::vector<std::byte> place(const std::vector<float>& x, int dim) const {
    if (c.layout == Layout::contiguous) return pack(x);
    std::vector<std::byte> out(pages() * c.page_size * c.kv_heads * dim * bytes_, std::byte{0xff});  // NaN in every dtype
    const KvView to = view(out, dim);
    for (std::int64_t key = 0; key < c.seqlen_kv; ++key) {
      for (int h = 0; h < c.kv_heads; ++h) {
        const std::int64_t at =
            table[key / c.page_size] * to.stride_page + key % c.page_size * to.stride_token + h * to.stride_head;
        for (int i = 0; i < dim; ++i) put(out, at / bytes_ + i, x[(key * c.kv_heads + h) * dim + i]);
      }
    }
    return out;
  }

  void run_rows(const KernelTable& t, const RunConstants& constants, const Sequence& sequence, int h, int h_end,
                std::int64_t row, std::int64_t row_end, std::byte* scratch) {
    const auto d = static_cast<std::size_t>(c.dtype);
    WorkItem item = {&sequence, h, h_end, row, row_end, 0, c.seqlen_kv, {nullptr, nullptr, nullptr}, 0};
    if (c.chunk == 0 && !c.merge_single) {
      t.decode[d].run(constants, item, scratch, nullptr);
      return;
    }
    const std::int64_t chunk = c.chunk == 0 ? c.seqlen_kv : c.chunk;
    const std::int64_t splits = std::max<std::int64_t>(1, (c.seqlen_kv + chunk - 1) / chunk),
                       rows = (h_end - h) * (row_end - row);
    std::vector<float> o(splits * rows * c.dv, kNan), m(splits * rows, kNan), l(splits * rows, kNan);
    for (std::int64_t s = 0; s < splits; ++s) {
      item.key_begin = s * chunk;
      item.key_end = std::min(c.seqlen_kv, item.key_begin + chunk);
      item.partial = {o.data() + s * rows * c.dv, m.data() + s * rows, l.data() + s * rows};
      t.decode[d].run(constants, item, scratch, nullptr);
    }
    for (int kv_head = h; kv_head < h_end; ++kv_head) {
      const std::int64_t at = (kv_head - h) * (row_end - row);
      t.merge[d](constants,
                 {&sequence, kv_head, row, row_end, static_cast<std::int32_t>(splits), o.data() + at * c.dv, m.data() + at,
                  l.data() + at, rows, 0},
                 nullptr);
    }
  }

  void expect_row(std::int64_t query, int h, double* o, double& row_lse) const {
    std::vector<double> s(c.seqlen_kv, -HUGE_VAL);
    double top = c.sink ? sinks[h] : -HUGE_VAL;
    for (std::int64_t key = 0; key < c.seqlen_kv; ++key) {
      if (!sees(h, query, key)) continue;
      double dot = 0;
      for (int i = 0; i < c.dqk; ++i) {
        dot += double{q[(query * heads + h) * c.dqk + i]} * k[(key * c.kv_heads + h / c.group) * c.dqk + i];
      }
      s[key] = dot * scale();
      if (c.softcap != 0) s[key] = c.softcap * std::tanh(s[key] / c.softcap);
      if (c.bias) s[key] += bias[(h * c.seqlen_q + query) * c.seqlen_kv + key];
      if (c.alibi) s[key] -= slopes[h] * std::abs(static_cast<double>(query + offset() - key));
      top = std::max(top, s[key]);
    }
    row_lse = -HUGE_VAL;
    if (top == -HUGE_VAL) return;
    double sum = c.sink ? std::exp(sinks[h] - top) : 0;
    for (std::int64_t key = 0; key < c.seqlen_kv; ++key) {
      if (!sees(h, query, key)) continue;
      const double p = std::exp(s[key] - top);
      sum += p;
      for (int i = 0; i < c.dv; ++i) o[i] += p * v[(key * c.kv_heads + h / c.group) * c.dv + i];
    }
    for (int i = 0; i < c.dv; ++i) o[i] /= sum;
    row_lse = top + std::log(sum);
  }

  std::int64_t bytes_ = 4;
  std::mt19937 rng_;
};

}  // namespace tessera::cpu
