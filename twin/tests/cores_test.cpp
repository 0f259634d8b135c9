// SPDX-License-Identifier: Apache-2.0
// Cores that wait for each other: deadlocks and who should have ended them, flags out of their order, SyncAll, atomic sums.
#include "planted.hpp"

using namespace AscendC;
using namespace twin_test;
using twin::KernelType;
using twin::Kind;

namespace {

constexpr int kN = 64;
GlobalTensor<float> gm(GM_ADDR address, int first = 0, int count = kN) { return floats(address, first, count); }
LocalTensor<float> ub(int tile) { return LocalTensor<float>(TPosition::VECCALC, tile * kN * 4, kN); }

// ---- deadlocks ----
template <bool kFixed>
void set_too_seldom(GM_ADDR) {
  if ASCEND_IS_AIC {
    for (int i = 0; i < (kFixed ? 3 : 2); ++i) {
      OTHER CrossCoreSetFlag<2, PIPE_FIX>(3);
    }
  } else {
    for (int i = 0; i < 3; ++i) {
      WRONG CrossCoreWaitFlag(3);
    }
  }
}
template <bool kFixed>
void set_by_another_id(GM_ADDR) {
  if ASCEND_IS_AIC {
    OTHER CrossCoreSetFlag<2, PIPE_FIX>(kFixed ? 4 : 5);
    if (!kFixed) CrossCoreWaitFlag(5);
  } else {
    if (!kFixed) CrossCoreSetFlag<2, PIPE_MTE3>(5);
    WRONG CrossCoreWaitFlag(4);
    if (!kFixed) CrossCoreWaitFlag(5);
  }
}
template <bool kFixed>
void one_of_two_sets(GM_ADDR) {
  if ASCEND_IS_AIV {
    if (kFixed || GetSubBlockIdx() == 0) {
      OTHER CrossCoreSetFlag<2, PIPE_MTE3>(1);
    }
  } else {
    WRONG CrossCoreWaitFlag(1);
  }
}
template <bool kFixed>
void some_leave_before_the_sync(GM_ADDR) {
  if (!kFixed && GetBlockIdx() == 2) return;
  WRONG SyncAll();
}
void each_waits_first(GM_ADDR) {
  if ASCEND_IS_AIC {
    OTHER CrossCoreWaitFlag(1);
    CrossCoreSetFlag<2, PIPE_FIX>(2);
  } else {
    WRONG CrossCoreWaitFlag(2);
    CrossCoreSetFlag<2, PIPE_MTE3>(1);
  }
}

TEST(Deadlock, SaysHowOftenTheFlagWasSet) {
  RUN(set_too_seldom<false>, 1).as(KernelType::MixAic11)(nullptr);
  expect_one(Kind::Deadlock, true,
             "cross-core flag 3 (mode 2), which AIC 0 should have set: it has done so 2 times, last at ",
             "AIV 0 against AIC 0");
  RUN(set_too_seldom<true>, 1).as(KernelType::MixAic11)(nullptr);
  EXPECT_SILENT();
}
TEST(Deadlock, NamesTheNearestSet) {
  RUN(set_by_another_id<false>, 1).as(KernelType::MixAic11)(nullptr);
  const auto found = twin::take_findings();
  const auto* f = twin_test::find(found, Kind::Deadlock);
  ASSERT_NE(f, nullptr) << twin_test::text(found);
  EXPECT_TRUE(twin_test::ends_with(f->line_a, twin_test::at(wrong_line)) &&
              twin_test::ends_with(f->line_b, twin_test::at(other_line)))
      << to_text(*f);
  EXPECT_NE(f->what.find("its nearest set is that of another flag or mode, at "), std::string::npos) << f->what;
  RUN(set_by_another_id<true>, 1).as(KernelType::MixAic11)(nullptr);
  EXPECT_SILENT();
}
TEST(Deadlock, NamesTheOneOfTheGroupThatIsMissing) {
  RUN(one_of_two_sets<false>, 1).as(KernelType::MixAic12)(nullptr);
  expect_one(Kind::Deadlock, false, "which AIV 1 should have set: it has set none, and has ended", "AIC 0 against AIV 1");
  RUN(one_of_two_sets<true>, 1).as(KernelType::MixAic12)(nullptr);
  EXPECT_SILENT();
}
TEST(Deadlock, NamesWhoDidNotComeToSyncAll) {
  RUN(some_leave_before_the_sync<false>, 4).as(KernelType::MixAiv10)(nullptr);
  expect_one(Kind::Deadlock, false,
             "waits for ever for SyncAll, which AIV 2 should have set: it has set none, and has ended",
             "AIV 0 against AIV 2");
  RUN(some_leave_before_the_sync<true>, 4).as(KernelType::MixAiv10)(nullptr);
  EXPECT_SILENT();
}
TEST(Deadlock, ShowsACycle) {
  RUN(each_waits_first, 1).as(KernelType::MixAic11)(nullptr);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 2u) << twin_test::text(found);
  EXPECT_TRUE(twin_test::ends_with(found[1].line_a, twin_test::at(wrong_line))) << to_text(found[1]);
  EXPECT_TRUE(twin_test::ends_with(found[1].line_b, twin_test::at(other_line))) << to_text(found[1]);
  EXPECT_NE(found[1].what.find("and waits itself for cross-core flag 1 at "), std::string::npos) << found[1].what;
}

template <bool kFixed>
void waits_for_a_block(GM_ADDR x) {
  GlobalTensor<int32_t> flags;
  flags.SetGlobalBuffer((__gm__ int32_t*)x, 64);
  const LocalTensor<int32_t> scratch(TPosition::VECCALC, 0, 8);
  if (GetBlockIdx() == 0) {
    OTHER IBSet(flags, scratch, 0, kFixed ? 1 : 0);
  } else {
    WRONG IBWait(flags, scratch, 0, 1);
  }
}
TEST(Deadlock, OfBlocksNamesTheBlock) {
  twin_test::Device<int32_t> x(std::vector<int32_t>(64, 0));
  RUN(waits_for_a_block<false>, 2).as(KernelType::AivOnly)(x);
  expect_one(Kind::Deadlock, true,
             "IBSet of block 0, event 1, which AIV 0 should have set: its nearest set is that of another",
             "AIV 1 against AIV 0");
  RUN(waits_for_a_block<true>, 2).as(KernelType::AivOnly)(x);
  EXPECT_SILENT();
}

template <bool kClean>
void polls_for_ever(GM_ADDR x) {
  if (GetBlockIdx() == 1) return;
  float value = 0;
  while (value != 1.0f) {
    if (kClean) DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(gm(x));
    WRONG value = gm(x).GetValue(0);
  }
}
TEST(Deadlock, OfALoopThatWaitsForAValue) {
  twin_test::Device<float> x(std::vector<float>(kN, 0.0f));
  RUN(polls_for_ever<true>, 2).as(KernelType::AivOnly)(x);
  expect_one(Kind::Deadlock, false, "AIV 0 reads one value of GM again and again", "AIV 0");
  RUN(polls_for_ever<false>, 2).as(KernelType::AivOnly)(x);
  expect_one(Kind::Deadlock, false, "AIV 0 reads one value of GM again and again", "AIV 0");
}

// ---- sets are not ordered among themselves ----
template <bool kFixed>
void one_id_for_two_pipes(GM_ADDR x) {
  if ASCEND_IS_AIV {
    if (GetSubBlockIdx() == 0) {
      Duplicate(ub(0), 1.0f, kN);
      order<HardEvent::V_MTE3>();
      OTHER DataCopy(gm(x), ub(0), kN);
      CrossCoreSetFlag<1, PIPE_MTE3>(1);
      CrossCoreSetFlag<1, PIPE_V>(kFixed ? 2 : 1);
      CrossCoreWaitFlag(1);
      CrossCoreWaitFlag(kFixed ? 2 : 1);
    } else {
      CrossCoreSetFlag<1, PIPE_MTE3>(1);
      CrossCoreSetFlag<1, PIPE_V>(kFixed ? 2 : 1);
      CrossCoreWaitFlag(1);
      WRONG DataCopy(ub(0), gm(x), kN);
      CrossCoreWaitFlag(kFixed ? 2 : 1);
    }
  }
}
TEST(CrossCoreFlag, OfTwoPipesUnderOneIdMayBeEither) {
  twin_test::Device<float> x(std::vector<float>(kN, 1.0f));
  RUN(one_id_for_two_pipes<false>, 1).as(KernelType::MixAic12)(x);
  expect_one(Kind::GmRace, true, "reads what MTE3", "AIV 1 against AIV 0");
  RUN(one_id_for_two_pipes<true>, 1).as(KernelType::MixAic12)(x);
  EXPECT_SILENT();
}

// ---- flags by the compiler's own names ----
template <bool kFixed>
void raw_flag_of_sync_all(GM_ADDR) {
  OTHER ffts_cross_core_sync(PIPE_MTE3, 1 | 0 << 4 | (kFixed ? 10 : 12) << 8);
  wait_flag_dev(kFixed ? 10 : 12);
  WRONG SyncAll();
}
void raw_flags_up_to_15(GM_ADDR) {
  for (int id = 0; id < 16; ++id) {
    ffts_cross_core_sync(PIPE_MTE3, 1 | 0 << 4 | id << 8);
    wait_flag_dev(id);
  }
}
TEST(CrossCoreFlag, OfSyncAllIsFreeWhereNobodyCallsThat) {
  RUN(raw_flags_up_to_15, 3).as(KernelType::MixAiv10)(nullptr);
  EXPECT_SILENT();
  RUN(raw_flag_of_sync_all<false>, 1).as(KernelType::MixAiv10)(nullptr);
  expect_one(Kind::Flag, true, "flag 12 between cores is one of those that SyncAll sets itself", "AIV 0");
  RUN(raw_flag_of_sync_all<true>, 3).as(KernelType::MixAiv10)(nullptr);
  EXPECT_SILENT();
}

// ---- SyncAll among some ----
void soft_sync_of_three(GM_ADDR x) {
  GlobalTensor<int32_t> workspace;
  workspace.SetGlobalBuffer((__gm__ int32_t*)x, 64);
  if (GetBlockIdx() < 3) SyncAll(workspace, LocalTensor<int32_t>(TPosition::VECCALC, 0, 64), 3);
}
TEST(SyncAll, OfTheFirstCoresNeedsOnlyThem) {
  twin_test::Device<float> x(std::vector<float>(kN, 0.0f));
  RUN(soft_sync_of_three, 5)(x);
  EXPECT_SILENT();
}
void hard_sync(GM_ADDR) { WRONG SyncAll(); }
TEST(SyncAll, OfMoreBlocksThanCoresIsReportedAndGoesOn) {
  RUN(hard_sync, 49).as(KernelType::MixAiv10)(nullptr);
  expect_one(Kind::KernelType, false, "waits for all 49 blocks of the launch, but the device runs 48 at once", "AIV 0");
  RUN(hard_sync, 48).as(KernelType::MixAiv10)(nullptr);
  EXPECT_SILENT();
}

// ---- TPipe and queues ----
template <bool kFixed>
void own_flag_of_the_pipe(GM_ADDR) {
  OTHER TPipe pipe;
  const int id = kFixed ? pipe.AllocEventID<HardEvent::M_MTE1>() : 1;
  WRONG SetFlag<HardEvent::M_MTE1>(id);
  WaitFlag<HardEvent::M_MTE1>(id);
  if (!kFixed) SetFlag<HardEvent::M_MTE1>(id);  // so that the TPipe finds what it waits for
}
TEST(TPipe, OfACubeCoreHoldsFlagsOfItsOwn) {
  RUN(own_flag_of_the_pipe<false>, 1).as(KernelType::AicOnly)(nullptr);
  expect_one(Kind::Flag, true, "SetFlag<HardEvent::M_MTE1>(1) while the flag is still set", "AIC 0");
  RUN(own_flag_of_the_pipe<true>, 1).as(KernelType::AicOnly)(nullptr);
  EXPECT_SILENT();
}
template <int kDepth>
void two_in_a_row(GM_ADDR x) {
  TPipe pipe;
  TQue<TPosition::VECIN, kDepth> in;
  pipe.InitBuffer(in, 2, kN * 4);
  LocalTensor<float> a = in.template AllocTensor<float>(), b = in.template AllocTensor<float>();
  DataCopy(a, gm(x), kN);
  OTHER in.EnQue(a);
  DataCopy(b, gm(x), kN);
  WRONG in.EnQue(b);
  for (int i = 0; i < 2; ++i) {
    LocalTensor<float> t = in.template DeQue<float>();
    in.FreeTensor(t);
  }
}
TEST(Queue, EnQuePastItsDepthIsReported) {
  twin_test::Device<float> x(std::vector<float>(kN, 1.0f));
  RUN(two_in_a_row<1>, 1)(x);
  expect_one(Kind::Queue, true, "EnQue of 2 tensors one after the other into a queue of depth 1", "AIV 0");
  RUN(two_in_a_row<2>, 1)(x);
  EXPECT_SILENT();
}
template <int kTensors>
void many_at_once(GM_ADDR) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  OTHER pipe.InitBuffer(in, 10, 32);
  LocalTensor<float> t[10];
  for (int i = 0; i < kTensors; ++i) {
    WRONG t[i] = in.AllocTensor<float>();
  }
  for (int i = 0; i < kTensors; ++i) in.FreeTensor(t[i]);
}
TEST(Queue, NineTensorsOfOnePositionAreReported) {
  RUN(many_at_once<9>, 1)(nullptr);
  expect_one(Kind::Queue, true, "AllocTensor of a tensor number 9 at position VECIN", "AIV 0");
  RUN(many_at_once<8>, 1)(nullptr);
  EXPECT_SILENT();
}

// ---- atomic sums ----
template <class T, bool kOneByOne>
void add_atomically(GM_ADDR x, GM_ADDR y) {
  LocalTensor<T> t(TPosition::VECCALC, 0, kN);
  GlobalTensor<T> in, out;
  in.SetGlobalBuffer((__gm__ T*)x, 8 * kN);
  out.SetGlobalBuffer((__gm__ T*)y, kN);
  DataCopy(t, in[GetBlockIdx() * kN], kN);
  order<HardEvent::MTE2_MTE3>();
  for (int turn = 0; turn < (kOneByOne ? GetBlockNum() : 1); ++turn) {
    if (!kOneByOne || turn == GetBlockIdx()) {
      SetAtomicAdd<T>();
      WRONG OTHER DataCopy(out, t, kN);
      SetAtomicNone();
    }
    if (kOneByOne) SyncAll();
  }
}
template <class T>
std::vector<T> addends(bool exact) {
  std::vector<T> v(8 * kN);
  for (int i = 0; i < 8 * kN; ++i)
    v[i] = T(exact ? float(i / kN + 1) : 0.1f * float(i / kN * 7 % 5 + 1) + float(i % kN) * 0.01f);
  return v;
}
template <class T, bool kOneByOne>
std::vector<T> sum(const std::vector<T>& values, int cores, std::uint64_t seed) {
  twin_test::Device<T> x(values), y(std::vector<T>(kN, T(0)));
  twin::settings().shuffle = seed;
  RUN((add_atomically<T, kOneByOne>), cores).as(KernelType::MixAiv10).auto_sync(false)(x, y);
  twin::settings().shuffle = 0;
  return y.values();
}
TEST(AtomicOrder, OfFloatsThatRoundIsReportedAndShuffled) {
  const auto first = sum<float, false>(addends<float>(false), 8, 0);
  expect_one(Kind::AtomicOrder, true, "depends on which comes first", "AIV 2 against AIV 1");
  bool differs = false;
  for (std::uint64_t seed = 1; seed < 8; ++seed) differs |= sum<float, false>(addends<float>(false), 8, seed) != first;
  twin::take_findings();
  EXPECT_TRUE(differs);
  EXPECT_EQ((sum<float, false>(addends<float>(false), 8, 5)), (sum<float, false>(addends<float>(false), 8, 5)));
  twin::take_findings();
}
TEST(AtomicOrder, OfExactSumsIsSilent) {  // small integers; two addends; integers
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    EXPECT_EQ((sum<float, false>(addends<float>(true), 8, seed))[0], 36.0f);
    EXPECT_EQ((sum<float, false>(addends<float>(false), 2, seed)), (sum<float, false>(addends<float>(false), 2, 0)));
    EXPECT_EQ((sum<int32_t, false>(addends<int32_t>(true), 8, seed))[0], 36);
    EXPECT_EQ(float((sum<half, false>(addends<half>(true), 8, seed))[0]), 36.0f);
    EXPECT_SILENT();
  }
}
TEST(AtomicOrder, OfCoresThatTakeTurnsIsSilent) {
  const auto first = sum<float, true>(addends<float>(false), 8, 0);
  for (std::uint64_t seed = 1; seed < 4; ++seed) EXPECT_EQ((sum<float, true>(addends<float>(false), 8, seed)), first);
  EXPECT_SILENT();
}
TEST(Settings, AllowedKindsAreNotReported) {
  twin::settings().allowed = {"atomic-order"};
  sum<float, false>(addends<float>(false), 8, 0);
  twin::settings().allowed.clear();
  EXPECT_SILENT();
}

}  // namespace
