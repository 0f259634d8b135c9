// SPDX-License-Identifier: Apache-2.0
// For tests of the prefill kernel alone: the tensors of a case with every option, a run of the kernel on them, whole or in
// parts, and a plain loop in double.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
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

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline AttentionKernel kernel_of(std::string_view isa, DTypeIndex dtype) {
#define TESSERA_ISA(name) \
  if (isa == #name) return name::kernel_table().prefill[static_cast<int>(dtype)];
#include "cpu/kernels/kernels.inc"
#undef TESSERA_ISA
  std::abort();
}

inline std::string dtype_name(DTypeIndex dtype) {
  return dtype == DTypeIndex::f32 ? "f32" : dtype == DTypeIndex::f16 ? "f16" : "bf16";
}

inline float to_float(DTypeIndex dtype, const std::byte* p) {
  if (dtype == DTypeIndex::f32) {
    float x;
    std::memcpy(&x, p, 4);
    return x;
  }
  std::uint16_t h;
  std::memcpy(&h, p, 2);
  return dtype == DTypeIndex::f16 ? base::f16_to_float(h) : base::bf16_to_float(h);
}

inline void put(DTypeIndex dtype, std::byte* p, float x) {
  if (dtype == DTypeIndex::f32) {
    std::memcpy(p, &x, 4);
  } else {
    const std::uint16_t h = dtype == DTypeIndex::f16 ? base::float_to_f16(x) : base::float_to_bf16(x);
    std::memcpy(p, &h, 2);
  }
}

struct Case {
  DTypeIndex dtype = DTypeIndex::f32;
  int hq = 2, hkv = 1, dqk = 16, dv = 16;
  std::int64_t sq = 40, skv = 70, offset = 30;
  std::int64_t left = kUnbounded, right = 0;
  float scale = 0.25f, softcap = 0;
  bool alibi = false, sink = false, bias = false, mask = false;
  BiasType bias_type = BiasType::f32;
  std::int64_t page = 0;
  bool head_major = false;
  std::int64_t rows_per_item = 0;   // 0: all
  std::int64_t keys_per_split = 0;  // 0: direct
  bool one_head_items = true;
  unsigned seed = 1;

  std::string name() const {
    std::string s = dtype_name(dtype);
    const auto add = [&s](const char* what, double x) { s += std::string(" ") + what + std::to_string(x); };
    add("hq", hq), add("hkv", hkv), add("dqk", dqk), add("dv", dv), add("sq", sq), add("skv", skv), add("offset", offset);
    add("left", double(left)), add("right", double(right)), add("scale", scale), add("softcap", softcap);
    add("alibi", alibi), add("sink", sink), add("bias", bias), add("mask", mask), add("page", page),
        add("head_major", head_major);
    add("rows_per_item", rows_per_item), add("keys_per_split", keys_per_split), add("seed", seed);
    return s;
  }
};

/// The tensors of a case, and its run through a kernel.
class Tensors {
 public:
  explicit Tensors(const Case& c) : c_(c), elem_(c.dtype == DTypeIndex::f32 ? 4 : 2), random_(c.seed) {
    q_ = tensor(c.sq * c.hq * c.dqk, 1.0f);
    k_ = tensor(slots() * c.hkv * c.dqk, 1.0f);
    v_ = tensor(slots() * c.hkv * c.dv, 1.0f);
    for (std::int64_t i = 0; i < pages(); ++i) table_.push_back(static_cast<std::int32_t>(i));
    std::shuffle(table_.begin(), table_.end(), random_);
    std::normal_distribution<float> normal;
    for (int h = 0; h < c.hq; ++h) slopes_.push_back(1.0f / float(2 + h)), sink_.push_back(normal(random_));
    const auto size = static_cast<std::size_t>(c.hq * c.sq * c.skv);
    for (std::size_t i = 0; i < size; ++i) {
      bias_.push_back(random_() % 7 == 0 ? -kInf : base::bf16_to_float(base::float_to_bf16(normal(random_))));
      mask_.push_back(random_() % 3 == 0 ? 0 : 1 + random_() % 255);
    }
    const int bias_bytes = c.bias_type == BiasType::f32 ? 4 : 2;
    bias_bytes_.resize(size * 4);
    for (std::size_t i = 0; i < size; ++i) {
      if (c.bias_type == BiasType::f16) bias_[i] = base::f16_to_float(base::float_to_f16(bias_[i]));
      put(static_cast<DTypeIndex>(c.bias_type), bias_bytes_.data() + i * bias_bytes, bias_[i]);
    }
  }

  std::int64_t pages() const { return c_.page ? (c_.skv + c_.page - 1) / c_.page + 2 : 0; }
  std::int64_t slots() const { return c_.page ? pages() * c_.page : c_.skv; }
  std::byte* k_at(std::int64_t key, int head, int x) { return k_.data() + (slot(key, head) * c_.dqk + x) * elem_; }
  std::byte* v_at(std::int64_t key, int head, int x) { return v_.data() + (slot(key, head) * c_.dv + x) * elem_; }
  void set_bias(std::size_t i, float x) {
    bias_[i] = x;
    put(static_cast<DTypeIndex>(c_.bias_type), bias_bytes_.data() + i * (c_.bias_type == BiasType::f32 ? 4 : 2), x);
  }
  void hide(std::int64_t key) {
    for (std::int64_t row = 0; row < c_.hq * c_.sq; ++row) {
      const auto at = static_cast<std::size_t>(row * c_.skv + key);
      mask_[at] = 0;
      set_bias(at, -kInf);
    }
  }
  void set_q(float x) {
    for (std::size_t i = 0; i < q_.size(); i += elem_) put(c_.dtype, q_.data() + i, x);
  }
  /// Whatever no key of [0, skv) uses, in pages too.
  void poison_unused(float x) {
    std::vector<char> used(static_cast<std::size_t>(slots() * c_.hkv), 0);
    for (std::int64_t key = 0; key < c_.skv; ++key) {
      for (int h = 0; h < c_.hkv; ++h) used[static_cast<std::size_t>(slot(key, h))] = 1;
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (used[i]) continue;
      for (int e = 0; e < c_.dqk; ++e) put(c_.dtype, k_.data() + (i * c_.dqk + e) * elem_, x);
      for (int e = 0; e < c_.dv; ++e) put(c_.dtype, v_.data() + (i * c_.dv + e) * elem_, x);
    }
  }

  void run(const AttentionKernel& kernel) {
    const std::int64_t group = c_.hq / c_.hkv, rows = c_.sq * group;
    constants_ = {};
    constants_.num_q_heads = c_.hq, constants_.num_kv_heads = c_.hkv, constants_.group = static_cast<int>(group);
    constants_.dqk = c_.dqk, constants_.dv = c_.dv, constants_.tile_kv = kernel.tile_kv;
    constants_.softmax_scale = c_.scale, constants_.softcap = c_.softcap;
    constants_.window_left = c_.left, constants_.window_right = c_.right, constants_.page_size = c_.page;
    constants_.alibi_slopes = c_.alibi ? slopes_.data() : nullptr, constants_.sink = c_.sink ? sink_.data() : nullptr;
    constants_.bias_type = c_.bias_type;

    o_.assign(static_cast<std::size_t>(c_.sq * c_.hq * c_.dv * elem_), std::byte{0xff});
    lse_.assign(static_cast<std::size_t>(c_.hq * c_.sq), kNan);
    Sequence s = {};
    s.q = q_.data(), s.q_stride_token = c_.hq * c_.dqk * elem_, s.q_stride_head = c_.dqk * elem_;
    s.o = o_.data(), s.o_stride_token = c_.hq * c_.dv * elem_, s.o_stride_head = c_.dv * elem_;
    s.lse = lse_.data(), s.lse_stride_head = c_.sq;
    s.k = view(k_.data(), c_.dqk), s.v = view(v_.data(), c_.dv);
    s.block_table = c_.page ? table_.data() : nullptr;
    s.seqlen_q = c_.sq, s.seqlen_kv = c_.skv, s.position_offset = c_.offset;
    if (c_.bias) s.bias = {bias_bytes_.data(), c_.sq * c_.skv, c_.skv, 1};
    if (c_.mask) s.mask = {reinterpret_cast<const std::byte*>(mask_.data()), c_.sq * c_.skv, c_.skv, 1};

    const std::int64_t step = c_.rows_per_item ? c_.rows_per_item : rows;
    const int heads = c_.one_head_items ? 1 : c_.hkv;
    std::vector<std::byte> memory(kernel.scratch_bytes(constants_, std::min(step, rows)) + 64 + kGuard, std::byte{0xff});
    auto* scratch = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
    std::byte* scratch_end = scratch + kernel.scratch_bytes(constants_, std::min(step, rows));
    for (std::int64_t row = 0; row < rows; row += step) {
      for (int h = 0; h < c_.hkv; h += heads) {
        WorkItem item = {};
        item.sequence = &s;
        item.kv_head_begin = h, item.kv_head_end = h + heads;
        item.row_begin = row, item.row_end = std::min(rows, row + step);
        item.key_begin = 0, item.key_end = c_.skv;
        if (c_.keys_per_split == 0) {
          kernel.run(constants_, item, scratch, nullptr);
        } else {
          run_split(kernel, item, scratch);
        }
      }
    }
    for (std::byte* p = scratch_end; p < scratch_end + kGuard; ++p)
      ASSERT_EQ(*p, std::byte{0xff}) << "wrote beyond its scratch";
  }

  /// Compares every row with the double loop; nan_rows: rows at which NaN is the right answer are told by the loop itself.
  void check() {
    for (std::int64_t i = 0; i < c_.sq; ++i) {
      for (int h = 0; h < c_.hq; ++h) check_row(i, h);
    }
  }

  const std::vector<std::byte>& o() const { return o_; }
  const std::vector<float>& lse() const { return lse_; }
  float o_at(std::int64_t i, int h, int x) const {
    return to_float(c_.dtype, o_.data() + ((i * c_.hq + h) * c_.dv + x) * elem_);
  }
  float lse_at(std::int64_t i, int h) const { return lse_[static_cast<std::size_t>(h * c_.sq + i)]; }

 private:
  static constexpr std::ptrdiff_t kGuard = 256;

  std::vector<std::byte> tensor(std::int64_t n, float deviation) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(n * elem_));
    std::normal_distribution<float> normal(0, deviation);
    for (std::int64_t i = 0; i < n; ++i) put(c_.dtype, bytes.data() + i * elem_, normal(random_));
    return bytes;
  }

  /// Index of (key, head) in rows of the head dim.
  std::int64_t slot(std::int64_t key, int head) const {
    if (!c_.page) return key * c_.hkv + head;
    const std::int64_t page = table_[static_cast<std::size_t>(key / c_.page)], at = key % c_.page;
    return c_.head_major ? (page * c_.hkv + head) * c_.page + at : (page * c_.page + at) * c_.hkv + head;
  }

  KvView view(const std::byte* base, int dim) const {
    const std::int64_t row = dim * elem_;
    if (c_.head_major) return {base, c_.page * c_.hkv * row, row, c_.page * row};
    return {base, c_.page * c_.hkv * row, c_.hkv * row, row};
  }

  void run_split(const AttentionKernel& kernel, WorkItem item, std::byte* scratch) {
    const std::int64_t rows = (item.row_end - item.row_begin) * (item.kv_head_end - item.kv_head_begin);
    const std::int64_t splits = (c_.skv + c_.keys_per_split - 1) / c_.keys_per_split;
    const auto n = static_cast<std::size_t>(rows * splits);
    std::vector<float> o(n * c_.dv, kNan), m(n, kNan), l(n, kNan);
    for (std::int64_t split = 0; split < splits; ++split) {
      item.key_begin = split * c_.keys_per_split;
      item.key_end = std::min(c_.skv, item.key_begin + c_.keys_per_split);
      item.partial = {&o[split * rows * c_.dv], &m[split * rows], &l[split * rows]};
      kernel.run(constants_, item, scratch, nullptr);
    }
    for (std::int64_t x = 0; x < rows; ++x) merge_row(item, x, rows, splits, o, m, l);
  }

  void merge_row(const WorkItem& item, std::int64_t x, std::int64_t rows, std::int64_t splits, const std::vector<float>& o,
                 const std::vector<float>& m, const std::vector<float>& l) {
    const std::int64_t group = c_.hq / c_.hkv, per_head = item.row_end - item.row_begin;
    const std::int64_t r = item.row_begin + x % per_head, i = r / group,
                       h = (item.kv_head_begin + x / per_head) * group + r % group;
    double highest = c_.sink ? sink_[static_cast<std::size_t>(h)] : -kInf;
    for (std::int64_t s = 0; s < splits; ++s) highest = std::max(highest, double{m[s * rows + x]});
    double sum = c_.sink ? std::exp(sink_[static_cast<std::size_t>(h)] - highest) : 0;
    std::vector<double> total(c_.dv, 0.0);
    for (std::int64_t s = 0; s < splits; ++s) {
      if (m[s * rows + x] == -kInf) continue;
      const double w = std::exp(m[s * rows + x] - highest);
      sum += w * l[s * rows + x];
      for (int e = 0; e < c_.dv; ++e) total[e] += w * o[(s * rows + x) * c_.dv + e];
    }
    lse_[h * c_.sq + i] = static_cast<float>(sum == 0 ? -kInf : highest + std::log(sum));
    for (int e = 0; e < c_.dv; ++e) {
      put(c_.dtype, o_.data() + ((i * c_.hq + h) * c_.dv + e) * elem_, static_cast<float>(sum == 0 ? 0 : total[e] / sum));
    }
  }

  double score(std::int64_t i, int h, std::int64_t j) {
    double s = 0;
    for (int e = 0; e < c_.dqk; ++e) {
      s += double(to_float(c_.dtype, q_.data() + ((i * c_.hq + h) * c_.dqk + e) * elem_)) *
           to_float(c_.dtype, k_at(j, h / (c_.hq / c_.hkv), e));
    }
    s *= c_.scale;
    if (c_.softcap != 0) s = c_.softcap * std::tanh(s / c_.softcap);
    if (c_.bias) s += bias_[static_cast<std::size_t>((h * c_.sq + i) * c_.skv + j)];
    if (c_.alibi) s -= slopes_[static_cast<std::size_t>(h)] * std::abs(double(i + c_.offset - j));
    return s;
  }

  void check_row(std::int64_t i, int h) {
    std::vector<double> s;
    std::vector<std::int64_t> keys;
    for (std::int64_t j = 0; j < c_.skv; ++j) {
      const auto at = static_cast<std::size_t>((h * c_.sq + i) * c_.skv + j);
      const std::int64_t position = i + c_.offset;
      if (j < position - c_.left || j > position + c_.right || (c_.mask && !mask_[at]) || (c_.bias && bias_[at] == -kInf))
        continue;
      s.push_back(score(i, h, j));
      keys.push_back(j);
    }
    double highest = -kInf, largest = 4;
    for (double x : s) highest = std::isnan(x) || x > highest ? x : highest, largest = std::max(largest, std::abs(x));
    if (c_.sink) highest = std::max<double>(highest, sink_[static_cast<std::size_t>(h)]);
    double sum = c_.sink ? std::exp(sink_[static_cast<std::size_t>(h)] - highest) : 0;
    for (double& x : s) sum += x = std::exp(x - highest);
    const double lse = sum == 0 ? -kInf : highest + std::log(sum);
    const double lse_error = std::abs(lse - lse_at(i, h));
    const bool same = lse == lse_at(i, h) || (std::isnan(lse) && std::isnan(lse_at(i, h)));
    ASSERT_TRUE(same || lse_error <= 5e-6 * std::max(2.0, std::abs(lse)))
        << c_.name() << " query " << i << " head " << h << ": LSE " << lse_at(i, h) << " for " << lse;
    // A score is off by its own rounding, which the exponential turns into a relative error; then O is rounded.
    const double epsilon = 6e-7 * largest + (c_.dtype == DTypeIndex::f32   ? 0
                                             : c_.dtype == DTypeIndex::f16 ? 0x1p-11
                                                                           : 0x1p-8);
    for (int e = 0; e < c_.dv; ++e) {
      double o = 0, magnitude = 0;
      for (std::size_t n = 0; n < s.size(); ++n) {
        const double term = s[n] / sum * to_float(c_.dtype, v_at(keys[n], h / (c_.hq / c_.hkv), e));
        o += term, magnitude += std::abs(term);
      }
      const double got = o_at(i, h, e);
      if (std::isnan(o) && std::isnan(got)) continue;
      ASSERT_LE(std::abs(o - got), epsilon * (std::abs(o) + magnitude))
          << c_.name() << " query " << i << " head " << h << " feature " << e << ": " << got << " for " << o;
    }
  }

  Case c_;
  int elem_;
  std::mt19937 random_;
  std::vector<std::byte> q_, k_, v_, o_, bias_bytes_;
  std::vector<std::int32_t> table_;
  std::vector<float> slopes_, sink_, bias_, lse_;
  std::vector<std::uint8_t> mask_;
  RunConstants constants_;
};

}  // namespace tessera::cpu
