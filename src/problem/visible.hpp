// SPDX-License-Identifier: Apache-2.0
// Which keys a query may see by position: causal and windows as half-open key ranges, counted in closed form.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tessera/problem.hpp"

namespace tessera::problem {

/// Larger than any position, small enough that sums of three stay far from overflow.
inline constexpr std::int64_t kUnbounded = std::int64_t{1} << 40;

struct KeyRange {
  std::int64_t begin = 0, end = 0;  // empty: begin == end
  std::int64_t size() const noexcept { return end - begin; }
  bool operator==(const KeyRange&) const = default;
};

/// What the positions of one sequence are limited to. Windows are kUnbounded where there are none; causal is right = 0.
struct Visibility {
  std::int64_t seqlen_q = 0, seqlen_kv = 0;
  std::int64_t position_offset = 0;  // query i stands at i + position_offset
  std::int64_t left = kUnbounded, right = kUnbounded;

  /// Keys that some query of [query_begin, query_end) may see. Ranges of neighbouring queries touch, so this is their union.
  KeyRange keys(std::int64_t query_begin, std::int64_t query_end) const noexcept {
    if (query_begin >= query_end) return {};
    const std::int64_t begin = std::clamp<std::int64_t>(query_begin + position_offset - left, 0, seqlen_kv);
    const std::int64_t end = std::clamp<std::int64_t>(query_end - 1 + position_offset + right + 1, 0, seqlen_kv);
    return begin < end ? KeyRange{begin, end} : KeyRange{};
  }

  /// (query, key) pairs: the sum over the queries of [query_begin, query_end) of the keys that each may see.
  double pairs(std::int64_t query_begin, std::int64_t query_end) const noexcept;
};

Visibility visibility(const Problem& problem, std::int64_t b) noexcept;

}  // namespace tessera::problem
