// SPDX-License-Identifier: Apache-2.0
// The lists of workloads/ against the oracle, each problem on every implementation.
#include "workloads/lists.hpp"

namespace tessera::test {
namespace {

TEST(Workloads, Quick) { expect_list("quick.txt", 1); }

TEST(Workloads, SampleOfCorrectness) { expect_list("correctness.txt", 11); }

TEST(Workloads, EveryAvailableImplementationTakesEveryProblem) {
  for (const ImplementationInfo& info : implementations()) {
    if (!info.available) continue;
    for (const std::string& line : read_workload("correctness.txt")) {
      const Status status = accepts(info.name, parse(line));
      EXPECT_TRUE(status.ok()) << info.name << " refuses " << line << ": " << status.message();
    }
  }
}

TEST(Workloads, EachLineIsCanonicalEnoughToReadBack) {
  for (const std::string name : {"quick.txt", "correctness.txt"}) {
    for (const std::string& line : read_workload(name)) {
      const Problem problem = parse(line);
      EXPECT_EQ(parse(problem.to_string()).to_string(), problem.to_string()) << line;
    }
  }
}

}  // namespace
}  // namespace tessera::test
