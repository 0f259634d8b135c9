// SPDX-License-Identifier: Apache-2.0
// Plan, then run. `plan` sees shapes and lengths and does all thinking; `run` gets pointers and allocates nothing.
//
// Contracts (numbered as in problem.hpp; each has a test):
//  7. LSE is float32 and natural log.
//  8. Precision. Scores, softmax and sums are float32. P may be rounded to the input dtype to feed a matrix unit; row
//     sums and O never are.
//  9. Untouchable keys. Keys past a length, in unused pages, or masked never influence a row, in K or in V, even when
//     they are NaN or Inf.
// 10. Invariance. For one problem on one implementation the bits do not depend on batch mates, page placement, page
//     size, thread count, host threads or timing. Nor on the floating-point mode of the caller (rounding, flushing of
//     subnormals, traps), which is as it was afterwards.
// 11. Errors. Bad input is an error value whose message names the argument and the value, before anything is read or
//     written.
// 12. A Plan is immutable: any number of threads may run it at once, each with a workspace of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tessera/executor.hpp"
#include "tessera/problem.hpp"
#include "tessera/types.hpp"

namespace tessera {

class TraceRecorder;  // tessera/trace.hpp

/// Strides in elements of the outer three axes; the head dimension is contiguous. Zero broadcasts, negative is an error.
struct Strides {
  std::int64_t outer = 0;  // batch (contiguous) or page (paged); not used by ragged tensors
  std::int64_t seq = 0;    // token
  std::int64_t head = 0;
};

struct ConstTensor {
  const void* data = nullptr;
  Strides strides;
};

struct Tensor {
  void* data = nullptr;
  Strides strides;
};

/// A tensor that broadcasts to [batch, num_q_heads, seqlen_q, seqlen_kv]; strides in elements, zero broadcasts.
struct BiasTensor {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t strides[4] = {0, 0, 0, 1};
};

struct MaskTensor {
  const std::uint8_t* data = nullptr;  // non-zero: the query may see the key
  std::int64_t strides[4] = {0, 0, 0, 1};
};

/// What one run reads and writes. Elements of q, k, v and o are of the problem's dtype.
struct AttentionTensors {
  ConstTensor q;         // [batch, seqlen_q, num_q_heads, head_dim_qk], or [total_q, num_q_heads, head_dim_qk]
  ConstTensor k;         // [..., num_kv_heads, head_dim_qk]; the outer axes as Problem::kv_layout says
  ConstTensor v;         // [..., num_kv_heads, head_dim_v]
  Tensor o;              // as q, with head_dim_v. Shares no byte with anything else here, nor do lse and the workspace
  float* lse = nullptr;  // may be null. Natural log. [batch, num_q_heads, seqlen_q], or [num_q_heads, total_q]

  const std::int32_t* block_table = nullptr;  // paged: [batch, block_table_stride], page of each page_size tokens
  std::int64_t block_table_stride = 0;        // entries a sequence
  std::int64_t num_pages = 0;                 // live entries must be in [0, num_pages)

  const float* alibi_slopes = nullptr;  // [num_q_heads], positive
  const float* sink = nullptr;          // [num_q_heads]
  BiasTensor bias;
  MaskTensor mask;
};

/// Strides of packed tensors of this problem: q and o by their head dim, k and v by the layout.
TESSERA_EXPORT Strides packed_query_strides(const Problem& problem, std::int64_t head_dim) noexcept;
TESSERA_EXPORT Strides packed_kv_strides(const Problem& problem, std::int64_t head_dim) noexcept;

/// Tensors with packed strides. Optional inputs are filled in by hand.
TESSERA_EXPORT AttentionTensors packed_tensors(const Problem& problem, const void* q, const void* k, const void* v, void* o,
                                               float* lse = nullptr) noexcept;

struct PlanOptions {
  int max_threads = 0;              // 0: every core the process may use
  std::string_view implementation;  // empty: TESSERA_FORCE_IMPL or the first that accepts; else a name of implementations()
};

struct RunOptions {
  int num_threads = 0;             // 0: the plan's max_threads. More than that is an error
  Executor* executor = nullptr;    // null: the library's pool
  TraceRecorder* trace = nullptr;  // null: no trace
};

class TESSERA_EXPORT Plan {
 public:
  const Problem& problem() const noexcept;
  std::string_view implementation() const noexcept;
  int max_threads() const noexcept;

  /// Bytes of workspace for max_threads threads, to be aligned to kWorkspaceAlignment. Does not grow with Sq * Sk.
  std::size_t workspace_bytes() const noexcept;

  /// Tiles, splits, work per thread, workspace, predicted time, and why.
  std::string explain() const;
  /// The same as a JSON object.
  std::string explain_json() const;

  /// O and LSE of the problem. Allocates nothing, is re-entrant, and leaves the workspace undefined.
  Status run(const AttentionTensors& tensors, void* workspace, std::size_t workspace_bytes,
             const RunOptions& options = {}) const;

  struct Impl;
  explicit Plan(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

inline constexpr std::size_t kWorkspaceAlignment = 64;

TESSERA_EXPORT Result<Plan> plan(const Problem& problem, const PlanOptions& options = {});

/// Plans, allocates a workspace and runs, in one call. For scripts and tests; a decoder keeps its plan.
TESSERA_EXPORT Status attention(const Problem& problem, const AttentionTensors& tensors, const PlanOptions& options = {});

}  // namespace tessera
