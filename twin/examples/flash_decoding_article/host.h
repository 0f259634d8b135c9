// SPDX-License-Identifier: Apache-2.0
// What both programs share: one query of one head, 1000 keys or ARTICLE_KEYS, partial results of each chunk merged and
// compared on the host.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "acl/acl.h"

#ifndef ARTICLE_KEYS
#define ARTICLE_KEYS 1000  // 16 blocks of 64: the last is not full
#endif
constexpr uint32_t kDim = 128, kBlock = 64, kKeys = ARTICLE_KEYS, kChunks = (kKeys + kBlock - 1) / kBlock;

struct Problem {
  std::vector<float> q = std::vector<float>(kDim), k = std::vector<float>(kChunks * kBlock * kDim), v = k;
  std::vector<float> o = std::vector<float>(kChunks * kDim), statistics = std::vector<float>(kChunks * 2);
  void *dq = nullptr, *dk = nullptr, *dv = nullptr, *d_o = nullptr, *d_statistics = nullptr;

  Problem() {
    for (size_t i = 0; i < q.size(); ++i) q[i] = std::sin(0.3f * static_cast<float>(i));
    for (size_t i = 0; i < k.size(); ++i)
      k[i] = std::sin(0.017f * static_cast<float>(i)), v[i] = std::cos(0.013f * static_cast<float>(i));
    aclInit(nullptr);
    aclrtSetDevice(0);
    Upload(&dq, q);
    Upload(&dk, k);
    Upload(&dv, v);
    Upload(&d_o, o);
    Upload(&d_statistics, statistics);
  }
  static void Upload(void** device, const std::vector<float>& host) {
    aclrtMalloc(device, host.size() * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(*device, host.size() * 4, host.data(), host.size() * 4, ACL_MEMCPY_HOST_TO_DEVICE);
  }

  // Merges the chunks (m, l inside) and gives the largest error against softmax(q · kᵀ / sqrt(d)) · v in double.
  double Error() {
    aclrtMemcpy(o.data(), o.size() * 4, d_o, o.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    aclrtMemcpy(statistics.data(), statistics.size() * 4, d_statistics, statistics.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    double m = -INFINITY, l = 0, sum = 0;
    for (uint32_t c = 0; c < kChunks; ++c) m = std::fmax(m, statistics[2 * c]);
    for (uint32_t c = 0; c < kChunks; ++c) l += std::exp(statistics[2 * c] - m) * statistics[2 * c + 1];
    std::vector<double> weight(kKeys);
    for (uint32_t j = 0; j < kKeys; ++j) {
      double s = 0;
      for (uint32_t d = 0; d < kDim; ++d) s += double{q[d]} * k[j * kDim + d];
      sum += weight[j] = std::exp(s / std::sqrt(double{kDim}));
    }
    double worst = 0;
    for (uint32_t d = 0; d < kDim; ++d) {
      double merged = 0, expected = 0;
      for (uint32_t c = 0; c < kChunks; ++c) merged += std::exp(statistics[2 * c] - m) * o[c * kDim + d];
      for (uint32_t j = 0; j < kKeys; ++j) expected += weight[j] / sum * v[j * kDim + d];
      worst = std::fmax(worst, std::fabs(merged / l - expected));
    }
    return worst;
  }
  ~Problem() {
    for (void* p : {dq, dk, dv, d_o, d_statistics}) aclrtFree(p);
    aclFinalize();
  }
};
