// SPDX-License-Identifier: Apache-2.0
// Counts and refuses allocations. A binary that links counted_memory.cpp has its operators new, and outside sanitizers its
// malloc, which only counts.
#pragma once

#include <cstddef>

namespace tessera::test {

/// Allocations of the whole process while this lives, in any thread.
class CountAllocations {
 public:
  CountAllocations() noexcept;
  ~CountAllocations();
  int count() const noexcept;
};

/// Grants this thread `granted` more allocations while this lives, then refuses.
class RefuseAllocations {
 public:
  explicit RefuseAllocations(int granted) noexcept;
  ~RefuseAllocations();
  bool any_refused() const noexcept;
};

/// Refuses this thread every allocation of more than `most` bytes while this lives.
class RefuseLarge {
 public:
  explicit RefuseLarge(std::size_t most) noexcept;
  ~RefuseLarge();

 private:
  std::size_t before_;
};

}  // namespace tessera::test
