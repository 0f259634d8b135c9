// SPDX-License-Identifier: Apache-2.0
// Which keys a row may see by position, window and length; mask tensors and -inf biases come on top.
#pragma once

#include "cpu/kernels/kernel.hpp"
#include "cpu/simd/simd.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// Half-open; begin == end: no key.
struct KeyRange {
  std::int64_t begin, end;
};

TESSERA_INLINE bool empty(KeyRange range) { return range.begin == range.end; }
TESSERA_INLINE bool covers(KeyRange range, std::int64_t first, std::int64_t last) {
  return range.begin <= first && last <= range.end;
}

/// Keys of [key_begin, key_end) that at least one of the queries [query_begin, query_end) sees, or that lie between two
/// such keys. Queries are indices, 0 for the first of the sequence. Both ends of a window move with the query, so the
/// first query gives the lowest key and the last query the highest.
TESSERA_INLINE KeyRange visible_keys(const RunConstants& constants, const Sequence& sequence, std::int64_t query_begin,
                                     std::int64_t query_end, std::int64_t key_begin, std::int64_t key_end) {
  const std::int64_t lowest = query_begin + sequence.position_offset - constants.window_left;
  const std::int64_t highest = query_end - 1 + sequence.position_offset + constants.window_right;
  std::int64_t end = key_end < sequence.seqlen_kv ? key_end : sequence.seqlen_kv;
  if (highest < end) end = highest + 1;
  const std::int64_t begin = lowest > key_begin ? lowest : key_begin;
  return begin < end ? KeyRange{begin, end} : KeyRange{key_begin, key_begin};
}

/// Keys of [key_begin, key_end) that one query sees. Where it sees none, the range stands at the end at which its keys would
/// follow, so that the ranges of ascending queries ascend: keys that all of several queries see begin with the last one's
/// range and end with the first one's.
TESSERA_INLINE KeyRange visible_keys(const RunConstants& constants, const Sequence& sequence, std::int64_t query,
                                     std::int64_t key_begin, std::int64_t key_end) {
  const KeyRange range = visible_keys(constants, sequence, query, query + 1, key_begin, key_end);
  const std::int64_t limit = key_end < sequence.seqlen_kv ? key_end : sequence.seqlen_kv;
  const bool follow = query + sequence.position_offset - constants.window_left >= limit;
  return empty(range) && follow ? KeyRange{limit, limit} : range;
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
