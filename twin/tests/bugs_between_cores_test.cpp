// SPDX-License-Identifier: Apache-2.0
// Planted bugs between cores: flags of all three modes, atomics, the scalar cache, and limits of the cube's memories.
// clang-format off: reports are compared with the lines that the kernels are written on
#include "bug_pairs.hpp"

using namespace AscendC;
using namespace twin_test;
using twin::KernelType;
using twin::Kind;

namespace {

constexpr int kTile = 256;  // floats of the cube's tile
// x (16 × 16 halves) times itself into GM: FIX stores.
class Product {
 public:
  explicit Product(GM_ADDR x) {
    g_.SetGlobalBuffer((__gm__ half*)x, 256);
    DataCopy(a1_, g_, Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
    order<HardEvent::MTE2_MTE1>();
    LoadData(a2_, a1_, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    LoadData(b2_, a1_, LoadData2DParams(0, 1, 1, 0, 0, true, 0));
    order<HardEvent::MTE1_M>();
    Mmad(c_, a2_, b2_, MmadParams(16, 16, 16, false));
    order<HardEvent::M_FIX>();
  }
  void store(const GlobalTensor<float>& z, twin::Site site = twin::Site::here()) {
    Fixpipe<float, float, CFG_ROW_MAJOR>(z, c_, FixpipeParamsV220(16, 16, 16, 16, false), site);
  }

 private:
  LocalTensor<half> a1_{TPosition::A1, 0, 256}, a2_{TPosition::A2, 0, 256}, b2_{TPosition::B2, 0, 256};
  LocalTensor<float> c_{TPosition::CO1, 0, 256};
  GlobalTensor<half> g_;
};

// ---- mode 2: a cube core and its two vector cores ----
template <bool kFixed>
void load_before_the_wait(GM_ADDR x, GM_ADDR y) {
  if ASCEND_IS_AIC {
    Product p(x);
    OTHER p.store(gm(y));
    CrossCoreSetFlag<2, PIPE_FIX>(1);
  } else {
    if (kFixed) CrossCoreWaitFlag(1);
    WRONG DataCopy(ub(0), gm(y), kTile);
    if (!kFixed) CrossCoreWaitFlag(1);
  }
}
template <bool kFixed>
void set_before_the_store(GM_ADDR x, GM_ADDR y) {
  if ASCEND_IS_AIC {
    Product p(x);
    if (!kFixed) CrossCoreSetFlag<2, PIPE_FIX>(1);
    OTHER p.store(gm(y));
    if (kFixed) CrossCoreSetFlag<2, PIPE_FIX>(1);
  } else {
    CrossCoreWaitFlag(1);
    WRONG DataCopy(ub(0), gm(y), kTile);
  }
}
template <bool kFixed>
void slot_not_given_back(GM_ADDR x,
                         GM_ADDR y) {  // two slots, three rounds: the third overwrites the first under its readers
  if ASCEND_IS_AIC {
    Product p(x);
    for (int round = 0; round < 3; ++round) {
      if (kFixed && round >= 2) CrossCoreWaitFlag(3 + round % 2);
      OTHER p.store(gm(y, round % 2 * kTile));
      CrossCoreSetFlag<2, PIPE_FIX>(1 + round % 2);
    }
  } else {
    for (int round = 0; round < 3; ++round) {
      CrossCoreWaitFlag(1 + round % 2);
      PipeBarrier<PIPE_MTE2>();
      WRONG DataCopy(ub(round), gm(y, round % 2 * kTile), kTile);
      if (kFixed && round == 0) CrossCoreSetFlag<2, PIPE_MTE2>(3);
    }
  }
}
template <bool kFixed>
void given_back_by_the_wrong_pipe(GM_ADDR x, GM_ADDR y) {  // V is done, the loads need not be
  if ASCEND_IS_AIC {
    Product p(x);
    for (int round = 0; round < 2; ++round) {
      if (round > 0) CrossCoreWaitFlag(4);
      WRONG p.store(gm(y));
      CrossCoreSetFlag<2, PIPE_FIX>(1);
    }
  } else {
    for (int round = 0; round < 2; ++round) {
      CrossCoreWaitFlag(1);
      OTHER DataCopy(ub(round), gm(y), kTile);
      if (round == 0) CrossCoreSetFlag<2, kFixed ? PIPE_MTE2 : PIPE_V>(4);
    }
  }
}
template <bool kFixed>
void one_vector_core_sets(GM_ADDR, GM_ADDR) {  // mode 2 waits for both
  if ASCEND_IS_AIC {
    WRONG CrossCoreWaitFlag(5);
  } else {
    if (kFixed || GetSubBlockIdx() == 0) CrossCoreSetFlag<2, PIPE_MTE3>(5);
  }
}
template <bool kFixed>
void set_sixteen_times(GM_ADDR, GM_ADDR) {  // counters go up to 15
  if ASCEND_IS_AIC {
    for (int i = 0; i < 16; ++i) {
      if (kFixed && i == 15) CrossCoreWaitFlag(6);
      WRONG CrossCoreSetFlag<2, PIPE_FIX>(5);
    }
  } else {
    CrossCoreWaitFlag(5);
    if (kFixed) CrossCoreSetFlag<2, PIPE_MTE3>(6);
    for (int i = 1; i < 16; ++i) CrossCoreWaitFlag(5);
  }
}
template <bool kFixed>
void left_for_the_next_kernel(GM_ADDR, GM_ADDR) {
  if ASCEND_IS_AIC {
    WRONG CrossCoreSetFlag<2, PIPE_FIX>(7);
  } else {
    if (kFixed) CrossCoreWaitFlag(7);
  }
}

// ---- mode 1: the two vector cores of a block ----
template <bool kFixed>
void halves_exchanged_too_early(GM_ADDR, GM_ADDR y) {  // each stores its half and reads the other's
  if ASCEND_IS_AIV {
    const int me = static_cast<int>(GetSubBlockIdx());
    Duplicate(ub(0), 1.0f, kTile);
    order<HardEvent::V_MTE3>();
    WRONG DataCopy(gm(y, me * kTile), ub(0), kTile);
    CrossCoreSetFlag<1, PIPE_MTE3>(2);
    if (kFixed) CrossCoreWaitFlag(2);
    OTHER DataCopy(ub(1), gm(y, (1 - me) * kTile), kTile);
    if (!kFixed) CrossCoreWaitFlag(2);
  }
}

// ---- mode 0: all vector cores ----
template <bool kFixed>
void set_by_the_loading_pipe(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), 64);
  order<HardEvent::MTE2_MTE3>();
  OTHER DataCopy(gm(y, GetBlockIdx() * 64, 64), ub(0), 64);
  CrossCoreSetFlag<0, kFixed ? PIPE_MTE3 : PIPE_MTE2>(3);
  CrossCoreWaitFlag(3);
  WRONG DataCopy(ub(1), gm(y, (GetBlockIdx() + 1) % GetBlockNum() * 64, 64), 64);
}
template <bool kFixed>
void one_round_behind(GM_ADDR, GM_ADDR y) {  // a barrier between the store and the load, none before the next store
  for (int round = 0; round < 2; ++round) {
    Duplicate(ub(0), 1.0f, 64);
    order<HardEvent::V_MTE3>();
    if (round > 0) PipeBarrier<PIPE_MTE3>();
    WRONG DataCopy(gm(y, GetBlockIdx() * 64, 64), ub(0), 64);
    SyncAll();
    PipeBarrier<PIPE_MTE2>();
    OTHER DataCopy(ub(1), gm(y, (GetBlockIdx() + 1) % GetBlockNum() * 64, 64), 64);
    if (kFixed) SyncAll();
    order<HardEvent::MTE3_V>();
  }
}

// ---- atomics ----
template <bool kFixed>
void added_onto_a_late_zero(GM_ADDR, GM_ADDR y) {  // block 0 clears what all add to
  Duplicate(ub(0), 0.0f, 64);
  Duplicate(ub(1), 1.0f, 64);
  order<HardEvent::V_MTE3>();
  if (GetBlockIdx() == 0) {
    OTHER DataCopy(gm(y), ub(0), 64);
  }
  if (kFixed) SyncAll();
  SetAtomicAdd<float>();
  if (GetBlockIdx() == 1) {
    WRONG DataCopy(gm(y), ub(1), 64);
  }
  SetAtomicNone();
}
template <bool kFixed>
void read_before_the_sum_is_there(GM_ADDR, GM_ADDR y) {
  Duplicate(ub(0), 1.0f, 64);
  order<HardEvent::V_MTE3>();
  SetAtomicAdd<float>();
  OTHER DataCopy(gm(y), ub(0), 64);
  SetAtomicNone();
  if (kFixed) order<HardEvent::MTE3_MTE2>();
  WRONG DataCopy(ub(1), gm(y), 64);
}

// ---- the scalar cache ----
template <bool kFixed>
void the_wrong_line_cleaned(GM_ADDR x, GM_ADDR) {
  if (GetBlockIdx() == 0) {
    OTHER gm(x).SetValue(16, 1.0f);
    DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(gm(x)[kFixed ? 16 : 0]);
  }
  SyncAll();
  if (GetBlockIdx() == 1) {
    WRONG if (gm(x).GetValue(16) < 0) return;
  }
}
template <bool kFixed>
void table_read_before_the_sync(GM_ADDR x, GM_ADDR y) {  // its line stays in the cache while another core fills it
  if (GetBlockIdx() == 1 && !kFixed && gm(y).GetValue(40) > 5) return;
  if (GetBlockIdx() == 0) {
    DataCopy(ub(0), gm(x), 64);
    order<HardEvent::MTE2_MTE3>();
    OTHER DataCopyPad(gm(y), ub(0), DataCopyExtParams(1, 36 * 4, 0, 0, 0));
  }
  SyncAll();
  if (GetBlockIdx() == 1) {
    WRONG if (gm(y).GetValue(33) < 0) return;
  }
}

// ---- the cube's memories ----
template <TPosition kPosition, int kFits, int kTooMuch, bool kFixed>
void too_large(GM_ADDR, GM_ADDR) {
  TPipe pipe;
  TQue<kPosition, 1> queue;
  WRONG pipe.InitBuffer(queue, 2, (kFixed ? kFits : kTooMuch) * 1024);
}
template <bool kFixed>
void l1_too_small(GM_ADDR x, GM_ADDR y) {
  too_large<TPosition::A1, 255, 256, kFixed>(x, y);
}
template <bool kFixed>
void l0a_too_small(GM_ADDR x, GM_ADDR y) {
  too_large<TPosition::A2, 32, 40, kFixed>(x, y);
}
template <bool kFixed>
void l0b_too_small(GM_ADDR x, GM_ADDR y) {
  too_large<TPosition::B2, 32, 33, kFixed>(x, y);
}
template <bool kFixed>
void l0c_too_small(GM_ADDR x, GM_ADDR y) {
  too_large<TPosition::CO1, 64, 65, kFixed>(x, y);
}

template <bool kFixed>
void half_of_b_loaded(GM_ADDR x, GM_ADDR z) {  // k = 32, and one fractal of two in L0B
  LocalTensor<half> a1(TPosition::A1, 0, 512), a2(TPosition::A2, 0, 512), b2(TPosition::B2, 0, 512);
  LocalTensor<float> c(TPosition::CO1, 0, 256);
  GlobalTensor<half> g;
  g.SetGlobalBuffer((__gm__ half*)x, 512);
  DataCopy(a1, g, Nd2NzParams(1, 16, 32, 0, 32, 16, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  LoadData(a2, a1, LoadData2DParams(0, 2, 1, 0, 0, false, 0));
  LoadData(b2, a1, LoadData2DParams(0, kFixed ? 2 : 1, 1, 0, 0, false, 0));
  order<HardEvent::MTE1_M>();
  Mmad(c, a2, b2, MmadParams(16, 16, 32, false));
  order<HardEvent::M_FIX>();
  WRONG Fixpipe(gm(z), c, FixpipeParamsV220(16, 16, 16, 16, false));
}
template <bool kFixed>
void fractal_off_its_boundary(GM_ADDR x, GM_ADDR) {
  LocalTensor<half> a1(TPosition::A1, 0, 512), a2(TPosition::A2, 0, 1024);
  GlobalTensor<half> g;
  g.SetGlobalBuffer((__gm__ half*)x, 512);
  DataCopy(a1, g, Nd2NzParams(1, 16, 32, 0, 32, 16, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  WRONG LoadData(a2[kFixed ? 256 : 128], a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
}
template <bool kFixed>
void n_is_no_multiple_of_16(GM_ADDR x, GM_ADDR z) {
  Product p(x);
  LocalTensor<float> c(TPosition::CO1, 0, 256);
  WRONG Fixpipe<float, float, CFG_NZ>(gm(z), c, FixpipeParamsV220(kFixed ? 16 : 8, 16, 16, 32, false));
}
template <bool kFixed>
void too_many_rows(GM_ADDR x, GM_ADDR) {
  WRONG DataCopyPad(ub(0), gm(x, 0, 2 * kN), DataCopyExtParams(kFixed ? 4 : 4096, 32, 0, 0, 0),
                    DataCopyPadExtParams<float>());
}
template <bool kFixed>
void integers_that_are_greater(GM_ADDR, GM_ADDR) {  // int32_t can only be compared for being equal
  LocalTensor<int32_t> a(TPosition::VECCALC, 0, 64), b(TPosition::VECCALC, 256, 64);
  LocalTensor<uint8_t> bits(TPosition::VECCALC, 1024, 32);
  Duplicate(a, 3, 64);
  Duplicate(b, 4, 64);
  PipeBarrier<PIPE_V>();
  WRONG Compare(bits, a, b, kFixed ? CMPMODE::EQ : CMPMODE::GT, 64);
}

constexpr auto kMix = KernelType::MixAic12;
const Case kCases[] = {
    PAIR_OF(load_before_the_wait, Kind::GmRace, true, 1, kMix),
    PAIR_OF(set_before_the_store, Kind::GmRace, true, 1, kMix),
    PAIR_OF(slot_not_given_back, Kind::GmRace, true, 1, kMix),
    PAIR_OF(given_back_by_the_wrong_pipe, Kind::GmRace, true, 1, kMix),
    PAIR_OF(one_vector_core_sets, Kind::Deadlock, false, 1, kMix),
    PAIR_OF(set_sixteen_times, Kind::Flag, false, 1, kMix),
    PAIR_OF(left_for_the_next_kernel, Kind::Flag, false, 1, kMix),
    PAIR_OF(halves_exchanged_too_early, Kind::GmRace, true, 1, kMix),
    PAIR_OF(set_by_the_loading_pipe, Kind::GmRace, true, 3, kHard),
    PAIR_OF(one_round_behind, Kind::GmRace, true, 3, kHard),
    PAIR_OF(added_onto_a_late_zero, Kind::GmRace, true, 2, kHard),
    PAIR_OF(read_before_the_sum_is_there, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(the_wrong_line_cleaned, Kind::StaleCache, true, 2, kHard),
    PAIR_OF(table_read_before_the_sync, Kind::StaleCache, true, 2, kHard),
    PAIR_OF(l1_too_small, Kind::Capacity, false, 1, KernelType::AicOnly),
    PAIR_OF(l0a_too_small, Kind::Capacity, false, 1, KernelType::AicOnly),
    PAIR_OF(l0b_too_small, Kind::Capacity, false, 1, KernelType::AicOnly),
    PAIR_OF(l0c_too_small, Kind::Capacity, false, 1, KernelType::AicOnly),
    PAIR_OF(half_of_b_loaded, Kind::Uninitialised, false, 1, KernelType::AicOnly),
    PAIR_OF(fractal_off_its_boundary, Kind::Alignment, false, 1, KernelType::AicOnly),
    PAIR_OF(n_is_no_multiple_of_16, Kind::Alignment, false, 1, KernelType::AicOnly),
    PAIR_OF(too_many_rows, Kind::Limit, false, 1, kVector),
    PAIR_OF(integers_that_are_greater, Kind::Limit, false, 1, kVector),
};
INSTANTIATE_TEST_SUITE_P(BetweenCores, Bug, testing::ValuesIn(kCases), name_of_case);

}  // namespace
