// SPDX-License-Identifier: Apache-2.0
#include "lanes.hpp"

#include <algorithm>
#include <cstring>

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

namespace {

// Gathers runs, joined where they follow one another in every operand.
struct Runs {
  RunList& all;
  const Operand* operands;
  int count;
  std::uint32_t bits[4] = {}, widest = 1, a_repeat = 0, a_block[4] = {};
  std::uint32_t block_shift[4] = {};  // a_block, lanes of a block, is a power of two
  bool blocks_follow = true;

  void set_operand(int o) {
    bits[o] = size_bits(operands[o].view->dtype);
    a_block[o] = kBlockBytes * 8 / bits[o];
    block_shift[o] = static_cast<std::uint32_t>(__builtin_ctz(a_block[o]));
    widest = std::max(widest, size_bytes(operands[o].view->dtype));
    blocks_follow &= operands[o].stride.block == 1;
  }

  // Of a run that was just put at the end: made where it stays, since one that is copied right after waits for its stores.
  void join_last() {
    if (all.size() < 2) return;
    const Run& run = all.back();
    Run& last = all[all.size() - 2];
    bool goes_on = last.lane + last.n == run.lane;
    for (int o = 0; o < count; ++o) goes_on &= last.offset[o] + std::uint64_t{last.n} * bits[o] / 8 == run.offset[o];
    if (!goes_on) return;
    last.n += run.n;
    all.pop_back();
  }

  void add_stretch(std::uint32_t repeat, std::uint32_t first, std::uint32_t n) {
    const std::uint32_t group = blocks_follow ? a_repeat : kBlockBytes / widest;  // contiguous in every operand
    while (n) {
      const std::uint32_t piece = std::min(n, group - (first & (group - 1)));
      Run& run = all.emplace_back();
      run.lane = std::uint64_t{repeat} * a_repeat + first;
      run.n = piece;
      for (int o = 0; o < count; ++o) {
        const Stride s = operands[o].stride;
        run.offset[o] = (std::uint64_t{repeat} * s.repeat + std::uint64_t{first >> block_shift[o]} * s.block) * kBlockBytes +
                        std::uint64_t{first & (a_block[o] - 1)} * bits[o] / 8;
      }
      join_last();
      first += piece;
      n -= piece;
    }
  }

  void declare(Instruction& i, int o) const {
    Span& span = all.span[o] = {};
    for (const Run& r : all) {
      span.begin = std::min(span.begin, r.offset[o]);
      span.end = std::max(span.end, r.offset[o] + bytes_of_run(r, bits[o]));
    }
    Accesses accesses(i, *operands[o].view, operands[o].write, span.end);
    for (const Run& r : all) accesses.add(r.offset[o], bytes_of_run(r, bits[o]));
  }

  // Operands may be one and the same. Otherwise the vendor's page "通用说明和约束" excludes two things: that what a repeat
  // writes is the source of a later one, and that a destination and a source of one repeat lie over each other in part. With
  // one exception to the first: sums, products, maxima and the like gather in their second source.
  void check_overlaps(Instruction& i, bool contiguous) const {
    for (int w = 0; w < count; ++w) {
      for (int r = 0; r < count && operands[w].write; ++r) {
        if (operands[r].write || bits[w] < 8 || bits[r] < 8 || !overlap(w, r)) continue;
        const Stride a = operands[w].stride, b = operands[r].stride;
        const bool same = operands[w].view->addr == operands[r].view->addr && bits[w] == bits[r] &&
                          (contiguous || (a.repeat == b.repeat && a.block == b.block));
        if (same && (contiguous || a.repeat > 7u * a.block)) continue;
        const bool may_gather =
            r == 2 && operands[w].view->addr == operands[r].view->addr && (a.repeat == 0 || b.repeat == 0) && gathers(i);
        if (!may_gather && feeds_later_repeat(w, r)) {
          i.complain(
              Kind::Overlap,
              format("%s: the destination lies over a source so that what one repeat writes is what a later one reads",
                     i.name()),
              !same        ? "give it another destination, or the same addresses and sizes as the source"
              : gathers(i) ? "gather in the second source, which may be the destination with a repeat stride of 0"
                           : "a call for each repeat, with PipeBarrier<PIPE_V> between them",
              operands[w].view);
        } else if (bits[w] == bits[r] && meets_in_part(w, r)) {
          i.complain(Kind::Overlap,
                     format("%s: in one repeat the destination lies over a part of a source, at other lanes", i.name()),
                     "give it another destination, or the same addresses as the source", operands[w].view);
        }
      }
    }
  }

 private:
  bool gathers(const Instruction& i) const {
    const DType d = operands[0].view->dtype;
    if (count != 3 || (d != DType::F16 && d != DType::F32 && d != DType::I32)) return false;
    for (const char* name : {"Add", "Sub", "Mul", "Max", "Min", "AddRelu", "SubRelu"}) {
      if (std::strcmp(i.name(), name) == 0) return true;
    }
    return false;
  }
  bool overlap(int w, int r) const {
    const View &dst = *operands[w].view, &src = *operands[r].view;
    return dst.space == src.space && dst.addr + all.span[w].begin < src.addr + all.span[r].end &&
           src.addr + all.span[r].begin < dst.addr + all.span[w].end;
  }
  // Calls f with the lanes [first, last) that the run has in one repeat, until it says true.
  template <class F>
  bool any_repeat_of(const Run& run, F&& f) const {
    for (std::uint64_t lane = run.lane; lane < run.lane + run.n;) {
      const std::uint64_t next = std::min((lane / a_repeat + 1) * a_repeat, run.lane + run.n);
      if (f(lane, next)) return true;
      lane = next;
    }
    return false;
  }
  std::uint64_t address(int o, const Run& run, std::uint64_t lane) const {
    return operands[o].view->addr + run.offset[o] + (lane - run.lane) * (bits[o] / 8);
  }
  bool feeds_later_repeat(int w, int r) const {
    for (const Run& a : all) {
      const bool feeds = any_repeat_of(a, [&](std::uint64_t lane, std::uint64_t next) {
        const std::uint64_t later = (lane / a_repeat + 1) * a_repeat;
        const std::uint64_t begin = address(w, a, lane), end = begin + (next - lane) * (bits[w] / 8);
        for (const Run& b : all) {
          if (b.lane + b.n <= later) continue;
          const std::uint64_t from = std::max(b.lane, later);
          const std::uint64_t read = address(r, b, from);
          if (read < end && begin < read + (b.lane + b.n - from) * (bits[r] / 8)) return true;
        }
        return false;
      });
      if (feeds) return true;
    }
    return false;
  }
  // Of operands of one width.
  bool meets_in_part(int w, int r) const {
    for (const Run& a : all) {
      const bool meets = any_repeat_of(a, [&](std::uint64_t lane, std::uint64_t next) {
        const std::uint64_t begin = address(w, a, lane), end = begin + (next - lane) * (bits[w] / 8);
        const std::uint64_t repeat = lane / a_repeat * a_repeat;
        for (const Run& b : all) {
          const std::uint64_t from = std::max(b.lane, repeat), to = std::min(b.lane + b.n, repeat + a_repeat);
          if (from >= to) continue;
          const std::uint64_t read = address(r, b, from);
          const bool same_lanes = begin - read == (lane - from) * (bits[w] / 8);  // modulo 2^64, as the lanes
          if (!same_lanes && read < end && begin < read + (to - from) * (bits[r] / 8)) return true;
        }
        return false;
      });
      if (meets) return true;
    }
    return false;
  }
};

}  // namespace

const RunList& make_runs(Instruction& i, const Lanes& lanes, const Operand* operands, int count) {
  static thread_local RunList all;
  all.clear();
  Runs runs{all, operands, count};
  for (int o = 0; o < count; ++o) {
    runs.set_operand(o);
    i.require_aligned(*operands[o].view, kBlockBytes, operands[o].write ? "the destination" : "a source");
  }
  const std::uint32_t a_repeat = runs.a_repeat = lanes_a_repeat(runs.widest);
  const ResolvedLanes shape = resolve(i, lanes, a_repeat);
  if (shape.contiguous) {
    if (shape.count) all.push_back({{}, 0, shape.count});
  } else {
    std::uint32_t turns = 1;
    for (int o = 0; o < count; ++o) {
      const std::uint32_t blocks = blocks_of(shape.mask, a_repeat, runs.a_block[o]);
      turns = std::max(turns, fullest_group(blocks, operands[o].stride.block));
    }
    i.conflict(turns);
    for (std::uint32_t r = 0; r < shape.repeats; ++r) {
      const bool last = shape.last_repeat_lanes && r + 1 == shape.repeats;
      for_each_stretch(shape.mask, last ? shape.last_repeat_lanes : a_repeat,
                       [&](std::uint32_t first, std::uint32_t n) { runs.add_stretch(r, first, n); });
    }
  }
  for (int o = 0; o < count; ++o) runs.declare(i, o);
  if (!i.refused()) runs.check_overlaps(i, shape.contiguous);
  return all;
}

}  // namespace twin
