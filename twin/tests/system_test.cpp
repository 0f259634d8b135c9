// SPDX-License-Identifier: Apache-2.0
// The scalar unit, printing and dumps, pools, order between blocks, and the compiler's own names.
#include <cmath>
#include <numeric>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

TEST(Scalar, CountsAndFindsBits) {
  EXPECT_EQ(ScalarGetCountOfValue<1>(0xf0f1), 9);
  EXPECT_EQ(GetBitCount<0>(~7ull), 3);
  EXPECT_EQ(ScalarCountLeadingZero(1), 63);
  EXPECT_EQ(CountLeadingZero(0), 64);
  EXPECT_EQ(CountBitsCntSameAsSignBit(-1), 63);
  EXPECT_EQ(CountBitsCntSameAsSignBit(0x0f00000000000000ll), 3);
  EXPECT_EQ(ScalarGetSFFValue<1>(0x50), 4);
  EXPECT_EQ(GetSFFValue<0>(7), 3);
  EXPECT_EQ(ScalarGetSFFValue<1>(0), -1);
}
TEST(Scalar, LeastAndLargestAreValues) {
  const std::int32_t a = 3;
  std::int32_t b = 5;
  static_assert(std::is_same<decltype(::min(a, b)), std::int32_t>::value, "no reference to a parameter");
  static_assert(std::is_same<decltype(::max(b, b)), std::int32_t>::value, "no reference to a parameter");
  EXPECT_EQ(::min(a, b), 3);
  EXPECT_EQ(::max(a, b), 5);
}
TEST(Scalar, CastsSingleValues) {
  EXPECT_EQ((ScalarCast<float, std::int32_t, RoundMode::CAST_FLOOR>(-1.5f)), -2);
  EXPECT_EQ((ScalarCast<float, std::int32_t, RoundMode::CAST_ROUND>(2.5f)), 3);
  EXPECT_EQ((Cast<float, std::int32_t, RoundMode::CAST_RINT>(2.5f)), 2);
  EXPECT_EQ((Cast<float, std::int32_t, RoundMode::CAST_CEIL>(1e20f)), INT32_MAX);
  const half odd = ScalarCast<float, half, RoundMode::CAST_ODD>(1.0f + 1.0f / 4096);
  EXPECT_EQ(odd.bits(), half(1.0f).bits() + 1);
  EXPECT_EQ((ScalarCast<float, half, RoundMode::CAST_ODD>(-1.5f)).bits(), half(-1.5f).bits());
  EXPECT_EQ(ToFloat(ToBfloat16(3.0f)), 3.0f);
}
TEST(Scalar, DividesByMultiplying) {
  for (const std::uint32_t divisor : {1u, 3u, 7u, 10u, 641u, 65536u}) {
    std::uint32_t magic = 0, shift = 0;
    GetUintDivMagicAndShift(magic, shift, divisor);
    for (const std::uint64_t x : {0ull, 1ull, 6ull, 640ull, 123456789ull, 2147483647ull})
      EXPECT_EQ(((x * magic >> 32) + x) >> shift, x / divisor) << x << " / " << divisor;
  }
}

void talk_kernel(GM_ADDR in) {
  const auto x = ub<half>(0, 32);
  DataCopyPad(x, gm<half>(in, 4), DataCopyExtParams(1, 8, 0, 0, 0), DataCopyPadExtParams<half>(false, 0, 0, half(0)));
  order<HardEvent::MTE2_V>();
  PipeBarrier<PIPE_ALL>();
  DumpTensor(x, 7, 6);
  AscendC::printf("half %.2f of %d\n", half(2.5f), 3);
  PRINTF("plain 100%%\n");
  ascendc_assert(GetBlockIdx() == 0, "never seen");
}
TEST(Debug, PrintsTensorsAndNumbers) {
  twin_test::Device<half> x(std::vector<half>{half(1), half(-2), half(0.5f), half(4)});
  testing::internal::CaptureStdout();
  RUN(talk_kernel, 1)(x);
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_SILENT();
  EXPECT_NE(said.find("desc=7"), std::string::npos) << said;
  EXPECT_NE(said.find("[1, -2, 0.5, 4, undefined, undefined]"), std::string::npos) << said;
  EXPECT_NE(said.find("half 2.50 of 3\n"), std::string::npos) << said;
  EXPECT_NE(said.find("plain 100%"), std::string::npos) << said;
}
void trap_kernel(GM_ADDR) { ascendc_assert(GetBlockIdx() == 1); }
TEST(Debug, AssertionsThatFailAreReported) {
  twin_test::Device<float> x(8);
  RUN(trap_kernel, 1)(x);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].what.find("GetBlockIdx() == 1"), std::string::npos);
}

// ---- pools ----
bool second_pool_fits = true;
void pool_kernel(GM_ADDR in, GM_ADDR out) {
  TPipe pipe;
  TBufPool<TPosition::VECCALC> first, second;
  pipe.InitBufPool(first, 65536);
  pipe.InitBufPool(second, 65536, first);
  TQue<TPosition::VECIN, 1> q;
  TBuf<> scratch;
  first.InitBuffer(q, 1, 1024);
  first.InitBuffer(scratch, 2048);
  auto x = q.AllocTensor<float>();
  DataCopy(x, gm<float>(in, 256), 256);
  q.EnQue(x);
  x = q.DeQue<float>();
  Adds(scratch.Get<float>(), x, 1.0f, 256);
  q.FreeTensor(x);
  PipeBarrier<PIPE_ALL>();
  first.Reset();
  TQue<TPosition::VECOUT, 1> r;
  second.InitBuffer(r, 2, second_pool_fits ? 1024 : 40000);
  auto y = r.AllocTensor<float>();
  Duplicate(y, 5.0f, 256);
  r.EnQue(y);
  y = r.DeQue<float>();
  DataCopy(gm<float>(out, 256), y, 256);
  r.FreeTensor(y);
}
// Queues of one layout in two pools that share a part. crossed: the second fills where the first was stored from.
bool pools_are_crossed = false;
void pools_in_turn_kernel(GM_ADDR in, GM_ADDR out) {
  TPipe pipe;
  TBufPool<TPosition::VECCALC> pools[2];
  pipe.InitBufPool(pools[0], 2048);
  pipe.InitBufPool(pools[1], 2048, pools[0]);
  TQue<TPosition::VECIN, 1> from[2];
  TQue<TPosition::VECOUT, 1> to[2];
  for (int turn = 0; turn < 2; ++turn) {
    if (turn && pools_are_crossed) pools[turn].InitBuffer(to[turn], 1, 1024);
    pools[turn].InitBuffer(from[turn], 1, 1024);
    if (!(turn && pools_are_crossed)) pools[turn].InitBuffer(to[turn], 1, 1024);
    auto x = from[turn].AllocTensor<float>();
    DataCopy(x, gm<float>(in, 256), 256);
    from[turn].EnQue(x);
    x = from[turn].DeQue<float>();
    auto y = to[turn].AllocTensor<float>();
    Adds(y, x, 1.0f, 256);
    from[turn].FreeTensor(x);
    to[turn].EnQue(y);
    y = to[turn].DeQue<float>();
    DataCopy(gm<float>(out, 512)[turn * 256], y, 256);
    to[turn].FreeTensor(y);
    pools[turn].Reset();
  }
}
TEST(TBufPool, ResetEndsWhatItsQueuesHaveFreed) {
  twin_test::Device<float> x(std::vector<float>(256, 1.0f)), y(512);
  pools_are_crossed = false;
  RUN(pools_in_turn_kernel, 1)(x, y);
  EXPECT_SILENT();
  EXPECT_EQ(y.values()[511], 2.0f);
  pools_are_crossed = true;
  RUN(pools_in_turn_kernel, 1)(x, y);
  const auto found = twin::take_findings();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, twin::Kind::WriteAfterRead) << twin_test::text(found);
  EXPECT_EQ(found[0].pipe_b, "MTE3") << twin_test::text(found);
}
TEST(TBufPool, SharesItsPartOneAfterAnother) {
  twin_test::Device<float> x(std::vector<float>(256, 1.0f)), y(256);
  second_pool_fits = true;
  RUN(pool_kernel, 1)(x, y);
  EXPECT_SILENT();
  EXPECT_EQ(y.values()[255], 5.0f);
  second_pool_fits = false;
  RUN(pool_kernel, 1)(x, y);
  EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::Capacity), nullptr);
}
void allocator_kernel(GM_ADDR out) {
  LocalMemAllocator<Hardware::UB> memory;
  const auto a = memory.Alloc<float, 100>();
  const auto b = memory.Alloc<TPosition::VECIN, half>(64);
  Duplicate(a, 2.0f, 96);
  Duplicate(b, half(3), 64);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(out, 96), a, 96);
  DataCopy(gm<half>(out + 384, 64), b, 64);
}
TEST(LocalMemAllocator, GivesOneTensorAfterAnother) {
  twin_test::Device<float> y(128);
  RUN(allocator_kernel, 1)(y);
  EXPECT_SILENT();
  EXPECT_EQ(y.values()[95], 2.0f);
}
std::uint32_t rest = 0;
void stack_kernel(GM_ADDR) {
  TPipe pipe;
  TBuf<> buf;
  pipe.InitBuffer(buf, 1024);
  LocalTensor<float> tmp;
  EXPECT_TRUE((PopStackBuffer<float, TPosition::LCM>(tmp)));
  rest = tmp.GetSize();
}
TEST(PopStackBuffer, TakesWhatIsLeft) {
  twin_test::Device<float> y(8);
  RUN(stack_kernel, 1)(y);
  EXPECT_SILENT();
  EXPECT_EQ(rest, (196352u - 8192 - 1024) / 4);
}

// ---- between blocks ----
bool forgets = false;
void hand_over_kernel(GM_ADDR data, GM_ADDR workspace) {
  const auto flags = gm<std::int32_t>(workspace, 64);
  const auto scratch = ub<std::int32_t>(4096, 8);
  const auto x = ub<float>(0, 64);
  if (GetBlockIdx() == 0) {
    Duplicate(x, 9.0f, 64);
    order<HardEvent::V_MTE3>();
    DataCopy(gm<float>(data, 64), x, 64);
    if (!forgets) IBSet(flags, scratch, 0, 2);
  } else {
    IBWait(flags, scratch, 0, 2);
    DataCopy(x, gm<float>(data, 64), 64);
    order<HardEvent::MTE2_V>();
    Adds(x, x, 1.0f, 64);
    order<HardEvent::V_MTE3>();
    DataCopy(gm<float>(data + 256, 64), x, 64);
  }
}
TEST(IBSet, OrdersTwoBlocks) {
  twin_test::Device<float> x(128);
  twin_test::Device<std::int32_t> flags(std::vector<std::int32_t>(64, 0));
  forgets = false;
  RUN(hand_over_kernel, 2)(x, flags);
  EXPECT_SILENT();
  EXPECT_EQ(x.values()[127], 10.0f);
  forgets = true;
  RUN(hand_over_kernel, 2)(x, flags);
  const auto found = twin::take_findings();
  const auto* deadlock = twin_test::find(found, twin::Kind::Deadlock);
  ASSERT_NE(deadlock, nullptr) << twin_test::text(found);
  EXPECT_NE(deadlock->what.find("IBSet of block 0, event 2"), std::string::npos) << deadlock->what;
}
void turns_kernel(GM_ADDR sum, GM_ADDR workspace) {
  GlobalTensor<std::int32_t> flags = gm<std::int32_t>(workspace, 64);
  LocalTensor<std::int32_t> scratch = ub<std::int32_t>(4096, 64);
  const auto x = ub<float>(0, 8);
  InitDetermineComputeWorkspace(flags, scratch);
  for (int round = 0; round < 2; ++round) {
    WaitPreBlock(flags, scratch);
    DataCopy(x, gm<float>(sum, 8), 8);
    order<HardEvent::MTE2_V>();
    Muls(x, x, 3.0f, 8);
    PipeBarrier<PIPE_V>();
    Adds(x, x, static_cast<float>(GetBlockIdx() + 1), 8);
    order<HardEvent::V_MTE3>();
    DataCopy(gm<float>(sum, 8), x, 8);
    order<HardEvent::MTE3_MTE2>();
    NotifyNextBlock(flags, scratch);
  }
}
TEST(WaitPreBlock, TakesTurns) {
  twin_test::Device<float> x(std::vector<float>(8, 0.0f));
  twin_test::Device<std::int32_t> flags(std::vector<std::int32_t>(64, 0));
  RUN(turns_kernel, 3)(x, flags);
  EXPECT_SILENT();
  float want = 0;
  for (int k = 0; k < 6; ++k) want = want * 3 + static_cast<float>(k % 3 + 1);
  EXPECT_EQ(x.values()[0], want);
}

// ---- the compiler's own names ----
void raw_kernel(GM_ADDR in, GM_ADDR out) {
  const auto a = ub<float>(0, 64), b = ub<float>(1024, 64), c = ub<float>(2048, 64);
  __ubuf__ float* const pa = (__ubuf__ float*)a.GetPhyAddr();
  __ubuf__ float* const pb = (__ubuf__ float*)b.GetPhyAddr();
  __ubuf__ float* const pc = (__ubuf__ float*)c.GetPhyAddr();
  copy_gm_to_ubuf(pa, (__gm__ float*)in, 0, 1, 8, 0, 0);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  set_mask_norm();
  set_vector_mask(0, 0xffffffffull);
  vector_dup(pb, 2.0f, 1, 1, 1, 8, 0);
  vector_dup(pc, 0.0f, 1, 1, 1, 8, 0);
  pipe_barrier(PIPE_V);
  vmul(pc, pa, pb, 1, 1, 1, 1, 8, 8, 8);
  pipe_barrier(PIPE_V);
  vadds(pc, pc, static_cast<float>(block_idx) + 0.5f, 1, 1, 1, 8, 8);
  set_vector_mask(~0ull, ~0ull);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm_align_b32((__gm__ float*)out, pc, 0, 1, 128, 0, 0, 0, 0);
}
TEST(Raw, RunsTheInstructionsBehindThem) {
  std::vector<float> in(64);
  std::iota(in.begin(), in.end(), 1.0f);
  twin_test::Device<float> x(in), y(32);
  RUN(raw_kernel, 1).auto_sync(false)(x, y);
  EXPECT_SILENT();
  const auto got = y.values();
  for (int k = 0; k < 32; ++k) EXPECT_EQ(got[k], 2 * in[k] + 0.5f);
}
void ffts_kernel(GM_ADDR data) {
  const auto x = ub<float>(0, 64);
  constexpr std::uint64_t kMode = 0, kId = 3;
  if (get_block_idx() == 0) {
    Duplicate(x, 4.0f, 64);
    order<HardEvent::V_MTE3>();
    DataCopy(gm<float>(data, 64), x, 64);
  }
  ffts_cross_core_sync(PIPE_MTE3, 1 | kMode << 4 | kId << 8);
  if (get_block_idx() == 0)
    wait_flag_dev(kId);
  else
    WaitEvent(kId);
  if (get_block_idx() == 1) {
    DataCopy(x, gm<float>(data, 64), 64);
    order<HardEvent::MTE2_MTE3>();
    DataCopy(gm<float>(data + 256, 64), x, 64);
  }
}
TEST(Raw, SynchronisesCores) {
  twin_test::Device<float> x(128);
  RUN(ffts_kernel, 2).as(twin::KernelType::MixAiv10)(x);
  EXPECT_SILENT();
  EXPECT_EQ(x.values()[127], 4.0f);
}

// Tensors at an address, copies between pointers of different types, and the older name of the wait.
void addresses_kernel(GM_ADDR in, GM_ADDR out, int given) {
  const auto a = ub<float>(512, 64);
  TBuffAddr where;
  where.logicPos = static_cast<std::uint8_t>(TPosition::VECIN);
  where.bufferAddr = given ? 512 : reinterpret_cast<std::uint64_t>(a.GetPhyAddr());
  LocalTensor<std::uint8_t> bytes;
  bytes.SetAddr(where);
  if (given == 2) {
    where.dataLen = 128;
    LocalTensor<float> half_of_it;
    half_of_it.SetAddr(where);
    EXPECT_EQ(half_of_it.GetSize(), 32u);
  }
  copy_gm_to_ubuf((__ubuf__ std::int32_t*)a.GetPhyAddr(), (__gm__ void*)in, 0, 1, 8, 0, 0);
  order<HardEvent::MTE2_MTE3>();
  DataCopyPad(gm<std::uint8_t>(out, 100), bytes, DataCopyExtParams(1, 100, 0, 0, 0));
  order<HardEvent::MTE3_MTE2>();
  copy_gm_to_ubuf_align_b32(a.GetPhyAddr(), in, 0, 1, 4, 0, 0, 0, 0);
  order<HardEvent::MTE2_MTE3>();
  copy_ubuf_to_gm_align_b32(out + 128, (__ubuf__ std::int16_t*)a.GetPhyAddr(), 0, 1, 4, 0, 0, 0, 0);
}
TEST(LocalTensor, TakesAnAddress) {
  std::vector<float> in(64);
  std::iota(in.begin(), in.end(), 1.0f);
  for (const int given : {0, 1, 2}) {
    twin_test::Device<float> x(in), y(std::vector<float>(64, -1.0f));
    RUN(addresses_kernel, 1).auto_sync(false)(x, y, given);
    EXPECT_SILENT();
    const auto got = y.values();
    for (int k = 0; k < 64; ++k) EXPECT_EQ(got[k], k < 25 ? in[k] : k == 32 ? in[0] : -1.0f) << k;
  }
}
void too_early_kernel(GM_ADDR x, int with_order) {  // what is loaded through the one is stored through the other
  const auto a = ub<float>(512, 64);
  TBuffAddr where;
  where.logicPos = static_cast<std::uint8_t>(TPosition::VECCALC);
  where.bufferAddr = 512;
  LocalTensor<float> same;
  same.SetAddr(where);
  DataCopy(a, gm<float>(x, 64), 64);
  if (with_order) order<HardEvent::MTE2_V>();
  Adds(same, same, 1.0f, 64);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(x + 256, 64), same, 64);
}
TEST(LocalTensor, AtAnAddressIsCheckedForOrder) {
  twin_test::Device<float> x(std::vector<float>(128, 2.0f));
  RUN(too_early_kernel, 1).auto_sync(false)(x, 1);
  EXPECT_SILENT();
  RUN(too_early_kernel, 1).auto_sync(false)(x, 0);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << twin_test::text(found);
  EXPECT_EQ(found[0].kind, twin::Kind::ReadAfterWrite);
}

}  // namespace
