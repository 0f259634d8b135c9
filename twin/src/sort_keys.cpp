// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "sort.hpp"
#include "wide.hpp"

namespace twin {
namespace {

typedef std::int32_t Eight __attribute__((vector_size(32)));

// The place of each is how many come before it, counted for eight at a time by their upper halves. Of two equal ones that
// with the smaller number comes first: it is compared with one less.
inline __attribute__((always_inline)) void sort32(std::uint64_t* keys) {
  alignas(32) std::int32_t upper[32], places[32];
  for (int k = 0; k < 32; ++k) upper[k] = static_cast<std::int32_t>(static_cast<std::uint32_t>(keys[k] >> 32) ^ 0x80000000u);
  const Eight number = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int first = 0; first < 32; first += 8) {
    Eight own, before = {};
    std::memcpy(&own, upper + first, sizeof own);
    const Eight less = own - 1;  // an upper half is never the least of all
    for (int other = 0; other < first; ++other) before -= upper[other] > less;
    for (int other = first; other < first + 8; ++other) before -= upper[other] > own + (number > other - first);
    for (int other = first + 8; other < 32; ++other) before -= upper[other] > own;
    std::memcpy(places + first, &before, sizeof before);
  }
  std::uint64_t sorted[32];
  for (int k = 0; k < 32; ++k) sorted[places[k]] = keys[k];
  std::memcpy(keys, sorted, sizeof sorted);
}

}  // namespace

void sort_groups(std::vector<std::uint64_t>& keys) {
  std::uint64_t* const first = keys.data();
  const std::size_t n = keys.size();
  wide([=] {
    for (std::size_t k = 0; k + 32 <= n; k += 32) sort32(first + k);
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
