// SPDX-License-Identifier: Apache-2.0
// What the micro-kernels share.
#pragma once

#include <functional>

#include "acl/acl.h"
#include "calibration.hpp"
#include "kernel_operator.h"
#include "twin/report.hpp"

namespace twin_calibration {

using namespace AscendC;
using twin::KernelType;

inline int bytes = 0, times = 0;  // of the micro-kernel that runs

inline void* device_memory(std::size_t size) {
  void* p = nullptr;
  aclrtMalloc(&p, size, ACL_MEM_MALLOC_HUGE_FIRST);
  return p;
}
template <class T>
GlobalTensor<T> gm(GM_ADDR p) {
  GlobalTensor<T> t;
  t.SetGlobalBuffer((__gm__ T*)p);
  return t;
}
template <class T>
LocalTensor<T> at(TPosition position, int offset, int size) {
  return LocalTensor<T>(position, offset, size / sizeof(T));
}

#define LAUNCH(kernel, blocks, type) ::twin::launcher<std::remove_reference_t<decltype(kernel)>, kernel>(blocks).as(type)

// Cycles of one more of them, in a queue that is full.
inline double each(const std::function<void()>& launch, int few, int many) {
  times = few;
  launch();
  const double before = twin::last_timing().cycles;
  times = many;
  launch();
  return (twin::last_timing().cycles - before) / (many - few);
}

void moves(std::vector<Row>* rows);
void vector_costs(std::vector<Row>* rows);
void cube_costs(std::vector<Row>* rows);
void all_cores(std::vector<Row>* rows);
void streaming_adds(std::vector<Row>* rows);

}  // namespace twin_calibration
