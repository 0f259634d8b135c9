// SPDX-License-Identifier: Apache-2.0
// A record of what each thread of a run did, and when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tessera/export.hpp"
#include "tessera/trace_event.hpp"

namespace tessera {

/// Give one to RunOptions::trace, to one run at a time. Memory is taken here, not during the run; events over the capacity
/// are counted, not kept.
class TESSERA_EXPORT TraceRecorder {
 public:
  TraceRecorder(int num_threads, std::size_t events_per_thread);
  ~TraceRecorder();
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  int num_threads() const noexcept;
  std::span<const TraceEvent> events(int thread) const noexcept;
  std::size_t dropped(int thread) const noexcept;
  void clear() noexcept;

  struct Impl;
  Impl& impl() noexcept { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera
