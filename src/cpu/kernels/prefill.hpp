// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 for many rows.
#pragma once

#include "cpu/kernels/kernel.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

void prefill_f32(const RunConstants& constants, const WorkItem& item, std::byte* scratch, TraceLane* trace);
void prefill_f16(const RunConstants& constants, const WorkItem& item, std::byte* scratch, TraceLane* trace);
void prefill_bf16(const RunConstants& constants, const WorkItem& item, std::byte* scratch, TraceLane* trace);

std::size_t prefill_scratch_f32(const RunConstants& constants, std::int64_t max_rows);
std::size_t prefill_scratch_f16(const RunConstants& constants, std::int64_t max_rows);
std::size_t prefill_scratch_bf16(const RunConstants& constants, std::int64_t max_rows);

inline constexpr int kPrefillTile = 128;  // keys a softmax step, at most

}  // namespace tessera::cpu::TESSERA_ISA_NAME
