// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd/simd_probe.hpp"

#include "cpu/simd/simd.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {
namespace {

void copy_n(const float* in, int n, float* out) { store_n(out, load_n(in, n), n); }

void widen(bool bf16, const std::uint16_t* in, int n, float* out) {
  if (n == kWidth) {
    store(out, bf16 ? load_bf16(in) : load_f16(in));
  } else {
    store(out, bf16 ? load_bf16_n(in, n) : load_f16_n(in, n));
  }
}

void narrow(bool bf16, const float* in, int n, std::uint16_t* out) {
  const F a = load(in);
  if (n == kWidth) {
    bf16 ? store_bf16(out, a) : store_f16(out, a);
  } else {
    bf16 ? store_bf16_n(out, a, n) : store_f16_n(out, a, n);
  }
}

void arithmetic(const float* pa, const float* pb, const float* pc, float* out) {
  const F a = load(pa), b = load(pb), c = load(pc);
  store(out, add(a, b));
  store(out + kWidth, sub(a, b));
  store(out + 2 * kWidth, mul(a, b));
  store(out + 3 * kWidth, max(a, b));
  store(out + 4 * kWidth, min(a, b));
  store(out + 5 * kWidth, fma(a, b, c));
}

void compare(const float* pa, const float* pb, float* out) {
  const F a = load(pa), b = load(pb), one = set1(1.0f);
  store(out, select(less(a, b), one, zero()));
  store(out + kWidth, select(less_equal(a, b), one, zero()));
  store(out + 2 * kWidth, select(equal(a, b), one, zero()));
}

void first_lanes(int n, float* out, bool* is_any, bool* is_all) {
  const M m = first(n);
  store(out, select(both(m, first(kWidth)), set1(1.0f), zero()));
  *is_any = any(m);
  *is_all = all(m);
}

void power(const float* in, float* out) { store(out, exp2(load(in))); }

void reduce(const float* in, float* sum, float* maximum) {
  *sum = reduce_add(load(in));
  *maximum = reduce_max(load(in));
}

void sums(const float* in, float* out) {
  float blocks[kWidth / 4 * kWidth];
  for (int g = 0; g < kWidth / 4; ++g, in += 4 * kWidth) {
    store(blocks + g * kWidth, sum4(load(in), load(in + kWidth), load(in + 2 * kWidth), load(in + 3 * kWidth)));
  }
  store(out, fold_blocks(blocks));
}

#if defined(TESSERA_ISA_IS_AVX512BF16)
void power_to_round(const float* in, float* out) { store(out, exp2_to_round(load(in))); }
void pair_dot(const std::uint16_t* a, const std::uint16_t* b, const float* acc, float* out) {
  store(out, dot(load_pairs(a), load_pairs(b), load(acc)));
}
void rounded(const float* lo, const float* hi, std::uint16_t* out) {
  const P pairs = round_pairs(load(lo), load(hi));
  __builtin_memcpy(out, &pairs, sizeof pairs);
}
void interleaved(const std::uint16_t* a, const std::uint16_t* b, int n, const std::uint16_t* pair, float* out) {
  const P row_a = load_pairs_n(a, n), row_b = load_pairs_n(b, n), weights = set1_pair(pair);
  const F lo = dot(interleave_lo(row_a, row_b), weights, zero()), hi = dot(interleave_hi(row_a, row_b), weights, zero());
  store(out, ordered_lo(lo, hi));
  store(out + kWidth, ordered_hi(lo, hi));
}
#else
constexpr decltype(SimdProbe::exp2_to_round) power_to_round = nullptr;
constexpr decltype(SimdProbe::pair_dot) pair_dot = nullptr;
constexpr decltype(SimdProbe::round_pairs) rounded = nullptr;
constexpr decltype(SimdProbe::interleaved) interleaved = nullptr;
#endif

}  // namespace

extern const SimdProbe simd_probe;
const SimdProbe simd_probe = {kWidth, kHasPairDot,    copy_n, widen, narrow,   arithmetic, compare,    first_lanes,
                              power,  power_to_round, reduce, sums,  pair_dot, rounded,    interleaved};

}  // namespace tessera::cpu::TESSERA_ISA_NAME
