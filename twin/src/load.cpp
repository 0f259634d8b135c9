// SPDX-License-Identifier: Apache-2.0
// LoadData: fractals from L1 or GM into L0A and L0B, as they are or transposed; and constants.
#include "cube_common.hpp"

namespace twin {
namespace {

void copy_fractal(Instruction& i, const View& dst, const View& src, std::uint64_t od, std::uint64_t os, bool transpose,
                  States& ds, States& ss) {
  std::uint8_t* const d = i.bytes(dst) + od;
  const std::uint8_t* const a = i.bytes(src) + os;
  if (!transpose) {
    std::memcpy(d, a, kFractalBytes);
    ds.copy_from(ss, od, os, kFractalBytes);
    return;
  }
  std::uint16_t from[16][16], to[16][16];
  std::memcpy(from, a, kFractalBytes);
  for (std::uint32_t r = 0; r < 16; ++r) {
    for (std::uint32_t c = 0; c < 16; ++c) to[c][r] = from[r][c];
  }
  std::memcpy(d, to, kFractalBytes);
  if (ss.clean(os, kFractalBytes)) return ds.set(od, kFractalBytes, kDefined);
  for (std::uint32_t r = 0; r < 16; ++r) {
    for (std::uint32_t c = 0; c < 16; ++c) ds.set(od + (c * 16 + r) * 2, 2, ss.of(os + (r * 16 + c) * 2, 2));
  }
}

void check_load(Instruction& i, const View& dst, const View& src) {
  const bool from_gm = src.space == Space::GM;
  if (!(dst.space == Space::L0A || dst.space == Space::L0B || (from_gm && dst.space == Space::L1)))
    i.refuse(Kind::Limit,
             format("%s from %s into %s: it fills L0A and L0B, and L1 from GM", i.name(), name(src.space), name(dst.space)),
             "use positions A2 and B2");
  if (!(src.space == Space::L1 || from_gm))
    i.refuse(Kind::Limit, format("%s from %s: it reads L1 or GM", i.name(), name(src.space)), "use positions A1 and B1");
  i.require_aligned(dst, dst.space == Space::L1 ? kBlockBytes : kFractalBytes, "the destination");
  if (src.space == Space::L1) i.require_aligned(src, kBlockBytes, "the source");
}

void keep_layout(const View& dst, const View& src, std::uint64_t od, std::uint64_t os, bool forced) {
  Core& c = core();
  std::uint8_t* const to = c.memory[int(dst.space)].fractal.data() + (dst.addr + od) / 32;
  if (src.space == Space::L1 && !forced) {
    std::memcpy(to, c.memory[int(Space::L1)].fractal.data() + (src.addr + os) / 32, 16);
  } else {
    std::memset(to, forced, 16);
  }
}

}  // namespace

void cube_load_2d(const View& dst, const View& src, const Load2d& load, Site site) {
  const Pipe pipe = src.space == Space::GM ? Pipe::MTE2 : Pipe::MTE1;
  TWIN_HOLD_BACK(pipe, { cube_load_2d(dst, src, load, site); })
  Instruction i(pipe, "LoadData", site);
  i.take_int4();
  check_load(i, dst, src);
  if (!(load.repeats <= 255))
    i.refuse(Kind::Limit, format("LoadData: repeatTimes %u, at most 255", load.repeats), "split it");
  if (!(!load.transpose || size_bytes(dst.dtype) == 2))
    i.refuse(Kind::Limit, format("LoadData: ifTranspose on %s, 16-bit elements only", name(dst.dtype)),
             "use LoadDataWithTranspose");
  const auto from = [&](std::uint64_t r) {
    const std::int64_t step = static_cast<std::int64_t>(r * load.src_stride) * (load.backwards ? -1 : 1);
    return static_cast<std::uint64_t>((static_cast<std::int64_t>(load.first) + step) *
                                      static_cast<std::int64_t>(kFractalBytes));
  };
  const auto to = [&](std::uint64_t r) { return r * (std::uint64_t{load.dst_gap} + 1) * kFractalBytes; };
  for (std::uint64_t r = 0; r < load.repeats; ++r) i.read(src, from(r), kFractalBytes);
  for (std::uint64_t r = 0; r < load.repeats; ++r) i.write(dst, to(r), kFractalBytes);
  i.move(path_into(dst.space, src.space), load.repeats * kFractalBytes);
  if (load.repeats == 0 || !i.issue()) return;
  States ds(i, dst), ss(i, src);
  for (std::uint64_t r = 0; r < load.repeats; ++r) {
    copy_fractal(i, dst, src, to(r), from(r), load.transpose, ds, ss);
    keep_layout(dst, src, to(r), from(r), load.transpose);
  }
}

void cube_load_transpose(const View& dst, const View& src, const LoadTranspose& load, Site site) {
  TWIN_HOLD_BACK(Pipe::MTE1, { cube_load_transpose(dst, src, load, site); })
  Instruction i(Pipe::MTE1, "LoadDataWithTranspose", site);
  i.take_int4();
  check_load(i, dst, src);
  i.require(src.space == Space::L1, Kind::Limit, "LoadDataWithTranspose reads L1 only", "copy to L1 first");
  // A repeat takes a square of elements: one fractal of 16-bit, two of 8-bit (32 × 32) or 32-bit (16 × 16), four of 4-bit
  // (64 × 64) ones.
  const std::uint32_t bits = size_bits(dst.dtype), size = size_bytes(dst.dtype);
  const std::uint32_t fractals = bits == 4 ? 4 : bits == 16 ? 1 : 2;
  const std::uint32_t side = std::max(16u, 256 / bits);
  const std::uint32_t c0 = 256 / bits;
  const auto from = [&](std::uint64_t r) {
    const std::int64_t step = static_cast<std::int64_t>(r * load.src_stride) * (load.backwards ? -1 : 1);
    return static_cast<std::uint64_t>(load.first + step) * fractals * kFractalBytes;
  };
  const auto to = [&](std::uint64_t r, std::uint64_t f) {
    return (r * (load.dst_gap + 1) + f * (load.dst_fractal_gap + 1)) * kFractalBytes;
  };
  for (std::uint64_t r = 0; r < load.repeats; ++r) {
    i.read(src, from(r), fractals * kFractalBytes);
    for (std::uint32_t f = 0; f < fractals; ++f) i.write(dst, to(r, f), kFractalBytes);
  }
  i.move(path_into(dst.space, src.space), std::uint64_t{load.repeats} * fractals * kFractalBytes);
  if (load.repeats == 0 || !i.issue()) return;
  States ds(i, dst), ss(i, src);
  // Element (row, column) of the square as it lies in the source: fractals of 8 and 4 bits follow each other downwards, of
  // 32 sideways.
  const auto in_source = [&](std::uint32_t row, std::uint32_t column) {
    return ((column / c0 * (size == 4 ? 16 : 0) + row) * c0 + column % c0) * bits / 8;
  };
  std::uint8_t pair[64] = {};  // 4 bits: the state of the element before, which shares its byte
  for (std::uint64_t r = 0; r < load.repeats; ++r) {
    for (std::uint32_t row = 0; row < side; ++row) {
      for (std::uint32_t column = 0; column < side; ++column) {
        // The transposed square goes out in fractals of 16 rows, C0 columns.
        const std::uint32_t f = size == 4 ? row / c0 : column / 16;
        const std::uint64_t od = to(r, f) + (size == 4 ? column * c0 + row % c0 : column % 16 * c0 + row) * bits / 8;
        const std::uint64_t os = from(r) + in_source(row, column);
        if (bits == 4) {
          std::uint8_t& both = i.bytes(dst)[od];
          both = with_int4(both, row % 2, int4_of(i.bytes(src)[os], column % 2));
          const std::uint8_t state = ss.of(os, 1);
          ds.set(od, 1, meet(row % 2 ? pair[column] : kDefined, state));
          pair[column] = state;
          continue;
        }
        std::memcpy(i.bytes(dst) + od, i.bytes(src) + os, size);
        ds.set(od, size, ss.of(os, size));
      }
    }
    for (std::uint32_t f = 0; f < fractals; ++f) keep_layout(dst, src, to(r, f), from(r), true);
  }
}

void cube_fill(const View& dst, std::uint32_t repeats, std::uint32_t blocks, std::uint32_t gap, std::uint64_t value,
               Site site) {
  const Pipe pipe = dst.space == Space::L1 ? Pipe::MTE2 : Pipe::MTE1;
  TWIN_HOLD_BACK(pipe, { cube_fill(dst, repeats, blocks, gap, value, site); })
  Instruction i(pipe, "InitConstValue", site);
  const std::uint64_t unit = dst.space == Space::L1 ? kBlockBytes : kFractalBytes;
  const auto to = [&](std::uint64_t r) { return r * (std::uint64_t{blocks} + gap) * unit; };
  for (std::uint64_t r = 0; r < repeats; ++r) i.write(dst, to(r), blocks * unit);
  i.move(dst.space == Space::L0B ? Path::L1ToL0b : Path::L1ToL0a, repeats * blocks * unit);
  if (!i.issue()) return;
  const std::uint32_t size = size_bytes(dst.dtype);
  States ds(i, dst);
  for (std::uint64_t r = 0; r < repeats; ++r) {
    for (std::uint64_t k = 0; k < blocks * unit; k += size) std::memcpy(i.bytes(dst) + to(r) + k, &value, size);
    ds.set(to(r), blocks * unit, kDefined);
  }
}

}  // namespace twin
