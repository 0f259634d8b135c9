// SPDX-License-Identifier: Apache-2.0
// Where the rows of keys and values lie, for contiguous, strided and paged caches alike. A kernel that reads rows through
// these addresses cannot give other bits for another layout.
#pragma once

#include <cstring>

#include "cpu/kernels/kernel.hpp"
#include "cpu/simd/simd.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// N addresses in one vector. Written one by one and then read as a vector they would wait in the store queue.
template <int N>
struct Addresses {
  typedef std::int64_t Vector __attribute__((vector_size(8 * N)));
};
using EightAddresses = Addresses<8>::Vector;

/// rows[i] = first + i * stride for i in [0, n).
TESSERA_INLINE void evenly_spaced(const std::byte* first, std::int64_t stride, int n, const std::byte** rows) {
  int i = 0;
  if (n >= 8) {
    const std::int64_t base = reinterpret_cast<std::intptr_t>(first);
    EightAddresses eight = base + stride * EightAddresses{0, 1, 2, 3, 4, 5, 6, 7};
    for (; i + 8 <= n; i += 8, eight += 8 * stride) std::memcpy(rows + i, &eight, sizeof eight);
  }
  for (; i < n; ++i) rows[i] = first + i * stride;
}

/// Addresses of rows [key, key + n) of K and of V, kv head 0. Row of head h: + h * stride_head.
TESSERA_INLINE void kv_rows(const RunConstants& constants, const Sequence& sequence, std::int64_t key, int n,
                            const std::byte** k_rows, const std::byte** v_rows) {
  const KvView &k = sequence.k, &v = sequence.v;
  if (sequence.block_table == nullptr) {
    evenly_spaced(k.base + key * k.stride_token, k.stride_token, n, k_rows);
    evenly_spaced(v.base + key * v.stride_token, v.stride_token, n, v_rows);
    return;
  }
  std::int64_t logical_page = key / constants.page_size;
  std::int64_t slot = key - logical_page * constants.page_size;
  for (int i = 0; i < n; ++logical_page, slot = 0) {
    const std::int64_t page = sequence.block_table[logical_page], left = constants.page_size - slot;
    const int here = left < n - i ? static_cast<int>(left) : n - i;
    evenly_spaced(k.base + page * k.stride_page + slot * k.stride_token, k.stride_token, here, k_rows + i);
    evenly_spaced(v.base + page * v.stride_page + slot * v.stride_token, v.stride_token, here, v_rows + i);
    i += here;
  }
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
