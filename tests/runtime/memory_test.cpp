// SPDX-License-Identifier: Apache-2.0
// Memory that is refused is an error value; a run asks for none. The operators new below fail or count on request, so this
// file is a binary of its own.
#include <atomic>
#include <cstdlib>
#include <new>

#include "support/kit.hpp"
#include "tessera/merge.hpp"

namespace {

std::atomic<long> allocations_left{-1};  // -1: unlimited
std::atomic<long> allocations{0};

void* take(std::size_t size, std::size_t alignment) {
  ++allocations;
  if (allocations_left >= 0 && allocations_left-- <= 0) {
    allocations_left = 0;
    return nullptr;
  }
  return alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
             ? std::malloc(size > 0 ? size : 1)
             : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void* take_or_throw(std::size_t size, std::size_t alignment) {
  if (void* p = take(size, alignment)) return p;
  throw std::bad_alloc();
}

}  // namespace

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // GCC inlines one of a pair under sanitizers and misses the other
#endif
void* operator new(std::size_t size) { return take_or_throw(size, 1); }
void* operator new[](std::size_t size) { return take_or_throw(size, 1); }
void* operator new(std::size_t size, std::align_val_t a) { return take_or_throw(size, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return take_or_throw(size, static_cast<std::size_t>(a)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size, 1); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take(size, 1); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace tessera::test {
namespace {

/// Calls fn with 0, 1, 2 ... allocations granted until it succeeds; every failure must be out_of_memory.
template <class Fn>
void expect_survives_refusals(Fn fn, int most) {
  for (int granted = 0; granted <= most; ++granted) {
    allocations_left = granted;
    const Status status = fn();
    allocations_left = -1;
    if (status.ok()) return;
    ASSERT_EQ(status.code(), StatusCode::out_of_memory) << "with " << granted << " allocations: " << status.message();
  }
  FAIL() << "still out of memory after " << most << " allocations";
}

TEST(Memory, RefusedInParse) {
  expect_survives_refusals(
      [] { return Problem::parse("bf16 b40 hq32 hkv8 d128 sq1 ragged1-4096 page128 causal seed3").status(); }, 100);
}

TEST(Memory, RefusedInPlan) {
  for (const std::string& implementation : runnable()) {
    const Problem problem = parse("bf16 b40 hq32 hkv8 d128 sq1 ragged1-4096 page128");
    PlanOptions options;
    options.implementation = implementation;
    expect_survives_refusals([&] { return plan(problem, options).status(); }, 2000);
  }
}

TEST(Memory, RefusedInAttention) {
  const Instance instance(parse("f32 hq4 hkv2 d32 sq2 skv500"), random_values(51));
  std::vector<float> o(static_cast<std::size_t>(instance.output_elems()));
  AttentionTensors tensors = instance.tensors();
  tensors.o.data = o.data();
  for (const std::string& implementation : runnable()) {
    PlanOptions options;
    options.implementation = implementation;
    options.max_threads = 1;
    expect_survives_refusals([&] { return attention(instance.problem(), tensors, options); }, 2000);
  }
}

TEST(Memory, ARunAllocatesNothing) {
  for (const std::string shape :
       {"b3 hq8 hkv2 d64 sq1 skv3000 page16", "hq4 hkv2 d64 sq200 skv300 causal", "hq4 d16 sq3 skv900"}) {
    for (const std::string& implementation : runnable()) {
      const Instance instance(parse("bf16 " + shape), random_values(52));
      PlanOptions options;
      options.implementation = implementation;
      options.max_threads = 1;
      const Result<Plan> made = plan(instance.problem(), options);
      ASSERT_TRUE(made.ok()) << made.status().message();
      std::vector<std::uint16_t> o(static_cast<std::size_t>(instance.output_elems()));
      AttentionTensors tensors = instance.tensors();
      tensors.o.data = o.data();
      const GuardedBuffer workspace(made->workspace_bytes(), kWorkspaceAlignment);
      const long before = allocations;
      const Status status = made->run(tensors, workspace.as(), workspace.size(), {1});
      EXPECT_EQ(allocations - before, 0) << implementation << " " << shape;
      EXPECT_TRUE(status.ok()) << status.message();
    }
  }
}

TEST(Memory, RunningOnWhenMemoryIsRefusedChangesNothing) {
  const Instance instance(parse("bf16 b3 hq8 hkv2 d64 sq1 skv3000 page16"), random_values(53));
  for (const std::string& implementation : runnable_kernels()) {
    PlanOptions options;
    options.implementation = implementation;
    options.max_threads = 1;
    const Result<Plan> made = plan(instance.problem(), options);
    ASSERT_TRUE(made.ok()) << made.status().message();
    std::vector<std::uint16_t> o(static_cast<std::size_t>(instance.output_elems())), wanted = o;
    AttentionTensors tensors = instance.tensors();
    const GuardedBuffer workspace(made->workspace_bytes(), kWorkspaceAlignment);
    tensors.o.data = wanted.data();
    ASSERT_TRUE(made->run(tensors, workspace.as(), workspace.size()).ok());
    tensors.o.data = o.data();
    allocations_left = 0;
    const Status status = made->run(tensors, workspace.as(), workspace.size());
    allocations_left = -1;
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(o, wanted);
  }
}

}  // namespace
}  // namespace tessera::test
