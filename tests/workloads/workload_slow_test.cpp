// SPDX-License-Identifier: Apache-2.0
#include "workloads/lists.hpp"

namespace tessera::test {
namespace {

TEST(WorkloadsSlow, Correctness) { expect_list("correctness.txt", 1); }

}  // namespace
}  // namespace tessera::test
