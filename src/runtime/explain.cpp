// SPDX-License-Identifier: Apache-2.0
// Plan::explain: built only when asked, from the plan's own functions.
#include <algorithm>
#include <queue>
#include <string>

#include "base/text.hpp"
#include "planner/cpu_cost.hpp"
#include "runtime/plan_impl.hpp"

namespace tessera::runtime {
namespace {

using base::fixed;
using base::number;
using base::significant;
using planner::CpuPlan;
using planner::Kernel;
using planner::SequencePlan;
using planner::Split;

std::string seconds(double s) {
  if (s < 1e-3) return fixed(s * 1e6, 1) + " us";
  return s < 1 ? fixed(s * 1e3, 2) + " ms" : fixed(s, 2) + " s";
}

std::string bytes(double b) {
  if (b < 1024) return fixed(b, 0) + " B";
  if (b < 1 << 20) return fixed(b / 1024, 1) + " KiB";
  return b < 1 << 30 ? fixed(b / (1 << 20), 1) + " MiB" : fixed(b / (1 << 30), 2) + " GiB";
}

std::string bytes(std::size_t b) { return bytes(static_cast<double>(b)); }

std::string range(std::int64_t min, std::int64_t max) { return number(min) + (min == max ? "" : "-" + number(max)); }

/// "1 item", "2 items".
std::string count(std::int64_t n, const char* what) { return number(n) + " " + what + (n == 1 ? "" : "s"); }

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
  std::int64_t fewest_items = 0, most_items = 0;  // a thread
  double share = 1;                               // mean of the threads' busy seconds over their maximum
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
  balance.fewest_items = count;
  for (; !threads.empty(); threads.pop()) {
    sum += threads.top().busy;
    max = std::max(max, threads.top().busy);
    balance.fewest_items = std::min(balance.fewest_items, threads.top().items);
    balance.most_items = std::max(balance.most_items, threads.top().items);
  }
  balance.share = max > 0 ? sum / impl.cpu.threads / max : 1;
  return balance;
}

class Table {
 public:
  void row(std::string label, const std::string& value) {
    label.resize(std::max<std::size_t>(label.size(), 16), ' ');
    text_ += label + value + "\n";
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void explain_kernel(const Plan::Impl& impl, Kernel kernel, Table& out) {
  const KernelSummary k = summarise(impl, kernel);
  if (k.sequences == 0) return;
  const bool decode = kernel == Kernel::decode;
  const std::int64_t most_rows = impl.candidate->table->decode_max_rows[static_cast<int>(impl.problem.dtype)];
  out.row(decode ? "decode kernel" : "prefill kernel",
          count(k.sequences, "sequence") + " of " + range(k.min_rows, k.max_rows) + (k.max_rows == 1 ? " row" : " rows") +
              " a kv head (" + (decode ? "at most " : "more than ") + number(most_rows) + "), key tiles of " +
              number(k.tile_kv));
  if (k.max_chunk == 0) {
    out.row("  keys", "not split: there are enough row tiles to share");
  } else if (k.max_splits <= 1) {
    out.row("  keys", "not split: one chunk holds all that a sequence sees");
  } else {
    out.row("  keys",
            "chunks of " + range(k.min_chunk, k.max_chunk) +
                (impl.problem.kv_chunk > 0 ? " (as kv_chunk asks), " : " (by the kernel and the number of keys), ") +
                range(k.min_splits, k.max_splits) + " a sequence");
  }
  if (k.split_sequences > 0) {
    out.row("  partials", k.local ? "in the thread's scratch, merged by the item that made them"
                                  : "in the workspace, merged by " + count(k.merge_items, "item") + " of stage 2");
  }
  out.row("  items",
          number(k.items) + ", each of up to " + count(k.row_tile, "row") + " and " + count(k.heads_per_item, "kv head"));
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
  void integer(std::string_view name, std::int64_t value) { key(name), text_ += number(value); }
  void real(std::string_view name, double value) { key(name), text_ += significant(value, 6); }
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
  out.row("work", significant(plan.flops * 1e-9, 4) + " GFLOP, " + bytes(plan.bytes) + " of Q, O and visible K and V: " +
                      significant(plan.bytes > 0 ? plan.flops / plan.bytes : 0, 3) + " FLOP a byte");
  explain_kernel(impl, Kernel::decode, out);
  explain_kernel(impl, Kernel::prefill, out);
  const Balance balance = simulate(impl);
  out.row("threads", number(plan.threads) + " of " + number(impl.max_threads) + " allowed" +
                         (plan.threads < impl.max_threads ? ": more would cost more to start than they save" : ""));
  out.row("  share", range(balance.fewest_items, balance.most_items) + (balance.most_items == 1 ? " item" : " items") +
                         " each, costliest first; modelled balance " + fixed(100 * balance.share, 0) + " %");
  out.row("workspace", bytes(impl.layout.bytes) + ": " + number(plan.threads) + " x " + bytes(impl.layout.scratch_stride) +
                           " of scratch, " + bytes(impl.layout.bytes - impl.layout.partial_o) + " of partials");
  out.row("predicted", seconds(plan.predicted_s) + " (modelled), bound by " +
                           planner::bound(impl.problem, impl.model, plan, plan.threads) + "; " + seconds(plan.serial_s) +
                           " on one thread");
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
