// SPDX-License-Identifier: Apache-2.0
// The three forms of a vector instruction, brought to one: runs of lanes whose operands all lie contiguously.
#pragma once

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
const std::vector<Run>& make_runs(Instruction& i, const Lanes& lanes, const Operand* operands, int count);

// Calls f(first lane, n) for each stretch of set bits.
template <class F>
void for_each_stretch(const std::uint64_t mask[2], std::uint32_t lanes, F&& f) {
  std::uint32_t at = 0;
  while (at < lanes) {
    while (at < lanes && !(mask[at / 64] >> (at % 64) & 1)) ++at;
    const std::uint32_t first = at;
    while (at < lanes && (mask[at / 64] >> (at % 64) & 1)) ++at;
    if (at > first) f(first, at - first);
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

inline std::uint32_t repeats_of(const Run& r, std::uint32_t bytes) {
  return (r.n * bytes + kRepeatBytes - 1) / kRepeatBytes;
}

}  // namespace twin
