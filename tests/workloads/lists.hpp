// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "support/kit.hpp"
#include "support/workload.hpp"

namespace tessera::test {

/// Every `step`-th problem of the list.
inline void expect_list(const std::string& name, std::size_t step) {
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

}  // namespace tessera::test
