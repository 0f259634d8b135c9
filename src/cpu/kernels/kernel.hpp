// SPDX-License-Identifier: Apache-2.0
// The seam between the runtime and the CPU kernels: plain data in, nothing kept.
//
// Kernels neither allocate, nor thread, nor keep state. Translation units under cpu/kernels are compiled once per ISA, so
// this header and everything a kernel includes is free of the standard library's inline code (a std::vector member that
// the linker picks from the AVX-512 object would crash an older machine).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::cpu {

// A "row" is one query of one query head of a kv head's group: row r of a kv head is query r / group, query head
// kv_head * group + r % group. So neighbouring rows share keys, and each K and V row is read once for all of them.

/// Keys or values of one sequence, in bytes. `base` is token 0 of kv head 0 (paged: of page 0).
struct KvView {
  const std::byte* base;
  std::int64_t stride_page;  // paged only
  std::int64_t stride_token;
  std::int64_t stride_head;
};

/// A bias or mask of one sequence; strides in elements, null data: none.
struct ScoreTensor {
  const std::byte* data;  // query head 0, query 0, key 0
  std::int64_t stride_head, stride_query, stride_key;
};

enum class BiasType : std::uint8_t { f32, f16, bf16 };

inline constexpr std::int64_t kUnbounded = std::int64_t{1} << 40;

/// Where K and V of a run come from: what fits into the last cache from there, or from memory, which few cores exhaust.
enum class KvSource : std::uint8_t { cache, memory, shared_memory };

/// What is the same for every item of a run.
struct RunConstants {
  std::int32_t num_q_heads, num_kv_heads, group;  // group = num_q_heads / num_kv_heads
  std::int32_t dqk, dv;
  std::int32_t tile_kv;  // keys a softmax step; a constant of the kernel, so that bits do not depend on the plan
  float softmax_scale;
  float softcap;                           // 0: none
  std::int64_t window_left, window_right;  // inclusive, from the query's position; kUnbounded: none. Causal is right = 0
  std::int64_t page_size;                  // 0: not paged
  const float* alibi_slopes;               // [num_q_heads] or null
  const float* sink;                       // [num_q_heads] or null; logits as given (not scaled, natural base)
  BiasType bias_type;
  // How to prefetch, and in which order to read. Never decides bits.
  KvSource kv_source = KvSource::cache;
  float crowded_bytes_per_s = 0;  // shared_memory: a thread that gets less waits for others
};

/// What is the same for every item of one sequence.
struct Sequence {
  const std::byte* q;                          // query 0, head 0
  std::int64_t q_stride_token, q_stride_head;  // bytes
  std::byte* o;                                // query 0, head 0
  std::int64_t o_stride_token, o_stride_head;  // bytes
  float* lse;                                  // query 0, head 0; or null
  std::int64_t lse_stride_head;                // elements; queries are contiguous
  KvView k, v;
  const std::int32_t* block_table;  // of this sequence, or null
  std::int64_t seqlen_q, seqlen_kv;
  std::int64_t position_offset;  // position of query i is i + position_offset
  ScoreTensor bias, mask;        // bias in elements of bias_type, mask bytes
};

/// Unnormalised partial results. Row x of a partial: o[x * dv ...], m[x], l[x] with
///   m = max over keys of the score  (-inf: no key), l = sum e^(score - m), o = sum e^(score - m) * v.
/// Natural units: a score near FLT_MAX times log2(e) would be infinite. A row without keys: m = -inf, l = 0, o = 0.
struct Partial {
  float* o;  // null: the item covers every visible key of its rows; write O and LSE, sink included
  float* m;
  float* l;
};

/// Work of one thread: rows [row_begin, row_end) of each kv head in [kv_head_begin, kv_head_end) over keys
/// [key_begin, key_end). Visible keys of a row are those inside this range, its window, seqlen_kv, and not masked.
struct WorkItem {
  const Sequence* sequence;
  std::int32_t kv_head_begin, kv_head_end;
  std::int64_t row_begin, row_end;
  // key_begin is a multiple of tile_kv, counted from the begin of its chunk (any number) or from key 0. Tiles are counted
  // from key_begin. The range may be empty: then O = 0 and LSE = -inf (or the sink) are due, or an empty partial.
  std::int64_t key_begin, key_end;
  Partial partial;     // row (h - kv_head_begin) * (row_end - row_begin) + (r - row_begin)
  std::int32_t index;  // for the trace
};

/// Stage 2: merges `num_splits` partials of rows [row_begin, row_end) in order, adds the sink, and writes O and LSE.
struct MergeItem {
  const Sequence* sequence;
  std::int32_t kv_head;
  std::int64_t row_begin, row_end;
  std::int32_t num_splits;
  // Split s, row r stands at [s * split_stride + r - row_begin] (o: times dv).
  const float* o;
  const float* m;
  const float* l;
  std::int64_t split_stride;
  std::int32_t index;
};

class TraceLane;  // trace_lane.hpp: begin/end of a stage; null when nobody traces

using AttentionFn = void (*)(const RunConstants&, const WorkItem&, std::byte* scratch, TraceLane*);
/// max_rows: the most rows of one kv head, row_end - row_begin, in any item of the run.
using ScratchBytesFn = std::size_t (*)(const RunConstants&, std::int64_t max_rows);
using MergeFn = void (*)(const RunConstants&, const MergeItem&, TraceLane*);

/// One (kernel, dtype) of one ISA. `decode` has lanes along the head dimension and suits few rows; `prefill` has lanes
/// along the rows and suits many.
struct AttentionKernel {
  AttentionFn run;
  ScratchBytesFn scratch_bytes;  // scratch of one thread, aligned to 64 bytes
  std::int32_t tile_kv;          // the largest tile; the kernel may take a divisor of it by dqk and dv
};

enum class DTypeIndex : std::uint8_t { f32, f16, bf16 };

struct KernelTable {
  AttentionKernel decode[3];  // by DTypeIndex
  AttentionKernel prefill[3];
  MergeFn merge[3];
  std::int32_t decode_max_rows[3];  // by DTypeIndex: rows of a kv head up to which decode is the faster one
};

}  // namespace tessera::cpu
