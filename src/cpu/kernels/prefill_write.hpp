// SPDX-License-Identifier: Apache-2.0
// The end of a block of rows: O and LSE, or an unnormalised partial for a later merge.
#pragma once

#include "cpu/kernels/prefill_pack.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// State of the rows of a block; to_partial and to_natural turn m into the units of a partial and of an LSE.
struct BlockState {
  const float *o, *m, *l;
  bool seen;  // o was written
  float to_partial;
  double to_natural;
};

/// out[i][0 ... dv) = O of lane i * norm of lane i, for the first `valid` lanes of vector j.
template <class Write>
TESSERA_INLINE void write_lanes(const float* o, int stride, bool seen, const float* norm, int dv, int valid,
                                const Write& write) {
  const F n = load(norm);
  for (int c = 0; c < dv; c += kWidth) {
    F block[kWidth];
    for (int i = 0; i < kWidth; ++i) block[i] = seen ? mul(load(o + (c + i) * stride), n) : zero();
    transpose(block);
    for (int i = 0; i < valid; ++i) write(i, c, block[i]);
  }
}

/// What O is multiplied by, and the LSE, of a row with reference m (natural domain) and sum l.
TESSERA_INLINE float finish_row(double m, float l, const float* sink, float* lse) {
  if (l == 0) {  // no visible key
    *lse = sink ? *sink : -__builtin_inff();
    return 0;
  }
  if (sink == nullptr) {
    *lse = static_cast<float>(m + __builtin_log(static_cast<double>(l)));
    return 1 / l;
  }
  const double highest = m > *sink ? m : *sink, own = __builtin_exp(m - highest);
  const double sum = own * l + __builtin_exp(*sink - highest);
  *lse = static_cast<float>(highest + __builtin_log(sum));
  return static_cast<float>(own / sum);
}

template <class T>
void write_outputs(const RunConstants& constants, const Sequence& sequence, std::int32_t kv_head, std::int64_t row,
                   std::int64_t row_end, int vectors, const BlockState& state) {
  using Stored = typename T::Stored;
  for (int j = 0; j < vectors; ++j, row += kWidth) {
    alignas(64) float norm[kWidth] = {};
    Stored* out[kWidth];
    const int valid = row_end - row < kWidth ? static_cast<int>(row_end - row) : kWidth;
    for (int i = 0; i < valid; ++i) {
      const std::int64_t query = (row + i) / constants.group, head = kv_head * constants.group + (row + i) % constants.group;
      float lse;
      norm[i] = finish_row(state.m[j * kWidth + i] * state.to_natural, state.l[j * kWidth + i],
                           constants.sink ? constants.sink + head : nullptr, &lse);
      if (sequence.lse) sequence.lse[head * sequence.lse_stride_head + query] = lse;
      out[i] = reinterpret_cast<Stored*>(sequence.o + query * sequence.o_stride_token + head * sequence.o_stride_head);
    }
    write_lanes(
        state.o + j * kWidth, vectors * kWidth, state.seen, norm, constants.dv,
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
TESSERA_INLINE void write_partial(const RunConstants& constants, const Partial& partial, std::int64_t index, int rows,
                                  int vectors, const BlockState& state) {
  alignas(64) float one[kWidth];
  for (int i = 0; i < kWidth; ++i) one[i] = 1;
  for (int j = 0; j < vectors; ++j) {
    const int valid = rows - j * kWidth < kWidth ? rows - j * kWidth : kWidth;
    float* o = partial.o + (index + j * kWidth) * constants.dv;
    for (int i = 0; i < valid; ++i) {
      const float l = state.l[j * kWidth + i], m = state.m[j * kWidth + i] * state.to_partial;
      // A NaN among keys that are otherwise -inf must not be taken for an empty row.
      partial.m[index + j * kWidth + i] = __builtin_isnan(l) && m < 0 && __builtin_isinf(m) ? 0 : m;
      partial.l[index + j * kWidth + i] = l;
    }
    write_lanes(
        state.o + j * kWidth, vectors * kWidth, state.seen, one, constants.dv,
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
