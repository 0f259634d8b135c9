// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "sort.hpp"
#include "wide.hpp"

namespace twin {
namespace {

typedef std::int32_t Eight __attribute__((vector_size(32)));

// The place of each is how many come before it, counted for eight at a time. Of two equal ones that with the smaller number
// comes first: it is compared with one less.
inline __attribute__((always_inline)) void places32(const std::int32_t* scores, std::uint32_t* places) {
  const Eight number = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int first = 0; first < 32; first += 8) {
    Eight own, before = {};
    std::memcpy(&own, scores + first, sizeof own);
    const Eight less = own - 1;  // no score is the least integer
    for (int other = 0; other < first; ++other) before -= scores[other] > less;
    for (int other = first; other < first + 8; ++other) before -= scores[other] > own + (number > other - first);
    for (int other = first + 8; other < 32; ++other) before -= scores[other] > own;
    std::memcpy(places + first, &before, sizeof before);
  }
}

}  // namespace

void places_in_groups(const std::int32_t* scores, std::uint32_t* places, std::size_t n) {
  wide([=] {
    for (std::size_t k = 0; k + 32 <= n; k += 32) places32(scores + k, places + k);
  });
}

// By the bytes of the upper half, the lowest first, each time keeping the order of equal ones.
void sort_descending(std::vector<std::uint64_t>& keys) {
  static thread_local std::vector<std::uint64_t> other;
  other.resize(keys.size());
  std::uint32_t counts[4][256] = {};
  for (const std::uint64_t key : keys) {
    for (int b = 0; b < 4; ++b) ++counts[b][key >> (32 + 8 * b) & 255];
  }
  for (int b = 0; b < 4; ++b) {
    const auto byte = [b](std::uint64_t key) { return key >> (32 + 8 * b) & 255; };
    if (keys.empty() || counts[b][byte(keys[0])] == keys.size()) continue;  // as that of halves' lowest
    std::uint32_t place = 0;
    for (int v = 255; v >= 0; --v) place += std::exchange(counts[b][v], place);
    for (const std::uint64_t key : keys) other[counts[b][byte(key)]++] = key;
    keys.swap(other);
  }
}

}  // namespace twin
