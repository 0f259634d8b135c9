// SPDX-License-Identifier: Apache-2.0
// The mode that times without computing: what it skips, what it does not, and what it says of branches on skipped values.
#include <cmath>

#include "support.hpp"
#include "twin_hint.h"

using namespace AscendC;

namespace {

LocalTensor<float> ub(int block) { return LocalTensor<float>(TPosition::VECCALC, block * 1024, 256); }
template <class T>
LocalTensor<T> ub_as(int block) {
  return LocalTensor<T>(TPosition::VECCALC, block * 1024, 1024 / sizeof(T));
}
template <class T>
GlobalTensor<T> gm(GM_ADDR p) {
  GlobalTensor<T> t;
  t.SetGlobalBuffer((__gm__ T*)p);
  return t;
}
template <HardEvent event>
void Order() {
  SetFlag<event>(EVENT_ID0);
  WaitFlag<event>(EVENT_ID0);
}

class TimingOnly : public testing::Test {
 protected:
  void SetUp() override { twin::settings().timing_only = true; }
  void TearDown() override { twin::settings().timing_only = false; }
  // The one finding of the kind, with the two lines.
  static void expect_named(int line, int other, const char* part) {
    const auto all = twin::take_findings();
    ASSERT_EQ(all.size(), 1u) << twin_test::text(all);
    EXPECT_EQ(all[0].kind, twin::Kind::SkippedData);
    EXPECT_TRUE(twin_test::ends_with(all[0].line_a, twin_test::at(line))) << to_text(all[0]);
    EXPECT_TRUE(twin_test::ends_with(all[0].line_b, twin_test::at(other))) << to_text(all[0]);
    EXPECT_NE(all[0].what.find(part), std::string::npos) << to_text(all[0]);
  }
};
#define LAUNCH(kernel, ...) RUN(kernel, 1).as(twin::KernelType::AivOnly)(__VA_ARGS__)

int read_line = 0, branch_line = 0;
enum class Use { Branch, Hinted, Operand, Count, Address, IntegerBranch, Infinite } use;

// Loads, takes the largest, and does something with it.
void reads_a_value(GM_ADDR x) {
  DataCopy(ub(0), gm<float>(x), 256);
  Order<HardEvent::MTE2_V>();
  ReduceMax(ub(1), ub(0), ub(2), 256, true);
  Order<HardEvent::V_S>();
  const float largest = ub(1).GetValue(0);
  read_line = __LINE__ - 1;
  const std::uint32_t where = ub_as<std::uint32_t>(1).GetValue(1);
  if (use == Use::Branch && largest > 0.5f) {
    Exp(ub(3), ub(0), 256), branch_line = __LINE__;
  } else if (use == Use::Hinted && TWIN_HINT(ub(1).GetValue(0), 0.0f) > 0.5f) {
    Exp(ub(3), ub(0), 256);
  } else if (use == Use::Operand) {
    Muls(ub(3), ub(0), 1.0f / largest, 256);
  } else if (use == Use::Count) {
    Muls(ub(3), ub(0), 2.0f, largest > 1e30f ? 64 : 256), branch_line = __LINE__;
  } else if (use == Use::Address) {
    DataCopy(ub(3), gm<float>(x)[where * 8], 8), branch_line = __LINE__;
  } else if (use == Use::IntegerBranch && where == 2) {
    Exp(ub(3), ub(0), 256);
  } else if (use == Use::Infinite && largest == -INFINITY) {
    Duplicate(ub(3), 0.0f, 256);
  }
  PipeBarrier<PIPE_ALL>(), branch_line = branch_line ? branch_line : __LINE__;
}
const twin_test::Device<float>& zeros() {
  static const auto* all = new twin_test::Device<float>(std::vector<float>(256));
  return *all;
}
void launch(Use what) {
  use = what;
  branch_line = 0;
  LAUNCH(reads_a_value, zeros());
}

TEST_F(TimingOnly, ABranchOnASkippedValueIsNamed) {
  launch(Use::Branch);
  // Not the read at the line below it, which is the last before the branch.
  expect_named(read_line, branch_line, "a branch, count or address depends on the value read here");
}
TEST_F(TimingOnly, AnAddressThatDependsOnOneIsNamed) {
  launch(Use::Address);
  expect_named(read_line + 2, branch_line, "with other sizes or addresses of it");
}
TEST_F(TimingOnly, ACountThatDependsOnOneIsNamed) {
  launch(Use::Count);
  expect_named(read_line, branch_line, "with other sizes or addresses of it");
}
TEST_F(TimingOnly, BranchesOnIntegersAndOnInfinityAreNoticed) {
  for (const Use what : {Use::IntegerBranch, Use::Infinite}) {
    launch(what);
    const auto all = twin::take_findings();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].kind, twin::Kind::SkippedData);
  }
}
TEST_F(TimingOnly, ScalarsThatDecideNothingAreFine) {
  launch(Use::Operand);
  EXPECT_SILENT();
}
TEST_F(TimingOnly, AHintSaysWhereToGo) {
  launch(Use::Hinted);
  EXPECT_SILENT();
  for (const auto& l : twin::last_timing().lines) EXPECT_NE(l.name, "Exp");
  twin::settings().timing_only = false;  // and is the value itself otherwise
  launch(Use::Hinted);
  EXPECT_SILENT();
}

// ---- what is not skipped ----
void follows_a_table(GM_ADDR table, GM_ADDR x, GM_ADDR out) {
  const auto places = ub_as<std::int32_t>(0);
  DataCopy(places, gm<std::int32_t>(table), 8);
  Order<HardEvent::MTE2_V>();
  Adds(places, places, 1, 8);
  Order<HardEvent::V_S>();
  for (int i = 0; i < 8; ++i) {
    const int place = places.GetValue(i);
    if (place == 3) DataCopy(ub(1), gm<float>(x)[place * 8], 8);
    gm<std::int32_t>(out).SetValue(i * 16, place);
  }
  Order<HardEvent::V_MTE3>();
  Order<HardEvent::S_MTE3>();
  SetAtomicAdd<std::int32_t>();
  DataCopy(gm<std::int32_t>(out)[128], places, 8);  // a counter: it must count this launch once
  SetAtomicNone();
  Order<HardEvent::MTE2_S>();
  ub(1).GetValue(0);  // skipped: so the launch runs again and again
}
TEST_F(TimingOnly, IndexDataIsComputedAndGmChangesOnce) {
  const twin_test::Device<std::int32_t> table(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  const twin_test::Device<std::int32_t> out(std::vector<std::int32_t>(136, 100));
  LAUNCH(follows_a_table, table, zeros(), out);
  EXPECT_SILENT();
  const auto values = out.values();
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(values[i * 16], i + 1);
    EXPECT_EQ(values[128 + i], 100 + i + 1);
  }
  std::size_t copies = 0;
  for (const auto& l : twin::last_timing().lines) copies += l.pipe == "MTE2";
  EXPECT_EQ(copies, 2u);
}

int cast_line = 0, gather_line = 0;
void gathers_by_values(GM_ADDR x) {
  DataCopy(ub(0), gm<float>(x), 256);
  Order<HardEvent::MTE2_V>();
  Cast(ub_as<std::int32_t>(1), ub(0), RoundMode::CAST_RINT, 64), cast_line = __LINE__;
  PipeBarrier<PIPE_V>();
  Gather(ub(2), ub(0), ub_as<std::uint32_t>(1), 0, 64), gather_line = __LINE__;
}
TEST_F(TimingOnly, AddressesMadeOfSkippedValuesAreNamed) {
  LAUNCH(gathers_by_values, zeros());
  expect_named(gather_line, cast_line, "uses as an address a value that the timing-only mode has skipped");
}

// Nothing needs to be there: a shape whose values would take hours to make up.
void streams(GM_ADDR x, GM_ADDR y) {
  for (int i = 0; i < 4; ++i) {
    DataCopy(ub(0), gm<float>(x)[i * 256], 256);
    Order<HardEvent::MTE2_V>();
    Adds(ub(0), ub(0), 1.0f, 256);
    Order<HardEvent::V_MTE3>();
    DataCopy(gm<float>(y)[i * 256], ub(0), 256);
    Order<HardEvent::MTE3_MTE2>();
  }
}
TEST_F(TimingOnly, InputsNeedNoValuesAndOutputsKeepTheirs) {
  const twin_test::Device<float> x(1024), y(std::vector<float>(1024, 7.0f));
  LAUNCH(streams, x, y);
  EXPECT_SILENT();
  EXPECT_EQ(y.values(), std::vector<float>(1024, 7.0f));
}

}  // namespace
