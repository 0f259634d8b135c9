// SPDX-License-Identifier: Apache-2.0
// Lent executors, and plans shared by many threads.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "support/kit.hpp"
#include "tessera/merge.hpp"

namespace tessera::test {
namespace {

class Serial : public Executor {
 public:
  int concurrency() const noexcept override { return 1; }
  void parallel(int count, void (*task)(void*, int), void* context) override {
    for (int i = 0; i < count; ++i) task(context, i);
  }
};

class Reversed : public Executor {
 public:
  int concurrency() const noexcept override { return 3; }
  void parallel(int count, void (*task)(void*, int), void* context) override {
    for (int i = count - 1; i >= 0; --i) task(context, i);
  }
};

/// A thread a task, each after a random delay.
class Delayed : public Executor {
 public:
  explicit Delayed(int concurrency) : concurrency_(concurrency) {}
  int concurrency() const noexcept override { return concurrency_; }
  void parallel(int count, void (*task)(void*, int), void* context) override {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      const auto delay = std::chrono::microseconds(mix(++seed_) % 300);
      threads.emplace_back([=] {
        std::this_thread::sleep_for(delay);
        task(context, i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  int concurrency_;
  std::uint64_t seed_ = 0;
};

/// Breaks the promise: the last `missing` tasks are never called.
class Refusing : public Executor {
 public:
  explicit Refusing(int missing) : missing_(missing) {}
  int concurrency() const noexcept override { return 4; }
  void parallel(int count, void (*task)(void*, int), void* context) override {
    for (int i = 0; i < count - missing_; ++i) task(context, i);
  }

 private:
  int missing_;
};

const char* const kShapes[] = {"b2 hq8 hkv2 d64 sq1 skv3000", "b3 hq4 hkv2 d32 sq5 skv700 causal page16",
                               "hq4 hkv2 d64 sq300 skv300 causal", "b5 hq2 hkv1 d16 ragged0-900 hpage32"};

TEST(Executors, AnyOrderAndTimingGiveTheSameBits) {
  Serial serial;
  Reversed reversed;
  Delayed one(1), two(2), seven(7);
  for (const DType dtype : kDTypes) {
    for (const std::string shape : kShapes) {
      const Instance instance(parse(dtype, shape), random_values(41));
      for (const std::string& implementation : runnable_kernels()) {
        Output wanted;
        ASSERT_TRUE(run(instance, {implementation, 1}, wanted));
        for (Executor* executor : std::initializer_list<Executor*>{&serial, &reversed, &one, &two, &seven}) {
          for (const int threads : {1, 4, 9}) {
            const How how{implementation, threads, executor};
            Output output;
            ASSERT_TRUE(run(instance, how, output));
            EXPECT_EQ(first_difference(output, wanted), "") << context(instance, how);
          }
        }
      }
    }
  }
}

TEST(Executors, TasksThatAreNotRunAreAnError) {
  Refusing one(1), all(4);  // a plan may want fewer than four
  const Instance instance(parse("f32 hq8 hkv2 d64 sq1 skv9000"), random_values(44));
  for (const std::string& implementation : runnable_kernels()) {
    Output output;
    EXPECT_THAT(run(instance, {implementation, 4, &one}, output).message(),
                testing::ContainsRegex("executor: its parallel returned after [1-3] of [2-4] tasks"));
    EXPECT_THAT(run(instance, {implementation, 4, &all}, output).message(),
                testing::ContainsRegex("after 0 of [2-4] tasks"));
  }
  constexpr std::int64_t kRows = 4096, kDim = 64;
  const std::vector<float> o(kRows * kDim), lse(kRows);
  std::vector<float> merged(o.size());
  MergeProblem problem;
  problem.seqlen_q = kRows;
  problem.head_dim_v = kDim;
  const Strides strides{kRows * kDim, kDim, kDim};
  const PartialResult partials[] = {{{o.data(), strides}, lse.data()}, {{o.data(), strides}, lse.data()}};
  const Status status = merge(problem, partials, {merged.data(), strides}, nullptr, &one);
  EXPECT_EQ(status.code(), StatusCode::invalid);
  EXPECT_THAT(status.message(), testing::HasSubstr("executor: its parallel returned after 3 of 4 tasks"));
}

TEST(Executors, OnePlanRunsOnManyThreadsAtOnce) {
  for (const std::string shape : kShapes) {
    const Instance instance(parse("bf16 " + shape), random_values(42));
    const Problem& p = instance.problem();
    for (const std::string& implementation : runnable_kernels()) {
      PlanOptions options;
      options.implementation = implementation;
      options.max_threads = 2;
      const Result<Plan> shared = plan(p, options);
      ASSERT_TRUE(shared.ok()) << shared.status().message();
      const auto elems = static_cast<std::size_t>(instance.output_elems());
      constexpr int kCallers = 6;
      std::vector<std::vector<std::uint16_t>> o(kCallers, std::vector<std::uint16_t>(elems));
      std::atomic<int> failures = 0;
      std::vector<std::thread> callers;
      for (int n = 0; n < kCallers; ++n) {
        callers.emplace_back([&, n] {
          const GuardedBuffer workspace(shared->workspace_bytes(), kWorkspaceAlignment, 0xff);
          AttentionTensors tensors = instance.tensors();
          tensors.o.data = o[static_cast<std::size_t>(n)].data();
          RunOptions run_options;
          run_options.num_threads = 1 + n % 2;
          for (int again = 0; again < 3; ++again) {
            if (!shared->run(tensors, workspace.as(), workspace.size(), run_options).ok()) ++failures;
          }
        });
      }
      for (std::thread& caller : callers) caller.join();
      EXPECT_EQ(failures, 0);
      for (int n = 1; n < kCallers; ++n) EXPECT_EQ(o[0], o[static_cast<std::size_t>(n)]) << implementation << " " << shape;
    }
  }
}

TEST(Executors, PlansCanBeMadeOnManyThreadsAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int> failures = 0;
  for (int n = 0; n < 6; ++n) {
    callers.emplace_back([&, n] {
      for (const std::string& implementation : runnable_kernels()) {
        const Instance instance(parse(kDTypes[n % 3], kShapes[n % 4]), random_values(43));
        Output a, b;
        if (!run(instance, {implementation, 2}, a) || !run(instance, {implementation, 1}, b)) ++failures;
        if (!first_difference(a, b).empty()) ++failures;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failures, 0);
}

TEST(Executors, FewerThreadsThanPlannedIsFine) {
  const Instance instance(parse("f32 b4 hq4 hkv2 d32 skv900"), random_values(44));
  for (const std::string& implementation : runnable()) {
    PlanOptions options;
    options.implementation = implementation;
    options.max_threads = 8;
    const Result<Plan> made = plan(instance.problem(), options);
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ(made->max_threads(), 8);
    const GuardedBuffer workspace(made->workspace_bytes(), kWorkspaceAlignment, 0xff);
    std::vector<float> first;
    for (int threads = 0; threads <= 8; ++threads) {
      std::vector<float> o(static_cast<std::size_t>(instance.output_elems()));
      AttentionTensors tensors = instance.tensors();
      tensors.o.data = o.data();
      RunOptions run_options;
      run_options.num_threads = threads;
      ASSERT_TRUE(made->run(tensors, workspace.as(), workspace.size(), run_options).ok());
      if (first.empty()) first = o;
      EXPECT_EQ(o, first) << implementation << " " << threads;
    }
  }
}

}  // namespace
}  // namespace tessera::test
