// SPDX-License-Identifier: Apache-2.0
// Memory that is refused is an error value; a run asks for none.
#include <gmock/gmock.h>

#include <algorithm>

#include "support/counted_memory.hpp"
#include "support/kit.hpp"
#include "tessera/trace.hpp"

namespace tessera::test {
namespace {

/// Whether a call may allocate for its workers: refused that, it does without them.
enum class Pool { none, may_wake_workers };

/// Refuses the n-th allocation of the call and all after it, for n = 0, 1, ... until the call needs no more; every refusal
/// is an error. Returns how many it needs.
template <class Call>
int refuse_each(Call call, Pool pool = Pool::none) {
  for (int granted = 0; granted < 2000; ++granted) {
    bool refused = false;
    const Status status = [&] {
      const RefuseAllocations refuse(granted);
      Status s = call();
      refused = refuse.any_refused();
      return s;
    }();
    if (!refused) {
      EXPECT_TRUE(status.ok()) << status.message();
      return granted;
    }
    if (status.ok() && pool == Pool::may_wake_workers) continue;
    EXPECT_EQ(status.code(), StatusCode::out_of_memory) << "with " << granted << " allocations: " << status.message();
  }
  ADD_FAILURE() << "still out of memory after 2000 allocations";
  return -1;
}

const char* const kProblems[] = {
    "f32 hq4 hkv2 d64 sq1 skv100",                      // one thread
    "f32 b2 hq8 hkv2 d64 sq1 skv6000 ragged2000-6000",  // spread over chunks, merged
    "bf16 b3 hq8 hkv2 d64 sq1 skv3000 page16",
    "f32 hq4 hkv2 d32 sq40 skv300 kvchunk64 causal",  // more rows than decode takes
    "bf16 hq4 hkv2 d64 sq200 skv300 causal",
};

/// An instance with outputs and a plan for it.
struct Planned {
  Instance instance;
  std::vector<float> o, lse;  // room for any dtype
  AttentionTensors tensors;
  Plan plan;
  GuardedBuffer workspace;

  Planned(const std::string& problem, const std::string& implementation, int threads)
      : instance(parse(problem), random_values(51)),
        o(static_cast<std::size_t>(instance.output_elems()), 0.0f),
        lse(static_cast<std::size_t>(instance.problem().total_queries() * instance.problem().num_q_heads)),
        tensors(instance.tensors()),
        plan(tessera::plan(instance.problem(), {threads, implementation}).value()),
        workspace(plan.workspace_bytes(), kWorkspaceAlignment) {
    tensors.o.data = o.data();
    tensors.lse = lse.data();
  }
  Status run(const RunOptions& options = {}) { return plan.run(tensors, workspace.as(), workspace.size(), options); }
};

TEST(Memory, ARunAllocatesNothing) {
  for (const char* problem : kProblems) {
    for (const std::string& implementation : runnable()) {
      Planned planned(problem, implementation, 2);
      TraceRecorder recorder(2, 10000);
      // The pool's first runs start its threads and fill its caches, now and then late.
      for (int warm = 0; warm < 20; ++warm) ASSERT_TRUE(planned.run().ok());
      int fewest = 1 << 30;
      for (int round = 0; round < 5; ++round) {
        const CountAllocations counted;
        const Status status = planned.run({0, nullptr, &recorder});
        fewest = std::min(fewest, counted.count());
        ASSERT_TRUE(status.ok()) << status.message();
      }
      EXPECT_EQ(fewest, 0) << implementation << " " << problem;
    }
  }
}

TEST(Memory, RunningOnWhenMemoryIsRefusedChangesNothing) {
  for (const char* problem : kProblems) {
    for (const std::string& implementation : runnable_kernels()) {
      Planned planned(problem, implementation, 1);
      ASSERT_TRUE(planned.run().ok());
      const std::vector<float> wanted = planned.o;
      std::fill(planned.o.begin(), planned.o.end(), 0.0f);
      const RefuseAllocations refuse(0);
      const Status status = planned.run();
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_FALSE(refuse.any_refused()) << implementation << " " << problem;
      EXPECT_TRUE(planned.o == wanted) << implementation << " " << problem;
    }
  }
}

TEST(Memory, RefusedIsAnError) {
  const auto problem = [] { return Problem::parse("bf16 b40 hq32 hkv8 d128 sq1 ragged1-4096 page128 causal seed3"); };
  EXPECT_GT(refuse_each([&] { return problem().status(); }), 0);
  for (const std::string& implementation : runnable()) {
    const Problem p = *problem();
    EXPECT_GT(refuse_each([&] { return plan(p, {0, implementation}).status(); }), 0) << implementation;
    Planned planned("f32 hq4 hkv2 d32 sq2 skv500", implementation, 1);
    EXPECT_GT(refuse_each([&] {
                return attention(planned.instance.problem(), planned.tensors, {1, implementation});
              }),
              0)
        << implementation;
  }
  for (const char* text : kProblems) {
    Planned planned(text, "", 2);
    EXPECT_GT(refuse_each([&] { return plan(planned.instance.problem()).status(); }), 0) << text;
    EXPECT_GT(refuse_each([&] { return attention(planned.instance.problem(), planned.tensors); }, Pool::may_wake_workers), 0)
        << text;
  }
}

TEST(Memory, RefusedWorkspaceOfAnySizeIsAnError) {
  const Problem p = parse("f32 b1 hq32 hkv8 d128 sq1 skv2000000000 kvchunk1");  // 33 TB of partials
  std::vector<float> q(4096), o(4096);
  const Status status = attention(p, packed_tensors(p, q.data(), q.data(), q.data(), o.data()), {1, "portable"});
  EXPECT_EQ(status.code(), StatusCode::out_of_memory) << status.message();
  const std::string bytes = std::to_string(plan(p, {1, "portable"})->workspace_bytes());
  EXPECT_EQ(status.message(), "workspace: " + bytes + " bytes were refused");
}

TEST(Memory, WhatIsRefusedIsNamed) {
  const Problem p = parse("f32 b10000 hq1 hkv1 d8 sq1 skv8");
  const RefuseLarge refuse(100000);
  const Status planned = plan(p).status(), accepted = accepts("portable", p);
  EXPECT_EQ(planned.code(), StatusCode::out_of_memory);
  EXPECT_THAT(planned.message(), testing::MatchesRegex("plan: memory was refused; a batch of 10000 takes [0-9]+0000 bytes"));
  EXPECT_EQ(accepted.message(), planned.message());
  const Status lengths = Problem::parse("f32 b100000 hq1 d8 ragged1-9").status();
  EXPECT_EQ(lengths.code(), StatusCode::out_of_memory);
  EXPECT_EQ(lengths.message(), "problem: memory was refused");
}

}  // namespace
}  // namespace tessera::test
