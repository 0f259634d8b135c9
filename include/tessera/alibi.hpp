// SPDX-License-Identifier: Apache-2.0
// The usual slopes of attention with linear biases.
#pragma once

#include <cstdint>

#include "tessera/export.hpp"

namespace tessera {

/// Slopes for any number of heads, as models use them: with n the largest power of two up to num_q_heads, head h < n has
/// 2^(-8 (h + 1) / n), and head n + x has 2^(-4 (2 x + 1) / n), every other slope of twice as many heads.
/// Source: Press, Smith, Lewis 2022, "Train Short, Test Long", section 3, and its published code.
TESSERA_EXPORT void alibi_slopes(std::int64_t num_q_heads, float* slopes) noexcept;

}  // namespace tessera
