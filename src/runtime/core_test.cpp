// SPDX-License-Identifier: Apache-2.0
#include "runtime/core.hpp"

#include <gtest/gtest.h>

#include <thread>

#if defined(__linux__)

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

}  // namespace
}  // namespace tessera::runtime

#endif
