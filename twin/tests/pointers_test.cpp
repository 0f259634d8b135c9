// SPDX-License-Identifier: Apache-2.0
// What kernels read and write through plain pointers into GM: found, ordered and timed as GetValue and SetValue are. This
// file is compiled as twincc compiles kernels: the compiler announces its loads and stores.
// clang-format off: reports are compared with the lines that the kernels are written on
#include <algorithm>
#include <cstring>

#include "bug_pairs.hpp"
#include "tikicpulib.h"
#include "twin_hint.h"

using namespace AscendC;
using namespace twin_test;
using twin::KernelType;
using twin::Kind;

namespace {

__gm__ float* pointer(GM_ADDR address) { return (__gm__ float*)address; }
void flush(GM_ADDR address) {
  DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(gm(address));
}
float sum = 0;  // what is loaded goes here, so that it must be loaded
struct Record {
  float values[24];
};

template <bool kFixed>
void load_past_the_end(GM_ADDR x, GM_ADDR) {
  WRONG sum += pointer(x)[kFixed ? 2 * kN - 1 : 2 * kN];
}
template <bool kFixed>
void load_before_the_begin(GM_ADDR x, GM_ADDR) {
  WRONG sum += pointer(x)[kFixed ? 0 : -1];
}
template <bool kFixed>
void store_past_the_end(GM_ADDR x, GM_ADDR) {
  WRONG pointer(x)[kFixed ? 2 * kN - 1 : 2 * kN + 40000] = 1.0f;
}
template <bool kFixed>
[[maybe_unused]] void struct_past_the_end(GM_ADDR x, GM_ADDR) {
  WRONG const Record r = *(__gm__ Record*)(pointer(x) + 2 * kN - (kFixed ? 24 : 20));
  for (const float v : r.values) sum += v;
}
template <bool kFixed>
void tiling_past_the_end(GM_ADDR x, GM_ADDR) {
  WRONG GET_TILING_DATA_WITH_STRUCT(Record, r, x + (2 * kN - (kFixed ? 24 : 20)) * 4);
  for (const float v : r.values) sum += v;
}
template <bool kFixed>
void unaligned(GM_ADDR x, GM_ADDR) {
  auto* const p = (__gm__ std::uint32_t*)(x + (kFixed ? 4 : 6));
  WRONG p[0] = 1;
}
template <bool kFixed>
void load_what_mte3_stores(GM_ADDR x, GM_ADDR) {
  Duplicate(ub(0), 1.0f, kN);
  order<HardEvent::V_MTE3>();
  OTHER DataCopy(gm(x), ub(0), kN);
  if (kFixed) order<HardEvent::MTE3_S>();
  WRONG sum += pointer(x)[8];
}
template <bool kFixed>
void store_what_mte2_loads(GM_ADDR x, GM_ADDR) {
  OTHER DataCopy(ub(0), gm(x), kN);
  if (kFixed) order<HardEvent::MTE2_S>();
  WRONG pointer(x)[8] = 2.0f;
}
template <bool kFixed>
void load_of_a_stale_line(GM_ADDR x, GM_ADDR) {
  sum += pointer(x)[3];
  Duplicate(ub(0), 1.0f, kN);
  order<HardEvent::V_MTE3>();
  order<HardEvent::S_MTE3>();
  OTHER DataCopy(gm(x), ub(0), kN);
  order<HardEvent::MTE3_S>();
  if (kFixed) flush(x);
  WRONG sum += pointer(x)[0];
}
template <bool kFixed>
void copy_of_a_dirty_line(GM_ADDR x, GM_ADDR) {
  OTHER pointer(x)[0] = 1.0f;
  if (kFixed) flush(x);
  order<HardEvent::S_MTE2>();
  WRONG DataCopy(ub(0), gm(x), kN);
}
template <bool kFixed>
void results_in_one_line(GM_ADDR x, GM_ADDR) {
  const auto mine = GetBlockIdx() * (kFixed ? 16 : 1);
  OTHER WRONG pointer(x)[mine] += 1.0f;
  flush(x + mine * 4);
}
template <bool kFixed>
void race_of_two_cores(GM_ADDR x, GM_ADDR) {
  if (GetBlockIdx() == 0) {
    OTHER pointer(x)[0] = 1.0f;
    flush(x);
  }
  if (kFixed) SyncAll();
  if (GetBlockIdx() == 1) {
    WRONG sum += pointer(x)[0];
  }
}

const Case kCases[] = {
    PAIR_OF(load_past_the_end, Kind::OutOfBounds, false, 1, kVector),
    PAIR_OF(load_before_the_begin, Kind::OutOfBounds, false, 1, kVector),
    PAIR_OF(store_past_the_end, Kind::OutOfBounds, false, 1, kVector),
#ifndef __clang__  // it calls memcpy, which twincc gives another name (tests/pointers.sh)
    PAIR_OF(struct_past_the_end, Kind::OutOfBounds, false, 1, kVector),
#endif
    PAIR_OF(tiling_past_the_end, Kind::OutOfBounds, false, 1, kVector),
    PAIR_OF(unaligned, Kind::Alignment, false, 1, kVector),
    PAIR_OF(load_what_mte3_stores, Kind::ReadAfterWrite, true, 1, kVector),
    PAIR_OF(store_what_mte2_loads, Kind::WriteAfterRead, true, 1, kVector),
    PAIR_OF(load_of_a_stale_line, Kind::StaleCache, true, 1, kVector),
    PAIR_OF(copy_of_a_dirty_line, Kind::StaleCache, true, 1, kVector),
    PAIR_OF(results_in_one_line, Kind::StaleCache, true, 2, kVector),
    PAIR_OF(race_of_two_cores, Kind::GmRace, true, 2, kHard),
};
INSTANTIATE_TEST_SUITE_P(Pointers, Bug, testing::ValuesIn(kCases), name_of_case);

#define LAUNCH(kernel, ...) RUN(kernel, 1).as(KernelType::AivOnly).auto_sync(false)(__VA_ARGS__)

// ---- values that are not there ----
void load_one(GM_ADDR x) { WRONG sum += pointer(x)[5]; }
TEST(Pointers, ALoadOfWhatNothingWroteIsReported) {
  const twin_test::Device<float> x(64);
  LAUNCH(load_one, x);
  expect_one(Kind::Uninitialised, false, "pointer load reads an undefined value: nothing wrote it", "AIV 0");
}
void store_then_load(GM_ADDR x) {
  pointer(x)[5] = 2.0f;
  sum = pointer(x)[5];
}
TEST(Pointers, WhatOneStoresOneMayLoad) {
  const twin_test::Device<float> x(64);
  LAUNCH(store_then_load, x);
  EXPECT_SILENT();
  EXPECT_EQ(x.values()[5], 2.0f);
}
TEST(Pointers, ALoadOfFreedMemoryIsReportedAndReadsNothing) {
  void* x = nullptr;
  aclrtMalloc(&x, 256, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtFree(x);
  LAUNCH(load_one, x);
  expect_one(Kind::UseAfterFree, false, "pointer load reads GM that was freed", "AIV 0");
}
struct Padded {
  std::uint32_t count;
  std::uint64_t address;
};
void copies_padding(GM_ADDR x) {
  auto* const p = (__gm__ Padded*)x;
  p[0].count = 3;
  p[0].address = 7;
  p[1] = p[0];
}
TEST(Pointers, PaddingNeedsNoValue) {
  const twin_test::Device<float> x(64);
  LAUNCH(copies_padding, x);
  EXPECT_SILENT();
}

// ---- lines ----
int helper_line = 0;
inline float twice(__gm__ const float* p) {
  helper_line = __LINE__ + 1;
  return 2 * p[1];
}
void calls_a_helper(GM_ADDR x) { sum += twice(pointer(x) + 2 * kN); }
void through_a_header(GM_ADDR x) { WRONG sum += *std::max_element(pointer(x) + 2 * kN, pointer(x) + 2 * kN + 2); }
TEST(Pointers, ALineIsThatOfTheFunctionThatLoads) {
  const twin_test::Device<float> x(std::vector<float>(2 * kN, 0.5f));
  LAUNCH(calls_a_helper, x);
  wrong_line = helper_line;
  expect_one(Kind::OutOfBounds, false, "4 bytes past the end of GM buffer", "AIV 0");
}
TEST(Pointers, ALineIsTheKernelsAndNotAHeaders) {
  const twin_test::Device<float> x(std::vector<float>(2 * kN, 0.5f));
  LAUNCH(through_a_header, x);
  const auto found = twin::take_findings();
  EXPECT_FALSE(found.empty());
  for (const auto& f : found) EXPECT_TRUE(ends_with(f.line_a, "pointers_test.cpp" + at(wrong_line))) << f.line_a;
}

// ---- time ----
void by_pointer(GM_ADDR x, GM_ADDR y) {
  for (int i = 0; i < 100; ++i) pointer(y)[i] = pointer(x)[i] + 1.0f;
}
void by_tensor(GM_ADDR x, GM_ADDR y) {
  for (int i = 0; i < 100; ++i) gm(y).SetValue(i, gm(x).GetValue(i) + 1.0f);
}
TEST(Pointers, ALoopTakesTheTimeOfGetValueAndSetValue) {
  const twin_test::Device<float> x(std::vector<float>(128, 0.5f)), y(128);
  LAUNCH(by_tensor, x, y);
  const double by_tensor_cycles = twin::last_timing().cycles;
  LAUNCH(by_pointer, x, y);
  EXPECT_EQ(twin::last_timing().cycles, by_tensor_cycles);
  EXPECT_GT(by_tensor_cycles, 2 * 7 * 300);  // seven lines of each
  EXPECT_SILENT();
  EXPECT_EQ(y.values()[99], 1.5f);
}
TEST(Pointers, TheReportHasTheirLine) {
  const twin_test::Device<float> x(std::vector<float>(128, 0.5f)), y(128);
  LAUNCH(by_pointer, x, y);
  std::uint64_t loads = 0;
  for (const auto& l : twin::last_timing().lines) {
    EXPECT_NE(l.line.find("pointers_test.cpp:"), std::string::npos) << l.line;
    if (l.name == "pointer load") loads += l.count;
  }
  EXPECT_EQ(loads, 100u);
  EXPECT_NE(to_text(twin::last_timing()).find("S works at pointers_test.cpp:"), std::string::npos);
}

// ---- other cores ----
void hands_over(GM_ADDR flag, GM_ADDR y) {
  auto* const ready = (__gm__ volatile std::uint32_t*)flag;
  if (GetBlockIdx() == 0) {
    Duplicate(ub(0), 7.0f, 64);
    order<HardEvent::V_MTE3>();
    DataCopy(gm(y), ub(0), 64);
    order<HardEvent::MTE3_S>();
    *ready = 1;
    flush(flag);
  } else {
    do {
      flush(flag);
    } while (*ready != 1);
    order<HardEvent::S_MTE2>();
    DataCopy(ub(1), gm(y), 64);
    order<HardEvent::MTE2_MTE3>();
    DataCopy(gm(y, 64), ub(1), 64);
  }
}
TEST(Pointers, AFlagInGmHandsOverWhatItGuards) {
  const twin_test::Device<std::uint32_t> flag(std::vector<std::uint32_t>(16, 0));
  const twin_test::Device<float> y(std::vector<float>(128, 0.0f));
  RUN(hands_over, 2).as(KernelType::AivOnly).auto_sync(false)(flag, y);
  EXPECT_SILENT();
  EXPECT_EQ(y.values()[100], 7.0f);
}
void waits_for_ever(GM_ADDR flag) {
  TPipe pipe;
  while (*(__gm__ volatile std::uint32_t*)flag != 1) {
  }
}
TEST(Pointers, AWaitForAValueThatNobodyStoresIsADeadlock) {
  const twin_test::Device<std::uint32_t> flag(std::vector<std::uint32_t>(16, 0));
  LAUNCH(waits_for_ever, flag);
  const auto found = twin::take_findings();
  EXPECT_NE(find(found, Kind::Deadlock), nullptr) << text(found);
}

// ---- timing-only ----
class PointersTimingOnly : public testing::Test {
 protected:
  void SetUp() override { twin::settings().timing_only = true; }
  void TearDown() override { twin::settings().timing_only = false; }
};
void store_what_is_skipped(GM_ADDR x, GM_ADDR y) {
  DataCopy(ub(0), gm(x), kN);
  order<HardEvent::MTE2_V>();
  Adds(ub(0), ub(0), 1.0f, kN);
  order<HardEvent::V_MTE3>();
  DataCopy(gm(y), ub(0), kN);
  order<HardEvent::MTE3_S>();
}
template <bool kHinted>
void branches_on_a_sum(GM_ADDR x, GM_ADDR y) {
  store_what_is_skipped(x, y);
  WRONG const float v = kHinted ? TWIN_HINT(pointer(y)[0], 1.0f) : pointer(y)[0];
  if (v > 0.5f) Exp(ub(1), ub(0), 64);
}
TEST_F(PointersTimingOnly, ABranchOnASkippedValueIsNamed) {
  const twin_test::Device<float> x(2 * kN), y(std::vector<float>(2 * kN, 7.0f));
  LAUNCH(branches_on_a_sum<false>, x, y);
  expect_one(Kind::SkippedData, false, "a branch, count or address depends on the value read here", "AIV 0");
  EXPECT_EQ(y.values(), std::vector<float>(2 * kN, 7.0f));
}
void branches_on_their_sum(GM_ADDR x, GM_ADDR y) {  // one load of both
  store_what_is_skipped(x, y);
  WRONG const std::uint64_t both = *(__gm__ std::uint64_t*)y;
  const std::uint32_t bits[2] = {static_cast<std::uint32_t>(both), static_cast<std::uint32_t>(both >> 32)};
  float values[2];
  std::memcpy(values, bits, sizeof values);
  if (values[0] + values[1] > 0.5f) Exp(ub(1), ub(0), 64);
}
TEST_F(PointersTimingOnly, ABranchOnTwoValuesThatAreLoadedAtOnceIsNamed) {
  const twin_test::Device<float> x(2 * kN), y(std::vector<float>(2 * kN, 7.0f));
  LAUNCH(branches_on_their_sum, x, y);
  expect_one(Kind::SkippedData, false, "a branch, count or address depends on the value read here", "AIV 0");
}
TEST_F(PointersTimingOnly, AHintSaysWhereToGo) {
  const twin_test::Device<float> x(2 * kN), y(std::vector<float>(2 * kN, 7.0f));
  LAUNCH(branches_on_a_sum<true>, x, y);
  EXPECT_SILENT();
  EXPECT_EQ(y.values(), std::vector<float>(2 * kN, 7.0f));
}

// ---- the host ----
TEST(Pointers, TheHostHasNoMemoryOfTheDevice) {
  void* x = nullptr;
  aclrtMalloc(&x, 256, ACL_MEM_MALLOC_HUGE_FIRST);
  auto* const p = static_cast<volatile float*>(x);
  WRONG p[0] = 1.0f;
  aclrtFree(x);
  expect_one(Kind::OutOfBounds, false, "the host writes GM buffer", "host");
}
TEST(Pointers, WhatGmAllocGivesIsTheHostsToo) {
  auto* const x = (volatile float*)AscendC::GmAlloc(256);
  x[3] = 1.0f;
  sum = x[3];
  AscendC::GmFree((void*)x);
  EXPECT_SILENT();
}

}  // namespace
