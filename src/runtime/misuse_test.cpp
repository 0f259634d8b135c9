// SPDX-License-Identifier: Apache-2.0
// Every argument of plan and run, given wrongly: an error that names it, before anything is written.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <vector>

#include "tessera/attention.hpp"
#include "tessera/implementations.hpp"
#include "tessera/trace.hpp"

namespace tessera {
namespace {

void* aligned(float* p) { return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(p) + 63) / 64 * 64); }

/// A paged problem with every option, all tensors in place, O and LSE filled with a pattern.
struct Case {
  Problem problem = *Problem::parse("f32 b2 hq4 hkv2 d8 sq3 skv13 causal alibi sink bias mask page4");
  std::vector<float> q = std::vector<float>(2 * 3 * 4 * 8, 0.5f), k = std::vector<float>(10 * 4 * 2 * 8, 0.25f), v = k;
  std::vector<float> o = std::vector<float>(q.size(), 77), lse = std::vector<float>(2 * 4 * 3, 77);
  std::vector<float> slopes{1, 0.5f, 0.25f, 0.125f}, sink{0, 1, 2, 3}, bias{0};
  std::vector<std::uint8_t> mask{1};
  std::vector<std::int32_t> table{3, 7, 0, 9, 999999, 1, 2, 4, 5, -1};  // the fifth entry is beyond 13 keys
  AttentionTensors tensors;
  PlanOptions plan_options;
  RunOptions run_options;
  std::vector<float> memory;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 1 << 20;

  Case() {
    problem.seqlens_kv = {13, 13};
    tensors = packed_tensors(problem, q.data(), k.data(), v.data(), o.data(), lse.data());
    tensors.block_table = table.data();
    tensors.block_table_stride = 5;
    tensors.num_pages = 10;
    tensors.alibi_slopes = slopes.data();
    tensors.sink = sink.data();
    tensors.bias.data = bias.data();
    tensors.bias.strides[3] = 0;
    tensors.mask.data = mask.data();
    tensors.mask.strides[3] = 0;
    memory.resize(workspace_bytes / 4 + 32);
    workspace = aligned(memory.data());
    plan_options.max_threads = 2;
  }
  Status run() {
    const auto planned = plan(problem, plan_options);
    return planned ? planned->run(tensors, workspace, workspace_bytes, run_options) : planned.status();
  }
  bool untouched() const { return o == std::vector<float>(o.size(), 77) && lse == std::vector<float>(lse.size(), 77); }
};

struct Misuse {
  const char* message;
  std::function<void(Case&)> spoil;
};

void expect_invalid(const Misuse& m) {
  Case c;
  m.spoil(c);
  const Status status = c.run();
  EXPECT_EQ(status.code(), StatusCode::invalid) << m.message << " / " << status.message();
  EXPECT_NE(status.message().find(m.message), std::string::npos) << m.message << " / " << status.message();
  EXPECT_TRUE(c.untouched()) << "something was written: " << m.message;
}

template <class T>
T* misaligned(T* p) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(p) + 1);
}

TEST(Misuse, TheCaseItselfIsRight) {
  Case c;
  const Status status = c.run();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(c.untouched());
}

TEST(Misuse, Pointers) {
  const Misuse misuses[] = {
      {"q: null", [](Case& c) { c.tensors.q.data = nullptr; }},
      {"k: null", [](Case& c) { c.tensors.k.data = nullptr; }},
      {"v: null", [](Case& c) { c.tensors.v.data = nullptr; }},
      {"o: null", [](Case& c) { c.tensors.o.data = nullptr; }},
      {"q: its address", [](Case& c) { c.tensors.q.data = misaligned(c.q.data()); }},
      {"k: its address", [](Case& c) { c.tensors.k.data = misaligned(c.k.data()); }},
      {"v: its address", [](Case& c) { c.tensors.v.data = misaligned(c.v.data()); }},
      {"o: its address", [](Case& c) { c.tensors.o.data = misaligned(c.o.data()); }},
      {"lse: its address", [](Case& c) { c.tensors.lse = misaligned(c.lse.data()); }},
      {"alibi_slopes: its address", [](Case& c) { c.tensors.alibi_slopes = misaligned(c.slopes.data()); }},
      {"block_table: null", [](Case& c) { c.tensors.block_table = nullptr; }},
      {"block_table: its address", [](Case& c) { c.tensors.block_table = misaligned(c.table.data()); }},
  };
  for (const Misuse& m : misuses) expect_invalid(m);
}

TEST(Misuse, Strides) {
  const Misuse misuses[] = {
      {"q.strides.head: -8", [](Case& c) { c.tensors.q.strides.head = -8; }},
      {"q.strides.outer: -1", [](Case& c) { c.tensors.q.strides.outer = -1; }},
      {"k.strides.seq: -1", [](Case& c) { c.tensors.k.strides.seq = -1; }},
      {"v.strides.outer: -64", [](Case& c) { c.tensors.v.strides.outer = -64; }},
      {"o.strides.seq: -32", [](Case& c) { c.tensors.o.strides.seq = -32; }},
      {"o.strides: rows overlap with", [](Case& c) { c.tensors.o.strides.head = 0; }},
      {"o.strides: rows overlap with", [](Case& c) { c.tensors.o.strides.head = 7; }},
      {"o.strides: rows overlap with outer 32 seq 32 head 8", [](Case& c) { c.tensors.o.strides.outer = 32; }},
      {"k.strides.outer: 1152921504606846976, 10 times; the tensor spans",
       [](Case& c) { c.tensors.k.strides.outer = std::int64_t{1} << 60; }},
      {"q.strides.outer: 9223372036854775807, 2 times; the tensor spans",
       [](Case& c) { c.tensors.q.strides.outer = std::numeric_limits<std::int64_t>::max(); }},
      {"bias.strides[2]: -1", [](Case& c) { c.tensors.bias.strides[2] = -1; }},
      {"mask.strides[0]: -1", [](Case& c) { c.tensors.mask.strides[0] = -1; }},
      {"bias.strides[1]: 2305843009213693952, 4 times; the tensor spans",
       [](Case& c) { c.tensors.bias.strides[1] = std::int64_t{1} << 61; }},
  };
  for (const Misuse& m : misuses) expect_invalid(m);
}

TEST(Misuse, SharedMemory) {
  const Misuse misuses[] = {
      {"o: shares memory with q", [](Case& c) { c.tensors.q.data = c.o.data(); }},
      {"o: shares memory with k", [](Case& c) { c.tensors.k.data = c.o.data() + c.o.size() - 1; }},
      {"o: shares memory with v", [](Case& c) { c.tensors.v.data = c.o.data() + 8; }},
      {"o: shares memory with lse", [](Case& c) { c.tensors.lse = c.o.data() + 12; }},
      {"o: shares memory with workspace", [](Case& c) { c.workspace = aligned(c.o.data()); }},
      {"o: shares memory with sink", [](Case& c) { c.tensors.sink = c.o.data() + 50; }},
      {"o: shares memory with bias", [](Case& c) { c.tensors.bias.data = c.o.data() + 50; }},
      {"o: shares memory with mask", [](Case& c) { c.tensors.mask.data = reinterpret_cast<std::uint8_t*>(c.o.data()); }},
      {"lse: shares memory with q", [](Case& c) { c.tensors.q.data = c.lse.data(); }},
      {"lse: shares memory with v", [](Case& c) { c.tensors.v.data = c.lse.data(); }},
      {"lse: shares memory with alibi_slopes", [](Case& c) { c.tensors.lse = c.slopes.data(); }},
      {"lse: shares memory with block_table", [](Case& c) { c.tensors.lse = reinterpret_cast<float*>(c.table.data() + 8); }},
      {"workspace: shares memory with k", [](Case& c) { c.workspace = aligned(c.k.data()); }},
      {"workspace: shares memory with q", [](Case& c) { c.tensors.q.data = c.workspace; }},
  };
  for (const Misuse& m : misuses) expect_invalid(m);
}

TEST(Misuse, InterleavedTensorsShareNoMemory) {
  Case c;
  ASSERT_TRUE(c.run().ok());
  std::vector<float> all(2 * c.q.size(), 77);  // [batch, seq, head, q or o, dim]
  for (std::size_t i = 0; i < c.q.size(); ++i) all[i / 8 * 16 + i % 8] = c.q[i];
  const std::vector<float> wanted = c.o;
  c.tensors.q = {all.data(), {2 * 96, 2 * 32, 2 * 8}};
  c.tensors.o = {all.data() + 8, {2 * 96, 2 * 32, 2 * 8}};
  const Status status = c.run();
  ASSERT_TRUE(status.ok()) << status.message();
  for (std::size_t i = 0; i < c.q.size(); ++i) ASSERT_EQ(all[i / 8 * 16 + 8 + i % 8], wanted[i]) << i;

  // Tokens of one sequence between those of another: legal, though no axis steps over all of the one below it.
  std::vector<float> o(40 + 2 * 80 + 3 * 400 + 8, 77);
  c.tensors.o = {o.data(), {40, 80, 400}};
  const Status odd = c.run();
  ASSERT_TRUE(odd.ok()) << odd.message();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::size_t d = i % 8, head = i / 8 % 4, token = i / 32 % 3, sequence = i / 96;
    ASSERT_EQ(o[sequence * 40 + token * 80 + head * 400 + d], wanted[i]) << i;
  }
}

TEST(Misuse, BlockTable) {
  const Misuse misuses[] = {
      {"block_table[0][1]: page -1 is not in [0, 10)", [](Case& c) { c.table[1] = -1; }},
      {"block_table[0][3]: page 10 is not in [0, 10)", [](Case& c) { c.table[3] = 10; }},
      {"block_table[1][2]: page 2147483647", [](Case& c) { c.table[7] = std::numeric_limits<std::int32_t>::max(); }},
      {"block_table_stride: 3 entries, but sequence 0 has 4 pages", [](Case& c) { c.tensors.block_table_stride = 3; }},
      {"block_table_stride: 9223372036854775807 entries for batch 2 span more than 2^62 bytes",
       [](Case& c) { c.tensors.block_table_stride = std::numeric_limits<std::int64_t>::max(); }},
      {"block_table_stride: -5 is negative", [](Case& c) { c.tensors.block_table_stride = -5; }},
      {"k.strides.outer: 64, 9223372036854775807 times; the tensor spans",
       [](Case& c) { c.tensors.num_pages = std::numeric_limits<std::int64_t>::max(); }},
      {"num_pages: -1", [](Case& c) { c.tensors.num_pages = -1; }},
      {"block_table[0][0]: page 3 is not in [0, 0)", [](Case& c) { c.tensors.num_pages = 0; }},
      {"block_table: given, but",
       [](Case& c) {
         c.problem.kv_layout = KvLayout::contiguous;
         c.problem.page_size = 0;
       }},
  };
  for (const Misuse& m : misuses) expect_invalid(m);
}

TEST(Misuse, OptionsGivenAndDeclared) {
  const Misuse misuses[] = {
      {"alibi_slopes: null", [](Case& c) { c.tensors.alibi_slopes = nullptr; }},
      {"sink: null", [](Case& c) { c.tensors.sink = nullptr; }},
      {"bias: null", [](Case& c) { c.tensors.bias.data = nullptr; }},
      {"mask: null", [](Case& c) { c.tensors.mask.data = nullptr; }},
      {"alibi_slopes: given, but the problem's has_alibi is false", [](Case& c) { c.problem.has_alibi = false; }},
      {"sink: given, but the problem's has_sink is false", [](Case& c) { c.problem.has_sink = false; }},
      {"bias: given, but the problem's has_bias is false", [](Case& c) { c.problem.has_bias = false; }},
      {"mask: given, but the problem's has_mask is false", [](Case& c) { c.problem.has_mask = false; }},
      {"alibi_slopes[2]: -1e-30 is not", [](Case& c) { c.slopes[2] = -1e-30f; }},
      {"alibi_slopes[0]: 0 is not", [](Case& c) { c.slopes[0] = 0; }},
      {"alibi_slopes[3]: nan", [](Case& c) { c.slopes[3] = std::numeric_limits<float>::quiet_NaN(); }},
      {"bias.dtype: 3", [](Case& c) { c.tensors.bias.dtype = static_cast<DType>(3); }},
      {"window_left: -2", [](Case& c) { c.problem.window_left = -2; }},
  };
  for (const Misuse& m : misuses) expect_invalid(m);
}

class NoThreads final : public Executor {
 public:
  int concurrency() const noexcept override { return 0; }
  void parallel(int, void (*)(void*, int), void*) override { FAIL(); }
};

TEST(Misuse, PlanAndRunOptions) {
  NoThreads none;
  const Misuse misuses[] = {
      {"num_threads: 3 is not in [0, 2]", [](Case& c) { c.run_options.num_threads = 3; }},
      {"num_threads: -1", [](Case& c) { c.run_options.num_threads = -1; }},
      {"max_threads: -1", [](Case& c) { c.plan_options.max_threads = -1; }},
      {"max_threads: 5000", [](Case& c) { c.plan_options.max_threads = 5000; }},
      {"executor: its concurrency is 0", [&](Case& c) { c.run_options.executor = &none; }},
      {"implementation: there is no implementation \"sse9\"", [](Case& c) { c.plan_options.implementation = "sse9"; }},
  };
  for (const Misuse& m : misuses) expect_invalid(m);
}

TEST(Misuse, Workspace) {
  Case c;
  c.problem = *Problem::parse("f32 b1 hq4 hkv2 d8 sq1 skv13 kvchunk3");
  c.tensors = packed_tensors(c.problem, c.q.data(), c.k.data(), c.v.data(), c.o.data(), c.lse.data());
  const auto planned = plan(c.problem, c.plan_options);
  ASSERT_TRUE(planned.ok());
  const std::size_t needed = planned->workspace_bytes();
  if (needed == 0) GTEST_SKIP() << planned->implementation() << " needs no workspace";
  const auto message = [&](void* workspace, std::size_t bytes) {
    return planned->run(c.tensors, workspace, bytes).message();
  };
  EXPECT_NE(message(nullptr, needed).find("workspace: null"), std::string::npos);
  EXPECT_NE(message(misaligned(static_cast<char*>(c.workspace)), needed).find("workspace: its address is 1 bytes"),
            std::string::npos);
  EXPECT_NE(message(c.workspace, needed - 1).find("workspace_bytes: " + std::to_string(needed - 1)), std::string::npos);
  EXPECT_TRUE(c.untouched());
  EXPECT_EQ(message(c.workspace, needed), "");
}

TEST(Misuse, EntriesBeyondTheLengthAreNeverLookedAt) {
  Case c;
  c.table[4] = -7, c.table[9] = std::numeric_limits<std::int32_t>::min();
  EXPECT_TRUE(c.run().ok());
}

TEST(Misuse, NothingToReadNeedsNoPointers) {
  Problem p = *Problem::parse("f32 b2 hq2 hkv1 d4 sq0 skv0");
  EXPECT_TRUE(attention(p, packed_tensors(p, nullptr, nullptr, nullptr, nullptr)).ok());
  p.seqlen_q = 1;  // rows without keys
  std::vector<float> q(16), o(16, 5), lse(4, 5);
  EXPECT_TRUE(attention(p, packed_tensors(p, q.data(), nullptr, nullptr, o.data(), lse.data())).ok());
  EXPECT_EQ(o, std::vector<float>(16, 0));
  EXPECT_EQ(lse, std::vector<float>(4, -std::numeric_limits<float>::infinity()));
}

TEST(Implementations, AreListedAndForced) {
  const auto list = implementations();
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list.back().name, "reference");
  EXPECT_TRUE(list.back().available);
  const Problem p = *Problem::parse("f32 hq1 d8 skv4");
  for (const auto& info : list) {
    EXPECT_EQ(info.available, info.reason.empty()) << info.name << ": " << info.reason;
    if (!accepts(info.name, p).ok()) continue;
    ASSERT_TRUE(force_implementation(info.name).ok());
    EXPECT_EQ(plan(p)->implementation(), info.name);
    PlanOptions reference;
    reference.implementation = "reference";  // the option wins
    EXPECT_EQ(plan(p, reference)->implementation(), "reference");
  }
  EXPECT_TRUE(force_implementation("").ok());
  EXPECT_EQ(force_implementation("mmx").code(), StatusCode::invalid);
  EXPECT_EQ(accepts("mmx", p).code(), StatusCode::invalid);
}

TEST(Implementations, EnvironmentForces) {
  const Problem p = *Problem::parse("f32 hq1 d8 skv4");
  ASSERT_EQ(setenv("TESSERA_FORCE_IMPL", "reference", 1), 0);
  EXPECT_EQ(plan(p)->implementation(), "reference");
  ASSERT_EQ(setenv("TESSERA_FORCE_IMPL", "referense", 1), 0);
  EXPECT_NE(plan(p).status().message().find("TESSERA_FORCE_IMPL: there is no implementation \"referense\""),
            std::string::npos);
  ASSERT_EQ(setenv("TESSERA_FORCE_IMPL", "", 1), 0);
  EXPECT_TRUE(plan(p).ok());
  ASSERT_EQ(unsetenv("TESSERA_FORCE_IMPL"), 0);
}

TEST(Implementations, MachineIsDescribed) {
  const MachineInfo machine = machine_info();
  EXPECT_GE(machine.cores, 1);
  EXPECT_FALSE(machine.cpu_model.empty());
}

}  // namespace
}  // namespace tessera
