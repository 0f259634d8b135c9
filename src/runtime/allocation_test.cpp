// SPDX-License-Identifier: Apache-2.0
// A run allocates nothing, and an allocation that is refused is an error value. This binary replaces operator new, and
// outside sanitizers malloc as well, to count calls and to refuse them.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "tessera/attention.hpp"
#include "tessera/implementations.hpp"
#include "tessera/merge.hpp"
#include "tessera/trace.hpp"

namespace {

std::atomic<bool> g_counting{false};
std::atomic<int> g_count{0};
thread_local int g_refuse_in = -1;  // calls until all are refused; -1: never
thread_local bool g_refused = false;

void* allocate(std::size_t size, std::size_t alignment) {
  if (g_counting.load(std::memory_order_relaxed)) g_count.fetch_add(1, std::memory_order_relaxed);
  if (g_refuse_in == 0) {
    g_refused = true;
    throw std::bad_alloc();
  }
  if (g_refuse_in > 0) --g_refuse_in;
  if (size > (std::size_t{1} << 40)) throw std::bad_alloc();  // sanitizers abort instead
  void* p = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

constexpr std::size_t kDefault = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // GCC inlines one of a pair under sanitizers and misses the other
#endif
void* operator new(std::size_t size) { return allocate(size, kDefault); }
void* operator new[](std::size_t size) { return allocate(size, kDefault); }
void* operator new(std::size_t size, std::align_val_t a) { return allocate(size, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return allocate(size, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* malloc(std::size_t size) {
  if (g_counting.load(std::memory_order_relaxed)) g_count.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
#endif

namespace tessera {
namespace {

struct Buffers {
  std::vector<float> q, k, v, o, lse;
  AttentionTensors tensors;

  explicit Buffers(const Problem& p)
      : q(static_cast<std::size_t>(p.total_queries() * p.num_q_heads * p.head_dim_qk), 0.25f),
        k(static_cast<std::size_t>(p.batch * p.seqlen_kv * p.num_kv_heads * p.head_dim_qk), 0.5f),
        v(static_cast<std::size_t>(p.batch * p.seqlen_kv * p.num_kv_heads * p.head_dim_v), 1.0f),
        o(static_cast<std::size_t>(p.total_queries() * p.num_q_heads * p.head_dim_v)),
        lse(static_cast<std::size_t>(p.total_queries() * p.num_q_heads)),
        tensors(packed_tensors(p, q.data(), k.data(), v.data(), o.data(), lse.data())) {}
};

const char* const kProblems[] = {
    "f32 hq4 hkv2 d64 sq1 skv100",                      // one thread
    "f32 b2 hq8 hkv2 d64 sq1 skv6000 ragged2000-6000",  // spread over chunks, merged
    "f32 hq4 hkv2 d32 sq40 skv300 kvchunk64 causal",    // more rows than decode takes
};

TEST(Allocation, RunTakesNone) {
  for (const char* text : kProblems) {
    const Problem p = *Problem::parse(text);
    Buffers buffers(p);
    for (const auto& info : implementations()) {
      if (!accepts(info.name, p).ok()) continue;
      PlanOptions options{2, info.name};
      const auto planned = plan(p, options);
      ASSERT_TRUE(planned.ok());
      std::vector<char> memory(planned->workspace_bytes() + 64);
      void* workspace = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
      TraceRecorder recorder(2, 10000);
      RunOptions run_options{0, nullptr, &recorder};
      // The pool's first runs start its threads and fill its caches.
      for (int warm = 0; warm < 20; ++warm)
        ASSERT_TRUE(planned->run(buffers.tensors, workspace, planned->workspace_bytes()).ok());
      int fewest = 1 << 30;
      for (int round = 0; round < 5; ++round) {
        g_count = 0;
        g_counting = true;
        const Status status = planned->run(buffers.tensors, workspace, planned->workspace_bytes(), run_options);
        g_counting = false;
        ASSERT_TRUE(status.ok()) << status.message();
        fewest = std::min(fewest, g_count.load());
      }
      EXPECT_EQ(fewest, 0) << info.name << " " << text;
    }
  }
}

/// Refuses the n-th allocation of the call for n = 0, 1, ... until the call needs no more; every refusal is an error.
template <class Call>
int refuse_each(Call call) {
  for (int n = 0; n < 1000; ++n) {
    g_refuse_in = n;
    g_refused = false;
    const Status status = call();
    g_refuse_in = -1;
    if (!g_refused) {
      EXPECT_TRUE(status.ok()) << status.message();
      return n;
    }
    EXPECT_EQ(status.code(), StatusCode::out_of_memory) << "allocation " << n << ": " << status.message();
  }
  return -1;
}

TEST(Allocation, RefusedIsAnError) {
  for (const char* text : kProblems) {
    const Problem p = *Problem::parse(text);
    Buffers buffers(p);
    ASSERT_TRUE(attention(p, buffers.tensors).ok());
    EXPECT_GT(refuse_each([&] { return plan(p).status(); }), 0) << text;
    EXPECT_GT(refuse_each([&] { return attention(p, buffers.tensors); }), 0) << text;
    EXPECT_GT(refuse_each([&] {
                return accepts("portable", p).ok() ? attention(p, buffers.tensors, {1, "portable"})
                                                   : attention(p, buffers.tensors);
              }),
              0);
  }
  EXPECT_GT(refuse_each([] { return Problem::parse("bf16 b4 hq32 hkv8 d128 skv4096 ragged1-4096").status(); }), 0);
}

TEST(Allocation, RefusedWorkspaceOfAnySizeIsAnError) {
  Problem p = *Problem::parse("f32 b1 hq32 hkv8 d128 sq1 skv2000000000 kvchunk1");  // 33 TB of partials
  std::vector<float> q(4096), o(4096);
  const Status status = attention(p, packed_tensors(p, q.data(), q.data(), q.data(), o.data()), {1, "portable"});
  EXPECT_EQ(status.code(), StatusCode::out_of_memory) << status.message();
}

}  // namespace
}  // namespace tessera
