// SPDX-License-Identifier: Apache-2.0
// What the timing model says of small kernels whose answer is known.
#include <cmath>
#include <fstream>
#include <regex>

#include "support.hpp"

using namespace AscendC;

namespace {

LocalTensor<float> ub(int block) { return LocalTensor<float>(TPosition::VECCALC, block * 32768, 8192); }

template <class T>
GlobalTensor<T> gm(GM_ADDR p) {
  GlobalTensor<T> t;
  t.SetGlobalBuffer((__gm__ T*)p);
  return t;
}

double cycles() {
  EXPECT_SILENT();
  return twin::last_timing().cycles;
}

const twin::LineCost& heaviest() { return twin::last_timing().critical_path.front(); }

// ---- the critical path in words ----
int wait_line = 0, store_line = 0;
void stores_then_overwrites(GM_ADDR p) {
  for (int i = 0; i < 8; ++i) {
    Duplicate(ub(0), 1.0f, 64);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(gm<float>(p)[i * 8192], ub(0), 8192), store_line = __LINE__;
    SetFlag<HardEvent::MTE3_V>(0);
    WaitFlag<HardEvent::MTE3_V>(0), wait_line = __LINE__;
  }
}
TEST(CriticalPath, NamesTheWaitAndWhatItWaitsFor) {
  twin_test::Device<float> p(8 * 8192);
  RUN(stores_then_overwrites, 1).as(twin::KernelType::AivOnly)(p);
  // UB was not written as a whole: that is reported, and not the point here.
  twin::take_findings();
  const twin::LineCost& l = heaviest();
  EXPECT_EQ(l.what, "waits for MTE3→V");
  EXPECT_TRUE(twin_test::ends_with(l.line, twin_test::at(wait_line))) << l.line;
  EXPECT_EQ(l.name, "DataCopy");
  EXPECT_TRUE(twin_test::ends_with(l.because_line, twin_test::at(store_line))) << l.because_line;
  EXPECT_GT(l.cycles, 0.7 * twin::last_timing().cycles);
  const std::string text = to_text(twin::last_timing());
  const std::string words = "waits for MTE3→V at timing_test.cpp:" + std::to_string(wait_line) +
                            " (DataCopy at timing_test.cpp:" + std::to_string(store_line) + ")";
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

// ---- counter mode ----
template <bool kCounter>
void adds_8192(GM_ADDR) {
  Duplicate(ub(0), 1.0f, 8192);
  PipeBarrier<PIPE_V>();
  if (!kCounter) return Adds(ub(0), ub(0), 1.0f, 8192);
  SetMaskCount();
  SetVectorMask<float, MaskMode::COUNTER>(8192);
  Adds<float, false>(ub(0), ub(0), 1.0f, MASK_PLACEHOLDER, 1, UnaryRepeatParams());
  SetMaskNorm();
}
TEST(Timing, CounterModeCostsWhatItsMaskCounts) {
  twin_test::Device<float> p(8);
  RUN(adds_8192<false>, 1).as(twin::KernelType::AivOnly)(p);
  const double counted = cycles();
  RUN(adds_8192<true>, 1).as(twin::KernelType::AivOnly)(p);
  EXPECT_NEAR(cycles(), counted, 20);
}

void vectors_behind_barriers(GM_ADDR) {
  Duplicate(ub(0), 1.0f, 8192);
  for (int i = 0; i < 50; ++i) {
    PipeBarrier<PIPE_V>();
    Exp(ub(0), ub(0), 64);  // 2 cycles of work, 32 until the result is there
  }
}
TEST(CriticalPath, TellsWorkFromTheWaitForItsResult) {
  RUN(vectors_behind_barriers, 1).as(twin::KernelType::AivOnly)(nullptr);
  EXPECT_SILENT();
  EXPECT_EQ(heaviest().what, "waits for PipeBarrier<PIPE_V>");
  EXPECT_EQ(heaviest().name, "Exp");
}

void copies_in_a_row(GM_ADDR p) {
  for (int i = 0; i < 4; ++i) DataCopy(ub(i), gm<float>(p)[i * 8192], 8192);
}
TEST(CriticalPath, OfOnePipeIsItsWork) {
  const twin_test::Device<float> p(std::vector<float>(4 * 8192));
  RUN(copies_in_a_row, 1).as(twin::KernelType::AivOnly)(p);
  EXPECT_SILENT();
  EXPECT_EQ(heaviest().what, "MTE2 works");
}

TEST(CriticalPath, AddsUpToTheWhole) {
  const twin_test::Device<float> p(std::vector<float>(4 * 8192));
  RUN(copies_in_a_row, 8).as(twin::KernelType::AivOnly)(p);
  EXPECT_SILENT();
  double sum = 0;
  for (const auto& l : twin::last_timing().critical_path) sum += l.cycles;
  EXPECT_NEAR(sum, twin::last_timing().cycles, 1e-6);
}

// ---- queues ----
// When an instruction of this name first ran, in cycles; the trace has it.
double start_of(const std::string& name) {
  const std::string trace = twin::last_chrome_trace();
  std::smatch at;
  const bool there = std::regex_search(trace, at, std::regex("\"name\": \"" + name + "\", [^}]*\"ts\": ([0-9.]+)"));
  EXPECT_TRUE(there) << name;
  return there ? std::stod(at[1]) * twin::last_timing().mhz : 0;
}
constexpr int kVectors = 45, kEach = 16;  // instructions, and the cycles of one
void vectors_then_a_copy(GM_ADDR p) {
  for (int i = 0; i < kVectors; ++i) Duplicate(LocalTensor<float>(TPosition::VECCALC, i * 4096, 1024), 1.0f, kEach * 64);
  DataCopy(LocalTensor<float>(TPosition::VECCALC, kVectors * 4096, 64), gm<float>(p), 64);
}
// The device's own depth, one that is no power of two, and the shortest. The scalar unit reaches the copy once the last of
// the vector instructions has room: when the one `depth` before it begins, so that `depth` are left to wait.
TEST(Queues, AFullOneStopsTheScalarUnitAtItsDepth) {
  const twin_test::Device<float> p(std::vector<float>(64));
  twin::settings().keep_trace = true;
  for (const int depth : {32, 5, 1}) {
    const std::string path = testing::TempDir() + "queue" + std::to_string(depth) + ".device";
    std::ofstream(path) << "[queue" << depth << " : 910B2]\nqueue_depth = " << depth << " ; this test\n";
    twin::settings().device = path;
    RUN(vectors_then_a_copy, 1).as(twin::KernelType::AivOnly)(p);
    EXPECT_SILENT();
    EXPECT_NEAR(start_of("DataCopy"), (kVectors - 1 - depth) * kEach, 2) << "queue_depth " << depth;
  }
  twin::settings().keep_trace = false;
  twin::settings().device = "910B2";
}

void barriers_then_a_copy(GM_ADDR p) {
  const auto tensor = LocalTensor<float>(TPosition::VECCALC, 0, 64);
  Duplicate(tensor, 1.0f, 64);
  for (int i = 0; i < 10; ++i) {
    PipeBarrier<PIPE_V>();
    Adds(tensor, tensor, 1.0f, 64);
  }
  DataCopy(LocalTensor<float>(TPosition::VECCALC, 4096, 64), gm<float>(p), 64);
}
TEST(Queues, ABarrierThatWaitsIsStillInTheQueue) {
  const twin_test::Device<float> p(std::vector<float>(64));
  const std::string path = testing::TempDir() + "queue1.device";
  std::ofstream(path) << "[queue1 : 910B2]\nqueue_depth = 1 ; this test\n";
  twin::settings().keep_trace = true;
  twin::settings().device = path;
  RUN(barriers_then_a_copy, 1).as(twin::KernelType::AivOnly)(p);
  EXPECT_SILENT();
  EXPECT_NEAR(start_of("DataCopy"), 10 * 25, 2);  // the last Adds has room once the tenth barrier is over
  twin::settings().keep_trace = false;
  twin::settings().device = "910B2";
}

// ---- banks ----
int dst_block = 1, src_block = 1, src1_repeat = 8, src1_offset = 0;
void strided(GM_ADDR) {
  Duplicate(LocalTensor<float>(TPosition::VECCALC, 0, 45000), 1.0f, 45000);
  PipeBarrier<PIPE_V>();
  UnaryRepeatParams p(static_cast<std::uint16_t>(dst_block), static_cast<std::uint16_t>(src_block), 1, 1);
  Adds(LocalTensor<float>(TPosition::VECCALC, 0, 12000), LocalTensor<float>(TPosition::VECCALC, 65536, 12000), 1.0f,
       std::uint64_t{64}, 100, p);
}
void two_sources(GM_ADDR) {
  Duplicate(LocalTensor<float>(TPosition::VECCALC, 0, 45000), 1.0f, 45000);
  PipeBarrier<PIPE_V>();
  BinaryRepeatParams p(1, 1, 1, 8, 8, static_cast<std::uint8_t>(src1_repeat));
  Mul(LocalTensor<float>(TPosition::VECCALC, 0, 12000), LocalTensor<float>(TPosition::VECCALC, 65536, 12000),
      LocalTensor<float>(TPosition::VECCALC, 131072 + src1_offset, 12000), std::uint64_t{64}, 100, p);
}
double busy_of(const char* name) {
  EXPECT_SILENT();
  for (const auto& l : twin::last_timing().lines) {
    if (l.name == name) return l.busy_cycles;
  }
  return 0;
}
TEST(Banks, BlocksOfOneGroupTakeTurns) {
  const auto time = [](int dst, int src) {
    dst_block = dst;
    src_block = src;
    RUN(strided, 1).as(twin::KernelType::AivOnly)(nullptr);
    return busy_of("Adds");
  };
  EXPECT_EQ(time(1, 1), 100);
  EXPECT_EQ(time(1, 2), 100);  // every second of sixteen groups: eight
  EXPECT_EQ(time(1, 3), 100);
  EXPECT_EQ(time(1, 4), 200);
  EXPECT_EQ(time(1, 8), 400);
  EXPECT_EQ(time(1, 16), 800);
  EXPECT_EQ(time(16, 1), 800);
  EXPECT_EQ(time(1, 0), 100);  // one block for all lanes
}
TEST(Banks, TwoSourcesMeetUnlessTheyAreEightGroupsApart) {
  const auto time = [](int repeat, int offset) {
    src1_repeat = repeat;
    src1_offset = offset;
    RUN(two_sources, 1).as(twin::KernelType::AivOnly)(nullptr);
    return busy_of("Mul");
  };
  EXPECT_EQ(time(8, 0), 200);
  EXPECT_EQ(time(8, 256), 100);
  EXPECT_EQ(time(0, 0), 150);  // the first source moves by eight groups a repeat, this one stands still
}

// ---- GM ----
int stride = 0;  // bytes from one core's line to the next core's
void read_a_line(GM_ADDR p) {
  for (int i = 0; i < 64; ++i)
    DataCopy(ub(0)[i * 8], gm<float>(p)[(static_cast<std::uint64_t>(GetBlockIdx()) * stride) / 4 + i * 128 * 48], 8);
}
TEST(GmModel, CoresAtOneLineTakeTurns) {
  const twin_test::Device<float> p(std::vector<float>(64 * 128 * 48));
  stride = 512;
  RUN(read_a_line, 48).as(twin::KernelType::AivOnly)(p);
  const double own = cycles();
  stride = 0;
  RUN(read_a_line, 48).as(twin::KernelType::AivOnly)(p);
  const double shared = cycles();
  // The last of 48 cores has the first line after 47 others, 8 cycles each; then they go one behind another. All but the
  // first find the line in L2: 240 instead of 310 cycles until the data is there.
  EXPECT_NEAR(shared - own, 47 * 8 - (310 - 240), 1) << "own lines " << own;
}

int first_byte = 0, row_bytes = 32768;
void read_rows(GM_ADDR p) {
  DataCopyParams rows(static_cast<std::uint16_t>(32768 / row_bytes), static_cast<std::uint16_t>(row_bytes / 32),
                      static_cast<std::uint16_t>(row_bytes / 32), 0);
  for (int i = 0; i < 4; ++i) DataCopy(ub(i), gm<float>(p)[i * 16384 + first_byte / 4], rows);
}
TEST(GmModel, AlignmentAndShortRowsCost) {
  const twin_test::Device<float> p(std::vector<float>(5 * 16384));
  const auto time = [&](int first, int row) {
    first_byte = first;
    row_bytes = row;
    RUN(read_rows, 1).as(twin::KernelType::AivOnly)(p);
    return cycles();
  };
  const double plain = time(0, 16384);
  EXPECT_GT(time(32, 16384), 1.3 * plain);
  EXPECT_GT(time(0, 32), 1.5 * time(0, 512));
  EXPECT_EQ(time(0, 512), time(0, 2048));  // the reference: a strided copy is as good as a long one
}

bool hint = false;
void read_twice(GM_ADDR p) {
  GlobalTensor<float> t = gm<float>(p);
  if (hint) t.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
  for (int i = 0; i < 4; ++i) DataCopy(ub(i), t, 8192);
}
TEST(GmModel, TheCacheHintKeepsAStreamOutOfL2) {
  const twin_test::Device<float> p(std::vector<float>(8192));
  hint = false;
  RUN(read_twice, 1).as(twin::KernelType::AivOnly)(p);
  EXPECT_SILENT();
  EXPECT_EQ(twin::last_timing().l2_hit_bytes, 3 * 32768);
  EXPECT_EQ(twin::last_timing().hbm_bytes, 32768);
  hint = true;
  RUN(read_twice, 1).as(twin::KernelType::AivOnly)(p);
  EXPECT_SILENT();
  EXPECT_EQ(twin::last_timing().l2_hit_bytes, 0);
  EXPECT_EQ(twin::last_timing().hbm_bytes, 4 * 32768);
}

void read_own(GM_ADDR p) {
  for (int i = 0; i < 4; ++i)
    DataCopy(ub(i), gm<float>(p)[(static_cast<std::uint64_t>(GetBlockIdx()) * 4 + i) * 8192], 8192);
}
TEST(GmModel, HbmIsSharedByThoseWhoUseItAtThatMoment) {
  const twin_test::Device<float> p(std::vector<float>(48 * 4 * 8192));
  const auto time = [&](int cores) {
    RUN(read_own, cores).as(twin::KernelType::AivOnly)(p);
    return cycles();
  };
  const double alone = time(1);
  EXPECT_NEAR(time(4), alone, 0.01 * alone);  // four ask for less than HBM has
  const double bytes = 48 * 4 * 32768.0;
  EXPECT_NEAR(time(48), bytes / 1.46e12 * 1.8e9 + 310, 0.02 * time(48));
}

// ---- blocks ----
void one_copy(GM_ADDR p) { DataCopy(ub(0), gm<float>(p)[static_cast<std::uint64_t>(GetBlockIdx()) * 8192], 8192); }
TEST(Blocks, MoreThanCoresGoOneAfterAnother) {
  const twin_test::Device<float> p(std::vector<float>(96 * 8192));
  const auto time = [&](int blocks) {
    RUN(one_copy, blocks).as(twin::KernelType::AivOnly)(p);
    return cycles();
  };
  const double one_wave = time(48);
  EXPECT_NEAR(time(96), 2 * one_wave, 0.02 * one_wave);
  EXPECT_EQ(twin::last_timing().pipes.size(), 48u);  // the machine has no more
  EXPECT_GT(time(49), 1.2 * one_wave);               // the last block has the machine to itself
  EXPECT_LE(twin::last_timing().vector_utilisation, 1.0);
}

// ---- reports ----
TEST(ChromeTrace, HasTheLanesOfTheVendorsProfiler) {
  twin::settings().keep_trace = true;
  const twin_test::Device<float> p(std::vector<float>(4 * 8192));
  RUN(copies_in_a_row, 2).as(twin::KernelType::AivOnly)(p);
  twin::settings().keep_trace = false;
  EXPECT_SILENT();
  const std::string trace = twin::last_chrome_trace();
  std::vector<std::string> lanes;
  const std::regex lane("\"thread_name\", \"pid\": 1, \"tid\": (\\d), \"args\": \\{\"name\": \"(\\w+)\"");
  for (std::sregex_iterator at(trace.begin(), trace.end(), lane), end; at != end; ++at) {
    EXPECT_EQ((*at)[1].str(), std::to_string(lanes.size()));
    lanes.push_back((*at)[2].str());
  }
  EXPECT_EQ(lanes, (std::vector<std::string>{"SCALAR", "VECTOR", "CUBE", "MTE1", "MTE2", "MTE3", "FIXP"}));
  EXPECT_NE(trace.find("AIV 1 (modelled)"), std::string::npos);
}

}  // namespace
