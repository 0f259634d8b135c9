// SPDX-License-Identifier: Apache-2.0
// The lists of workloads/ against the oracle, each problem on every implementation.
#include "support/workload.hpp"
#include "support/kit.hpp"

namespace tessera::test {
namespace {

/// Every `step`-th problem of the list.
void expect_list(const std::string& name, std::size_t step) {
  const std::vector<std::string> problems = read_workload(name);
  ASSERT_FALSE(problems.empty()) << name;
  for (std::size_t n = 0; n < problems.size(); n += step) {
    SCOPED_TRACE(problems[n]);
    Result<Problem> problem = Problem::parse(problems[n]);
    ASSERT_TRUE(problem.ok()) << problem.status().message();
    Layout layout;
    layout.shuffle_pages = true;
    layout.spare_pages = 1;
    expect_oracle(Instance(*problem, random_values(n), layout));
  }
}

TEST(Workloads, Quick) { expect_list("quick.txt", 1); }

TEST(Workloads, SampleOfCorrectness) { expect_list("correctness.txt", 11); }

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
