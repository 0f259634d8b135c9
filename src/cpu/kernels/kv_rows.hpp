// SPDX-License-Identifier: Apache-2.0
// Where the rows of keys and values lie, for contiguous, strided and paged caches alike. A kernel that reads rows through
// these addresses cannot give other bits for another layout.
#pragma once

#include "cpu/kernels/kernel.hpp"
#include "cpu/simd/simd.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// Addresses of rows [key, key + n) of K and of V, kv head 0. Row of head h: + h * stride_head.
TESSERA_INLINE void kv_rows(const RunConstants& constants, const Sequence& sequence, std::int64_t key, int n,
                            const std::byte** k_rows, const std::byte** v_rows) {
  const KvView &k = sequence.k, &v = sequence.v;
  if (sequence.block_table == nullptr) {
    const std::byte *k_row = k.base + key * k.stride_token, *v_row = v.base + key * v.stride_token;
    for (int i = 0; i < n; ++i, k_row += k.stride_token, v_row += v.stride_token) {
      k_rows[i] = k_row;
      v_rows[i] = v_row;
    }
    return;
  }
  std::int64_t logical_page = key / constants.page_size;
  std::int64_t slot = key - logical_page * constants.page_size;
  for (int i = 0; i < n; ++logical_page, slot = 0) {
    const std::int64_t page = sequence.block_table[logical_page];
    const std::byte* k_row = k.base + page * k.stride_page + slot * k.stride_token;
    const std::byte* v_row = v.base + page * v.stride_page + slot * v.stride_token;
    for (; i < n && slot < constants.page_size; ++i, ++slot, k_row += k.stride_token, v_row += v.stride_token) {
      k_rows[i] = k_row;
      v_rows[i] = v_row;
    }
  }
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
