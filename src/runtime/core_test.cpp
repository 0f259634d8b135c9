// SPDX-License-Identifier: Apache-2.0
#include "runtime/core.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/executor.hpp"

#if defined(__linux__)
#include <unistd.h>

namespace tessera::runtime {
namespace {

cpu_set_t cores_of_this_thread() {
  cpu_set_t cores;
  EXPECT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  return cores;
}

/// What a thread of its own finds, so that this one keeps its cores.
template <class Body>
void on_a_thread(Body body) {
  std::thread(body).join();
}

TEST(Core, AThreadKeepsOffOneCoreAtATime) {
  on_a_thread([] {
    const cpu_set_t home = cores_of_this_thread();
    if (CPU_COUNT(&home) < 2) GTEST_SKIP() << "one core";
    EXPECT_FALSE(is_kept_off());
    for (int round = 0; round < 100; ++round) {  // from core to core, never out of its home
      const int core = current_core();
      ASSERT_TRUE(keep_off(core));
      const cpu_set_t now = cores_of_this_thread();
      EXPECT_NE(current_core(), core);
      EXPECT_FALSE(CPU_ISSET(core, &now));
      EXPECT_EQ(CPU_COUNT(&now), CPU_COUNT(&home) - 1);
      EXPECT_TRUE(is_kept_off());
    }
  });
}

TEST(Core, CoresThatSomebodyElseChoseAreTheNewHome) {
  on_a_thread([] {
    const cpu_set_t home = cores_of_this_thread();
    if (CPU_COUNT(&home) < 2) GTEST_SKIP() << "one core";
    const int core = current_core();
    keep_off(core);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_FALSE(keep_off(core));  // the only one there is now
    const cpu_set_t now = cores_of_this_thread();
    EXPECT_TRUE(CPU_EQUAL(&now, &one));
  });
}

TEST(Core, ACoreThatThereIsNotIsLeftAlone) {
  on_a_thread([] {
    const cpu_set_t home = cores_of_this_thread();
    for (const int core : {-1, CPU_SETSIZE}) EXPECT_FALSE(keep_off(core));
    const cpu_set_t now = cores_of_this_thread();
    EXPECT_TRUE(CPU_EQUAL(&now, &home));
  });
}

/// Runs two tasks until a worker takes one; its thread, or 0 if none came in ten seconds.
pid_t worker_that_joined() {
  struct Seen {
    pid_t caller = gettid();
    std::atomic<pid_t> worker{0};
  } seen;
  const auto task = [](void* context, int) {
    auto& s = *static_cast<Seen*>(context);
    if (gettid() != s.caller) s.worker = gettid();
    for (const auto begin = std::chrono::steady_clock::now();
         std::chrono::steady_clock::now() - begin < std::chrono::microseconds(50);) {
    }
  };
  for (const auto begin = std::chrono::steady_clock::now();
       seen.worker == 0 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10);) {
    default_executor().parallel(2, task, &seen);
  }
  return seen.worker;
}

// Woken on the core of its caller it would wait behind it for milliseconds.
TEST(Core, AWorkerThatSleepsKeepsOffItsCallersCore) {
  on_a_thread([] {
    const cpu_set_t home = cores_of_this_thread();
    if (CPU_COUNT(&home) < 2 || default_executor().concurrency() < 2) GTEST_SKIP() << "one core";
    const int core = current_core();
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(core, &here);
    ASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
    const pid_t worker = worker_that_joined();
    ASSERT_NE(worker, 0);
    cpu_set_t its;
    CPU_ZERO(&its);
    CPU_SET(core, &its);
    for (const auto begin = std::chrono::steady_clock::now();
         CPU_ISSET(core, &its) && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10);) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ASSERT_EQ(sched_getaffinity(worker, sizeof its, &its), 0);
    }
    EXPECT_FALSE(CPU_ISSET(core, &its));
  });
}

}  // namespace
}  // namespace tessera::runtime

#endif
