// SPDX-License-Identifier: Apache-2.0
// AVX2, FMA and F16C.
#pragma once

#include <immintrin.h>

namespace tessera::cpu::TESSERA_ISA_NAME {

using F = __m256;
using M = __m256;  // a lane is all ones or all zeros
inline constexpr int kWidth = 8;
inline constexpr int kRegisters = 16;

TESSERA_INLINE __m256i first_bits(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
TESSERA_INLINE M first(int n) { return _mm256_castsi256_ps(first_bits(n)); }
TESSERA_INLINE bool any(M m) { return _mm256_movemask_ps(m) != 0; }
TESSERA_INLINE bool all(M m) { return _mm256_movemask_ps(m) == 0xff; }
TESSERA_INLINE M both(M a, M b) { return _mm256_and_ps(a, b); }

TESSERA_INLINE F zero() { return _mm256_setzero_ps(); }
TESSERA_INLINE F set1(float x) { return _mm256_set1_ps(x); }
TESSERA_INLINE F load(const float* p) { return _mm256_loadu_ps(p); }
TESSERA_INLINE F load_n(const float* p, int n) { return _mm256_maskload_ps(p, first_bits(n)); }
TESSERA_INLINE void store(float* p, F a) { _mm256_storeu_ps(p, a); }
TESSERA_INLINE void store_n(float* p, F a, int n) { _mm256_maskstore_ps(p, first_bits(n), a); }

TESSERA_INLINE F add(F a, F b) { return _mm256_add_ps(a, b); }
TESSERA_INLINE F sub(F a, F b) { return _mm256_sub_ps(a, b); }
TESSERA_INLINE F mul(F a, F b) { return _mm256_mul_ps(a, b); }
TESSERA_INLINE F div(F a, F b) { return _mm256_div_ps(a, b); }
TESSERA_INLINE F max(F a, F b) { return _mm256_max_ps(a, b); }
TESSERA_INLINE F min(F a, F b) { return _mm256_min_ps(a, b); }
TESSERA_INLINE F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }

TESSERA_INLINE M less(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
TESSERA_INLINE M less_equal(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
TESSERA_INLINE M equal(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
TESSERA_INLINE F select(M m, F a, F b) { return _mm256_blendv_ps(b, a, m); }

TESSERA_INLINE float reduce_add(F a) {
  const __m128 x = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 y = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(y, _mm_movehdup_ps(y)));
}
TESSERA_INLINE float reduce_max(F a) {
  const __m128 x = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 y = _mm_max_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_max_ss(y, _mm_movehdup_ps(y)));
}

TESSERA_INLINE F sum4(F a, F b, F c, F d) {
  const __m256d ab = _mm256_castps_pd(add(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)));
  const __m256d cd = _mm256_castps_pd(add(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d)));
  return add(_mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd)), _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd)));
}
TESSERA_INLINE F fold_blocks(const float* v) {
  const F a = load(v), b = load(v + 8);
  return add(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}

TESSERA_INLINE __m128i load_u16(const std::uint16_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
TESSERA_INLINE __m128i load_u16_n(const std::uint16_t* p, int n) {
  if (n >= 8) return load_u16(p);
  alignas(16) std::uint16_t lanes[8] = {};
  for (int i = 0; i < n; ++i) lanes[i] = p[i];
  return _mm_load_si128(reinterpret_cast<const __m128i*>(lanes));
}
TESSERA_INLINE void store_u16_n(std::uint16_t* p, __m128i h, int n) {
  alignas(16) std::uint16_t lanes[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(lanes), h);
  for (int i = 0; i < n && i < 8; ++i) p[i] = lanes[i];
}

TESSERA_INLINE F widen_bf16(__m128i h) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16)); }
TESSERA_INLINE F load_f16(const std::uint16_t* p) { return _mm256_cvtph_ps(load_u16(p)); }
TESSERA_INLINE F load_bf16(const std::uint16_t* p) { return widen_bf16(load_u16(p)); }
TESSERA_INLINE F load_f16_n(const std::uint16_t* p, int n) { return _mm256_cvtph_ps(load_u16_n(p, n)); }
TESSERA_INLINE F load_bf16_n(const std::uint16_t* p, int n) { return widen_bf16(load_u16_n(p, n)); }

TESSERA_INLINE __m128i narrow_f16(F a) { return _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TESSERA_INLINE __m128i narrow_bf16(F a) {  // round to nearest even in integers; NaN stays NaN
  const __m256i bits = _mm256_castps_si256(a);
  const __m256i lsb = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(lsb, _mm256_set1_epi32(0x7fff)));
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q));
  const __m256i high = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
}
TESSERA_INLINE void store_f16(std::uint16_t* p, F a) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), narrow_f16(a)); }
TESSERA_INLINE void store_bf16(std::uint16_t* p, F a) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), narrow_bf16(a)); }
TESSERA_INLINE void store_f16_n(std::uint16_t* p, F a, int n) { store_u16_n(p, narrow_f16(a), n); }
TESSERA_INLINE void store_bf16_n(std::uint16_t* p, F a, int n) { store_u16_n(p, narrow_bf16(a), n); }

TESSERA_INLINE F exp2(F x) {
  const F n = _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const F r = sub(x, n);  // [-0.5, 0.5]
  F p = set1(1.5353362e-4f);
  p = fma(p, r, set1(1.33988750e-3f));
  p = fma(p, r, set1(9.61843692e-3f));
  p = fma(p, r, set1(5.55033237e-2f));
  p = fma(p, r, set1(2.40226477e-1f));
  p = fma(p, r, set1(6.93147182e-1f));
  p = fma(p, r, set1(1.0f));
  const __m256i scaled = _mm256_add_epi32(_mm256_castps_si256(p), _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23));
  // 2^-126 has exponent field 1 and p may be just below 1 there: what lies below -125.5 is 0 already.
  const F finite = _mm256_cmp_ps(x, set1(-126.0f), _CMP_GE_OQ);
  const F nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
  return _mm256_or_ps(_mm256_and_ps(_mm256_castsi256_ps(scaled), finite), _mm256_and_ps(x, nan));
}

TESSERA_INLINE void transpose(F (&r)[8]) {
  F t[8];
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {  // blocks of 4 x 4, in each 128-bit lane
    const __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(r[i], r[i + 1])),
                  b = _mm256_castps_pd(_mm256_unpackhi_ps(r[i], r[i + 1]));
    const __m256d c = _mm256_castps_pd(_mm256_unpacklo_ps(r[i + 2], r[i + 3])),
                  d = _mm256_castps_pd(_mm256_unpackhi_ps(r[i + 2], r[i + 3]));
    t[i] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
    t[i + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
    t[i + 2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
    t[i + 3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x20);
    r[i + 4] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x31);
  }
}

TESSERA_INLINE void prefetch_l1(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }
TESSERA_INLINE void prefetch_l2(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }

inline constexpr bool kHasPairDot = false;

}  // namespace tessera::cpu::TESSERA_ISA_NAME
