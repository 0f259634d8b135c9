// SPDX-License-Identifier: Apache-2.0
// Launches on several streams: what orders two of them, and what is reported if nothing does.
#include "planted.hpp"

using namespace AscendC;
using namespace twin_test;
using twin::Kind;

namespace {

constexpr int kN = 256;

void fill(GM_ADDR y) {
  Duplicate(ub<float>(0, kN), 1.0f, kN);
  order<HardEvent::V_MTE3>();
  OTHER DataCopy(gm<float>(y, kN), ub<float>(0, kN), kN);
}
void take(GM_ADDR x) {
  WRONG DataCopy(ub<float>(0, kN), gm<float>(x, kN), kN);
  PipeBarrier<PIPE_ALL>();
}
void add(GM_ADDR y) {
  Duplicate(ub<float>(0, kN), 1.0f, kN);
  order<HardEvent::V_MTE3>();
  SetAtomicAdd<float>();
  DataCopy(gm<float>(y, kN), ub<float>(0, kN), kN);
  SetAtomicNone();
}

class Streams : public testing::Test {
 protected:
  Streams() {
    aclrtCreateStream(&a_);
    aclrtCreateStream(&b_);
    aclrtCreateEvent(&event_);
    twin::take_findings();
  }
  ~Streams() override {
    aclrtDestroyEvent(event_);
    aclrtDestroyStream(a_);
    aclrtDestroyStream(b_);
  }
  void filled(aclrtStream stream) { RUN(fill, 1).on(stream).auto_sync(false)(y_); }
  void taken(aclrtStream stream) { RUN(take, 1).on(stream).auto_sync(false)(y_); }

  Device<float> y_{std::vector<float>(2 * kN, 0.0f)};
  aclrtStream a_ = nullptr, b_ = nullptr;
  aclrtEvent event_ = nullptr;
};

TEST_F(Streams, ThatNothingOrdersRace) {
  filled(a_);
  taken(b_);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << text(found);
  EXPECT_EQ(found[0].kind, Kind::GmRace);
  EXPECT_NE(found[0].what.find("::take at "), std::string::npos) << found[0].what;
  EXPECT_TRUE(ends_with(found[0].line_a, at(wrong_line))) << found[0].line_a;
  EXPECT_TRUE(ends_with(found[0].line_b, at(other_line))) << found[0].line_b;
  EXPECT_NE(found[0].range.find("[0x0, 0x400)"), std::string::npos) << found[0].range;
  EXPECT_EQ(found[0].core, "stream 2 against stream 1");
}
TEST_F(Streams, AreOrderedInsideThemselves) {
  filled(a_);
  taken(a_);
  filled(a_);
  EXPECT_SILENT();
}
TEST_F(Streams, ThatOnlyReadRunSideBySide) {
  taken(a_);
  taken(b_);
  EXPECT_SILENT();
}
TEST_F(Streams, MayAddAtomicallySideBySide) {
  RUN(add, 1).on(a_).auto_sync(false)(y_);
  RUN(add, 1).on(b_).auto_sync(false)(y_);
  EXPECT_SILENT();
}
TEST_F(Streams, AreOrderedByAnEvent) {
  filled(a_);
  aclrtRecordEvent(event_, a_);
  aclrtStreamWaitEvent(b_, event_);
  taken(b_);
  EXPECT_SILENT();
}
TEST_F(Streams, AreNotOrderedByAnEventBeforeTheLaunch) {
  aclrtRecordEvent(event_, a_);
  filled(a_);
  aclrtStreamWaitEvent(b_, event_);
  taken(b_);
  expect_found(Kind::GmRace, "on");
}
TEST_F(Streams, AreOrderedByAHostThatWaits) {
  filled(a_);
  aclrtSynchronizeStream(a_);
  taken(b_);
  aclrtSynchronizeDevice();
  filled(a_);
  EXPECT_SILENT();
}
TEST_F(Streams, MustBeWaitedForBeforeTheHostCopies) {
  filled(a_);
  y_.values();
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << text(found);
  EXPECT_NE(found[0].what.find("aclrtMemcpy reads what the launch of"), std::string::npos) << found[0].what;
  EXPECT_TRUE(ends_with(found[0].line_a, at(other_line))) << found[0].line_a;
  EXPECT_EQ(found[0].core, "the host against stream 1");
  aclrtSynchronizeStream(a_);
  y_.values();
  taken(b_);
  y_.values();  // both read
  EXPECT_SILENT();
  y_.set(std::vector<float>(2 * kN, 0.0f));
  expect_found(Kind::GmRace, "aclrtMemcpy overwrites what the launch of");
}
TEST_F(Streams, OrderCopiesThatAreGivenToThem) {
  std::vector<float> host(kN);
  const auto back = [&](aclrtStream stream) {
    void* const from = reinterpret_cast<void*>(static_cast<GM_ADDR>(y_));
    aclrtMemcpyAsync(host.data(), kN * 4, from, kN * 4, ACL_MEMCPY_DEVICE_TO_HOST, stream);
  };
  filled(a_);
  back(a_);
  EXPECT_SILENT();
  back(b_);
  expect_found(Kind::GmRace, "aclrtMemcpyAsync reads");
}
TEST_F(Streams, TheDefaultOneIsWaitedForByCopies) {
  filled(nullptr);
  y_.values();
  EXPECT_SILENT();
}

}  // namespace
