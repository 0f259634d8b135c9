// SPDX-License-Identifier: Apache-2.0
// AVX-512 (F, BW, DQ, VL, F16C), and with BF16 where the build says so.
#pragma once

#include <immintrin.h>

namespace tessera::cpu::TESSERA_ISA_NAME {

using F = __m512;
using M = __mmask16;
inline constexpr int kWidth = 16;
inline constexpr int kRegisters = 32;

TESSERA_INLINE M first(int n) { return static_cast<M>(n >= 16 ? 0xffffu : (1u << n) - 1u); }
TESSERA_INLINE bool any(M m) { return m != 0; }
TESSERA_INLINE bool all(M m) { return m == 0xffffu; }
TESSERA_INLINE M both(M a, M b) { return static_cast<M>(a & b); }

TESSERA_INLINE F zero() { return _mm512_setzero_ps(); }
TESSERA_INLINE F set1(float x) { return _mm512_set1_ps(x); }
TESSERA_INLINE F load(const float* p) { return _mm512_loadu_ps(p); }
TESSERA_INLINE F load_n(const float* p, int n) { return _mm512_maskz_loadu_ps(first(n), p); }
TESSERA_INLINE void store(float* p, F a) { _mm512_storeu_ps(p, a); }
TESSERA_INLINE void store_n(float* p, F a, int n) { _mm512_mask_storeu_ps(p, first(n), a); }

TESSERA_INLINE F add(F a, F b) { return _mm512_add_ps(a, b); }
TESSERA_INLINE F sub(F a, F b) { return _mm512_sub_ps(a, b); }
TESSERA_INLINE F mul(F a, F b) { return _mm512_mul_ps(a, b); }
TESSERA_INLINE F div(F a, F b) { return _mm512_div_ps(a, b); }
TESSERA_INLINE F max(F a, F b) { return _mm512_max_ps(a, b); }
TESSERA_INLINE F min(F a, F b) { return _mm512_min_ps(a, b); }
TESSERA_INLINE F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }

TESSERA_INLINE M less(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
TESSERA_INLINE M less_equal(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
TESSERA_INLINE M equal(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
TESSERA_INLINE F select(M m, F a, F b) { return _mm512_mask_blend_ps(m, b, a); }

TESSERA_INLINE float reduce_add(F a) { return _mm512_reduce_add_ps(a); }
TESSERA_INLINE float reduce_max(F a) { return _mm512_reduce_max_ps(a); }

TESSERA_INLINE F sum4(F a, F b, F c, F d) {
  const __m512d ab = _mm512_castps_pd(add(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b)));
  const __m512d cd = _mm512_castps_pd(add(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d)));
  return add(_mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)), _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
}
TESSERA_INLINE F fold_blocks(const float* v) {
  const F a = load(v), b = load(v + 16), c = load(v + 32), d = load(v + 48);
  const F ab = add(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));  // a01 a23 b01 b23
  const F cd = add(_mm512_shuffle_f32x4(c, d, 0x88), _mm512_shuffle_f32x4(c, d, 0xdd));
  return add(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
}

TESSERA_INLINE F widen_bf16(__m256i h) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16)); }
TESSERA_INLINE F load_f16(const std::uint16_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
TESSERA_INLINE F load_bf16(const std::uint16_t* p) {
  return widen_bf16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
TESSERA_INLINE F load_f16_n(const std::uint16_t* p, int n) { return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first(n), p)); }
TESSERA_INLINE F load_bf16_n(const std::uint16_t* p, int n) { return widen_bf16(_mm256_maskz_loadu_epi16(first(n), p)); }

TESSERA_INLINE __m256i narrow_f16(F a) { return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TESSERA_INLINE __m256i narrow_bf16(F a) {
  // Round to nearest even in integers: exact for subnormals too, which VCVTNEPS2BF16 flushes. NaN stays NaN.
  const __m512i bits = _mm512_castps_si512(a);
  const __m512i lsb = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(lsb, _mm512_set1_epi32(0x7fff)));
  const M nan = _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_blend_epi32(nan, rounded, quiet), 16));
}
TESSERA_INLINE void store_f16(std::uint16_t* p, F a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrow_f16(a)); }
TESSERA_INLINE void store_bf16(std::uint16_t* p, F a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrow_bf16(a)); }
TESSERA_INLINE void store_f16_n(std::uint16_t* p, F a, int n) { _mm256_mask_storeu_epi16(p, first(n), narrow_f16(a)); }
TESSERA_INLINE void store_bf16_n(std::uint16_t* p, F a, int n) { _mm256_mask_storeu_epi16(p, first(n), narrow_bf16(a)); }

TESSERA_INLINE F exp2(F x) {
  const F n = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const F r = sub(x, n);  // [-0.5, 0.5]; -inf - -inf is NaN, repaired by scalef's 2^-inf below
  F p = set1(1.5353362e-4f);
  p = fma(p, r, set1(1.33988750e-3f));
  p = fma(p, r, set1(9.61843692e-3f));
  p = fma(p, r, set1(5.55033237e-2f));
  p = fma(p, r, set1(2.40226477e-1f));
  p = fma(p, r, set1(6.93147182e-1f));
  p = fma(p, r, set1(1.0f));
  const M finite = _mm512_cmp_ps_mask(x, set1(-151.0f), _CMP_NLT_UQ);  // NaN counts as finite and stays NaN
  return _mm512_maskz_scalef_ps(finite, p, n);
}

TESSERA_INLINE void transpose(F (&r)[16]) {
  F t[16];
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {  // blocks of 4 x 4, in each 128-bit lane
    const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(r[i], r[i + 1])),
                  b = _mm512_castps_pd(_mm512_unpackhi_ps(r[i], r[i + 1]));
    const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(r[i + 2], r[i + 3])),
                  d = _mm512_castps_pd(_mm512_unpackhi_ps(r[i + 2], r[i + 3]));
    t[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    t[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    t[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    t[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {  // then the blocks: t[4 j + i] holds columns i, i + 4, i + 8, i + 12 of rows 4 j ... 4 j + 3
    const F a = _mm512_shuffle_f32x4(t[i], t[i + 4], 0x88), b = _mm512_shuffle_f32x4(t[i], t[i + 4], 0xdd);
    const F c = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0x88), d = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0xdd);
    r[i] = _mm512_shuffle_f32x4(a, c, 0x88);
    r[i + 8] = _mm512_shuffle_f32x4(a, c, 0xdd);
    r[i + 4] = _mm512_shuffle_f32x4(b, d, 0x88);
    r[i + 12] = _mm512_shuffle_f32x4(b, d, 0xdd);
  }
}

TESSERA_INLINE void prefetch_l1(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }
TESSERA_INLINE void prefetch_l2(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }

#if defined(TESSERA_ISA_IS_AVX512BF16)
inline constexpr bool kHasPairDot = true;
using P = __m512bh;
TESSERA_INLINE P load_pairs(const void* p) { return (P)_mm512_loadu_si512(p); }
TESSERA_INLINE P load_pairs_n(const void* p, int n) {
  return (P)_mm512_maskz_loadu_epi16(n >= 32 ? 0xffffffffu : (1u << n) - 1u, p);
}
TESSERA_INLINE P zero_pairs() { return (P)_mm512_setzero_si512(); }
TESSERA_INLINE P set1_pair(const void* p) {
  std::int32_t pair;
  __builtin_memcpy(&pair, p, 4);  // two-byte alignment is enough
  return (P)_mm512_set1_epi32(pair);
}
TESSERA_INLINE F dot(P a, P b, F acc) { return _mm512_dpbf16_ps(acc, a, b); }
TESSERA_INLINE void store_pairs(void* p, F a, F b) { _mm512_storeu_si512(p, (__m512i)_mm512_cvtne2ps_pbh(b, a)); }
TESSERA_INLINE F exp2_to_round(F x) {
  // x = n + r with n = floor(x): VREDUCEPS gives r in [0, 1) (0 for -inf), VSCALEFPS takes the floor itself.
  const F r = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  F p = set1(1.86713005e-3f);
  p = fma(p, r, set1(9.01703071e-3f));
  p = fma(p, r, set1(5.57999127e-2f));
  p = fma(p, r, set1(2.40164444e-1f));
  p = fma(p, r, set1(6.93151295e-1f));
  p = fma(p, r, set1(1.0f));
  return _mm512_scalef_ps(p, x);
}
TESSERA_INLINE P round_pairs(F lo, F hi) {
  const __m512i both = (__m512i)_mm512_cvtne2ps_pbh(hi, lo);  // 16 of lo, then 16 of hi
  const __m512i interleave = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21,
                                              5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return (P)_mm512_permutexvar_epi16(interleave, both);
}
TESSERA_INLINE P interleave_lo(P a, P b) { return (P)_mm512_unpacklo_epi16((__m512i)a, (__m512i)b); }
TESSERA_INLINE P interleave_hi(P a, P b) { return (P)_mm512_unpackhi_epi16((__m512i)a, (__m512i)b); }
TESSERA_INLINE F ordered_lo(F lo, F hi) {
  const __m512i index = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
  return _mm512_permutex2var_ps(lo, index, hi);
}
TESSERA_INLINE F ordered_hi(F lo, F hi) {
  const __m512i index = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
  return _mm512_permutex2var_ps(lo, index, hi);
}
#else
inline constexpr bool kHasPairDot = false;
#endif

}  // namespace tessera::cpu::TESSERA_ISA_NAME
