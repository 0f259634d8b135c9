// SPDX-License-Identifier: Apache-2.0
#include "planner/cpu_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>

#include "planner/checked.hpp"
#include "planner/cpu_cost.hpp"
#include "problem/visible.hpp"

namespace tessera::planner {
namespace {

using problem::KeyRange;

// Keys a chunk. They decide bits, so they depend on nothing but the sequence: not on the machine, the threads or the batch.
// Decode: K and V of 1024 keys of one head are 512 KB (bf16, d 128), 15 us of DRAM. Each chunk costs a pause at its begin
// and partials, which no cache holds when they are written: 4096 instead of 1024 is 2 to 3 hundredths of the roof at 100,000
// keys, on one thread and on two. 16 chunks a sequence and kv head are enough to share. Shorter sequences: 4096 keys in L3
// take 0.27 ms in chunks of 512, 0.29 in 1024, 0.31 in 2048 (two threads, `kvchunk` of bench). Prefill kernel with few rows
// (speculative decoding, short chunks): 2048 keys keep packing and merging below 2 %.
constexpr std::int64_t kMinDecodeChunk = 1024, kMaxDecodeChunk = 4096, kDecodeChunks = 16;
constexpr std::int64_t kPrefillChunk = 2048;
// More rows of a kv head than this have enough row tiles to share, and their partials would grow with Sq * Sk.
constexpr std::int64_t kSpreadMaxRows = 128;

// What follows only shapes the schedule.
constexpr std::int64_t kItemsPerThread = 4;  // of unequal cost, costliest first: the last one ends within 1/8 of the rest
constexpr std::int64_t kStreamedItemsPerThread = 4;  // 2 to 8 differ by a few percent; heads together read memory in order
// Small problems have an item a thread: two threads take 25 us for 512 keys (bf16, 32/8 heads) with one item each, 34 with
// four. What a thread has read it then finds in its L2 the next time, and an item's begin is not free.
constexpr double kLeastItemSeconds = 80e-6;
constexpr double kMostShare = 1.25;  // of an item over a thread's part of the whole, unless it cannot be cut further
// bf16 causal 4096, two threads: 256 rows 0.73 of the peak, 512 rows 0.84 (means of two noisy runs)
constexpr std::int64_t kMaxRowTile = 512, kMinRowTile = 64;
constexpr std::int64_t kMergeRows = 8;
constexpr std::int64_t kLocalPartialBytes = 8 << 20;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// `keys`: how many the sequence's rows see, all together.
std::int64_t default_chunk(Kernel kernel, std::int64_t rows, std::int64_t keys) {
  if (kernel == Kernel::prefill) return rows <= kSpreadMaxRows ? kPrefillChunk : 0;
  std::int64_t chunk = kMinDecodeChunk;
  while (chunk < kMaxDecodeChunk && keys >= 2 * chunk * kDecodeChunks) chunk *= 2;
  return chunk;
}

/// What depends on this sequence alone: kernel and chunks, and so every bit of its result.
SequencePlan cut_keys(const Problem& p, const KernelLimits& limits, std::int32_t b) {
  SequencePlan s;
  s.sequence = b;
  s.rows = p.query_length(b) * (p.num_q_heads / p.num_kv_heads);
  s.kernel = s.rows <= limits.decode_max_rows ? Kernel::decode : Kernel::prefill;
  s.row_tile = s.rows;
  const KeyRange keys = problem::visibility(p, b).keys(0, p.query_length(b));
  const std::int64_t chunk = p.kv_chunk > 0 ? p.kv_chunk : default_chunk(s.kernel, s.rows, keys.size());
  if (chunk == 0 || keys.size() == 0) return s;
  s.chunk = std::min(chunk, p.key_length(b));
  s.first_chunk = keys.begin / s.chunk;
  s.num_splits = (keys.end - 1) / s.chunk - s.first_chunk + 1;
  if (s.num_splits > 1) s.split = s.rows <= kSpreadMaxRows ? Split::spread : Split::local;
  return s;
}

/// The largest row tile whose Q and O (float) fill half of L2, so that K and V are packed as rarely as can be.
std::int64_t largest_row_tile(const Problem& p, const CpuModel& model) {
  const std::int64_t row_bytes = 4 * (p.head_dim_qk + p.head_dim_v);
  return std::clamp(model.l2_bytes / 2 / row_bytes / kMinRowTile * kMinRowTile, kMinRowTile, kMaxRowTile);
}

std::int64_t local_row_tile(const SequencePlan& s, std::int64_t row_tile, std::int64_t head_dim_v) {
  const std::int64_t rows = kLocalPartialBytes / (4 * (head_dim_v + 2)) / s.num_splits;
  return std::clamp<std::int64_t>(rows, 1, row_tile);
}

struct Totals {
  double tiled_rows = 0;      // of all kv heads, of sequences that are cut into row tiles
  double streamed_cells = 0;  // (sequence, chunk, kv head) of sequences with few rows: one tile, bound by reading K and V
};

bool is_streamed(const SequencePlan& s) { return s.kernel == Kernel::decode || s.split == Split::spread; }

/// Rows of all heads lie side by side, or their parts of a page do: an item covers as many heads as leave enough items.
std::int32_t heads_an_item(const Problem& p, const CpuModel& model, int threads, double cells, const CpuPlan& plan) {
  if (threads == 1) return static_cast<std::int32_t>(p.num_kv_heads);
  const double part = plan.serial_s / threads;
  const double items = std::clamp(std::floor(part / kLeastItemSeconds), 1.0, static_cast<double>(kStreamedItemsPerThread));
  auto heads = static_cast<std::int32_t>(std::clamp(cells / (items * threads), 1.0, static_cast<double>(p.num_kv_heads)));
  const auto costliest = [&] {
    double seconds = 0;
    for (SequencePlan s : plan.sequences) {
      if (!is_streamed(s)) continue;
      s.heads_per_item = heads;
      seconds = std::max(seconds, costliest_item(p, model, plan, s));
    }
    return seconds;
  };
  while (heads > 1 && costliest() > kMostShare * part) heads = (heads + 1) / 2;
  return heads;
}

/// Row tiles and heads an item, from what all sequences offer and the number of threads to feed.
void shape_items(const Problem& p, const CpuModel& model, int threads, CpuPlan& plan) {
  Totals totals;
  for (const SequencePlan& s : plan.sequences) {
    const auto heads = static_cast<double>(p.num_kv_heads);
    if (is_streamed(s)) {
      totals.streamed_cells += heads * static_cast<double>(s.num_splits);
    } else {
      totals.tiled_rows += heads * static_cast<double>(s.rows);
    }
  }
  std::int64_t row_tile = largest_row_tile(p, model);
  while (row_tile > kMinRowTile &&
         totals.tiled_rows / static_cast<double>(row_tile) < static_cast<double>(kItemsPerThread * threads)) {
    row_tile = std::max(kMinRowTile, row_tile / 2);
  }
  const auto heads = heads_an_item(p, model, threads, totals.streamed_cells, plan);

  for (SequencePlan& s : plan.sequences) {
    if (!is_streamed(s)) {
      s.row_tile = std::min(s.rows, row_tile);
      if (s.split == Split::local) s.row_tile = local_row_tile(s, s.row_tile, p.head_dim_v);
      s.row_tiles = ceil_div(s.rows, s.row_tile);
    } else {
      s.heads_per_item = heads;  // all rows of each
    }
    s.head_blocks = static_cast<std::int32_t>(ceil_div(p.num_kv_heads, s.heads_per_item));
    if (s.split == Split::spread) {
      s.merge_rows = std::min(s.rows, kMergeRows);
      s.merge_tiles = ceil_div(s.rows, s.merge_rows);
    }
  }
}

/// Prefix sums of items, merge items and partial rows; false where they overflow.
bool number_items(const Problem& p, CpuPlan& plan) {
  bool fits = true;
  for (SequencePlan& s : plan.sequences) {
    s.item_begin = plan.num_items;
    s.merge_begin = plan.num_merge_items;
    s.partial_begin = plan.partial_rows;
    const std::int64_t splits = s.split == Split::spread ? s.num_splits : 1;
    std::int64_t items = 0, merges = 0, partials = 0;
    fits &= multiply({s.head_blocks, s.row_tiles, splits}, items) && add(items, plan.num_items);
    plan.max_rows[static_cast<int>(s.kernel)] = std::max(plan.max_rows[static_cast<int>(s.kernel)], s.row_tile);
    if (s.split == Split::spread) {
      fits &= multiply({p.num_kv_heads, s.merge_tiles}, merges) && add(merges, plan.num_merge_items);
      fits &= multiply({p.num_kv_heads, s.rows, splits}, partials) && add(partials, plan.partial_rows);
    } else if (s.split == Split::local) {
      fits &= multiply({s.row_tile, s.num_splits}, partials);
      plan.local_partial_rows = std::max(plan.local_partial_rows, partials);
    }
  }
  return fits;
}

}  // namespace

Result<CpuPlan> plan_cpu(const Problem& p, const KernelLimits& limits, const CpuModel& model, int max_threads) {
  CpuPlan plan;
  plan.tile_kv[static_cast<int>(Kernel::decode)] = limits.decode_tile_kv;
  plan.tile_kv[static_cast<int>(Kernel::prefill)] = limits.prefill_tile_kv;
  plan.sequences.reserve(static_cast<std::size_t>(p.batch));
  for (std::int64_t b = 0; b < p.batch; ++b) {
    if (p.query_length(b) > 0) plan.sequences.push_back(cut_keys(p, limits, static_cast<std::int32_t>(b)));
  }
  estimate(p, model, plan);
  plan.threads = choose_threads(p, model, max_threads, plan);
  shape_items(p, model, plan.threads, plan);
  for (SequencePlan& s : plan.sequences) s.item_cost_s = costliest_item(p, model, plan, s);
  std::sort(plan.sequences.begin(), plan.sequences.end(), [](const SequencePlan& a, const SequencePlan& b) {
    return a.item_cost_s != b.item_cost_s ? a.item_cost_s > b.item_cost_s : a.sequence < b.sequence;
  });
  if (!number_items(p, plan)) {
    return Status::invalid("kv_chunk: " + std::to_string(p.kv_chunk) +
                           " cuts the keys into more items than 64 bits can count");
  }
  plan.threads = static_cast<int>(std::clamp<std::int64_t>(plan.num_items, 1, plan.threads));
  plan.predicted_s = predict(p, model, plan, plan.threads);
  return plan;
}

namespace {

/// The sequence that holds item (or merge item) `index`.
template <std::int64_t SequencePlan::*Begin>
const SequencePlan& find(const CpuPlan& plan, std::int64_t index) noexcept {
  const auto after = std::upper_bound(plan.sequences.begin(), plan.sequences.end(), index,
                                      [](std::int64_t i, const SequencePlan& s) { return i < s.*Begin; });
  return *std::prev(after);
}

}  // namespace

Item item_at(const CpuPlan& plan, const Problem& p, std::int64_t index) noexcept {
  const SequencePlan& s = find<&SequencePlan::item_begin>(plan, index);
  const std::int64_t splits = s.split == Split::spread ? s.num_splits : 1;
  std::int64_t rest = index - s.item_begin;
  Item item;
  item.sequence = &s;
  item.kv_head_begin = static_cast<std::int32_t>(rest % s.head_blocks) * s.heads_per_item;
  item.kv_head_end =
      static_cast<std::int32_t>(std::min<std::int64_t>(item.kv_head_begin + s.heads_per_item, p.num_kv_heads));
  rest /= s.head_blocks;
  item.split = rest % splits;
  // The last rows first: under a causal mask they see the most keys.
  const std::int64_t tile = s.row_tiles - 1 - rest / splits;
  item.row_begin = tile * s.row_tile;
  item.row_end = std::min(item.row_begin + s.row_tile, s.rows);
  return item;
}

MergeCell merge_at(const CpuPlan& plan, const Problem& p, std::int64_t index) noexcept {
  const SequencePlan& s = find<&SequencePlan::merge_begin>(plan, index);
  const std::int64_t rest = index - s.merge_begin;
  MergeCell cell;
  cell.sequence = &s;
  cell.kv_head = static_cast<std::int32_t>(rest % p.num_kv_heads);
  cell.row_begin = rest / p.num_kv_heads * s.merge_rows;
  cell.row_end = std::min(cell.row_begin + s.merge_rows, s.rows);
  return cell;
}

Keys keys_of(const CpuPlan& plan, const Problem& p, const SequencePlan& s, std::int64_t row_begin, std::int64_t row_end,
             std::int64_t split) noexcept {
  const std::int64_t group = p.num_q_heads / p.num_kv_heads;
  const KeyRange visible = problem::visibility(p, s.sequence).keys(row_begin / group, (row_end - 1) / group + 1);
  const std::int64_t chunk_begin = (s.first_chunk + split) * s.chunk;
  const std::int64_t chunk_end = s.chunk > 0 ? chunk_begin + s.chunk : visible.end;
  const std::int64_t begin = std::max(visible.begin, chunk_begin), end = std::min(visible.end, chunk_end);
  if (begin >= end) return {chunk_begin, chunk_begin};
  const std::int64_t tile = plan.tile_kv[static_cast<int>(s.kernel)];
  return {chunk_begin + (begin - chunk_begin) / tile * tile, end};
}

Result<WorkspaceLayout> lay_out_workspace(const CpuPlan& plan, std::int64_t head_dim_v, std::size_t kernel_scratch) {
  SizeSum size;
  WorkspaceLayout layout;
  const auto floats = [](std::int64_t rows, std::int64_t each) { return std::array<std::int64_t, 3>{rows, each, 4}; };
  size.add(kernel_scratch);
  layout.local_partials = size.align(64);
  size.add(floats(plan.local_partial_rows, head_dim_v + 2));
  layout.scratch_stride = size.align(64);
  size.multiply(static_cast<std::size_t>(plan.threads));
  layout.partial_o = size.align(64);
  size.add(floats(plan.partial_rows, head_dim_v));
  layout.partial_m = size.align(64);
  size.add(floats(plan.partial_rows, 1));
  layout.partial_l = size.align(64);
  size.add(floats(plan.partial_rows, 1));
  layout.bytes = size.align(64);
  if (!size.fits())
    return Status::invalid("workspace: its size does not fit 63 bits; take a larger kv_chunk or a smaller batch");
  return layout;
}

}  // namespace tessera::planner
