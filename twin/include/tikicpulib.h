// SPDX-License-Identifier: Apache-2.0
// The launch macros of the vendor's CPU mode.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel_operator.h"

namespace AscendC {
enum class KernelMode : std::uint8_t { MIX_MODE, AIC_MODE, AIV_MODE, MIX_AIC_1_1 };
TWIN_API void SetKernelMode(KernelMode) {}  // twincc takes the type from the kernel
void* GmAlloc(std::size_t size);
void GmFree(void* pointer);
}  // namespace AscendC

#define ICPU_RUN_KF(kernel, blocks, ...) ::twin::launcher<decltype(kernel), kernel>(blocks)(__VA_ARGS__)
#define ICPU_SET_TILING_KEY(key) (::twin::tiling_key() = (key))
