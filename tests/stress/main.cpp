// SPDX-License-Identifier: Apache-2.0
// Long differential runs: random problems on every implementation against the oracle, and the same bits under other
// threads, placements and batches. `stress [first seed] [seconds] [multiply-adds a case]`; a failure names its seed.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "support/check.hpp"

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 10, work = argc > 3 ? std::atof(argv[3]) : 2e6;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t seed = first, failures = 0;
  for (; Clock::now() < end && failures < 20; ++seed) {
    const std::string text = tessera::test::check_case(tessera::test::random_case(seed, work));
    if (text.empty()) continue;
    ++failures;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), text.c_str());
    std::fflush(stdout);
  }
  std::printf("%llu cases from seed %llu, %llu failures\n", static_cast<unsigned long long>(seed - first),
              static_cast<unsigned long long>(first), static_cast<unsigned long long>(failures));
  return failures == 0 ? 0 : 1;
}
