// SPDX-License-Identifier: Apache-2.0
// What tests of planted bugs share. Reports are compared with the lines that the kernels are written on: WRONG and OTHER
// stand on them.
#pragma once

#include "support.hpp"

namespace twin_test {

inline int wrong_line = 0;
inline int other_line = 0;
#define WRONG twin_test::wrong_line = __LINE__;
#define OTHER twin_test::other_line = __LINE__;

inline AscendC::GlobalTensor<float> floats(GM_ADDR address, std::int64_t first, int count) {
  AscendC::GlobalTensor<float> t;
  t.SetGlobalBuffer((__gm__ float*)address + first, count);
  return t;
}
template <AscendC::HardEvent event>
void order(int id = 0) {
  AscendC::SetFlag<event>(id);
  AscendC::WaitFlag<event>(id);
}

}  // namespace twin_test
