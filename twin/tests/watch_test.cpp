// SPDX-License-Identifier: Apache-2.0
// CheckLocalMemoryIA: who may touch a range of UB.
#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin::Kind;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

// Watches bytes [32, 288) for one way of access, then does all six there, and all six beside it.
void touches(GM_ADDR x, int watched, bool by_pointer, bool stopped) {
  const auto range = ub<float>(32, 64), beside = ub<float>(512, 64);
  CheckLocalMemoryIAParam p;
  p.enableBit = 2;
  const auto first = reinterpret_cast<std::uintptr_t>(ub<float>(0, 8).GetPhyAddr()) / 32;
  p.startAddr = by_pointer ? static_cast<uint32_t>(first) : 0;
  p.endAddr = by_pointer ? static_cast<uint32_t>(first + 8) : 8;
  bool* const ways[] = {&p.isScalarRead, &p.isScalarWrite, &p.isVectorRead, &p.isVectorWrite, &p.isMteRead, &p.isMteWrite};
  if (watched < 6) *ways[watched] = true;
  p.isEnable = true;
  CheckLocalMemoryIA(p);
  if (stopped) {
    p.isEnable = false;
    CheckLocalMemoryIA(p);
  }
  for (const auto& t : {beside, range}) {
    DataCopy(t, gm<float>(x, 64), 64);
    order<HardEvent::MTE2_V>();
    Adds(ub<float>(1024, 64), t, 1.0f, 64);
    PipeBarrier<PIPE_V>();
    Adds(t, ub<float>(1024, 64), 1.0f, 64);
    order<HardEvent::V_S>();
    t.SetValue(3, t.GetValue(2));
    order<HardEvent::S_MTE3>();
    DataCopy(gm<float>(x + 256, 64), t, 64);
    PipeBarrier<PIPE_ALL>();
  }
}
TEST(CheckLocalMemoryIA, ReportsTheAccessesItWatches) {
  twin_test::Device<float> x(std::vector<float>(128, 1.0f));
  const char* const said[] = {"GetValue reads", "SetValue writes", "Adds reads",
                              "Adds writes",    "DataCopy reads",  "DataCopy writes"};
  for (int watched = 0; watched < 6; ++watched) {
    twin::take_findings();
    RUN(touches, 1).auto_sync(false).as(twin::KernelType::AivOnly)(x, watched, watched % 2 == 1, false);
    const auto found = twin::take_findings();
    ASSERT_EQ(found.size(), 1u) << watched << "\n" << twin_test::text(found);
    EXPECT_NE(found[0].what.find(said[watched]), std::string::npos) << found[0].what;
    EXPECT_FALSE(found[0].line_b.empty());
  }
}
TEST(CheckLocalMemoryIA, IsSilentWhereNothingIsWatched) {
  twin_test::Device<float> x(std::vector<float>(128, 1.0f));
  twin::take_findings();
  RUN(touches, 1).auto_sync(false).as(twin::KernelType::AivOnly)(x, 6, false, false);  // no way of access
  RUN(touches, 1).auto_sync(false).as(twin::KernelType::AivOnly)(x, 3, false, true);   // stopped again
  EXPECT_SILENT();
}
void wrong(GM_ADDR, int what) {
  CheckLocalMemoryIAParam p(what == 0 ? 4 : 0, what == 1 ? 9 : 0, what == 2 ? 65535 : 9, false, false, false, true, false,
                            false, true);
  CheckLocalMemoryIA(p);
}
TEST(CheckLocalMemoryIA, ReportsWhatCannotBeWatched) {
  twin_test::Device<float> x(8);
  const std::pair<Kind, const char*> said[] = {
      {Kind::Limit, "enableBit 4"}, {Kind::Limit, "nothing lies behind block 9"}, {Kind::OutOfBounds, "do not lie in UB"}};
  for (int what = 0; what < 3; ++what) {
    twin::take_findings();
    RUN(wrong, 1).as(twin::KernelType::AivOnly)(x, what);
    twin_test::expect_found(said[what].first, said[what].second);
  }
}

}  // namespace
