// SPDX-License-Identifier: Apache-2.0
// The sweep over lengths and splits that the fast and the slow tier share.
#pragma once

#include <string>
#include <vector>

#include "support/kit.hpp"

namespace tessera::test {

/// Every number of splits from 1 to 33, more than there are blocks included.
inline void sweep_splits(int first, int step, const std::vector<int>& splits_list) {
  for (int keys = first; keys <= 600; keys += step) {
    const DType dtype = kDTypes[keys % 3];
    Layout layout;
    layout.shuffle_pages = true;
    const std::string text = "hq4 hkv2 d16 sq1 page16 skv" + std::to_string(keys);
    Instance instance(parse(dtype, text), random_values(18), layout);
    const Expected e = expected(instance);
    for (const int splits : splits_list) {
      instance.set_kv_chunk((keys + splits - 1) / splits);
      for (const std::string& implementation : runnable_kernels()) {
        const How how{implementation, 1 + keys % 3};
        Output output;
        ASSERT_TRUE(run(instance, how, output));
        EXPECT_TRUE(close(instance, how, output, e));
      }
    }
  }
}

}  // namespace tessera::test
