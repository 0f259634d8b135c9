// SPDX-License-Identifier: Apache-2.0
// The kernels of one ISA, by dtype. A kernel is declared here and has one row; a null entry makes the planner refuse.
#include "cpu/kernels/decode.hpp"
#include "cpu/kernels/kernel.hpp"
#include "cpu/kernels/merge.hpp"
#include "cpu/kernels/prefill.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

const KernelTable& kernel_table();

namespace {

//                 f32    f16    bf16
constexpr KernelTable kTable = {
    /*decode*/ {{decode_f32, decode_scratch_f32, kDecodeTile},
                {decode_f16, decode_scratch_f16, kDecodeTile},
                {decode_bf16, decode_scratch_bf16, kDecodeTile}},
    /*prefill*/
    {{prefill_f32, prefill_scratch_f32, kPrefillTile},
     {prefill_f16, prefill_scratch_f16, kPrefillTile},
     {prefill_bf16, prefill_scratch_bf16, kPrefillTile}},
    /*merge*/ {merge_f32, merge_f16, merge_bf16},
    // 32/8 heads, d 128, 16384 keys, one Zen 5 core, decode against prefill. bf16: 8 rows 4.1 and 6.3 ms, 16 rows 6.6 and
    // 6.2; f32 at 16 rows 94 and 94 GFLOP/s, f16 129 and 95.
    /*decode_max_rows*/ {16, 16, 12},
};

}  // namespace

const KernelTable& kernel_table() { return kTable; }

}  // namespace tessera::cpu::TESSERA_ISA_NAME
