// SPDX-License-Identifier: Apache-2.0
// One event of a trace. Plain, because kernels write these and may not see the standard library's inline code.
#pragma once

#include <cstdint>

namespace tessera {

enum class TraceStage : std::uint8_t { pack, qk, softmax, pv, merge, write };

struct TraceEvent {
  std::int64_t begin_ns;  // since the recorder was made
  std::int64_t end_ns;
  std::int32_t item;  // work item of the plan, -1: none
  TraceStage stage;
};

}  // namespace tessera
