// SPDX-License-Identifier: Apache-2.0
// One step of the online softmax for one row of decode, lanes = keys: p = 2^((s - m) c), in the units of score_units.hpp.
#pragma once

#include "cpu/kernels/decode.hpp"
#include "cpu/kernels/decode_input.hpp"
#include "cpu/kernels/score_units.hpp"
#include "cpu/kernels/visible.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

inline constexpr int kTileVectors = kDecodeTile / kWidth;

/// One row against one tile.
struct RowTile {
  std::int64_t key;       // of the tile's first
  int n;                  // keys of the tile
  std::uint64_t seen;     // bit i: the row sees key + i
  std::int64_t position;  // of the query
  float slope;            // ALiBi
  const float* bias;      // [kDecodeTile], or null
};

TESSERA_INLINE std::uint64_t low_bits(int n) { return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

TESSERA_INLINE float read_bias(const RunConstants& constants, const std::byte* data, std::int64_t at) {
  float lane[kWidth];
  if (constants.bias_type == BiasType::f32) return reinterpret_cast<const float*>(data)[at];
  const auto* p = reinterpret_cast<const std::uint16_t*>(data) + at;
  store(lane, constants.bias_type == BiasType::f16 ? load_f16_n(p, 1) : load_bf16_n(p, 1));
  return lane[0];
}

/// Keys the row sees by position, mask tensor and -inf bias; the bias goes to bias[0, n).
TESSERA_INLINE std::uint64_t seen_keys(const RunConstants& constants, const Sequence& sequence, std::int64_t query,
                                       std::int64_t head, KeyRange range, std::int64_t key, int n, float* bias) {
  const std::int64_t low = range.begin - key, high = range.end - key;
  if (empty(range) || low >= n || high <= 0) return 0;
  std::uint64_t seen = low_bits(static_cast<int>(high < n ? high : n)) & ~low_bits(static_cast<int>(low > 0 ? low : 0));
  const ScoreTensor &mask = sequence.mask, &add = sequence.bias;
  if (mask.data != nullptr) {
    const std::byte* row = mask.data + head * mask.stride_head + query * mask.stride_query + key * mask.stride_key;
    for (int i = 0; i < n; ++i) {
      if ((seen >> i & 1) != 0 && row[i * mask.stride_key] == std::byte{0}) seen &= ~(std::uint64_t{1} << i);
    }
  }
  if (add.data != nullptr) {
    const std::int64_t row = head * add.stride_head + query * add.stride_query + key * add.stride_key;
    for (int i = 0; i < kDecodeTile; ++i) {
      bias[i] = 0;
      if ((seen >> i & 1) == 0) continue;
      bias[i] = read_bias(constants, add.data, row + i * add.stride_key);
      if (bias[i] == -kInfinity) seen &= ~(std::uint64_t{1} << i);
    }
  }
  return seen;
}

/// Softcap, bias, ALiBi, in this order.
TESSERA_INLINE F transform(const RunConstants& constants, const RowTile& tile, F score, int first) {
  F t = mul(score, set1(constants.softmax_scale < 0 ? -constants.softmax_scale : constants.softmax_scale));
  if (constants.softcap != 0) t = mul(set1(constants.softcap), tanh(mul(t, set1(1 / constants.softcap))));
  if (tile.bias != nullptr) t = add(t, load(tile.bias + first));
  if (constants.alibi_slopes != nullptr) {
    float ramp[kWidth];
    for (int i = 0; i < kWidth; ++i) ramp[i] = static_cast<float>(tile.key + first + i - tile.position);
    t = fma(set1(-tile.slope), abs(load(ramp)), t);
  }
  return t;
}

/// Scores of keys the row does not see become -inf, whatever they were.
TESSERA_INLINE F hide(std::uint64_t seen, F score) {
  float keep[kWidth];
  for (int i = 0; i < kWidth; ++i) keep[i] = (seen >> i & 1) != 0 ? 1.0f : 0.0f;
  return select(less(zero(), load(keep)), score, set1(-kInfinity));
}

/// m and l move to a maximum of `m_new`; O [0, lanes) is rescaled.
TESSERA_INLINE void rescale(float* m, float* l, float* o, int lanes, float m_new, float exponent) {
  const F factor = *m == -kInfinity ? zero() : exp2(set1((*m - m_new) * exponent));
  *m = m_new;
  store(l, mul(load(l), factor));
  for (int i = 0; i < lanes; i += kWidth) store(o + i, mul(load(o + i), factor));
}

template <class T>
TESSERA_INLINE void store_weights(std::byte* p, const F (&weight)[kTileVectors]) {
#if defined(TESSERA_ISA_IS_AVX512BF16)
  if constexpr (T::kPairs) {
    for (int v = 0; v < kTileVectors; v += 2) store_pairs(p + v * kWidth * 2, weight[v], weight[v + 1]);
    return;
  }
#endif
  for (int v = 0; v < kTileVectors; ++v) store(reinterpret_cast<float*>(p) + v * kWidth, weight[v]);
}

/// Scores of one row -> p[0, kDecodeTile) (0 beyond the tile's keys and for keys not seen); m, l and o follow.
/// l is a vector: lane x sums the keys x, x + kWidth, ...
/// kWhole: the row sees all of a tile of kDecodeTile keys, scores are only scaled, and `tile` is not read.
template <class T, bool kTransformed, bool kWhole>
TESSERA_INLINE void softmax(const RunConstants& constants, const ScoreUnits& units, const RowTile& tile, const float* scores,
                            float* m, float* l, float* o, int o_lanes, std::byte* p) {
  static_assert(!(kWhole && kTransformed));
  const int vectors = kWhole ? kTileVectors : (tile.n + kWidth - 1) / kWidth;
  const bool partial = !kWhole && tile.seen != low_bits(kDecodeTile);
  F s[kTileVectors];
  F maximum = set1(*m);
  for (int v = 0; v < vectors; ++v) {
    s[v] = load(scores + v * kWidth);
    if constexpr (kTransformed) s[v] = transform(constants, tile, s[v], v * kWidth);
    if (partial) s[v] = hide(tile.seen >> (v * kWidth), s[v]);
    maximum = max(s[v], maximum);
  }
  if (any(less(set1(*m), maximum))) rescale(m, l, o, o_lanes, reduce_max(maximum), units.exponent);
  const F exponent = set1(units.exponent), shift = set1(*m == -kInfinity ? 0.0f : *m);
  F sum = load(l);
  for (int v = 0; v < kTileVectors; ++v) {
    if (v >= vectors) {
      s[v] = zero();
      continue;
    }
    s[v] = T::weight(mul(sub(s[v], shift), exponent));
    sum = add(sum, s[v]);
  }
  store(l, sum);
  store_weights<T>(p, s);
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
