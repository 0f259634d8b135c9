// SPDX-License-Identifier: Apache-2.0
// Planted bugs: order between pipes, and through GM between cores.
// clang-format off: reports are compared with the lines that the kernels are written on
#include "bug_pairs.hpp"

using namespace AscendC;
using namespace twin_test;
using twin::KernelType;
using twin::Kind;

namespace {

template <bool kFixed>
void load_then_use(GM_ADDR x, GM_ADDR y) {
  OTHER DataCopy(ub(0), gm(x), kN);
  if (kFixed) order<HardEvent::MTE2_V>();
  WRONG Adds(ub(1), ub(0), 1.0f, kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(1), kN);
}
template <bool kFixed>
void use_then_store(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  OTHER Adds(ub(1), ub(0), 1.0f, kN);
  if (kFixed) order<HardEvent::V_MTE3>();
  WRONG DataCopy(gm(y), ub(1), kN);
}
template <bool kFixed>
void reload_while_in_use(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  OTHER Adds(ub(1), ub(0), 1.0f, kN);
  if (kFixed) order<HardEvent::V_MTE2>();
  WRONG DataCopy(ub(0), gm(x), kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(1), kN);
}
template <bool kFixed>
void dependent_vectors(GM_ADDR, GM_ADDR y) {
  Duplicate(ub(0), 1.0f, kN);
  PipeBarrier<PIPE_V>();
  OTHER Adds(ub(1), ub(0), 1.0f, kN);
  if (kFixed) PipeBarrier<PIPE_V>();
  WRONG Muls(ub(2), ub(1), 2.0f, kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(2), kN);
}
template <bool kFixed>
void overlapping_loads(GM_ADDR x, GM_ADDR y) {
  OTHER DataCopy(ub(0), gm(x), kN);
  if (kFixed) PipeBarrier<PIPE_MTE2>();
  WRONG DataCopy(ub(0)[8], gm(x), kN / 2);
  order<HardEvent::MTE2_MTE3>();
  DataCopy(gm(y), ub(0), kN);
}
template <bool kFixed>
void scalar_too_early(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  OTHER ReduceMax(ub(1), ub(0), ub(2), kN);
  if (kFixed) order<HardEvent::V_S>();
  WRONG const float largest = ub(1).GetValue(0);
  Adds(ub(0), ub(0), -largest, kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(0), kN);
}

// ---- 2. GM between cores ----
template <bool kFixed>
void both_store_there(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_MTE3>();
  OTHER WRONG DataCopy(gm(y, kFixed ? GetBlockIdx() * kN : GetBlockIdx() * 8, kN), ub(0), kN);
}
template <bool kFixed>
void statistics_of_8_bytes(GM_ADDR x, GM_ADDR y) {  // an article's stage 1: (max, sum) of each block side by side
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_MTE3>();
  GlobalTensor<float> out = gm(y, GetBlockIdx() * 2, 8);
  if (kFixed) {
    DataCopyPad(out, ub(0), DataCopyExtParams(1, 8, 0, 0, 0));
  } else {
    WRONG OTHER DataCopy(out, ub(0), 2);
  }
}
template <bool kFixed>
void read_what_the_other_wrote(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_MTE3>();
  if (GetBlockIdx() == 0) {
    OTHER DataCopy(gm(y), ub(0), kN);
  }
  if (kFixed) SyncAll();
  if (GetBlockIdx() == 1) {
    WRONG DataCopy(ub(1), gm(y), kN);
  }
}

template <bool kFixed>
void stores_over_each_other(GM_ADDR x, GM_ADDR y) {  // of one core, one pipe
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_MTE3>();
  OTHER DataCopy(gm(y), ub(0), kN);
  if (kFixed) PipeBarrier<PIPE_MTE3>();
  WRONG DataCopy(gm(y, 8), ub(0), kN);
}
template <bool kFixed>
void read_back_too_early(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_MTE3>();
  OTHER DataCopy(gm(y), ub(0), kN);
  if (kFixed) order<HardEvent::MTE3_MTE2>();
  WRONG DataCopy(ub(1), gm(y), kN);
}
template <bool kFixed>
void pipe_not_covered_by_the_set(GM_ADDR x, GM_ADDR y) {  // the flag is set on a pipe that has nothing to do with the store
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_MTE3>();
  if (GetSubBlockIdx() == 0) {
    OTHER DataCopy(gm(y), ub(0), kN);
  }
  CrossCoreSetFlag<1, kFixed ? PIPE_MTE3 : PIPE_V>(1);
  CrossCoreWaitFlag(1);
  if (GetSubBlockIdx() == 1) {
    WRONG DataCopy(ub(1), gm(y), kN);
  }
}

// On the two vector cores of a block; the cube core has nothing to do.
template <bool kFixed>
void on_vector_cores(GM_ADDR x, GM_ADDR y) {
  if (g_coreType == AIV) pipe_not_covered_by_the_set<kFixed>(x, y);
}
template <bool kFixed>
void vector_pair(GM_ADDR x, GM_ADDR y) {
  RUN(on_vector_cores<kFixed>, 1).as(KernelType::MixAic12).auto_sync(false)(x, y);
}

const Case kCases[] = {
    PAIR_OF(load_then_use, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(use_then_store, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(reload_while_in_use, Kind::WriteAfterRead, true, 1, kVector),
    PAIR_OF(dependent_vectors, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(overlapping_loads, Kind::WriteAfterWrite, true, 1, kVector),
    PAIR_OF(scalar_too_early, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(both_store_there, Kind::GmRace, true, 2, kVector),
    PAIR_OF(statistics_of_8_bytes, Kind::GmRace, true, 2, kVector),
    PAIR_OF(read_what_the_other_wrote, Kind::GmRace, true, 2, kHard),
    PAIR_OF(stores_over_each_other, Kind::WriteAfterWrite, true, 1, kVector),
    PAIR_OF(read_back_too_early, Kind::ReadAfterWrite, true, 1, kVector),
    {"pipe_not_covered_by_the_set", Kind::GmRace, true, [](GM_ADDR a, GM_ADDR b) { vector_pair<false>(a, b); },
     [](GM_ADDR a, GM_ADDR b) { vector_pair<true>(a, b); }},
};
INSTANTIATE_TEST_SUITE_P(Order, Bug, testing::ValuesIn(kCases), name_of_case);

// ---- auto-sync ----
TEST(AutoSync, AddsWhatTheDeviceCompilerAddsAndTimesIt) {
  twin_test::Device<float> x(std::vector<float>(kN, 1.0f)), y(std::vector<float>(kN, 0.0f));
  RUN(dependent_vectors<false>, 1).as(kVector).auto_sync(true)(x, y);
  EXPECT_SILENT();
  const double added = twin::last_timing().cycles;
  RUN(dependent_vectors<true>, 1).as(kVector).auto_sync(false)(x, y);
  EXPECT_EQ(added, twin::last_timing().cycles);
}
TEST(AutoSync, NeverOrdersCopiesAndVectors) {
  twin_test::Device<float> x(std::vector<float>(kN, 1.0f)), y(std::vector<float>(kN, 0.0f));
  RUN(load_then_use<false>, 1).as(kVector).auto_sync(true)(x, y);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << twin_test::text(found);
  EXPECT_EQ(found[0].kind, Kind::ReadAfterWrite);
}

}  // namespace
