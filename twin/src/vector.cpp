// SPDX-License-Identifier: Apache-2.0
// Vector instructions other than elementwise arithmetic and reductions.
#include <cmath>
#include <cstring>

#include "lane_math.hpp"
#include "lanes.hpp"

namespace twin {
namespace {

std::uint64_t repeats_for(const Lanes& lanes, std::uint32_t widest) {
  return lanes.form == Lanes::Count ? (std::uint64_t{lanes.count} * widest + kRepeatBytes - 1) / kRepeatBytes
                                    : lanes.repeats;
}

template <class F>
decltype(auto) with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::I8:
      return f(std::int8_t{});
    case DType::U8:
      return f(std::uint8_t{});
    case DType::I16:
      return f(std::int16_t{});
    case DType::U16:
      return f(std::uint16_t{});
    case DType::I32:
      return f(std::int32_t{});
    case DType::U32:
      return f(std::uint32_t{});
    case DType::I64:
      return f(std::int64_t{});
    case DType::U64:
      return f(std::uint64_t{});
    case DType::F16:
      return f(half{});
    case DType::BF16:
      return f(bfloat16_t{});
    default:
      return f(float{});
  }
}

}  // namespace

void vector_duplicate(const Lanes& lanes, const View& dst, Stride stride, std::uint64_t scalar, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_duplicate(lanes, dst, stride, scalar, site); })
  Instruction i(Pipe::V, "Duplicate", site);
  const std::uint32_t size = size_bytes(dst.dtype);
  const Operand operand{&dst, stride, true};
  const auto& runs = make_runs(i, lanes, &operand, 1);
  i.cost("OneVector", repeats_for(lanes, size), dst.dtype);
  if (!i.issue()) return;
  States states(i, dst);
  for (const Run& r : runs) {
    for (std::uint32_t k = 0; k < r.n; ++k) std::memcpy(i.bytes(dst) + r.offset[0] + std::uint64_t{k} * size, &scalar, size);
    states.set(r.offset[0], std::uint64_t{r.n} * size, kDefined);
  }
}

void vector_index(const View& dst, std::uint64_t first, std::uint32_t count, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_index(dst, first, count, site); })
  Instruction i(Pipe::V, "CreateVecIndex", site);
  const std::uint32_t size = size_bytes(dst.dtype);
  i.require_aligned(dst, kBlockBytes, "the destination");
  i.write(dst, 0, std::uint64_t{count} * size);
  i.cost("OneVector", (std::uint64_t{count} * size + kRepeatBytes - 1) / kRepeatBytes, dst.dtype);
  if (!i.issue()) return;
  with_type(dst.dtype, [&](auto t) {
    using T = decltype(t);
    const double start = static_cast<double>(load<T>(reinterpret_cast<const std::uint8_t*>(&first)));
    for (std::uint32_t k = 0; k < count; ++k) store<T>(i.bytes(dst) + std::uint64_t{k} * size, T(start + k));
    return 0;
  });
  States(i, dst).set(0, std::uint64_t{count} * size, kDefined);
}

void vector_brcb(const View& dst, const View& src, std::uint32_t repeats, Stride stride, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_brcb(dst, src, repeats, stride, site); })
  Instruction i(Pipe::V, "Brcb", site);
  const std::uint32_t size = size_bytes(dst.dtype);
  if (size != 2 && size != 4)
    i.refuse(Kind::Limit, format("Brcb on %s: 16-bit and 32-bit elements only", name(dst.dtype)), "use ReinterpretCast");
  if (repeats > 255) i.refuse(Kind::Limit, format("Brcb: %u repeats, at most 255 are possible", repeats), "split it");
  i.require_aligned(dst, kBlockBytes, "the destination");
  i.require_aligned(src, kBlockBytes, "the source");
  i.read(src, 0, std::uint64_t{repeats} * 8 * size);
  const auto block_at = [&](std::uint32_t k) {
    return (std::uint64_t{k / 8} * stride.repeat + std::uint64_t{k % 8} * stride.block) * kBlockBytes;
  };
  for (std::uint32_t k = 0; k < repeats * 8; ++k) i.write(dst, block_at(k), kBlockBytes);
  i.cost("Brcb", repeats, dst.dtype);
  if (!i.issue()) return;
  States ds(i, dst), ss(i, src);
  for (std::uint32_t k = 0; k < repeats * 8; ++k) {
    for (std::uint32_t e = 0; e < kBlockBytes / size; ++e) {
      std::memcpy(i.bytes(dst) + block_at(k) + e * size, i.bytes(src) + std::uint64_t{k} * size, size);
      ds.copy_from(ss, block_at(k) + e * size, std::uint64_t{k} * size, size);
    }
  }
}

void vector_gather(const View& dst, const View& src, const View& offsets, std::uint32_t base, std::uint32_t count,
                   Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_gather(dst, src, offsets, base, count, site); })
  Instruction i(Pipe::V, "Gather", site);
  const std::uint32_t size = size_bytes(dst.dtype);
  i.read(offsets, 0, std::uint64_t{count} * 4);
  i.write(dst, 0, std::uint64_t{count} * size);
  i.cost("Gather", count, dst.dtype);
  States where(i, offsets);
  const std::uint32_t* const at = reinterpret_cast<const std::uint32_t*>(i.bytes(offsets));
  if (!i.refused()) {
    i.use(offsets, 0, std::uint64_t{count} * 4, "uses as an address");
    for (std::uint32_t k = 0; k < count; ++k) {
      if (at[k] % size != 0)
        i.refuse(Kind::Alignment, format("Gather: offset %u of element %u is not a multiple of %u bytes", at[k], k, size),
                 "offsets are in bytes");
      i.read(src, std::uint64_t{base} + at[k], size);
    }
  }
  if (!i.issue()) return;
  States ds(i, dst), ss(i, src);
  for (std::uint64_t k = 0; k < count; ++k) {
    std::memmove(i.bytes(dst) + k * size, i.bytes(src) + base + at[k], size);
    ds.copy_from(ss, k * size, std::uint64_t{base} + at[k], size);
  }
}

std::uint64_t vector_gather_mask(const View& dst, const View& src, const View* mask, int pattern, bool counter_mode,
                                 std::uint32_t mask_count, std::uint32_t repeats, Stride src_stride,
                                 std::uint32_t mask_repeat_stride, Site site) {
  core().need(Pipe::V, site);  // the scalar unit gets the number
  Instruction i(Pipe::V, "GatherMask", site);
  const std::uint32_t size = size_bytes(dst.dtype);
  if (size != 2 && size != 4)
    i.refuse(Kind::Limit, format("GatherMask on %s: 16-bit and 32-bit elements only", name(dst.dtype)),
             "use ReinterpretCast");
  if (!(mask || (pattern >= 1 && pattern <= 7)))
    i.refuse(Kind::Limit, format("GatherMask: pattern %d, 1 to 7 exist", pattern),
             "use one of the patterns, or a mask tensor");
  i.require_aligned(dst, kBlockBytes, "the destination");
  i.require_aligned(src, kBlockBytes, "the source");
  // A repeat is 256 bytes; in counter mode it is mask_count elements, however many blocks they take.
  const std::uint64_t a_repeat = counter_mode ? mask_count : lanes_a_repeat(size), a_block = kBlockBytes / size;
  const auto place = [&](std::uint64_t repeat, std::uint64_t lane) {
    return (repeat * src_stride.repeat + lane / a_block * src_stride.block) * kBlockBytes + lane % a_block * size;
  };
  for (std::uint64_t r = 0; r < repeats; ++r) {
    for (std::uint64_t lane = 0; lane < a_repeat; lane += a_block)
      i.read(src, place(r, lane), std::min(a_block, a_repeat - lane) * size);
    if (mask) i.read(*mask, r * mask_repeat_stride * kBlockBytes, (a_repeat + 7) / 8);
  }
  if (i.refused()) return 0;
  std::vector<std::uint64_t> kept;
  for (std::uint64_t r = 0; r < repeats; ++r) {
    const std::uint64_t bits = r * mask_repeat_stride * kBlockBytes;
    if (mask) i.use(*mask, bits, (a_repeat + 7) / 8, "chooses by");
    for (std::uint64_t lane = 0; lane < a_repeat; ++lane) {
      bool keep;
      if (mask) {
        keep = i.bytes(*mask)[bits + lane / 8] >> (lane % 8) & 1;
      } else {
        keep = pattern == 7 || (pattern <= 2 ? lane % 2 == static_cast<std::uint64_t>(pattern - 1)
                                             : lane % 4 == static_cast<std::uint64_t>(pattern - 3));
      }
      if (keep) kept.push_back(place(r, lane));
    }
  }
  i.write(dst, 0, kept.size() * size);
  i.cost("OneVector", repeats * ((a_repeat * size + kRepeatBytes - 1) / kRepeatBytes), dst.dtype);
  if (!i.issue()) return i.refused() ? 0 : kept.size();
  States ds(i, dst), ss(i, src);
  for (std::uint64_t k = 0; k < kept.size(); ++k) {
    std::memmove(i.bytes(dst) + k * size, i.bytes(src) + kept[k], size);
    ds.copy_from(ss, k * size, kept[k], size);
  }
  return kept.size();
}

void vector_transpose16(const View& dst, const View& src, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_transpose16(dst, src, site); })
  Instruction i(Pipe::V, "Transpose", site);
  if (size_bytes(dst.dtype) != 2)
    i.refuse(Kind::Limit, format("Transpose on %s: 16-bit elements only", name(dst.dtype)),
             "use TransDataTo5HD or ReinterpretCast");
  i.require_aligned(dst, kBlockBytes, "the destination");
  i.require_aligned(src, kBlockBytes, "the source");
  i.read(src, 0, 512);
  i.write(dst, 0, 512);
  i.cost("Transpose", 256, dst.dtype);
  if (!i.issue()) return;
  std::uint8_t values[512], states[512];
  std::memcpy(values, i.bytes(src), 512);
  States ds(i, dst), ss(i, src);
  for (std::uint64_t k = 0; k < 512; ++k) states[k] = ss.of(k, 1);
  for (std::uint32_t row = 0; row < 16; ++row) {
    for (std::uint32_t column = 0; column < 16; ++column) {
      std::memcpy(i.bytes(dst) + (column * 16 + row) * 2, values + (row * 16 + column) * 2, 2);
      ds.set((column * 16 + row) * 2, 2, meet(states[(row * 16 + column) * 2], states[(row * 16 + column) * 2 + 1]));
    }
  }
}

void vector_copy(const Lanes& lanes, const View& dst, const View& src, Stride dst_stride, Stride src_stride, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_copy(lanes, dst, src, dst_stride, src_stride, site); })
  Instruction i(Pipe::V, "Copy", site);
  const std::uint32_t size = size_bytes(dst.dtype);
  const Operand operands[2] = {{&dst, dst_stride, true}, {&src, src_stride}};
  const auto& runs = make_runs(i, lanes, operands, 2);
  i.cost("OneVector", repeats_for(lanes, size), dst.dtype);
  if (!i.issue()) return;
  States ds(i, dst), ss(i, src);
  for (const Run& r : runs) {
    std::memmove(i.bytes(dst) + r.offset[0], i.bytes(src) + r.offset[1], std::uint64_t{r.n} * size);
    ds.copy_from(ss, r.offset[0], r.offset[1], std::uint64_t{r.n} * size);
  }
}

}  // namespace twin
