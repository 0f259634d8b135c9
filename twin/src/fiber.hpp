// SPDX-License-Identifier: Apache-2.0
// A fiber: a function with a stack of its own that can stop in the middle and go on later. One host thread runs all of them.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>

namespace twin {

class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void resume();          // from outside: runs until the next suspend or the end
  static void suspend();  // from inside
  // From inside, around a call that is not known to throw, as those that compilers insert are: what an abandoned fiber has
  // on its stack meanwhile is left there.
  static void unwinds(bool can);
  bool done() const { return done_; }
  void abandon() { abandoned_ = true; }  // the next resume unwinds its stack instead of going on

 private:
  static void entry(unsigned high, unsigned low);
  void enter_fiber();
  void leave_fiber(bool last);
  [[noreturn]] void end();

  std::function<void()> body_;
  void* stack_ = nullptr;
  bool done_ = false, abandoned_ = false, unwinds_ = true;
  ucontext_t inside_, outside_;
  [[maybe_unused]] void* sanitizer_[4] = {};  // what the sanitizers want to be told at a switch
  [[maybe_unused]] std::size_t outside_stack_bytes_ = 0;
};

}  // namespace twin
