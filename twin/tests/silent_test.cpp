// SPDX-License-Identifier: Apache-2.0
// Correct kernels that are easy to suspect: the twin must not say a word, with auto-sync off and on, in any order of the
// cores, and the results are checked.
#include <functional>
#include <numeric>

#include "planted.hpp"

using namespace AscendC;
using namespace twin_test;
using twin::KernelType;

namespace {

constexpr int kTile = 256;  // floats
constexpr int kTiles = 7;
constexpr int kAll = kTile * kTiles;

GlobalTensor<float> gm(GM_ADDR address, std::int64_t first = 0, int count = kTile) { return floats(address, first, count); }
LocalTensor<float> ub(int tile, int count = kTile) {
  return LocalTensor<float>(TPosition::VECCALC, tile * kTile * 4, count);
}

// y = 2 x + 1 in two buffers each, with flags: loads, arithmetic and stores of neighbouring tiles overlap.
void ping_pong(GM_ADDR x, GM_ADDR y) {
  for (int id = 0; id < 2; ++id) {
    SetFlag<HardEvent::V_MTE2>(id);
    SetFlag<HardEvent::MTE3_V>(id);
  }
  for (int t = 0; t < kTiles; ++t) {
    const int b = t % 2;
    WaitFlag<HardEvent::V_MTE2>(b);
    DataCopy(ub(b), gm(x, t * kTile), kTile);
    order<HardEvent::MTE2_V>(b);
    WaitFlag<HardEvent::MTE3_V>(b);
    Muls(ub(2 + b), ub(b), 2.0f, kTile);
    SetFlag<HardEvent::V_MTE2>(b);
    PipeBarrier<PIPE_V>();
    Adds(ub(2 + b), ub(2 + b), 1.0f, kTile);  // in place
    order<HardEvent::V_MTE3>(b);
    DataCopy(gm(y, t * kTile), ub(2 + b), kTile);
    SetFlag<HardEvent::MTE3_V>(b);
  }
  for (int id = 0; id < 2; ++id) {
    WaitFlag<HardEvent::V_MTE2>(id);
    WaitFlag<HardEvent::MTE3_V>(id);
  }
}

// The same with queues of any number of buffers, filled as far ahead as the queue is deep.
template <int kDepth, int kBuffers>
void queues(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, kDepth> in;
  TQue<TPosition::VECOUT, kDepth> out;
  pipe.InitBuffer(in, kBuffers, kTile * 4);
  pipe.InitBuffer(out, kBuffers, kTile * 4);
  int loaded = 0;
  for (int t = 0; t < kTiles; ++t) {
    for (; loaded < kTiles && loaded < t + kDepth; ++loaded) {
      LocalTensor<float> tile = in.template AllocTensor<float>();
      DataCopy(tile, gm(x, loaded * kTile), kTile);
      in.EnQue(tile);
    }
    LocalTensor<float> a = in.template DeQue<float>(), b = out.template AllocTensor<float>();
    Muls(b, a, 2.0f, kTile);
    PipeBarrier<PIPE_V>();
    Adds(b, b, 1.0f, kTile);
    in.FreeTensor(a);
    out.EnQue(b);
    b = out.template DeQue<float>();
    DataCopy(gm(y, t * kTile), b, kTile);
    out.FreeTensor(b);
  }
}

// One buffer from GM to GM, changed in place: a queue bound to both ends.
void bound_queue(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> both;
  pipe.InitBuffer(both, 2, kTile * 4);
  for (int t = 0; t < kTiles; ++t) {
    LocalTensor<float> tile = both.AllocTensor<float>();
    DataCopy(tile, gm(x, t * kTile), kTile);
    order<HardEvent::MTE2_V>(t % 2);
    Muls(tile, tile, 2.0f, kTile);
    PipeBarrier<PIPE_V>();
    Adds(tile, tile, 1.0f, kTile);
    order<HardEvent::V_MTE3>(t % 2);
    both.EnQue(tile);
    tile = both.DeQue<float>();
    DataCopy(gm(y, t * kTile), tile, kTile);
    both.FreeTensor(tile);
  }
}

// Lengths that fill no block, between cores that share lines of GM: only DataCopyPad's exact stores keep them apart.
void ragged_tails(GM_ADDR x, GM_ADDR y) {
  const int lengths[] = {1, 7, 8, 9, 100, 255, 3};
  int first = 0;
  for (int k = 0; k < GetBlockIdx(); ++k) first += lengths[k % 7];
  const std::uint32_t bytes = lengths[GetBlockIdx() % 7] * 4;
  DataCopyPad(ub(0), gm(x, first, 256), DataCopyExtParams(1, bytes, 0, 0, 0), DataCopyPadExtParams<float>(true, 0, 0, 0.0f));
  order<HardEvent::MTE2_V>();
  Muls(ub(1), ub(0), 2.0f, kTile);  // the rest of the tile was never written, and nobody looks at it
  PipeBarrier<PIPE_V>();
  Adds(ub(1), ub(1), 1.0f, kTile);
  order<HardEvent::V_MTE3>();
  DataCopyPad(gm(y, first, 256), ub(1), DataCopyExtParams(1, bytes, 0, 0, 0));
}

// Masked lanes keep what they held: two halves of a repeat, made apart and stored together.
void stale_lanes(GM_ADDR x, GM_ADDR y) {
  for (int t = 0; t < kTiles; ++t) {
    DataCopy(ub(0), gm(x, t * kTile), kTile);
    order<HardEvent::MTE2_V>();
    std::uint64_t even[2] = {0x5555555555555555ull, 0}, odd[2] = {0xAAAAAAAAAAAAAAAAull, 0};
    Muls(ub(1), ub(0), 2.0f, even, 4, UnaryRepeatParams(1, 1, 8, 8));
    Muls(ub(1), ub(0), 2.0f, odd, 4, UnaryRepeatParams(1, 1, 8, 8));  // other lanes: no dependence on the chip either
    PipeBarrier<PIPE_V>();
    Adds(ub(1), ub(1), 1.0f, 64, 4, UnaryRepeatParams(1, 1, 8, 8));
    order<HardEvent::V_MTE3>();
    DataCopy(gm(y, t * kTile), ub(1), kTile);
    order<HardEvent::MTE3_V>();
    order<HardEvent::V_MTE2>();
  }
}

// Tensors over each other, one after the other: what lies there is dead before the next is written.
void memory_used_again(GM_ADDR x, GM_ADDR y) {
  for (int t = 0; t < kTiles; ++t) {
    {
      LocalTensor<float> a(TPosition::VECCALC, 0, kTile), b(TPosition::VECCALC, 4096, kTile);
      DataCopy(a, gm(x, t * kTile), kTile);
      order<HardEvent::MTE2_V>();
      Muls(b, a, 2.0f, kTile);
    }
    PipeBarrier<PIPE_V>();
    LocalTensor<float> c(TPosition::VECCALC, 512, kTile), whole(TPosition::VECCALC, 0, 4 * kTile);
    Adds(c, LocalTensor<float>(TPosition::VECCALC, 4096, kTile), 1.0f, kTile);
    order<HardEvent::V_MTE3>();
    DataCopy(gm(y, t * kTile), whole[128], kTile);
    order<HardEvent::MTE3_MTE2>();
  }
}

// A value on its way from the vector unit to the scalar unit and back.
void by_way_of_the_scalar_unit(GM_ADDR x, GM_ADDR y) {
  for (int t = 0; t < kTiles; ++t) {
    DataCopy(ub(0), gm(x, t * kTile), kTile);
    order<HardEvent::MTE2_V>();
    ReduceMax(ub(1), ub(0), ub(2), kTile);
    order<HardEvent::V_S>();
    const float most = ub(1).GetValue(0);
    ub(3).SetValue(0, most - most + 2.0f);
    order<HardEvent::S_V>();
    Muls(ub(0), ub(0), ub(3).GetValue(0), kTile);
    PipeBarrier<PIPE_V>();
    ReduceSum(ub(1), ub(0), ub(2), kTile);  // brings its own flags
    Adds(ub(4), ub(0), 1.0f, kTile);
    order<HardEvent::V_MTE3>();
    DataCopy(gm(y, t * kTile), ub(4), kTile);
    order<HardEvent::MTE3_V>();
    order<HardEvent::V_MTE2>();
  }
}

// Every core writes its share, and after a SyncAll reads its neighbour's, many times.
void rounds(GM_ADDR x, GM_ADDR y) {
  const int me = int(GetBlockIdx()), next = (me + 1) % int(GetBlockNum());
  DataCopy(ub(0), gm(x, me * kTile), kTile);
  order<HardEvent::MTE2_V>();
  Muls(ub(1), ub(0), 2.0f, kTile);
  PipeBarrier<PIPE_V>();
  Adds(ub(1), ub(1), 1.0f, kTile);
  order<HardEvent::V_MTE3>();
  for (int round = 0; round < kTiles; ++round) {  // after as many rounds as cores each has its own again
    DataCopy(gm(y, me * kTile), ub(1), kTile);
    SyncAll();
    DataCopy(ub(1), gm(y, next * kTile), kTile);
    order<HardEvent::MTE2_MTE3>();
    SyncAll();
  }
  DataCopy(gm(y, me * kTile), ub(1), kTile);
}

// A core that reads back what it stored.
void by_way_of_gm(GM_ADDR x, GM_ADDR y) {
  for (int t = 0; t < kTiles; ++t) {
    DataCopy(ub(0), gm(x, t * kTile), kTile);
    order<HardEvent::MTE2_V>();
    Muls(ub(1), ub(0), 2.0f, kTile);
    order<HardEvent::V_MTE3>();
    DataCopy(gm(y, t * kTile), ub(1), kTile);
    order<HardEvent::MTE3_MTE2>();
    DataCopy(ub(2), gm(y, t * kTile), kTile);
    order<HardEvent::MTE2_V>();
    Adds(ub(2), ub(2), 1.0f, kTile);
    order<HardEvent::V_MTE3>();
    DataCopy(gm(y, t * kTile), ub(2), kTile);
    PipeBarrier<PIPE_ALL>();
  }
}

// Atomic additions of whole numbers, by cores in no order; and stores of disjoint halves of one block.
void whole_numbers(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x, GetBlockIdx() * kTile), kTile);
  order<HardEvent::MTE2_MTE3>();
  SetAtomicAdd<float>();
  DataCopy(gm(y), ub(0), kTile);
  SetAtomicNone();
}

// Tables of the scalar unit in GM: read by all, each line once and again.
void scalar_tables(GM_ADDR x, GM_ADDR y) {
  for (int t = int(GetBlockIdx()); t < kTiles; t += int(GetBlockNum())) {
    const float two = gm(x, kAll, 16).GetValue(0) + gm(x, kAll, 16).GetValue(1);
    DataCopy(ub(0), gm(x, t * kTile), kTile);
    order<HardEvent::MTE2_V>();
    Muls(ub(1), ub(0), two, kTile);
    PipeBarrier<PIPE_V>();
    Adds(ub(1), ub(1), gm(x, kAll, 16).GetValue(0), kTile);
    order<HardEvent::V_MTE3>();
    DataCopy(gm(y, t * kTile), ub(1), kTile);
    PipeBarrier<PIPE_ALL>();
  }
}

// A cube core hands tiles to its two vector cores through a workspace of two slots, both ways, two tiles in flight.
void hand_over(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
  constexpr std::uint16_t kFull = 1, kEmpty = 3;
  if ASCEND_IS_AIC {
    const LocalTensor<float> l1(TPosition::A1, 0, 2 * kTile);
    for (int t = 0; t < kTiles; ++t) {
      if (t >= 2) CrossCoreWaitFlag(kEmpty);
      DataCopy(l1[t % 2 * kTile], gm(x, t * kTile), kTile);
      order<HardEvent::MTE2_MTE3>(t % 2);
      DataCopy(gm(workspace, t % 2 * kTile), l1[t % 2 * kTile], kTile);
      CrossCoreSetFlag<2, PIPE_MTE3>(kFull);
      SetFlag<HardEvent::MTE3_MTE2>(t % 2);
      WaitFlag<HardEvent::MTE3_MTE2>(t % 2);
    }
    CrossCoreWaitFlag(kEmpty);
    CrossCoreWaitFlag(kEmpty);
  } else {
    constexpr int kHalf = kTile / 2;
    const int at = int(GetSubBlockIdx()) * kHalf;
    for (int t = 0; t < kTiles; ++t) {
      CrossCoreWaitFlag(kFull);
      DataCopy(ub(0, kHalf), gm(workspace, t % 2 * kTile + at, kHalf), kHalf);
      CrossCoreSetFlag<2, PIPE_MTE2>(kEmpty);
      order<HardEvent::MTE2_V>();
      Muls(ub(1, kHalf), ub(0, kHalf), 2.0f, kHalf);
      PipeBarrier<PIPE_V>();
      Adds(ub(1, kHalf), ub(1, kHalf), 1.0f, kHalf);
      order<HardEvent::V_MTE3>();
      DataCopy(gm(y, t * kTile + at, kHalf), ub(1, kHalf), kHalf);
      PipeBarrier<PIPE_ALL>();
    }
  }
}

struct Case {
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
  const char* name;
  std::function<void(bool auto_sync, GM_ADDR x, GM_ADDR y)> run;
};
#define CASE_OF(label, kernel, blocks, type)                                      \
  {                                                                               \
    label, [](bool auto_sync, GM_ADDR x, GM_ADDR y) {                             \
      ::twin::launcher<std::remove_reference_t<decltype(kernel)>, kernel>(blocks) \
          .as(KernelType::type)                                                   \
          .auto_sync(auto_sync)(x, y);                                            \
    }                                                                             \
  }
#define CASE(kernel, blocks, type) CASE_OF(#kernel, kernel, blocks, type)
#define QUEUES(depth, buffers) CASE_OF("queues_" #depth "_" #buffers, (queues<depth, buffers>), 1, AivOnly)

const Case kCases[] = {CASE(ping_pong, 1, AivOnly),
                       QUEUES(1, 1),
                       QUEUES(1, 2),
                       QUEUES(2, 2),
                       QUEUES(3, 4),
                       QUEUES(4, 4),
                       CASE(bound_queue, 1, AivOnly),
                       CASE(stale_lanes, 1, AivOnly),
                       CASE(memory_used_again, 1, AivOnly),
                       CASE(by_way_of_the_scalar_unit, 1, AivOnly),
                       CASE(rounds, kTiles, MixAiv10),
                       CASE(by_way_of_gm, 1, AivOnly),
                       CASE(scalar_tables, 3, AivOnly)};

std::vector<float> inputs() {
  std::vector<float> v(kAll + 16, 1.0f);
  for (int i = 0; i < kAll; ++i) v[i] = float(i % 97) - 40;
  return v;
}
void check(const std::vector<float>& y, int count) {
  const std::vector<float> x = inputs();
  for (int i = 0; i < count; ++i) ASSERT_EQ(y[i], 2 * x[i] + 1) << "element " << i;
}

class Correct : public testing::TestWithParam<Case> {};
TEST_P(Correct, KernelRunsSilently) {
  for (const bool auto_sync : {false, true}) {
    for (const std::uint64_t seed : {0, 1, 2}) {
      twin_test::Device<float> x(inputs()), y(std::vector<float>(kAll, 0.0f));
      twin::settings().shuffle = seed;
      GetParam().run(auto_sync, x, y);
      twin::settings().shuffle = 0;
      EXPECT_SILENT();
      check(y.values(), kAll);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Tricky, Correct, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Correct, RaggedTailsOfSevenCoresRunSilently) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    twin_test::Device<float> x(inputs()), y(std::vector<float>(kAll, 0.0f));
    twin::settings().shuffle = seed;
    RUN(ragged_tails, 7).as(KernelType::AivOnly).auto_sync(false)(x, y);
    twin::settings().shuffle = 0;
    EXPECT_SILENT();
    check(y.values(), 1 + 7 + 8 + 9 + 100 + 255 + 3);
  }
}
TEST(Correct, AtomicSumsOfWholeNumbersRunSilently) {
  twin_test::Device<float> x(inputs()), y(std::vector<float>(kTile, 0.0f));
  RUN(whole_numbers, kTiles).as(KernelType::AivOnly).auto_sync(false)(x, y);
  EXPECT_SILENT();
  float sum = 0;
  for (int t = 0; t < kTiles; ++t) sum += inputs()[t * kTile + 5];
  EXPECT_EQ(y.values()[5], sum);
}
TEST(Correct, TilesInFlightBetweenCubeAndVectorCoresRunSilently) {
  for (const bool auto_sync : {false, true}) {
    for (const std::uint64_t seed : {0, 1, 2}) {
      twin_test::Device<float> x(inputs()), y(std::vector<float>(kAll, 0.0f)), workspace(2 * kTile);
      twin::settings().shuffle = seed;
      RUN(hand_over, 1).as(KernelType::MixAic12).auto_sync(auto_sync)(x, y, workspace);
      twin::settings().shuffle = 0;
      EXPECT_SILENT();
      check(y.values(), kAll);
    }
  }
}

}  // namespace
