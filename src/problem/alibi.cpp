// SPDX-License-Identifier: Apache-2.0
#include "tessera/alibi.hpp"

#include <bit>
#include <cmath>

#include "base/float_mode.hpp"

namespace tessera {

void alibi_slopes(std::int64_t num_q_heads, float* slopes) noexcept {
  if (num_q_heads < 1) return;
  const base::DefaultFloatMode mode;
  const auto n = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(num_q_heads)));
  for (std::int64_t h = 0; h < num_q_heads; ++h) {
    const double exponent = h < n ? 8.0 * static_cast<double>(h + 1) : 4.0 * static_cast<double>(2 * (h - n) + 1);
    slopes[h] = static_cast<float>(std::exp2(-exponent / static_cast<double>(n)));
  }
}

}  // namespace tessera
