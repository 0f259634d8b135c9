// SPDX-License-Identifier: Apache-2.0
// The cube core's instructions, as plain descriptions. See twin/calls.hpp.
#pragma once

#include "twin/calls.hpp"

namespace twin {

struct Load2d {
  std::uint32_t first, repeats, src_stride, dst_gap;  // fractals
  bool transpose, backwards;
};
void cube_load_2d(const View& dst, const View& src, const Load2d& load, Site site);
struct LoadTranspose {
  std::uint32_t first, repeats, src_stride, dst_gap, dst_fractal_gap;
  bool backwards = false;
};
void cube_load_transpose(const View& dst, const View& src, const LoadTranspose& load, Site site);
void cube_fill(const View& dst, std::uint32_t repeats, std::uint32_t blocks, std::uint32_t gap_blocks, std::uint64_t value,
               Site site);

// half and bfloat16 in L1 become float in the BiasTable; bytes and steps of the source, dst_step of the destination.
void move_to_bias(const View& dst, const View& src, const Blocks& blocks, Site site);

struct MmadCall {
  View c, a, b, bias;
  bool has_bias = false;
  std::uint32_t m, n, k;
  bool from_zero = true, from_bias = false;
  std::uint8_t unit_flag = 0;
};
void cube_mmad(const MmadCall& call, Site site);

// An image (C1, H, W, C0) in L1 unrolled into the matrix of a convolution: row m is output pixel m, column
// k = ((c1 * filter_h + kh) * filter_w + kw) * C0 + c0. The window [m_start, + m_extent) × [k_start, + k_extent) is loaded.
struct Load3d {
  std::uint32_t height, width, pad_left, pad_right, pad_top, pad_bottom;
  std::uint32_t channels, k_extent, m_extent, k_start, m_start;
  std::uint32_t stride_w, stride_h, filter_w, filter_h, dilation_w, dilation_h;
  bool transpose = false;                         // L0A: the whole window
  bool keep_image = false, keep_padding = false;  // take size and pads, or the padding value, from their registers
  std::uint64_t padding = 0;
};
void cube_load_3d(const View& dst, const View& src, const Load3d& load, Site site);
void set_load_image(std::uint32_t height, std::uint32_t width, const std::uint8_t pads[4]);  // SetFmatrix
void set_load_padding(std::uint64_t bits);
void set_hf32(bool on);  // Mmad of float rounds its operands to 11 bits of mantissa
void set_hf32_rounding(bool toward_zero);

// Int8 with two of each four rows of B left out. LoadDataWithSparse keeps two bits for each element it loads: where in its
// group of four rows it belongs, among the first three for the first of a pair, among the last three for the second.
void cube_load_sparse(const View& dst, const View& src, const View& index, const Load2d& load, Site site);
void cube_mmad_sparse(const MmadCall& call, Site site);

// What happens to a value on its way out of L0C.
enum class Quant : std::uint8_t { None, F16, BF16, Dequant, ToByte, Requant };  // int32 → half; float → byte; int32 → byte
struct FixpipeCall {
  View dst, src;
  std::uint32_t n, m, src_stride, dst_stride, matrices = 1, src_matrix_stride = 0, dst_matrix_stride = 0;
  bool row_major = true, relu = false, channel_split = false, mode_fits = true;
  Quant quant = Quant::None;
  std::uint64_t scale = 0;        // bits 31..13 a float without its last 13 bits, 45..37 an offset
  bool a_scale_a_column = false;  // from `scales`, uint64 each
  View scales{};                  // in L1, or in the Fixpipe buffer
  std::uint8_t unit_flag = 0;
  const char* name = "Fixpipe";
};
void cube_fixpipe(const FixpipeCall& call, Site site);

// Registers that DataCopy out of L0C takes its parameters from.
struct FixpipeRegisters {
  View scales{};
  bool scales_given = false, unit_flag = false;
  std::uint64_t scale = 0;
  std::uint32_t matrices = 1, src_matrix_stride = 0, dst_matrix_stride = 0;
};
FixpipeRegisters& fixpipe_registers();

}  // namespace twin
