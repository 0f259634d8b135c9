// SPDX-License-Identifier: Apache-2.0
// The few vector primitives that kernels are written in. TESSERA_ISA_NAME (set by the build for each compilation of a
// kernel) picks the header; each header defines the same names in namespace tessera::cpu::TESSERA_ISA_NAME:
//
//   F, M, kWidth                     a vector of kWidth floats, a mask of as many lanes
//   kRegisters                       vector registers there are
//   load, store, set1, zero          floats, unaligned
//   load_n, store_n                  the first n lanes (n <= kWidth); others read as 0, are not written, never touched
//   load_f16, load_bf16 (.._n)       kWidth 16-bit values widened to float
//   store_f16, store_bf16 (.._n)     rounded to nearest even
//   add sub mul div max min fma      fma(a, b, c) = a * b + c; max(a, b) gives b when either is NaN
//   less, less_equal, equal, select  select(m, a, b) = m ? a : b
//   first(n), any, all, both         masks
//   exp2(x)                          2^x, within 2 ulp for x in [-126, 127]; 0 below; NaN stays NaN. A minimax polynomial
//                                    of degree 6: degree 5 is at 9.1e-8 before rounding, and at 2.1 ulp after it
//   reduce_add, reduce_max           over lanes
//   sum4(a, b, c, d)                 lane 4 i + j: the sum of block i (4 lanes) of operand j
//   fold_blocks(v)                   of kWidth / 4 vectors at v, results of sum4: lane 4 g + j is the sum of lane j of
//                                    every block of vector g. So kWidth vectors become the vector of their sums, and
//                                    each sum is taken in the same order
//   transpose(rows)                  of kWidth vectors, in place: lane j of vector i goes to lane i of vector j, bit for bit
//   prefetch_l1(p), prefetch_l2(p)   the line at p
//
// and, where kHasPairDot (bf16 products in hardware):
//   P                                kWidth pairs of bf16, one pair a 32-bit lane
//   load_pairs, set1_pair(p)         kWidth pairs; the pair at p in every lane
//   dot(a, b, acc)                   acc + a.lo * b.lo + a.hi * b.hi, each lane
//   load_pairs_n(p, n), zero_pairs   the first n bf16 values (n <= 2 kWidth), the rest 0
//   interleave_lo, _hi(a, b)         of two rows of 2 kWidth values: pairs (a[i], b[i]), in an order of the ISA's own ...
//   ordered_lo, _hi(lo, hi)          ... that these undo: the first and the last kWidth lanes in the order of the rows
//   store_pairs(p, a, b)             2 kWidth values, those of a, then those of b, rounded to nearest even (subnormals
//                                    become 0)
//   exp2_to_round(x)                 2^x within 3 ulp by degree 5, for a result that is rounded to bf16 and summed before
//   round_pairs(lo, hi)              P of two float vectors, rounded to nearest even: lane i holds (lo[i], hi[i])
#pragma once

#include <cstddef>
#include <cstdint>

#define TESSERA_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#pragma GCC diagnostic push  // GCC 12 reports its own header's undefined vectors
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#if defined(TESSERA_ISA_IS_AVX512) || defined(TESSERA_ISA_IS_AVX512BF16)
#include "cpu/simd/avx512.hpp"
#elif defined(TESSERA_ISA_IS_AVX2)
#include "cpu/simd/avx2.hpp"
#else
#include "cpu/simd/portable.hpp"
#endif
