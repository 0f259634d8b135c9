// SPDX-License-Identifier: Apache-2.0
// Vector instructions that sort, rearrange or convert while they compute, as plain descriptions. See twin/calls.hpp.
#pragma once

#include "twin/calls.hpp"

namespace twin {

// UB from an address of 32 bits on: the lower half of what GetPhyAddr gives, or a number of bytes from the begin. Empty
// where it is neither.
View ub_view(std::uint32_t address, DType dtype);

// ---- computing and converting ----
enum class Fused : std::uint8_t { AddReluCast, SubReluCast, MulCast, AddDeqRelu };
struct FusedCall {
  Fused op;
  Lanes lanes;
  View dst, src0, src1;
  Stride dst_stride{}, src0_stride{}, src1_stride{};
};
void vector_fused(const FusedCall& call, Site site);
// One value, or with `each` sixteen.
void set_deq_scale(const float* scale, const std::int16_t* offset, const bool* is_signed, bool each, Site site);
void vector_dequantise(const Lanes& lanes, const View& dst, const View& src, Stride dst_stride, Stride src_stride,
                       bool each_lane, bool lower_half, Site site);

// ---- choosing ----
struct SelectCall {
  Lanes lanes;
  View dst;
  MaybeView mask;  // absent: the compare register
  View src0;
  MaybeView src1;             // absent: the scalar
  std::uint64_t scalar = 0;   // bits of an element
  bool mask_repeats = false;  // the same bits for each repeat (mode 0); otherwise they go on
  bool scalar_in_register = false;
  bool address_in_register = false;  // of the mask: the lower 32 bits of what GetPhyAddr gives
  Stride dst_stride{}, src0_stride{}, src1_stride{};
};
void vector_select(const SelectCall& call, Site site);
void vector_compare_to_register(const Lanes& lanes, const View& src0, const View& src1, Compare how, Stride src0_stride,
                                Stride src1_stride, Site site);
void compare_register(const View& view, bool load, Site site);  // 16 bytes

// ---- sorting. A pair is 8 bytes: the score first, its uint32 index in the last four; descending, equal scores in order.
// ----
void vector_sort32(const View& dst, const View& scores, const View& indices, std::uint32_t repeats, Site site);
// Sort: as Sort32, and with `full` all repeats together; work then holds as much as dst.
void vector_sort(const View& dst, const View& scores, const View& indices, const View& work, std::uint32_t repeats,
                 bool full, Site site);
struct MergeCall {
  View dst, src[4];
  std::uint32_t length[4] = {};  // pairs
  int lists = 4;
  bool stop_at_exhausted = false;
  std::uint32_t repeats = 1;
};
void vector_merge(const MergeCall& call, Site site);
// How many pairs of each list the last merge of this core has taken.
void merge_counts(std::uint32_t taken[4], Site site);
// Extract: the scores and the indices of 32 pairs a repeat.
void vector_extract(const View& scores, const View& indices, const View& pairs, std::uint32_t repeats, Site site);

// ---- rearranging ----
// CreateVecIndex over repeats: lane l of repeat r becomes first + r * (lanes of a repeat) + l.
void vector_index_lanes(const Lanes& lanes, const View& dst, Stride dst_stride, std::uint64_t first, Site site);
// Offsets are in bytes and lie one a lane, masked-off lanes included.
void vector_gather_lanes(const Lanes& lanes, const View& dst, std::uint16_t dst_repeat_stride, const View& src,
                         const View& offsets, std::uint32_t base_bytes, Site site);
// Eight blocks of 32 bytes a repeat.
void vector_gatherb(const View& dst, const View& src, const View& offsets, std::uint32_t repeats, Stride dst_stride,
                    Site site);
struct BlockTranspose {  // sixteen blocks a repeat; strides in blocks
  View dst[16], src[16];
  bool dst_high = false, src_high = false;  // 8-bit: which half of a block
  std::uint32_t repeats = 1, dst_step = 0, src_step = 0;
};
void vector_transpose_blocks(const BlockTranspose& call, Site site);
// (n, c, h, w) to (n, h, w, c), or back.
void vector_transpose_channels(const View& dst, const View& src, const View& work, std::uint32_t n, std::uint32_t c,
                               std::uint32_t pixels, bool channels_last, Site site);
struct Interpolation {
  View dst, src0, offsets, src1, work;
  Lanes lanes;
  std::uint32_t h_repeats, v_repeats;
  bool weight_a_block;  // else one a horizontal repeat
  std::uint32_t dst_block_stride, v_step_elems;
};
void vector_interpolate(const Interpolation& call, Site site);

}  // namespace twin
