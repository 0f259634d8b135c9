// SPDX-License-Identifier: Apache-2.0
// How much memory a piece of work takes at its peak, as the system sees it.
#pragma once

#include <cstdint>

namespace tessera::bench {

/// Remembers what is resident now; extra_bytes() is the highest it has been since, less that. Counts stacks and pools of
/// threads too. Exact to a few pages a thread; 0 where the system does not tell.
class PeakMemory {
 public:
  PeakMemory();
  std::int64_t extra_bytes() const;

 private:
  std::int64_t before_ = 0;
};

}  // namespace tessera::bench
