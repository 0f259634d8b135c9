// SPDX-License-Identifier: Apache-2.0
// One random case under everything that may not change its bits, and against the oracle.
#pragma once

#include <string>

#include "support/generate.hpp"

namespace tessera::test {

/// Empty when every implementation that takes the case agrees with the oracle, and gives the same bits with other threads,
/// strides, page sizes and page orders, and for a sequence alone; else what went wrong.
std::string check_case(const RandomCase& c);

}  // namespace tessera::test
