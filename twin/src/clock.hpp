// SPDX-License-Identifier: Apache-2.0
// Vector clocks over (core, pipe). Component (c, p) of a clock is how many instructions of pipe p on core c are known to be
// complete. The own core's seven components are kept apart: they change with every flag, the others only between cores.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "twin/types.hpp"

namespace twin {

using Foreign = std::vector<std::uint32_t>;  // core * kPipes + pipe
using ForeignPtr = std::shared_ptr<const Foreign>;

inline ForeignPtr join(const ForeignPtr& a, const ForeignPtr& b) {
  if (a == b || !b) return a;
  if (!a) return b;
  auto merged = std::make_shared<Foreign>(*a);
  bool a_wins = true;
  bool b_wins = true;
  for (std::size_t i = 0; i < merged->size(); ++i) {
    a_wins &= (*a)[i] >= (*b)[i];
    b_wins &= (*b)[i] >= (*a)[i];
    (*merged)[i] = std::max((*a)[i], (*b)[i]);
  }
  return a_wins ? a : (b_wins ? b : ForeignPtr(merged));
}

struct Clock {
  std::array<std::uint32_t, kPipes> own{};
  ForeignPtr foreign;

  void join_with(const Clock& other) {
    for (int p = 0; p < kPipes; ++p) own[p] = std::max(own[p], other.own[p]);
    foreign = join(foreign, other.foreign);
  }
  std::uint32_t of(int core, int pipe) const { return foreign ? (*foreign)[core * kPipes + pipe] : 0; }
};

}  // namespace twin
