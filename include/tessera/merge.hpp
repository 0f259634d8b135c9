// SPDX-License-Identifier: Apache-2.0
// The public merge of partial attention results: chunked prefill, shared prefixes and context parallelism build on it.
//
//   lse = log(sum_i exp(lse_i));  o = sum_i exp(lse_i - lse) * o_i, in the order given
//
// Merging empty (0, -inf) with empty gives empty; merging x with empty gives x, bit for bit.
// With a sink, give it to one partial only.
#pragma once

#include <cstdint>
#include <span>

#include "tessera/attention.hpp"
#include "tessera/executor.hpp"
#include "tessera/types.hpp"

namespace tessera {

struct PartialResult {
  ConstTensor o;               // [outer, seq, num_heads, head_dim_v]
  const float* lse = nullptr;  // natural log, [outer, num_heads, seq]; never null
};

struct MergeProblem {
  DType dtype = DType::f32;  // of every o, in and out
  std::int64_t batch = 1;
  std::int64_t seqlen_q = 1;
  std::int64_t num_q_heads = 1;
  std::int64_t head_dim_v = 128;
};

/// Writes the merge of `partials` (one or more) to o and, unless null, lse. `o` and `lse` may be those of a partial
/// (in place). Sums are float32. Results do not depend on the executor (null: the calling thread;
/// `default_executor()`: the library's pool).
TESSERA_EXPORT Status merge(const MergeProblem& problem, std::span<const PartialResult> partials, const Tensor& o,
                            float* lse, Executor* executor = nullptr);

}  // namespace tessera
