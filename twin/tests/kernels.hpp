// SPDX-License-Identifier: Apache-2.0
// Short hands of the kernels in tests.
#pragma once

#include "kernel_operator.h"

namespace twin_test {

template <class T>
AscendC::LocalTensor<T> ub(int offset_bytes, int count) {
  return AscendC::LocalTensor<T>(AscendC::TPosition::VECCALC, offset_bytes, count);
}
template <class T>
AscendC::GlobalTensor<T> gm(GM_ADDR p, int count) {
  AscendC::GlobalTensor<T> t;
  t.SetGlobalBuffer((__gm__ T*)p, count);
  return t;
}
template <AscendC::HardEvent event>
void order(int id = 0) {
  AscendC::SetFlag<event>(id);
  AscendC::WaitFlag<event>(id);
}

// While it lives, the vector pipe stands at a wait whose set comes behind: what is called in between is kept for later, and
// must do the same then.
class Standing {
 public:
  explicit Standing(bool stands) : stands_(stands) {
    if (stands_) AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(7);
  }
  Standing(const Standing&) = delete;
  ~Standing() {
    if (stands_) AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(7);
  }

 private:
  bool stands_;
};

}  // namespace twin_test
