// SPDX-License-Identifier: Apache-2.0
// What the tests of the compiler's own names share: a kernel around one body, over pointers into UB.
#pragma once

#include <cstring>
#include <functional>
#include <random>

#include "support.hpp"

namespace raw_test {

using namespace AscendC;

constexpr int kLanes = 256;  // of every type: whole repeats

template <class T>
std::vector<T> numbers(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> v(kLanes);
  for (T& e : v) e = T(static_cast<float>(static_cast<int>(random() % 400) - 200) / (sizeof(T) == 1 ? 4.0f : 8.0f));
  return v;
}

// Runs `body` on x and y in UB, and returns what it leaves at z.
template <class In, class Out>
std::function<void(In*, In*, Out*)> body_now;
template <class In, class Out>
void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  LocalTensor<In> x0(TPosition::VECCALC, 0, kLanes), y0(TPosition::VECCALC, 4096, kLanes);
  LocalTensor<Out> z0(TPosition::VECCALC, 8192, kLanes);
  GlobalTensor<In> gx, gy;
  GlobalTensor<Out> gz;
  gx.SetGlobalBuffer((__gm__ In*)x, kLanes);
  gy.SetGlobalBuffer((__gm__ In*)y, kLanes);
  gz.SetGlobalBuffer((__gm__ Out*)z, kLanes);
  DataCopy(x0, gx, kLanes);
  DataCopy(y0, gy, kLanes);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  set_vector_mask(~0ull, ~0ull);
  body_now<In, Out>(x0.GetPhyAddr(), y0.GetPhyAddr(), z0.GetPhyAddr());
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(gz, z0, kLanes);
}
template <class In, class Out, class Body>
std::vector<Out> run(const std::vector<In>& a, const std::vector<In>& b, Body body) {
  body_now<In, Out> = body;
  twin_test::Device<In> x(a), y(b);
  twin_test::Device<Out> z(std::vector<Out>(kLanes, Out(0.0f)));
  twin::take_findings();
  twin::launcher<void(GM_ADDR, GM_ADDR, GM_ADDR), kernel<In, Out>>(1).auto_sync(false).as(twin::KernelType::AivOnly)(x, y,
                                                                                                                     z);
  EXPECT_SILENT();
  return z.values();
}
template <class T>
void zero(__ubuf__ T* to) {  // what an instruction leaves out is stored all the same
  vector_dup((__ubuf__ std::int16_t*)to, std::int16_t{0}, kLanes * sizeof(T) / 256 + 1, 1, 1, 8, 8);
  pipe_barrier(PIPE_V);
}

}  // namespace raw_test
