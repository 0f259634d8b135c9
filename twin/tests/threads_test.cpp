// SPDX-License-Identifier: Apache-2.0
// A host program with several threads, each with a stream: launches, allocations and copies side by side. What a launch
// computes, finds and takes is what it does alone.
#include <thread>

#include "planted.hpp"

using namespace AscendC;
using namespace twin_test;

namespace {

constexpr int kN = 256, kTiles = 40;
GlobalTensor<float> gm(GM_ADDR address, int first = 0) { return floats(address, first, kN); }

void scale(GM_ADDR x, GM_ADDR y, float by) {
  const LocalTensor<float> tile(TPosition::VECCALC, 0, kN);
  for (int t = 0; t < kTiles; ++t) {
    const int at = (static_cast<int>(GetBlockIdx()) * kTiles + t) * kN;
    DataCopy(tile, gm(x, at), kN);
    order<HardEvent::MTE2_V>();
    Muls(tile, tile, by, kN);
    order<HardEvent::V_MTE3>();
    DataCopy(gm(y, at), tile, kN);
    order<HardEvent::MTE3_MTE2>();
  }
}
void races(GM_ADDR x) {
  const LocalTensor<float> tile(TPosition::VECCALC, 0, kN);
  Duplicate(tile, 1.0f, kN);
  DataCopy(gm(x), tile, kN);
}

TEST(Threads, MayLaunchSideBySide) {
  constexpr int kThreads = 4, kLaunches = 6, kBlocks = 3, kAll = kBlocks * kTiles * kN;
  double alone = 0;
  {
    Device<float> x(std::vector<float>(kAll, 1.0f)), y(kAll);
    RUN(scale, kBlocks).auto_sync(false)(x, y, 2.0f);
    alone = twin::last_timing().cycles;
  }
  std::vector<std::string> wrong(kThreads);
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k) {
    threads.emplace_back([&wrong, k] {
      aclrtStream stream = nullptr;
      aclrtEvent event = nullptr;
      aclrtCreateStream(&stream);
      aclrtCreateEvent(&event);
      for (int n = 0; n < kLaunches; ++n) {
        const float by = static_cast<float>(10 * k + n);
        Device<float> x(std::vector<float>(kAll, 2.0f)), y(kAll);
        RUN(scale, kBlocks).auto_sync(false)(x, y, by);
        aclrtRecordEvent(event, stream);
        if (y.values() != std::vector<float>(kAll, 2.0f * by)) wrong[k] += "launch " + std::to_string(n) + "; ";
      }
      aclrtDestroyEvent(event);
      aclrtDestroyStream(stream);
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& w : wrong) EXPECT_EQ(w, "");
  EXPECT_SILENT();
  EXPECT_EQ(twin::last_timing().cycles, alone);  // whichever was the last
}

TEST(Threads, CountTheirFindingsTogether) {
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([] {
      Device<float> x(kN);
      for (int n = 0; n < 5; ++n) RUN(races, 1).auto_sync(false)(x);
    });
  }
  for (std::thread& t : threads) t.join();
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << text(found);
  EXPECT_EQ(found[0].count, 20u);
}

}  // namespace
