// SPDX-License-Identifier: Apache-2.0
// Stage 2 of split-KV attention, one function a dtype of O.
#pragma once

#include "cpu/kernels/kernel.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

void merge_f32(const RunConstants& constants, const MergeItem& item, TraceLane* lane);
void merge_f16(const RunConstants& constants, const MergeItem& item, TraceLane* lane);
void merge_bf16(const RunConstants& constants, const MergeItem& item, TraceLane* lane);

}  // namespace tessera::cpu::TESSERA_ISA_NAME
