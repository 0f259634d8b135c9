// SPDX-License-Identifier: Apache-2.0
// Scores beyond scale * q.k: softcap, bias, ALiBi and mask tensors. The plain path never comes here.
//
//   s = bias + cap * tanh(scale * q.k / cap) - slope * |query position - key position|; masked or bias -inf: -inf
#pragma once

#include "cpu/kernels/prefill_pack.hpp"
#include "cpu/simd/math.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// What the score options need of each lane of a block.
struct LaneOptions {
  const std::byte* bias[kBlock];  // at key 0
  const std::byte* mask[kBlock];
  float slope[kBlock];
  float position[kBlock];  // from the tile's first key
};

TESSERA_INLINE void lane_options(const RunConstants& constants, const Sequence& sequence, std::int32_t kv_head,
                                 std::int64_t row, std::int64_t row_last, int lanes, std::int64_t tile_begin,
                                 LaneOptions& x) {
  const std::int64_t bias_bytes = constants.bias_type == BiasType::f32 ? 4 : 2;
  for (int i = 0; i < lanes; ++i) {
    const std::int64_t r = row + i < row_last ? row + i : row_last, query = r / constants.group;
    const std::int64_t head = kv_head * constants.group + r - query * constants.group;
    const ScoreTensor &b = sequence.bias, &m = sequence.mask;
    x.bias[i] =
        b.data ? b.data + (head * b.stride_head + query * b.stride_query + tile_begin * b.stride_key) * bias_bytes : nullptr;
    x.mask[i] = m.data ? m.data + head * m.stride_head + query * m.stride_query + tile_begin * m.stride_key : nullptr;
    x.slope[i] = constants.alibi_slopes ? constants.alibi_slopes[head] : 0;
    x.position[i] = static_cast<float>(query + sequence.position_offset - tile_begin);
  }
}

/// The bias of each lane to `key`.
TESSERA_INLINE void gather_bias(BiasType type, const LaneOptions& options, std::int64_t key_offset, int lanes, float* out) {
  std::uint16_t narrow[kBlock];
  for (int i = 0; i < lanes; ++i) {
    const std::byte* p = options.bias[i] + key_offset;
    if (type == BiasType::f32) {
      __builtin_memcpy(out + i, p, 4);
    } else {
      __builtin_memcpy(narrow + i, p, 2);
    }
  }
  if (type == BiasType::f32) return;
  for (int i = 0; i < lanes; i += kWidth)
    store(out + i, type == BiasType::f16 ? load_f16(narrow + i) : load_bf16(narrow + i));
}

/// Turns products of keys [key, key_end) into scores, in place, hides what a row may not see, and folds the maxima.
template <int NR>
void finish_scores(const RunConstants& constants, const Sequence& sequence, const LaneOptions& options,
                   const LaneLimits& limits, int key, int key_end, float* scores, F (&highest)[NR]) {
  constexpr int kLanes = NR * kWidth;
  const F hidden = set1(-kInfinity), scale = set1(constants.softmax_scale), cap = set1(constants.softcap);
  const std::int64_t bias_step = sequence.bias.stride_key * (constants.bias_type == BiasType::f32 ? 4 : 2);
  float bias[kLanes], keep[kLanes];
  for (; key < key_end; ++key, scores += kLanes) {
    if (sequence.bias.data) gather_bias(constants.bias_type, options, key * bias_step, kLanes, bias);
    if (sequence.mask.data) {
      for (int i = 0; i < kLanes; ++i)
        keep[i] = options.mask[i][key * sequence.mask.stride_key] != std::byte{0} ? 1.0f : 0.0f;
    }
    for (int j = 0; j < NR; ++j) {
      F s = mul(load(scores + j * kWidth), scale);
      if (constants.softcap != 0) s = mul(cap, tanh(div(s, cap)));
      if (sequence.bias.data) {
        const F b = load(bias + j * kWidth);
        s = select(equal(b, hidden), hidden, add(s, b));
      }
      if (constants.alibi_slopes) {
        const F distance = abs(sub(load(options.position + j * kWidth), set1(static_cast<float>(key))));
        s = sub(s, mul(load(options.slope + j * kWidth), distance));
      }
      if (sequence.mask.data) s = select(equal(load(keep + j * kWidth), zero()), hidden, s);
      s = hide_invisible<NR>(s, limits, static_cast<float>(key), j);
      highest[j] = max(s, highest[j]);
      store(scores + j * kWidth, s);
    }
  }
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
