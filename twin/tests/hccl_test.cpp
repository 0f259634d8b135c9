// SPDX-License-Identifier: Apache-2.0
// Hccl on one chip: its collectives as copies, the order that Commit and Wait bring, and what it reports.
#include "lib/hccl/hccl.h"

#include "kernels.hpp"
#include "lib/matmul_intf.h"
#include "support.hpp"
#include "tiling/tiling_api.h"

namespace twin_test {
namespace {

using namespace AscendC;
using twin::KernelType;
using twin::Kind;

struct Tiling {
  Mc2InitTiling init;
  Mc2CcTiling task;
};
template <class Object>
void begin(Object& hccl) {
  static const Tiling tiling{};
  hccl.InitV2(GetHcclContext<0>(), &tiling);
  EXPECT_EQ(hccl.SetCcTilingV2(offsetof(Tiling, task)), HCCL_SUCCESS);
}
constexpr int kCount = 256;  // of a core

// ---- a reduction in the middle of a kernel on several cores ----
enum class Order { Right, NoBarrier, NoWait, OneWaits };
template <Order kOrder>
void reduced(GM_ADDR x, GM_ADDR send, GM_ADDR receive, GM_ADDR z) {
  Hccl<> hccl;
  begin(hccl);
  const std::size_t mine = GetBlockIdx() * kCount;
  const auto tile = ub<float>(0, kCount);
  const HcclHandle handle = hccl.AllReduce(send, receive, GetBlockNum() * kCount, HcclDataType::HCCL_DATA_TYPE_FP32,
                                           HcclReduceOp::HCCL_REDUCE_SUM);
  EXPECT_EQ(handle, 0);
  DataCopy(tile, gm<float>(x, 0)[mine], kCount);
  order<HardEvent::MTE2_V>();
  Adds(tile, tile, 1.0f, kCount);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(send, 0)[mine], tile, kCount);
  if (kOrder != Order::NoBarrier) SyncAll();
  if (GetBlockIdx() == 0) hccl.Commit(handle);
  if (kOrder == Order::OneWaits && GetBlockIdx() == 0) PipeBarrier<PIPE_ALL>();
  if (kOrder == Order::Right || kOrder == Order::NoBarrier || (kOrder == Order::OneWaits && GetBlockIdx() == 0)) {
    EXPECT_EQ(hccl.Wait(handle), 0);
  }
  order<HardEvent::MTE3_MTE2>();
  const std::size_t other = (GetBlockIdx() + 1) % GetBlockNum() * kCount;
  DataCopy(tile, gm<float>(receive, 0)[other], kCount);
  order<HardEvent::MTE2_MTE3>();
  DataCopy(gm<float>(z, 0)[other], tile, kCount);
  hccl.Finalize();
}
template <Order kOrder>
std::vector<float> run_reduced(int blocks) {
  std::vector<float> in(blocks * kCount);
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<float>(k % 100);
  Device<float> x(in), send(in.size()), receive(in.size()), z(in.size());
  twin::take_findings();
  RUN(reduced<kOrder>, blocks).auto_sync(false).as(KernelType::MixAiv10)(x, send, receive, z);
  return z.values();
}
TEST(Hccl, ReducesInTheMiddleOfAKernel) {
  const auto z = run_reduced<Order::Right>(3);
  EXPECT_SILENT();
  for (int k = 0; k < 3 * kCount; ++k) ASSERT_EQ(z[k], static_cast<float>(k % 100 + 1)) << k;
}
TEST(Hccl, WantsTheDataThereAtCommit) {
  run_reduced<Order::NoBarrier>(1);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << text(found);
  EXPECT_EQ(found[0].kind, Kind::ReadAfterWrite);
  EXPECT_NE(found[0].what.find("AllReduce reads what MTE3"), std::string::npos) << text(found);
  EXPECT_NE(found[0].fix.find("before Commit"), std::string::npos) << text(found);
}
TEST(Hccl, WantsAWaitBeforeTheResultIsRead) {
  run_reduced<Order::NoWait>(1);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << text(found);
  EXPECT_NE(found[0].what.find("reads what HCCL"), std::string::npos) << text(found);
  EXPECT_EQ(found[0].fix, "Wait for the task first");
  run_reduced<Order::OneWaits>(2);
  const auto races = twin::take_findings();
  const twin::Finding* const race = find(races, Kind::GmRace);
  ASSERT_NE(race, nullptr) << text(races);
  EXPECT_NE(race->fix.find("before Commit"), std::string::npos)
      << text(races);  // it is the core that reads that comes first
  EXPECT_EQ(race->pipe_a, "HCCL");
}

// ---- in pieces, each communicated while the next is computed ----
enum class What { Gather, Scatter, All, Uneven };
template <What kWhat>
void in_pieces(GM_ADDR x, GM_ADDR send, GM_ADDR receive, GM_ADDR z) {
  constexpr int kPieces = 4, kPiece = kCount / kPieces;
  Hccl<> hccl;
  begin(hccl);
  EXPECT_EQ(hccl.GetRankId(), 0u);
  EXPECT_EQ(hccl.GetRankDim(), 1u);
  std::uint64_t counts[1] = {kPiece}, from[1] = {0}, to[1] = {0};
  HcclHandle handle = -1;
  if (kWhat == What::Gather) handle = hccl.AllGather(send, receive, kPiece, HCCL_DATA_TYPE_FP16, kCount, kPieces);
  if (kWhat == What::Scatter)
    handle = hccl.ReduceScatter(send, receive, kPiece, HCCL_DATA_TYPE_FP16, HCCL_REDUCE_SUM, kCount, kPieces);
  if (kWhat == What::All) handle = hccl.AlltoAll(send, receive, kPiece, HCCL_DATA_TYPE_FP16, 0, kPieces);
  if (kWhat == What::Uneven)
    handle = hccl.AlltoAllV(send, counts, from, HCCL_DATA_TYPE_FP16, receive, counts, to, HCCL_DATA_TYPE_FP16, kPieces);
  const auto tile = ub<half>(0, kCount), back = ub<half>(4096, kCount);
  DataCopy(tile, gm<half>(x, 0), kCount);
  order<HardEvent::MTE2_V>();
  for (int piece = 0; piece < kPieces; ++piece) {
    Muls(tile[piece * kPiece], tile[piece * kPiece], half(2.0f), kPiece);
    order<HardEvent::V_MTE3>();
    DataCopy(gm<half>(send, 0)[piece * kPiece], tile[piece * kPiece], kPiece);
    PipeBarrier<PIPE_ALL>();
    hccl.Commit(handle);
  }
  for (int piece = 0; piece < kPieces; ++piece) {
    EXPECT_EQ(hccl.Wait(handle), 0);
    EXPECT_EQ(hccl.Query(handle), kPieces);
    DataCopy(back[piece * kPiece], gm<half>(receive, 0)[piece * kPiece], kPiece);
  }
  order<HardEvent::MTE2_MTE3>();
  DataCopy(gm<half>(z, 0), back, kCount);
  hccl.Finalize();
}
template <What kWhat>
void check_pieces() {
  std::vector<half> in(kCount);
  for (int k = 0; k < kCount; ++k) in[k] = half(static_cast<float>(k));
  Device<half> x(in), send(kCount), receive(kCount), z(kCount);
  twin::take_findings();
  RUN(in_pieces<kWhat>, 1).auto_sync(false).as(KernelType::AivOnly)(x, send, receive, z);
  EXPECT_SILENT();
  const auto got = z.values();
  for (int k = 0; k < kCount; ++k) ASSERT_EQ(float(got[k]), 2.0f * static_cast<float>(k)) << k;
}
TEST(Hccl, CommunicatesInPieces) {
  check_pieces<What::Gather>();
  check_pieces<What::Scatter>();
  check_pieces<What::All>();
  check_pieces<What::Uneven>();
}
TEST(Hccl, TakesTimeBesideTheCore) {
  check_pieces<What::Gather>();
  double busy = 0;
  for (const auto& pipe : twin::last_timing().pipes) busy += pipe.pipe == "HCCL" ? pipe.busy_cycles : 0;
  EXPECT_GE(busy, kCount * 2 * 0.00225);  // the bytes at HBM's rate, and the flags of four commits
  EXPECT_LT(busy, 50);
}

// ---- a product whose result leaves by the cube core ----
void product(GM_ADDR a, GM_ADDR b, GM_ADDR send, GM_ADDR receive, TCubeTiling t) {
  TPipe pipe;
  using In = MatmulType<TPosition::GM, CubeFormat::ND, half>;
  Matmul<In, In, MatmulType<TPosition::GM, CubeFormat::ND, float>> mm;
  mm.Init(&t, &pipe);
  mm.SetTensorA(gm<half>(a, 0));
  mm.SetTensorB(gm<half>(b, 0));
  mm.IterateAll(gm<float>(send, 0));
  PipeBarrier<PIPE_ALL>();
  Hccl<HcclServerType::HCCL_SERVER_TYPE_AICPU> hccl;
  begin(hccl);
  const HcclHandle handle = hccl.AllReduce<true>(send, receive, 32 * 32, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM);
  EXPECT_EQ(hccl.Wait(handle), 0);
  hccl.Finalize();
}
TEST(Hccl, IsCalledByACubeCoreToo) {
  matmul_tiling::MatmulApiTiling choice;
  choice.SetShape(32, 32, 32);
  TCubeTiling t;
  ASSERT_EQ(choice.GetTiling(t), 0);
  std::vector<half> a(32 * 32), b(32 * 32, half(0.0f));
  for (int k = 0; k < 32 * 32; ++k) a[k] = half(static_cast<float>(k % 64));
  for (int k = 0; k < 32; ++k) b[k * 33] = half(1.0f);
  Device<half> x(a), y(b);
  Device<float> send(32 * 32), receive(32 * 32);
  twin::take_findings();
  RUN(product, 1).auto_sync(false).as(KernelType::AicOnly)(x, y, send, receive, t);
  EXPECT_SILENT();
  const auto got = receive.values();
  for (int k = 0; k < 32 * 32; ++k) ASSERT_EQ(got[k], float(a[k])) << k;
}

// ---- misuse ----
enum Misuse {
  kNoInit,
  kNoTiling,
  kOtherContext,
  kBadHandle,
  kTooManyCommits,
  kTooFewCommits,
  kNoCommit,
  kNoFinalize,
  kNothing,
  kOverlap,
  kOtherCount,
  kPastTheEnd,
  kLast
};
void misuse(GM_ADDR x, GM_ADDR z, int what) {
  static const Tiling tiling{};
  Hccl<> hccl;
  if (what == kOtherContext) return hccl.InitV2(x, &tiling);
  if (what != kNoInit) hccl.InitV2(GetHcclContext<0>(), &tiling);
  if (what > kNoTiling) hccl.SetCcTilingV2(offsetof(Tiling, task));
  std::uint64_t some[1] = {16}, more[1] = {32}, none[1] = {0};
  if (what == kOtherCount) {
    hccl.AlltoAllV(x, some, none, HCCL_DATA_TYPE_INT8, z, more, none, HCCL_DATA_TYPE_INT8);
    return;
  }
  if (what == kOverlap) {
    hccl.AllGather(x, z, 64, HCCL_DATA_TYPE_INT8, 64, 2);
    return;
  }
  const std::uint64_t count = what == kNothing ? 0 : what == kPastTheEnd ? 5000 : 64;
  const HcclHandle handle = hccl.AllGather(x, z, count, HCCL_DATA_TYPE_INT8, 0);
  if (what == kBadHandle) hccl.Commit(handle + 1);
  if (what != kTooFewCommits && what != kNoCommit) hccl.Commit(handle);
  if (what == kTooManyCommits) hccl.Commit(handle);
  if (what != kTooFewCommits) hccl.Wait(handle);
  if (what != kNoFinalize) hccl.Finalize();
}
TEST(Hccl, SaysWhatIsWrong) {
  const struct {
    Kind kind;
    const char* part;
  } expected[kLast] = {{Kind::Limit, "AllGather before InitV2"},
                       {Kind::Limit, "AllGather before SetCcTilingV2"},
                       {Kind::Limit, "a context that GetHcclContext has not given"},
                       {Kind::Limit, "Commit of handle 1, which no Prepare"},
                       {Kind::Limit, "Commit number 2 of a task with repeat 1"},
                       {Kind::Limit, "AllGather was committed 0 times, its repeat is 1"},
                       {Kind::Deadlock, "Wait number 1 of a task that has been committed 0 times"},
                       {Kind::Limit, "ends without Finalize"},
                       {Kind::Limit, "AllGather of 0 bytes"},
                       {Kind::Limit, "the blocks of two ranks would overlap"},
                       {Kind::Limit, "AlltoAllV whose one rank sends itself another count"},
                       {Kind::OutOfBounds, "AllGather reads bytes [0, 5000)"}};
  Device<std::int8_t> x(std::vector<std::int8_t>(4096, 1)), z(4096);
  for (int what = 0; what < kLast; ++what) {
    twin::take_findings();
    RUN(misuse, 1).as(KernelType::AivOnly)(x, z, what);
    SCOPED_TRACE(what);
    expect_found(expected[what].kind, expected[what].part);
  }
}
void both_kinds(GM_ADDR x, GM_ADDR z) {
  Hccl<> hccl;
  begin(hccl);
  const HcclHandle handle = hccl.AllGather<true>(x, z, 64, HCCL_DATA_TYPE_INT8, 0);
  hccl.Wait(handle);
  hccl.Finalize();
}
TEST(Hccl, ListensToOneKindOfCore) {
  Device<std::int8_t> x(std::vector<std::int8_t>(64, 1)), z(64);
  twin::take_findings();
  RUN(both_kinds, 1).as(KernelType::MixAic11)(x, z);
  expect_found(Kind::KernelType, "called by a cube and by a vector core");
}

// ---- windows, and the core that a configuration names ----
constexpr HcclServerConfig kSecondCore = {CoreType::ON_AIV, 1};
void by_window(GM_ADDR x, GM_ADDR z) {
  Hccl<HcclServerType::HCCL_SERVER_TYPE_AICPU, kSecondCore> hccl;
  begin(hccl);
  EXPECT_EQ(hccl.GetWindowsInAddr(1), nullptr);
  const HcclHandle handle = hccl.AllGather(x, hccl.GetWindowsInAddr(0), 64, HCCL_DATA_TYPE_INT16, 0);
  if (GetBlockIdx() == 1) hccl.Commit(handle);
  hccl.Wait(handle);
  if (GetBlockIdx() == 0) {
    const auto tile = ub<std::int16_t>(0, 64);
    DataCopy(tile, gm<std::int16_t>(hccl.GetWindowsInAddr(0), 64), 64);
    order<HardEvent::MTE2_MTE3>();
    DataCopy(gm<std::int16_t>(z, 64), tile, 64);
  }
  hccl.Finalize();
}
TEST(Hccl, ListensToTheCoreOfItsConfiguration) {
  std::vector<std::int16_t> in(64);
  for (int k = 0; k < 64; ++k) in[k] = static_cast<std::int16_t>(k * 3);
  Device<std::int16_t> x(in), z(64);
  twin::take_findings();
  RUN(by_window, 2).auto_sync(false).as(KernelType::AivOnly)(x, z);
  EXPECT_SILENT();
  EXPECT_EQ(z.values(), in);
}

TEST(Hccl, HostFillsItsTiling) {
  AscendC::Mc2CcTilingConfig config("group", 2, "AllReduce=level0:fullmesh");
  Tiling tiling{};
  EXPECT_EQ(config.GetTiling(tiling.init), 0u);
  EXPECT_EQ(config.GetTiling(tiling.task), 0u);
  EXPECT_EQ(config.SetSkipLocalRankCopy(0), 0u);
  EXPECT_NE(config.SetGroupName(std::string(200, 'x')), 0u) << "at most 127 characters";
}

}  // namespace
}  // namespace twin_test
