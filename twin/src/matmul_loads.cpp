// SPDX-License-Identifier: Apache-2.0
// Operands of Matmul: GM to L1 (Nz), L1 to L0A (Zz) and L0B (Zn), whatever the element size and the direction of lines.
//   lines along K: L1 has columns of C0 of K, each `outer` high; its fractals are those of L0
//   turned:        L1 has columns of C0 of `outer`, each K high; fractals are turned on their way to L0. 32-bit elements:
//                  each 16 of K a matrix of their own, since LoadDataWithTranspose wants the two fractals of a square side
//                  by side
// 4-bit elements go to L1 as bytes of two: the copies know no smaller element.
#include "matmul.hpp"

namespace twin {
namespace {

View part_of(const View& v, std::uint64_t offset_bytes) {
  View p = v;
  p.addr += offset_bytes;
  if (p.bytes) p.bytes = p.bytes > offset_bytes ? p.bytes - offset_bytes : 1;
  return p;
}

View as_bytes(View v) {
  if (v.dtype == DType::I4) v.dtype = DType::I8;
  return v;
}

// 16 lines a matrix: turned 32-bit elements.
void load_groups(const MatmulSide& s, const MatmulPart& p, const View& to, Site site) {
  const std::uint64_t group_bytes = std::uint64_t{up(p.outer, 16)} * 16 * 4;
  if (s.nz) {
    const std::uint64_t column = std::uint64_t{up(s.org_k, 16)} * 32;
    for (std::uint32_t g = 0; g < (p.k + 15) / 16; ++g)
      move_blocks(part_of(to, g * group_bytes), part_of(s.src, p.at / 8 * column + (p.k_at + g * 16) * 32),
                  {(p.outer + 7) / 8, 512, column, 512}, site);
    return;
  }
  const std::uint32_t whole = p.k / 16, rest = p.k % 16;
  const View from = part_of(s.src, (std::uint64_t{p.k_at} * s.org_outer + p.at) * 4);
  if (whole) move_nd2nz(to, from, {whole, 16, p.outer, 16 * s.org_outer, s.org_outer, 16, 1, up(p.outer, 16) * 16}, site);
  if (rest)
    move_nd2nz(part_of(to, whole * group_bytes), part_of(from, std::uint64_t{whole} * 16 * s.org_outer * 4),
               {1, rest, p.outer, 0, s.org_outer, 16, 1, 0}, site);
}

// Fractals (outer, k) from L1 to L0 in as few instructions as strides allow.
struct Walk {
  std::uint32_t count, src, dst;  // strides in fractals
};
void load_fractals(const View& from, std::uint32_t first, const View& to, Walk a, Walk b, bool transpose, Site site) {
  const auto joins = [](const Walk& in, const Walk& out) {
    return out.count == 1 || (out.src == in.src * in.count && out.dst == in.dst * in.count);
  };
  if (joins(a, b) && a.count * b.count <= 255)
    a.count *= b.count, b.count = 1;
  else if (joins(b, a) && a.count * b.count <= 255)
    b.count *= a.count, a.count = 1;
  if (a.count < b.count) std::swap(a, b);  // a: within an instruction
  for (std::uint32_t j = 0; j < b.count; ++j) {
    for (std::uint32_t i = 0; i < a.count; i += 255) {
      cube_load_2d(part_of(to, (std::uint64_t{j} * b.dst + std::uint64_t{i} * a.dst) * kFractalBytes), from,
                   {first + j * b.src + i * a.src, std::min(a.count - i, 255u), a.src, a.dst - 1, transpose, false}, site);
    }
  }
}

}  // namespace

void matmul_load_l1(const MatmulSide& s, const MatmulPart& p, const View& slot, Site site) {
  const bool along_k = !s.turned;
  const View to = as_bytes(slot), src = as_bytes(s.src);
  if (s.all_one) return cube_fill(to, 1, (p.k + s.c0 - 1) / s.c0 * up(p.outer, 16), 0, s.value, site);  // blocks of 32 bytes
  if (s.load) {
    const std::uint32_t row = s.left ? p.at / s.base : p.k_at / s.base_k,
                        column = s.left ? p.k_at / s.base_k : p.at / s.base;
    s.load(to, reinterpret_cast<const void*>(s.src.addr), static_cast<int>(row), static_cast<int>(column),
           static_cast<int>(s.left ? p.outer : p.k), static_cast<int>(s.left ? p.k : p.outer), s.state->user_tiling,
           s.state->user_data);
    return;
  }
  if (s.turned && s.bits == 32) return load_groups(s, p, to, site);
  const std::uint32_t lines = along_k ? p.outer : p.k, columns = along_k ? p.k : p.outer;
  const std::uint32_t first_line = along_k ? p.at : p.k_at, first_column = along_k ? p.k_at : p.at;
  const std::uint32_t high = up(lines, along_k ? 16 : s.k_align());  // of a column in L1
  if (s.nz) {
    const std::uint64_t column = std::uint64_t{up(along_k ? s.org_outer : s.org_k, 16)} * 32;
    move_blocks(to, part_of(src, first_column / s.c0 * column + std::uint64_t{first_line} * 32),
                {(columns + s.c0 - 1) / s.c0, up(lines, 16) * 32ull, column, high * 32ull}, site);
    return;
  }
  const std::uint32_t stride = along_k ? s.org_k : s.org_outer, in_one = s.bits == 4 ? 2 : 1;
  move_nd2nz(to, part_of(src, s.bytes(std::uint64_t{first_line} * stride + first_column)),
             {1, lines, (columns + in_one - 1) / in_one, 0, stride / in_one, high, 1, 0}, site);
}

void matmul_load_l0(const MatmulSide& s, const MatmulPart& p, const View& from, const MatmulPart& in, const View& to,
                    std::uint32_t l0_outer, Site site) {
  const std::uint32_t ob = l0_outer / 16, kb = (in.k + s.c0 - 1) / s.c0;
  // In L0A fractals of K follow each other, in L0B those of N.
  const std::uint32_t dst_o = s.left ? kb : 1, dst_k = s.left ? 1 : ob;
  if (!s.turned) {
    const std::uint32_t high = up(p.outer, 16) / 16;
    load_fractals(from, in.k_at / s.c0 * high + in.at / 16, to, {(in.outer + 15) / 16, 1, dst_o}, {kb, high, dst_k}, false,
                  site);
  } else if (s.bits == 16) {
    const std::uint32_t high = up(p.k, 16) / 16;
    load_fractals(from, in.at / 16 * high + in.k_at / 16, to, {(in.outer + 15) / 16, high, dst_o}, {kb, 1, dst_k}, true,
                  site);
  } else if (s.bits < 16) {  // squares of 32 × 32 or 64 × 64: C0 of both, so `fractals` fractals below each other
    const std::uint32_t side = s.c0, fractals = side / 16;
    const std::uint32_t high = up(p.k, side) / side, squares = (in.outer + side - 1) / side;
    for (std::uint32_t i = 0; i < (s.left ? squares : kb); ++i) {
      const std::uint32_t first =
          s.left ? (in.at / side + i) * high + in.k_at / side : in.at / side * high + in.k_at / side + i;
      const LoadTranspose load =
          s.left ? LoadTranspose{first, kb, 1, 0, kb - 1} : LoadTranspose{first, squares, high, fractals - 1, 0};
      cube_load_transpose(part_of(to, std::uint64_t{i} * (s.left ? fractals * kb : ob) * kFractalBytes), from, load, site);
    }
  } else {  // squares of 16 × 16
    const std::uint32_t wide = up(p.outer, 16) / 16, squares = (in.outer + 15) / 16, groups = (in.k + 15) / 16;
    for (std::uint32_t i = 0; i < (s.left ? squares : groups); ++i) {
      const std::uint32_t first = (in.k_at / 16 + (s.left ? 0 : i)) * wide + in.at / 16 + (s.left ? i : 0);
      const LoadTranspose load =
          s.left ? LoadTranspose{first, groups, wide, 1, 0} : LoadTranspose{first, squares, 1, 0, ob - 1};
      cube_load_transpose(part_of(to, std::uint64_t{i} * (s.left ? kb : 2 * ob) * kFractalBytes), from, load, site);
    }
  }
}

void matmul_load_row(const View& to, const View& from, std::uint32_t first, std::uint32_t count, Site site) {
  View src = part_of(from, std::uint64_t{first} * size_bytes(from.dtype));
  View dst = to;
  std::uint32_t elements = count;
  if (size_bytes(from.dtype) == 8) {  // as pairs: ND to NZ has no 64-bit elements
    src.dtype = DType::U32;
    elements *= 2;
  }
  dst.dtype = src.dtype;
  move_nd2nz(dst, src, {1, 1, elements, 0, elements, 1, 1, 0}, site);
}

void matmul_load_bias(const View& to, const View& l1, std::uint32_t first, std::uint32_t count, Site site) {
  const View from = part_of(l1, std::uint64_t{first} * size_bytes(l1.dtype));
  if (size_bytes(from.dtype) == 2) return move_to_bias(to, from, {1, std::uint64_t{count} * 2, 0, 0}, site);
  const std::uint64_t bytes = (std::uint64_t{count} * 4 + 63) / 64 * 64;
  move_blocks(to, from, {1, bytes, bytes, bytes}, site);
}

}  // namespace twin
