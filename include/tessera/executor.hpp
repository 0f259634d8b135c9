// SPDX-License-Identifier: Apache-2.0
// The seam between Tessera and threads: the library's own pool, or one that the caller lends.
#pragma once

#include "tessera/export.hpp"

namespace tessera {

/// Runs independent tasks. Lend your own pool by implementing this; results do not depend on it.
class TESSERA_EXPORT Executor {
 public:
  virtual ~Executor() = default;

  /// How many tasks may run at once, at least 1.
  virtual int concurrency() const noexcept = 0;

  /// Calls task(context, i) once for every i in [0, count), in any order, on any thread, and returns when all have
  /// returned. Tasks never wait for one another, so a serial loop is a valid implementation. A return before each task has
  /// run makes the call an `invalid` one.
  virtual void parallel(int count, void (*task)(void* context, int index), void* context) = 0;
};

/// The library's own pool, which a run uses when it is lent none: threads of oneTBB, as many as the process may use. For
/// `merge`, which stays on the calling thread when it is lent none. Lives as long as the process.
TESSERA_EXPORT Executor& default_executor();

}  // namespace tessera
