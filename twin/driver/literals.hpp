// SPDX-License-Identifier: Apache-2.0
// The numbers that stand in a source: where a kernel's comparisons may turn.
#pragma once

#include <utility>
#include <vector>

#include "words.hpp"

namespace twincc {

// Line and value of each, with the minus that stands before it alone. Of preprocessor lines only those of #define.
std::vector<std::pair<int, double>> literals_of(const Words& words);

}  // namespace twincc
