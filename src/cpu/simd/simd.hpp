// SPDX-License-Identifier: Apache-2.0
// The few vector primitives that kernels are written in. TESSERA_ISA_NAME (set by the build for each compilation of a
// kernel) picks the header; each header defines the same names in namespace tessera::cpu::TESSERA_ISA_NAME:
//
//   F, M, kWidth                     a vector of kWidth floats, a mask of as many lanes
//   load, store, set1, zero          floats, unaligned
//   load_n, store_n                  the first n lanes (n <= kWidth); others read as 0, are not written, never touched
//   load_f16, load_bf16 (.._n)       kWidth 16-bit values widened to float
//   store_f16, store_bf16 (.._n)     rounded to nearest even
//   add sub mul max min fma          fma(a, b, c) = a * b + c; max(a, b) gives b when either is NaN
//   less, less_equal, equal, select  select(m, a, b) = m ? a : b
//   first(n), any, all, both         masks
//   exp2(x)                          2^x, within 2 ulp for x in [-126, 127]; 0 below; NaN stays NaN
//   reduce_add, reduce_max           over lanes
//   prefetch_l2(p)                   the line at p
//
// and, where kHasPairDot (bf16 products in hardware):
//   P                                kWidth pairs of bf16, one pair a 32-bit lane
//   load_pairs, set1_pair(p)         kWidth pairs; the pair at p in every lane
//   dot(a, b, acc)                   acc + a.lo * b.lo + a.hi * b.hi, each lane
//   round_pairs(lo, hi)              P of two float vectors, rounded to nearest even: lane i holds (lo[i], hi[i])
#pragma once

#include <cstddef>
#include <cstdint>

#define TESSERA_INLINE static inline __attribute__((always_inline))

#if defined(TESSERA_ISA_IS_AVX512) || defined(TESSERA_ISA_IS_AVX512BF16)
#include "cpu/simd/avx512.hpp"
#elif defined(TESSERA_ISA_IS_AVX2)
#include "cpu/simd/avx2.hpp"
#else
#include "cpu/simd/portable.hpp"
#endif
