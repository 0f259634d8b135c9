// SPDX-License-Identifier: Apache-2.0
// Threads: any number of them, the caller's own pool, several runs of a plan at once, runs inside oneTBB tasks.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "tessera/attention.hpp"
#include "tessera/implementations.hpp"
#include "tessera/trace.hpp"

namespace tessera {
namespace {

/// Seeded inputs of an f32 problem in a contiguous cache.
struct Inputs {
  Problem problem;
  std::vector<float> q, k, v;

  explicit Inputs(const char* text) : problem(*Problem::parse(text)) {
    const Problem& p = problem;
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& values, std::int64_t count) {
      values.resize(static_cast<std::size_t>(count));
      for (float& x : values) x = normal(random);
    };
    fill(q, p.total_queries() * p.num_q_heads * p.head_dim_qk);
    fill(k, p.batch * p.seqlen_kv * p.num_kv_heads * p.head_dim_qk);
    fill(v, p.batch * p.seqlen_kv * p.num_kv_heads * p.head_dim_v);
  }
};

/// Output and workspace of one caller.
struct Caller {
  std::vector<float> o, lse;
  std::vector<char> memory;
  AttentionTensors tensors;
  void* workspace;

  Caller(const Inputs& in, const Plan& plan)
      : o(static_cast<std::size_t>(in.problem.total_queries() * in.problem.num_q_heads * in.problem.head_dim_v), 5),
        lse(static_cast<std::size_t>(in.problem.total_queries() * in.problem.num_q_heads), 5),
        memory(plan.workspace_bytes() + 64),
        tensors(packed_tensors(in.problem, in.q.data(), in.k.data(), in.v.data(), o.data(), lse.data())),
        workspace(reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64)) {}
  Status run(const Plan& plan, const RunOptions& options = {}) {
    return plan.run(tensors, workspace, plan.workspace_bytes(), options);
  }
  bool same(const Caller& other) const {
    return std::memcmp(o.data(), other.o.data(), o.size() * 4) == 0 &&
           std::memcmp(lse.data(), other.lse.data(), lse.size() * 4) == 0;
  }
};

const char* const kProblems[] = {
    "f32 b3 hq8 hkv2 d64 sq1 skv3000 ragged10-3000",
    "f32 b1 hq6 hkv3 d32 sq3 skv2500 causal win1500,0 sink",
    "f32 b2 hq4 hkv2 d32 sq150 skv400 causal",
    "f32 b1 hq4 hkv2 d32 sq150 skv400 causal kvchunk33",
};

void for_each_plan(void (*body)(const Inputs&, const Plan&)) {
  for (const char* text : kProblems) {
    Inputs in(text);
    in.problem.has_sink = false;
    for (const auto& info : implementations()) {
      if (info.name == "reference" || !accepts(info.name, in.problem).ok()) continue;
      const auto planned = plan(in.problem, {8, info.name});
      ASSERT_TRUE(planned.ok()) << planned.status().message();
      SCOPED_TRACE(std::string(info.name) + " " + text);
      body(in, *planned);
    }
  }
}

class Serial final : public Executor {
 public:
  int concurrency() const noexcept override { return 3; }
  void parallel(int count, void (*task)(void*, int), void* context) override {
    for (int i = count - 1; i >= 0; --i) task(context, i);
  }
};

class Threads final : public Executor {
 public:
  int concurrency() const noexcept override { return 5; }
  void parallel(int count, void (*task)(void*, int), void* context) override {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back(task, context, i);
    for (auto& thread : threads) thread.join();
  }
};

TEST(Run, AnyNumberOfThreadsAndAnyPoolGiveTheSameBits) {
  for_each_plan([](const Inputs& in, const Plan& plan) {
    Caller one(in, plan);
    ASSERT_TRUE(one.run(plan, {1}).ok());
    Serial serial;
    Threads threads;
    for (const RunOptions options :
         {RunOptions{2}, RunOptions{5}, RunOptions{8}, RunOptions{0, &serial}, RunOptions{0, &threads}}) {
      Caller other(in, plan);
      const Status status = other.run(plan, options);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(other.same(one)) << options.num_threads;
    }
  });
}

TEST(Run, PlansForAnyNumberOfThreadsGiveTheSameBits) {
  for_each_plan([](const Inputs& in, const Plan& eight) {
    Caller expected(in, eight);
    ASSERT_TRUE(expected.run(eight).ok());
    for (int threads : {1, 2, 3}) {
      const auto planned = plan(in.problem, {threads, eight.implementation()});
      ASSERT_TRUE(planned.ok());
      Caller other(in, *planned);
      ASSERT_TRUE(other.run(*planned).ok());
      EXPECT_TRUE(other.same(expected)) << threads;
    }
  });
}

TEST(Run, SeveralCallersOfOnePlan) {
  for_each_plan([](const Inputs& in, const Plan& plan) {
    Caller expected(in, plan);
    ASSERT_TRUE(expected.run(plan).ok());
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c) {
      callers.emplace_back([&] {
        Caller mine(in, plan);
        for (int round = 0; round < 5; ++round) {
          std::fill(mine.o.begin(), mine.o.end(), 9.0f);
          if (!mine.run(plan).ok() || !mine.same(expected)) ++wrong;
        }
      });
    }
    for (auto& caller : callers) caller.join();
    EXPECT_EQ(wrong, 0);
  });
}

TEST(Run, InsideTasksOfOneTbb) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "oneTBB's headers, compiled into this file, share tasks through a library that is not instrumented";
#endif
  for_each_plan([](const Inputs& in, const Plan& plan) {
    Caller expected(in, plan);
    ASSERT_TRUE(expected.run(plan).ok());
    std::atomic<int> wrong{0};
    tbb::parallel_for(0, 6, [&](int) {
      Caller mine(in, plan);
      if (!mine.run(plan).ok() || !mine.same(expected)) ++wrong;
    });
    tbb::task_arena two(2);
    two.execute([&] {
      Caller mine(in, plan);
      if (!mine.run(plan).ok() || !mine.same(expected)) ++wrong;
    });
    EXPECT_EQ(wrong, 0);
  });
}

TEST(Run, ABiasOfRaggedQueriesEndsWithItsLongestOne) {
  Problem p = *Problem::parse("f32 hq2 hkv2 d4 sq1 skv8 bias");
  p.seqlen_q = 1000;  // ignored: the queries are ragged
  p.cu_seqlens_q = {0, 1};
  std::vector<float> q(8, 0.0f), k(64, 0.0f), v(64, 1.0f), o(8);
  std::vector<float> bias_then_lse(16 + 2, 0.0f);
  AttentionTensors tensors = packed_tensors(p, q.data(), k.data(), v.data(), o.data(), bias_then_lse.data() + 16);
  tensors.bias = {bias_then_lse.data(), DType::f32, {16, 8, 8, 1}};
  const Status status = attention(p, tensors);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_FLOAT_EQ(o[7], 1.0f);
}

TEST(Run, TraceRecordsEveryItem) {
  for_each_plan([](const Inputs& in, const Plan& plan) {
    TraceRecorder recorder(8, 100000);
    Caller caller(in, plan);
    RunOptions options;
    options.trace = &recorder;
    ASSERT_TRUE(caller.run(plan, options).ok());
    std::size_t events = 0;
    for (int t = 0; t < recorder.num_threads(); ++t) {
      std::int64_t last = 0;
      for (const TraceEvent& e : recorder.events(t)) {
        EXPECT_LE(last, e.begin_ns);
        EXPECT_LE(e.begin_ns, e.end_ns);
        EXPECT_LE(e.stage, TraceStage::write);
        last = e.begin_ns;
        ++events;
      }
      EXPECT_EQ(recorder.dropped(t), 0u);
    }
    EXPECT_GT(events, 0u);
    recorder.clear();
    EXPECT_TRUE(recorder.events(0).empty());
  });
}

TEST(Run, TraceDropsWhatDoesNotFitAndRefusesTooFewLanes) {
  for_each_plan([](const Inputs& in, const Plan& plan) {
    TraceRecorder small(8, 2), narrow(1, 100);
    Caller caller(in, plan);
    ASSERT_TRUE(caller.run(plan, {1, nullptr, &small}).ok());
    EXPECT_EQ(small.events(0).size(), 2u);
    EXPECT_GT(small.dropped(0), 0u);
    ASSERT_TRUE(caller.run(plan, {1, nullptr, &narrow}).ok());
    Serial serial;
    const Status status = caller.run(plan, {0, &serial, &narrow});  // refused only where the plan uses more threads
    if (!status.ok()) {
      EXPECT_NE(status.message().find("trace: its recorder has lanes for 1"), std::string::npos);
    }
  });
}

TEST(Run, ExplainSaysWhatMatters) {
  for_each_plan([](const Inputs&, const Plan& plan) {
    const std::string text = plan.explain(), json = plan.explain_json();
    for (const char* word : {"problem", "implementation", "items", "threads", "workspace", "predicted", "modelled"}) {
      EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
      EXPECT_NE(json.find(word), std::string::npos) << word << "\n" << json;
    }
    EXPECT_EQ(json.front(), '{');
    EXPECT_EQ(json.back(), '}');
    EXPECT_EQ(text.find("inf"), std::string::npos) << text;
  });
}

}  // namespace
}  // namespace tessera
