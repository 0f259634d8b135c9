// SPDX-License-Identifier: Apache-2.0
// The kernels of one ISA, by dtype. A kernel is declared here and has one row; a null entry makes the planner refuse.
#include "cpu/kernels/decode.hpp"
#include "cpu/kernels/kernel.hpp"
#include "cpu/kernels/merge.hpp"
#include "cpu/kernels/prefill.hpp"
#include "cpu/simd/simd.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

const KernelTable& kernel_table();

namespace {

// Rows of a kv head up to which decode is the faster one; 32/8 heads, d 128, one Zen 5 core, share of the roof, decode and
// prefill. 24 rows of 2048 keys, avx512bf16: f32 0.54 and 0.52, f16 0.66 and 0.52; bf16 from DRAM 0.45 and 0.39, at 16 rows
// 0.43 and 0.36, 32 rows 0.49 and 0.66. AVX2, whose blocks have two rows: 24 rows 0.48 and 0.73, bf16 at 16 rows 0.67 and
// 0.58. Portable f16 is converted anew for each block of rows: 4 rows 0.21 and 0.27, 16 rows 0.21 and 0.49.
constexpr int kFewRows = kRegisters == 32 ? 24 : 16;
#if defined(TESSERA_ISA_IS_PORTABLE)
constexpr int kFewRowsF16 = 2;
#else
constexpr int kFewRowsF16 = kFewRows;
#endif

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
    /*decode_max_rows*/ {kFewRows, kFewRowsF16, kFewRows},
};

}  // namespace

const KernelTable& kernel_table() { return kTable; }

}  // namespace tessera::cpu::TESSERA_ISA_NAME
