// SPDX-License-Identifier: Apache-2.0
#include "lanes.hpp"

#include <algorithm>

#include "banks.hpp"

namespace twin {

ResolvedLanes resolve(Instruction& i, const Lanes& lanes, std::uint32_t a_repeat) {
  Core& c = core();
  ResolvedLanes out;
  const auto all_lanes = [&](std::uint64_t mask[2], std::uint32_t n) {
    mask[0] = n >= 64 ? ~0ull : (1ull << n) - 1;
    mask[1] = n >= 128 ? ~0ull : n > 64 ? (1ull << (n - 64)) - 1 : 0;
  };
  if (lanes.form == Lanes::Count) {
    out.contiguous = true;
    out.count = lanes.count;
    all_lanes(c.mask, 128);
    return out;
  }
  if (lanes.repeats > 255)
    i.refuse(Kind::Limit, format("%s: %u repeats, at most 255 are possible", i.name(), lanes.repeats),
             "split it into several calls");
  out.repeats = lanes.repeats;
  if (!lanes.set_mask) {
    out.mask[0] = c.mask[0];
    out.mask[1] = c.mask[1];
  } else if (lanes.form == Lanes::BitMask) {
    out.mask[0] = lanes.mask[0];
    out.mask[1] = a_repeat > 64 ? lanes.mask[1] : 0;
  } else if (!c.mask_counts) {
    if (lanes.count > a_repeat)
      i.refuse(Kind::Limit, format("%s: mask %u, a repeat has %u lanes", i.name(), lanes.count, a_repeat),
               "use more repeats; a mask counts lanes of the widest element");
    all_lanes(out.mask, std::min(lanes.count, a_repeat));
  } else {
    out.mask[0] = lanes.count;  // counter mode: the mask is the count of all lanes
  }
  c.mask[0] = out.mask[0];
  c.mask[1] = out.mask[1];
  if (c.mask_counts) {
    const std::uint64_t total = out.mask[0];
    out.repeats = static_cast<std::uint32_t>((total + a_repeat - 1) / a_repeat);
    out.last_repeat_lanes =
        static_cast<std::uint32_t>(total - (out.repeats ? out.repeats - 1 : 0) * std::uint64_t{a_repeat});
    all_lanes(out.mask, a_repeat);
  }
  return out;
}

std::uint32_t blocks_of(const std::uint64_t mask[2], std::uint32_t lanes, std::uint32_t lanes_a_block) {
  std::uint32_t blocks = 0;
  for (std::uint32_t first = 0; first < lanes; first += lanes_a_block) {
    const std::uint64_t bits = lanes_a_block == 64 ? ~0ull : (1ull << lanes_a_block) - 1;
    blocks += (mask[first / 64] >> (first % 64) & bits) != 0;
  }
  return blocks;
}

const std::vector<Run>& make_runs(Instruction& i, const Lanes& lanes, const Operand* operands, int count) {
  static thread_local std::vector<Run> runs;
  runs.clear();
  std::uint32_t bits[4] = {}, widest = 1;
  for (int o = 0; o < count; ++o) {
    bits[o] = size_bits(operands[o].view->dtype);
    widest = std::max(widest, size_bytes(operands[o].view->dtype));
    i.require_aligned(*operands[o].view, kBlockBytes, operands[o].write ? "the destination" : "a source");
  }
  const std::uint32_t a_repeat = lanes_a_repeat(widest);
  const ResolvedLanes shape = resolve(i, lanes, a_repeat);
  if (!shape.contiguous) {
    std::uint32_t turns = 1;
    for (int o = 0; o < count; ++o)
      turns = std::max(turns,
                       fullest_group(blocks_of(shape.mask, a_repeat, kBlockBytes * 8 / bits[o]), operands[o].stride.block));
    i.conflict(turns);
  }
  const auto push = [&](Run run) {
    if (!runs.empty()) {
      Run& last = runs.back();
      bool goes_on = last.lane + last.n == run.lane;
      for (int o = 0; o < count; ++o) goes_on &= last.offset[o] + std::uint64_t{last.n} * bits[o] / 8 == run.offset[o];
      if (goes_on) {
        last.n += run.n;
        return;
      }
    }
    runs.push_back(run);
  };
  if (shape.contiguous) {
    if (shape.count) runs.push_back({{}, 0, shape.count});
  } else {
    const std::uint32_t group = kBlockBytes / widest;  // lanes that are contiguous in every operand
    for (std::uint32_t r = 0; r < shape.repeats; ++r) {
      const std::uint32_t lanes_here =
          shape.last_repeat_lanes && r + 1 == shape.repeats ? shape.last_repeat_lanes : a_repeat;
      for_each_stretch(shape.mask, lanes_here, [&](std::uint32_t first, std::uint32_t n) {
        while (n) {
          const std::uint32_t piece = std::min(n, group - first % group);
          Run run{{}, std::uint64_t{r} * a_repeat + first, piece};
          for (int o = 0; o < count; ++o) {
            const std::uint32_t a_block = kBlockBytes * 8 / bits[o];
            run.offset[o] =
                (std::uint64_t{r} * operands[o].stride.repeat + std::uint64_t{first / a_block} * operands[o].stride.block) *
                    kBlockBytes +
                std::uint64_t{first % a_block} * bits[o] / 8;
          }
          push(run);
          first += piece;
          n -= piece;
        }
      });
    }
  }
  for (int o = 0; o < count; ++o) {
    for (const Run& run : runs) {
      const std::uint64_t bytes = bytes_of_run(run, bits[o]);
      if (operands[o].write) {
        i.write(*operands[o].view, run.offset[o], bytes);
      } else {
        i.read(*operands[o].view, run.offset[o], bytes);
      }
    }
  }
  return runs;
}

}  // namespace twin
