// SPDX-License-Identifier: Apache-2.0
// Statistics that one slow repeat does not move.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tessera::bench {

/// Linear interpolation between order statistics; values must not be empty, q is in [0, 1].
inline double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

inline double median(const std::vector<double>& values) { return quantile(values, 0.5); }

/// Width of the middle half.
inline double interquartile_range(const std::vector<double>& values) {
  return quantile(values, 0.75) - quantile(values, 0.25);
}

}  // namespace tessera::bench
