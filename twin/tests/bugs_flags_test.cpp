// SPDX-License-Identifier: Apache-2.0
// Planted bugs: flags and queues, and cores that wait for each other or are of another kind.
// clang-format off: reports are compared with the lines that the kernels are written on
#include "bug_pairs.hpp"

using namespace AscendC;
using namespace twin_test;
using twin::KernelType;
using twin::Kind;

namespace {

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

const Case kCases[] = {
    PAIR_OF(kept_at_the_end, Kind::Queue, false, 1, kVector),
    PAIR_OF(still_in_the_queue, Kind::Queue, false, 1, kVector),
    PAIR_OF(kept_across_allocations, Kind::UseAfterFree, false, 1, kVector),
    PAIR_OF(flag_of_a_mix_kernel, Kind::KernelType, false, 2, kVector),
    PAIR_OF(instruction_of_the_other_core, Kind::KernelType, false, 1, KernelType::MixAic11),
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
};
INSTANTIATE_TEST_SUITE_P(Flags, Bug, testing::ValuesIn(kCases), name_of_case);

TEST(Launch, OfNoBlocksIsReported) {
  twin_test::Device<float> x(kN), y(kN);
  RUN(left_set<true>, 0)(x, y);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Kind::Limit);
}

}  // namespace
