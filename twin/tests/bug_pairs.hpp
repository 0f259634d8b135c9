// SPDX-License-Identifier: Apache-2.0
// Each kind of bug that the twin finds, planted in a kernel (kFixed false) beside its repaired sister (kFixed true): the one
// is reported with both lines, the other runs silently. Auto-sync is off. A file of them is one instantiation of Bug.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "planted.hpp"

namespace twin_test {

inline constexpr int kN = 256;  // floats a tile: 1 KB

inline AscendC::LocalTensor<float> ub(int tile, int count = kN) {
  return AscendC::LocalTensor<float>(AscendC::TPosition::VECCALC, tile * kN * 4, count);
}
inline AscendC::GlobalTensor<float> gm(GM_ADDR address, int first = 0, int count = kN) {
  return floats(address, first, count);
}

using Run = std::function<void(GM_ADDR, GM_ADDR)>;
struct Case {
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
  const char* name;
  twin::Kind kind;
  bool two_lines;
  Run planted, repaired;
};
#define ONE(kernel, blocks, type) [](GM_ADDR a, GM_ADDR b) { RUN(kernel, blocks).as(type).auto_sync(false)(a, b); }
#define PAIR_OF(name, kind, two, blocks, type) \
  { #name, kind, two, ONE(name <false>, blocks, type), ONE(name <true>, blocks, type) }
inline constexpr auto kVector = twin::KernelType::AivOnly;
inline constexpr auto kHard = twin::KernelType::MixAiv10;

inline std::string name_of_case(const testing::TestParamInfo<Case>& info) { return info.param.name; }

class Bug : public testing::TestWithParam<Case> {
 protected:
  Device<float> x_{std::vector<float>(2 * kN, 0.5f)}, y_{std::vector<float>(2 * kN, 0.0f)};
};

}  // namespace twin_test
