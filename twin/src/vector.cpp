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

template <class T>
T load(const std::uint8_t* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
template <class T>
void store(std::uint8_t* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

bool compare(double a, double b, Compare how) {
  switch (how) {
    case Compare::LT:
      return a < b;
    case Compare::GT:
      return a > b;
    case Compare::EQ:
      return a == b;
    case Compare::LE:
      return a <= b;
    case Compare::GE:
      return a >= b;
    default:
      return a != b;
  }
}

double to_double(const std::uint8_t* p, DType dtype) {
  return with_type(dtype, [&](auto t) { return static_cast<double>(load<decltype(t)>(p)); });
}

}  // namespace

void vector_duplicate(const Lanes& lanes, const View& dst, Stride stride, std::uint64_t scalar, Site site) {
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

void vector_compare(const Lanes& lanes, const View& dst, const View& src0, const View* src1, std::uint64_t scalar,
                    Compare how, Stride src0_stride, Stride src1_stride, const char* instruction, Site site) {
  Instruction i(Pipe::V, instruction, site);
  const std::uint32_t size = size_bytes(src0.dtype);
  i.require(src0.dtype == DType::F16 || src0.dtype == DType::F32 || (src0.dtype == DType::I32 && how == Compare::EQ),
            Kind::Limit, format("%s on %s: half and float, int32 with EQ only", instruction, name(src0.dtype)),
            "cast to float first");
  const bool whole = lanes.form != Lanes::Count || std::uint64_t{lanes.count} * size % kRepeatBytes == 0;
  i.require(whole, Kind::Alignment,
            format("%s of %u elements: they must fill whole 256-byte repeats", instruction, lanes.count),
            "round the count up, and the buffers with it");
  Lanes all = lanes;  // the mask is ignored: every lane of a repeat is compared
  if (lanes.form != Lanes::Count) {
    all.form = Lanes::FirstN;
    all.count = lanes_a_repeat(size);
    all.set_mask = true;
  }
  Operand operands[2] = {{&src0, src0_stride}, {src1 ? src1 : &src0, src1 ? src1_stride : src0_stride}};
  const auto& runs = make_runs(i, all, operands, src1 ? 2 : 1);
  std::uint64_t lanes_in_all = 0;
  for (const Run& r : runs) lanes_in_all += r.n;
  i.require_aligned(dst, kBlockBytes, "the destination");
  i.write(dst, 0, (lanes_in_all + 7) / 8);
  i.cost(src1 ? "Compare" : "Compares", repeats_for(lanes, size), src0.dtype);
  if (!i.issue()) return;
  const double constant = to_double(reinterpret_cast<const std::uint8_t*>(&scalar), src0.dtype);
  const std::uint8_t* const a = i.bytes(src0);
  const std::uint8_t* const b = src1 ? i.bytes(*src1) : nullptr;
  std::uint8_t* const d = i.bytes(dst);
  States ds(i, dst), as(i, src0), bs(i, src1 ? *src1 : src0);
  // A byte of the result is undefined only if all of its lanes are: bits have no state of their own.
  std::uint8_t byte = 0, worst = 0;
  int undefined = 0;
  std::uint64_t at = 0;
  for (const Run& r : runs) {
    for (std::uint64_t k = 0; k < r.n; ++k, ++at) {
      const std::uint64_t oa = r.offset[0] + k * size, ob = r.offset[1] + k * size;
      if (compare(to_double(a + oa, src0.dtype), src1 ? to_double(b + ob, src0.dtype) : constant, how))
        byte |= static_cast<std::uint8_t>(1u << (at % 8));
      const std::uint8_t state = meet(as.of(oa, size), src1 ? bs.of(ob, size) : kDefined);
      if (state != kDefined) ++undefined, worst = state;
      if (at % 8 == 7 || at + 1 == lanes_in_all) {
        d[at / 8] = byte;
        ds.set(at / 8, 1, undefined == static_cast<int>(at % 8) + 1 ? worst : kDefined);
        byte = 0;
        undefined = 0;
      }
    }
  }
}

void vector_select(const Lanes& lanes, const View& dst, const View& mask, const View& src0, const View* src1,
                   std::uint64_t scalar, bool mask_repeats, Stride dst_stride, Stride src0_stride, Stride src1_stride,
                   Site site) {
  Instruction i(Pipe::V, "Select", site);
  const std::uint32_t size = size_bytes(dst.dtype);
  const std::uint32_t a_repeat = lanes_a_repeat(size);
  i.require(dst.dtype == DType::F16 || dst.dtype == DType::F32, Kind::Limit,
            format("Select on %s: half and float only", name(dst.dtype)), "cast, or reinterpret the bits as half or float");
  Operand operands[3] = {
      {&dst, dst_stride, true}, {&src0, src0_stride}, {src1 ? src1 : &src0, src1 ? src1_stride : src0_stride}};
  const auto& runs = make_runs(i, lanes, operands, src1 ? 3 : 2);
  std::uint64_t last_lane = 0;
  for (const Run& r : runs) last_lane = std::max(last_lane, r.lane + r.n);
  i.read(mask, 0, mask_repeats ? a_repeat / 8 : (last_lane + 7) / 8);
  i.cost("Select", repeats_for(lanes, size), dst.dtype);
  if (!i.issue()) return;
  std::uint8_t* const d = i.bytes(dst);
  const std::uint8_t* const a = i.bytes(src0);
  const std::uint8_t* const b = src1 ? i.bytes(*src1) : nullptr;
  const std::uint8_t* const m = i.bytes(mask);
  States ds(i, dst), as(i, src0), bs(i, src1 ? *src1 : src0), ms(i, mask);
  for (const Run& r : runs) {
    for (std::uint64_t k = 0; k < r.n; ++k) {
      const std::uint64_t lane = mask_repeats ? (r.lane + k) % a_repeat : r.lane + k;
      const bool first = m[lane / 8] >> (lane % 8) & 1;
      const std::uint64_t od = r.offset[0] + k * size, oa = r.offset[1] + k * size, ob = r.offset[2] + k * size;
      std::uint8_t state = ms.of(lane / 8, 1);
      state = meet(state, first ? as.of(oa, size) : src1 ? bs.of(ob, size) : kDefined);
      std::memcpy(d + od, first ? a + oa : src1 ? b + ob : reinterpret_cast<const std::uint8_t*>(&scalar), size);
      ds.set(od, size, state);
    }
  }
}

void vector_brcb(const View& dst, const View& src, std::uint32_t repeats, Stride stride, Site site) {
  Instruction i(Pipe::V, "Brcb", site);
  const std::uint32_t size = size_bytes(dst.dtype);
  i.require(size == 2 || size == 4, Kind::Limit, format("Brcb on %s: 16-bit and 32-bit elements only", name(dst.dtype)),
            "use ReinterpretCast");
  i.require(repeats <= 255, Kind::Limit, format("Brcb: %u repeats, at most 255 are possible", repeats), "split it");
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
      i.require(at[k] % size == 0, Kind::Alignment,
                format("Gather: offset %u of element %u is not a multiple of %u bytes", at[k], k, size),
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
  Instruction i(Pipe::V, "GatherMask", site);
  const std::uint32_t size = size_bytes(dst.dtype);
  i.require(size == 2 || size == 4, Kind::Limit,
            format("GatherMask on %s: 16-bit and 32-bit elements only", name(dst.dtype)), "use ReinterpretCast");
  i.require(mask || (pattern >= 1 && pattern <= 7), Kind::Limit, format("GatherMask: pattern %d, 1 to 7 exist", pattern),
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
  if (!i.issue()) return 0;
  States ds(i, dst), ss(i, src);
  for (std::uint64_t k = 0; k < kept.size(); ++k) {
    std::memmove(i.bytes(dst) + k * size, i.bytes(src) + kept[k], size);
    ds.copy_from(ss, k * size, kept[k], size);
  }
  return kept.size();
}

void vector_transpose16(const View& dst, const View& src, Site site) {
  Instruction i(Pipe::V, "Transpose", site);
  i.require(size_bytes(dst.dtype) == 2, Kind::Limit, format("Transpose on %s: 16-bit elements only", name(dst.dtype)),
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
