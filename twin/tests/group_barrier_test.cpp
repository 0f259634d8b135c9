// SPDX-License-Identifier: Apache-2.0
// GroupBarrier: some vector cores wait for others. And the buffer in GM that UB is spilled to, and the control register.
#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin::KernelType;
using twin::Kind;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

constexpr int kN = 64;
using Barrier = GroupBarrier<PipeMode::MTE3_MODE>;

// Cores 0 and 1 store; cores 2 to 4 add up what those have stored, twice over.
enum class Way { Right, NoWait, EarlyArrive, OneStaysAway };
template <Way kWay>
void hand_over(GM_ADDR data, GM_ADDR out, GM_ADDR messages) {
  const auto id = static_cast<std::uint32_t>(GetBlockIdx());
  Barrier barrier(messages, 2, 3);
  const auto mine = ub<float>(0, kN), other = ub<float>(1024, kN);
  for (int round = 0; round < 2; ++round) {
    const auto at = gm<float>(data + round * 2 * kN * 4, 2 * kN);
    if (id < 2) {
      if (kWay == Way::OneStaysAway && id == 1) return;
      if (kWay == Way::EarlyArrive) barrier.Arrive(id);
      Duplicate(mine, float(10 * round + static_cast<int>(id) + 1), kN);
      order<HardEvent::V_MTE3>();
      DataCopy(at[id * kN], mine, kN);
      order<HardEvent::MTE3_V>();
      if (kWay != Way::EarlyArrive) barrier.Arrive(id);
    } else {
      if (kWay != Way::NoWait) barrier.Wait(id - 2);
      DataCopy(mine, at, kN);
      DataCopy(other, at[kN], kN);
      order<HardEvent::MTE2_V>();
      Add(mine, mine, other, kN);
      order<HardEvent::V_MTE3>();
      DataCopy(gm<float>(out + ((id - 2) * 2 + round) * kN * 4, kN), mine, kN);
      order<HardEvent::MTE3_MTE2>();
      order<HardEvent::V_MTE2>();
    }
  }
}
struct Buffers {
  twin_test::Device<float> data{std::vector<float>(4 * kN, 0.0f)}, out{std::vector<float>(6 * kN, 0.0f)};
  twin_test::Device<int32_t> messages{std::vector<int32_t>(3 * 128, 0)};
};
TEST(GroupBarrier, HandsOverWhatTheOthersStored) {
  Buffers b;
  twin::take_findings();
  RUN(hand_over<Way::Right>, 5).auto_sync(false).as(KernelType::AivOnly)(b.data, b.out, b.messages);
  EXPECT_SILENT();
  const auto got = b.out.values();
  for (int core = 0; core < 3; ++core) {
    for (int k = 0; k < kN; ++k) {
      EXPECT_EQ(got[(core * 2) * kN + k], 3) << core << ", " << k;
      EXPECT_EQ(got[(core * 2 + 1) * kN + k], 23) << core << ", " << k;
    }
  }
}
TEST(GroupBarrier, DoesNotHideARaceBesideIt) {
  Buffers b;
  twin::take_findings();
  RUN(hand_over<Way::NoWait>, 5).auto_sync(false).as(KernelType::AivOnly)(b.data, b.out, b.messages);
  EXPECT_NE(twin_test::find(twin::take_findings(), Kind::GmRace), nullptr);
  RUN(hand_over<Way::EarlyArrive>, 5).auto_sync(false).as(KernelType::AivOnly)(b.data, b.out, b.messages);
  EXPECT_NE(twin_test::find(twin::take_findings(), Kind::GmRace), nullptr);
}
TEST(GroupBarrier, NamesTheArrivalThatNeverComes) {
  Buffers b;
  twin::take_findings();
  RUN(hand_over<Way::OneStaysAway>, 5).auto_sync(false).as(KernelType::AivOnly)(b.data, b.out, b.messages);
  twin_test::expect_found(Kind::Deadlock, "GroupBarrier's Arrive(1)");
}
void wrong(GM_ADDR messages, int what) {
  TPipe pipe;
  TBuf<> all;
  if (what == 3) pipe.InitBuffer(all, 196352);  // all of UB
  Barrier barrier(what == 0 ? messages + 4 : messages, what == 1 ? 0 : 2, what == 2 ? 100 : 1);
  if (what == 4) barrier.Arrive(2);
  if (what == 5) barrier.Wait(1);
}
TEST(GroupBarrier, ReportsWhatCannotBe) {
  twin_test::Device<int32_t> messages(std::vector<int32_t>(512, 0));
  const std::pair<Kind, const char*> said[] = {
      {Kind::Alignment, "512 bytes"},        {Kind::Limit, "0 cores arrive"},
      {Kind::OutOfBounds, "no 51200 bytes"}, {Kind::Capacity, "last 1600 bytes of UB"},
      {Kind::Limit, "Arrive(2) of 2"},       {Kind::Limit, "Wait(1) of 1"}};
  for (int what = 0; what < 6; ++what) {
    twin::take_findings();
    RUN(wrong, 1).as(KernelType::AivOnly)(messages, what);
    twin_test::expect_found(said[what].first, said[what].second);
  }
}

// ---- SPM ----
template <class T>
void spill(GM_ADDR in, GM_ADDR out, GM_ADDR space) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 4096);
  const auto x = buffer.Get<T>();
  GlobalTensor<T> workspace;
  workspace.SetGlobalBuffer((__gm__ T*)space, 1024);
  pipe.InitSpmBuffer(workspace, 1024 * sizeof(T));
  DataCopy(x, gm<T>(in, 128), 128);
  order<HardEvent::MTE2_MTE3>();
  pipe.WriteSpmBuffer(x, 64, 32);                               // the first 64 elements, behind 32 bytes
  pipe.WriteSpmBuffer(x[64], DataCopyParams(2, 1, 1, 0), 512);  // blocks 0 and 2 of the others
  pipe.ReadSpmBuffer(x, 64, 32);                                // in place: it waits for the stores
  order<HardEvent::MTE2_V>();
  Adds(x, x, T(1), 64);
  order<HardEvent::V_MTE2>();
  pipe.ReadSpmBuffer(x[64], DataCopyParams(2, 1, 0, 1), 512);
  order<HardEvent::V_MTE3>();
  order<HardEvent::MTE2_MTE3>(1);
  DataCopy(gm<T>(out, 128), x, 128);
}
template <class T>
void check_spill() {
  std::vector<T> in(128);
  for (int k = 0; k < 128; ++k) in[k] = T(static_cast<float>(k));
  twin_test::Device<T> x(in), y(128), space(std::vector<T>(1024, T(0.0f)));
  twin::take_findings();
  RUN(spill<T>, 1).auto_sync(false).as(KernelType::AivOnly)(x, y, space);
  EXPECT_SILENT();
  const auto got = y.values();
  for (int k = 0; k < 64; ++k) EXPECT_EQ(float(got[k]), k + 1) << k;
  for (int k = 64; k < 128; ++k) EXPECT_EQ(float(got[k]), k) << k;
}
TEST(Spm, SpillsAndFetches) {
  check_spill<half>();
  check_spill<float>();
}
void wrong_spill(GM_ADDR space, int what) {
  TPipe pipe;
  const auto x = ub<float>(0, 64);
  Duplicate(x, 1.0f, 64);
  order<HardEvent::V_MTE3>();
  const auto workspace = gm<float>(space, 64);
  if (what != 0) pipe.InitSpmBuffer(workspace, what == 1 ? 512 : 256);
  if (what == 0 || what == 2) pipe.WriteSpmBuffer(x, 64, what == 2 ? 256 : 0);
  if (what == 3) pipe.WriteSpmBuffer(x, 64, 32);
}
TEST(Spm, ReportsWhatCannotBe) {
  twin_test::Device<float> space(1024);
  const std::pair<Kind, const char*> said[] = {{Kind::Limit, "WriteSpmBuffer without an InitSpmBuffer"},
                                               {Kind::Limit, "beyond its workspace"},
                                               {Kind::Limit, "WriteSpmBuffer at 256 of a buffer of 256 bytes"},
                                               {Kind::OutOfBounds, "of a tensor of 224 bytes"}};
  for (int what = 0; what < 4; ++what) {
    twin::take_findings();
    RUN(wrong_spill, 1).auto_sync(false).as(KernelType::AivOnly)(space, what);
    twin_test::expect_found(said[what].first, said[what].second);
  }
}

// ---- the control register ----
void counts(GM_ADDR out) {
  const auto x = ub<float>(0, 128);
  Duplicate(x, 0.0f, 128);
  const std::int64_t before = GetCtrlSpr<56, 56>();
  SetCtrlSpr<56, 56>(1);
  SetVectorMask<float>(0, 70);  // elements
  PipeBarrier<PIPE_V>();
  Adds<float, false>(x, x, 1.0f, MASK_PLACEHOLDER, 1, UnaryRepeatParams(1, 1, 8, 8));
  const std::int64_t in_between = GetCtrlSpr<56, 56>();
  SetCtrlSpr<56, 56>(0);
  ResetMask();
  SetCtrlSpr<48, 48>(GetCtrlSpr<48, 48>());
  SetCtrlSpr<53, 53>(GetCtrlSpr<53, 53>());
  SetCtrlSpr<59, 59>(GetCtrlSpr<59, 59>());
  order<HardEvent::V_S>();
  x.SetValue(100, static_cast<float>(before * 2 + in_between));
  order<HardEvent::S_MTE3>();
  order<HardEvent::V_MTE3>(1);
  DataCopy(gm<float>(out, 128), x, 128);
}
TEST(ControlRegister, CountsLanesByBit56) {
  twin_test::Device<float> y(128);
  twin::take_findings();
  RUN(counts, 1).auto_sync(false).as(KernelType::AivOnly)(y);
  EXPECT_SILENT();
  const auto got = y.values();
  for (int k = 0; k < 100; ++k) EXPECT_EQ(got[k], k < 70) << k;
  EXPECT_EQ(got[100], 1);
}
void other_modes(GM_ADDR, int what) {
  if (what == 0) SetCtrlSpr<48, 48>(0);
  if (what == 1) SetCtrlSpr<53, 53>(1);
  if (what == 2) SetCtrlSpr<59, 59>(1);
}
TEST(ControlRegister, SaysWhatTheTwinDoesNotCompute) {
  twin_test::Device<float> x(8);
  const char* const said[] = {"keep Inf and NaN", "integers that wrap", "integers that saturate"};
  for (int what = 0; what < 3; ++what) {
    twin::take_findings();
    RUN(other_modes, 1).as(KernelType::AivOnly)(x, what);
    twin_test::expect_found(Kind::Limit, said[what]);
  }
}

}  // namespace
