// SPDX-License-Identifier: Apache-2.0
// The kernels of one ISA, by dtype. A kernel is declared here and has one row; a null entry makes the planner refuse.
#include "cpu/kernels/kernel.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

const KernelTable& kernel_table();

namespace {

constexpr AttentionKernel kNone = {nullptr, nullptr, 0};

//                 f32    f16    bf16
constexpr KernelTable kTable = {
    /*decode*/ {kNone, kNone, kNone},
    /*prefill*/ {kNone, kNone, kNone},
    /*merge*/ {nullptr, nullptr, nullptr},
    /*decode_max_rows*/ 16,
};

}  // namespace

const KernelTable& kernel_table() { return kTable; }

}  // namespace tessera::cpu::TESSERA_ISA_NAME
