// SPDX-License-Identifier: Apache-2.0
// Planted bugs: what lies outside of a memory or over another tensor, what is misaligned or too much, what nothing defined.
// clang-format off: reports are compared with the lines that the kernels are written on
#include "bug_pairs.hpp"

using namespace AscendC;
using namespace twin_test;
using twin::KernelType;
using twin::Kind;

namespace {

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

const Case kCases[] = {
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
};
INSTANTIATE_TEST_SUITE_P(Memory, Bug, testing::ValuesIn(kCases), name_of_case);

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

TEST(Launch, OnFreedMemoryIsReported) {
  void* p = nullptr;
  aclrtMalloc(&p, kN * 4, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtFree(p);
  RUN(undefined_tail<true>, 1)(p, p);
  const auto found = twin::take_findings();
  EXPECT_NE(twin_test::find(found, Kind::UseAfterFree), nullptr) << twin_test::text(found);
}

}  // namespace
