// SPDX-License-Identifier: Apache-2.0
// The C interface as a C caller uses it, and as he misuses it.
#include "tessera/tessera.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using ::testing::HasSubstr;

struct Destroy {
  void operator()(tessera_problem* p) const { tessera_problem_destroy(p); }
  void operator()(tessera_plan* p) const { tessera_plan_destroy(p); }
};
using ProblemHandle = std::unique_ptr<tessera_problem, Destroy>;
using PlanHandle = std::unique_ptr<tessera_plan, Destroy>;

ProblemHandle parse(const char* text) {
  tessera_problem* problem = nullptr;
  tessera_error error = {};
  EXPECT_EQ(tessera_problem_parse(text, &problem, &error), TESSERA_OK) << text << ": " << error.message;
  return ProblemHandle(problem);
}

PlanHandle plan_of(const tessera_problem* problem) {
  tessera_plan* plan = nullptr;
  tessera_error error = {};
  EXPECT_EQ(tessera_plan_create(problem, nullptr, &plan, &error), TESSERA_OK) << error.message;
  return PlanHandle(plan);
}

tessera_problem_desc small_desc() {
  tessera_problem_desc desc;
  tessera_problem_desc_init(&desc, sizeof desc);
  desc.dtype = TESSERA_F32;
  desc.num_q_heads = 4;
  desc.num_kv_heads = 2;
  desc.head_dim_qk = desc.head_dim_v = 8;
  desc.seqlen_q = 3;
  desc.seqlen_kv = 5;
  return desc;
}

/// A small run with q = 0 and V[j] = j: every output is the mean of the visible j.
struct SmallRun {
  ProblemHandle problem = parse("f32 b1 hq4 hkv2 d8 sq3 skv5 causal");
  PlanHandle plan = plan_of(problem.get());
  std::vector<float> q = std::vector<float>(3 * 4 * 8), k = std::vector<float>(5 * 2 * 8, 1.0f);
  std::vector<float> v = std::vector<float>(5 * 2 * 8), o = std::vector<float>(3 * 4 * 8, NAN),
                     lse = std::vector<float>(12, NAN);
  tessera_tensors tensors;
  std::size_t bytes = tessera_plan_workspace_bytes(plan.get());
  std::vector<unsigned char> storage = std::vector<unsigned char>(bytes + TESSERA_WORKSPACE_ALIGNMENT);
  void* workspace;
  tessera_error error = {};

  SmallRun() {
    for (int j = 0; j < 5; ++j) std::fill_n(v.begin() + j * 16, 16, static_cast<float>(j));
    tensors.struct_size = sizeof tensors;
    EXPECT_EQ(tessera_tensors_packed(problem.get(), q.data(), k.data(), v.data(), o.data(), lse.data(), &tensors, &error),
              TESSERA_OK)
        << error.message;
    const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
    workspace = storage.data() + (TESSERA_WORKSPACE_ALIGNMENT - address % TESSERA_WORKSPACE_ALIGNMENT);
  }
  tessera_code run(const tessera_run_options* options = nullptr) {
    return tessera_run(plan.get(), &tensors, workspace, bytes, options, &error);
  }
  void expect_answer() const {
    for (int i = 0; i < 3; ++i) {
      for (int x = 0; x < 32; ++x) EXPECT_FLOAT_EQ(o[i * 32 + x], (i + 2) / 2.0f) << "query " << i << ", element " << x;
      for (int h = 0; h < 4; ++h) EXPECT_FLOAT_EQ(lse[h * 3 + i], std::log(i + 3.0f));
    }
  }
  void expect_untouched() const {
    for (float x : o) EXPECT_TRUE(std::isnan(x));
    for (float x : lse) EXPECT_TRUE(std::isnan(x));
  }
};

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

TEST(CApiProblem, StringRoundTrips) {
  const char* text = "bf16 b4 hq32 hkv8 d128 sq1 skv4096 causal page128";
  const ProblemHandle problem = parse(text);
  char buffer[256];
  std::size_t needed = 0;
  ASSERT_EQ(tessera_problem_string(problem.get(), buffer, sizeof buffer, &needed, nullptr), TESSERA_OK);
  EXPECT_STREQ(buffer, text);
  EXPECT_EQ(needed, std::strlen(text) + 1);
  char tiny[5];
  ASSERT_EQ(tessera_problem_string(problem.get(), tiny, sizeof tiny, &needed, nullptr), TESSERA_OK);
  EXPECT_STREQ(tiny, "bf16");
  EXPECT_EQ(needed, std::strlen(text) + 1);
  EXPECT_EQ(tessera_problem_string(problem.get(), nullptr, 0, nullptr, nullptr), TESSERA_OK);
}

TEST(CApiProblem, DescribesWhatItWasMadeOf) {
  tessera_problem_desc desc = small_desc();
  const std::int32_t lengths[] = {5};
  desc.seqlens_kv = lengths;
  desc.causal = 1;
  desc.window_left = 3;
  desc.softmax_scale = 0.25;
  desc.has_sink = 1;
  tessera_problem* made = nullptr;
  tessera_error error = {};
  ASSERT_EQ(tessera_problem_create(&desc, &made, &error), TESSERA_OK) << error.message;
  const ProblemHandle problem(made);
  tessera_problem_desc again = {};
  again.struct_size = sizeof again;
  ASSERT_EQ(tessera_problem_describe(made, &again, &error), TESSERA_OK) << error.message;
  ASSERT_NE(again.seqlens_kv, nullptr);
  EXPECT_NE(again.seqlens_kv, lengths) << "arrays are copied";
  EXPECT_EQ(again.seqlens_kv[0], 5);
  again.seqlens_kv = lengths;
  EXPECT_EQ(std::memcmp(&again, &desc, sizeof desc), 0);
}

TEST(CApiProblem, ScaleThatIsNotANumberIsTheDefault) {
  tessera_problem_desc desc = small_desc();
  EXPECT_TRUE(std::isnan(desc.softmax_scale));
  tessera_problem* made = nullptr;
  EXPECT_EQ(tessera_problem_create(&desc, &made, nullptr), TESSERA_OK);
  tessera_problem_destroy(made);
}

TEST(CApiProblem, EachBadFieldIsNamed) {
  const struct {
    const char* part;
    void (*spoil)(tessera_problem_desc&);
  } cases[] = {
      {"struct_size", [](tessera_problem_desc& d) { d.struct_size = 8; }},
      {"struct_size", [](tessera_problem_desc& d) { d.struct_size = 0; }},
      {"dtype", [](tessera_problem_desc& d) { d.dtype = 3; }},
      {"dtype", [](tessera_problem_desc& d) { d.dtype = -1; }},
      {"kv_layout", [](tessera_problem_desc& d) { d.kv_layout = 3; }},
      {"alignment", [](tessera_problem_desc& d) { d.alignment = 2; }},
      {"batch", [](tessera_problem_desc& d) { d.batch = 0; }},
      {"batch", [](tessera_problem_desc& d) { d.batch = std::numeric_limits<std::int64_t>::max(); }},
      {"num_q_heads", [](tessera_problem_desc& d) { d.num_q_heads = 3; }},
      {"num_kv_heads", [](tessera_problem_desc& d) { d.num_kv_heads = 0; }},
      {"head_dim_qk", [](tessera_problem_desc& d) { d.head_dim_qk = 0; }},
      {"head_dim_v", [](tessera_problem_desc& d) { d.head_dim_v = -8; }},
      {"seqlen_q", [](tessera_problem_desc& d) { d.seqlen_q = -1; }},
      {"seqlen_kv", [](tessera_problem_desc& d) { d.seqlen_kv = -1; }},
      {"page_size", [](tessera_problem_desc& d) { d.page_size = 16; }},
      {"page_size", [](tessera_problem_desc& d) { d.kv_layout = TESSERA_KV_PAGED_HEAD_MAJOR; }},
      {"causal", [](tessera_problem_desc& d) { d.causal = 2; }},
      {"window_left", [](tessera_problem_desc& d) { d.window_left = -2; }},
      {"window_right", [](tessera_problem_desc& d) { d.window_right = -2; }},
      {"softmax_scale", [](tessera_problem_desc& d) { d.softmax_scale = INFINITY; }},
      {"softcap", [](tessera_problem_desc& d) { d.softcap = -1; }},
      {"has_alibi", [](tessera_problem_desc& d) { d.has_alibi = -1; }},
      {"has_sink", [](tessera_problem_desc& d) { d.has_sink = 7; }},
      {"has_bias", [](tessera_problem_desc& d) { d.has_bias = 2; }},
      {"has_mask", [](tessera_problem_desc& d) { d.has_mask = 2; }},
      {"kv_chunk", [](tessera_problem_desc& d) { d.kv_chunk = -1; }},
  };
  for (const auto& c : cases) {
    tessera_problem_desc desc = small_desc();
    c.spoil(desc);
    tessera_problem* problem = nullptr;
    tessera_error error = {};
    EXPECT_EQ(tessera_problem_create(&desc, &problem, &error), TESSERA_INVALID) << c.part;
    EXPECT_THAT(error.message, HasSubstr(c.part));
    EXPECT_EQ(problem, nullptr);
  }
}

TEST(CApiProblem, BadArraysAreNamed) {
  const std::int32_t falling[] = {0, 3, 2}, negative[] = {4, -1}, late[] = {1, 2, 3};
  const auto create = [](const tessera_problem_desc& desc, tessera_error& error) {
    tessera_problem* problem = nullptr;
    const tessera_code code = tessera_problem_create(&desc, &problem, &error);
    tessera_problem_destroy(problem);
    return code;
  };
  tessera_error error = {};
  for (const std::int32_t* bad : {falling, late}) {
    tessera_problem_desc desc = small_desc();
    desc.batch = 2;
    desc.cu_seqlens_q = bad;
    EXPECT_EQ(create(desc, error), TESSERA_INVALID);
    EXPECT_THAT(error.message, HasSubstr("cu_seqlens_q"));
    desc = small_desc();
    desc.batch = 2;
    desc.cu_seqlens_kv = bad;
    EXPECT_EQ(create(desc, error), TESSERA_INVALID);
    EXPECT_THAT(error.message, HasSubstr("cu_seqlens_kv"));
  }
  tessera_problem_desc desc = small_desc();
  desc.batch = 2;
  desc.seqlens_kv = negative;
  EXPECT_EQ(create(desc, error), TESSERA_INVALID);
  EXPECT_THAT(error.message, HasSubstr("seqlens_kv"));
}

TEST(CApiProblem, OptionsOfALaterVersionAreNotDropped) {
  struct {
    tessera_problem_desc desc;
    std::int64_t later;
  } grown = {small_desc(), 0};
  static_assert(sizeof grown == sizeof(tessera_problem_desc) + 8);
  grown.desc.struct_size = sizeof grown;
  tessera_problem* problem = nullptr;
  tessera_error error = {};
  EXPECT_EQ(tessera_problem_create(&grown.desc, &problem, &error), TESSERA_OK) << error.message;
  tessera_problem_destroy(problem);
  grown.later = 1;
  EXPECT_EQ(tessera_problem_create(&grown.desc, &problem, &error), TESSERA_UNSUPPORTED);
  EXPECT_THAT(error.message, HasSubstr("struct_size"));
}

TEST(CApiProblem, InitWritesNoMoreThanItIsTold) {
  struct {
    tessera_run_options options;
    std::int64_t guard;
  } s;
  s.guard = 77;
  tessera_run_options_init(&s.options, sizeof s.options);
  EXPECT_EQ(s.options.struct_size, sizeof s.options);
  EXPECT_EQ(s.guard, 77);
  tessera_run_options_init(&s.options, sizeof s);  // a caller of a later version: all of his struct is set
  EXPECT_EQ(s.guard, 0);
  tessera_run_options_init(nullptr, sizeof s.options);
  tessera_plan_options_init(nullptr, sizeof(tessera_plan_options));
  tessera_tensors_init(nullptr, sizeof(tessera_tensors));
  tessera_problem_desc_init(nullptr, sizeof(tessera_problem_desc));
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

struct Merge {
  std::vector<float> a = std::vector<float>(2 * 4, 1.0f), b = std::vector<float>(2 * 4, 3.0f),
                     o = std::vector<float>(2 * 4, NAN);
  std::vector<float> lse_a = {0, 0}, lse_b = {0, -INFINITY}, lse = {NAN, NAN};
  tessera_merge_desc desc = {sizeof(tessera_merge_desc), TESSERA_F32, 0, 1, 1, 2, 4};
  tessera_partial partials[2] = {{{a.data(), 8, 8, 4}, lse_a.data()}, {{b.data(), 8, 8, 4}, lse_b.data()}};
  tessera_tensor out = {o.data(), 8, 8, 4};
  tessera_error error = {};
  tessera_code run() { return tessera_merge(&desc, partials, 2, &out, lse.data(), nullptr, &error); }
};

TEST(CApiMerge, MergesTwo) {
  Merge m;
  ASSERT_EQ(m.run(), TESSERA_OK) << m.error.message;
  for (int x = 0; x < 4; ++x) {
    EXPECT_FLOAT_EQ(m.o[x], 2.0f);
    EXPECT_EQ(m.o[4 + x], 1.0f) << "the second head's other partial is empty";
  }
  EXPECT_FLOAT_EQ(m.lse[0], std::log(2.0f));
  EXPECT_EQ(m.lse[1], 0.0f);
}

TEST(CApiMerge, RunsOnTheLibrarysPool) {
  tessera_error error = {};
  tessera_executor pool = {};
  ASSERT_EQ(tessera_default_executor(&pool, &error), TESSERA_OK) << error.message;
  EXPECT_GE(pool.concurrency(pool.self), 1);
  std::atomic<int> sum = 0;
  pool.parallel(
      pool.self, 100, [](void* context, int i) { *static_cast<std::atomic<int>*>(context) += i; }, &sum);
  EXPECT_EQ(sum, 4950) << "each of 100 tasks once";

  const std::int64_t rows = 400, dim = 256;
  std::vector<float> a(rows * dim, 1.0f), b(rows * dim, 3.0f), lse(rows, 2.0f), o(rows * dim, NAN);
  const tessera_merge_desc desc = {sizeof desc, TESSERA_F32, 0, 1, 1, rows, dim};
  const tessera_partial partials[] = {{{a.data(), rows * dim, rows * dim, dim}, lse.data()},
                                      {{b.data(), rows * dim, rows * dim, dim}, lse.data()}};
  const tessera_tensor out = {o.data(), rows * dim, rows * dim, dim};
  ASSERT_EQ(tessera_merge(&desc, partials, 2, &out, nullptr, &pool, &error), TESSERA_OK) << error.message;
  EXPECT_EQ(std::count(o.begin(), o.end(), 2.0f), rows * dim);
  EXPECT_EQ(tessera_default_executor(nullptr, &error), TESSERA_INVALID);
  EXPECT_THAT(error.message, HasSubstr("executor is null"));
}

TEST(CApiMerge, MisuseIsNamed) {
  const struct {
    const char* part;
    tessera_code (*call)(Merge&);
  } cases[] = {
      {"desc", [](Merge& m) { return tessera_merge(nullptr, m.partials, 2, &m.out, nullptr, nullptr, &m.error); }},
      {"partials", [](Merge& m) { return tessera_merge(&m.desc, nullptr, 2, &m.out, nullptr, nullptr, &m.error); }},
      {"partials", [](Merge& m) { return tessera_merge(&m.desc, m.partials, 0, &m.out, nullptr, nullptr, &m.error); }},
      {"num_partials is 18446744073709551615",
       [](Merge& m) { return tessera_merge(&m.desc, m.partials, SIZE_MAX, &m.out, nullptr, nullptr, &m.error); }},
      {"o is null", [](Merge& m) { return tessera_merge(&m.desc, m.partials, 2, nullptr, nullptr, nullptr, &m.error); }},
      {"o: null", [](Merge& m) { return m.out.data = nullptr, m.run(); }},
      {"partials[1].lse: null", [](Merge& m) { return m.partials[1].lse = nullptr, m.run(); }},
      {"partials[0].o: null", [](Merge& m) { return m.partials[0].o.data = nullptr, m.run(); }},
      {"desc.struct_size is 1", [](Merge& m) { return m.desc.struct_size = 1, m.run(); }},
      {"desc.dtype is 9", [](Merge& m) { return m.desc.dtype = 9, m.run(); }},
      {"desc.reserved is 9", [](Merge& m) { return m.desc.reserved = 9, m.run(); }},
      {"batch: -1", [](Merge& m) { return m.desc.batch = -1, m.run(); }},
      {"seqlen_q: -1", [](Merge& m) { return m.desc.seqlen_q = -1, m.run(); }},
      {"num_q_heads: -1", [](Merge& m) { return m.desc.num_q_heads = -1, m.run(); }},
      {"head_dim_v: 0", [](Merge& m) { return m.desc.head_dim_v = 0, m.run(); }},
      {"executor",
       [](Merge& m) {
         const tessera_executor empty = {};
         return tessera_merge(&m.desc, m.partials, 2, &m.out, nullptr, &empty, &m.error);
       }},
  };
  for (const auto& c : cases) {
    Merge m;
    EXPECT_EQ(c.call(m), TESSERA_INVALID) << c.part;
    EXPECT_THAT(m.error.message, HasSubstr(c.part));
    for (float x : m.o) EXPECT_TRUE(std::isnan(x));
  }
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
