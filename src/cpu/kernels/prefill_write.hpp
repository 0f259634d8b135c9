// SPDX-License-Identifier: Apache-2.0
// The end of a block of rows: O and LSE, or an unnormalised partial for a later merge.
#pragma once

#include "cpu/kernels/finish_row.hpp"
#include "cpu/kernels/prefill_pack.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// State of the rows of a block.
struct BlockState {
  const float *o, *m, *l;  // m in the units of score_units.hpp
  bool seen;               // o was written
  float natural;           // of one unit of m
};

/// out[i][c ... dv) = O of lane i * norm of lane i, for the first `valid` lanes of vector j.
template <class T, class Write>
TESSERA_INLINE void write_lanes(const float* o, int stride, bool seen, const float* norm, int c, int dv, int valid,
                                const Write& write) {
  const F n = load(norm);
  for (; c < dv; c += kWidth) {
    F block[kWidth];
    for (int i = 0; i < kWidth; ++i) block[i] = seen ? scaled_sum<T::kPairs>(load(o + (c + i) * stride), n) : zero();
    transpose(block);
    for (int i = 0; i < valid; ++i) write(i, c, block[i]);
  }
}

/// log(x) for normal x > 0 within 1e-10; any value for others. x = 2^e f, f in [sqrt(1/2), sqrt(2)), and
/// log f = 2 atanh(s), s = (f - 1) / (f + 1), |s| < 0.172. Written so that a loop over it becomes vector code: libm's
/// log for each row was two thirds of writing a block.
TESSERA_INLINE double log_of(float x) {
  std::int32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  const std::int32_t e = (bits - 0x3f3504f3) >> 23, reduced = bits - e * (1 << 23);
  float f;
  __builtin_memcpy(&f, &reduced, 4);
  const double s = (static_cast<double>(f) - 1) / (static_cast<double>(f) + 1), z = s * s;
  const double series =
      2.0 + z * (2.0 / 3 + z * (2.0 / 5 + z * (2.0 / 7 + z * (2.0 / 9 + z * (2.0 / 11 + z * (2.0 / 13))))));
  return e * 0.69314718055994530942 + s * series;
}

/// What O is multiplied by, and the LSE, of kWidth rows with maxima m and sums l (0: no visible key).
TESSERA_INLINE void finish_lanes(const float* m, const float* l, double natural, float* norm, float* lse) {
  double log[kWidth];
  for (int i = 0; i < kWidth; ++i) log[i] = m[i] * natural + log_of(l[i]);
  for (int i = 0; i < kWidth; ++i) {
    const bool usual = l[i] > 0 && l[i] < kInfinity;
    norm[i] = l[i] == 0 ? 0 : 1 / l[i];
    lse[i] = usual ? static_cast<float>(log[i]) : l[i] == 0 ? -kInfinity : m[i] + l[i];  // the last is NaN or Inf
  }
}

/// The same of one row with a sink.
TESSERA_INLINE void finish_with_sink(double m, float l, float sink, float& norm, float& lse) {
  if (l == 0) {
    lse = sink;
    return;
  }
  const double highest = m > sink ? m : sink, own = __builtin_exp(m - highest);
  const double sum = own * l + __builtin_exp(sink - highest);
  lse = static_cast<float>(highest + __builtin_log(sum));
  norm = static_cast<float>(own / sum);
}

/// The first features of write_lanes, 2 * kWidth at a time, rounded before they are transposed: half the shuffles, and
/// stores of a line. Subnormal results become 0, as they do in the dot products that made them. Returns where it stopped.
template <class T>
TESSERA_INLINE int write_rounded(const float* o, int stride, const float* norm, int dv, int valid,
                                 typename T::Stored** out) {
  int c = 0;
  if constexpr (T::kPairs) {
    const F n = load(norm);
    for (; c + 2 * kWidth <= dv; c += 2 * kWidth) {
      F block[kWidth];
#pragma GCC unroll 16
      for (int i = 0; i < kWidth; ++i) {
        const float* at = o + (c + 2 * i) * stride;
        block[i] = T::rounded(scaled_sum<true>(load(at), n), scaled_sum<true>(load(at + stride), n));
      }
      transpose(block);
      for (int i = 0; i < valid; ++i) store(reinterpret_cast<float*>(out[i] + c), block[i]);
    }
  }
  return c;
}

template <class T>
void write_outputs(const RunConstants& constants, const Sequence& sequence, std::int32_t kv_head, std::int64_t row,
                   std::int64_t row_end, int vectors, const BlockState& state) {
  using Stored = typename T::Stored;
  RowCursor at = row_cursor(constants, kv_head, row);
  for (int j = 0; j < vectors; ++j, row += kWidth) {
    alignas(64) float norm[kWidth], lse[kWidth];
    Stored* out[kWidth];
    const float *m = state.m + j * kWidth, *l = state.l + j * kWidth;
    finish_lanes(m, l, state.natural, norm, lse);
    const int valid = row_end - row < kWidth ? static_cast<int>(row_end - row) : kWidth;
    for (int i = 0; i < valid; ++i, next_row(at)) {
      if (constants.sink)
        finish_with_sink(static_cast<double>(m[i]) * state.natural, l[i], constants.sink[at.head], norm[i], lse[i]);
      if (sequence.lse) sequence.lse[at.head * sequence.lse_stride_head + at.query] = lse[i];
      out[i] = reinterpret_cast<Stored*>(sequence.o + at.query * sequence.o_stride_token + at.head * sequence.o_stride_head);
    }
    const int done =
        state.seen ? write_rounded<T>(state.o + j * kWidth, vectors * kWidth, norm, constants.dv, valid, out) : 0;
    write_lanes<T>(
        state.o + j * kWidth, vectors * kWidth, state.seen, norm, done, constants.dv,
        valid, [&](int i, int c, F x) __attribute__((always_inline)) {
          if (constants.dv - c >= kWidth) {
            T::write(out[i] + c, x);
          } else {
            T::write_n(out[i] + c, x, constants.dv - c);
          }
        });
  }
}

/// Rows from `index` on of the partial.
template <class T>
TESSERA_INLINE void write_partial(const RunConstants& constants, const Partial& partial, std::int64_t index, int rows,
                                  int vectors, const BlockState& state) {
  alignas(64) float one[kWidth];
  for (int i = 0; i < kWidth; ++i) one[i] = 1;
  for (int j = 0; j < vectors; ++j) {
    const int valid = rows - j * kWidth < kWidth ? rows - j * kWidth : kWidth;
    float* o = partial.o + (index + j * kWidth) * constants.dv;
    for (int i = 0; i < valid; ++i) {
      const float l = state.l[j * kWidth + i], m = state.m[j * kWidth + i] * state.natural;
      // A NaN among keys that are otherwise -inf must not be taken for an empty row.
      partial.m[index + j * kWidth + i] = __builtin_isnan(l) && m < 0 && __builtin_isinf(m) ? 0 : m;
      partial.l[index + j * kWidth + i] = l;
    }
    write_lanes<T>(
        state.o + j * kWidth, vectors * kWidth, state.seen, one, 0, constants.dv,
        valid, [&](int i, int c, F x) __attribute__((always_inline)) {
          if (constants.dv - c >= kWidth) {
            store(o + i * constants.dv + c, x);
          } else {
            store_n(o + i * constants.dv + c, x, constants.dv - c);
          }
        });
  }
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
