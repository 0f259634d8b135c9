// SPDX-License-Identifier: Apache-2.0
// A communicator of a launch, as its server sees it.
#pragma once

#include "engine.hpp"
#include "twin/calls_hccl.hpp"

namespace twin {

struct HcclTask : HcclTaskCall {
  std::uint32_t site = 0;
  std::vector<CrossFlag::Delivery> done;  // one a repeat
};
struct HcclGroup {
  int kind = -1;  // of the core that has called first
  bool finalized = false;
  std::vector<HcclTask> tasks;
};

}  // namespace twin
