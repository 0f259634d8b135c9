// SPDX-License-Identifier: Apache-2.0
// Planted bugs in loops over tiles: buffers in turn, tails, strides and masks, queues, flags that a branch leaves out.
// clang-format off: reports are compared with the lines that the kernels are written on
#include "bug_pairs.hpp"

using namespace AscendC;
using namespace twin_test;
using twin::KernelType;
using twin::Kind;

namespace {

// ---- two buffers in turn ----
template <bool kFixed>
void ids_exchanged(GM_ADDR x, GM_ADDR y) {  // each round waits for the flag of the round before
  SetFlag<HardEvent::MTE2_V>(kFixed ? 3 : 1);
  for (int i = 0; i < 4; ++i) {
    const int p = i % 2;
    if (i >= 2) WaitFlag<HardEvent::MTE3_MTE2>(p);
    OTHER DataCopy(ub(p), gm(x), kN);
    SetFlag<HardEvent::MTE2_V>(p);
    WaitFlag<HardEvent::MTE2_V>(kFixed ? p : 1 - p);
    if (i >= 2) WaitFlag<HardEvent::MTE3_V>(p);
    WRONG Adds(ub(2 + p), ub(p), 1.0f, kN);
    order<HardEvent::V_MTE3>();
    DataCopy(gm(y), ub(2 + p), kN);
    PipeBarrier<PIPE_MTE3>();
    if (i < 2) SetFlag<HardEvent::MTE3_MTE2>(p), SetFlag<HardEvent::MTE3_V>(p);
  }
  WaitFlag<HardEvent::MTE2_V>(kFixed ? 3 : 1);
}
template <bool kFixed>
void one_buffer_not_waited_for(GM_ADDR x, GM_ADDR y) {  // the second of two is loaded again under its reader
  for (int i = 0; i < 4; ++i) {
    const int p = i % 2;
    if (i >= 2 && (kFixed || p == 0)) WaitFlag<HardEvent::V_MTE2>(p);
    WRONG DataCopy(ub(p), gm(x), kN);
    order<HardEvent::MTE2_V>(2);
    if (i > 0) WaitFlag<HardEvent::MTE3_V>(0);
    OTHER Adds(ub(2), ub(p), 1.0f, kN);
    if (i < 2 && (kFixed || p == 0)) SetFlag<HardEvent::V_MTE2>(p);
    order<HardEvent::V_MTE3>();
    if (i > 0) PipeBarrier<PIPE_MTE3>();
    DataCopy(gm(y), ub(2), kN);
    if (i < 3) SetFlag<HardEvent::MTE3_V>(0);
  }
}
template <bool kFixed>
void waited_for_before_the_loop(GM_ADDR x, GM_ADDR y) {  // for the first tile only
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  Adds(ub(4), ub(0), 1.0f, kN);
  for (int i = 1; i < 3; ++i) {
    OTHER DataCopy(ub(i), gm(x), kN);
    if (kFixed) order<HardEvent::MTE2_V>();
    WRONG Adds(ub(4 + i), ub(i), 1.0f, kN);
  }
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(6), kN);
}
template <bool kFixed>
void barrier_of_another_pipe(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 2 * kN * 4);
  LocalTensor<float> in = buffer.Get<float>(kN), out = buffer.GetWithOffset<float>(kN, kN * 4);
  for (int i = 0; i < 2; ++i) {
    if (i > 0) order<HardEvent::V_MTE2>(6), order<HardEvent::MTE3_V>(6);
    OTHER DataCopy(in, gm(x, i * kN), kN);
    if (kFixed)
      order<HardEvent::MTE2_V>(6);
    else
      PipeBarrier<PIPE_MTE2>();
    WRONG Muls(out, in, 2.0f, kN);
    order<HardEvent::V_MTE3>(6);
    DataCopy(gm(y, i * kN), out, kN);
  }
}

// ---- tails ----
template <bool kFixed>
void filled_under_the_load(GM_ADDR x, GM_ADDR y) {  // zeros for the tail, and the load over them
  OTHER Duplicate(ub(0), 0.0f, kN);
  if (kFixed) order<HardEvent::V_MTE2>();
  WRONG DataCopyPad(ub(0), gm(x), DataCopyExtParams(1, 100 * 4, 0, 0, 0), DataCopyPadExtParams<float>(true, 0, 4, 0.0f));
  order<HardEvent::MTE2_MTE3>();
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(0), kN);
}
template <bool kFixed>
void last_tile_whole(GM_ADDR x, GM_ADDR y) {  // 100 floats a core, stored as 104 where no core follows and before the next
  DataCopyPad(ub(0), gm(x, GetBlockIdx() * 100, 100), DataCopyExtParams(1, 400, 0, 0, 0),
              DataCopyPadExtParams<float>(true, 0, 4, 0.0f));
  order<HardEvent::MTE2_MTE3>();
  OTHER WRONG DataCopyPad(gm(y, GetBlockIdx() * 100, kFixed ? 100 : 104), ub(0),
                          DataCopyExtParams(1, kFixed ? 400 : 416, 0, 0, 0));
}
template <bool kFixed>
void maximum_over_the_padding(GM_ADDR x, GM_ADDR) {  // nothing defines lanes 50 to 55
  DataCopyPad(ub(0), gm(x), DataCopyExtParams(1, 200, 0, 0, 0), DataCopyPadExtParams<float>(kFixed, 0, 6, 0.0f));
  order<HardEvent::MTE2_V>();
  WholeReduceMax(ub(1), ub(0), 56, 1, 1, 1, 8);
  order<HardEvent::V_S>();
  WRONG if (ub(1).GetValue(0) < 0) return;
}
template <bool kFixed>
void sub_tensor_past_its_end(GM_ADDR, GM_ADDR) {
  for (int i = 0; i < 3; ++i) {
    WRONG Duplicate(ub(0)[i * 96], 0.0f, kFixed ? 64 : 96);
  }
}
template <bool kFixed>
void offset_in_bytes(GM_ADDR x, GM_ADDR) {
  WRONG DataCopy(ub(0)[kFixed ? kN / 2 : kN * 2], gm(x), kN / 2);
}

// ---- strides and masks: what does not meet needs no order ----
template <bool kFixed>
void every_other_block(GM_ADDR, GM_ADDR y) {
  Duplicate(ub(0), 0.0f, kN);
  PipeBarrier<PIPE_V>();
  OTHER Duplicate(ub(0), 1.0f, 64, 2, 2, 16);  // blocks 0, 2, 4, …
  WRONG Adds(ub(1), kFixed ? ub(0)[8] : ub(0), 1.0f, 32, 4, UnaryRepeatParams(1, 2, 4, 8));
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y, 0, 128), ub(1), 128);
}
template <bool kFixed>
void half_of_the_lanes(GM_ADDR, GM_ADDR y) {
  Duplicate(ub(0), 0.0f, kN);
  Duplicate(ub(1), 0.0f, kN);
  PipeBarrier<PIPE_V>();
  uint64_t low[2] = {0xffffffffull, 0}, high[2] = {0xffffffff00000000ull, 0}, middle[2] = {0xffffffff0000ull, 0};
  OTHER Duplicate(ub(0), 1.0f, low, 4, 1, 8);
  WRONG Adds(ub(1), ub(0), 1.0f, kFixed ? high : middle, 4, UnaryRepeatParams(1, 1, 8, 8));
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(1), kN);
}
template <bool kFixed>
void rows_of_a_strided_load(GM_ADDR x, GM_ADDR y) {  // 4 rows of 64 with gaps of as much, which are Duplicate's
  Duplicate(ub(0, 2 * kN), 2.0f, 2 * kN);
  PipeBarrier<PIPE_V>();
  order<HardEvent::V_MTE2>();
  OTHER DataCopy(ub(0, 2 * kN), gm(x), DataCopyParams(4, 8, 0, 8));
  WRONG Duplicate(ub(0, 2 * kN)[kFixed ? 64 : 0], 0.0f, 64, 4, 1, 16);
  order<HardEvent::V_MTE3>();
  order<HardEvent::MTE2_MTE3>();
  DataCopy(gm(y, 0, 2 * kN), ub(0, 2 * kN), 2 * kN);
}

// ---- queues ----
struct Two {
  TPipe pipe;
  TQue<TPosition::VECIN, 2> in;
  TQue<TPosition::VECOUT, 2> out;
  Two() {
    pipe.InitBuffer(in, 2, kN * 4);
    pipe.InitBuffer(out, 2, kN * 4);
  }
};
template <bool kFixed>
void used_without_deque(GM_ADDR x, GM_ADDR y) {
  Two q;
  for (int i = 0; i < 3; ++i) {
    LocalTensor<float> t = q.in.AllocTensor<float>();
    OTHER DataCopy(t, gm(x), kN);
    q.in.EnQue(t);
    if (kFixed) t = q.in.DeQue<float>();
    LocalTensor<float> o = q.out.AllocTensor<float>();
    WRONG Adds(o, t, 1.0f, kN);
    if (!kFixed) t = q.in.DeQue<float>();
    q.in.FreeTensor(t);
    q.out.EnQue(o);
    o = q.out.DeQue<float>();
    PipeBarrier<PIPE_MTE3>();
    DataCopy(gm(y), o, kN);
    q.out.FreeTensor(o);
  }
}
template <bool kFixed>
void freed_before_the_store(GM_ADDR x, GM_ADDR y) {
  Two q;
  LocalTensor<float> t = q.in.AllocTensor<float>(), o = q.out.AllocTensor<float>();
  DataCopy(t, gm(x), kN);
  q.in.EnQue(t);
  t = q.in.DeQue<float>();
  Adds(o, t, 1.0f, kN);
  q.in.FreeTensor(t);
  q.out.EnQue(o);
  o = q.out.DeQue<float>();
  if (!kFixed) q.out.FreeTensor(o);
  WRONG DataCopy(gm(y), o, kN);
  if (kFixed) q.out.FreeTensor(o);
}
template <bool kFixed>
void stored_from_the_queue_of_loads(GM_ADDR x, GM_ADDR y) {  // FreeTensor of VECIN tells MTE2 of V, not of MTE3
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  pipe.InitBuffer(in, 1, kN * 4);
  for (int i = 0; i < 2; ++i) {
    LocalTensor<float> t = in.AllocTensor<float>();
    WRONG DataCopy(t, gm(x, i * kN), kN);
    in.EnQue(t);
    t = in.DeQue<float>();
    order<HardEvent::MTE2_MTE3>(6);
    OTHER DataCopy(gm(y, i * kN), t, kN);
    if (kFixed) order<HardEvent::MTE3_MTE2>(6);
    in.FreeTensor(t);
  }
}

template <bool kFixed>
void given_back_without_the_queue(GM_ADDR,
                                  GM_ADDR y) {  // flags by hand; FreeTensor and AllocTensor keep V from the store's tile
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(out, 1, kN * 4);
  for (int i = 0; i < 2; ++i) {
    LocalTensor<float> t = kFixed ? out.AllocTensor<float>() : ub(8);
    WRONG Duplicate(t, 1.0f + i, kN);
    order<HardEvent::V_MTE3>(6);
    OTHER DataCopy(gm(y, i * kN), t, kN);
    if (kFixed) out.FreeTensor(t);
  }
}

// ---- flags ----
template <bool kFixed>
void set_in_every_other_round(GM_ADDR x, GM_ADDR y) {
  for (int i = 0; i < 2; ++i) {
    DataCopy(ub(i), gm(x), kN);
    if (kFixed || i == 0) SetFlag<HardEvent::MTE2_MTE3>(4);
    WRONG WaitFlag<HardEvent::MTE2_MTE3>(4);
    DataCopy(gm(y, i * kN), ub(i), kN);
  }
}
template <bool kFixed>
void left_by_a_break(GM_ADDR x, GM_ADDR) {
  for (int i = 0; i < 4; ++i) {
    DataCopy(ub(i), gm(x), kN);
    WRONG SetFlag<HardEvent::MTE2_V>(5);
    if (!kFixed && i == 2) break;
    WaitFlag<HardEvent::MTE2_V>(5);
  }
}
template <bool kFixed>
void waited_for_behind_the_loop(GM_ADDR x, GM_ADDR) {
  for (int i = 0; i < 2; ++i) {
    DataCopy(ub(i), gm(x), kN);
    OTHER WRONG SetFlag<HardEvent::MTE2_V>(5);
    if (kFixed && i == 0) WaitFlag<HardEvent::MTE2_V>(5);
  }
  WaitFlag<HardEvent::MTE2_V>(5);
}

// ---- the scalar unit ----
template <bool kFixed>
void element_set_under_the_vector(GM_ADDR, GM_ADDR y) {
  Duplicate(ub(0), 1.0f, kN);
  PipeBarrier<PIPE_V>();
  OTHER Adds(ub(1), ub(0), 1.0f, kN);
  if (kFixed) order<HardEvent::V_S>();
  WRONG ub(0).SetValue(3, 7.0f);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(1), kN);
}
template <bool kFixed>
void element_set_under_the_store(GM_ADDR, GM_ADDR y) {
  Duplicate(ub(0), 1.0f, kN);
  order<HardEvent::V_MTE3>();
  order<HardEvent::V_S>();
  for (int i = 0; i < 2; ++i) {
    if (i > 0) PipeBarrier<PIPE_MTE3>();
    OTHER DataCopy(gm(y), ub(0), kN);
    if (kFixed) order<HardEvent::MTE3_S>();
    if (i == 0) {
      WRONG ub(0).SetValue(3, 7.0f);
      order<HardEvent::S_MTE3>();
    }
  }
}

const Case kCases[] = {
    PAIR_OF(ids_exchanged, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(one_buffer_not_waited_for, Kind::WriteAfterRead, true, 1, kVector),
    PAIR_OF(waited_for_before_the_loop, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(barrier_of_another_pipe, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(filled_under_the_load, Kind::WriteAfterWrite, true, 1, kVector),
    PAIR_OF(last_tile_whole, Kind::GmRace, true, 3, kVector),
    PAIR_OF(maximum_over_the_padding, Kind::Uninitialised, false, 1, kVector),
    PAIR_OF(sub_tensor_past_its_end, Kind::OutOfBounds, false, 1, kVector),
    PAIR_OF(offset_in_bytes, Kind::OutOfBounds, false, 1, kVector),
    PAIR_OF(every_other_block, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(half_of_the_lanes, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(rows_of_a_strided_load, Kind::WriteAfterWrite, true, 1, kVector),
    PAIR_OF(used_without_deque, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(freed_before_the_store, Kind::UseAfterFree, false, 1, kVector),
    PAIR_OF(stored_from_the_queue_of_loads, Kind::WriteAfterRead, true, 1, kVector),
    PAIR_OF(given_back_without_the_queue, Kind::WriteAfterRead, true, 1, kVector),
    PAIR_OF(set_in_every_other_round, Kind::Flag, false, 1, kVector),
    PAIR_OF(left_by_a_break, Kind::Flag, false, 1, kVector),
    PAIR_OF(waited_for_behind_the_loop, Kind::Flag, true, 1, kVector),
    PAIR_OF(element_set_under_the_vector, Kind::WriteAfterRead, true, 1, kVector),
    PAIR_OF(element_set_under_the_store, Kind::WriteAfterRead, true, 1, kVector),
};
INSTANTIATE_TEST_SUITE_P(Loops, Bug, testing::ValuesIn(kCases), name_of_case);

}  // namespace
