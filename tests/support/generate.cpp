// SPDX-License-Identifier: Apache-2.0
#include "support/generate.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::test {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(mix(seed)) {}

  std::uint64_t bits() { return state_ = mix(state_); }
  /// Uniform in [low, high].
  std::int64_t in(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(std::int64_t n) { return in(1, n) == 1; }
  template <class T, std::size_t N>
  T of(const T (&choices)[N]) {
    return choices[bits() % N];
  }

 private:
  std::uint64_t state_;
};

std::int64_t draw_head_dim(Dice& dice) {
  static constexpr std::int64_t kCommon[] = {16, 32, 64, 80, 96, 112, 128, 192, 256};
  return dice.one_in(2) ? dice.of(kCommon) : dice.in(1, dice.one_in(3) ? 256 : 40);
}

std::int64_t draw_queries(Dice& dice) {
  switch (dice.in(0, 5)) {
    case 0:
    case 1:
      return 1;
    case 2:
      return dice.in(0, 8);
    case 3:
      return dice.in(1, 40);
    default:
      return dice.in(30, 300);
  }
}

std::int64_t draw_keys(Dice& dice) {
  switch (dice.in(0, 4)) {
    case 0:
      return dice.in(0, 20);
    case 1:
      return dice.in(1, 4000);
    default:
      return dice.in(1, 600);
  }
}

void draw_heads(Dice& dice, Problem& p) {
  static constexpr std::int64_t kGroups[] = {1, 1, 2, 3, 4, 4, 5, 7, 8, 16, 32};
  p.num_kv_heads = dice.one_in(2) ? 1 : dice.in(1, 5);
  p.num_q_heads = p.num_kv_heads * dice.of(kGroups);
  p.head_dim_qk = p.head_dim_v = draw_head_dim(dice);
  if (dice.one_in(5)) p.head_dim_v = draw_head_dim(dice);
}

void draw_lengths(Dice& dice, Problem& p) {
  p.batch = dice.one_in(2) ? 1 : dice.in(1, 5);
  p.seqlen_q = draw_queries(dice);
  p.seqlen_kv = draw_keys(dice);
  const bool ragged_q = dice.one_in(3);
  if (ragged_q) {
    p.cu_seqlens_q = {0};
    for (std::int64_t b = 0; b < p.batch; ++b) {
      p.cu_seqlens_q.push_back(p.cu_seqlens_q.back() + static_cast<std::int32_t>(dice.one_in(4) ? 0 : draw_queries(dice)));
    }
  }
  const std::int64_t kind = dice.in(0, 4);
  if (kind == 0) {
    p.cu_seqlens_kv = {0};
    for (std::int64_t b = 0; b < p.batch; ++b) {
      p.cu_seqlens_kv.push_back(p.cu_seqlens_kv.back() + static_cast<std::int32_t>(dice.one_in(5) ? 0 : draw_keys(dice)));
    }
  } else if (kind >= 2) {
    static constexpr std::int64_t kPages[] = {1, 2, 3, 7, 8, 16, 16, 32, 64, 128, 100};
    p.kv_layout = dice.one_in(2) ? KvLayout::paged_token_major : KvLayout::paged_head_major;
    p.page_size = dice.of(kPages);
  }
  if (kind != 0 && dice.one_in(2)) {  // a padded cache, or pages of sequences of their own length
    for (std::int64_t b = 0; b < p.batch; ++b) p.seqlens_kv.push_back(static_cast<std::int32_t>(dice.in(0, p.seqlen_kv)));
  }
}

void draw_masks(Dice& dice, Problem& p) {
  p.causal = dice.one_in(2);
  if (dice.one_in(6)) p.alignment = Alignment::top_left;
  if (dice.one_in(3)) p.window_left = dice.one_in(5) ? 0 : dice.in(0, dice.one_in(2) ? 40 : 300);
  if (dice.one_in(8)) p.window_right = dice.in(0, 100);
  p.has_mask = dice.one_in(6);
  p.has_bias = dice.one_in(6);
  p.has_alibi = dice.one_in(6);
  p.has_sink = dice.one_in(6);
  static constexpr double kCaps[] = {0.5, 5, 30, 50};
  if (dice.one_in(6)) p.softcap = dice.of(kCaps);
  static constexpr double kScales[] = {1, 0.02, 0.3, -0.125, 0};
  if (dice.one_in(6)) p.softmax_scale = dice.of(kScales);
  if (!dice.one_in(3)) return;
  p.kv_chunk = dice.one_in(2) ? dice.in(1, 64) : dice.in(32, 1000);
  if (dice.one_in(2)) p.kv_chunk = (p.kv_chunk + 31) / 32 * 32;  // chunks of whole tiles, as the planner's are
}

double work_of(const Problem& p) {
  double pairs = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    pairs += static_cast<double>(p.query_length(b)) * static_cast<double>(std::max<std::int64_t>(p.key_length(b), 1));
  }
  return pairs * static_cast<double>(p.num_q_heads) * static_cast<double>(p.head_dim_qk + p.head_dim_v);
}

Layout draw_layout(Dice& dice) {
  Layout layout;
  static constexpr StrideKind kStrides[] = {StrideKind::packed, StrideKind::packed, StrideKind::padded,
                                            StrideKind::heads_outermost};
  static constexpr Poison kPoison[] = {Poison::nan, Poison::nan, Poison::inf, Poison::huge};
  static constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};
  layout.strides = dice.of(kStrides);
  layout.shuffle_pages = dice.one_in(2);
  layout.spare_pages = dice.in(0, 3);
  layout.poison = dice.of(kPoison);
  layout.bias_dtype = dice.of(kTypes);
  for (int axis = 0; axis < 4; ++axis) {
    layout.bias_broadcast[axis] = dice.one_in(3);
    layout.mask_broadcast[axis] = dice.one_in(3);
  }
  layout.seed = dice.bits();
  return layout;
}

}  // namespace

RandomCase random_case(std::uint64_t seed, double work) {
  static constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};
  static constexpr Distribution kDistributions[] = {Distribution::bell, Distribution::bell, Distribution::uniform,
                                                    Distribution::heavy_tailed};
  Dice dice(seed);
  RandomCase c;
  do {
    c.problem = {};
    c.problem.dtype = dice.of(kTypes);
    draw_heads(dice, c.problem);
    draw_lengths(dice, c.problem);
    draw_masks(dice, c.problem);
  } while (work_of(c.problem) > work);
  c.layout = draw_layout(dice);
  c.values = random_values(dice.bits(), dice.of(kDistributions));
  if (dice.one_in(3)) {  // biases as large as they get: none of them masks
    const BiasField small = c.values.bias;
    const double lowest = c.layout.bias_dtype == DType::f16   ? -65504
                          : c.layout.bias_dtype == DType::f32 ? -3.4e38
                                                              : -0x1.fcp127;
    c.values.bias = [small, lowest](const ScoreAt& at) {
      return (at.key + at.query + at.head) % 11 == 3 ? lowest : small(at);
    };
  }
  return c;
}

}  // namespace tessera::test
