// SPDX-License-Identifier: Apache-2.0
// Runs a CpuPlan: items and merges in the kernels' own terms.
#include <algorithm>
#include <string>

#include "problem/visible.hpp"
#include "runtime/cpu/machine.hpp"
#include "runtime/executor.hpp"
#include "runtime/plan_impl.hpp"
#include "runtime/trace.hpp"

namespace tessera::runtime {
namespace {

using planner::Kernel;
using planner::SequencePlan;
using planner::Split;

static_assert(cpu::kUnbounded == problem::kUnbounded);

cpu::RunConstants constants_of(const Problem& p) {
  cpu::RunConstants c{};
  c.num_q_heads = static_cast<std::int32_t>(p.num_q_heads);
  c.num_kv_heads = static_cast<std::int32_t>(p.num_kv_heads);
  c.group = c.num_q_heads / c.num_kv_heads;
  c.dqk = static_cast<std::int32_t>(p.head_dim_qk);
  c.dv = static_cast<std::int32_t>(p.head_dim_v);
  c.softmax_scale = static_cast<float>(p.scale());
  c.softcap = static_cast<float>(p.softcap);
  const problem::Visibility v = problem::visibility(p, 0);
  c.window_left = v.left;
  c.window_right = v.right;
  c.page_size = p.page_size;
  return c;
}

const cpu::AttentionKernel& kernel_of(const cpu::KernelTable& table, Kernel kernel, int dtype) {
  return kernel == Kernel::decode ? table.decode[dtype] : table.prefill[dtype];
}

// Of what one core alone reads. Two threads got 0.58 to 0.64 of the model's rate each where they shared 52 GB/s, 0.82 to
// 0.94 where they shared 85.
constexpr double kCrowdedShare = 0.75;

cpu::KvSource kv_source(const Plan::Impl& impl) {
  const planner::CpuModel& model = impl.model;
  if (impl.cpu.bytes <= static_cast<double>(model.l3_bytes)) return cpu::KvSource::cache;
  const double wanted = impl.cpu.threads * model.dram_bytes_per_s_per_core;
  return wanted > model.dram_bytes_per_s ? cpu::KvSource::shared_memory : cpu::KvSource::memory;
}

}  // namespace

Status plan_cpu_kernels(const cpu::KernelTable& table, Plan::Impl& impl) {
  const Problem& p = impl.problem;
  const int dtype = static_cast<int>(p.dtype);
  impl.model = cpu_model(impl.candidate->info.name);
  impl.constants = constants_of(p);

  // A kernel that is not there has no tile; any will do, since a plan that needs it is refused.
  const planner::KernelLimits limits{std::max(table.decode[dtype].tile_kv, 1), std::max(table.prefill[dtype].tile_kv, 1),
                                     table.decode_max_rows[dtype]};
  auto planned = planner::plan_cpu(p, limits, impl.model, impl.max_threads);
  if (!planned) return planned.status();
  impl.cpu = std::move(*planned);
  impl.constants.kv_source = kv_source(impl);
  impl.constants.crowded_bytes_per_s = static_cast<float>(kCrowdedShare * impl.model.dram_bytes_per_s_per_core);

  std::size_t scratch = 0;
  for (Kernel kind : {Kernel::decode, Kernel::prefill}) {
    const std::int64_t rows = impl.cpu.max_rows[static_cast<int>(kind)];
    if (rows == 0) continue;
    const cpu::AttentionKernel& kernel = kernel_of(table, kind, dtype);
    if (kernel.run == nullptr) {
      return Status::unsupported(std::string("it has no ") + (kind == Kernel::decode ? "decode" : "prefill") +
                                 " kernel for " + std::string(name_of(p.dtype)));
    }
    cpu::RunConstants constants = impl.constants;
    constants.tile_kv = kernel.tile_kv;
    scratch = std::max(scratch, kernel.scratch_bytes(constants, rows));
  }
  if ((impl.cpu.partial_rows > 0 || impl.cpu.local_partial_rows > 0) && table.merge[dtype] == nullptr) {
    return Status::unsupported("it has no merge kernel for " + std::string(name_of(p.dtype)));
  }
  auto layout = planner::lay_out_workspace(impl.cpu, p.head_dim_v, scratch);
  if (!layout) return layout.status();
  impl.layout = *layout;
  return {};
}

namespace {

/// One run: what all its threads share.
class Run {
 public:
  Run(const Plan::Impl& impl, const AttentionTensors& tensors, std::byte* workspace, const RunOptions& options)
      : impl_(impl),
        p_(impl.problem),
        t_(tensors),
        table_(*impl.candidate->table),
        workspace_(workspace),
        trace_(options.trace) {
    const int dtype = static_cast<int>(p_.dtype);
    element_ = static_cast<std::int64_t>(size_of(p_.dtype));
    merge_ = table_.merge[dtype];
    for (Kernel kind : {Kernel::decode, Kernel::prefill}) {
      cpu::RunConstants& c = constants_[static_cast<int>(kind)];
      c = impl.constants;
      c.tile_kv = impl.cpu.tile_kv[static_cast<int>(kind)];
      c.alibi_slopes = p_.has_alibi ? t_.alibi_slopes : nullptr;
      c.sink = p_.has_sink ? t_.sink : nullptr;
      c.bias_type = static_cast<cpu::BiasType>(t_.bias.dtype);
      kernels_[static_cast<int>(kind)] = kernel_of(table_, kind, dtype);
    }
  }

  Status run(Executor& executor, int threads) {
    Stage<&Run::item> items{*this, impl_.cpu.num_items};
    if (Status status = parallel(executor, threads, items); !status || impl_.cpu.num_merge_items == 0) return status;
    Stage<&Run::merge> merges{*this, impl_.cpu.num_merge_items};
    return parallel(executor, static_cast<int>(std::min<std::int64_t>(threads, impl_.cpu.num_merge_items)), merges);
  }

 private:
  /// What a thread keeps from item to item.
  struct Thread {
    std::byte* scratch;
    cpu::TraceLane* lane;
    const SequencePlan* current = nullptr;  // whose Sequence this is
    cpu::Sequence sequence{};
  };

  /// Threads fetch indices of [0, count) one by one until none is left.
  template <void (Run::*Work)(Thread&, std::int64_t)>
  struct Stage {
    Run& run;
    std::int64_t count;
    alignas(64) std::atomic<std::int64_t> next{0};

    void operator()(int thread) {
      Thread state{run.workspace_ + static_cast<std::size_t>(thread) * run.impl_.layout.scratch_stride,
                   run.trace_ ? lane_of(*run.trace_, thread) : nullptr};
      for (;;) {
        const std::int64_t index = next.fetch_add(1, std::memory_order_relaxed);
        if (index >= count) return;
        (run.*Work)(state, index);
      }
    }
  };

  void item(Thread& thread, std::int64_t index);
  void merge(Thread& thread, std::int64_t index);
  static cpu::WorkItem work_of(const Thread& thread, const planner::Item& item, const planner::Keys& keys,
                               std::int64_t index);
  void local(Thread& thread, const planner::Item& item, std::int64_t index);
  void enter(Thread& thread, const SequencePlan& s) const;
  cpu::KvView view(const ConstTensor& tensor, std::int64_t b) const;
  cpu::Partial partial(std::int64_t row) const;

  const Plan::Impl& impl_;
  const Problem& p_;
  const AttentionTensors& t_;
  const cpu::KernelTable& table_;
  std::byte* workspace_;
  TraceRecorder* trace_;
  std::int64_t element_;
  cpu::RunConstants constants_[2];
  cpu::AttentionKernel kernels_[2];
  cpu::MergeFn merge_;
};

cpu::KvView Run::view(const ConstTensor& tensor, std::int64_t b) const {
  const auto* base = static_cast<const std::byte*>(tensor.data);
  if (base && !p_.paged()) {
    base += element_ * (p_.cu_seqlens_kv.empty() ? b * tensor.strides.outer
                                                 : p_.cu_seqlens_kv[static_cast<std::size_t>(b)] * tensor.strides.seq);
  }
  return {base, tensor.strides.outer * element_, tensor.strides.seq * element_, tensor.strides.head * element_};
}

/// Fills in thread.sequence, unless it is the one of the item before.
void Run::enter(Thread& thread, const SequencePlan& s) const {
  if (thread.current == &s) return;
  thread.current = &s;
  const std::int64_t b = s.sequence;
  const bool ragged = !p_.cu_seqlens_q.empty();
  const std::int64_t first = ragged ? p_.cu_seqlens_q[static_cast<std::size_t>(b)] : 0;
  const auto offset = [&](const Strides& strides) { return element_ * (ragged ? first * strides.seq : b * strides.outer); };

  cpu::Sequence& q = thread.sequence;
  q.q = static_cast<const std::byte*>(t_.q.data) + offset(t_.q.strides);
  q.q_stride_token = t_.q.strides.seq * element_;
  q.q_stride_head = t_.q.strides.head * element_;
  q.o = static_cast<std::byte*>(t_.o.data) + offset(t_.o.strides);
  q.o_stride_token = t_.o.strides.seq * element_;
  q.o_stride_head = t_.o.strides.head * element_;
  q.lse_stride_head = ragged ? p_.total_queries() : p_.seqlen_q;
  q.lse = t_.lse ? t_.lse + (ragged ? first : b * p_.num_q_heads * p_.seqlen_q) : nullptr;
  q.k = view(t_.k, b);
  q.v = view(t_.v, b);
  q.block_table = p_.paged() && t_.block_table ? t_.block_table + b * t_.block_table_stride : nullptr;
  const problem::Visibility v = problem::visibility(p_, b);
  q.seqlen_q = v.seqlen_q;
  q.seqlen_kv = v.seqlen_kv;
  q.position_offset = v.position_offset;
  if (p_.has_bias) {
    const auto size = static_cast<std::int64_t>(size_of(t_.bias.dtype));
    q.bias = {static_cast<const std::byte*>(t_.bias.data) + b * t_.bias.strides[0] * size, t_.bias.strides[1],
              t_.bias.strides[2], t_.bias.strides[3]};
  }
  if (p_.has_mask) {
    q.mask = {reinterpret_cast<const std::byte*>(t_.mask.data) + b * t_.mask.strides[0], t_.mask.strides[1],
              t_.mask.strides[2], t_.mask.strides[3]};
  }
}

cpu::Partial Run::partial(std::int64_t row) const {
  return {reinterpret_cast<float*>(workspace_ + impl_.layout.partial_o) + row * p_.head_dim_v,
          reinterpret_cast<float*>(workspace_ + impl_.layout.partial_m) + row,
          reinterpret_cast<float*>(workspace_ + impl_.layout.partial_l) + row};
}

/// Writes O and LSE, unless it is given a partial.
cpu::WorkItem Run::work_of(const Thread& thread, const planner::Item& item, const planner::Keys& keys, std::int64_t index) {
  return {&thread.sequence,
          item.kv_head_begin,
          item.kv_head_end,
          item.row_begin,
          item.row_end,
          keys.begin,
          keys.end,
          {},
          static_cast<std::int32_t>(index)};
}

void Run::item(Thread& thread, std::int64_t index) {
  const planner::Item item = planner::item_at(impl_.cpu, p_, index);
  const SequencePlan& s = *item.sequence;
  enter(thread, s);
  if (s.split == Split::local) return local(thread, item, index);
  const planner::Keys keys = planner::keys_of(impl_.cpu, p_, s, item.row_begin, item.row_end, item.split);
  cpu::WorkItem work = work_of(thread, item, keys, index);
  if (s.split == Split::spread) {
    work.partial = partial(s.partial_begin + (item.split * p_.num_kv_heads + item.kv_head_begin) * s.rows + item.row_begin);
  }
  const int kind = static_cast<int>(s.kernel);
  kernels_[kind].run(constants_[kind], work, thread.scratch, thread.lane);
}

/// All chunks of a row tile, one after the other, then their merge. [split][row]
void Run::local(Thread& thread, const planner::Item& item, std::int64_t index) {
  const SequencePlan& s = *item.sequence;
  const int kind = static_cast<int>(s.kernel);
  const std::int64_t rows = item.row_end - item.row_begin;
  auto* o = reinterpret_cast<float*>(thread.scratch + impl_.layout.local_partials);
  float* m = o + s.num_splits * rows * p_.head_dim_v;
  float* l = m + s.num_splits * rows;
  std::int64_t used = 0;
  for (std::int64_t split = 0; split < s.num_splits; ++split) {
    const planner::Keys keys = planner::keys_of(impl_.cpu, p_, s, item.row_begin, item.row_end, split);
    if (keys.begin == keys.end) continue;  // an empty partial changes nothing
    cpu::WorkItem work = work_of(thread, item, keys, index);
    work.partial = {o + used * rows * p_.head_dim_v, m + used * rows, l + used * rows};
    kernels_[kind].run(constants_[kind], work, thread.scratch, thread.lane);
    ++used;
  }
  const cpu::MergeItem merge{&thread.sequence,
                             item.kv_head_begin,
                             item.row_begin,
                             item.row_end,
                             static_cast<std::int32_t>(used),
                             o,
                             m,
                             l,
                             rows,
                             static_cast<std::int32_t>(index)};
  merge_(constants_[kind], merge, thread.lane);
}

void Run::merge(Thread& thread, std::int64_t index) {
  const planner::MergeCell cell = planner::merge_at(impl_.cpu, p_, index);
  const SequencePlan& s = *cell.sequence;
  enter(thread, s);
  const cpu::Partial first = partial(s.partial_begin + cell.kv_head * s.rows + cell.row_begin);
  const cpu::MergeItem merge{&thread.sequence,
                             cell.kv_head,
                             cell.row_begin,
                             cell.row_end,
                             static_cast<std::int32_t>(s.num_splits),
                             first.o,
                             first.m,
                             first.l,
                             p_.num_kv_heads * s.rows,
                             static_cast<std::int32_t>(index)};
  merge_(constants_[static_cast<int>(s.kernel)], merge, thread.lane);
}

}  // namespace

Status run_cpu_kernels(const Plan::Impl& impl, const AttentionTensors& tensors, std::byte* workspace, int threads,
                       const RunOptions& options) {
  if (impl.cpu.num_items == 0) return {};
  threads = std::min(threads, impl.cpu.threads);
  Executor& executor = options.executor ? *options.executor : default_executor();
  if (threads > 1) threads = std::clamp(executor.concurrency(), 1, threads);
  if (options.trace && options.trace->num_threads() < threads) {
    return Status::invalid("trace: its recorder has lanes for " + std::to_string(options.trace->num_threads()) +
                           " threads; " + std::to_string(threads) + " are needed");
  }
  Status status = Run(impl, tensors, workspace, options).run(executor, threads);
  if (options.trace) settle(*options.trace);
  return status;
}

}  // namespace tessera::runtime
