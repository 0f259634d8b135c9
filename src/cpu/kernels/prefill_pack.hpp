// SPDX-License-Identifier: Apache-2.0
// Copies of Q, K and V in the order the micro-kernels read them. Strides, pages, 16-bit types and odd head dims end here.
#pragma once

#include "cpu/kernels/prefill_gemm.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// Walks over the rows of a kv head: one division at the start, none after.
struct RowCursor {
  std::int64_t query, head;  // head of all query heads
  std::int64_t last;         // head of the group
  std::int32_t group;
};

TESSERA_INLINE RowCursor row_cursor(const RunConstants& constants, std::int32_t kv_head, std::int64_t row) {
  const std::int64_t query = row / constants.group, first = std::int64_t{kv_head} * constants.group;
  return {query, first + row - query * constants.group, first + constants.group - 1, constants.group};
}

TESSERA_INLINE void next_row(RowCursor& at) {
  const bool wraps = at.head == at.last;
  at.query += wraps;
  at.head = wraps ? at.last - at.group + 1 : at.head + 1;
}

/// Addresses of the next kWidth of `left` rows of Q; how many they are.
template <class Stored>
TESSERA_INLINE int find_query_rows(const Sequence& sequence, RowCursor& at, std::int64_t left, const Stored** rows) {
  const int n = left < kWidth ? static_cast<int>(left) : kWidth;
  for (int i = 0; i < n; ++i, next_row(at)) {
    rows[i] =
        reinterpret_cast<const Stored*>(sequence.q + at.query * sequence.q_stride_token + at.head * sequence.q_stride_head);
  }
  return n;
}

/// Qt of rows [row, row_end) in NR vectors of lanes: out[unit][NR * kWidth]. Lanes beyond row_end are 0.
template <class T>
void pack_queries(const RunConstants& constants, const Sequence& sequence, std::int32_t kv_head, std::int64_t row,
                  std::int64_t row_end, int vectors, int units, float* out) {
  using Stored = typename T::Stored;
  const int stride = vectors * kWidth;
  RowCursor at = row_cursor(constants, kv_head, row);
  const Stored* rows[2][kWidth];  // of this vector and of the next, whose lines are asked for meanwhile
  int valid = find_query_rows(sequence, at, row_end - row, rows[0]);
  for (int j = 0; j < vectors; ++j, row += kWidth) {
    const Stored** now = rows[j % 2];
    const int valid_next = j + 1 < vectors ? find_query_rows(sequence, at, row_end - row - kWidth, rows[(j + 1) % 2]) : 0;
    for (int u = 0; u < units; u += kWidth) {
      F block[kWidth];
      for (int i = 0; i < kWidth; ++i) block[i] = i < valid ? T::units(now[i], u, constants.dqk) : zero();
      for (int i = 0; i < valid_next; ++i) prefetch_l1(reinterpret_cast<const float*>(rows[(j + 1) % 2][i]) + u);
      transpose(block);
      const int n = units - u < kWidth ? units - u : kWidth;
      for (int i = 0; i < n; ++i) store(out + (u + i) * stride + j * kWidth, block[i]);
    }
    valid = valid_next;
  }
}

/// Changes the sign of `n` units: exact, so that a negative scale becomes a positive one.
template <class T>
TESSERA_INLINE void negate_units(float* units, std::size_t n) {
  const std::uint32_t signs = T::kPairs ? 0x80008000u : 0x80000000u;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, units + i, 4);
    bits ^= signs;
    __builtin_memcpy(units + i, &bits, 4);
  }
}

/// Whether rows of K can be read where they lie: no conversion, and no half unit at the end.
template <class T>
TESSERA_INLINE bool reads_keys_in_place(int dqk) {
  return T::kPairs ? dqk % 2 == 0 : sizeof(typename T::Stored) == sizeof(float);
}

/// Addresses of the units of keys [0, n), rows of zeros for the kMostBroadcasts after them. Where they cannot be read in
/// place, they are copied to packed[key][stride] first.
template <class T>
TESSERA_INLINE void find_keys(const std::byte* const* rows, std::int64_t head_offset, int n, int dqk, int units,
                              float* packed, int stride, const float* zeros, const float** keys) {
  const bool in_place = reads_keys_in_place<T>(dqk);
  for (int key = 0; key < n; ++key) {
    const auto* row = reinterpret_cast<const typename T::Stored*>(rows[key] + head_offset);
    if (in_place) {
      keys[key] = reinterpret_cast<const float*>(row);
      continue;
    }
    float* out = packed + std::ptrdiff_t(key) * stride;
    for (int u = 0; u < units; u += kWidth) store(out + u, T::units(row, u, dqk));
    keys[key] = out;
  }
  for (int key = n; key < n + kMostBroadcasts; ++key) keys[key] = zeros;
}

/// Interleaves two rows of bf16, `b` null: zeros. Returns non-zero bits where a value is not finite.
TESSERA_INLINE std::uint32_t interleave(const std::uint16_t* __restrict a, const std::uint16_t* __restrict b, int n,
                                        std::uint32_t* __restrict out) {
  std::uint32_t not_finite = 0;
  for (int i = 0; i < n; ++i) {
    const std::uint32_t pair = a[i] | (std::uint32_t{b[i]} << 16);
    not_finite |= (pair & 0x7f807f80u) + 0x00800080u;  // an exponent of all ones carries into the sign's place
    out[i] = pair;
  }
  return not_finite & 0x80008000u;
}

/// V rows of keys [0, n): out[key or pair of keys][stride], columns [dv, columns) are 0, as is the partner of a last odd
/// key. Returns whether every value is finite: if not, a weight of 0 does not hide a key.
template <class T>
bool pack_values(const std::byte* const* rows, std::int64_t head_offset, int n, int dv, int columns, float* out,
                 int stride) {
  using Stored = typename T::Stored;
  if constexpr (T::kPairs) {
    static constexpr std::uint16_t kZeros[256] = {};
    std::uint32_t not_finite = 0;
    for (int key = 0; key < n; key += 2, out += stride) {
      const auto* a = reinterpret_cast<const Stored*>(rows[key] + head_offset);
      const auto* b = key + 1 < n ? reinterpret_cast<const Stored*>(rows[key + 1] + head_offset) : kZeros;
      auto* units = reinterpret_cast<std::uint32_t*>(out);
      not_finite |= interleave(a, b, dv, units);
      for (int i = dv; i < columns; ++i) units[i] = 0;
    }
    return not_finite == 0;
  } else {
    F not_finite = zero();  // Inf * 0 and NaN * 0 are NaN
    for (int key = 0; key < n; ++key, out += stride) {
      const auto* row = reinterpret_cast<const Stored*>(rows[key] + head_offset);
      for (int c = 0; c < columns; c += kWidth) {
        const F x = read_up_to<T>(row + c, dv - c);
        not_finite = fma(x, zero(), not_finite);
        store(out + c, x);
      }
    }
    return all(equal(not_finite, not_finite));
  }
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
