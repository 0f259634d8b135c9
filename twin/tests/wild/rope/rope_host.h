// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rotary {
enum struct Type { FP16, BF16, FP32 };
extern void rope_impl(Type type, bool neox, void* stream, int64_t* positions, void* x, void* cache, void* y, int heads,
                      int dim, int64_t tokens, uint32_t cores);
}  // namespace rotary
