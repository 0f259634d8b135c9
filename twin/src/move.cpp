// SPDX-License-Identifier: Apache-2.0
// Moves of blocks between memories, with padding, format change and atomic stores.
#include <cstring>

#include "lane_math.hpp"
#include "lanes.hpp"
#include "launched.hpp"

namespace twin {

namespace {

struct Way {
  Space from, to;
  Pipe pipe;
  Path path;
};
constexpr Way kWays[] = {{Space::GM, Space::UB, Pipe::MTE2, Path::GmToUb}, {Space::GM, Space::L1, Pipe::MTE2, Path::GmToL1},
                         {Space::UB, Space::GM, Pipe::MTE3, Path::UbToGm}, {Space::L1, Space::GM, Pipe::MTE3, Path::L1ToGm},
                         {Space::UB, Space::UB, Pipe::V, Path::UbToUb},    {Space::L1, Space::BT, Pipe::MTE1, Path::L1ToBt},
                         {Space::L1, Space::FB, Pipe::FIX, Path::L1ToBt}};

const Way* way(Space from, Space to) {
  for (const Way& w : kWays) {
    if (w.from == from && w.to == to) return &w;
  }
  return nullptr;
}

std::uint64_t up_to_32(std::uint64_t bytes) { return (bytes + 31) & ~std::uint64_t{31}; }

void check_local_alignment(Instruction& i, const View& dst, const View& src) {
  if (dst.space != Space::GM) i.require_aligned(dst, kBlockBytes, "the destination");
  if (src.space != Space::GM) i.require_aligned(src, kBlockBytes, "the source");
}

template <class T>
void combine(std::uint8_t* d, const std::uint8_t* a, std::uint64_t bytes, Atomic how) {
  using C = typename lane::Compute<T>::Type;
  for (std::uint64_t k = 0; k + sizeof(T) <= bytes; k += sizeof(T)) {
    T old, fresh;
    std::memcpy(&old, d + k, sizeof(T));
    std::memcpy(&fresh, a + k, sizeof(T));
    const C x = C(old), y = C(fresh);
    const T result = lane::narrow<T>(how == Atomic::Add ? x + y : how == Atomic::Max ? (x > y ? x : y) : (x < y ? x : y));
    std::memcpy(d + k, &result, sizeof(T));
  }
}

}  // namespace

void count_addends(const std::uint8_t* d, const std::uint8_t* a, std::uint64_t bytes);  // atomics.cpp

// A row of a store to GM, the atomic mode respected.
void store_row(std::uint8_t* d, const std::uint8_t* a, std::uint64_t bytes) {
  const Core& c = core();
  if (c.atomic == Atomic::None) {
    std::memcpy(d, a, bytes);
    return;
  }
  count_addends(d, a, bytes);
  switch (c.atomic_dtype) {
    case DType::F32:
      return combine<float>(d, a, bytes, c.atomic);
    case DType::F16:
      return combine<half>(d, a, bytes, c.atomic);
    case DType::BF16:
      return combine<bfloat16_t>(d, a, bytes, c.atomic);
    case DType::I32:
      return combine<std::int32_t>(d, a, bytes, c.atomic);
    case DType::I16:
      return combine<std::int16_t>(d, a, bytes, c.atomic);
    default:
      return combine<std::int8_t>(d, a, bytes, c.atomic);
  }
}

namespace {

void execute_blocks(const char* instruction, const View& dst, const View& src, const Blocks& b,
                    std::uint64_t src_bytes_a_block, const Pad* pad, Site site) {
  const Way* w = way(src.space, dst.space);
  const Pipe pipe = w ? w->pipe : Pipe::MTE2;
  if (core().stands(pipe)) {
    return core().hold_back(pipe, [=, padding = pad ? *pad : Pad{}, has_padding = pad != nullptr] {
      execute_blocks(instruction, dst, src, b, src_bytes_a_block, has_padding ? &padding : nullptr, site);
    });
  }
  Instruction i(pipe, instruction, site);
  i.take_int4();
  if (!w)
    i.refuse(Kind::Limit, format("%s: the 910B has no path from %s to %s", instruction, name(src.space), name(dst.space)),
             "go by way of GM");
  if (b.count > 4095)
    i.refuse(Kind::Limit, format("%s: blockCount %u, at most 4095 are possible", instruction, b.count), "split the copy");
  if (pad && pad->splits_byte)
    i.refuse(Kind::Alignment, "DataCopyPad: an odd number of int4b_t to pad with, which ends inside a byte",
             "pad with an even number");
  check_local_alignment(i, dst, src);
  if (!w || b.count == 0 || b.bytes == 0) return;  // nothing to copy is no error
  const std::uint64_t left = pad ? pad->left_bytes : 0;
  const std::uint64_t dst_bytes = pad ? up_to_32(left + b.bytes + pad->right_bytes) : b.bytes;
  for (std::uint64_t k = 0; k < b.count; ++k) i.read(src, k * b.src_step, src_bytes_a_block);
  for (std::uint64_t k = 0; k < b.count; ++k) i.write(dst, k * b.dst_step, dst_bytes);
  if (dst.space == Space::GM && core().atomic != Atomic::None) {
    for (std::uint64_t k = 0; k < b.count; ++k) i.read(dst, k * b.dst_step, dst_bytes);
  }
  i.move(w->path, b.count * b.bytes);
  if (w->path == Path::UbToUb) i.cost("UbCopy", b.count * b.bytes);
  if (!i.issue()) return;
  const std::uint32_t size = size_bytes(dst.dtype);
  States ds(i, dst), ss(i, src);
  for (std::uint64_t k = 0; k < b.count; ++k) {
    const std::uint64_t od = k * b.dst_step, oa = k * b.src_step;
    std::uint8_t* const d = i.bytes(dst) + od;
    const std::uint8_t* const a = i.bytes(src) + oa;
    if (dst.space == Space::GM) {
      i.use(src, oa, b.bytes, "stores to GM");
      if (core().atomic != Atomic::None) i.use(dst, od, b.bytes, "adds to GM that holds");
      store_row(d, a, b.bytes);
      ds.set(od, b.bytes, kDefined);
      if (launched().timing_only) ds.copy_from(ss, od, oa, b.bytes);
      continue;
    }
    if (pad) {
      const std::uint8_t* const value = pad->given ? reinterpret_cast<const std::uint8_t*>(&pad->value) : a;
      for (std::uint64_t e = 0; e + size <= dst_bytes; e += size) std::memcpy(d + e, value, size);
      const std::uint64_t given_end = pad->given ? left + b.bytes + pad->right_bytes : 0;
      if (given_end < dst_bytes || !pad->given) {
        ds.set(od, dst_bytes,
               new_origin(format("the padding of %s at %s, which is unspecified", instruction, to_string(site).c_str())));
      }
      ds.set(od, given_end, kDefined);
    }
    std::memmove(d + left, a, b.bytes);
    ds.copy_from(ss, od + left, oa, b.bytes);
  }
  Memory& to = core().memory[int(dst.space)];
  if (!to.fractal.empty() && dst.space != Space::GM) {
    for (std::uint64_t k = 0; k < b.count; ++k) {
      const std::uint64_t first = (dst.addr + k * b.dst_step) / 32;
      std::memset(to.fractal.data() + first, 0, (b.bytes + 31) / 32);
    }
  }
}

}  // namespace

void move_blocks(const View& dst, const View& src, const Blocks& blocks, Site site) {
  if (dst.space == Space::L1 && tscm_of_cube(dst)) return tscm_copy(dst, src, blocks, site);
  Blocks b = blocks;
  if (b.bytes % 32 != 0) {
    const std::string what =
        format("DataCopy of %llu bytes: it moves whole blocks of 32 bytes, so it moves %llu",
               static_cast<unsigned long long>(b.bytes), static_cast<unsigned long long>(up_to_32(b.bytes)));
    const bool out = dst.space == Space::GM;
    Finding f{Kind::Alignment,
              what,
              to_string(site),
              "",
              core().label(),
              out                      ? "MTE3"
              : src.space == Space::GM ? "MTE2"
              : dst.space == Space::UB ? "V"
                                       : "MTE1",
              "",
              "",
              out ? "DataCopyPad: a plain copy overwrites what follows in GM" : "DataCopyPad"};
    View moved = out ? dst : src;
    moved.bytes = up_to_32(b.bytes);
    place(&f, moved);
    report(std::move(f));
    b.bytes = up_to_32(b.bytes);
  }
  execute_blocks("DataCopy", dst, src, b, b.bytes, nullptr, site);
}

void set_pad_value(DType dtype, std::uint64_t bits) { core().pad_value = {true, dtype, bits}; }

// Without a value of its own a copy pads with that of SetPadValue, if there is one. A copy with a value replaces it, and
// leaves it unspecified for those that follow.
void move_padded_in(const View& dst, const View& src, const Blocks& blocks, const Pad& given, Site site) {
  Pad pad = given;
  auto& value = core().pad_value;
  if (pad.given) {
    value.given = false;
  } else if (value.given && pad.left_bytes + pad.right_bytes != 0) {
    if (size_bytes(value.dtype) != size_bytes(dst.dtype)) {
      report({Kind::Limit,
              format("DataCopyPad of %s pads with what SetPadValue gave as %s", name(dst.dtype), name(value.dtype)),
              to_string(site), "", core().label(), "MTE2", "", "", "give SetPadValue the type of the copy"});
      return;
    }
    pad.given = true;
    pad.value = value.bits;
  }
  if (pad.left_bytes > 32 || pad.right_bytes > 32) {
    report({Kind::Limit,
            format("DataCopyPad: padding of %llu and %llu bytes, at most 32 each side",
                   static_cast<unsigned long long>(pad.left_bytes), static_cast<unsigned long long>(pad.right_bytes)),
            to_string(site), "", core().label(), "MTE2", "", "", "pad with Duplicate"});
    return;
  }
  execute_blocks("DataCopyPad", dst, src, blocks, blocks.bytes, &pad, site);
}

void move_padded_out(const View& dst, const View& src, const Blocks& blocks, Site site) {
  execute_blocks("DataCopyPad", dst, src, blocks, blocks.bytes, nullptr, site);
}

void move_nd2nz(const View& dst, const View& src, const Nd2Nz& s, Site site) {
  if (dst.space == Space::L1 && tscm_of_cube(dst)) return tscm_copy(dst, src, s, site);
  TWIN_HOLD_BACK(Pipe::MTE2, { move_nd2nz(dst, src, s, site); })
  Instruction i(Pipe::MTE2, "DataCopy (ND to NZ)", site);
  const std::uint32_t size = size_bytes(dst.dtype);
  const std::uint64_t c0 = kBlockBytes / size;
  i.require(src.space == Space::GM && dst.space == Space::L1, Kind::Limit, "DataCopy (ND to NZ) goes from GM to L1 only",
            "copy to L1");
  if (s.rows > 16384 || s.columns > 65535 || s.matrices > 4095)
    i.refuse(Kind::Limit,
             format("DataCopy (ND to NZ): ndNum %u, nValue %u, dValue %u; limits are 4095, 16384 and 65535", s.matrices,
                    s.rows, s.columns),
             "split the copy");
  check_local_alignment(i, dst, src);
  const std::uint64_t blocks = (s.columns + c0 - 1) / c0;
  const auto from = [&](std::uint64_t m, std::uint64_t r) {
    return (m * s.src_matrix_stride + r * s.src_row_stride) * size;
  };
  const auto to = [&](std::uint64_t m, std::uint64_t j, std::uint64_t r) {
    return m * s.dst_matrix_stride * size + (j * s.dst_column_stride + r * s.dst_row_stride) * kBlockBytes;
  };
  for (std::uint64_t m = 0; m < s.matrices; ++m) {
    for (std::uint64_t r = 0; r < s.rows; ++r) i.read(src, from(m, r), std::uint64_t{s.columns} * size);
    Accesses written(i, dst, true, s.rows && blocks ? to(m, blocks - 1, s.rows - 1) + kBlockBytes : 0);
    for (std::uint64_t j = 0; j < blocks; ++j) {
      for (std::uint64_t r = 0; r < s.rows; ++r) written.add(to(m, j, r), kBlockBytes);
    }
  }
  i.move(Path::GmToL1Nz, std::uint64_t{s.matrices} * s.rows * s.columns * size);
  if (!i.issue()) return;
  States ds(i, dst), ss(i, src);
  std::vector<std::uint8_t>& fractal = core().memory[int(Space::L1)].fractal;
  const bool scattered = blocks > 1 && s.dst_column_stride != 1;
  std::uint8_t* const into = i.bytes(dst);
  const std::uint8_t* const out_of = i.bytes(src);
  const std::uint64_t row_bytes = std::uint64_t{s.columns} * size, whole = row_bytes / kBlockBytes;
  for (std::uint64_t m = 0; m < s.matrices; ++m) {
    for (std::uint64_t r = 0; r < s.rows; ++r) {
      const std::uint8_t* const a = out_of + from(m, r);
      std::uint8_t* const d = into + to(m, 0, r);
      const std::uint64_t step = std::uint64_t{s.dst_column_stride} * kBlockBytes;
      for (std::uint64_t j = 0; j < whole; ++j) std::memcpy(d + j * step, a + j * kBlockBytes, kBlockBytes);
      if (whole < blocks) {  // the last block is filled up with zeros
        std::memset(d + whole * step, 0, kBlockBytes);
        std::memcpy(d + whole * step, a + whole * kBlockBytes, row_bytes - whole * kBlockBytes);
      }
    }
    bool clean = true;
    for (std::uint64_t r = 0; clean && r < s.rows; ++r) clean = ss.clean(from(m, r), row_bytes);
    const std::uint64_t stretch = clean && s.dst_row_stride == 1 ? s.rows : 1;  // blocks that follow one another
    for (std::uint64_t r = 0; r < s.rows; r += stretch) {
      for (std::uint64_t j = 0; j < blocks; ++j) {
        ds.set(to(m, j, r), stretch * kBlockBytes, kDefined);
        if (!clean)
          ds.copy_from(ss, to(m, j, r), from(m, r) + j * kBlockBytes,
                       std::min<std::uint64_t>(kBlockBytes, row_bytes - j * kBlockBytes));
        std::memset(&fractal[(dst.addr + to(m, j, r)) / kBlockBytes], scattered, stretch);
      }
    }
  }
}

void move_pieces(const View& dst, const View& src, const Piece* pieces, std::uint32_t count, const char* name, Site site) {
  const Way* w = way(src.space, dst.space);
  const Pipe pipe = w ? w->pipe : Pipe::MTE2;
  if (core().stands(pipe)) {
    return core().hold_back(pipe, [=, kept = std::vector<Piece>(pieces, pieces + count)] {
      move_pieces(dst, src, kept.data(), count, name, site);
    });
  }
  Instruction i(pipe, name, site);
  if (!w || (src.space != Space::GM && dst.space != Space::GM)) {
    i.refuse(Kind::Limit, format("%s from %s to %s: one side is GM", name, twin::name(src.space), twin::name(dst.space)),
             "use a plain DataCopy");
    return;
  }
  check_local_alignment(i, dst, src);
  const bool adds = dst.space == Space::GM && core().atomic != Atomic::None;
  std::uint64_t bytes = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    const Piece& p = pieces[k];
    const std::uint64_t local = dst.space == Space::GM ? p.src : p.dst;
    if (p.bytes % kBlockBytes || local % kBlockBytes)
      i.refuse(Kind::Alignment,
               format("%s: a piece of %llu bytes at byte %llu of the local tensor; both are multiples of 32", name,
                      static_cast<unsigned long long>(p.bytes), static_cast<unsigned long long>(local)),
               "slice whole blocks of 32 bytes");
    i.read(src, p.src, p.bytes);
    i.write(dst, p.dst, p.bytes);
    if (adds) i.read(dst, p.dst, p.bytes);
    bytes += p.bytes;
  }
  i.move(w->path, bytes);
  if (!bytes || !i.issue()) return;
  States ds(i, dst), ss(i, src);
  for (std::uint32_t k = 0; k < count; ++k) {
    const Piece& p = pieces[k];
    if (dst.space == Space::GM) {
      i.use(src, p.src, p.bytes, "stores to GM");
      if (adds) i.use(dst, p.dst, p.bytes, "adds to GM that holds");
      store_row(i.bytes(dst) + p.dst, i.bytes(src) + p.src, p.bytes);
      ds.set(p.dst, p.bytes, kDefined);
    } else {
      std::memcpy(i.bytes(dst) + p.dst, i.bytes(src) + p.src, p.bytes);
    }
    if (dst.space != Space::GM || launched().timing_only) ds.copy_from(ss, p.dst, p.src, p.bytes);
  }
}

}  // namespace twin
