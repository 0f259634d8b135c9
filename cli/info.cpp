// SPDX-License-Identifier: Apache-2.0
// tessera info: what this machine has, what each backend can do, and the measured roofs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/command.hpp"
#include "cli/safetensors.hpp"
#include "cli/text.hpp"
#include "tessera/implementations.hpp"
#include "tessera/roofline.hpp"

namespace tessera::cli {
namespace {

constexpr const char* kFooter =
    R"(Peaks are measured on the spot, each for a quarter of a second: register-only multiply-adds a dtype, and sequential
reads of buffers that fit L2, fit L3 and fit neither.

Examples:
  tessera info
  tessera info --threads 1
  tessera info --no-peaks --json)";

constexpr double kSampleSeconds = 0.25;
constexpr DType kDTypes[] = {DType::f32, DType::bf16, DType::f16};

struct Options {
  int threads = 0;
  bool no_peaks = false, json = false;
};

struct ReadRate {
  std::string where;
  std::size_t bytes = 0;
  double bytes_per_s = 0;
};

struct Peaks {
  std::string impl;
  int threads = 1;
  std::vector<std::pair<DType, double>> flops_per_s;
  std::vector<ReadRate> reads;
};

// Half of a cache, so that what else lives there does not push the buffer out; for memory eight times the last level.
std::vector<ReadRate> buffers(const MachineInfo& machine, int threads) {
  std::vector<ReadRate> reads;
  const auto l2 = machine.l2_bytes > 0 ? machine.l2_bytes : std::int64_t{1} << 20;
  const auto l3 = machine.l3_bytes > 0 ? machine.l3_bytes : std::int64_t{32} << 20;
  reads.push_back({"L2", static_cast<std::size_t>(l2 / 2 * threads), 0});
  if (machine.l3_bytes > 2 * l2 * threads) reads.push_back({"L3", static_cast<std::size_t>(l3 / 2), 0});
  reads.push_back({"memory", static_cast<std::size_t>(std::min<std::int64_t>(8 * l3, std::int64_t{1} << 30)), 0});
  return reads;
}

Peaks measure_peaks(const MachineInfo& machine, int threads, const std::string& forced) {
  Peaks peaks;
  peaks.threads = threads > 0 ? threads : machine.cores;
  for (const auto& info : implementations()) {
    if (!info.available || info.backend != "cpu" || (!forced.empty() && info.name != forced)) continue;
    peaks.impl = info.name;
    break;
  }
  if (peaks.impl.empty()) return peaks;
  Progress progress;
  for (const auto dtype : kDTypes) {
    progress.show(fmt::format("measuring products of {} ...", name_of(dtype)));
    peaks.flops_per_s.emplace_back(dtype, value_of(sample_compute_peak(peaks.impl, dtype, peaks.threads, kSampleSeconds)));
  }
  peaks.reads = buffers(machine, peaks.threads);
  auto buffer = value_of(AlignedBuffer::make(peaks.reads.back().bytes, "the buffer that is read"));
  std::fill_n(buffer.data(), buffer.size(), std::byte{1});
  for (auto& read : peaks.reads) {
    progress.show(fmt::format("measuring reads from {} ...", read.where));
    read.bytes_per_s = value_of(sample_read_rate(peaks.impl, buffer.data(), read.bytes, peaks.threads, kSampleSeconds));
  }
  return peaks;
}

// What an implementation takes, asked of itself with one small problem of each kind.
struct Ability {
  const char* operation;
  DType dtype;
  std::string refusal;  // empty: it takes it
};

std::vector<Ability> abilities_of(const ImplementationInfo& info) {
  std::vector<Ability> abilities;
  for (const auto& [operation, queries] : {std::pair("decode", 1), std::pair("prefill", 256)}) {
    for (const auto dtype : kDTypes) {
      Problem problem;
      problem.dtype = dtype;
      problem.num_q_heads = 4;
      problem.seqlen_q = queries;
      problem.seqlen_kv = 256;
      problem.causal = true;
      abilities.push_back({operation, dtype, accepts(info.name, problem).message()});
    }
  }
  return abilities;
}

// "decode f32 bf16 f16; prefill f32 bf16 f16"
std::string abilities_text(const ImplementationInfo& info) {
  std::string text;
  const char* operation = "";
  for (const auto& ability : abilities_of(info)) {
    if (!ability.refusal.empty()) continue;
    if (std::string_view(operation) != ability.operation)
      text += fmt::format("{}{}", text.empty() ? "" : "; ", ability.operation);
    operation = ability.operation;
    text += fmt::format(" {}", name_of(ability.dtype));
  }
  return text.empty() ? "nothing yet" : text;
}

Json abilities_json(const ImplementationInfo& info) {
  Json takes = Json::array();
  if (!info.available) return takes;
  for (const auto& ability : abilities_of(info)) {
    Json row = {{"operation", ability.operation}, {"dtype", name_of(ability.dtype)}, {"takes", ability.refusal.empty()}};
    if (!ability.refusal.empty()) row["reason"] = ability.refusal;
    takes.push_back(row);
  }
  return takes;
}

std::string text_of(const MachineInfo& machine, const std::string& forced, const Peaks* peaks) {
  auto text = fmt::format("tessera {}\n\n", TESSERA_VERSION);
  text += fmt::format("processor  {}\n", machine.cpu_model);
  text += fmt::format("cores      {} that this process may use\n", machine.cores);
  text += fmt::format("caches     L1d {}, L2 {}, L3 {}\n", bytes_text(static_cast<double>(machine.l1d_bytes)),
                      bytes_text(static_cast<double>(machine.l2_bytes)), bytes_text(static_cast<double>(machine.l3_bytes)));
  text += fmt::format("features   {}\n\n",
                      machine.isa_features.empty() ? "none" : fmt::format("{}", fmt::join(machine.isa_features, " ")));

  std::vector<std::vector<std::string>> rows = {{"backend", "implementation", "what it does"}};
  for (const auto& info : implementations()) {
    rows.push_back({std::string(info.backend), std::string(info.name),
                    info.available ? abilities_text(info) : fmt::format("not here: {}", info.reason)});
  }
  rows.push_back({"ascend-twin", "-", "not in this build: no attention operators for Ascend yet"});
  rows.push_back({"ascend-npu", "-", "not in this build: no attention operators for Ascend yet"});
  text += table_text(rows, {false, false, false});
  if (!forced.empty()) text += fmt::format("\nTESSERA_FORCE_IMPL asks for {}: no other is used\n", forced);
  if (peaks == nullptr || peaks->impl.empty()) return text;

  text += fmt::format("\nmeasured peaks, {} on {} {}\n", peaks->impl, peaks->threads,
                      peaks->threads == 1 ? "thread" : "threads");
  rows.clear();
  for (const auto& [dtype, rate] : peaks->flops_per_s)
    rows.push_back({fmt::format("products {}", name_of(dtype)), rate_text(rate, "FLOP/s"), ""});
  for (const auto& read : peaks->reads) {
    rows.push_back({fmt::format("reads {}", read.where), rate_text(read.bytes_per_s, "B/s"),
                    fmt::format("buffer of {}", bytes_text(static_cast<double>(read.bytes)))});
  }
  return text + table_text(rows, {false, true, false});
}

Json json_of(const MachineInfo& machine, const std::string& forced, const Peaks* peaks) {
  Json json = {{"version", TESSERA_VERSION},          {"cpu_model", machine.cpu_model}, {"cores", machine.cores},
               {"l1d_bytes", machine.l1d_bytes},      {"l2_bytes", machine.l2_bytes},   {"l3_bytes", machine.l3_bytes},
               {"isa_features", machine.isa_features}};
  json["implementations"] = Json::array();
  for (const auto& info : implementations()) {
    json["implementations"].push_back({{"name", info.name},
                                       {"backend", info.backend},
                                       {"available", info.available},
                                       {"reason", info.reason},
                                       {"abilities", abilities_json(info)}});
  }
  for (const char* backend : {"ascend-twin", "ascend-npu"}) {
    json["implementations"].push_back(
        {{"name", nullptr}, {"backend", backend}, {"available", false}, {"reason", "not in this build"}});
  }
  if (!forced.empty()) json["forced"] = forced;
  if (peaks == nullptr || peaks->impl.empty()) return json;
  json["peaks"] = {{"impl", peaks->impl}, {"threads", peaks->threads}};
  for (const auto& [dtype, rate] : peaks->flops_per_s) json["peaks"]["flops_per_s"][std::string(name_of(dtype))] = rate;
  json["peaks"]["reads"] = Json::array();
  for (const auto& read : peaks->reads) {
    json["peaks"]["reads"].push_back({{"from", read.where}, {"bytes", read.bytes}, {"bytes_per_s", read.bytes_per_s}});
  }
  return json;
}

ExitCode info(const Options& options) {
  const auto machine = machine_info();
  const auto forced = asked_implementation({});
  Peaks peaks;
  if (!options.no_peaks) peaks = measure_peaks(machine, options.threads, forced);
  const auto* shown = options.no_peaks ? nullptr : &peaks;
  if (options.json)
    print_json(json_of(machine, forced, shown));
  else
    fmt::print("{}", text_of(machine, forced, shown));
  return kDone;
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("info", "This machine: ISAs, cores, caches, measured peaks, and what each backend can do");
  auto options = std::make_shared<Options>();
  auto* threads = command->add_option("--threads", options->threads, "Threads to measure peaks with (default: every core)")
                      ->check(between(1, 1024))
                      ->type_name("N");
  command->add_flag("--no-peaks", options->no_peaks, "Do not measure")->excludes(threads);
  command->add_flag("--json", options->json, "As JSON");
  command->footer(kFooter);
  command->callback([options, &action] { action = [options] { return info(*options); }; });
}

}  // namespace tessera::cli
