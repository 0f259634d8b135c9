// SPDX-License-Identifier: Apache-2.0
// The steps of unfused attention, compiled once per ISA. Plain data only: see unfused.hpp for what they are for.
#pragma once

#include <cstdint>

namespace tessera::cli {

inline constexpr std::int64_t kPanel = 32;  // columns a packed panel

struct UnfusedSteps {
  /// Packs B [depth, cols] of elements B[k * row + c * col] into panels of 32 columns, [panel][k][32], zero-padded.
  void (*pack)(const float* b, std::int64_t row, std::int64_t col, std::int64_t depth, std::int64_t cols, float* panels);
  /// C [rows, cols] = scale * A [rows, depth] * B, B packed.
  void (*multiply)(const float* a, std::int64_t lda, const float* panels, float* c, std::int64_t ldc, std::int64_t rows,
                   std::int64_t cols, std::int64_t depth, float scale);
  /// One row in place: entries outside [begin, end) become 0, the others exp(s - max) / sum.
  void (*softmax)(float* s, std::int64_t n, std::int64_t begin, std::int64_t end);
};

/// The best that this machine runs.
const UnfusedSteps& unfused_steps() noexcept;

}  // namespace tessera::cli
