// SPDX-License-Identifier: Apache-2.0
// Four lanes of the compiler's vector extension: SSE2 on x86-64, NEON on AArch64, scalars elsewhere.
#pragma once

#include <cstring>

namespace tessera::cpu::TESSERA_ISA_NAME {

typedef float F __attribute__((vector_size(16)));
typedef std::int32_t M __attribute__((vector_size(16)));  // a lane is -1 or 0
typedef std::uint32_t U __attribute__((vector_size(16)));
inline constexpr int kWidth = 4;
inline constexpr int kRegisters = 16;

TESSERA_INLINE U bits_of(F a) { return (U)a; }
TESSERA_INLINE F float_of(U a) { return (F)a; }
TESSERA_INLINE U select_bits(M m, U a, U b) { return ((U)m & a) | (~(U)m & b); }

TESSERA_INLINE M first(int n) { return M{0, 1, 2, 3} < M{n, n, n, n}; }
TESSERA_INLINE bool any(M m) { return (m[0] | m[1] | m[2] | m[3]) != 0; }
TESSERA_INLINE bool all(M m) { return (m[0] & m[1] & m[2] & m[3]) != 0; }
TESSERA_INLINE M both(M a, M b) { return a & b; }

TESSERA_INLINE F zero() { return F{0, 0, 0, 0}; }
TESSERA_INLINE F set1(float x) { return F{x, x, x, x}; }
TESSERA_INLINE F load(const float* p) {
  F a;
  std::memcpy(&a, p, sizeof a);
  return a;
}
TESSERA_INLINE F load_n(const float* p, int n) {
  if (n >= 4) return load(p);
  F a = zero();
  for (int i = 0; i < n; ++i) a[i] = p[i];
  return a;
}
TESSERA_INLINE void store(float* p, F a) { std::memcpy(p, &a, sizeof a); }
TESSERA_INLINE void store_n(float* p, F a, int n) {
  for (int i = 0; i < n && i < 4; ++i) p[i] = a[i];
}

TESSERA_INLINE M less(F a, F b) { return (M)(a < b); }
TESSERA_INLINE M less_equal(F a, F b) { return (M)(a <= b); }
TESSERA_INLINE M equal(F a, F b) { return (M)(a == b); }
TESSERA_INLINE F select(M m, F a, F b) { return float_of(select_bits(m, bits_of(a), bits_of(b))); }

TESSERA_INLINE F add(F a, F b) { return a + b; }
TESSERA_INLINE F sub(F a, F b) { return a - b; }
TESSERA_INLINE F mul(F a, F b) { return a * b; }
TESSERA_INLINE F div(F a, F b) { return a / b; }
TESSERA_INLINE F fma(F a, F b, F c) { return a * b + c; }
#if defined(__SSE2__)
TESSERA_INLINE F max(F a, F b) { return (F)__builtin_ia32_maxps(a, b); }
TESSERA_INLINE F min(F a, F b) { return (F)__builtin_ia32_minps(a, b); }
#else
TESSERA_INLINE F max(F a, F b) { return select((M)(a > b), a, b); }
TESSERA_INLINE F min(F a, F b) { return select((M)(a < b), a, b); }
#endif

TESSERA_INLINE float reduce_add(F a) { return (a[0] + a[2]) + (a[1] + a[3]); }
TESSERA_INLINE float reduce_max(F a) {
  const float x = a[0] > a[2] ? a[0] : a[2], y = a[1] > a[3] ? a[1] : a[3];
  return x > y ? x : y;
}

#if defined(__clang__)
#define TESSERA_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define TESSERA_SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, M{i, j, k, l})
#endif
TESSERA_INLINE F sum4(F a, F b, F c, F d) {
  const F ab = TESSERA_SHUFFLE(a, b, 0, 4, 1, 5) + TESSERA_SHUFFLE(a, b, 2, 6, 3, 7);
  const F cd = TESSERA_SHUFFLE(c, d, 0, 4, 1, 5) + TESSERA_SHUFFLE(c, d, 2, 6, 3, 7);
  return TESSERA_SHUFFLE(ab, cd, 0, 1, 4, 5) + TESSERA_SHUFFLE(ab, cd, 2, 3, 6, 7);
}
#undef TESSERA_SHUFFLE
TESSERA_INLINE F fold_blocks(const float* v) { return load(v); }

TESSERA_INLINE U load_u16(const std::uint16_t* p) {
  std::uint64_t four;
  std::memcpy(&four, p, sizeof four);
#if defined(__SSE2__)
  return (U)_mm_unpacklo_epi16(_mm_cvtsi64_si128(static_cast<long long>(four)), _mm_setzero_si128());
#else
  return U{static_cast<std::uint16_t>(four), static_cast<std::uint16_t>(four >> 16), static_cast<std::uint16_t>(four >> 32),
           static_cast<std::uint16_t>(four >> 48)};
#endif
}
TESSERA_INLINE U load_u16_n(const std::uint16_t* p, int n) {
  U a = {};
  for (int i = 0; i < n && i < 4; ++i) a[i] = p[i];
  return a;
}
TESSERA_INLINE void store_u16_n(std::uint16_t* p, U a, int n) {
  for (int i = 0; i < n && i < 4; ++i) p[i] = static_cast<std::uint16_t>(a[i]);
}

TESSERA_INLINE F widen_bf16(U h) { return float_of(h << 16); }
TESSERA_INLINE F widen_f16(U h) {
  // The exponent moves by 112, as a product so that subnormals come out normal; 31 (Inf, NaN) becomes 255.
  const U magnitude = (h & 0x7fff) << 13;
  const U scaled = bits_of(float_of(magnitude) * 0x1p112f);
  const U special = (U)(magnitude >= 0x0f800000) & 0x7f800000;
  return float_of(scaled | special | ((h & 0x8000) << 16));
}
TESSERA_INLINE F load_f16(const std::uint16_t* p) { return widen_f16(load_u16(p)); }
TESSERA_INLINE F load_bf16(const std::uint16_t* p) { return widen_bf16(load_u16(p)); }
TESSERA_INLINE F load_f16_n(const std::uint16_t* p, int n) { return widen_f16(load_u16_n(p, n)); }
TESSERA_INLINE F load_bf16_n(const std::uint16_t* p, int n) { return widen_bf16(load_u16_n(p, n)); }

TESSERA_INLINE U narrow_f16(F a) {
  const U bits = bits_of(a), sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  const U normal = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // Below 2^-14 the sum's ulp is 2^-24, so its low bits are the rounded subnormal.
  const U subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000;
  U h = select_bits((M)(magnitude < 0x38800000), subnormal, normal);
  h = select_bits((M)(magnitude >= 0x477ff000), U{} + 0x7c00, h);
  h = select_bits((M)(magnitude > 0x7f800000), 0x7e00 | ((magnitude >> 13) & 0x3ff), h);
  return sign | h;
}
TESSERA_INLINE U narrow_bf16(F a) {
  const U bits = bits_of(a);
  const U rounded = bits + 0x7fff + ((bits >> 16) & 1);
  return select_bits((M)(a != a), bits | 0x400000, rounded) >> 16;
}
TESSERA_INLINE void store_f16(std::uint16_t* p, F a) { store_u16_n(p, narrow_f16(a), 4); }
TESSERA_INLINE void store_bf16(std::uint16_t* p, F a) { store_u16_n(p, narrow_bf16(a), 4); }
TESSERA_INLINE void store_f16_n(std::uint16_t* p, F a, int n) { store_u16_n(p, narrow_f16(a), n); }
TESSERA_INLINE void store_bf16_n(std::uint16_t* p, F a, int n) { store_u16_n(p, narrow_bf16(a), n); }

TESSERA_INLINE F exp2(F x) {
  const F clamped = max(set1(-127.0f), x);        // NaN stays
  const F n = (clamped + 0x1.8p23f) - 0x1.8p23f;  // to nearest even: ulp is 1 there
  const F r = clamped - n;                        // [-0.5, 0.5]
  F p = set1(1.5353362e-4f);
  p = fma(p, r, set1(1.33988750e-3f));
  p = fma(p, r, set1(9.61843692e-3f));
  p = fma(p, r, set1(5.55033237e-2f));
  p = fma(p, r, set1(2.40226477e-1f));
  p = fma(p, r, set1(6.93147182e-1f));
  p = fma(p, r, set1(1.0f));
  const U scaled = bits_of(p) + ((U) __builtin_convertvector(n, M) << 23);
  const U finite = select_bits(less_equal(set1(-126.0f), x), scaled, U{});
  return float_of(select_bits((M)(x != x), bits_of(x), finite));
}

TESSERA_INLINE void transpose(F (&r)[4]) {
  const F a = r[0], b = r[1], c = r[2], d = r[3];
  for (int i = 0; i < 4; ++i) r[i] = F{a[i], b[i], c[i], d[i]};
}

TESSERA_INLINE void prefetch_l1(const void* p) { __builtin_prefetch(p, 0, 3); }
TESSERA_INLINE void prefetch_l2(const void* p) { __builtin_prefetch(p, 0, 2); }

inline constexpr bool kHasPairDot = false;

}  // namespace tessera::cpu::TESSERA_ISA_NAME
