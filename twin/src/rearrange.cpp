// SPDX-License-Identifier: Apache-2.0
// Gathers, transposes and index ramps over repeats.
#include <algorithm>
#include <cstring>

#include "lanes.hpp"
#include "twin/calls_vector.hpp"

namespace twin {
namespace {

// Bytes with their states, as an instruction read them: a destination may overlap its source.
struct Snapshot {
  std::vector<std::uint8_t> bytes, states;
  Snapshot(Instruction& i, const View& view, std::uint64_t offset, std::uint64_t n) : bytes(n), states(n) {
    std::memcpy(bytes.data(), i.bytes(view) + offset, n);
    States s(i, view);
    if (s.clean(offset, n)) {
      std::memset(states.data(), kDefined, n);
      return;
    }
    for (std::uint64_t k = 0; k < n; ++k) states[k] = s.of(offset + k, 1);
  }
};

void put(Instruction& i, const View& view, std::uint64_t to, const Snapshot& from, std::uint64_t at, std::uint32_t n,
         States& states) {
  std::memcpy(i.bytes(view) + to, from.bytes.data() + at, n);
  for (std::uint32_t k = 0; k < n; ++k) states.set(to + k, 1, from.states[at + k]);
}

}  // namespace

void vector_index_lanes(const Lanes& lanes, const View& dst, Stride stride, std::uint64_t first, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_index_lanes(lanes, dst, stride, first, site); })
  Instruction i(Pipe::V, "CreateVecIndex", site);
  const std::uint32_t size = size_bytes(dst.dtype);
  const Operand operand{&dst, stride, true};
  const auto& runs = make_runs(i, lanes, &operand, 1);
  i.cost("OneVector", lanes.repeats, dst.dtype);
  if (!i.issue()) return;
  States states(i, dst);
  for (const Run& r : runs) {
    for (std::uint32_t k = 0; k < r.n; ++k) {
      const auto lane = static_cast<std::int64_t>(r.lane + k);
      std::uint8_t* const d = i.bytes(dst) + r.offset[0] + std::uint64_t{k} * size;
      if (dst.dtype == DType::F32) {
        const float v = bits_to_float(static_cast<std::uint32_t>(first)) + static_cast<float>(lane);
        std::memcpy(d, &v, size);
      } else if (dst.dtype == DType::F16) {
        const std::uint16_t v = float_to_half(half_to_float(static_cast<std::uint16_t>(first)) + static_cast<float>(lane));
        std::memcpy(d, &v, size);
      } else {
        const std::uint64_t v = first + static_cast<std::uint64_t>(lane);
        std::memcpy(d, &v, size);
      }
    }
    states.set(r.offset[0], std::uint64_t{r.n} * size, kDefined);
  }
}

void vector_gather_lanes(const Lanes& lanes, const View& dst, std::uint16_t dst_repeat_stride, const View& src,
                         const View& offsets, std::uint32_t base, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_gather_lanes(lanes, dst, dst_repeat_stride, src, offsets, base, site); })
  Instruction i(Pipe::V, "Gather", site);
  const std::uint32_t size = size_bytes(dst.dtype);
  if (size != 2 && size != 4)
    i.refuse(Kind::Limit, format("Gather on %s: 16-bit and 32-bit elements only", name(dst.dtype)), "use ReinterpretCast");
  i.require_aligned(offsets, kBlockBytes, "the offsets");
  const Operand operand{&dst, {1, dst_repeat_stride}, true};
  const auto& runs = make_runs(i, lanes, &operand, 1);
  std::uint64_t total = 0;
  for (const Run& r : runs) {
    i.read(offsets, r.lane * 4, std::uint64_t{r.n} * 4);
    total += r.n;
  }
  i.cost("Gather", total, dst.dtype);
  std::vector<std::uint64_t> from;
  for (std::size_t n = 0; n < runs.size() && !i.refused(); ++n) {
    const Run& r = runs[n];
    i.use(offsets, r.lane * 4, std::uint64_t{r.n} * 4, "uses as an address");
    for (std::uint32_t k = 0; k < r.n; ++k) {
      std::uint32_t at;
      std::memcpy(&at, i.bytes(offsets) + (r.lane + k) * 4, 4);
      if (at % size != 0)
        i.refuse(Kind::Alignment,
                 format("Gather: offset %u of lane %llu is not a multiple of %u bytes", at,
                        static_cast<unsigned long long>(r.lane + k), size),
                 "offsets are in bytes");
      i.read(src, std::uint64_t{base} + at, size);
      from.push_back(std::uint64_t{base} + at);
    }
  }
  if (!i.issue()) return;
  States ds(i, dst), ss(i, src);
  std::size_t n = 0;
  for (const Run& r : runs) {
    for (std::uint32_t k = 0; k < r.n; ++k, ++n) {
      const std::uint64_t to = r.offset[0] + std::uint64_t{k} * size;
      std::memmove(i.bytes(dst) + to, i.bytes(src) + from[n], size);
      ds.copy_from(ss, to, from[n], size);
    }
  }
}

void vector_gatherb(const View& dst, const View& src, const View& offsets, std::uint32_t repeats, Stride stride, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_gatherb(dst, src, offsets, repeats, stride, site); })
  Instruction i(Pipe::V, "Gatherb", site);
  if (repeats > 255) i.refuse(Kind::Limit, format("Gatherb: %u repeats, at most 255 are possible", repeats), "split it");
  for (const View* v : {&dst, &src, &offsets})
    i.require_aligned(*v, kBlockBytes, v == &dst ? "the destination" : "a source");
  const std::uint32_t blocks = repeats * 8;
  i.read(offsets, 0, std::uint64_t{blocks} * 4);
  const auto to = [&](std::uint32_t k) {
    return (std::uint64_t{k / 8} * stride.repeat + std::uint64_t{k % 8} * stride.block) * kBlockBytes;
  };
  std::vector<std::uint32_t> from(blocks);
  if (!i.refused() && blocks) {
    i.use(offsets, 0, std::uint64_t{blocks} * 4, "uses as an address");
    std::memcpy(from.data(), i.bytes(offsets), std::size_t{blocks} * 4);
    Accesses read(i, src, false, std::uint64_t{*std::max_element(from.begin(), from.end())} + kBlockBytes);
    for (std::uint32_t k = 0; k < blocks; ++k) {
      if (from[k] % kBlockBytes != 0)
        i.refuse(Kind::Alignment, format("Gatherb: offset %u of block %u is not a multiple of 32 bytes", from[k], k),
                 "offsets are in bytes");
      read.add(from[k], kBlockBytes);
    }
  }
  if (blocks) {
    Accesses written(i, dst, true, to(blocks - 1) + kBlockBytes);
    for (std::uint32_t k = 0; k < blocks; ++k) written.add(to(k), kBlockBytes);
  }
  i.cost("Gather", std::uint64_t{blocks} * (kBlockBytes / size_bytes(dst.dtype)), dst.dtype);
  if (!blocks || !i.issue()) return;
  States ds(i, dst), ss(i, src);
  for (std::uint32_t k = 0; k < blocks; ++k) {
    std::memmove(i.bytes(dst) + to(k), i.bytes(src) + from[k], kBlockBytes);
    ds.copy_from(ss, to(k), from[k], kBlockBytes);
  }
}

// Of sixteen blocks, element e of block j becomes element j of row e. A row of 16-bit elements is a block; of 32-bit ones
// two blocks, so that eight rows fill sixteen; of 8-bit ones half a block.
void vector_transpose_blocks(const BlockTranspose& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_transpose_blocks(call, site); })
  Instruction i(Pipe::V, "TransDataTo5HD", site);
  const std::uint32_t size = size_bytes(call.dst[0].dtype);
  if (size > 4)
    i.refuse(Kind::Limit, format("TransDataTo5HD on %s: 8, 16 and 32 bits only", name(call.dst[0].dtype)),
             "use ReinterpretCast");
  if (call.repeats > 255)
    i.refuse(Kind::Limit, format("TransDataTo5HD: %u repeats, at most 255 are possible", call.repeats), "split it");
  i.require(size == 1 || (!call.dst_high && !call.src_high), Kind::Limit,
            "TransDataTo5HD: dstHighHalf and srcHighHalf are for 8-bit elements", "leave them false");
  for (int b = 0; b < 16; ++b) {
    i.require_aligned(call.dst[b], kBlockBytes, "a destination");
    i.require_aligned(call.src[b], kBlockBytes, "a source");
  }
  // A single repeat begins one stride on: so the reference says of repeatTimes 1.
  const auto at = [&](std::uint32_t repeat, std::uint32_t step) {
    return std::uint64_t{call.repeats == 1 ? 1 : repeat} * step * kBlockBytes;
  };
  const std::uint32_t half_block = size == 1 ? kBlockBytes / 2 : kBlockBytes;
  const std::uint64_t src_half = call.src_high ? 16 : 0, dst_half = call.dst_high ? 16 : 0;
  const auto declare = [&](const View& v, std::uint32_t step, std::uint64_t half, bool write) {
    Accesses accesses(i, v, write, at(call.repeats - 1, step) + half + half_block);
    for (std::uint32_t r = 0; r < call.repeats; ++r) accesses.add(at(r, step) + half, half_block);
  };
  for (int b = 0; call.repeats && b < 16; ++b) {
    declare(call.src[b], call.src_step, src_half, false);
    declare(call.dst[b], call.dst_step, dst_half, true);
  }
  i.cost("Transpose", std::uint64_t{call.repeats} * 16 * half_block / size, call.dst[0].dtype);
  if (call.repeats == 0 || !i.issue()) return;
  for (std::uint32_t r = 0; r < call.repeats; ++r) {
    const std::uint64_t from = at(r, call.src_step) + src_half, to = at(r, call.dst_step) + dst_half;
    std::uint8_t bytes[16][kBlockBytes], states[16][kBlockBytes];
    for (int b = 0; b < 16; ++b) {
      std::memcpy(bytes[b], i.bytes(call.src[b]) + from, half_block);
      States source(i, call.src[b]);
      const bool clean = source.clean(from, half_block);
      for (std::uint32_t k = 0; k < half_block; ++k) states[b][k] = clean ? kDefined : source.of(from + k, 1);
    }
    with_word(size, [&](auto word) {
      using Word = decltype(word);
      for (std::uint32_t list = 0; list < 16; ++list) {
        std::uint8_t* const d = i.bytes(call.dst[list]) + to;
        std::uint8_t* const s = i.state(call.dst[list]) + to;
        for (std::uint32_t k = 0; k < half_block / sizeof(Word); ++k) {
          const std::uint32_t e = sizeof(Word) == 4 ? list / 2 : list, block = sizeof(Word) == 4 ? list % 2 * 8 + k : k;
          std::memcpy(d + k * sizeof(Word), bytes[block] + e * sizeof(Word), sizeof(Word));
          std::memcpy(s + k * sizeof(Word), states[block] + e * sizeof(Word), sizeof(Word));
        }
      }
    });
  }
}

void vector_transpose_channels(const View& dst, const View& src, const View& work, std::uint32_t n, std::uint32_t c,
                               std::uint32_t pixels, bool channels_last, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_transpose_channels(dst, src, work, n, c, pixels, channels_last, site); })
  Instruction i(Pipe::V, "Transpose", site);
  const std::uint32_t size = size_bytes(dst.dtype);
  const std::uint64_t total = std::uint64_t{n} * c * pixels;
  i.require_aligned(dst, kBlockBytes, "the destination");
  i.require_aligned(src, kBlockBytes, "the source");
  if (c > 4095) i.refuse(Kind::Limit, format("Transpose: cSize %u, at most 4095", c), "split it");
  if (std::uint64_t{pixels} * size % kBlockBytes != 0)
    i.refuse(Kind::Alignment,
             format("Transpose: hSize * wSize are %u elements, which do not fill blocks of 32 bytes", pixels),
             "pad the image");
  i.read(src, 0, total * size);
  i.write(dst, 0, total * size);
  i.cost("Transpose", total, dst.dtype);
  if (total == 0 || !i.issue()) return;
  const Snapshot from(i, src, 0, total * size);
  States ds(i, dst);
  for (std::uint64_t b = 0; b < n; ++b) {
    for (std::uint64_t ch = 0; ch < c; ++ch) {
      for (std::uint64_t p = 0; p < pixels; ++p) {
        const std::uint64_t first = (b * c + ch) * pixels + p, last = (b * pixels + p) * c + ch;
        put(i, dst, (channels_last ? last : first) * size, from, (channels_last ? first : last) * size, size, ds);
      }
    }
  }
  (void)work;
}

void vector_interpolate(const Interpolation& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_interpolate(call, site); })
  Instruction i(Pipe::V, "BilinearInterpolation", site);
  if (call.dst.dtype != DType::F16)
    i.refuse(Kind::Limit, format("BilinearInterpolation on %s: half only", name(call.dst.dtype)), "cast first");
  if (!((call.v_step_elems * 2) % kBlockBytes == 0))
    i.refuse(Kind::Alignment,
             format("BilinearInterpolation: vROffset of %u halves is not a multiple of 32 bytes", call.v_step_elems),
             "a multiple of 16");
  const std::uint64_t steps = std::uint64_t{call.h_repeats} * call.v_repeats;
  const std::uint64_t weights = call.weight_a_block ? steps * 8 : steps;
  const ResolvedLanes shape = resolve(i, call.lanes, 128);
  for (const View* v : {&call.dst, &call.src0, &call.offsets, &call.src1}) i.require_aligned(*v, kBlockBytes, "an operand");
  i.read(call.offsets, 0, steps * 8 * 4);
  i.read(call.src1, 0, weights * 2);
  const auto to = [&](std::uint64_t v, std::uint64_t block) {
    return v * call.v_step_elems * 2 + block * call.dst_block_stride * kBlockBytes;
  };
  std::vector<std::uint32_t> from(steps * 8);
  if (!i.refused() && steps) {
    i.use(call.offsets, 0, steps * 32, "uses as an address");
    std::memcpy(from.data(), i.bytes(call.offsets), steps * 32);
    for (const std::uint32_t at : from) {
      if (at % kBlockBytes != 0)
        i.refuse(Kind::Alignment, format("BilinearInterpolation: offset %u is not a multiple of 32 bytes", at),
                 "offsets are in bytes");
      i.read(call.src0, at, kBlockBytes);
    }
  }
  for (std::uint64_t v = 0; v < call.v_repeats; ++v) {
    for (std::uint64_t b = 0; b < 8; ++b) i.write(call.dst, to(v, b), kBlockBytes);
  }
  i.cost("MulAddDst", steps, DType::F16);  // no figure is public
  if (!steps || !i.issue()) return;
  const auto get = [&](const View& v, std::uint64_t element) { return load_float(i.bytes(v) + element * 2, DType::F16); };
  States ds(i, call.dst), as(i, call.src0), bs(i, call.src1);
  for (std::uint64_t v = 0; v < call.v_repeats; ++v) {
    for_each_stretch(shape.mask, 128, [&](std::uint32_t first, std::uint32_t n) {
      for (std::uint32_t lane = first; lane < first + n; ++lane) {
        const std::uint64_t block = lane / 16;
        float sum = 0;
        std::uint8_t state = kDefined;
        for (std::uint64_t h = 0; h < call.h_repeats; ++h) {
          const std::uint64_t step = v * call.h_repeats + h;
          const std::uint64_t weight = call.weight_a_block ? step * 8 + block : step;
          const std::uint64_t a = from[step * 8 + block] / 2 + lane % 16;
          const float product = half_to_float(float_to_half(get(call.src0, a) * get(call.src1, weight)));
          sum = half_to_float(float_to_half(sum + product));
          state = meet(state, meet(as.of(a * 2, 2), bs.of(weight * 2, 2)));
        }
        const std::uint64_t at = to(v, block) + lane % 16 * 2;
        store_float(i.bytes(call.dst) + at, DType::F16, sum);
        ds.set(at, 2, state);
      }
    });
  }
}

}  // namespace twin
