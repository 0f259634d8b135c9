// SPDX-License-Identifier: Apache-2.0
// twin_speed [tiles [text]]: how fast the twin itself runs on this host, one thread: elements a second of each vector
// instruction that has the text in its name, Mmad FLOP/s, and a launch of all cores of a 910B over tiles of 128 × 128 × 128
// with a softmax in between (0 tiles: vectors alone). Checks and the timing model are on.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "kernel_operator.h"
#include "speed.hpp"
#include "twin/report.hpp"

using namespace AscendC;

namespace {

int tiles = 2000;

void products(GM_ADDR) {
  const LocalTensor<half> a(TPosition::A2, 0, 128 * 128), b(TPosition::B2, 0, 128 * 128);
  const LocalTensor<float> c(TPosition::CO1, 0, 128 * 128);
  InitConstValue(a, InitConstValueParams<half>(1, 64, 0, half(0.5f)));
  InitConstValue(b, InitConstValueParams<half>(1, 64, 0, half(0.25f)));
  SetFlag<HardEvent::MTE1_M>(0);
  WaitFlag<HardEvent::MTE1_M>(0);
  MmadParams p(128, 128, 128, false);
  for (int i = 0; i < 400; ++i) Mmad(c, a, b, p);
}

// A tile: S = A·B on the cube core, P = softmax of its rows on the two vector cores, O = P·B on the cube core.
constexpr int kT = 128;
constexpr std::uint16_t kScores = 1, kWeights = 2;

class Cube {
 public:
  Cube(GM_ADDR x, GM_ADDR s, GM_ADDR p, GM_ADDR o) {
    x_.SetGlobalBuffer((__gm__ half*)x, kT * kT);
    s_.SetGlobalBuffer((__gm__ float*)s + GetBlockIdx() * kT * kT, kT * kT);
    p_.SetGlobalBuffer((__gm__ half*)p + GetBlockIdx() * kT * kT, kT * kT);
    o_.SetGlobalBuffer((__gm__ float*)o + GetBlockIdx() * kT * kT, kT * kT);
  }
  void tile() {
    product(x_, s_);
    CrossCoreSetFlag<2, PIPE_FIX>(kScores);
    CrossCoreWaitFlag(kWeights);
    product(p_, o_);
  }

 private:
  template <HardEvent event>
  void order() {
    SetFlag<event>(0);
    WaitFlag<event>(0);
  }
  void product(const GlobalTensor<half>& left, const GlobalTensor<float>& out) {
    PipeBarrier<PIPE_ALL>();
    DataCopy(a1_, left, Nd2NzParams(1, kT, kT, 0, kT, kT, 1, 0));
    DataCopy(b1_, x_, Nd2NzParams(1, kT, kT, 0, kT, kT, 1, 0));
    order<HardEvent::MTE2_MTE1>();
    for (int r = 0; r < 8; ++r) {
      LoadData(a2_[r * 2048], a1_[r * 256], LoadData2DParams(0, 8, 8, 0, 0, false, 0));
      LoadData(b2_[r * 2048], b1_[r * 256], LoadData2DParams(0, 8, 8, 0, 0, true, 0));
    }
    order<HardEvent::MTE1_M>();
    Mmad(c_, a2_, b2_, MmadParams(kT, kT, kT, false));
    order<HardEvent::M_FIX>();
    Fixpipe(out, c_, FixpipeParamsV220(kT, kT, kT, kT, false));
  }
  GlobalTensor<half> x_, p_;
  GlobalTensor<float> s_, o_;
  LocalTensor<half> a1_{TPosition::A1, 0, kT*kT}, b1_{TPosition::B1, 65536, kT*kT}, a2_{TPosition::A2, 0, kT*kT},
      b2_{TPosition::B2, 0, kT*kT};
  LocalTensor<float> c_{TPosition::CO1, 0, kT* kT};
};

class Softmax {
 public:
  Softmax(GM_ADDR s, GM_ADDR p) {
    const std::int64_t at = (GetBlockIdx() / 2 * 2 + GetSubBlockIdx()) * kRows * kT;
    s_.SetGlobalBuffer((__gm__ float*)s + at, kRows * kT);
    p_.SetGlobalBuffer((__gm__ half*)p + at, kRows * kT);
  }
  void tile() {
    CrossCoreWaitFlag(kScores);
    PipeBarrier<PIPE_ALL>();
    DataCopy(scores_, s_, kRows * kT);
    order<HardEvent::MTE2_V>();
    Max(wide_, scores_, scores_[64], 64, kRows, BinaryRepeatParams(1, 1, 1, 8, 16, 16));
    PipeBarrier<PIPE_V>();
    WholeReduceMax(row_, wide_, 64, kRows, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    PipeBarrier<PIPE_V>();
    Brcb(blocks_, row_, kRows / 8, BrcbRepeatParams(1, 8));
    PipeBarrier<PIPE_V>();
    for (int half_row = 0; half_row < 2; ++half_row)
      Sub(scores_[half_row * 64], scores_[half_row * 64], blocks_, 64, kRows, BinaryRepeatParams(1, 1, 0, 16, 16, 1));
    PipeBarrier<PIPE_V>();
    Exp(scores_, scores_, kRows * kT);
    PipeBarrier<PIPE_V>();
    Add(wide_, scores_, scores_[64], 64, kRows, BinaryRepeatParams(1, 1, 1, 8, 16, 16));
    PipeBarrier<PIPE_V>();
    WholeReduceSum(row_, wide_, 64, kRows, 1, 1, 8);
    PipeBarrier<PIPE_V>();
    Brcb(blocks_, row_, kRows / 8, BrcbRepeatParams(1, 8));
    PipeBarrier<PIPE_V>();
    for (int half_row = 0; half_row < 2; ++half_row)
      Div(scores_[half_row * 64], scores_[half_row * 64], blocks_, 64, kRows, BinaryRepeatParams(1, 1, 0, 16, 16, 1));
    PipeBarrier<PIPE_V>();
    Cast(weights_, scores_, RoundMode::CAST_ROUND, kRows * kT);
    order<HardEvent::V_MTE3>();
    DataCopy(p_, weights_, kRows * kT);
    CrossCoreSetFlag<2, PIPE_MTE3>(kWeights);
  }

 private:
  static constexpr int kRows = kT / 2;
  template <HardEvent event>
  void order() {
    SetFlag<event>(0);
    WaitFlag<event>(0);
  }
  GlobalTensor<float> s_;
  GlobalTensor<half> p_;
  LocalTensor<float> scores_{TPosition::VECCALC, 0, kRows*kT}, wide_{TPosition::VECCALC, 32768, kRows * 64},
      row_{TPosition::VECCALC, 49152, kRows}, blocks_{TPosition::VECCALC, 50176, kRows * 8};
  LocalTensor<half> weights_{TPosition::VECCALC, 65536, kRows* kT};
};

void attention(GM_ADDR x, GM_ADDR s, GM_ADDR p, GM_ADDR o) {
  const int block = g_coreType == AIC ? int(GetBlockIdx()) : int(GetBlockIdx()) / 2;
  if (g_coreType == AIC) {
    Cube cube(x, s, p, o);
    for (int t = block; t < tiles; t += int(GetBlockNum())) cube.tile();
  } else {
    Softmax softmax(s, p);
    for (int t = block; t < tiles; t += int(GetBlockNum())) softmax.tile();
  }
}

#define LAUNCH(kernel, blocks, type) \
  ::twin::launcher<std::remove_reference_t<decltype(kernel)>, kernel>(blocks).as(::twin::KernelType::type).auto_sync(false)

GM_ADDR device_buffer(std::size_t bytes, float value) {
  void* p = nullptr;
  if (aclrtMalloc(&p, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) std::abort();
  const std::vector<half> host(bytes / 2, half(value));
  aclrtMemcpy(p, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  return static_cast<GM_ADDR>(p);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) tiles = std::atoi(argv[1]);
  std::printf("one host thread; checks and timing model on; best of 3\n");
  report_vectors(argc > 2 ? argv[2] : "");
  if (tiles == 0) return 0;
  const double products_seconds = best_seconds([] { LAUNCH(products, 1, AicOnly)(nullptr); });
  std::printf("  Mmad of 128 x 128 x 128 halves  %.1f GFLOP/s\n", 400 * 2.0 * kT * kT * kT / products_seconds / 1e9);
  GM_ADDR x = device_buffer(kT * kT * 2, 0.125f), s = device_buffer(24 * kT * kT * 4, 0),
          p = device_buffer(24 * kT * kT * 2, 0), o = device_buffer(24 * kT * kT * 4, 0);
  std::printf("  24 cube and 48 vector cores, %d tiles of 128 x 128 x 128, two products and a softmax each: %.2f s\n", tiles,
              seconds([&] {
                LAUNCH(attention, 24, MixAic12)
                (x, s, p, o);
              }));
  std::printf("  (modelled on the chip: %.1f us)\n", twin::last_timing().microseconds);
  return 0;
}
