// SPDX-License-Identifier: Apache-2.0
// The instructions, as the kernel-facing headers hand them to the engine: plain descriptions, no templates.
#pragma once

#include <cstdint>

#include "twin/types.hpp"

namespace twin {

inline constexpr std::uint32_t kI8 = bit(DType::I8), kU8 = bit(DType::U8), kI16 = bit(DType::I16), kU16 = bit(DType::U16),
                               kI32 = bit(DType::I32), kU32 = bit(DType::U32), kI64 = bit(DType::I64),
                               kU64 = bit(DType::U64), kF16 = bit(DType::F16), kBF16 = bit(DType::BF16),
                               kF32 = bit(DType::F32);

enum class VecOp : std::uint8_t {
#define TWIN_BINARY(name, ...) name,
#define TWIN_BINARY_DST(name, ...) name,
#define TWIN_SCALAR(name, ...) name,
#define TWIN_SCALAR_DST(name, ...) name,
#define TWIN_UNARY(name, ...) name,
#include "twin/vector.inc"
  kCount
};

// Which lanes a vector instruction works on, in one of its three forms. Strides are in 32-byte blocks.
struct Lanes {
  enum Form : std::uint8_t { Count, BitMask, FirstN } form = Count;
  bool set_mask = true;        // false: the mask register as it stands
  std::uint32_t count = 0;     // Count: elements. FirstN: lanes of a repeat
  std::uint64_t mask[2] = {};  // BitMask
  std::uint32_t repeats = 1;
};
struct Stride {
  std::uint16_t block = 1, repeat = 8;
};

struct VecCall {
  VecOp op;
  Lanes lanes;
  View dst, src0, src1;
  Stride dst_stride, src0_stride, src1_stride;
  std::uint64_t scalar = 0;  // bits of a src0 element
};
void vector_elementwise(const VecCall& call, Site site);

void vector_duplicate(const Lanes& lanes, const View& dst, Stride dst_stride, std::uint64_t scalar, Site site);
void vector_index(const View& dst, std::uint64_t first, std::uint32_t count, Site site);  // CreateVecIndex

enum class Round : std::uint8_t { None, Rint, Floor, Ceil, Round, Trunc, Odd };
void vector_cast(const Lanes& lanes, const View& dst, const View& src, Stride dst_stride, Stride src_stride, Round round,
                 Site site);

enum class Compare : std::uint8_t { LT, GT, EQ, LE, GE, NE };
// dst: one bit a lane, packed. src1 absent: the scalar.
void vector_compare(const Lanes& lanes, const View& dst, const View& src0, const MaybeView& src1, std::uint64_t scalar,
                    Compare how, Stride src0_stride, Stride src1_stride, const char* name, Site site);
enum class Reduce : std::uint8_t { Sum, Max, Min };
enum class ReduceOut : std::uint8_t { ValueIndex, IndexValue, Value, Index };
void reduce_whole(Reduce op, ReduceOut out, const Lanes& lanes, const View& dst, const View& src,
                  std::uint32_t dst_repeat_stride, Stride src_stride, const char* name, Site site);
// The sum over all repeats, into the register that reduced_value reads.
void reduce_to_register(const Lanes& lanes, const View& src, Stride src_stride, const char* name, Site site);
// Each 32-byte block of the source becomes one element (Sum, Max, Min); pairs: each two neighbours become one (Sum).
void reduce_block(Reduce op, bool pairs, const Lanes& lanes, const View& dst, const View& src,
                  std::uint32_t dst_repeat_stride, Stride src_stride, const char* name, Site site);
// The forms over many repeats, which the library builds from several instructions and a work tensor.
void reduce_all(Reduce op, const Lanes& lanes, const View& dst, const View& src, const View& work,
                std::uint32_t src_repeat_stride, bool index, Site site);

// What the last reduction left in its registers: 0 the extreme, 1 its index, 2 the sum; bits of an element.
std::uint64_t reduced_value(DType dtype, int which, Site site);
std::uint64_t reduced_sum(Site site);  // of the type that was summed

void vector_brcb(const View& dst, const View& src, std::uint32_t repeats, Stride dst_stride, Site site);
void vector_gather(const View& dst, const View& src, const View& offsets, std::uint32_t base_bytes, std::uint32_t count,
                   Site site);
// Returns how many elements were kept.
std::uint64_t vector_gather_mask(const View& dst, const View& src, const View* mask, int pattern, bool counter_mode,
                                 std::uint32_t mask_count, std::uint32_t repeats, Stride src_stride,
                                 std::uint32_t mask_repeat_stride, Site site);
std::uint64_t kept_by_gather_mask(Site site);  // the last one's number again
void vector_transpose16(const View& dst, const View& src, Site site);
void vector_copy(const Lanes& lanes, const View& dst, const View& src, Stride dst_stride, Stride src_stride, Site site);

// ---- moves ----
struct Blocks {
  std::uint32_t count = 1;
  std::uint64_t bytes = 0;                   // of one block
  std::uint64_t src_step = 0, dst_step = 0;  // from one block's begin to the next
};
// Between any two memories that have a path: GM↔UB, GM→L1, UB→UB, UB→L1, L1→GM, L1→BiasTable.
void move_blocks(const View& dst, const View& src, const Blocks& blocks, Site site);
struct Pad {
  std::uint64_t left_bytes = 0, right_bytes = 0;
  bool given = false;        // with a value
  std::uint64_t value = 0;   // bits of an element; of I4, a byte of two
  bool splits_byte = false;  // a side has an odd number of I4
};
// SetPadValue: what a copy without a value of its own pads with.
void set_pad_value(DType dtype, std::uint64_t bits);
void move_padded_in(const View& dst, const View& src, const Blocks& blocks, const Pad& pad, Site site);
void move_padded_out(const View& dst, const View& src, const Blocks& blocks, Site site);
struct Nd2Nz {  // sizes in elements
  std::uint32_t matrices, rows, columns, src_matrix_stride, src_row_stride, dst_column_stride, dst_row_stride,
      dst_matrix_stride;
};
struct Piece {
  std::uint64_t dst, src, bytes;
};
void move_pieces(const View& dst, const View& src, const Piece* pieces, std::uint32_t count, const char* name, Site site);
void move_nd2nz(const View& dst, const View& src, const Nd2Nz& shape, Site site);

}  // namespace twin
