// SPDX-License-Identifier: Apache-2.0
// Attention for few rows a kv head, one function a dtype. See docs/decode.md.
#pragma once

#include "cpu/kernels/kernel.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// Keys a softmax step.
inline constexpr std::int32_t kDecodeTile = 32;

std::size_t decode_scratch_f32(const RunConstants& constants, std::int64_t max_rows);
std::size_t decode_scratch_f16(const RunConstants& constants, std::int64_t max_rows);
std::size_t decode_scratch_bf16(const RunConstants& constants, std::int64_t max_rows);
void decode_f32(const RunConstants& constants, const WorkItem& item, std::byte* scratch, TraceLane* lane);
void decode_f16(const RunConstants& constants, const WorkItem& item, std::byte* scratch, TraceLane* lane);
void decode_bf16(const RunConstants& constants, const WorkItem& item, std::byte* scratch, TraceLane* lane);

}  // namespace tessera::cpu::TESSERA_ISA_NAME
