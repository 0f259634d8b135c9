// SPDX-License-Identifier: Apache-2.0
// Waits that are issued before their sets. Such a wait stands in the queue of its pipe and holds back what is issued to that
// pipe; the scalar unit goes on, and may so reach the set. The twin keeps what is held back, and executes it when the set
// has come: values, races and time are then those of an order in which the chip can run the program.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "twin/calls_cube.hpp"
#include "twin/engine.hpp"

namespace twin {

// A set that has not been executed: it has not been issued, or its own pipe stands.
struct Promise {
  Clock clock;
  std::uint32_t token = 0;
  bool kept = false;
};

// What a flag, or the buffer of a queue, carries from one pipe to another.
struct Handover {
  Clock clock;
  std::uint32_t token = 0;           // 0: none
  std::shared_ptr<Promise> promise;  // not null: clock and token are there
};

struct EarlyWait {
  std::uint32_t site = 0;
  std::shared_ptr<Promise> promise;
};

// What a pipe that stands was given.
struct HeldBack {
  std::uint32_t number = 0;         // of all that the core has held back
  std::shared_ptr<Promise> awaits;  // a wait, for this
  Pipe from = Pipe::S;              // its other pipe
  std::uint32_t site = 0;
  std::function<void()> run;
  // What the instruction found when it was issued: registers, and whether buffers were in use (by generation).
  Atomic atomic = Atomic::None;
  DType atomic_dtype = DType::F32;
  FixpipeRegisters fixpipe;
  std::vector<std::pair<bool, std::uint32_t>> buffers;
};

// First in an executor: keeps the call for later if its pipe stands. What follows the pipe is the call again, with
// arguments that are kept by value.
#define TWIN_HOLD_BACK(pipe, ...)              \
  if (core().stands(pipe)) {                   \
    core().hold_back(pipe, [=]() __VA_ARGS__); \
    return;                                    \
  }

}  // namespace twin
