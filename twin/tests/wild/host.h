// SPDX-License-Identifier: Apache-2.0
// The host side that all of these programs share: arrays on the device, values, and the verdict.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"

#define CHECK_ACL(call)                                                                \
  do {                                                                                 \
    const aclError error_ = (call);                                                    \
    if (error_ != ACL_SUCCESS) {                                                       \
      std::fprintf(stderr, "%s: error %d: %s\n", #call, error_, aclGetRecentErrMsg()); \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (0)

template <class T>
struct DeviceArray {
  explicit DeviceArray(const std::vector<T>& values) : count(values.size()) {
    CHECK_ACL(aclrtMalloc(&data, bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMemcpy(data, bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
  }
  explicit DeviceArray(std::size_t n) : count(n) { CHECK_ACL(aclrtMalloc(&data, bytes(), ACL_MEM_MALLOC_HUGE_FIRST)); }
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() { aclrtFree(data); }
  std::size_t bytes() const { return count * sizeof(T); }
  uint8_t* get() const { return static_cast<uint8_t*>(data); }
  std::vector<T> read() const {
    std::vector<T> out(count);
    CHECK_ACL(aclrtMemcpy(out.data(), bytes(), data, bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
    return out;
  }
  void* data = nullptr;
  std::size_t count;
};

// Repeatable values in [-1, 1).
struct Values {
  uint32_t state = 12345;
  float next() {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
};

// As max, but a NaN stays.
inline double larger(double a, double b) { return b <= a ? a : b; }

inline int verdict(const char* name, double worst, double bound) {
  std::printf("%s: largest difference %.3g (bound %.3g)\n", name, worst, bound);
  return worst <= bound ? 0 : 1;
}
