// SPDX-License-Identifier: Apache-2.0
// Reductions. A sum inside a repeat is a binary tree over its lanes, rounded to the element at each level.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lanes.hpp"

namespace twin {
namespace {

// An index is stored as an integer of the element's size.
void put_index(std::uint8_t* p, DType dtype, std::uint32_t index) { std::memcpy(p, &index, size_bytes(dtype)); }

// A sum of halves that leaves their range stays at its end, 65504; one with an infinity in it is infinite.
float rounded(float v, DType dtype) {
  if (dtype != DType::F16) return v;
  return half_to_float(float_to_half(std::isinf(v) ? v : std::min(std::max(v, -65504.0f), 65504.0f)));
}

struct Group {  // what is reduced to one value
  float value[128];
  std::uint32_t index[128];
  std::uint32_t n = 0;
  std::uint8_t state = kDefined;
  void add(float v, std::uint32_t at, std::uint8_t s) {
    value[n] = v;
    index[n++] = at;
    state = meet(state, s);
  }
};

// The tree pairs lane 2i with 2i + 1; a lane without partner passes. Masked-off lanes count as zero.
float tree_sum(const Group& g, std::uint32_t lanes, DType dtype) {
  float level[128] = {};
  for (std::uint32_t k = 0; k < g.n; ++k) level[g.index[k]] = g.value[k];
  for (std::uint32_t width = lanes; width > 1; width = (width + 1) / 2) {
    for (std::uint32_t k = 0; k < width / 2; ++k) level[k] = rounded(level[2 * k] + level[2 * k + 1], dtype);
    if (width % 2) level[width / 2] = level[width - 1];
  }
  return level[0];
}

// The first of equal extremes; a NaN wins.
std::uint32_t extreme(const Group& g, Reduce op) {
  std::uint32_t best = 0;
  for (std::uint32_t k = 1; k < g.n; ++k) {
    const bool better = op == Reduce::Max ? g.value[k] > g.value[best] : g.value[k] < g.value[best];
    if (!std::isnan(g.value[best]) && (better || std::isnan(g.value[k]))) best = k;
  }
  return best;
}

void keep_extreme(float value, std::uint32_t index) {
  core().registers.extreme = value;
  core().registers.extreme_index = index;
}

bool check_type(Instruction& i, const View& src) {
  if (src.dtype != DType::F16 && src.dtype != DType::F32)
    i.refuse(Kind::Limit, format("%s on %s: half and float only", i.name(), name(src.dtype)), "cast to float first");
  return src.dtype == DType::F16 || src.dtype == DType::F32;
}

}  // namespace

void reduce_whole(Reduce op, ReduceOut out, const Lanes& lanes, const View& dst, const View& src,
                  std::uint32_t dst_repeat_stride, Stride src_stride, const char* instruction, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { reduce_whole(op, out, lanes, dst, src, dst_repeat_stride, src_stride, instruction, site); })
  Instruction i(Pipe::V, instruction, site);
  if (!check_type(i, src)) return;
  const std::uint32_t size = size_bytes(src.dtype), a_repeat = lanes_a_repeat(size);
  const bool pair = op != Reduce::Sum && (out == ReduceOut::ValueIndex || out == ReduceOut::IndexValue);
  const std::uint32_t written = (out == ReduceOut::Index && op != Reduce::Sum) ? 4 : pair ? 2 * size : size;
  const Operand operand{&src, src_stride};
  const auto& runs = make_runs(i, lanes, &operand, 1);
  const std::uint64_t step = std::uint64_t{dst_repeat_stride} * written;  // its unit is what one repeat gives
  std::uint64_t repeats = 0;
  for (const Run& r : runs) repeats = std::max(repeats, (r.lane + r.n + a_repeat - 1) / a_repeat);
  if (!(dst.addr % (pair ? 2 * size : size) == 0))
    i.refuse(Kind::Alignment, format("%s: the destination is not aligned to its element", instruction), "align it");
  for (std::uint64_t r = 0; r < repeats; ++r) i.write(dst, r * step, written);
  i.cost(op == Reduce::Sum ? "WholeReduceSum" : "WholeReduceMax", repeats, src.dtype);
  if (!i.issue()) return;
  std::vector<Group> groups(repeats);
  States ds(i, dst), ss(i, src);
  const std::uint8_t* const a = i.bytes(src);
  for (const Run& r : runs) {
    for (std::uint32_t k = 0; k < r.n; ++k) {
      const std::uint64_t at = r.offset[0] + std::uint64_t{k} * size;
      groups[(r.lane + k) / a_repeat].add(load_float(a + at, src.dtype), static_cast<std::uint32_t>((r.lane + k) % a_repeat),
                                          ss.of(at, size));
    }
  }
  for (std::uint64_t r = 0; r < repeats; ++r) {
    const Group& g = groups[r];
    if (!g.n) continue;
    std::uint8_t* const d = i.bytes(dst) + r * step;
    if (op == Reduce::Sum) {
      core().registers.sum = tree_sum(g, a_repeat, src.dtype);
      store_float(d, src.dtype, core().registers.sum);
    } else {
      const std::uint32_t best = extreme(g, op);
      keep_extreme(g.value[best], g.index[best]);
      if (out == ReduceOut::Index) {
        std::memcpy(d, &g.index[best], 4);
      } else {
        store_float(d + (out == ReduceOut::IndexValue ? size : 0), src.dtype, g.value[best]);
        if (pair) put_index(d + (out == ReduceOut::IndexValue ? 0 : size), src.dtype, g.index[best]);
      }
    }
    ds.set(r * step, written, g.state);
  }
}

void reduce_block(Reduce op, bool pairs, const Lanes& lanes, const View& dst, const View& src,
                  std::uint32_t dst_repeat_stride, Stride src_stride, const char* instruction, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { reduce_block(op, pairs, lanes, dst, src, dst_repeat_stride, src_stride, instruction, site); })
  Instruction i(Pipe::V, instruction, site);
  if (!check_type(i, src)) return;
  const std::uint32_t size = size_bytes(src.dtype), a_repeat = lanes_a_repeat(size);
  const std::uint32_t group_lanes = pairs ? 2 : kBlockBytes / size;
  const std::uint32_t results = a_repeat / group_lanes;
  const std::uint64_t step = std::uint64_t{dst_repeat_stride} * results * size;
  const Operand operand{&src, src_stride};
  const auto& runs = make_runs(i, lanes, &operand, 1);
  std::map<std::uint64_t, Group> groups;  // by number of the result, over all repeats
  for (const Run& r : runs) {
    for (std::uint32_t k = 0; k < r.n; ++k) groups[(r.lane + k) / group_lanes];
  }
  const auto place = [&](std::uint64_t g) { return g / results * step + g % results * size; };
  for (const auto& [g, unused] : groups) i.write(dst, place(g), size);
  i.cost("BlockReduce", lanes.form == Lanes::Count ? (lanes.count + a_repeat - 1) / a_repeat : lanes.repeats, src.dtype);
  if (!i.issue()) return;
  States ds(i, dst), ss(i, src);
  for (const Run& r : runs) {
    for (std::uint32_t k = 0; k < r.n; ++k) {
      const std::uint64_t at = r.offset[0] + std::uint64_t{k} * size;
      groups[(r.lane + k) / group_lanes].add(load_float(i.bytes(src) + at, src.dtype),
                                             static_cast<std::uint32_t>((r.lane + k) % group_lanes), ss.of(at, size));
    }
  }
  for (const auto& [g, group] : groups) {
    store_float(i.bytes(dst) + place(g), src.dtype,
                op == Reduce::Sum ? tree_sum(group, group_lanes, src.dtype) : group.value[extreme(group, op)]);
    ds.set(place(g), size, group.state);
  }
}

void reduce_all(Reduce op, const Lanes& lanes, const View& dst, const View& src, const View& work,
                std::uint32_t src_repeat_stride, bool index, Site site) {
  if (op == Reduce::Sum) core().need(Pipe::V, site);  // the scalar unit finishes it
  TWIN_HOLD_BACK(Pipe::V, { reduce_all(op, lanes, dst, src, work, src_repeat_stride, index, site); })
  const char* const names[] = {"ReduceSum", "ReduceMax", "ReduceMin"};
  const std::uint32_t size = size_bytes(src.dtype), a_repeat = lanes_a_repeat(size);
  Core& c = core();
  const std::uint32_t at_site = site_id(site);
  float result = 0;
  std::uint32_t where = 0;
  std::uint8_t state = kDefined;
  bool first = true;
  {
    Instruction i(Pipe::V, names[int(op)], site);
    if (!check_type(i, src)) return;
    const Operand operand{&src, {1, static_cast<std::uint16_t>(src_repeat_stride)}};
    const auto& runs = make_runs(i, lanes, &operand, 1);
    std::uint64_t repeats = 0;
    for (const Run& r : runs) repeats = std::max(repeats, (r.lane + r.n + a_repeat - 1) / a_repeat);
    if (repeats == 0) i.refuse(Kind::Limit, format("%s of nothing", names[int(op)]), "give it at least one element");
    const std::uint64_t needed =
        op == Reduce::Sum ? repeats * size : 2 * repeats * size;  // what the first step leaves a repeat
    if (repeats > 1) i.write(work, 0, needed);
    if (op != Reduce::Sum) i.write(dst, 0, index ? 2 * size : size);
    i.cost(op == Reduce::Sum ? "WholeReduceSum" : "WholeReduceMax", repeats, src.dtype);
    const bool executes = i.issue();
    if (i.refused()) return;
    if (!executes) {
      state = skipped_state(at_site, names[int(op)]);
    } else {
      std::vector<Group> groups(repeats);
      States ss(i, src);
      for (const Run& r : runs) {
        for (std::uint32_t k = 0; k < r.n; ++k) {
          const std::uint64_t at = r.offset[0] + std::uint64_t{k} * size;
          groups[(r.lane + k) / a_repeat].add(load_float(i.bytes(src) + at, src.dtype),
                                              static_cast<std::uint32_t>((r.lane + k) % a_repeat), ss.of(at, size));
        }
      }
      for (std::uint64_t r = 0; r < repeats; ++r) {
        const Group& g = groups[r];
        if (!g.n) continue;
        state = meet(state, g.state);
        if (op == Reduce::Sum) {
          result = first ? tree_sum(g, a_repeat, src.dtype) : rounded(result + tree_sum(g, a_repeat, src.dtype), src.dtype);
        } else {
          const std::uint32_t best = extreme(g, op);
          const bool better =
              first || (op == Reduce::Max ? g.value[best] > result : g.value[best] < result) || std::isnan(g.value[best]);
          if (better && !(!first && std::isnan(result))) {
            result = g.value[best];
            where = static_cast<std::uint32_t>(r * a_repeat) + g.index[best];
          }
        }
        first = false;
      }
      if (repeats > 1) States(i, work).set(0, needed, state);
      if (op != Reduce::Sum) {
        store_float(i.bytes(dst), src.dtype, result);
        keep_extreme(result, where);
        if (index) put_index(i.bytes(dst) + size, src.dtype, where);
        States(i, dst).set(0, index ? 2 * size : size, state);
      }
    }
  }
  if (op != Reduce::Sum) {
    c.barrier(Pipe::V, at_site);  // its steps depend on each other, and the last one ends with a barrier
    return;
  }
  // The sum is finished by the scalar unit, between flags of the library's own.
  c.synchronise(Pipe::V, Pipe::S, at_site);
  {
    Instruction i(Pipe::S, names[int(op)], site);
    i.write(dst, 0, size);
    i.cost("ScalarAccess", 1);
    if (i.issue()) {
      store_float(i.bytes(dst), src.dtype, result);
      States(i, dst).set(0, size, state);
    }
  }
  c.synchronise(Pipe::S, Pipe::V, at_site);
  c.synchronise(Pipe::S, Pipe::MTE3, at_site);
}

std::uint64_t reduced_value(DType dtype, int which, Site site) {
  core().need(Pipe::V, site);
  const VectorRegisters& r = core().registers;
  std::uint64_t bits = 0;
  if (is_skipped(r.skipped)) {
    stand_in(core(), which == 1 ? DType::U32 : dtype, r.skipped, site_id(site), &bits, size_bytes(dtype));
  } else if (which == 1) {
    bits = r.extreme_index;
  } else {
    store_float(reinterpret_cast<std::uint8_t*>(&bits), dtype, which == 0 ? r.extreme : r.sum);
  }
  return bits;
}

}  // namespace twin
