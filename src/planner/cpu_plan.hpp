// SPDX-License-Identifier: Apache-2.0
// How attention is cut into work for CPU threads: pure functions over plain data.
//
// What decides bits (kernel, chunk) depends on one sequence alone. What only decides the schedule (row tiles, heads an
// item, order, threads) may depend on everything.
//
//   sequence ── kv heads ── row tiles ── chunks of keys        row = query * group + head in group
//   stage 1: items, each (kv heads, rows, keys) of one sequence, handed out one by one, costliest first
//   stage 2: sequences whose keys are split: merge items, each (kv head, rows)
//
// Items are never listed: an index is found in the prefix sums of `sequences` and divided into its coordinates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/device_model.hpp"
#include "tessera/problem.hpp"
#include "tessera/types.hpp"

namespace tessera::planner {

enum class Kernel : std::uint8_t { decode, prefill };

/// What the planner must know of the kernels of one ISA and dtype.
struct KernelLimits {
  std::int32_t decode_tile_kv = 64, prefill_tile_kv = 64;  // keys a softmax step
  std::int64_t decode_max_rows = 12;                       // rows of a kv head up to which decode is the faster one
};

/// Where the partial results of a sequence with split keys are kept.
enum class Split : std::uint8_t {
  none,    // an item sees all visible keys of its rows and writes O and LSE
  spread,  // an item a chunk; partials in the workspace; stage 2 merges them
  local,   // an item walks through its chunks, partials in the thread's scratch, and merges them itself
};

struct SequencePlan {
  std::int32_t sequence = 0;  // index in the batch
  Kernel kernel = Kernel::decode;
  Split split = Split::none;
  std::int32_t heads_per_item = 1;
  std::int32_t head_blocks = 1;  // items along the kv heads
  std::int64_t rows = 0;         // of one kv head: query_length * group
  std::int64_t row_tile = 1;     // rows an item
  std::int64_t row_tiles = 1;    // items along the rows
  std::int64_t chunk = 0;        // keys a chunk; 0: unsplit
  std::int64_t first_chunk = 0;  // chunks before it and from first_chunk + num_splits on are outside every window
  std::int64_t num_splits = 1;
  std::int64_t merge_rows = 0;     // rows a merge item (spread)
  std::int64_t merge_tiles = 0;    // merge items along the rows
  std::int64_t item_begin = 0;     // first item of this sequence
  std::int64_t merge_begin = 0;    // first merge item of this sequence
  std::int64_t partial_begin = 0;  // first row of its partials; [split][kv head][row]
  double item_cost_s = 0;          // of its costliest item
};

struct CpuPlan {
  std::vector<SequencePlan> sequences;  // costliest item first; only those with queries
  std::int64_t num_items = 0;
  std::int64_t num_merge_items = 0;
  std::int64_t partial_rows = 0;        // rows of O, m and l in the workspace
  std::int64_t max_rows[2] = {0, 0};    // most rows of an item, by Kernel; 0: no item of this kernel
  std::int64_t local_partial_rows = 0;  // rows of partials a thread keeps (Split::local)
  std::int32_t tile_kv[2] = {0, 0};
  int threads = 1;
  double serial_s = 0, predicted_s = 0;  // modelled
  double flops = 0, bytes = 0;
};

/// Fails only where sizes overflow. `max_threads` is at least 1.
Result<CpuPlan> plan_cpu(const Problem& problem, const KernelLimits& limits, const CpuModel& model, int max_threads);

/// A work item in coordinates. Splits of one row tile are neighbours in `split`.
struct Item {
  const SequencePlan* sequence = nullptr;
  std::int32_t kv_head_begin = 0, kv_head_end = 0;
  std::int64_t row_begin = 0, row_end = 0;
  std::int64_t split = 0;  // spread: index from first_chunk
};
Item item_at(const CpuPlan& plan, const Problem& problem, std::int64_t index) noexcept;

struct MergeCell {
  const SequencePlan* sequence = nullptr;
  std::int32_t kv_head = 0;
  std::int64_t row_begin = 0, row_end = 0;
};
MergeCell merge_at(const CpuPlan& plan, const Problem& problem, std::int64_t index) noexcept;

struct Keys {
  std::int64_t begin = 0, end = 0;
};
/// Keys that rows [row_begin, row_end) must see of `split` (none: the only one, 0): from the first visible one, aligned
/// down to the kernel's tile as counted from the chunk's begin, to the last visible one. Empty: begin == end.
Keys keys_of(const CpuPlan& plan, const Problem& problem, const SequencePlan& s, std::int64_t row_begin,
             std::int64_t row_end, std::int64_t split) noexcept;

/// Modelled seconds of one item on one thread.
double item_cost(const CpuPlan& plan, const Problem& problem, const CpuModel& model, std::int64_t index) noexcept;

/// Where the parts of the workspace begin, in bytes; each is aligned to 64.
struct WorkspaceLayout {
  std::size_t scratch_stride = 0;  // of one thread: kernel scratch, then local partials (O, m, l)
  std::size_t local_partials = 0;  // offset of the local partials in a thread's scratch
  std::size_t partial_o = 0, partial_m = 0, partial_l = 0;
  std::size_t bytes = 0;
};
/// `kernel_scratch`: the most that a kernel of the plan asks for one thread.
Result<WorkspaceLayout> lay_out_workspace(const CpuPlan& plan, std::int64_t head_dim_v, std::size_t kernel_scratch);

}  // namespace tessera::planner
