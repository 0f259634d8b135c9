// SPDX-License-Identifier: Apache-2.0
// Random problems by seed, shared by the fast and the slow tier.
#pragma once

#include <cstdlib>
#include <string>

#include "support/check.hpp"
#include "support/kit.hpp"

namespace tessera::test {

/// Every implementation against the oracle on the cases of seeds [begin, end).
inline void run_seeds(std::uint64_t begin, std::uint64_t end, double work) {
  if (const char* one = std::getenv("TESSERA_TEST_SEED")) begin = std::strtoull(one, nullptr, 10), end = begin + 1;
  for (std::uint64_t seed = begin; seed < end; ++seed) {
    SCOPED_TRACE("TESSERA_TEST_SEED=" + std::to_string(seed));
    EXPECT_EQ(check_case(random_case(seed, work)), "");
  }
}

}  // namespace tessera::test
