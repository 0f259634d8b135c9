// SPDX-License-Identifier: Apache-2.0
// The C interface as a C caller uses it, and as he misuses it.
#include "capi/capi_test.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace tessera::capi::test {
namespace {

TEST(CApi, Version) { EXPECT_STREQ(tessera_version(), "0.1.0"); }

TEST(CApi, RunsAttention) {
  SmallRun s;
  ASSERT_EQ(s.run(), TESSERA_OK) << s.error.message;
  EXPECT_STREQ(s.error.message, "");
  s.expect_answer();
  EXPECT_STRNE(tessera_plan_implementation(s.plan.get()), "");
  EXPECT_GE(tessera_plan_max_threads(s.plan.get()), 1);
}

TEST(CApi, RunsAttentionInOneCall) {
  SmallRun s;
  ASSERT_EQ(tessera_attention(s.problem.get(), &s.tensors, &s.error), TESSERA_OK) << s.error.message;
  s.expect_answer();
}

TEST(CApi, ErrorMayBeNull) {
  SmallRun s;
  EXPECT_EQ(tessera_run(s.plan.get(), &s.tensors, s.workspace, s.bytes, nullptr, nullptr), TESSERA_OK);
  EXPECT_EQ(tessera_run(nullptr, &s.tensors, s.workspace, s.bytes, nullptr, nullptr), TESSERA_INVALID);
}

TEST(CApi, LongMessagesAreCutWithAZero) {
  tessera_problem* problem = nullptr;
  tessera_error error = {};
  std::memset(&error, 'x', sizeof error);
  EXPECT_EQ(tessera_problem_parse(std::string(5000, 'y').c_str(), &problem, &error), TESSERA_INVALID);
  EXPECT_LT(std::strlen(error.message), sizeof error.message);
  EXPECT_EQ(problem, nullptr);
}

TEST(CApiMisuse, NullIsNamed) {
  SmallRun s;
  tessera_problem_desc desc = small_desc();
  tessera_problem* problem = nullptr;
  tessera_plan* plan = nullptr;
  tessera_error error = {};
  const auto expect = [&](tessera_code code, const char* name) {
    EXPECT_EQ(code, TESSERA_INVALID) << name;
    EXPECT_THAT(error.message, HasSubstr(name));
  };
  expect(tessera_problem_create(nullptr, &problem, &error), "desc");
  expect(tessera_problem_create(&desc, nullptr, &error), "problem");
  expect(tessera_problem_parse(nullptr, &problem, &error), "text");
  expect(tessera_problem_parse("f32", nullptr, &error), "problem");
  expect(tessera_problem_describe(nullptr, &desc, &error), "problem");
  expect(tessera_problem_describe(s.problem.get(), nullptr, &error), "desc");
  expect(tessera_problem_string(nullptr, nullptr, 0, nullptr, &error), "problem");
  expect(tessera_problem_string(s.problem.get(), nullptr, 10, nullptr, &error), "buffer");
  expect(tessera_plan_create(nullptr, nullptr, &plan, &error), "problem");
  expect(tessera_plan_create(s.problem.get(), nullptr, nullptr, &error), "plan");
  expect(tessera_plan_explain(nullptr, TESSERA_TEXT, nullptr, 0, nullptr, &error), "plan");
  expect(tessera_plan_explain(s.plan.get(), TESSERA_TEXT, nullptr, 3, nullptr, &error), "buffer");
  expect(tessera_plan_explain(s.plan.get(), 2, nullptr, 0, nullptr, &error), "format");
  expect(tessera_tensors_packed(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &s.tensors, &error), "problem");
  expect(tessera_tensors_packed(s.problem.get(), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &error), "tensors");
  expect(tessera_run(nullptr, &s.tensors, s.workspace, s.bytes, nullptr, &error), "plan");
  expect(tessera_run(s.plan.get(), nullptr, s.workspace, s.bytes, nullptr, &error), "tensors");
  expect(tessera_attention(nullptr, &s.tensors, &error), "problem");
  expect(tessera_attention(s.problem.get(), nullptr, &error), "tensors");
  expect(tessera_implementation_at(0, nullptr, &error), "implementation");
  expect(tessera_accepts(nullptr, s.problem.get(), &error), "name");
  expect(tessera_accepts("portable", nullptr, &error), "problem");
  s.expect_untouched();
  tessera_problem_destroy(nullptr);
  tessera_plan_destroy(nullptr);
  EXPECT_EQ(tessera_plan_workspace_bytes(nullptr), 0u);
  EXPECT_EQ(tessera_plan_max_threads(nullptr), 0);
  EXPECT_STREQ(tessera_plan_implementation(nullptr), "");
}

TEST(CApiMisuse, TensorsOfARunAreChecked) {
  const struct {
    const char* part;
    void (*spoil)(tessera_tensors&);
  } cases[] = {
      {"q: null", [](tessera_tensors& t) { t.q.data = nullptr; }},
      {"k: null", [](tessera_tensors& t) { t.k.data = nullptr; }},
      {"v: null", [](tessera_tensors& t) { t.v.data = nullptr; }},
      {"o: null", [](tessera_tensors& t) { t.o.data = nullptr; }},
      {"q.strides.seq: -1", [](tessera_tensors& t) { t.q.stride_seq = -1; }},
      {"k.strides.head: -1", [](tessera_tensors& t) { t.k.stride_head = -1; }},
      {"v.strides.seq: -32", [](tessera_tensors& t) { t.v.stride_seq = -32; }},
      {"o.strides.head: -8", [](tessera_tensors& t) { t.o.stride_head = -8; }},
      {"o: shares memory with q", [](tessera_tensors& t) { t.q.data = t.o.data; }},
      {"lse: shares memory with k", [](tessera_tensors& t) { t.k.data = t.lse; }},
      {"tensors.struct_size is 16", [](tessera_tensors& t) { t.struct_size = 16; }},
      {"tensors.reserved is 1", [](tessera_tensors& t) { t.reserved = 1; }},
  };
  for (const auto& c : cases) {
    SmallRun s;
    c.spoil(s.tensors);
    EXPECT_EQ(s.run(), TESSERA_INVALID) << c.part;
    EXPECT_THAT(s.error.message, HasSubstr(c.part));
    s.expect_untouched();
  }
}

TEST(CApiMisuse, WorkspaceIsChecked) {
  SmallRun s;
  if (s.bytes == 0) return;  // this plan needs none, so none is wrong
  EXPECT_EQ(tessera_run(s.plan.get(), &s.tensors, nullptr, s.bytes, nullptr, &s.error), TESSERA_INVALID);
  EXPECT_THAT(s.error.message, HasSubstr("workspace"));
  EXPECT_EQ(tessera_run(s.plan.get(), &s.tensors, s.workspace, s.bytes - 1, nullptr, &s.error), TESSERA_INVALID);
  EXPECT_THAT(s.error.message, HasSubstr("workspace_bytes"));
  void* crooked = static_cast<unsigned char*>(s.workspace) - 4;
  EXPECT_EQ(tessera_run(s.plan.get(), &s.tensors, crooked, s.bytes, nullptr, &s.error), TESSERA_INVALID);
  EXPECT_THAT(s.error.message, HasSubstr("workspace"));
  s.expect_untouched();
}

TEST(CApiMisuse, OptionsAreChecked) {
  SmallRun s;
  tessera_plan_options options;
  tessera_plan_options_init(&options, sizeof options);
  tessera_plan* plan = nullptr;
  options.implementation = "abacus";
  EXPECT_EQ(tessera_plan_create(s.problem.get(), &options, &plan, &s.error), TESSERA_INVALID);
  EXPECT_THAT(s.error.message, HasSubstr("abacus"));
  tessera_plan_options_init(&options, sizeof options);
  options.max_threads = -1;
  EXPECT_EQ(tessera_plan_create(s.problem.get(), &options, &plan, &s.error), TESSERA_INVALID);
  EXPECT_THAT(s.error.message, HasSubstr("max_threads"));
  tessera_plan_options_init(&options, sizeof options);
  options.reserved = 1;
  EXPECT_EQ(tessera_plan_create(s.problem.get(), &options, &plan, &s.error), TESSERA_INVALID);
  options.struct_size = 4;
  EXPECT_EQ(tessera_plan_create(s.problem.get(), &options, &plan, &s.error), TESSERA_INVALID);
  EXPECT_EQ(plan, nullptr);

  tessera_run_options run;
  tessera_run_options_init(&run, sizeof run);
  for (int threads : {-1, tessera_plan_max_threads(s.plan.get()) + 1}) {
    run.num_threads = threads;
    EXPECT_EQ(s.run(&run), TESSERA_INVALID);
    EXPECT_THAT(s.error.message, HasSubstr("num_threads"));
  }
  run.num_threads = 0;
  const tessera_executor empty = {};
  run.executor = &empty;
  EXPECT_EQ(s.run(&run), TESSERA_INVALID);
  EXPECT_THAT(s.error.message, HasSubstr("executor"));
  s.expect_untouched();
}

TEST(CApiExecutor, CallersPoolIsUsed) {
  SmallRun s;
  std::atomic<int> calls = 0;
  const tessera_executor pool = {&calls, [](void*) { return 3; },
                                 [](void* self, int count, void (*task)(void*, int), void* context) {
                                   ++*static_cast<std::atomic<int>*>(self);
                                   for (int i = count; i-- > 0;) task(context, i);
                                 }};
  tessera_run_options options;
  tessera_run_options_init(&options, sizeof options);
  options.executor = &pool;
  ASSERT_EQ(s.run(&options), TESSERA_OK) << s.error.message;
  s.expect_answer();
}

TEST(CApiExecutor, ExceptionsStopAtTheBorder) {
  ProblemHandle problem = parse("f32 b2 hq8 hkv8 d64 sq1 skv2048");
  tessera_plan_options wanted;
  tessera_plan_options_init(&wanted, sizeof wanted);
  wanted.max_threads = 4;
  tessera_plan* made = nullptr;
  ASSERT_EQ(tessera_plan_create(problem.get(), &wanted, &made, nullptr), TESSERA_OK);
  PlanHandle plan(made);
  std::vector<float> x(2 * 2048 * 8 * 64), o(x.size());
  tessera_tensors tensors;
  tensors.struct_size = sizeof tensors;
  ASSERT_EQ(tessera_tensors_packed(problem.get(), x.data(), x.data(), x.data(), o.data(), nullptr, &tensors, nullptr),
            TESSERA_OK);
  const tessera_executor pool = {
      nullptr, [](void*) { return 4; },
      [](void*, int, void (*)(void*, int), void*) { throw std::runtime_error("pool is closed"); }};
  tessera_run_options options;
  tessera_run_options_init(&options, sizeof options);
  options.executor = &pool;
  const std::size_t bytes = (tessera_plan_workspace_bytes(made) + 63) / 64 * 64 + 64;
  void* workspace = std::aligned_alloc(64, bytes);
  tessera_error error = {};
  EXPECT_EQ(tessera_run(made, &tensors, workspace, bytes, &options, &error), TESSERA_INTERNAL);
  EXPECT_THAT(error.message, HasSubstr("pool is closed"));
  std::free(workspace);
}

TEST(CApiPlan, ExplainsInTextAndJson) {
  SmallRun s;
  for (int format : {TESSERA_TEXT, TESSERA_JSON}) {
    std::size_t needed = 0;
    ASSERT_EQ(tessera_plan_explain(s.plan.get(), format, nullptr, 0, &needed, nullptr), TESSERA_OK);
    std::string text(needed, '\0');
    ASSERT_EQ(tessera_plan_explain(s.plan.get(), format, text.data(), text.size(), &needed, nullptr), TESSERA_OK);
    EXPECT_EQ(std::strlen(text.c_str()) + 1, needed);
    if (format == TESSERA_JSON) {
      EXPECT_EQ(text.front(), '{');
    }
  }
}

TEST(CApiPlan, OutlivesItsProblem) {
  SmallRun s;
  s.problem.reset();
  ASSERT_EQ(s.run(), TESSERA_OK) << s.error.message;
  s.expect_answer();
}

TEST(CApiPlan, IsSharedByThreads) {
  SmallRun s;
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::vector<float> o(s.o.size()), lse(s.lse.size());
      tessera_tensors tensors = s.tensors;
      tensors.o.data = o.data();
      tensors.lse = lse.data();
      const std::size_t bytes = (s.bytes + 127) / 64 * 64;
      void* workspace = std::aligned_alloc(64, bytes);
      for (int i = 0; i < 20; ++i) {
        failures += tessera_run(s.plan.get(), &tensors, workspace, bytes, nullptr, nullptr) != TESSERA_OK || o[95] != 2.0f;
      }
      std::free(workspace);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(failures, 0);
}

TEST(CApiImplementations, AreListedAndForced) {
  const ProblemHandle problem = parse("f32 b1 hq1 hkv1 d8 sq1 skv8");
  const std::size_t count = tessera_implementation_count();
  ASSERT_GE(count, 2u);
  tessera_error error = {};
  tessera_implementation info;
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(tessera_implementation_at(i, &info, &error), TESSERA_OK);
    EXPECT_EQ(info.available == 1, std::string(info.reason).empty()) << info.name << ": " << info.reason;
    if (info.available == 0) continue;
    EXPECT_EQ(tessera_accepts(info.name, problem.get(), &error), TESSERA_OK) << error.message;
    ASSERT_EQ(tessera_force_implementation(info.name, &error), TESSERA_OK) << error.message;
    EXPECT_STREQ(tessera_plan_implementation(plan_of(problem.get()).get()), info.name);
  }
  EXPECT_EQ(tessera_force_implementation(nullptr, &error), TESSERA_OK);
  EXPECT_EQ(tessera_implementation_at(count, &info, &error), TESSERA_INVALID);
  EXPECT_THAT(error.message, HasSubstr(std::to_string(count)));
  EXPECT_EQ(tessera_force_implementation("abacus", &error), TESSERA_INVALID);
  EXPECT_THAT(error.message, HasSubstr("abacus"));
  EXPECT_EQ(tessera_accepts("abacus", problem.get(), &error), TESSERA_INVALID);
}

}  // namespace
}  // namespace tessera::capi::test
