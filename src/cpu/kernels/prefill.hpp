// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 for many rows.
#pragma once

#include "cpu/kernels/kernel.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

AttentionKernel prefill_kernel(DTypeIndex dtype);

}  // namespace tessera::cpu::TESSERA_ISA_NAME
