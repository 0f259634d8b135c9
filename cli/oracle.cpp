// SPDX-License-Identifier: Apache-2.0
#include "cli/oracle.hpp"

#include <chrono>

#include "cli/failure.hpp"
#include "cli/half.hpp"

namespace tessera::cli {
namespace {

std::int64_t kv_rows(const Problem& p, const AttentionTensors& t) {
  if (p.paged()) return t.num_pages * p.page_size;
  return p.cu_seqlens_kv.empty() ? p.batch * p.seqlen_kv : p.cu_seqlens_kv.back();
}

AlignedBuffer widened(DType dtype, const void* data, std::int64_t count) {
  auto out =
      value_of(AlignedBuffer::make(static_cast<std::size_t>(count) * sizeof(float), "the float32 copy for the oracle"));
  widen(dtype, data, count, out.as<float>());
  return out;
}

}  // namespace

OracleAnswer ask_oracle(const Problem& problem, const AttentionTensors& tensors, int threads) {
  OracleAnswer answer;
  auto& p = answer.problem;
  p = problem;
  p.dtype = DType::f32;
  const auto kv = kv_rows(p, tensors) * p.num_kv_heads, queries = p.total_queries();
  answer.q = widened(problem.dtype, tensors.q.data, queries * p.num_q_heads * p.head_dim_qk);
  answer.k = widened(problem.dtype, tensors.k.data, kv * p.head_dim_qk);
  answer.v = widened(problem.dtype, tensors.v.data, kv * p.head_dim_v);
  answer.o.resize(static_cast<std::size_t>(queries * p.num_q_heads * p.head_dim_v));
  answer.lse.resize(static_cast<std::size_t>(queries * p.num_q_heads));

  auto& t = answer.tensors;
  t = tensors;  // the optional tensors
  const auto packed =
      packed_tensors(p, answer.q.data(), answer.k.data(), answer.v.data(), answer.o.data(), answer.lse.data());
  t.q = packed.q, t.k = packed.k, t.v = packed.v, t.o = packed.o, t.lse = packed.lse;

  PlanOptions options;
  options.implementation = "reference";
  options.max_threads = threads;
  const auto plan = value_of(tessera::plan(p, options), "the oracle");
  auto workspace = value_of(AlignedBuffer::make(plan.workspace_bytes(), "the oracle's workspace"));
  const auto begin = std::chrono::steady_clock::now();
  check(plan.run(t, workspace.data(), workspace.size()), "the oracle");
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return answer;
}

}  // namespace tessera::cli
