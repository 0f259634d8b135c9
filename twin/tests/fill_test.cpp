// SPDX-License-Identifier: Apache-2.0
// InitGlobalMemory: every type, tails and sizes beyond UB; what the kernel has to order itself.
#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin::KernelType;
using twin::Kind;
using twin_test::gm;
using twin_test::order;
using twin_test::Standing;
using twin_test::ub;

namespace {

template <class T>
void fill_kernel(GM_ADDR out, int first, int count, bool late) {
  GlobalTensor<T> g = gm<T>(out, first + 2 * count + 16)[first];
  const Standing standing(late);
  InitGlobalMemory(g, static_cast<std::uint64_t>(count), T(-3));
  InitOutput<T>(g[count], count, T(5));
}
template <class T>
void check_fill(int first, int count) {
  for (const bool late : {false, true}) {
    const int all = first + 2 * count + 16;
    twin_test::Device<T> y(std::vector<T>(all, T(9)));
    RUN(fill_kernel<T>, 1).auto_sync(false)(y, first, count, late);
    EXPECT_SILENT();
    const auto got = y.values();
    for (int k = 0; k < all; ++k) {
      const int want = k < first ? 9 : k < first + count ? -3 : k < first + 2 * count ? 5 : 9;
      ASSERT_EQ(float(got[k]), float(T(want))) << k << " of " << first << " + 2 * " << count;
    }
  }
}
TEST(InitGlobalMemory, WritesTheValueAndNothingElse) {
  check_fill<float>(8, 64);
  check_fill<half>(0, 1001);
  check_fill<std::int16_t>(3, 7);
  check_fill<std::uint16_t>(0, 16);
  check_fill<std::int32_t>(1, 100000);  // more than UB holds
  check_fill<std::uint32_t>(0, 1);
}

// Each core fills its part and adds to its neighbour's, behind SyncAll.
void all_cores(GM_ADDR out, bool syncs) {
  const int me = static_cast<int>(GetBlockIdx()), other = (me + 1) % static_cast<int>(GetBlockNum());
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  Fill<float>(gm<float>(out + me * 256, 64), 64, 1.0f);
  if (syncs) SyncAll();
  order<HardEvent::MTE3_V>();
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Duplicate(t, static_cast<float>(me), 64);
  order<HardEvent::V_MTE3>();
  SetAtomicAdd<float>();
  DataCopy(gm<float>(out + other * 256, 64), t, 64);
  SetAtomicNone();
}
TEST(InitGlobalMemory, IsOrderedBetweenCoresBySyncAll) {
  twin_test::Device<float> y(256);
  RUN(all_cores, 4).as(KernelType::MixAiv10).auto_sync(false)(y, true);
  EXPECT_SILENT();
  for (int k = 0; k < 256; ++k) EXPECT_EQ(y.values()[k], 1.0f + static_cast<float>((k / 64 + 3) % 4)) << k;
  RUN(all_cores, 4).as(KernelType::MixAiv10).auto_sync(false)(y, false);
  EXPECT_FALSE(twin::take_findings().empty());
}

// A copy into UB behind it: it stands there until MTE3 has read what is to be overwritten.
void copy_behind(GM_ADDR in, GM_ADDR out, bool waits) {
  InitGlobalMemory<float>(gm<float>(out, 64), 64, 0.0f);
  if (waits) order<HardEvent::MTE3_MTE2>();
  DataCopy(ub<float>(0, 64), gm<float>(in, 64), 64);
}
TEST(InitGlobalMemory, LeavesTheFlagBehindItToTheKernel) {
  twin_test::Device<float> x(std::vector<float>(64, 1.0f)), y(64);
  RUN(copy_behind, 1).auto_sync(false)(x, y, true);
  EXPECT_SILENT();
  RUN(copy_behind, 1).auto_sync(false)(x, y, false);
  EXPECT_FALSE(twin::take_findings().empty());
}

void no_room(GM_ADDR out) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> all;
  pipe.InitBuffer(all, 184 * 1024);
  InitGlobalMemory<float>(gm<float>(out, 8), 8, 0.0f);
}
TEST(InitGlobalMemory, NeedsRoomInUb) {
  twin_test::Device<float> y(8);
  RUN(no_room, 1)(y);
  twin_test::expect_found(Kind::Limit, "InitBuffer has left nothing of UB for it");
}

}  // namespace
