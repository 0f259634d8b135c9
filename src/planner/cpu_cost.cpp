// SPDX-License-Identifier: Apache-2.0
#include "planner/cpu_cost.hpp"

#include <algorithm>
#include <cmath>

#include "problem/visible.hpp"

namespace tessera::planner {
namespace {

// Shares of the peaks that the kernels reach, as `tessera bench` measures them on long problems.
constexpr double kComputeShare = 0.75;
constexpr double kReadShare = 0.85;
// Decode from L2: 33 cycles for 16 of pair products (docs/decode.md), 39 for 32 of float products.
constexpr double kDecodePairShare = 0.48;

double flops_rate(const Problem& p, const CpuModel& model, Kernel kernel) {
  const auto dtype = static_cast<int>(p.dtype);
  const bool pairs = model.flops_per_core[dtype] > model.flops_per_core[static_cast<int>(DType::f32)];
  return (kernel == Kernel::decode && pairs ? kDecodePairShare : kComputeShare) * model.flops_per_core[dtype];
}

struct ReadRate {
  const char* level;
  double one_core, all_cores;
};

/// A problem that is run again and again stays in the smallest cache that holds it.
ReadRate read_rate(const CpuModel& model, const CpuPlan& plan) {
  const double cores = model.cores;
  if (plan.bytes <= static_cast<double>(model.l2_bytes)) {
    return {"L2", kReadShare * model.l2_bytes_per_s_per_core, kReadShare * model.l2_bytes_per_s_per_core * cores};
  }
  if (plan.bytes <= static_cast<double>(model.l3_bytes)) {
    return {"L3", kReadShare * model.l3_bytes_per_s_per_core, kReadShare * model.l3_bytes_per_s_per_core * cores};
  }
  return {"DRAM", kReadShare * model.dram_bytes_per_s_per_core, kReadShare * model.dram_bytes_per_s};
}

/// One sequence of prefill outweighs the decodes beside it.
Kernel kernel_of_most_work(const CpuPlan& plan) {
  const auto prefills = [](const SequencePlan& s) { return s.kernel == Kernel::prefill; };
  return std::any_of(plan.sequences.begin(), plan.sequences.end(), prefills) ? Kernel::prefill : Kernel::decode;
}

struct Seconds {
  double compute, memory, overhead;
};

Seconds seconds(const Problem& p, const CpuModel& model, const CpuPlan& plan, int threads) {
  const double busy = std::min(threads, std::max(model.cores, 1));
  const ReadRate rate = read_rate(model, plan);
  const double forks = plan.num_merge_items > 0 ? 2 : 1;
  return {plan.flops / (flops_rate(p, model, kernel_of_most_work(plan)) * busy),
          plan.bytes / std::min(rate.one_core * busy, rate.all_cores),
          threads > 1 ? forks * model.fork_join_s * std::log2(threads) : model.item_s};
}

double item_seconds(const Problem& p, const CpuModel& model, const CpuPlan& plan, Kernel kernel, double pairs, double keys,
                    double heads) {
  const double dims = static_cast<double>(p.head_dim_qk + p.head_dim_v);
  const double group = static_cast<double>(p.num_q_heads) / static_cast<double>(p.num_kv_heads);
  const double compute = 2 * dims * group * pairs * heads / flops_rate(p, model, kernel);
  const double memory = dims * static_cast<double>(size_of(p.dtype)) * keys * heads / read_rate(model, plan).one_core;
  return std::max(compute, memory) + model.item_s;
}

/// Of one item of s over rows [row_begin, row_end) and chunk `split`; pairs of a chunk as its share of the keys.
double range_seconds(const Problem& p, const CpuModel& model, const CpuPlan& plan, const SequencePlan& s, const Item& item) {
  const std::int64_t group = p.num_q_heads / p.num_kv_heads;
  const auto v = problem::visibility(p, s.sequence);
  const std::int64_t query_begin = item.row_begin / group, query_end = (item.row_end - 1) / group + 1;
  const auto visible = static_cast<double>(v.keys(query_begin, query_end).size());
  if (visible == 0) return model.item_s;
  double keys = visible;
  if (s.split == Split::spread) {
    const Keys range = keys_of(plan, p, s, item.row_begin, item.row_end, item.split);
    keys = static_cast<double>(range.end - range.begin);
  }
  // A tile may begin or end inside a query's group of rows.
  const double rows_share =
      static_cast<double>(item.row_end - item.row_begin) / static_cast<double>((query_end - query_begin) * group);
  const double pairs = v.pairs(query_begin, query_end) * keys / visible * rows_share;
  return item_seconds(p, model, plan, s.kernel, pairs, keys, item.kv_head_end - item.kv_head_begin);
}

}  // namespace

void estimate(const Problem& p, const CpuModel& model, CpuPlan& plan) {
  plan.flops = p.flops();
  plan.bytes = p.bytes();
  const Seconds s = seconds(p, model, plan, 1);
  plan.serial_s = std::max(s.compute, s.memory) + s.overhead;
}

double predict(const Problem& p, const CpuModel& model, const CpuPlan& plan, int threads) noexcept {
  const Seconds s = seconds(p, model, plan, threads);
  return std::max(s.compute, s.memory) + s.overhead;
}

int choose_threads(const Problem& p, const CpuModel& model, int max_threads, const CpuPlan& plan) noexcept {
  int best = 1;
  double best_s = predict(p, model, plan, 1);
  for (int threads = 2; threads <= max_threads; ++threads) {
    const double s = predict(p, model, plan, threads);
    if (s < best_s * (1 - 1e-9)) best = threads, best_s = s;
  }
  // A guess that is a fifth off must not make a small problem slower.
  if (best_s > 0.8 * predict(p, model, plan, 1)) return 1;
  // Where memory is the limit a few cores reach it. In a long run the others help to balance and cost next to nothing.
  const int all = std::min(max_threads, std::max(model.cores, 1));
  return seconds(p, model, plan, all).overhead < 0.02 * best_s ? std::max(best, all) : best;
}

double costliest_item(const Problem& p, const CpuModel& model, const CpuPlan& plan, const SequencePlan& s) noexcept {
  Item last;  // the last rows see the most keys of a causal problem, and all the same otherwise
  last.sequence = &s;
  last.kv_head_end = static_cast<std::int32_t>(std::min<std::int64_t>(s.heads_per_item, p.num_kv_heads));
  last.row_begin = (s.row_tiles - 1) * s.row_tile;
  last.row_end = s.rows;
  Item full = last;  // of a whole row tile and a whole chunk
  full.row_begin = std::max<std::int64_t>(0, s.rows - s.row_tile);
  full.split = s.split == Split::spread && s.num_splits > 1 ? s.num_splits - 2 : 0;
  return std::max(range_seconds(p, model, plan, s, last), range_seconds(p, model, plan, s, full));
}

double item_cost(const CpuPlan& plan, const Problem& p, const CpuModel& model, std::int64_t index) noexcept {
  const Item item = item_at(plan, p, index);
  return range_seconds(p, model, plan, *item.sequence, item);
}

const char* bound(const Problem& p, const CpuModel& model, const CpuPlan& plan, int threads) noexcept {
  const Seconds s = seconds(p, model, plan, threads);
  if (s.overhead >= std::max(s.compute, s.memory)) return "overhead";
  return s.compute >= s.memory ? "compute" : read_rate(model, plan).level;
}

}  // namespace tessera::planner
