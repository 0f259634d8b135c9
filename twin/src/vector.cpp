// SPDX-License-Identifier: Apache-2.0
// Vector instructions other than elementwise arithmetic and reductions.
#include <cmath>
#include <cstring>

#include "lane_math.hpp"
#include "lanes.hpp"
#include "wide.hpp"

namespace twin {
namespace {

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

template <class Word>
void fill(std::uint8_t* d, std::uint32_t n, Word value) {
  for (std::uint64_t k = 0; k < n; ++k) store<Word>(d + k * sizeof(Word), value);
}

// start, start + 1, ...: the sum in double, then what the type makes of it.
template <class T>
void ramp(std::uint8_t* d, std::uint32_t n, double start) {
  wide([=] {
    for (std::uint32_t k = 0; k < n; ++k)
      store<T>(d + std::uint64_t{k} * sizeof(T), T(start + static_cast<std::int32_t>(k)));
  });
}

// Of GatherMask's patterns 1 to 7, which of eight lanes are kept: one of two, one of four, all.
constexpr unsigned kPatterns[] = {0, 0x55, 0xaa, 0x11, 0x22, 0x44, 0x88, 0xff};

// d[k] = a[from[k]]; from counts bytes.
template <class Word, class From>
void gather(std::uint8_t* d, const std::uint8_t* a, const From* from, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) store<Word>(d + k * sizeof(Word), load<Word>(a + from[k]));
}

// The largest offset of a Gather, and whether each is an element behind the one before, the first a whole number of them.
struct Offsets {
  std::uint32_t last = 0;
  bool follow = false;
};
Offsets offsets_of(const std::uint32_t* at, std::uint32_t n, std::uint32_t size) {
  Offsets all;
  wide([=, &all] {
    std::uint32_t last = 0, apart = 0;
    const std::uint32_t first = n ? at[0] : 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      last = std::max(last, at[k]);
      apart |= at[k] ^ (first + k * size);
    }
    all = {last, n != 0 && apart == 0 && first % size == 0};
  });
  return all;
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
    std::uint8_t* const d = i.bytes(dst) + r.offset[0];
    with_word(size, [&](auto word) { fill<decltype(word)>(d, r.n, static_cast<decltype(word)>(scalar)); });
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
    ramp<T>(i.bytes(dst), count, start);
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
  const auto block_at = [&](std::uint64_t k) { return (k / 8 * stride.repeat + k % 8 * stride.block) * kBlockBytes; };
  {
    Accesses written(i, dst, true, repeats ? block_at(std::uint64_t{repeats} * 8 - 1) + kBlockBytes : 0);
    for (std::uint64_t k = 0; k < std::uint64_t{repeats} * 8; ++k) written.add(block_at(k), kBlockBytes);
  }
  i.cost("Brcb", repeats, dst.dtype);
  if (!i.issue()) return;
  States ds(i, dst), ss(i, src);
  std::uint8_t* const d = i.bytes(dst);
  const std::uint8_t* const a = i.bytes(src);
  with_word(size, [&](auto word) {
    using Word = decltype(word);
    for (std::uint64_t k = 0; k < std::uint64_t{repeats} * 8; ++k) {
      const Word value = load<Word>(a + k * size);
      for (std::uint32_t e = 0; e < kBlockBytes; e += size) store<Word>(d + block_at(k) + e, value);
    }
  });
  for (std::uint64_t k = 0; k < std::uint64_t{repeats} * 8; ++k) {
    if (ss.clean(k * size, size)) {
      ds.set(block_at(k), kBlockBytes, kDefined);
    } else {
      for (std::uint32_t e = 0; e < kBlockBytes; e += size) ds.copy_from(ss, block_at(k) + e, k * size, size);
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
  const std::uint32_t* const at = reinterpret_cast<const std::uint32_t*>(i.bytes(offsets));
  std::uint64_t span = 0;  // bytes of the source from `base` on
  if (!i.refused()) {
    i.use(offsets, 0, std::uint64_t{count} * 4, "uses as an address");
    const Offsets all = offsets_of(at, count, size);
    span = count ? std::uint64_t{all.last} + size : 0;
    Accesses read(i, src, false, base + span);
    if (all.follow) read.add_each(std::uint64_t{base} + at[0], count, size);
    for (std::uint32_t k = 0; !all.follow && k < count; ++k) {
      if (at[k] % size != 0)
        i.refuse(Kind::Alignment, format("Gather: offset %u of element %u is not a multiple of %u bytes", at[k], k, size),
                 "offsets are in bytes");
      read.add(std::uint64_t{base} + at[k], size);
    }
  }
  if (!i.issue()) return;
  States ds(i, dst), ss(i, src);
  with_word(size, [&](auto word) { gather<decltype(word)>(i.bytes(dst), i.bytes(src) + base, at, count); });
  if (ss.clean(base, span)) return ds.set(0, std::uint64_t{count} * size, kDefined);
  for (std::uint64_t k = 0; k < count; ++k) ds.copy_from(ss, k * size, std::uint64_t{base} + at[k], size);
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
  const std::uint64_t end = repeats && a_repeat ? place(repeats - 1, a_repeat - 1) + size : 0;
  {
    Accesses read(i, src, false, end);
    for (std::uint64_t r = 0; r < repeats; ++r) {
      for (std::uint64_t lane = 0; lane < a_repeat; lane += a_block)
        read.add(place(r, lane), std::min(a_block, a_repeat - lane) * size);
    }
  }
  for (std::uint64_t r = 0; mask && r < repeats; ++r)
    i.read(*mask, r * mask_repeat_stride * kBlockBytes, (a_repeat + 7) / 8);
  if (i.refused()) return 0;
  static thread_local std::vector<std::uint32_t> kept;
  kept.resize(repeats * a_repeat);
  std::size_t n = 0;
  for (std::uint64_t r = 0; r < repeats; ++r) {
    const std::uint64_t bits = r * mask_repeat_stride * kBlockBytes;
    if (mask) i.use(*mask, bits, (a_repeat + 7) / 8, "chooses by");
    for (std::uint64_t lane = 0; lane < a_repeat; lane += 8) {  // a block has eight lanes, or sixteen
      const unsigned eight = mask ? i.bytes(*mask)[bits + lane / 8] : kPatterns[pattern];
      const auto first = static_cast<std::uint32_t>(place(r, lane));
      for (std::uint32_t k = 0; k < std::min<std::uint64_t>(8, a_repeat - lane); ++k) {
        kept[n] = first + k * size;
        n += eight >> k & 1;
      }
    }
  }
  i.write(dst, 0, n * size);
  i.cost("OneVector", repeats * ((a_repeat * size + kRepeatBytes - 1) / kRepeatBytes), dst.dtype);
  core().registers.kept = n;
  if (!i.issue()) return i.refused() ? 0 : n;
  States ds(i, dst), ss(i, src);
  with_word(size, [&](auto word) { gather<decltype(word)>(i.bytes(dst), i.bytes(src), kept.data(), n); });
  if (ss.clean(0, end)) {
    ds.set(0, n * size, kDefined);
  } else {
    for (std::uint64_t k = 0; k < n; ++k) ds.copy_from(ss, k * size, kept[k], size);
  }
  return n;
}

std::uint64_t kept_by_gather_mask(Site site) {
  core().need(Pipe::V, site);
  return core().registers.kept;
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
  std::uint16_t values[256];
  std::memcpy(values, i.bytes(src), 512);
  std::uint8_t* const d = i.bytes(dst);
  for (std::uint32_t column = 0; column < 16; ++column) {
    for (std::uint32_t row = 0; row < 16; ++row) store(d + (column * 16 + row) * 2, values[row * 16 + column]);
  }
  States ds(i, dst), ss(i, src);
  if (ss.clean(0, 512)) return ds.set(0, 512, kDefined);
  std::uint8_t states[256];
  for (std::uint64_t k = 0; k < 256; ++k) states[k] = ss.of(k * 2, 2);
  for (std::uint32_t column = 0; column < 16; ++column) {
    for (std::uint32_t row = 0; row < 16; ++row) ds.set((column * 16 + row) * 2, 2, states[row * 16 + column]);
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
