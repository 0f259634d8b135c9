// SPDX-License-Identifier: Apache-2.0
// Cast between half and int4b_t, two to a byte.
#pragma once

#include <vector>

#include "lanes.hpp"

namespace twin {

void check_cast_int4(Instruction& i, const Lanes& lanes, const View& dst, Round mode);
void cast_int4(Instruction& i, const View& dst, const View& src, const std::vector<Run>& runs, Round mode);

}  // namespace twin
