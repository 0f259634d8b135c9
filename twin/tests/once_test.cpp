// SPDX-License-Identifier: Apache-2.0
// One bug is one report, with the fix that mends all of it: what follows from a bug that has been reported is none of its
// own.
// clang-format off: reports are compared with the lines that the kernels are written on
#include "planted.hpp"

using namespace AscendC;
using twin::KernelType;
using twin::Kind;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

constexpr int kN = 256;

// The reader orders the writes before and behind it as well.
template <bool kFixed>
void buffer_is_filled_again(GM_ADDR, GM_ADDR y) {
  for (int i = 0; i < 3; ++i) {
    if (kFixed && i) WaitFlag<HardEvent::MTE3_V>(2);
    WRONG Duplicate(ub<float>(0, kN), float(i), kN);
    order<HardEvent::V_MTE3>();
    PipeBarrier<PIPE_MTE3>();
    OTHER DataCopy(gm<float>(y, kN), ub<float>(0, kN), kN);
    if (kFixed && i < 2) SetFlag<HardEvent::MTE3_V>(2);
  }
}
// A flag behind the first reader orders the second one too.
template <bool kFixed>
void read_twice(GM_ADDR x, GM_ADDR) {
  OTHER DataCopy(ub<float>(0, kN), gm<float>(x, kN), kN);
  if (kFixed) order<HardEvent::MTE2_V>();
  WRONG Adds(ub<float>(1024, kN), ub<float>(0, kN), 1.0f, kN);
  Adds(ub<float>(2048, kN), ub<float>(0, kN), 2.0f, kN);
}
template <bool kFixed>
void waits_for_another_flag(GM_ADDR, GM_ADDR y) {
  Duplicate(ub<float>(0, kN), 1.0f, kN);
  OTHER SetFlag<HardEvent::V_MTE3>(kFixed ? 1 : 2);
  WRONG WaitFlag<HardEvent::V_MTE3>(1);
  DataCopy(gm<float>(y, kN), ub<float>(0, kN), kN);
}
template <bool kFixed>
void scalar_waits_for_nothing(GM_ADDR x, GM_ADDR) {
  DataCopy(ub<float>(0, kN), gm<float>(x, kN), kN);
  if (kFixed) SetFlag<HardEvent::MTE2_S>(0);
  WRONG WaitFlag<HardEvent::MTE2_S>(0);
  ub<float>(0, kN).GetValue(1);
}
template <bool kFixed>
void result_of_a_refused_instruction(GM_ADDR, GM_ADDR y) {
  Duplicate(ub<float>(0, kN), 1.0f, kN);
  PipeBarrier<PIPE_V>();
  WRONG Adds(ub<float>(1024, 64), ub<float>(0, kN)[kFixed ? 8 : 9], 1.0f, 64);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(y, kN), ub<float>(1024, 64), 64);
}
template <bool kFixed>
void used_after_free(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, 1024);
  pipe.InitBuffer(out, 1, 1024);
  LocalTensor<float> a = in.AllocTensor<float>(), r = out.AllocTensor<float>();
  DataCopy(a, gm<float>(x, kN), kN);
  in.EnQue(a);
  a = in.DeQue<float>();
  if (!kFixed) in.FreeTensor(a);
  WRONG Adds(r, a, 1.0f, kN);
  if (kFixed) in.FreeTensor(a);
  out.EnQue(r);
  r = out.DeQue<float>();
  DataCopy(gm<float>(y, kN), r, kN);
  out.FreeTensor(r);
}
template <bool kFixed>
void loads_one_more_than_there_are(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 2> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, kFixed ? 2 : 1, 1024);
  pipe.InitBuffer(out, 1, 1024);
  for (int i = 0; i < 4; ++i) {
    WRONG LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, gm<float>(x, kN), kN);
    in.EnQue(a);
    if (i == 0) continue;  // one ahead
    a = in.DeQue<float>();
    LocalTensor<float> r = out.AllocTensor<float>();
    Adds(r, a, 1.0f, kN);
    in.FreeTensor(a);
    out.EnQue(r);
    r = out.DeQue<float>();
    PipeBarrier<PIPE_MTE3>();
    DataCopy(gm<float>(y, kN), r, kN);
    out.FreeTensor(r);
  }
  LocalTensor<float> a = in.DeQue<float>();
  in.FreeTensor(a);
}
template <bool kFixed>
void set_twice_waited_twice(GM_ADDR, GM_ADDR) {
  for (int i = 0; i < 2; ++i) {
    WRONG OTHER SetFlag<HardEvent::V_MTE2>(4);
    if (kFixed) WaitFlag<HardEvent::V_MTE2>(4);
  }
  if (!kFixed) WaitFlag<HardEvent::V_MTE2>(4), WaitFlag<HardEvent::V_MTE2>(4);
}
template <bool kFixed>
void flag_of_the_pipe(GM_ADDR, GM_ADDR) {
  OTHER TPipe pipe;
  WRONG SetFlag<HardEvent::M_MTE1>(kFixed ? 4 : 0);
  WaitFlag<HardEvent::M_MTE1>(kFixed ? 4 : 0);
}
template <bool kFixed>
void event_that_is_left(GM_ADDR, GM_ADDR) {
  if (kFixed)
    order<HardEvent::V_S>();
  else {
    WRONG SetFlag<HardEvent::M_V>(0);
  }
}
template <bool kFixed>
void cross_core_flag_in_a_plain_kernel(GM_ADDR, GM_ADDR) {
  WRONG if (!kFixed) CrossCoreSetFlag<0, PIPE_MTE3>(3);
}
template <bool kFixed>
void of_the_other_core(GM_ADDR, GM_ADDR) {
  WRONG if (!kFixed || g_coreType == AIV) Duplicate(ub<float>(0, kN), 1.0f, kN);
}
// Each vector core of a pair stores, and loads what the other stores: no order, seen from both sides.
template <bool kFixed>
void loads_before_the_other_stores(GM_ADDR, GM_ADDR y) {
  if (g_coreType == AIC) return;
  Duplicate(ub<float>(0, 64), 1.0f, 64);
  order<HardEvent::V_MTE3>();
  WRONG DataCopy(gm<float>(y, kN)[GetSubBlockIdx() * 64], ub<float>(0, 64), 64);
  CrossCoreSetFlag<1, PIPE_MTE3>(0);
  if (kFixed) CrossCoreWaitFlag(0);
  OTHER DataCopy(ub<float>(1024, 64), gm<float>(y, kN)[(1 - GetSubBlockIdx()) * 64], 64);
  if (!kFixed) CrossCoreWaitFlag(0);
}
// Sums may come in any order, and maxima; not both.
template <bool kFixed>
void sum_and_maximum(GM_ADDR, GM_ADDR y) {
  Duplicate(ub<int32_t>(0, 64), 5, 64);
  order<HardEvent::V_MTE3>();
  if (kFixed || GetBlockIdx() == 0)
    SetAtomicAdd<int32_t>();
  else
    SetAtomicMax<int32_t>();
  WRONG OTHER DataCopy(gm<int32_t>(y, 64), ub<int32_t>(0, 64), 64);
  SetAtomicNone();
}
template <bool kFixed>
void element_across_words(GM_ADDR x, GM_ADDR) {
  GlobalTensor<float> g;
  g.SetGlobalBuffer((__gm__ float*)(x + (kFixed ? 4 : 2)), 8);
  WRONG g.GetValue(1);
}

// As if UB were as large as the buffers.
template <bool kFixed>
void buffer_past_the_memory(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<> first, last;
  pipe.InitBuffer(first, 188 * 1024);
  WRONG pipe.InitBuffer(last, kFixed ? 1024 : 8 * 1024);
  const uint32_t at = last.GetBufLen() / sizeof(float) - 256;
  const auto t = last.Get<float>()[at];
  DataCopy(t, gm<float>(x, kN), kN);
  order<HardEvent::MTE2_V>();
  Adds(t, t, 1.0f, kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(y, kN), t, kN);
}

struct Once {
  const char* name;
  Kind kind;
  bool two_lines;
  void (*planted)(GM_ADDR, GM_ADDR);
  void (*repaired)(GM_ADDR, GM_ADDR);
};
#define ONCE(kernel, kind, two_lines, type, blocks)                             \
  {                                                                             \
#kernel, Kind::kind, two_lines,                                               \
   [](GM_ADDR x, GM_ADDR y) { RUN(kernel<false>, blocks).as(KernelType::type).auto_sync(false)(x, y); }, \
   [](GM_ADDR x, GM_ADDR y) { RUN(kernel<true>, blocks).as(KernelType::type).auto_sync(false)(x, y); } \
  }
const Once kAll[] = {
    ONCE(buffer_is_filled_again, WriteAfterRead, true, AivOnly, 1),
    ONCE(read_twice, ReadAfterWrite, true, AivOnly, 1),
    ONCE(waits_for_another_flag, Flag, true, AivOnly, 1),
    ONCE(scalar_waits_for_nothing, Flag, false, AivOnly, 1),
    ONCE(result_of_a_refused_instruction, Alignment, false, AivOnly, 1),
    ONCE(used_after_free, UseAfterFree, false, AivOnly, 1),
    ONCE(loads_one_more_than_there_are, Queue, false, AivOnly, 1),
    ONCE(set_twice_waited_twice, Flag, true, AivOnly, 1),
    ONCE(flag_of_the_pipe, Flag, true, AicOnly, 1),
    ONCE(event_that_is_left, Flag, false, AivOnly, 1),
    ONCE(cross_core_flag_in_a_plain_kernel, KernelType, false, AivOnly, 2),
    ONCE(of_the_other_core, KernelType, false, MixAic11, 1),
    ONCE(loads_before_the_other_stores, GmRace, true, MixAic12, 1),
    ONCE(sum_and_maximum, GmRace, true, AivOnly, 2),
    ONCE(buffer_past_the_memory, Capacity, false, AivOnly, 1),
    ONCE(element_across_words, Alignment, false, AivOnly, 1),
};
void PrintTo(const Once& o, std::ostream* out) { *out << o.name; }

class OneBug : public testing::TestWithParam<Once> {
 protected:
  twin_test::Device<float> x_{std::vector<float>(kN, 0.5f)}, y_{std::vector<float>(kN, 0.0f)};
};

TEST_P(OneBug, IsOneReport) {
  twin::take_findings();
  GetParam().planted(x_, y_);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << twin_test::text(found);
  const twin::Finding& f = found[0];
  EXPECT_EQ(f.kind, GetParam().kind) << to_text(f);
  using twin_test::at, twin_test::ends_with, twin_test::other_line, twin_test::wrong_line;
  const bool seen_from_the_other_side = f.kind == Kind::GmRace && ends_with(f.line_a, at(other_line));
  EXPECT_TRUE(ends_with(f.line_a, at(wrong_line)) || seen_from_the_other_side) << f.line_a << ", not " << wrong_line;
  if (GetParam().two_lines) {
    EXPECT_TRUE(ends_with(f.line_b, at(seen_from_the_other_side ? wrong_line : other_line))) << f.line_b;
  }
}
TEST_P(OneBug, SisterRunsSilently) {
  twin::take_findings();
  GetParam().repaired(x_, y_);
  EXPECT_SILENT();
}
INSTANTIATE_TEST_SUITE_P(Planted, OneBug, testing::ValuesIn(kAll),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
