// SPDX-License-Identifier: Apache-2.0
// Any plan covers each visible (kv head, row, key) exactly once, keeps its partials apart and inside the workspace, and
// merges each row once. Sizes beyond any memory are refused or planned, never overflown.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fuzz/check.hpp"
#include "fuzz/random_problem.hpp"
#include "planner/cpu_plan.hpp"

namespace {

using namespace tessera;
using namespace tessera::planner;

constexpr std::int64_t kFar = std::int64_t{1} << 40;

/// Keys that query i of sequence b may see by position, worked out anew.
std::pair<std::int64_t, std::int64_t> visible(const Problem& p, std::int64_t b, std::int64_t i) {
  const std::int64_t sk = p.key_length(b);
  const std::int64_t at = p.alignment == Alignment::top_left ? i : i + sk - p.query_length(b);
  const std::int64_t left = p.window_left < 0 ? kFar : p.window_left;
  std::int64_t right = p.window_right < 0 ? kFar : p.window_right;
  if (p.causal) right = 0;
  const std::int64_t begin = std::clamp<std::int64_t>(at - left, 0, sk),
                     end = std::clamp<std::int64_t>(at + right + 1, 0, sk);
  return {begin, std::max(begin, end)};
}

/// Key ranges that the items of one sequence give to each (kv head, row), and the partials they write.
class Coverage {
 public:
  Coverage(const CpuPlan& plan, const Problem& problem) : plan_(plan), problem_(problem), partial_used_(plan.partial_rows) {
    ranges_.resize(problem.batch);
    merged_.resize(problem.batch);
    for (const SequencePlan& s : plan.sequences) {
      ranges_[s.sequence].resize(problem.num_kv_heads * s.rows);
      merged_[s.sequence].resize(problem.num_kv_heads * s.rows);
    }
  }

  void add(const Item& item) {
    const SequencePlan& s = *item.sequence;
    FUZZ_CHECK(item.kv_head_begin >= 0 && item.kv_head_begin < item.kv_head_end && item.kv_head_end <= problem_.num_kv_heads,
               "%s: heads %d to %d", text().c_str(), item.kv_head_begin, item.kv_head_end);
    FUZZ_CHECK(item.row_begin >= 0 && item.row_begin < item.row_end && item.row_end <= s.rows, "%s", text().c_str());
    FUZZ_CHECK(item.row_end - item.row_begin <= plan_.max_rows[static_cast<int>(s.kernel)], "%s", text().c_str());
    const std::int64_t first = s.split == Split::spread ? item.split : 0;
    const std::int64_t last = s.split == Split::local ? s.num_splits : first + 1;
    for (std::int64_t split = first; split < last; ++split) {
      const Keys keys = keys_of(plan_, problem_, s, item.row_begin, item.row_end, split);
      FUZZ_CHECK(keys.begin >= 0 && keys.begin <= keys.end && keys.end <= problem_.key_length(s.sequence),
                 "%s: keys %lld to %lld", text().c_str(), static_cast<long long>(keys.begin),
                 static_cast<long long>(keys.end));
      for (std::int64_t h = item.kv_head_begin; h < item.kv_head_end; ++h) {
        for (std::int64_t r = item.row_begin; r < item.row_end; ++r) {
          ranges_[s.sequence][h * s.rows + r].push_back({keys.begin, keys.end});
          if (s.split == Split::spread) use_partial(s, split, h, r);
        }
      }
    }
  }

  void add(const MergeCell& cell) {
    const SequencePlan& s = *cell.sequence;
    FUZZ_CHECK(s.split == Split::spread, "%s merges what is not spread", text().c_str());
    for (std::int64_t r = cell.row_begin; r < cell.row_end; ++r) {
      FUZZ_CHECK(!merged_[s.sequence].at(cell.kv_head * s.rows + r), "%s merges a row twice", text().c_str());
      merged_[s.sequence][cell.kv_head * s.rows + r] = true;
    }
  }

  void check() {
    const std::int64_t group = problem_.num_q_heads / problem_.num_kv_heads;
    for (const SequencePlan& s : plan_.sequences) {
      FUZZ_CHECK(s.rows == problem_.query_length(s.sequence) * group, "%s", text().c_str());
      for (std::int64_t x = 0; x < problem_.num_kv_heads * s.rows; ++x) {
        check_row(ranges_[s.sequence][x], visible(problem_, s.sequence, x % s.rows / group));
        FUZZ_CHECK(merged_[s.sequence][x] == (s.split == Split::spread), "%s: a row is not merged", text().c_str());
      }
    }
  }

 private:
  std::string text() const { return problem_.to_string(); }

  void use_partial(const SequencePlan& s, std::int64_t split, std::int64_t head, std::int64_t row) {
    const std::int64_t at = s.partial_begin + (split * problem_.num_kv_heads + head) * s.rows + row;
    FUZZ_CHECK(at >= 0 && at < plan_.partial_rows, "%s: partial %lld of %lld", text().c_str(), static_cast<long long>(at),
               static_cast<long long>(plan_.partial_rows));
    FUZZ_CHECK(!partial_used_[at], "%s: partial %lld is written twice", text().c_str(), static_cast<long long>(at));
    partial_used_[at] = true;
  }

  void check_row(std::vector<std::pair<std::int64_t, std::int64_t>>& ranges,
                 std::pair<std::int64_t, std::int64_t> want) const {
    FUZZ_CHECK(!ranges.empty(), "%s: a row that no item has", text().c_str());
    std::sort(ranges.begin(), ranges.end());
    std::int64_t seen = 0, end = 0;
    for (const auto& r : ranges) {
      if (r.first == r.second) continue;
      FUZZ_CHECK(r.first >= end, "%s: keys from %lld are covered twice", text().c_str(), static_cast<long long>(r.first));
      end = r.second;
      seen += std::max<std::int64_t>(0, std::min(r.second, want.second) - std::max(r.first, want.first));
    }
    FUZZ_CHECK(seen == want.second - want.first, "%s: %lld of %lld visible keys are covered", text().c_str(),
               static_cast<long long>(seen), static_cast<long long>(want.second - want.first));
  }

  const CpuPlan& plan_;
  const Problem& problem_;
  std::vector<std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>>> ranges_;  // [sequence][kv head, row]
  std::vector<std::vector<bool>> merged_;                                                // [sequence][kv head, row]
  std::vector<bool> partial_used_;
};

void check_workspace(const CpuPlan& plan, const Problem& problem, std::size_t kernel_scratch) {
  const auto layout = lay_out_workspace(plan, problem.head_dim_v, kernel_scratch);
  if (!layout) return;
  const auto dv = static_cast<std::size_t>(problem.head_dim_v), rows = static_cast<std::size_t>(plan.partial_rows);
  const auto local = static_cast<std::size_t>(plan.local_partial_rows);
  FUZZ_CHECK(layout->local_partials >= kernel_scratch, "scratch and local partials overlap");
  FUZZ_CHECK(layout->scratch_stride >= layout->local_partials + local * (dv + 2) * 4, "local partials do not fit");
  FUZZ_CHECK(rows == 0 || layout->partial_o >= layout->scratch_stride * plan.threads, "scratch and partials overlap");
  FUZZ_CHECK(rows == 0 || layout->partial_m >= layout->partial_o + rows * dv * 4, "O and m overlap");
  FUZZ_CHECK(rows == 0 || layout->partial_l >= layout->partial_m + rows * 4, "m and l overlap");
  FUZZ_CHECK(rows == 0 || layout->bytes >= layout->partial_l + rows * 4, "l does not fit");
  const std::size_t least = layout->scratch_stride * plan.threads + rows * (dv + 2) * 4;
  FUZZ_CHECK(layout->bytes >= layout->scratch_stride * plan.threads && layout->bytes <= least + 1024,
             "%s: %zu bytes, %zu needed", problem.to_string().c_str(), layout->bytes, least);
}

void cover(const Problem& problem, const CpuPlan& plan) {
  Coverage coverage(plan, problem);
  for (std::int64_t i = 0; i < plan.num_items; ++i) coverage.add(item_at(plan, problem, i));
  for (std::int64_t i = 0; i < plan.num_merge_items; ++i) coverage.add(merge_at(plan, problem, i));
  coverage.check();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  const bool huge = bytes.ConsumeIntegralInRange(0, 7) == 0;
  fuzz::Limits limits;
  limits.group = 4;
  limits.seqlen_q = 40;
  limits.seqlen_kv = 500;
  if (huge) limits = {64, 1 << 20, 1 << 10, 256, (1 << 25), (1 << 25)};
  KernelLimits kernels;
  kernels.decode_tile_kv = fuzz::pick(bytes, 1, 16) * 16;
  kernels.prefill_tile_kv = fuzz::pick(bytes, 1, 16) * 16;
  kernels.decode_max_rows = fuzz::pick(bytes, 1, 40);
  CpuModel model;
  model.cores = fuzz::pick(bytes, 1, 64);
  const int max_threads = fuzz::pick(bytes, 1, 64);
  const Problem problem = fuzz::random_problem(bytes, limits);
  if (!problem.validate()) return 0;
  const auto plan = plan_cpu(problem, kernels, model, max_threads);
  if (!plan) {
    FUZZ_CHECK(huge, "%s is refused: %s", problem.to_string().c_str(), plan.status().message().c_str());
    return 0;
  }
  FUZZ_CHECK(plan->threads >= 1 && plan->threads <= max_threads, "%d threads of %d", plan->threads, max_threads);
  check_workspace(*plan, problem, static_cast<std::size_t>(fuzz::pick(bytes, 0, 1 << 16)));
  if (!huge) cover(problem, *plan);
  return 0;
}
