// SPDX-License-Identifier: Apache-2.0
// Branches on values that the timing-only mode has skipped, in the forms that kernels have them: each is named, with its
// read and the line it leads to; and what decides nothing is silent.
#include <sys/resource.h>

#include <cmath>
#include <csignal>

#include "support.hpp"

using namespace AscendC;

namespace {

template <class T = float>
LocalTensor<T> ub(int block) {
  return LocalTensor<T>(TPosition::VECCALC, block * 1024, 1024 / sizeof(T));
}
template <class T>
GlobalTensor<T> gm(GM_ADDR p) {
  GlobalTensor<T> t;
  t.SetGlobalBuffer((__gm__ T*)p);
  return t;
}
// As twincc makes them of a kernel's source.
const bool kLiterals =
    twin::register_literals({2.0, 7.0, 5.0, 3.25, 1e-3, 1000.0, 1001.0, 640.0, 0.1875, 77.0, 4096.0}, {12345.0});

struct Tiling {
  std::int32_t length;
  float low, high;
};
enum class Form {
  Between,
  Equal,
  NotANumber,
  Infinite,
  Near,
  Narrow,
  Beside,
  TwoReads,
  OfAnArgument,
  OfTilingData,
  OfGm,
  Switch,
  Nested,
  Half,
  Bfloat,
  IntegerEqual,
  IntegerBetween,
  IntegerOfAnArgument,
  Negative,
  Computed,
  Table,
  Crash,
  Endless,
  // silent
  Operand,
  Stored,
  Clamped,
  Same,
  Sum
};
Form form;
int first_line = 0, second_line = 0;

bool decides(GM_ADDR x, float limit, std::int32_t count, const Tiling& t) {
  const float a = ub(1).GetValue(0), b = ub(1).GetValue(1);
  first_line = second_line = __LINE__ - 1;
  const std::int32_t i = ub<std::int32_t>(1).GetValue(2);
  const auto h = static_cast<float>(ub<half>(1).GetValue(6));
  const auto f = ToFloat(ub<bfloat16_t>(1).GetValue(7));
  switch (form) {
    case Form::Between:
      return a > 2 && a < 7;
    case Form::Equal:
      return a == 5;
    case Form::NotANumber:
      return std::isnan(a);
    case Form::Infinite:
      return std::isinf(a) && a > 0;
    case Form::Near:
      return std::fabs(a - 3.25f) < 1e-3f;
    case Form::Narrow:
      return a > 1000 && a < 1001;
    case Form::Beside:
      return a > 640 && a < 640.001f;
    case Form::TwoReads:
      return a > b;
    case Form::OfAnArgument:
      return a >= limit && a < limit * 1.01f;
    case Form::OfTilingData:
      return a > t.low && a < t.high;
    case Form::OfGm:
      return a == gm<float>(x).GetValue(64);
    case Form::Switch:
      switch (static_cast<int>(a)) {
        case 3:
          return true;
        default:
          return false;
      }
    case Form::Nested:
      if (a < 2) return false;
      return a < 3.25f;
    case Form::Half:
      return h == 0.1875f;
    case Form::Bfloat:
      return f > 2 && f < 5;
    case Form::IntegerEqual:
      return i == 4096;
    case Form::IntegerBetween:
      return i > 77 && i < 640;
    case Form::IntegerOfAnArgument:
      return i == count;
    case Form::Negative:
      return i < 0;
    case Form::Computed:
      return a * a + 1 > 30 && a * a + 1 < 60;
    case Form::Table: {
      const int lengths[8] = {0, 0, 0, 0, 0, 1, 0, 0};
      return lengths[i & 7] == 1;
    }
    case Form::Crash:
      if (i == 4096) raise(SIGSEGV);
      return false;
    case Form::Endless:
      for (volatile int k = i; k == 4096;) k = k + 0;
      return false;
    case Form::Operand:
      Muls(ub(3), ub(0), 1.0f / a + b, 256);
      return false;
    case Form::Stored:
      ub(4).SetValue(0, a * b);
      return false;
    case Form::Clamped:
      Adds(ub(3), ub(0), a > 2 && a < 7 ? a : b, 256);
      return false;
    case Form::Same:
      return a != a + 0 * b && false;
    case Form::Sum: {
      float sum = 0;
      for (int k = 0; k < 8; ++k) sum += ub(1).GetValue(k);
      Muls(ub(3), ub(0), sum, 256);
      return false;
    }
  }
  return false;
}

int branch_line = 0;
void reads(GM_ADDR x, float limit, std::int32_t count, GM_ADDR tiling) {
  GET_TILING_DATA_WITH_STRUCT(Tiling, t, tiling);
  DataCopy(ub(0), gm<float>(x), 256);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Exp(ub(1), ub(0), 256);
  SetFlag<HardEvent::V_S>(EVENT_ID0);
  WaitFlag<HardEvent::V_S>(EVENT_ID0);
  if (decides(x, limit, count, t)) Exp(ub(3), ub(0), 256), branch_line = __LINE__;
  PipeBarrier<PIPE_ALL>(), branch_line = __LINE__;
}

class StandIns : public testing::TestWithParam<Form> {
 protected:
  void SetUp() override { twin::settings().timing_only = true; }
  void TearDown() override { twin::settings().timing_only = false; }
};
void launch(Form what, int blocks = 1) {
  form = what;
  const twin_test::Device<float> x(std::vector<float>(256, 8191.5f));
  const twin_test::Device<Tiling> tiling(std::vector<Tiling>{{100, 33.5f, 33.75f}});
  RUN(reads, blocks).as(twin::KernelType::AivOnly)(x, 444.5f, 987, tiling);
}
std::string named(const testing::TestParamInfo<Form>& info) { return "Form" + std::to_string(int(info.param)); }

class BranchForms : public StandIns {};
TEST_P(BranchForms, AreNamed) {
  launch(GetParam());
  const auto all = twin::take_findings();
  ASSERT_EQ(all.size(), 1u) << twin_test::text(all);
  EXPECT_EQ(all[0].kind, twin::Kind::SkippedData);
  EXPECT_NE(all[0].what.find("depends on the value read here"), std::string::npos) << to_text(all[0]);
  EXPECT_NE(all[0].what.find("Exp at "), std::string::npos) << to_text(all[0]);
}
INSTANTIATE_TEST_SUITE_P(Twin, BranchForms,
                         testing::Values(Form::Between, Form::Equal, Form::NotANumber, Form::Infinite, Form::Near,
                                         Form::Narrow, Form::Beside, Form::TwoReads, Form::OfAnArgument, Form::OfTilingData,
                                         Form::OfGm, Form::Switch, Form::Nested, Form::Half, Form::Bfloat,
                                         Form::IntegerEqual, Form::IntegerBetween, Form::IntegerOfAnArgument, Form::Negative,
                                         Form::Computed, Form::Table),
                         named);

class HarmlessReads : public StandIns {};
TEST_P(HarmlessReads, AreSilent) {
  launch(GetParam());
  EXPECT_SILENT();
  launch(GetParam(), 48);
  EXPECT_SILENT();
}
INSTANTIATE_TEST_SUITE_P(Twin, HarmlessReads,
                         testing::Values(Form::Operand, Form::Stored, Form::Clamped, Form::Same, Form::Sum), named);

// Of several reads the one that decides is named, wherever it stands.
TEST_F(StandIns, TheReadThatDecidesIsNamed) {
  launch(Form::IntegerEqual);
  const auto all = twin::take_findings();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(twin_test::ends_with(all[0].line_a, twin_test::at(first_line + 2))) << to_text(all[0]);
  EXPECT_NE(all[0].what.find("with 4096 with "), std::string::npos) << to_text(all[0]);
  launch(Form::Equal);
  const auto more = twin::take_findings();
  ASSERT_EQ(more.size(), 1u);
  EXPECT_TRUE(twin_test::ends_with(more[0].line_a, twin_test::at(first_line))) << to_text(more[0]);
}
// What a kernel does with a strange value it does in a child process: the program goes on, with a finding.
TEST_F(StandIns, ACrashIsAFinding) {
  launch(Form::Crash);
  const auto all = twin::take_findings();
  ASSERT_EQ(all.size(), 1u) << twin_test::text(all);
  EXPECT_TRUE(twin_test::ends_with(all[0].line_a, twin_test::at(first_line + 2))) << to_text(all[0]);
  EXPECT_EQ(all[0].what.find("with 4096 in place of the value read here"), 0u) << to_text(all[0]);
  EXPECT_NE(all[0].what.find("the kernel crashes"), std::string::npos) << to_text(all[0]);
}
TEST_F(StandIns, AnEndlessLoopIsAFinding) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  rlimit before{};
  getrlimit(RLIMIT_CPU, &before);
  rlimit little = before;
  little.rlim_cur =
      static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 3;  // of the child's time; ten otherwise
  setrlimit(RLIMIT_CPU, &little);
  launch(Form::Endless);
  setrlimit(RLIMIT_CPU, &before);
  const auto all = twin::take_findings();
  ASSERT_EQ(all.size(), 1u) << twin_test::text(all);
  EXPECT_NE(all[0].what.find("does not come to an end"), std::string::npos) << to_text(all[0]);
}

}  // namespace
