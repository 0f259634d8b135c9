// SPDX-License-Identifier: Apache-2.0
// Each kind of bug that the twin finds, planted in a kernel (kFixed false) beside its repaired sister (kFixed true): the one
// is reported with both lines, the other runs silently. Auto-sync is off.
// clang-format off: reports are compared with the lines that the kernels are written on
#include <functional>

#include "planted.hpp"

using namespace AscendC;
using namespace twin_test;
using twin::KernelType;
using twin::Kind;

namespace {

constexpr int kN = 256;  // floats a tile: 1 KB

LocalTensor<float> ub(int tile, int count = kN) { return LocalTensor<float>(TPosition::VECCALC, tile * kN * 4, count); }
GlobalTensor<float> gm(GM_ADDR address, int first = 0, int count = kN) { return floats(address, first, count); }

// ---- 1. order between pipes ----
template <bool kFixed>
void load_then_use(GM_ADDR x, GM_ADDR y) {
  OTHER DataCopy(ub(0), gm(x), kN);
  if (kFixed) order<HardEvent::MTE2_V>();
  WRONG Adds(ub(1), ub(0), 1.0f, kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(1), kN);
}
template <bool kFixed>
void use_then_store(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  OTHER Adds(ub(1), ub(0), 1.0f, kN);
  if (kFixed) order<HardEvent::V_MTE3>();
  WRONG DataCopy(gm(y), ub(1), kN);
}
template <bool kFixed>
void reload_while_in_use(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  OTHER Adds(ub(1), ub(0), 1.0f, kN);
  if (kFixed) order<HardEvent::V_MTE2>();
  WRONG DataCopy(ub(0), gm(x), kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(1), kN);
}
template <bool kFixed>
void dependent_vectors(GM_ADDR, GM_ADDR y) {
  Duplicate(ub(0), 1.0f, kN);
  PipeBarrier<PIPE_V>();
  OTHER Adds(ub(1), ub(0), 1.0f, kN);
  if (kFixed) PipeBarrier<PIPE_V>();
  WRONG Muls(ub(2), ub(1), 2.0f, kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(2), kN);
}
template <bool kFixed>
void overlapping_loads(GM_ADDR x, GM_ADDR y) {
  OTHER DataCopy(ub(0), gm(x), kN);
  if (kFixed) PipeBarrier<PIPE_MTE2>();
  WRONG DataCopy(ub(0)[8], gm(x), kN / 2);
  order<HardEvent::MTE2_MTE3>();
  DataCopy(gm(y), ub(0), kN);
}
template <bool kFixed>
void scalar_too_early(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  OTHER ReduceMax(ub(1), ub(0), ub(2), kN);
  if (kFixed) order<HardEvent::V_S>();
  WRONG const float largest = ub(1).GetValue(0);
  Adds(ub(0), ub(0), -largest, kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(0), kN);
}

struct Tiles {  // one fractal of A and B, one of C
  LocalTensor<half> a1{TPosition::A1, 0, 256}, b1{TPosition::B1, 1024, 256}, a2{TPosition::A2, 0, 256},
      b2{TPosition::B2, 0, 256};
  LocalTensor<float> c{TPosition::CO1, 0, 256};
  GlobalTensor<half> x, y;
  GlobalTensor<float> z;
  Tiles(GM_ADDR gx, GM_ADDR gz) {
    x.SetGlobalBuffer((__gm__ half*)gx, 256);
    y.SetGlobalBuffer((__gm__ half*)gx, 256);
    z.SetGlobalBuffer((__gm__ float*)gz, 256);
  }
};
// Which synchronisation is left out.
template <bool kFixed>
void bias_too_early(GM_ADDR x, GM_ADDR z) {
  Tiles t(x, z);
  LocalTensor<float> c1(TPosition::C1, 4096, 16), c2(TPosition::C2, 0, 16);
  DataCopy(t.a1, t.x, Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
  DataCopy(c1, gm(x, 0, 16), 16);
  order<HardEvent::MTE2_MTE1>();
  LoadData(t.a2, t.a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  LoadData(t.b2, t.a1, LoadData2DParams(0, 1, 1, 0, 0, true, 0));
  if (!kFixed) order<HardEvent::MTE1_M>();
  OTHER DataCopy(c2, c1, 16);
  if (kFixed) order<HardEvent::MTE1_M>();
  WRONG Mmad(t.c, t.a2, t.b2, c2, MmadParams(16, 16, 16, false));
  PipeBarrier<PIPE_ALL>();
}
enum CubeBug { kNoBug, kMte1, kCube, kFix, kReload, kSmall };
template <CubeBug kBug>
void cube(GM_ADDR x, GM_ADDR z) {
  Tiles t(x, z);
  const Nd2NzParams nz(1, 16, 16, 0, 16, 16, 1, 0);
  const LoadData2DParams one(0, 1, 1, 0, 0, false, 0);
  DataCopy(t.a1, t.x, nz);
  if (kBug == kMte1) other_line = __LINE__ + 1;
  DataCopy(t.b1, t.y, nz);
  if (kBug != kMte1) order<HardEvent::MTE2_MTE1>();
  if (kBug == kMte1) order<HardEvent::MTE2_MTE1>(), PipeBarrier<PIPE_MTE2>(), DataCopy(t.b1, t.y, nz), other_line = __LINE__;
  LoadData(t.a2, t.a1, one);
  if (kBug == kMte1) wrong_line = __LINE__ + 1;
  LoadData(t.b2, t.b1, one);
  if (kBug == kCube) other_line = __LINE__ - 1;
  if (kBug == kCube)
    SetFlag<HardEvent::MTE1_M>(0), LoadData(t.b2, t.b1, one), other_line = __LINE__, WaitFlag<HardEvent::MTE1_M>(0);
  if (kBug != kCube) order<HardEvent::MTE1_M>();
  MmadParams p(16, 16, 16, false);
  if (kBug == kCube) wrong_line = __LINE__ + 1;
  Mmad(t.c, t.a2, t.b2, p);
  if (kBug == kSmall) other_line = __LINE__ - 1;
  p.cmatrixInitVal = false;
  if (kBug != kSmall) PipeBarrier<PIPE_M>();
  if (kBug == kSmall) wrong_line = __LINE__ + 1;
  Mmad(t.c, t.a2, t.b2, p);
  if (kBug == kFix) other_line = __LINE__ - 1;
  if (kBug == kReload) other_line = __LINE__ - 2, wrong_line = __LINE__, LoadData(t.a2, t.a1, one);
  if (kBug != kFix) order<HardEvent::M_FIX>();
  if (kBug == kFix) wrong_line = __LINE__ + 1;
  Fixpipe(t.z, t.c, FixpipeParamsV220(16, 16, 16, 16, false));
  PipeBarrier<PIPE_ALL>();
}

// ---- 2. GM between cores ----
template <bool kFixed>
void both_store_there(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_MTE3>();
  OTHER WRONG DataCopy(gm(y, kFixed ? GetBlockIdx() * kN : GetBlockIdx() * 8, kN), ub(0), kN);
}
template <bool kFixed>
void statistics_of_8_bytes(GM_ADDR x, GM_ADDR y) {  // an article's stage 1: (max, sum) of each block side by side
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_MTE3>();
  GlobalTensor<float> out = gm(y, GetBlockIdx() * 2, 8);
  if (kFixed) {
    DataCopyPad(out, ub(0), DataCopyExtParams(1, 8, 0, 0, 0));
  } else {
    WRONG OTHER DataCopy(out, ub(0), 2);
  }
}
template <bool kFixed>
void read_what_the_other_wrote(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_MTE3>();
  if (GetBlockIdx() == 0) {
    OTHER DataCopy(gm(y), ub(0), kN);
  }
  if (kFixed) SyncAll();
  if (GetBlockIdx() == 1) {
    WRONG DataCopy(ub(1), gm(y), kN);
  }
}

template <bool kFixed>
void stores_over_each_other(GM_ADDR x, GM_ADDR y) {  // of one core, one pipe
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_MTE3>();
  OTHER DataCopy(gm(y), ub(0), kN);
  if (kFixed) PipeBarrier<PIPE_MTE3>();
  WRONG DataCopy(gm(y, 8), ub(0), kN);
}
template <bool kFixed>
void read_back_too_early(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_MTE3>();
  OTHER DataCopy(gm(y), ub(0), kN);
  if (kFixed) order<HardEvent::MTE3_MTE2>();
  WRONG DataCopy(ub(1), gm(y), kN);
}
template <bool kFixed>
void pipe_not_covered_by_the_set(GM_ADDR x, GM_ADDR y) {  // the flag is set on a pipe that has nothing to do with the store
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_MTE3>();
  if (GetSubBlockIdx() == 0) {
    OTHER DataCopy(gm(y), ub(0), kN);
  }
  CrossCoreSetFlag<1, kFixed ? PIPE_MTE3 : PIPE_V>(1);
  CrossCoreWaitFlag(1);
  if (GetSubBlockIdx() == 1) {
    WRONG DataCopy(ub(1), gm(y), kN);
  }
}

// ---- 3, 4, 5. memory ----
template <bool kFixed>
void past_the_end_of_gm(GM_ADDR x, GM_ADDR) {
  GlobalTensor<float> all;
  all.SetGlobalBuffer((__gm__ float*)x);
  WRONG DataCopy(ub(0), all[2 * kN - (kFixed ? 8 : 4)], 8);
}
template <bool kFixed>
void past_the_tensor(GM_ADDR, GM_ADDR) {
  WRONG Duplicate(ub(0), 0.0f, kFixed ? kN : kN + 1);
}
template <bool kFixed>
void tensor_without_memory(GM_ADDR, GM_ADDR) {  // it would be UB's first bytes, whoever they belong to
  LocalTensor<float> sum;
  if constexpr (kFixed) sum = ub(1);
  Duplicate(ub(0), 1.0f, kN);
  PipeBarrier<PIPE_V>();
  WRONG Adds(sum, ub(0), 1.0f, kN);
}
template <bool kFixed>
void tensors_over_each_other(GM_ADDR x, GM_ADDR y) {  // an address in elements where bytes are meant
  LocalTensor<float> a(TPosition::VECCALC, 0, kN), b(TPosition::VECCALC, kFixed ? kN * 4 : kN, kN);
  DataCopy(a, gm(x), kN);
  PipeBarrier<PIPE_MTE2>();
  OTHER DataCopy(b, gm(x, kN), kN);
  order<HardEvent::MTE2_V>();
  WRONG Adds(ub(4), a, 1.0f, kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(4), kN);
}
template <bool kFixed>
void tensor_over_a_queue(GM_ADDR x, GM_ADDR y) {  // a tensor at an address that the TPipe gave away
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  pipe.InitBuffer(in, 1, kN * 4);
  LocalTensor<float> t = in.AllocTensor<float>(), own(TPosition::VECCALC, kFixed ? kN * 4 : 32, 8);
  DataCopy(t, gm(x), kN);
  in.EnQue(t);
  t = in.DeQue<float>();
  OTHER Duplicate(own, 0.0f, 8);
  PipeBarrier<PIPE_V>();
  WRONG Adds(ub(4), t, 1.0f, kN);
  in.FreeTensor(t);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(4), kN);
}
template <bool kFixed>
void too_much_memory(GM_ADDR, GM_ADDR) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> a, b;
  pipe.InitBuffer(a, 96 * 1024);
  WRONG pipe.InitBuffer(b, kFixed ? 90 * 1024 : 96 * 1024);
}
template <bool kFixed>
void misaligned(GM_ADDR, GM_ADDR) {
  WRONG Duplicate(ub(0)[kFixed ? 8 : 1], 0.0f, 8);
}
template <bool kFixed>
void mask_too_wide(GM_ADDR, GM_ADDR) {
  WRONG Duplicate(ub(0), 0.0f, kFixed ? 64 : 65, 1, 1, 8);
}
template <bool kFixed>
void select_over_a_buffer(GM_ADDR, GM_ADDR) {  // modes 1 and 2 need the last 8 KB of UB
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, (kFixed ? 183 : 184) * 1024);
  LocalTensor<uint8_t> bits = buffer.GetWithOffset<uint8_t>(64, 4096);
  LocalTensor<float> t = buffer.GetWithOffset<float>(64, 0);
  Duplicate(t, 0.0f, 64);
  PipeBarrier<PIPE_V>();
  CompareScalar(bits, t, 0.0f, CMPMODE::GT, 64);
  PipeBarrier<PIPE_V>();
  WRONG Select(t, bits, t, 1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
}
template <bool kFixed>
void select_over_a_tensor(GM_ADDR, GM_ADDR y) {
  LocalTensor<float> t(TPosition::VECCALC, 0, 64), last(TPosition::VECCALC, (kFixed ? 175 : 184) * 1024, kN);
  LocalTensor<uint8_t> bits(TPosition::VECCALC, 4096, 64);
  Duplicate(t, 0.0f, 64);
  Duplicate(last, 0.0f, kN);
  PipeBarrier<PIPE_V>();
  CompareScalar(bits, t, 0.0f, CMPMODE::GT, 64);
  PipeBarrier<PIPE_V>();
  Select(t, bits, t, t, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);
  order<HardEvent::V_MTE3>();
  WRONG DataCopy(gm(y), last, kN);
}
template <bool kFixed>
void compare_of_odd_count(GM_ADDR, GM_ADDR) {
  Duplicate(ub(0), 0.0f, kN);
  PipeBarrier<PIPE_V>();
  LocalTensor<uint8_t> bits(TPosition::VECCALC, 4096, 64);
  WRONG CompareScalar(bits, ub(0), 0.0f, CMPMODE::GT, kFixed ? 64 : 63);
}

// ---- 6. values nothing defined ----
template <bool kFixed>
void undefined_tail(GM_ADDR x, GM_ADDR y) {
  DataCopyPad(ub(0), gm(x), DataCopyExtParams(1, 20, 0, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0.0f));
  order<HardEvent::MTE2_V>();
  Adds(ub(1), ub(0), 1.0f, 8);  // over the padding too: no error as long as nobody looks at it
  order<HardEvent::V_MTE3>();
  WRONG DataCopyPad(gm(y), ub(1), DataCopyExtParams(1, kFixed ? 20 : 24, 0, 0, 0));
}
template <bool kFixed>
void nothing_wrote_it(GM_ADDR, GM_ADDR y) {
  if (kFixed) Duplicate(ub(0), 0.0f, kN);
  PipeBarrier<PIPE_V>();
  Adds(ub(1), ub(0), 1.0f, kN);
  order<HardEvent::V_MTE3>();
  WRONG DataCopy(gm(y), ub(1), kN);
}
template <bool kFixed>
void scalar_of_undefined(GM_ADDR, GM_ADDR) {
  if (kFixed) ub(0).SetValue(0, 1.0f);
  WRONG if (ub(0).GetValue(0) > 2.0f) return;
}

// ---- 7. flags ----
template <bool kFixed>
void set_twice(GM_ADDR, GM_ADDR) {
  OTHER SetFlag<HardEvent::MTE2_V>(0);
  if (kFixed) WaitFlag<HardEvent::MTE2_V>(0);
  WRONG SetFlag<HardEvent::MTE2_V>(0);
  WaitFlag<HardEvent::MTE2_V>(0);
}
template <bool kFixed>
void never_set(GM_ADDR, GM_ADDR) {
  if (kFixed) SetFlag<HardEvent::MTE2_V>(1);
  WRONG WaitFlag<HardEvent::MTE2_V>(1);
}
template <bool kFixed>
void left_set(GM_ADDR, GM_ADDR) {
  WRONG SetFlag<HardEvent::MTE2_V>(2);
  if (kFixed) WaitFlag<HardEvent::MTE2_V>(2);
}
template <bool kFixed>
void id_too_large(GM_ADDR, GM_ADDR) {
  WRONG SetFlag<HardEvent::MTE2_V>(kFixed ? 7 : 8);
  if (kFixed) WaitFlag<HardEvent::MTE2_V>(7);
}
template <bool kFixed>
void event_of_the_other_core(GM_ADDR, GM_ADDR) {
  if (kFixed) {
    order<HardEvent::V_MTE3>();
  } else {
    WRONG SetFlag<HardEvent::M_FIX>(0);
    WaitFlag<HardEvent::M_FIX>(0);
  }
}

// ---- 8. queues ----
struct Queues {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  Queues() { pipe.InitBuffer(in, 1, kN * 4); }
};
template <bool kFixed>
void deque_of_nothing(GM_ADDR x, GM_ADDR) {
  Queues q;
  LocalTensor<float> t = q.in.AllocTensor<float>();
  DataCopy(t, gm(x), kN);
  if (kFixed) q.in.EnQue(t);
  WRONG t = q.in.DeQue<float>();
  q.in.FreeTensor(t);
}
template <bool kFixed>
void freed_twice(GM_ADDR x, GM_ADDR) {
  Queues q;
  LocalTensor<float> t = q.in.AllocTensor<float>();
  DataCopy(t, gm(x), kN);
  q.in.EnQue(t);
  t = q.in.DeQue<float>();
  OTHER q.in.FreeTensor(t);
  if (!kFixed) {
    WRONG q.in.FreeTensor(t);
  }
}
template <bool kFixed>
void allocated_past_the_depth(GM_ADDR, GM_ADDR) {
  Queues q;
  OTHER LocalTensor<float> t = q.in.AllocTensor<float>();
  if (kFixed) q.in.FreeTensor(t);
  WRONG t = q.in.AllocTensor<float>();
  q.in.FreeTensor(t);
}
template <bool kFixed>
void used_after_free(GM_ADDR x, GM_ADDR) {
  Queues q;
  LocalTensor<float> t = q.in.AllocTensor<float>();
  DataCopy(t, gm(x), kN);
  q.in.EnQue(t);
  t = q.in.DeQue<float>();
  if (!kFixed) q.in.FreeTensor(t);
  WRONG Adds(ub(8), t, 1.0f, kN);
  if (kFixed) q.in.FreeTensor(t);
}

template <bool kFixed>
void kept_at_the_end(GM_ADDR x, GM_ADDR) {
  Queues q;
  LocalTensor<float> t = q.in.AllocTensor<float>();
  DataCopy(t, gm(x), kN);
  q.in.EnQue(t);
  WRONG t = q.in.DeQue<float>();
  if (kFixed) q.in.FreeTensor(t);
}
template <bool kFixed>
void still_in_the_queue(GM_ADDR x, GM_ADDR) {
  Queues q;
  LocalTensor<float> t = q.in.AllocTensor<float>();
  DataCopy(t, gm(x), kN);
  WRONG q.in.EnQue(t);
  if (kFixed) q.in.FreeTensor(q.in.DeQue<float>());
}
template <bool kFixed>
void kept_across_allocations(GM_ADDR x, GM_ADDR) {  // a tensor of the last round is used in this one
  Queues q;
  LocalTensor<float> kept;
  for (int round = 0; round < 2; ++round) {
    LocalTensor<float> t = q.in.AllocTensor<float>();
    DataCopy(t, gm(x), kN);
    q.in.EnQue(t);
    t = q.in.DeQue<float>();
    if (kFixed || round == 0) kept = t;
    WRONG Adds(ub(8 + round), kept, 1.0f, kN);
    q.in.FreeTensor(t);
  }
}

// ---- 9, 11. cores ----
template <bool kFixed>
void flag_of_a_mix_kernel(GM_ADDR, GM_ADDR) {
  if (kFixed) return;
  WRONG CrossCoreSetFlag<0, PIPE_MTE3>(1);
  CrossCoreWaitFlag(1);
}
template <bool kFixed>
void instruction_of_the_other_core(GM_ADDR, GM_ADDR) {
  if (kFixed && g_coreType == AIC) return;
  WRONG Duplicate(ub(0), 0.0f, kN);
}
template <bool kFixed>
void waits_for_ever(GM_ADDR, GM_ADDR) {
  if ASCEND_IS_AIC {
    if (kFixed) CrossCoreSetFlag<2, PIPE_FIX>(3);
  } else {
    WRONG CrossCoreWaitFlag(3);
  }
}
template <bool kFixed>
void sync_of_the_wrong_form(GM_ADDR, GM_ADDR) {
  WRONG SyncAll<kFixed>();
}
void sync_twice(GM_ADDR, GM_ADDR) { WRONG SyncAll(); }

// ---- 10. cube layouts ----
template <bool kFixed>
void one_row(GM_ADDR x, GM_ADDR z) {
  LocalTensor<half> a1(TPosition::A1, 0, 1024), b1(TPosition::B1, 8192, 1024), a2(TPosition::A2, 0, 1024),
      b2(TPosition::B2, 0, 1024);
  LocalTensor<float> c(TPosition::CO1, 0, 256);
  GlobalTensor<half> g;
  g.SetGlobalBuffer((__gm__ half*)x, 512);
  DataCopy(a1, g, Nd2NzParams(1, 1, 32, 0, 32, kFixed ? 1 : 16, 1, 0));
  DataCopy(b1, g, Nd2NzParams(1, 32, 16, 0, 16, 32, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  InitConstValue(a2, InitConstValueParams<half>(1, 2, 0, half(0)));
  LoadData(a2, a1, LoadData2DParams(0, kFixed ? 1 : 2, 1, 0, 0, false, 0));
  LoadData(b2, b1, LoadData2DParams(0, 2, 1, 0, 0, true, 0));
  order<HardEvent::MTE1_M>();
  WRONG Mmad(c, a2, b2, MmadParams(1, 16, 32, false));
  order<HardEvent::M_FIX>();
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)z, 16);
  Fixpipe(out, c, FixpipeParamsV220(16, 1, 16, 16, false));
}
template <bool kFixed>
void unit_flags(GM_ADDR x, GM_ADDR z) {
  Tiles t(x, z);
  DataCopy(t.a1, t.x, Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  LoadData(t.a2, t.a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  LoadData(t.b2, t.a1, LoadData2DParams(0, 1, 1, 0, 0, true, 0));
  order<HardEvent::MTE1_M>();
  MmadParams p(16, 16, 16, false);
  p.unitFlag = 3;
  Mmad(t.c, t.a2, t.b2, p);
  FixpipeParamsV220 f(16, 16, 16, 16, false);
  f.unitFlag = kFixed ? 3 : 0;
  if (!kFixed) order<HardEvent::M_FIX>();
  WRONG Fixpipe(t.z, t.c, f);
}

// Two products into one tile, and Fixpipe. 0: as they should be.
enum UnitBug { kUnitsFit, kNeverLast, kLastTwice, kReserved, kMmadWithout, kOddStride, kRowsOverlap };
template <UnitBug kBug>
void unit_flag_modes(GM_ADDR x, GM_ADDR z) {
  Tiles t(x, z);
  LocalTensor<half> b2(TPosition::B2, 0, 512);
  DataCopy(t.a1, t.x, Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  LoadData(t.a2, t.a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  LoadData(b2, t.a1, LoadData2DParams(0, 1, 1, 0, 0, true, 0));
  LoadData(b2[256], t.a1, LoadData2DParams(0, 1, 1, 0, 0, true, 0));
  order<HardEvent::MTE1_M>();
  LocalTensor<float> c(TPosition::CO1, 0, 512);
  MmadParams p(16, 32, 16, false);
  p.unitFlag = kBug == kReserved ? 1 : kBug == kLastTwice ? 3 : 2;
  if (kBug == kReserved) wrong_line = __LINE__ + 1;
  Mmad(c, t.a2, b2, p);
  if (kBug == kLastTwice) other_line = __LINE__ - 1, wrong_line = __LINE__ + 5;
  PipeBarrier<PIPE_M>();
  p.unitFlag = kBug == kNeverLast ? 2 : kBug == kMmadWithout ? 0 : 3;
  p.cmatrixInitVal = false;
  if (kBug != kReserved && kBug != kLastTwice) other_line = __LINE__ + 1;
  Mmad(c, t.a2, b2, p);
  FixpipeParamsV220 f(32, 16, kBug == kOddStride ? 17 : 16, kBug == kRowsOverlap ? 16 : 32, false);
  f.unitFlag = 3;
  if (kBug != kReserved && kBug != kLastTwice) wrong_line = __LINE__ + 3;
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)z, 512);
  Fixpipe(out, c, f);
}
#define UNIT(bug, kind, two)                                                         \
  {                                                                                  \
    "unit_flag_" #bug, kind, two, ONE(unit_flag_modes<bug>, 1, KernelType::AicOnly), \
        ONE(unit_flag_modes<kUnitsFit>, 1, KernelType::AicOnly)                      \
  }

using Run = std::function<void(GM_ADDR, GM_ADDR)>;
struct Case {
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
  const char* name;
  Kind kind;
  bool two_lines;
  Run planted, repaired;
};
#define ONE(kernel, blocks, type) [](GM_ADDR a, GM_ADDR b) { RUN(kernel, blocks).as(type).auto_sync(false)(a, b); }
#define PAIR_OF(name, kind, two, blocks, type) \
  { #name, kind, two, ONE(name <false>, blocks, type), ONE(name <true>, blocks, type) }
#define CUBE(bug, kind) \
  { "cube_" #bug, kind, true, ONE(cube<bug>, 1, KernelType::AicOnly), ONE(cube<kNoBug>, 1, KernelType::AicOnly) }
constexpr auto kVector = KernelType::AivOnly;
constexpr auto kHard = KernelType::MixAiv10;

// On the two vector cores of a block; the cube core has nothing to do.
template <bool kFixed>
void on_vector_cores(GM_ADDR x, GM_ADDR y) {
  if (g_coreType == AIV) pipe_not_covered_by_the_set<kFixed>(x, y);
}
template <bool kFixed>
void vector_pair(GM_ADDR x, GM_ADDR y) {
  RUN(on_vector_cores<kFixed>, 1).as(KernelType::MixAic12).auto_sync(false)(x, y);
}

const Case kCases[] = {
    PAIR_OF(load_then_use, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(use_then_store, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(reload_while_in_use, Kind::WriteAfterRead, true, 1, kVector),
    PAIR_OF(dependent_vectors, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(overlapping_loads, Kind::WriteAfterWrite, true, 1, kVector),
    PAIR_OF(scalar_too_early, Kind::ReadAfterWrite, true, 1, kVector),
    CUBE(kMte1, Kind::ReadAfterWrite),
    CUBE(kCube, Kind::ReadAfterWrite),
    CUBE(kFix, Kind::ReadAfterWrite),
    CUBE(kReload, Kind::WriteAfterRead),
    CUBE(kSmall, Kind::ReadAfterWrite),
    PAIR_OF(both_store_there, Kind::GmRace, true, 2, kVector),
    PAIR_OF(statistics_of_8_bytes, Kind::GmRace, true, 2, kVector),
    PAIR_OF(read_what_the_other_wrote, Kind::GmRace, true, 2, kHard),
    PAIR_OF(stores_over_each_other, Kind::WriteAfterWrite, true, 1, kVector),
    PAIR_OF(read_back_too_early, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(bias_too_early, Kind::ReadAfterWrite, true, 1, KernelType::AicOnly),
    PAIR_OF(kept_at_the_end, Kind::Queue, false, 1, kVector),
    PAIR_OF(still_in_the_queue, Kind::Queue, false, 1, kVector),
    PAIR_OF(kept_across_allocations, Kind::UseAfterFree, false, 1, kVector),
    PAIR_OF(flag_of_a_mix_kernel, Kind::KernelType, false, 2, kVector),
    PAIR_OF(instruction_of_the_other_core, Kind::KernelType, false, 1, KernelType::MixAic11),
    {"pipe_not_covered_by_the_set", Kind::GmRace, true, [](GM_ADDR a, GM_ADDR b) { vector_pair<false>(a, b); },
     [](GM_ADDR a, GM_ADDR b) { vector_pair<true>(a, b); }},
    PAIR_OF(past_the_end_of_gm, Kind::OutOfBounds, false, 1, kVector),
    PAIR_OF(past_the_tensor, Kind::OutOfBounds, false, 1, kVector),
    PAIR_OF(tensor_without_memory, Kind::OutOfBounds, false, 1, kVector),
    PAIR_OF(tensors_over_each_other, Kind::Overlap, true, 1, kVector),
    PAIR_OF(tensor_over_a_queue, Kind::Overlap, true, 1, kVector),
    PAIR_OF(too_much_memory, Kind::Capacity, false, 1, kVector),
    PAIR_OF(misaligned, Kind::Alignment, false, 1, kVector),
    PAIR_OF(mask_too_wide, Kind::Limit, false, 1, kVector),
    PAIR_OF(compare_of_odd_count, Kind::Alignment, false, 1, kVector),
    PAIR_OF(select_over_a_buffer, Kind::Capacity, false, 1, kVector),
    PAIR_OF(select_over_a_tensor, Kind::Uninitialised, false, 1, kVector),
    PAIR_OF(undefined_tail, Kind::Uninitialised, false, 1, kVector),
    PAIR_OF(nothing_wrote_it, Kind::Uninitialised, false, 1, kVector),
    PAIR_OF(scalar_of_undefined, Kind::Uninitialised, false, 1, kVector),
    PAIR_OF(set_twice, Kind::Flag, true, 1, kVector),
    PAIR_OF(never_set, Kind::Flag, false, 1, kVector),
    PAIR_OF(left_set, Kind::Flag, false, 1, kVector),
    PAIR_OF(id_too_large, Kind::Flag, false, 1, kVector),
    PAIR_OF(event_of_the_other_core, Kind::Flag, false, 1, kVector),
    PAIR_OF(deque_of_nothing, Kind::Queue, false, 1, kVector),
    PAIR_OF(freed_twice, Kind::Queue, true, 1, kVector),
    PAIR_OF(allocated_past_the_depth, Kind::Queue, true, 1, kVector),
    PAIR_OF(used_after_free, Kind::UseAfterFree, false, 1, kVector),
    PAIR_OF(waits_for_ever, Kind::Deadlock, false, 1, KernelType::MixAic12),
    PAIR_OF(sync_of_the_wrong_form, Kind::KernelType, false, 2, kHard),
    {"sync_in_a_plain_kernel", Kind::KernelType, false, ONE(sync_twice, 2, kVector), ONE(sync_twice, 2, kHard)},
    {"more_blocks_than_cores", Kind::KernelType, false, ONE(sync_twice, 49, kHard), ONE(sync_twice, 48, kHard)},
    PAIR_OF(one_row, Kind::CubeLayout, false, 1, KernelType::AicOnly),
    PAIR_OF(unit_flags, Kind::CubeLayout, false, 1, KernelType::AicOnly),
    UNIT(kNeverLast, Kind::CubeLayout, true),
    UNIT(kLastTwice, Kind::CubeLayout, true),
    UNIT(kReserved, Kind::CubeLayout, false),
    UNIT(kMmadWithout, Kind::CubeLayout, true),
    UNIT(kOddStride, Kind::Alignment, false),
    UNIT(kRowsOverlap, Kind::Limit, false),
};

class Bug : public testing::TestWithParam<Case> {
 protected:
  twin_test::Device<float> x_{std::vector<float>(2 * kN, 0.5f)}, y_{std::vector<float>(2 * kN, 0.0f)};
};

TEST_P(Bug, IsReportedOnceWithItsLines) {
  twin::take_findings();
  GetParam().planted(x_, y_);
  const auto found = twin::take_findings();
  const twin::Finding* f = twin_test::find(found, GetParam().kind);
  ASSERT_NE(f, nullptr) << "nothing of this kind in: " << twin_test::text(found);
  // A copy shorter than a block is two: it moves more than it says, and so into another core's block.
  const std::size_t reports = GetParam().name == std::string("statistics_of_8_bytes") ? 2 : 1;
  EXPECT_EQ(found.size(), reports) << twin_test::text(found);
  EXPECT_TRUE(twin_test::ends_with(f->line_a, twin_test::at(wrong_line))) << f->line_a << ", expected line " << wrong_line;
  if (GetParam().two_lines) {
    EXPECT_TRUE(twin_test::ends_with(f->line_b, twin_test::at(other_line))) << f->line_b << ", expected line " << other_line;
  }
  EXPECT_FALSE(f->fix.empty());
  EXPECT_FALSE(f->core.empty());
}

TEST_P(Bug, SisterRunsSilently) {
  twin::take_findings();
  GetParam().repaired(x_, y_);
  EXPECT_SILENT();
}

INSTANTIATE_TEST_SUITE_P(Planted, Bug, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// A report names the tensors by the line that declares them, in text and in JSON.
TEST(Finding, NamesBothTensors) {
  twin_test::Device<float> x(std::vector<float>(2 * kN, 0.5f)), y(std::vector<float>(2 * kN, 0.0f));
  RUN(tensor_over_a_queue<false>, 1).as(kVector).auto_sync(false)(x, y);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << twin_test::text(found);
  EXPECT_EQ(found[0].tensor.substr(0, 31), "VECIN buffer of the InitBuffer ") << found[0].tensor;
  EXPECT_EQ(found[0].other_tensor.substr(0, 18), "VECCALC tensor of ") << found[0].other_tensor;
  EXPECT_NE(found[0].other_tensor.find("UB [0x20, 0x40)"), std::string::npos) << found[0].other_tensor;
  const std::string json = twin::to_json(found);
  for (const char* const key : {"kind", "what", "line", "other_line", "core", "pipe", "other_pipe", "range", "tensor",
                                "other_tensor", "fix", "count"})
    EXPECT_NE(json.find(std::string("\"") + key + "\": "), std::string::npos) << key << " in " << json;
}

// ---- auto-sync ----
TEST(AutoSync, AddsWhatTheDeviceCompilerAddsAndTimesIt) {
  twin_test::Device<float> x(std::vector<float>(kN, 1.0f)), y(std::vector<float>(kN, 0.0f));
  RUN(dependent_vectors<false>, 1).as(kVector).auto_sync(true)(x, y);
  EXPECT_SILENT();
  const double added = twin::last_timing().cycles;
  RUN(dependent_vectors<true>, 1).as(kVector).auto_sync(false)(x, y);
  EXPECT_EQ(added, twin::last_timing().cycles);
}
TEST(AutoSync, NeverOrdersCopiesAndVectors) {
  twin_test::Device<float> x(std::vector<float>(kN, 1.0f)), y(std::vector<float>(kN, 0.0f));
  RUN(load_then_use<false>, 1).as(kVector).auto_sync(true)(x, y);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << twin_test::text(found);
  EXPECT_EQ(found[0].kind, Kind::ReadAfterWrite);
}

TEST(Launch, OfNoBlocksIsReported) {
  twin_test::Device<float> x(kN), y(kN);
  RUN(left_set<true>, 0)(x, y);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Kind::Limit);
}
TEST(Launch, OnFreedMemoryIsReported) {
  void* p = nullptr;
  aclrtMalloc(&p, kN * 4, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtFree(p);
  RUN(load_then_use<true>, 1)(p, p);
  const auto found = twin::take_findings();
  EXPECT_NE(twin_test::find(found, Kind::UseAfterFree), nullptr) << twin_test::text(found);
}

}  // namespace
