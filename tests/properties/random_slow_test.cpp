// SPDX-License-Identifier: Apache-2.0
#include "properties/random.hpp"

namespace tessera::test {
namespace {

TEST(RandomSlow, SmallProblems) { run_seeds(1000000, 1002500, 1e6); }

TEST(RandomSlow, MiddlingProblems) { run_seeds(2000000, 2000300, 2e7); }

TEST(RandomSlow, LargeProblems) { run_seeds(3000000, 3000040, 2e8); }

}  // namespace
}  // namespace tessera::test
