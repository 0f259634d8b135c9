// SPDX-License-Identifier: Apache-2.0
// The three forms of a vector instruction, brought to one: runs of lanes whose operands all lie contiguously.
#pragma once

#include <algorithm>
#include <cstring>

#include "element.hpp"
#include "engine.hpp"
#include "twin/calls.hpp"

namespace twin {

struct Operand {
  const View* view;
  Stride stride;
  bool write = false;
};

struct Run {
  std::uint64_t offset[4];  // bytes into each operand
  std::uint64_t lane;       // number of the first lane, counted over all repeats, masked-off ones included
  std::uint32_t n;
};

// From the first byte that the runs touch of an operand to behind the last.
struct Span {
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
};
struct RunList : std::vector<Run> {
  Span span[4];  // of each operand
};

// The bytes a run touches. Elements of four bits may begin or end inside one: lane 0 begins with a byte.
inline std::uint64_t bytes_of_run(const Run& r, std::uint32_t bits) {
  return bits == 4 ? (r.lane % 2 + r.n + 1) / 2 : std::uint64_t{r.n} * (bits / 8);
}

inline constexpr std::uint32_t kBlockBytes = 32;
inline constexpr std::uint32_t kRepeatBytes = 256;

// Lanes of a repeat, given by the widest operand.
inline std::uint32_t lanes_a_repeat(std::uint32_t widest_bytes) { return kRepeatBytes / widest_bytes; }

// The mask of one repeat, as bits; counts and registers resolved. Reports limits that do not hold.
struct ResolvedLanes {
  bool contiguous = false;  // Count form
  std::uint32_t count = 0;
  std::uint64_t mask[2] = {};
  std::uint32_t repeats = 0;
  std::uint32_t last_repeat_lanes = 0;  // counter mode: lanes of the last repeat; 0: all of the mask
};
// Blocks of a repeat that have a lane at work.
std::uint32_t blocks_of(const std::uint64_t mask[2], std::uint32_t lanes, std::uint32_t lanes_a_block);
ResolvedLanes resolve(Instruction& i, const Lanes& lanes, std::uint32_t a_repeat);

// The runs of an instruction with these operands; declares what it reads and writes, and checks alignment.
const RunList& make_runs(Instruction& i, const Lanes& lanes, const Operand* operands, int count);

// Declares accesses to one operand, of which none goes beyond its first `end` bytes. Neighbours are one access, unless
// something is wrong: reports name the part.
class Accesses {
 public:
  Accesses(Instruction& i, const View& view, bool write, std::uint64_t end)
      : i_(i), view_(view), write_(write), joins_(i.reaches(view, end)) {}
  ~Accesses() { flush(); }
  Accesses(const Accesses&) = delete;
  Accesses& operator=(const Accesses&) = delete;
  void add(std::uint64_t begin, std::uint64_t bytes) {
    if (joins_ && begin >= begin_ && begin <= end_) {
      end_ = std::max(end_, begin + bytes);
      return;
    }
    flush();
    begin_ = begin;
    end_ = begin + bytes;
    if (!joins_) flush();
  }
  // Neighbours of so many bytes each.
  void add_each(std::uint64_t begin, std::uint64_t count, std::uint64_t bytes) {
    if (joins_ && count) return add(begin, count * bytes);
    for (std::uint64_t k = 0; k < count; ++k) add(begin + k * bytes, bytes);
  }

 private:
  void flush() {
    if (begin_ < end_) {
      if (joins_) {
        i_.touch_inside(view_, begin_, end_ - begin_, write_);
      } else {
        write_ ? i_.write(view_, begin_, end_ - begin_) : i_.read(view_, begin_, end_ - begin_);
      }
    }
    begin_ = end_;
  }
  Instruction& i_;
  const View& view_;
  bool write_, joins_;
  std::uint64_t begin_ = 0, end_ = 0;
};

// Calls f(first lane, n) for each stretch of set bits.
template <class F>
void for_each_stretch(const std::uint64_t mask[2], std::uint32_t lanes, F&& f) {
  const auto next = [&](std::uint32_t at, std::uint64_t flip) {  // the next set bit, or with all ones the next clear one
    for (; at < lanes; at = (at / 64 + 1) * 64) {
      const std::uint64_t rest = (mask[at / 64] ^ flip) >> (at % 64);
      if (rest) return std::min(at + static_cast<std::uint32_t>(__builtin_ctzll(rest)), lanes);
    }
    return lanes;
  };
  for (std::uint32_t first = next(0, 0); first < lanes;) {
    const std::uint32_t behind = next(first, ~std::uint64_t{0});
    f(first, behind - first);
    first = next(behind, 0);
  }
}

// The states of one operand: undefined in, undefined out.
class States {
 public:
  States(Instruction& i, const View& view) : i_(i), view_(view), states_(i.state(view)) {}
  // The state of a value made from these bytes. Memory that nothing wrote gets a name here, once an instruction.
  std::uint8_t of(std::uint64_t offset, std::uint64_t bytes) {
    for (std::uint64_t k = offset; k < offset + bytes; ++k) {
      if (states_[k] == kDefined) continue;
      if (states_[k] != kUnwritten) return states_[k];
      if (!origin_) origin_ = i_.origin(view_, k);
      return origin_;
    }
    return kDefined;
  }
  bool clean(std::uint64_t offset, std::uint64_t bytes) const { return all_defined(states_ + offset, bytes); }
  void set(std::uint64_t offset, std::uint64_t bytes, std::uint8_t state) { std::memset(states_ + offset, state, bytes); }
  void copy_from(States& source, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
    if (source.clean(from, bytes)) return set(to, bytes, kDefined);
    for (std::uint64_t k = 0; k < bytes; ++k) states_[to + k] = source.of(from + k, 1);
  }

 private:
  Instruction& i_;
  const View& view_;
  std::uint8_t* states_;
  std::uint8_t origin_ = 0;
};
inline std::uint8_t meet(std::uint8_t a, std::uint8_t b) { return a == kDefined ? b : a; }

// n elements of an operand, from an offset on.
struct Elements {
  States& states;
  std::uint64_t offset;
  std::uint32_t bytes;
};
// Each of n results is undefined where one of its operands is; the first of several says what it is.
template <class... Operands>
void meet_lanes(Elements result, std::uint64_t n, Operands... operands) {
  if ((operands.states.clean(operands.offset, n * operands.bytes) && ...))
    return result.states.set(result.offset, n * result.bytes, kDefined);
  for (std::uint64_t k = 0; k < n; ++k) {
    std::uint8_t state = kDefined;
    ((state = meet(state, operands.states.of(operands.offset + k * operands.bytes, operands.bytes))), ...);
    result.states.set(result.offset + k * result.bytes, result.bytes, state);
  }
}

// Repeats of an instruction whose widest element has so many bytes.
inline std::uint64_t repeats_for(const Lanes& lanes, std::uint32_t widest) {
  if (lanes.form != Lanes::Count && !core().mask_counts) return lanes.repeats;
  const std::uint64_t count = lanes.form == Lanes::Count ? lanes.count : core().mask[0];  // counter mode
  return (count * widest + kRepeatBytes - 1) / kRepeatBytes;
}

inline std::uint32_t repeats_of(const Run& r, std::uint32_t bytes) {
  return (r.n * bytes + kRepeatBytes - 1) / kRepeatBytes;
}

}  // namespace twin
