// SPDX-License-Identifier: Apache-2.0
// Pipes that stand at a wait whose set has not come. See standing.hpp.
#include "engine.hpp"

namespace twin {

Handover Core::hand_over(Pipe from, std::uint32_t site) {
  Handover h;
  if (stands(from)) {
    h.promise = std::make_shared<Promise>();
    keep(h.promise, from, site);
  } else {
    h.token = record_set(from, site);
    h.clock = completed(from);
  }
  return h;
}

void Core::keep(const std::shared_ptr<Promise>& promise, Pipe from, std::uint32_t site) {
  if (stands(from)) return hold_back(from, [=, this] { keep(promise, from, site); });
  promise->token = record_set(from, site);
  promise->clock = completed(from);
  promise->kept = true;
  go_on();
}

void Core::take_over(Pipe to, const Handover& h, Pipe from, std::uint32_t site) {
  const bool missing = h.promise && !h.promise->kept;
  if (missing && to == Pipe::S) {
    stop(site);
  } else if (missing || stands(to)) {
    hold_back(to, [=, this] { take_over(to, h, from, site); });
    HeldBack& wait = held_back[int(to)].back();
    wait.awaits = h.promise;
    wait.from = from;
    wait.site = site;
    return;
  }
  learn(to, h.promise ? h.promise->clock : h.clock);
  const std::uint32_t token = h.promise ? h.promise->token : h.token;
  if (token) record_wait(to, token, site);
}

// What a pipe that stands keeps learns it too: it runs behind a set that the scalar unit issues later than this.
void Core::learn_everywhere(const Clock& known) {
  for (Clock& each : clock) each.join_with(known);
}

void Core::hold_back(Pipe pipe, std::function<void()> run) {
  HeldBack& held = held_back[int(pipe)].emplace_back();
  held.number = ++held_back_so_far;
  held.run = std::move(run);
  held.atomic = atomic;
  held.atomic_dtype = atomic_dtype;
  held.fixpipe = cube.fixpipe;
  for (const Buffer& b : buffers) held.buffers.emplace_back(b.state != Buffer::Idle, b.generation);
  standing |= 1u << int(pipe);
}

// Executes what is no longer held back, pipe by pipe: every order in which a wait follows its set gives the same values,
// unless there is a race, and that is reported.
void Core::go_on() {
  if (!standing || going_on >= 0) return;
  for (bool moved = true; moved;) {
    moved = false;
    for (int p = 0; p < kPipes; ++p) {
      auto& queue = held_back[p];
      while (!queue.empty() && (!queue.front().awaits || queue.front().awaits->kept)) {
        HeldBack held = std::move(queue.front());
        queue.pop_front();
        std::swap(atomic, held.atomic);
        std::swap(atomic_dtype, held.atomic_dtype);
        std::swap(cube.fixpipe, held.fixpipe);
        going_on = p;
        issued_buffers = &held.buffers;
        held.run();
        issued_buffers = nullptr;
        going_on = -1;
        std::swap(atomic, held.atomic);
        std::swap(atomic_dtype, held.atomic_dtype);
        std::swap(cube.fixpipe, held.fixpipe);
        moved = true;
      }
      if (queue.empty()) standing &= ~(1u << p);
    }
  }
}

}  // namespace twin
