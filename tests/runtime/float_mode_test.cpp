// SPDX-License-Identifier: Apache-2.0
// The floating-point mode that a program has set for its threads changes no bit, and is left as it is.
#include <cfenv>
#include <cstring>
#include <thread>
#include <vector>

#include "support/kit.hpp"
#include "tessera/alibi.hpp"
#include "tessera/merge.hpp"
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tessera::test {
namespace {

struct Mode {
  const char* name;
  void (*set)();
};

const Mode kModes[] = {
    {"upward", [] { std::fesetround(FE_UPWARD); }},
    {"downward", [] { std::fesetround(FE_DOWNWARD); }},
    {"toward zero", [] { std::fesetround(FE_TOWARDZERO); }},
#if defined(__x86_64__)
    {"subnormals flushed", [] { _mm_setcsr(_mm_getcsr() | 0x8040); }},
    {"invalid, zero divide and overflow trap", [] { _mm_setcsr(_mm_getcsr() & ~0x0680u); }},
#endif
};

/// Sets a mode; says at the end whether it is still there.
class Within {
 public:
  explicit Within(const Mode& mode) : name_(mode.name) {
    std::fegetenv(&before_);
    std::feclearexcept(FE_ALL_EXCEPT);
    mode.set();
    set_ = now();
  }
  ~Within() {
    const unsigned left = now();
    std::fesetenv(&before_);
    EXPECT_EQ(left, set_) << name_ << ": the mode, or a sticky flag, is another one";
  }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  static unsigned now() {
#if defined(__x86_64__)
    return _mm_getcsr();
#else
    return static_cast<unsigned>(std::fegetround());
#endif
  }
  const char* name_;
  std::fenv_t before_;
  unsigned set_;
};

/// The caller runs the first task, threads of another mode the rest.
class OtherMode : public Executor {
 public:
  int concurrency() const noexcept override { return 3; }
  void parallel(int count, void (*task)(void*, int), void* context) override {
    std::vector<std::thread> threads;
    for (int i = 1; i < count; ++i) {
      threads.emplace_back([=] {
        const Within mode(kModes[static_cast<std::size_t>(i) % std::size(kModes)]);
        task(context, i);
      });
    }
    task(context, 0);
    for (std::thread& thread : threads) thread.join();
  }
};

/// O, then LSE, of a plan made and run in a mode; null: that of the test.
std::vector<float> attend(const Instance& instance, const std::string& implementation, const Mode* mode,
                          Executor* executor) {
  const GuardedBuffer workspace(std::size_t{1} << 22, kWorkspaceAlignment, 0xff);
  const auto elems = static_cast<std::size_t>(instance.output_elems());
  const auto rows = static_cast<std::size_t>(instance.problem().total_queries() * instance.problem().num_q_heads);
  std::vector<float> both(elems + rows);
  AttentionTensors tensors = instance.tensors();
  tensors.o.data = both.data();
  tensors.lse = both.data() + elems;
  PlanOptions options;
  options.implementation = implementation;
  options.max_threads = executor ? 3 : 1;
  RunOptions run_options;
  run_options.executor = executor;
  const auto go = [&] {
    const Result<Plan> made = plan(instance.problem(), options);
    return made ? made->run(tensors, workspace.as(), workspace.size(), run_options) : made.status();
  };
  Status status;
  if (mode) {
    const Within within(*mode);
    status = go();
  } else {
    status = go();
  }
  EXPECT_TRUE(status.ok()) << status.message();
  return both;
}

TEST(FloatMode, OfTheCallerChangesNoBitOfARun) {
  OtherMode others;
  for (const std::string shape : {"b2 hq8 hkv2 d64 sq1 skv3000", "hq4 hkv2 d64 sq200 skv200 causal softcap5"}) {
    for (const double scale : {1.0, 1e-38}) {  // the second: sums over v, and their merge, are subnormal
      Values values = random_values(43);
      const Field v = values.v;
      values.v = [v, scale](const At& at) { return scale * v(at); };
      const Instance instance(parse("f32 " + shape), values);
      auto implementations = runnable_kernels();
      implementations.push_back("reference");
      for (const std::string& implementation : implementations) {
        const auto wanted = attend(instance, implementation, nullptr, nullptr);
        for (const Mode& mode : kModes) {
          for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&others)}) {
            const auto got = attend(instance, implementation, &mode, executor);
            EXPECT_EQ(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)), 0)
                << mode.name << ", " << implementation << ", f32 " << shape << ", v times " << scale
                << (executor ? ", other threads of other modes" : "");
          }
        }
      }
    }
  }
}

TEST(FloatMode, OfTheCallerChangesNoBitOfAMergeOrASlope) {
  constexpr std::int64_t kRows = 3000, kDim = 16;
  std::vector<float> a(kRows * kDim), b(a.size()), lse_a(kRows), lse_b(kRows);
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = 1e-38f / static_cast<float>(i + 3), b[i] = 1.0f / static_cast<float>(i + 7);
  for (std::size_t i = 0; i < lse_a.size(); ++i) lse_a[i] = 1.0f / static_cast<float>(i + 1);
  MergeProblem problem;
  problem.seqlen_q = kRows;
  problem.head_dim_v = kDim;
  const Strides strides{kRows * kDim, kDim, kDim};
  const PartialResult partials[] = {{{a.data(), strides}, lse_a.data()}, {{b.data(), strides}, lse_b.data()}};
  OtherMode others;
  const auto merged = [&](Executor* executor) {
    std::vector<float> all(a.size() + lse_a.size() + 12);
    EXPECT_TRUE(merge(problem, partials, {all.data(), strides}, all.data() + a.size(), executor));
    alibi_slopes(12, all.data() + a.size() + lse_a.size());
    return all;
  };
  const auto wanted = merged(nullptr);
  for (const Mode& mode : kModes) {
    for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&others)}) {
      std::vector<float> got;
      {
        const Within within(mode);
        got = merged(executor);
      }
      EXPECT_EQ(got, wanted) << mode.name;
    }
  }
}

}  // namespace
}  // namespace tessera::test
