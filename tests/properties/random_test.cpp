// SPDX-License-Identifier: Apache-2.0
// Every implementation against the oracle on random problems. A seed names a case: TESSERA_TEST_SEED=<n> runs it alone.
#include "properties/random.hpp"

namespace tessera::test {
namespace {

TEST(Random, SmallProblemsAgreeWithTheOracle) { run_seeds(0, 200, 1e6); }

TEST(Random, MiddlingProblemsAgreeWithTheOracle) { run_seeds(100000, 100030, 2e7); }

}  // namespace
}  // namespace tessera::test
