// SPDX-License-Identifier: Apache-2.0
// Waits that stand before their sets in the program. Only their pipe stands still, so what it got in between runs after the
// set: values, races and time must be those of that order.
#include "planted.hpp"

using namespace AscendC;
using namespace twin_test;
using twin::KernelType;
using twin::Kind;

namespace {

constexpr int kN = 64;
GlobalTensor<float> gm(GM_ADDR address, int first = 0, int count = kN) { return floats(address, first, count); }
LocalTensor<float> ub(int tile) { return LocalTensor<float>(TPosition::VECCALC, tile * kN * 4, kN); }

// ---- right programs ----
template <int kBetween>  // 0: nothing; 1: an instruction of the pipe that stands still; 2: of the pipe that sets
void wait_then_set(GM_ADDR x) {
  WaitFlag<HardEvent::MTE2_V>(0);
  if (kBetween == 1) Duplicate(ub(1), 0.0f, kN);
  if (kBetween == 2) DataCopy(ub(0), gm(x), kN);
  SetFlag<HardEvent::MTE2_V>(0);
  if (kBetween == 2) Adds(ub(1), ub(0), 1.0f, kN);
}
TEST(EarlyWait, OrdersWhatFollowsItsSet) {
  Device<float> x(std::vector<float>(kN, 1.0f));
  RUN(wait_then_set<0>, 1).auto_sync(false)(x);
  RUN(wait_then_set<1>, 1).auto_sync(false)(x);
  RUN(wait_then_set<2>, 1).auto_sync(false)(x);
  EXPECT_SILENT();
}

// The whole chain is issued backwards: V and MTE3 stand until the copy at the end has set their flags.
void backwards(GM_ADDR x, GM_ADDR y) {
  WaitFlag<HardEvent::V_MTE3>(0);
  DataCopy(gm(y), ub(1), kN);
  WaitFlag<HardEvent::MTE2_V>(0);
  Adds(ub(1), ub(0), 1.0f, kN);
  PipeBarrier<PIPE_V>();
  Muls(ub(1), ub(1), 3.0f, kN);
  SetFlag<HardEvent::V_MTE3>(0);
  DataCopy(ub(0), gm(x), kN);
  SetFlag<HardEvent::MTE2_V>(0);
}
TEST(EarlyWait, MayStandInAChain) {
  Device<float> x(std::vector<float>(kN, 4.0f)), y(kN);
  RUN(backwards, 1).auto_sync(false)(x, y);
  EXPECT_SILENT();
  EXPECT_EQ(y.values(), std::vector<float>(kN, 15.0f));
}

// Arithmetic of each tile is issued before the load of that tile; two buffers.
void pipelined(GM_ADDR x, GM_ADDR y) {
  constexpr int kTiles = 6;
  for (int id = 0; id < 2; ++id) SetFlag<HardEvent::MTE3_MTE2>(id);
  for (int t = 0; t < kTiles; ++t) {
    const int b = t % 2;
    WaitFlag<HardEvent::MTE2_V>(b);
    Adds(ub(b), ub(b), 1.0f + t, kN);
    SetFlag<HardEvent::V_MTE3>(b);
    WaitFlag<HardEvent::MTE3_MTE2>(b);
    DataCopy(ub(b), gm(x, t * kN), kN);
    SetFlag<HardEvent::MTE2_V>(b);
    WaitFlag<HardEvent::V_MTE3>(b);
    DataCopy(gm(y, t * kN), ub(b), kN);
    SetFlag<HardEvent::MTE3_MTE2>(b);
  }
  for (int id = 0; id < 2; ++id) WaitFlag<HardEvent::MTE3_MTE2>(id);
}
TEST(EarlyWait, IsTimedLikeTheOrderItStandsFor) {
  Device<float> x(std::vector<float>(6 * kN, 1.0f)), y(6 * kN);
  RUN(pipelined, 1).auto_sync(false)(x, y);
  EXPECT_SILENT();
  std::vector<float> expected;
  for (int t = 0; t < 6; ++t) expected.insert(expected.end(), kN, 2.0f + t);
  EXPECT_EQ(y.values(), expected);
  const double cycles = twin::last_timing().cycles;
  RUN(pipelined, 1).auto_sync(false)(x, y);
  EXPECT_EQ(twin::last_timing().cycles, cycles);
  EXPECT_GT(cycles, 300);  // one latency of HBM at least
}

// Registers are those of the issue, not those of the moment when the pipe goes on.
void registers(GM_ADDR x, GM_ADDR y) {
  order<HardEvent::MTE2_V>();
  DataCopy(ub(0), gm(x), kN);
  WaitFlag<HardEvent::MTE2_MTE3>(0);
  SetAtomicAdd<float>();
  DataCopy(gm(y), ub(0), kN);
  SetAtomicNone();
  DataCopy(gm(y, kN), ub(0), kN);
  WaitFlag<HardEvent::MTE2_V>(1);
  Duplicate(ub(2), 1.0f, kN);
  PipeBarrier<PIPE_V>();
  SetMaskNorm();
  SetVectorMask<float>(0, 0xff);
  Adds<float, false>(ub(2), ub(0), 5.0f, MASK_PLACEHOLDER, 1, UnaryRepeatParams());
  SetVectorMask<float>(0, ~0ull);
  SetFlag<HardEvent::V_MTE3>(0);
  SetFlag<HardEvent::MTE2_MTE3>(0);
  SetFlag<HardEvent::MTE2_V>(1);
  WaitFlag<HardEvent::V_MTE3>(0);
  DataCopy(gm(y, 2 * kN), ub(2), kN);
}
TEST(EarlyWait, KeepsTheRegistersOfTheIssue) {
  Device<float> x(std::vector<float>(kN, 4.0f)), y(std::vector<float>(3 * kN, 100.0f));
  RUN(registers, 1).auto_sync(false)(x, y);
  EXPECT_SILENT();
  const auto values = y.values();
  EXPECT_EQ(values[0], 104.0f);
  EXPECT_EQ(values[kN], 4.0f);
  EXPECT_EQ(values[2 * kN], 9.0f);
  EXPECT_EQ(values[2 * kN + 8], 1.0f);
}

// A queue's buffer is given back, and taken again, while the instruction that uses it waits.
void queue_that_stands(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, kN * 4);
  pipe.InitBuffer(out, 1, kN * 4);
  const auto id = static_cast<event_t>(pipe.AllocEventID<HardEvent::MTE3_MTE2>());
  WaitFlag<HardEvent::MTE3_MTE2>(id);
  for (int t = 0; t < 2; ++t) {
    auto a = in.AllocTensor<float>();
    DataCopy(a, gm(x, t * kN), kN);
    in.EnQue(a);
    a = in.DeQue<float>();
    auto b = out.AllocTensor<float>();
    Adds(b, a, 1.0f, kN);
    in.FreeTensor(a);
    out.EnQue(b);
    b = out.DeQue<float>();
    DataCopy(gm(y, t * kN), b, kN);
    out.FreeTensor(b);
  }
  SetFlag<HardEvent::MTE3_MTE2>(id);
  pipe.ReleaseEventID<HardEvent::MTE3_MTE2>(id);
}
// MTE3 gets nothing before the set but what waits, through V, for MTE2: pipes wait for each other.
TEST(EarlyWait, InACircleOfPipesIsReported) {
  Device<float> x(std::vector<float>(2 * kN, 4.0f)), y(2 * kN);
  RUN(queue_that_stands, 1).auto_sync(false)(x, y);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << text(found);
  EXPECT_EQ(found[0].kind, Kind::Deadlock);
  EXPECT_NE(found[0].what.find("pipes wait for each other: MTE2 for MTE3 at "), std::string::npos) << found[0].what;
  EXPECT_EQ(y.values(), std::vector<float>(2 * kN, 5.0f));  // it goes on behind the report
}
void queue_held_back(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  pipe.InitBuffer(in, 1, kN * 4);
  WaitFlag<HardEvent::S_MTE2>(5);
  for (int t = 0; t < 2; ++t) {
    auto a = in.AllocTensor<float>();
    DataCopy(a, gm(x, t * kN), kN);
    in.EnQue(a);
    a = in.DeQue<float>();
    Adds(ub(10 + t), a, 1.0f, kN);
    in.FreeTensor(a);
  }
  SetFlag<HardEvent::S_MTE2>(5);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(10), kN);
  DataCopy(gm(y, kN), ub(11), kN);
}
TEST(EarlyWait, HoldsBackQueues) {
  Device<float> x(std::vector<float>(2 * kN, 4.0f)), y(2 * kN);
  RUN(queue_held_back, 1).auto_sync(false)(x, y);
  EXPECT_SILENT();
  EXPECT_EQ(y.values(), std::vector<float>(2 * kN, 5.0f));
}

// The set for the other core is issued on a pipe that stands: it comes when the pipe goes on.
void cross_set_held_back(GM_ADDR x) {
  if ASCEND_IS_AIV {
    if (GetSubBlockIdx() == 0) {
      Duplicate(ub(0), 7.0f, kN);
      WaitFlag<HardEvent::V_MTE3>(0);
      DataCopy(gm(x), ub(0), kN);
      CrossCoreSetFlag<1, PIPE_MTE3>(1);
      SetFlag<HardEvent::V_MTE3>(0);
      CrossCoreWaitFlag(1);
    } else {
      CrossCoreSetFlag<1, PIPE_MTE3>(1);
      CrossCoreWaitFlag(1);
      DataCopy(ub(0), gm(x), kN);
      order<HardEvent::MTE2_MTE3>();
      DataCopy(gm(x, kN), ub(0), kN);
    }
  }
}
TEST(EarlyWait, HoldsBackCrossCoreFlags) {
  Device<float> x(2 * kN);
  RUN(cross_set_held_back, 1).as(KernelType::MixAic12).auto_sync(false)(x);
  EXPECT_SILENT();
  EXPECT_EQ(x.values(), std::vector<float>(2 * kN, 7.0f));
}

// ---- wrong programs ----
// The instruction that runs late still has to be in order with everything else.
void race_behind_the_wait(GM_ADDR x) {
  WaitFlag<HardEvent::S_V>(0);
  WRONG Adds(ub(1), ub(0), 1.0f, kN);
  OTHER DataCopy(ub(0), gm(x), kN);
  SetFlag<HardEvent::S_V>(0);
}
TEST(EarlyWait, DoesNotHideRaces) {
  Device<float> x(std::vector<float>(kN, 1.0f));
  RUN(race_behind_the_wait, 1).auto_sync(false)(x);
  expect_one(Kind::ReadAfterWrite, true, "nothing orders the two", "AIV 0");
}

// What the scalar unit learns after the issue orders nothing that was issued before.
void scalar_learns_later(GM_ADDR x) {
  DataCopy(ub(0), gm(x), kN);
  OTHER DataCopy(ub(2), gm(x), kN);
  WaitFlag<HardEvent::S_V>(0);
  WRONG Adds(ub(1), ub(2), 1.0f, kN);
  SetFlag<HardEvent::MTE2_S>(0);
  WaitFlag<HardEvent::MTE2_S>(0);
  SetFlag<HardEvent::S_V>(0);
}
TEST(EarlyWait, LearnsWhatItsSetCarries) {
  Device<float> x(std::vector<float>(kN, 1.0f));
  RUN(scalar_learns_later, 1).auto_sync(false)(x);
  EXPECT_SILENT();  // through S_V
}
void scalar_learns_too_late(GM_ADDR x) {
  OTHER DataCopy(ub(0), gm(x), kN);
  WaitFlag<HardEvent::MTE3_V>(0);
  WRONG Adds(ub(1), ub(0), 1.0f, kN);
  SetFlag<HardEvent::MTE3_V>(0);
  order<HardEvent::MTE2_S>();
}
TEST(EarlyWait, LearnsNothingThatComesLater) {
  Device<float> x(std::vector<float>(kN, 1.0f));
  RUN(scalar_learns_too_late, 1).auto_sync(false)(x);
  expect_one(Kind::ReadAfterWrite, true, "nothing orders the two", "AIV 0");
}

void never_set(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  SetFlag<HardEvent::MTE2_V>(1);
  WaitFlag<HardEvent::MTE2_V>(1);
  WRONG WaitFlag<HardEvent::MTE2_V>(0);
  Adds(ub(0), ub(0), 1.0f, kN);
  SetFlag<HardEvent::V_MTE3>(0);
  WaitFlag<HardEvent::V_MTE3>(0);
  DataCopy(gm(y), ub(0), kN);
}
TEST(EarlyWait, ThatNothingSetsIsReportedOnce) {
  Device<float> x(std::vector<float>(kN, 1.0f)), y(kN);
  RUN(never_set, 1).auto_sync(false)(x, y);
  expect_one(Kind::Flag, false, "WaitFlag<HardEvent::MTE2_V>(0): nothing sets this flag", "AIV 0");
  EXPECT_EQ(y.values(), std::vector<float>(kN, 2.0f));
}

template <int kHow>  // 0: a barrier of all pipes; 1: a wait of the scalar unit; 2: a sum; 3: SyncAll
void set_behind_a_stop(GM_ADDR x) {
  Duplicate(ub(0), 1.0f, kN);
  PipeBarrier<PIPE_V>();
  WRONG WaitFlag<HardEvent::MTE2_V>(0);
  Adds(ub(1), ub(0), 1.0f, kN);
  if (kHow == 0) PipeBarrier<PIPE_ALL>();
  if (kHow == 1) order<HardEvent::V_S>();
  if (kHow == 2) ReduceSum(ub(2), ub(0), ub(3), kN);
  if (kHow == 3) SyncAll();
  DataCopy(ub(4), gm(x), kN);
  SetFlag<HardEvent::MTE2_V>(0);
}
TEST(EarlyWait, IsReportedIfTheScalarUnitStopsBeforeTheSet) {
  Device<float> x(std::vector<float>(kN, 1.0f));
  RUN(set_behind_a_stop<0>, 1).auto_sync(false)(x);
  expect_one(Kind::Flag, false, "where the scalar unit waits for pipe V", "AIV 0");
  RUN(set_behind_a_stop<1>, 1).auto_sync(false)(x);
  expect_one(Kind::Flag, false, "where the scalar unit waits for pipe V", "AIV 0");
  RUN(set_behind_a_stop<2>, 1).auto_sync(false)(x);
  expect_one(Kind::Flag, false, "where the scalar unit waits for pipe V", "AIV 0");
  RUN(set_behind_a_stop<3>, 1).as(KernelType::MixAiv10).auto_sync(false)(x);
  expect_one(Kind::Flag, false, "where the scalar unit waits for pipe V", "AIV 0");
}

void scalar_waits_then_sets(GM_ADDR) {
  WRONG WaitFlag<HardEvent::V_S>(0);
  SetFlag<HardEvent::V_S>(0);
  WaitFlag<HardEvent::V_S>(0);
}
TEST(EarlyWait, OfTheScalarUnitHangs) {
  RUN(scalar_waits_then_sets, 1)(nullptr);
  expect_one(Kind::Flag, false, "WaitFlag<HardEvent::V_S>(0): nothing sets this flag", "AIV 0");
}

void other_flag_is_set(GM_ADDR) {
  OTHER SetFlag<HardEvent::MTE2_V>(1);
  WRONG WaitFlag<HardEvent::MTE2_V>(0);
  PipeBarrier<PIPE_ALL>();
  WaitFlag<HardEvent::MTE2_V>(1);
}
TEST(EarlyWait, NamesTheNearestFlag) {
  RUN(other_flag_is_set, 1)(nullptr);
  expect_one(Kind::Flag, true, "the nearest that is set is MTE2_V(1), at ", "AIV 0");
}

// The other core never sets, so this one never reaches its own set.
void behind_a_cross_wait(GM_ADDR) {
  if ASCEND_IS_AIV {
    if (GetSubBlockIdx() == 1) return;
    WaitFlag<HardEvent::MTE2_V>(0);
    CrossCoreSetFlag<1, PIPE_V>(1);
    CrossCoreWaitFlag(1);
    SetFlag<HardEvent::MTE2_V>(0);
  }
}
TEST(EarlyWait, IsNamedInADeadlockOfCores) {
  RUN(behind_a_cross_wait, 1).as(KernelType::MixAic12)(nullptr);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 2u) << text(found);
  ASSERT_TRUE(find(found, Kind::Flag)) << text(found);
  EXPECT_NE(find(found, Kind::Flag)->what.find("WaitFlag<HardEvent::MTE2_V>(0): nothing sets this flag before "),
            std::string::npos);
  EXPECT_TRUE(find(found, Kind::Deadlock)) << text(found);
}

}  // namespace
