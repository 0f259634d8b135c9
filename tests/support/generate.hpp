// SPDX-License-Identifier: Apache-2.0
// One random problem with its tensors from one seed: every option, layout and distribution takes part.
#pragma once

#include <cstdint>

#include "support/instance.hpp"

namespace tessera::test {

struct RandomCase {
  Problem problem;
  Values values;
  Layout layout;
};

/// The case of this seed, with about `work` multiply-adds at most. The generator is part of the meaning of seeds in reports.
RandomCase random_case(std::uint64_t seed, double work = 2e6);

}  // namespace tessera::test
