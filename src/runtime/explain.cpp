// SPDX-License-Identifier: Apache-2.0
// Plan::explain: built only when asked, from the plan's own functions.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <queue>
#include <string>

#include "planner/cpu_cost.hpp"
#include "runtime/plan_impl.hpp"

namespace tessera::runtime {
namespace {

using planner::CpuPlan;
using planner::Kernel;
using planner::SequencePlan;
using planner::Split;

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* pattern, ...) {
  char text[512];
  std::va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

std::string seconds(double s) {
  if (s < 1e-3) return format("%.1f us", s * 1e6);
  return s < 1 ? format("%.2f ms", s * 1e3) : format("%.2f s", s);
}

std::string bytes(double b) {
  if (b < 1024) return format("%.0f B", b);
  if (b < 1 << 20) return format("%.1f KiB", b / 1024);
  return b < 1 << 30 ? format("%.1f MiB", b / (1 << 20)) : format("%.2f GiB", b / (1 << 30));
}

std::string range(std::int64_t min, std::int64_t max) {
  return min == max ? std::to_string(min) : std::to_string(min) + "-" + std::to_string(max);
}

/// What the sequences of one kernel have in common, and between which bounds the rest lies.
struct KernelSummary {
  std::int64_t sequences = 0, items = 0, split_sequences = 0, merge_items = 0;
  std::int64_t min_rows = 0, max_rows = 0, min_splits = 0, max_splits = 0, min_chunk = 0, max_chunk = 0;
  std::int64_t row_tile = 0, heads_per_item = 0, tile_kv = 0;
  bool local = false;
};

KernelSummary summarise(const Plan::Impl& impl, Kernel kernel) {
  KernelSummary k;
  k.tile_kv = impl.cpu.tile_kv[static_cast<int>(kernel)];
  for (const SequencePlan& s : impl.cpu.sequences) {
    if (s.kernel != kernel) continue;
    const bool first = k.sequences++ == 0;
    const auto widen = [first](std::int64_t value, std::int64_t& min, std::int64_t& max) {
      min = first ? value : std::min(min, value);
      max = first ? value : std::max(max, value);
    };
    widen(s.rows, k.min_rows, k.max_rows);
    widen(s.num_splits, k.min_splits, k.max_splits);
    widen(s.chunk, k.min_chunk, k.max_chunk);
    k.items += s.head_blocks * s.row_tiles * (s.split == Split::spread ? s.num_splits : 1);
    k.merge_items += s.split == Split::spread ? impl.problem.num_kv_heads * s.merge_tiles : 0;
    k.split_sequences += s.split != Split::none;
    k.local |= s.split == Split::local;
    k.row_tile = std::max(k.row_tile, s.row_tile);
    k.heads_per_item = std::max<std::int64_t>(k.heads_per_item, s.heads_per_item);
  }
  return k;
}

/// Items handed to whoever is free first, by modelled cost.
struct Balance {
  double items_per_thread_min = 0, items_per_thread_max = 0;
  double share = 1;  // mean of the threads' busy seconds over their maximum
};

constexpr std::int64_t kMaxSimulated = 1 << 20;

Balance simulate(const Plan::Impl& impl) {
  struct Thread {
    double busy;
    std::int64_t items;
    bool operator>(const Thread& other) const { return busy > other.busy; }
  };
  Balance balance;
  const std::int64_t count = std::min(impl.cpu.num_items, kMaxSimulated);
  if (count == 0) return balance;
  std::priority_queue<Thread, std::vector<Thread>, std::greater<>> threads;
  for (int t = 0; t < impl.cpu.threads; ++t) threads.push({0, 0});
  for (std::int64_t i = 0; i < count; ++i) {
    Thread next = threads.top();
    threads.pop();
    next.busy += planner::item_cost(impl.cpu, impl.problem, impl.model, i);
    ++next.items;
    threads.push(next);
  }
  double sum = 0, max = 0;
  std::int64_t fewest = count, most = 0;
  for (; !threads.empty(); threads.pop()) {
    sum += threads.top().busy;
    max = std::max(max, threads.top().busy);
    fewest = std::min(fewest, threads.top().items);
    most = std::max(most, threads.top().items);
  }
  balance.share = max > 0 ? sum / impl.cpu.threads / max : 1;
  balance.items_per_thread_min = static_cast<double>(fewest);
  balance.items_per_thread_max = static_cast<double>(most);
  return balance;
}

class Table {
 public:
  void row(const std::string& label, const std::string& value) { text_ += format("%-16s", label.c_str()) + value + "\n"; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void explain_kernel(const Plan::Impl& impl, Kernel kernel, Table& out) {
  const KernelSummary k = summarise(impl, kernel);
  if (k.sequences == 0) return;
  const bool decode = kernel == Kernel::decode;
  out.row(decode ? "decode kernel" : "prefill kernel",
          format("%lld sequence%s of %s rows a kv head (%s %lld), key tiles of %lld", static_cast<long long>(k.sequences),
                 k.sequences == 1 ? "" : "s", range(k.min_rows, k.max_rows).c_str(), decode ? "at most" : "more than",
                 static_cast<long long>(impl.candidate->table->decode_max_rows[static_cast<int>(impl.problem.dtype)]),
                 static_cast<long long>(k.tile_kv)));
  const char* why = impl.problem.kv_chunk > 0 ? "as kv_chunk asks" : "a constant of the kernel";
  out.row("  keys", k.max_chunk == 0 ? "not split: there are enough row tiles to share"
                                     : format("chunks of %s (%s), %s a sequence", range(k.min_chunk, k.max_chunk).c_str(),
                                              why, range(k.min_splits, k.max_splits).c_str()));
  if (k.split_sequences > 0) {
    out.row("  partials",
            k.local ? "in the thread's scratch, merged by the item that made them"
                    : format("in the workspace, merged by %lld items of stage 2", static_cast<long long>(k.merge_items)));
  }
  out.row("  items", format("%lld, each of up to %lld rows and %lld kv head%s", static_cast<long long>(k.items),
                            static_cast<long long>(k.row_tile), static_cast<long long>(k.heads_per_item),
                            k.heads_per_item == 1 ? "" : "s"));
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + "\"";
}

class Json {
 public:
  void key(std::string_view name) { text_ += (text_.empty() || text_.back() == '{' ? "" : ", ") + quote(name) + ": "; }
  void string(std::string_view name, std::string_view value) { key(name), text_ += quote(value); }
  void integer(std::string_view name, std::int64_t value) { key(name), text_ += std::to_string(value); }
  void real(std::string_view name, double value) { key(name), text_ += format("%.6g", value); }
  void boolean(std::string_view name, bool value) { key(name), text_ += value ? "true" : "false"; }
  void open(std::string_view name = {}) {
    if (!name.empty()) key(name);
    text_ += '{';
  }
  void close() { text_ += '}'; }
  void raw(std::string_view text) { text_ += text; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void json_kernel(const Plan::Impl& impl, Kernel kernel, const char* name, Json& out) {
  const KernelSummary k = summarise(impl, kernel);
  out.open(name);
  out.integer("sequences", k.sequences);
  out.integer("items", k.items);
  out.integer("tile_kv", k.tile_kv);
  out.integer("row_tile", k.row_tile);
  out.integer("heads_per_item", k.heads_per_item);
  out.integer("chunk", k.max_chunk);
  out.integer("min_splits", k.min_splits);
  out.integer("max_splits", k.max_splits);
  out.integer("split_sequences", k.split_sequences);
  out.integer("merge_items", k.merge_items);
  out.close();
}

}  // namespace

std::string explain(const Plan::Impl& impl) {
  Table out;
  const CpuPlan& plan = impl.cpu;
  out.row("problem", impl.problem.to_string());
  out.row("implementation", std::string(impl.candidate->info.name));
  for (const auto& refusal : impl.refusals) out.row("  not " + std::string(refusal.candidate->info.name), refusal.reason);
  if (!impl.candidate->table) {
    out.row("threads", "1: the reference computes row by row in float64");
    return out.take();
  }
  out.row("work", format("%.4g GFLOP, %s of Q, O and visible K and V: %.3g FLOP a byte", plan.flops * 1e-9,
                         bytes(plan.bytes).c_str(), plan.bytes > 0 ? plan.flops / plan.bytes : 0));
  explain_kernel(impl, Kernel::decode, out);
  explain_kernel(impl, Kernel::prefill, out);
  const Balance balance = simulate(impl);
  out.row("threads", format("%d of %d allowed%s", plan.threads, impl.max_threads,
                            plan.threads < impl.max_threads ? ": more would cost more to start than they save" : ""));
  out.row("  share", format("%s items each, costliest first; modelled balance %.0f %%",
                            range(static_cast<std::int64_t>(balance.items_per_thread_min),
                                  static_cast<std::int64_t>(balance.items_per_thread_max))
                                .c_str(),
                            100 * balance.share));
  out.row("workspace",
          format("%s: %d x %s of scratch, %s of partials", bytes(static_cast<double>(impl.layout.bytes)).c_str(),
                 plan.threads, bytes(static_cast<double>(impl.layout.scratch_stride)).c_str(),
                 bytes(static_cast<double>(impl.layout.bytes - impl.layout.partial_o)).c_str()));
  out.row("predicted", format("%s (modelled), bound by %s; %s on one thread", seconds(plan.predicted_s).c_str(),
                              planner::bound(impl.problem, impl.model, plan, plan.threads), seconds(plan.serial_s).c_str()));
  return out.take();
}

std::string explain_json(const Plan::Impl& impl) {
  Json out;
  const CpuPlan& plan = impl.cpu;
  out.open();
  out.string("problem", impl.problem.to_string());
  out.string("implementation", impl.candidate->info.name);
  out.key("refused");
  out.raw("[");
  for (std::size_t i = 0; i < impl.refusals.size(); ++i) {
    out.raw(i == 0 ? "{" : ", {");
    out.string("implementation", impl.refusals[i].candidate->info.name);
    out.string("reason", impl.refusals[i].reason);
    out.raw("}");
  }
  out.raw("]");
  out.integer("max_threads", impl.max_threads);
  out.integer("threads", impl.candidate->table ? plan.threads : 1);
  out.integer("workspace_bytes", static_cast<std::int64_t>(impl.layout.bytes));
  out.real("flops", impl.problem.flops());
  out.real("bytes", impl.problem.bytes());
  if (impl.candidate->table) {
    const Balance balance = simulate(impl);
    out.integer("items", plan.num_items);
    out.integer("merge_items", plan.num_merge_items);
    out.integer("scratch_bytes_per_thread", static_cast<std::int64_t>(impl.layout.scratch_stride));
    out.integer("partial_bytes", static_cast<std::int64_t>(impl.layout.bytes - impl.layout.partial_o));
    json_kernel(impl, Kernel::decode, "decode", out);
    json_kernel(impl, Kernel::prefill, "prefill", out);
    out.real("balance", balance.share);
    out.boolean("modelled", true);
    out.real("predicted_s", plan.predicted_s);
    out.real("predicted_serial_s", plan.serial_s);
    out.string("bound", planner::bound(impl.problem, impl.model, plan, plan.threads));
  }
  out.close();
  return out.take();
}

}  // namespace tessera::runtime
