// SPDX-License-Identifier: Apache-2.0
// Every implementation against the oracle on random problems. A seed names a case: TESSERA_TEST_SEED=<n> runs it alone.
#include <cstdlib>

#include "support/generate.hpp"
#include "support/kit.hpp"

namespace tessera::test {
namespace {

void run_seeds(std::uint64_t begin, std::uint64_t end, double work) {
  if (const char* one = std::getenv("TESSERA_TEST_SEED")) begin = std::strtoull(one, nullptr, 10), end = begin + 1;
  for (std::uint64_t seed = begin; seed < end; ++seed) {
    SCOPED_TRACE("TESSERA_TEST_SEED=" + std::to_string(seed));
    const RandomCase c = random_case(seed, work);
    expect_oracle(Instance(c.problem, c.values, c.layout));
  }
}

TEST(Random, SmallProblemsAgreeWithTheOracle) { run_seeds(0, 300, 1e6); }

TEST(Random, MiddlingProblemsAgreeWithTheOracle) { run_seeds(100000, 100060, 2e7); }

}  // namespace
}  // namespace tessera::test
