// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

template <class F>
double seconds(F&& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
template <class F>
double best_seconds(F&& run) {  // of three
  double least = seconds(run);
  for (int i = 1; i < 3; ++i) least = std::min(least, seconds(run));
  return least;
}

// Elements a second of each vector instruction whose name has `only` in it; how many fall short of 300 million.
int report_vectors(const char* only);
