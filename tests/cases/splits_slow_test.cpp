// SPDX-License-Identifier: Apache-2.0
#include "cases/splits.hpp"

namespace tessera::test {
namespace {

TEST(SplitsSlow, EveryLengthByEveryNumberOfSplits) {
  std::vector<int> splits;
  for (int n = 1; n <= 33; ++n) splits.push_back(n);
  sweep_splits(1, 1, splits);
}

}  // namespace
}  // namespace tessera::test
