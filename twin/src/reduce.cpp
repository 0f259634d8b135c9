// SPDX-License-Identifier: Apache-2.0
// Reductions. A sum inside a repeat is a binary tree over its lanes, rounded to the element at each level.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lanes.hpp"
#include "wide.hpp"

namespace twin {
namespace {

// An index is stored as an integer of the element's size.
void put_index(std::uint8_t* p, DType dtype, std::uint32_t index) { std::memcpy(p, &index, size_bytes(dtype)); }

// A sum of halves that leaves their range stays at its end, 65504; one with an infinity in it is infinite.
float rounded(float v, DType dtype) {
  if (dtype != DType::F16) return v;
  return half_to_float(float_to_half(std::isinf(v) ? v : std::min(std::max(v, -65504.0f), 65504.0f)));
}

// The lanes of an instruction as floats, in groups of which each is reduced to one value.
struct Groups {
  std::uint32_t lanes = 0;              // of a group
  std::vector<float> value;             // a lane each; zero where it is masked off
  std::vector<std::uint8_t> at_work;    // a lane each
  std::vector<std::uint8_t> state;      // a group each
  std::vector<std::uint32_t> occupied;  // numbers of the groups with lanes at work
  std::vector<std::uint32_t> best;      // a group each: the lane of its extreme
  bool clean = true;                    // no group has an undefined lane
  float* of(std::uint32_t group) { return value.data() + std::size_t{group} * lanes; }
};

// The groups that have lanes at work, in order: f(first, n) for each stretch of them that does not pass a multiple of
// `a_row`, which is a power of two as `lanes` is.
template <class F>
void each_stretch(const RunList& runs, std::uint32_t lanes, std::uint32_t a_row, F&& f) {
  const int shift = __builtin_ctz(lanes);
  std::uint64_t next = 0;
  for (const Run& r : runs) {
    const std::uint64_t behind = ((r.lane + r.n - 1) >> shift) + 1;
    for (std::uint64_t g = std::max(next, r.lane >> shift); g < behind;) {
      const std::uint64_t n = std::min<std::uint64_t>(behind - g, a_row - (g & (a_row - 1)));
      f(g, n);
      g += n;
    }
    next = behind;
  }
}

void to_floats(float* to, const std::uint8_t* from, DType dtype, std::uint32_t n) {
  if (dtype == DType::F32) {
    std::memcpy(to, from, std::size_t{n} * 4);
  } else {
    wide([=] {
      for (std::uint64_t k = 0; k < n; ++k) to[k] = half_to_float(load<std::uint16_t>(from + k * 2));
    });
  }
}

Groups& load_groups(Instruction& i, const View& src, const RunList& runs, std::uint32_t lanes) {
  static thread_local Groups groups;
  groups.lanes = lanes;
  groups.occupied.clear();
  each_stretch(runs, lanes, 1u << 31, [](std::uint64_t g, std::uint64_t n) {
    for (const std::uint64_t behind = g + n; g < behind; ++g) groups.occupied.push_back(static_cast<std::uint32_t>(g));
  });
  const std::size_t count = groups.occupied.empty() ? 0 : groups.occupied.back() + std::size_t{1};
  groups.value.assign(count * lanes, 0.0f);
  groups.at_work.assign(count * lanes, 0);
  groups.state.assign(count, kDefined);
  groups.clean = true;
  States states(i, src);
  const std::uint32_t size = size_bytes(src.dtype);
  for (const Run& r : runs) {
    to_floats(groups.value.data() + r.lane, i.bytes(src) + r.offset[0], src.dtype, r.n);
    std::memset(groups.at_work.data() + r.lane, 1, r.n);
    if (states.clean(r.offset[0], std::uint64_t{r.n} * size)) continue;
    groups.clean = false;
    for (std::uint64_t k = 0; k < r.n; ++k) {
      std::uint8_t& state = groups.state[(r.lane + k) / lanes];
      state = meet(state, states.of(r.offset[0] + k * size, size));
    }
  }
  return groups;
}

// Of all groups at once: the tree pairs lane 2i with 2i + 1. value[g] becomes the sum of group g.
void tree_sums(Groups& groups, DType dtype) {
  static thread_local std::vector<float> level;
  level.resize(groups.value.size() / 2);
  float *const value = groups.value.data(), *const other = level.data();
  const std::size_t n = groups.value.size();
  const std::uint32_t lanes = groups.lanes;
  const auto sums = [=](auto round) {
    wide([=] {
      float *from = value, *to = other;
      std::size_t left = n;
      for (std::uint32_t width = lanes; width > 1; width /= 2) {
        left /= 2;
        for (std::size_t k = 0; k < left; ++k) to[k] = round(from[2 * k] + from[2 * k + 1]);
        std::swap(from, to);
      }
      if (from != value) std::memcpy(value, from, left * sizeof(float));
    });
  };
  if (dtype == DType::F16) {
    sums([](float v) { return rounded(v, DType::F16); });
  } else {
    sums([](float v) { return v; });
  }
}

// In each group the lane of the first of equal extremes; a NaN wins.
void find_extremes(Groups& groups, Reduce op) {
  groups.best.resize(groups.state.size());
  const std::uint32_t n = groups.lanes;
  const bool least_wins = op == Reduce::Min;
  wide([=, first_best = groups.best.data(), behind = groups.best.data() + groups.best.size(), values = groups.value.data(),
        works = groups.at_work.data()] {
    std::int32_t keys[128] = {};  // in the order of the values, 0 and -0 the same, NaN before all
    const float* value = values;
    const std::uint8_t* at_work = works;
    for (std::uint32_t* best = first_best; best < behind; ++best, value += n, at_work += n) {
      std::int32_t most = INT32_MIN;
      for (std::uint32_t k = 0; k < n; ++k) {
        const auto bits = static_cast<std::int32_t>(float_to_bits(value[k]));
        const std::int32_t up = bits >= 0 ? bits : INT32_MIN - bits;
        const std::int32_t key = value[k] != value[k] ? INT32_MAX : least_wins ? -up : up;
        keys[k] = at_work[k] ? key : INT32_MIN;
        most = std::max(most, keys[k]);
      }
      std::uint32_t k = 0;
      while (keys[k] != most) ++k;
      *best = k;
    }
  });
}

void keep_extreme(float value, std::uint32_t index) {
  core().registers.extreme = value;
  core().registers.extreme_index = index;
}

void keep_sum(float value, DType dtype, std::uint8_t state) {
  VectorRegisters& r = core().registers;
  r.sum = value;
  r.sum_dtype = dtype;
  r.sum_state = state;
}

std::uint64_t repeats_of_lanes(const RunList& runs, std::uint32_t a_repeat) {
  return runs.empty() ? 0 : (runs.back().lane + runs.back().n + a_repeat - 1) / a_repeat;
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
  const std::uint64_t repeats = repeats_of_lanes(runs, a_repeat);
  if (!(dst.addr % (pair ? 2 * size : size) == 0))
    i.refuse(Kind::Alignment, format("%s: the destination is not aligned to its element", instruction), "align it");
  {
    Accesses results(i, dst, true, repeats ? (repeats - 1) * step + written : 0);
    for (std::uint64_t r = 0; r < repeats; ++r) results.add(r * step, written);
  }
  i.cost(op == Reduce::Sum ? "WholeReduceSum" : "WholeReduceMax", repeats, src.dtype);
  if (!i.issue()) return;
  Groups& groups = load_groups(i, src, runs, a_repeat);
  op == Reduce::Sum ? tree_sums(groups, src.dtype) : find_extremes(groups, op);
  States ds(i, dst);
  std::uint8_t* const results = i.bytes(dst);
  for (const std::uint32_t r : groups.occupied) {
    std::uint8_t* const d = results + r * step;
    if (op == Reduce::Sum) {
      keep_sum(groups.value[r], src.dtype, groups.state[r]);
      store_float(d, src.dtype, groups.value[r]);
    } else {
      const std::uint32_t best = groups.best[r];
      const float value = groups.of(r)[best];
      keep_extreme(value, best);
      if (out == ReduceOut::Index) {
        std::memcpy(d, &best, 4);
      } else {
        store_float(d + (out == ReduceOut::IndexValue ? size : 0), src.dtype, value);
        if (pair) put_index(d + (out == ReduceOut::IndexValue ? 0 : size), src.dtype, best);
      }
    }
    ds.set(r * step, written, groups.state[r]);
  }
}

// Repeats are added one after another, as those of ReduceSum: no page gives their order.
void reduce_to_register(const Lanes& lanes, const View& src, Stride src_stride, const char* instruction, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { reduce_to_register(lanes, src, src_stride, instruction, site); })
  Instruction i(Pipe::V, instruction, site);
  if (!check_type(i, src)) return;
  const std::uint32_t a_repeat = lanes_a_repeat(size_bytes(src.dtype));
  const Operand operand{&src, src_stride};
  const auto& runs = make_runs(i, lanes, &operand, 1);
  i.cost("WholeReduceSum", repeats_of_lanes(runs, a_repeat), src.dtype);
  if (!i.issue()) return;
  Groups& groups = load_groups(i, src, runs, a_repeat);
  tree_sums(groups, src.dtype);
  float sum = 0;
  std::uint8_t state = kDefined;
  for (const std::uint32_t r : groups.occupied) {
    sum = rounded(sum + groups.value[r], src.dtype);
    state = meet(state, groups.state[r]);
  }
  keep_sum(sum, src.dtype, state);
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
  const auto place = [=, shift = __builtin_ctz(results)](std::uint64_t g) {
    return (g >> shift) * step + (g & (results - 1)) * size;
  };
  {
    std::uint64_t end = 0;
    each_stretch(runs, group_lanes, results,
                 [&](std::uint64_t g, std::uint64_t n) { end = std::max(end, place(g) + n * size); });
    Accesses written(i, dst, true, end);
    each_stretch(runs, group_lanes, results, [&](std::uint64_t g, std::uint64_t n) { written.add_each(place(g), n, size); });
  }
  i.cost("BlockReduce", lanes.form == Lanes::Count ? (lanes.count + a_repeat - 1) / a_repeat : lanes.repeats, src.dtype);
  if (!i.issue()) return;
  Groups& groups = load_groups(i, src, runs, group_lanes);
  if (op == Reduce::Sum) {
    tree_sums(groups, src.dtype);
  } else {
    find_extremes(groups, op);
    for (std::uint32_t g = 0; g < groups.best.size(); ++g) groups.value[g] = groups.of(g)[groups.best[g]];
  }
  States ds(i, dst);
  std::uint8_t* const d = i.bytes(dst);
  each_stretch(runs, group_lanes, results, [&](std::uint64_t g, std::uint64_t n) {
    const auto put = [to = d + place(g), value = groups.value.data() + g, n](auto element) {
      using T = decltype(element);
      wide([=] {
        for (std::uint64_t k = 0; k < n; ++k) store(to + k * sizeof(T), T(value[k]));
      });
    };
    size == 2 ? put(half{}) : put(float{});
    if (groups.clean) return ds.set(place(g), n * size, kDefined);
    for (std::uint64_t k = 0; k < n; ++k) ds.set(place(g + k), size, groups.state[g + k]);
  });
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
    const std::uint64_t repeats = repeats_of_lanes(runs, a_repeat);
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
      Groups& groups = load_groups(i, src, runs, a_repeat);
      op == Reduce::Sum ? tree_sums(groups, src.dtype) : find_extremes(groups, op);
      for (const std::uint32_t r : groups.occupied) {
        state = meet(state, groups.state[r]);
        if (op == Reduce::Sum) {
          result = first ? groups.value[r] : rounded(result + groups.value[r], src.dtype);
        } else {
          const std::uint32_t best = groups.best[r];
          const float value = groups.of(r)[best];
          const bool better = first || (op == Reduce::Max ? value > result : value < result) || std::isnan(value);
          if (better && !(!first && std::isnan(result))) {
            result = value;
            where = r * a_repeat + best;
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
  if (which == 2 && r.sum_state != kDefined && !is_skipped(r.sum_state))
    report({Kind::Uninitialised, "the scalar unit reads a sum of undefined values from its register", to_string(site), "",
            core().label(), "S", "", "", "write the whole source first, or leave what is undefined out by the mask"});
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
std::uint64_t reduced_sum(Site site) {
  core().need(Pipe::V, site);
  return reduced_value(core().registers.sum_dtype, 2, site);
}

}  // namespace twin
