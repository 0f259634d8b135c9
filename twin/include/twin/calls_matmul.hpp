// SPDX-License-Identifier: Apache-2.0
// What the Matmul object asks of the engine. On a cube core the calls compute; on a vector core they become messages to the
// cube core of its block, which serves them in matmul_serve().
#pragma once

#include "kernel_tiling/kernel_tiling.h"
#include "twin/calls_cube.hpp"

namespace twin {

enum class Matrix : std::uint8_t { ND, NZ, NDAlign };  // NDAlign: rows of C rounded up to 32 bytes

using MatmulLoad = void (*)(const View& to, const void* gm, int row, int column, int rows, int columns, std::uint64_t tiling,
                            std::uint64_t data);  // CopyA1, CopyB1: one base block
// DataCopyOut: one base block of C, whose bursts are those of Fixpipe with FixpipeParams.
struct MatmulBursts {
  std::uint16_t count, length;
  std::uint32_t dst_stride;
  std::uint16_t columns;
  std::uint64_t scale, scales;  // the value; where those of the block's columns are in L1
};
using MatmulStore = void (*)(const void* gm, const View& l0c, const MatmulBursts& bursts, std::uint64_t tiling,
                             std::uint64_t data);
// What an object's type says.
struct MatmulTypes {
  DType a = DType::F16, b = DType::F16, c = DType::F32, bias = DType::F32;
  Matrix a_format = Matrix::ND, b_format = Matrix::ND, c_format = Matrix::ND;
  bool a_may_turn = false, b_may_turn = false;  // isTrans of MatmulType
  bool large_loads = false;                     // MDL: stepM × stepKa base blocks a transfer, instead of one
  bool c_in_l0c = false;                        // C of CO1
  bool alone = false;                           // enableMixDualMaster: both cores run the kernel's code, none serves
  int order = -1;                               // iterateOrder of MatmulConfig; −1: that of the tiling
  bool integers() const { return a == DType::I8 || a == DType::I4; }
};
struct MatmulOperand {
  View view;
  bool set = false, turned = false, in_ub = false;
  bool in_l1 = false;    // of TSCM: whole, in NZ
  bool all_one = false;  // each element has the bits of `value`: a line along K
  std::uint64_t value = 0;
  std::uint32_t generation = 0;  // of SetTensor: L1 keeps what it has of a tensor until the next one
};
struct MatmulState {
  TCubeTiling tiling;
  MatmulTypes types;
  MatmulOperand a, b, bias;
  std::int32_t m = 0, n = 0, k = 0;                                      // of this object: SetSingleShape
  std::int32_t org_m = 0, org_n = 0, org_ka = 0, org_kb = 0, org_c = 0;  // org_c: length of a row of C
  bool hf32 = false, hf32_toward_zero = false, relu = false;
  bool scale_given = false, scales_given = false;
  std::uint64_t scale = 0;
  View scales{};
  MatmulLoad load_a = nullptr, load_b = nullptr;
  MatmulStore store_c = nullptr;
  std::uint64_t user_tiling = 0, user_data = 0;
};
struct MatmulOut {
  View dst{};
  std::uint8_t atomic = 0;      // 0 none, 1 add, 2 max, 3 min
  bool sequential = false;      // block after block; otherwise each at its place in C
  std::uint32_t row_align = 1;  // sequential: rows are rounded up to so many elements
};
// Several products of one shape: from one to the next so many elements; of fewer matrices each serves several products.
struct MatmulBatch {
  std::uint32_t count = 1, a_count = 1, b_count = 1;
  std::uint64_t a_stride = 0, b_stride = 0, c_stride = 0;
  std::uint32_t group = 0;  // an answer behind each so many; 0: as the call says
};
// Identifies the object and, once it has answered, what was asked of it.
struct MatmulClient {
  int object = -1;           // number in the order of registration, the same on the cores of a block
  std::uint32_t ticket = 0;  // the last message that gets an answer
};

inline std::int32_t matmul_blocks_m(const MatmulState& s) { return (s.m + s.tiling.baseM - 1) / s.tiling.baseM; }
inline std::int32_t matmul_blocks_n(const MatmulState& s) { return (s.n + s.tiling.baseN - 1) / s.tiling.baseN; }
struct MatmulBlock {
  std::int32_t row, column, m, n;  // place in C, and size
};
MatmulBlock matmul_block(const MatmulState& state, std::int32_t index);

// A new object of this core; alone: as in MatmulTypes, and shared if A and B are of IBSHARE.
int matmul_register(Site site, bool alone = false, bool shared = false);
// False, and reported: what keeps it from working. False too on a vector core whose cube core calls for itself.
bool matmul_check(const MatmulState& state, Site site);
// On a cube core of a mix kernel: serves the vector cores of its block until they end. Elsewhere does nothing. Whether it
// has served.
bool matmul_serve(Site site);
// One base block into L0C; accumulate: onto what the last one left there. Then it is fetched; with an l0c of the kernel's
// own it lies there, and is the kernel's.
void matmul_compute(MatmulClient& client, const MatmulState& state, std::int32_t block, bool accumulate, Site site,
                    const View* l0c = nullptr);
void matmul_fetch(MatmulClient& client, const MatmulState& state, std::int32_t block, const MatmulOut& out, bool answer,
                  Site site);
// All blocks of C. An answer for each block, or one for all.
void matmul_all(MatmulClient& client, const MatmulState& state, const MatmulOut& out, bool answer, bool each, Site site,
                const MatmulBatch& batch = {});
// A vector core waits until the message of this ticket is done.
void matmul_wait(std::uint32_t ticket, Site site);
// A vector core's operand in UB goes to GM, where its cube core finds it; what it was is then the view in GM.
void matmul_stage(MatmulClient& client, MatmulOperand& operand, int which, std::uint64_t bytes, Site site);
// Space in GM of the object's own, for C on its way to UB.
View matmul_stage_c(const MatmulClient& client, DType dtype, std::uint64_t bytes);
// From there to UB, with the flags between V, MTE2 and MTE3 that a synchronous call brings.
void matmul_to_ub(const View& dst, const View& src, const Blocks& blocks, bool wait_for_it, Site site);
void matmul_wait_ub(Site site);  // WaitGetTensorC

}  // namespace twin
