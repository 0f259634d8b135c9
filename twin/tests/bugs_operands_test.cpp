// SPDX-License-Identifier: Apache-2.0
// Planted bugs in the operands of one instruction: over each other, past their ends by way of data, of the wrong form.
// clang-format off: reports are compared with the lines that the kernels are written on
#include "bug_pairs.hpp"

using namespace AscendC;
using namespace twin_test;
using twin::KernelType;
using twin::Kind;

namespace {

// ---- a destination over a source ----
template <bool kFixed>
void shifted_onto_itself(GM_ADDR x, GM_ADDR y) {  // the second repeat reads what the first has written, or has not yet
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  WRONG Adds(kFixed ? ub(1) : ub(0)[8], ub(0), 1.0f, 128);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(kFixed ? 1 : 0), 128);
}
template <bool kFixed>
void shifted_down(GM_ADDR x, GM_ADDR y) {  // no repeat reads what one before it wrote; the other way round it would
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  if (kFixed) {
    Adds(ub(0), ub(0)[64], 1.0f, 128);
  } else {
    WRONG Adds(ub(0)[64], ub(0), 1.0f, 128);
  }
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(0), 128);
}
template <bool kFixed>
void widened_in_place(GM_ADDR x, GM_ADDR y) {  // narrowing in place is fine
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  LocalTensor<half> narrow = ub(0).ReinterpretCast<half>();
  Cast(narrow, ub(0), RoundMode::CAST_RINT, kN);
  PipeBarrier<PIPE_V>();
  WRONG Cast(kFixed ? ub(1) : ub(0), narrow, RoundMode::CAST_NONE, kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(kFixed ? 1 : 0), kN);
}
template <bool kFixed>
void sums_of_rows_in_place(GM_ADDR x, GM_ADDR y) {  // a running sum in one instruction: row k + 1 += row k
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  if (kFixed) {
    for (int row = 0; row < 3; ++row) {
      Add(ub(0)[64 * (row + 1)], ub(0)[64 * (row + 1)], ub(0)[64 * row], 64);
      PipeBarrier<PIPE_V>();
    }
  } else {
    WRONG Add(ub(0)[64], ub(0)[64], ub(0), 64, 3, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
  }
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(0), kN);
}
template <bool kFixed>
void accumulated_in_one_row(GM_ADDR x, GM_ADDR y) {  // repeat stride 0 of destination and source alike is the documented way
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  Duplicate(ub(1), 0.0f, 128);
  PipeBarrier<PIPE_V>();
  WRONG Add(ub(1), ub(0), kFixed ? ub(1) : ub(1)[8], 64, 4, BinaryRepeatParams(1, 1, 1, 0, 8, 0));
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y, 0, 64), ub(1), 64);
}

template <bool kFixed>
void accumulated_in_the_first_source(GM_ADDR x, GM_ADDR y) {  // the pages allow it of the second one
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  Duplicate(ub(1), 0.0f, 64);
  PipeBarrier<PIPE_V>();
  const uint8_t gathers = 0, goes_on = 8;
  WRONG Add(ub(1), ub(kFixed ? 0 : 1), ub(kFixed ? 1 : 0), 64, 4,
            BinaryRepeatParams(1, 1, 1, 0, kFixed ? goes_on : gathers, kFixed ? gathers : goes_on));
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y, 0, 64), ub(1), 64);
}
template <bool kFixed>
void doubled_over_and_over(GM_ADDR x, GM_ADDR) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  const uint8_t step = kFixed ? 8 : 0;
  WRONG Muls(ub(0), ub(0), 2.0f, 64, 4, UnaryRepeatParams(1, 1, step, step));
}
template <bool kFixed>
void summed_behind_a_source_that_stands(GM_ADDR x, GM_ADDR) {  // the second repeat writes what the others add
  DataCopy(ub(0), gm(x), kN);
  DataCopy(ub(1), gm(x), kN);
  order<HardEvent::MTE2_V>();
  WRONG Add(ub(0), ub(0), kFixed ? ub(1) : ub(0)[64], 64, 4, BinaryRepeatParams(1, 1, 1, 8, 8, 0));
}
template <bool kFixed>
void shifted_inside_one_repeat(GM_ADDR x, GM_ADDR) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  WRONG Adds(ub(kFixed ? 1 : 0)[8], ub(0), 1.0f, 56);
}

// ---- views of one memory ----
template <bool kFixed>
void written_as_halves_read_as_floats(GM_ADDR, GM_ADDR y) {
  LocalTensor<half> halves = ub(0).ReinterpretCast<half>();
  Duplicate(ub(0), 1.0f, kN);
  PipeBarrier<PIPE_V>();
  OTHER Duplicate(halves, half(0.0f), 128);
  if (kFixed) PipeBarrier<PIPE_V>();
  WRONG Adds(ub(1), ub(0), 1.0f, kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(1), kN);
}

// ---- past an end ----
template <bool kFixed>
void gathered_from_behind(GM_ADDR x, GM_ADDR) {  // the offsets count bytes
  DataCopy(ub(0), gm(x), kN);
  LocalTensor<uint32_t> offsets(TPosition::VECCALC, 4096, 64);
  for (uint32_t k = 0; k < 64; ++k) offsets.SetValue(k, (kFixed ? 255 - k : 256 + k) * 4);
  order<HardEvent::MTE2_V>();
  order<HardEvent::S_V>();
  WRONG Gather(ub(1), ub(0), offsets, 0, 64);
}
template <bool kFixed>
void element_behind_the_last(GM_ADDR x, GM_ADDR) {
  float sum = 0;
  for (int k = 0; k < (kFixed ? 8 : 9); ++k) {
    WRONG sum += gm(x, 0, 8).GetValue(k);
  }
  if (sum < 0) return;
}
template <bool kFixed>
void last_row_of_a_stride(GM_ADDR x, GM_ADDR) {  // 16 rows of 8 floats, 40 apart: the last one ends behind the allocation
  GlobalTensor<float> all;
  all.SetGlobalBuffer((__gm__ float*)x);
  WRONG DataCopyPad(ub(0), all, DataCopyExtParams(16, 32, kFixed ? 96 : 128, 0, 0), DataCopyPadExtParams<float>());
}

// ---- the wrong form ----
template <bool kFixed>
void rounded_without_being_asked(GM_ADDR x, GM_ADDR z) {  // halves out of L0C need quantPre
  LocalTensor<half> a1(TPosition::A1, 0, 256), a2(TPosition::A2, 0, 256), b2(TPosition::B2, 0, 256);
  LocalTensor<float> c(TPosition::CO1, 0, 256);
  GlobalTensor<half> g, out;
  g.SetGlobalBuffer((__gm__ half*)x, 256);
  out.SetGlobalBuffer((__gm__ half*)z, 256);
  DataCopy(a1, g, Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  LoadData(a2, a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  LoadData(b2, a1, LoadData2DParams(0, 1, 1, 0, 0, true, 0));
  order<HardEvent::MTE1_M>();
  Mmad(c, a2, b2, MmadParams(16, 16, 16, false));
  order<HardEvent::M_FIX>();
  FixpipeParamsV220 p(16, 16, 16, 16, false);
  p.quantPre = kFixed ? QuantMode_t::F322F16 : QuantMode_t::NoQuant;
  WRONG Fixpipe<half, float, CFG_ROW_MAJOR>(out, c, p);
}
template <bool kFixed>
void operands_share_l1(GM_ADDR x, GM_ADDR) {  // B begins in the middle of A
  LocalTensor<half> a1(TPosition::A1, 0, 512), b1(TPosition::B1, kFixed ? 1024 : 512, 512), a2(TPosition::A2, 0, 512);
  GlobalTensor<half> g;
  g.SetGlobalBuffer((__gm__ half*)x, 512);
  DataCopy(a1, g, Nd2NzParams(1, 16, 32, 0, 32, 16, 1, 0));
  PipeBarrier<PIPE_MTE2>();
  OTHER DataCopy(b1, g, Nd2NzParams(1, 16, 32, 0, 32, 16, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  WRONG LoadData(a2, a1, LoadData2DParams(0, 2, 1, 0, 0, false, 0));
}

constexpr auto kCube = KernelType::AicOnly;
const Case kCases[] = {
    PAIR_OF(shifted_onto_itself, Kind::Overlap, false, 1, kVector),
    PAIR_OF(shifted_down, Kind::Overlap, false, 1, kVector),
    PAIR_OF(widened_in_place, Kind::Overlap, false, 1, kVector),
    PAIR_OF(sums_of_rows_in_place, Kind::Overlap, false, 1, kVector),
    PAIR_OF(accumulated_in_one_row, Kind::Overlap, false, 1, kVector),
    PAIR_OF(accumulated_in_the_first_source, Kind::Overlap, false, 1, kVector),
    PAIR_OF(doubled_over_and_over, Kind::Overlap, false, 1, kVector),
    PAIR_OF(summed_behind_a_source_that_stands, Kind::Overlap, false, 1, kVector),
    PAIR_OF(shifted_inside_one_repeat, Kind::Overlap, false, 1, kVector),
    PAIR_OF(written_as_halves_read_as_floats, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(gathered_from_behind, Kind::OutOfBounds, false, 1, kVector),
    PAIR_OF(element_behind_the_last, Kind::OutOfBounds, false, 1, kVector),
    PAIR_OF(last_row_of_a_stride, Kind::OutOfBounds, false, 1, kVector),
    PAIR_OF(rounded_without_being_asked, Kind::Limit, false, 1, kCube),
    PAIR_OF(operands_share_l1, Kind::Overlap, true, 1, kCube),
};
INSTANTIATE_TEST_SUITE_P(Operands, Bug, testing::ValuesIn(kCases), name_of_case);

// A copy that moves more than it says: where, and by which pipe.
void short_copies(GM_ADDR x, GM_ADDR y) {
  GlobalTensor<float> from, to;
  from.SetGlobalBuffer((__gm__ float*)x);
  to.SetGlobalBuffer((__gm__ float*)y);
  DataCopy(ub(0), from, 20);
  order<HardEvent::MTE2_V>();
  DataCopy(ub(1), ub(0), 20);
  order<HardEvent::V_MTE3>();
  DataCopy(to, ub(1), 20);
}
TEST(Finding, OfAShortCopyNamesItsPipeAndItsBytes) {
  twin_test::Device<float> x(std::vector<float>(kN, 0.5f)), y(std::vector<float>(kN, 0.0f));
  RUN(short_copies, 1).as(kVector).auto_sync(false)(x, y);
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 3u) << twin_test::text(found);
  const char* const pipes[] = {"MTE2", "V", "MTE3"};
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(found[k].kind, Kind::Alignment);
    EXPECT_EQ(found[k].pipe_a, pipes[k]);
    EXPECT_NE(found[k].range.find("[0x0, 0x60)"), std::string::npos) << found[k].range;
  }
}

}  // namespace
