// SPDX-License-Identifier: Apache-2.0
// tessera attend: attention over the tensors of a file.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "bench/measure.hpp"
#include "bench/memory.hpp"
#include "cli/attend_input.hpp"
#include "cli/attend_report.hpp"
#include "cli/command.hpp"
#include "cli/files.hpp"
#include "cli/printable.hpp"

namespace tessera::cli {
namespace {

constexpr const char* kFooter = R"(Tensors of the file (safetensors; q, k, v all f32, f16 or bf16):
  q             [b, sq, hq, dqk]    or [total, hq, dqk] when cu_seqlens_q is there
  k, v          [b, sk, hkv, dim]   or [total, hkv, dim] when cu_seqlens_k is there,
                                    or [pages, page_size, hkv, dim] when block_table is there
  cu_seqlens_q, cu_seqlens_k [b+1]  int32 or int64: sequence i is rows [c[i], c[i+1])
  block_table   [b, max_pages]      int32 or int64: the page of each page_size tokens
  seqlens_k     [b]                 int32 or int64: key lengths; required with block_table
  bias          broadcasts to [b, hq, sq, sk], added to the scores; dense queries and keys only
  mask          likewise, bool or uint8: non-zero may be seen
  alibi_slopes, sink  [hq]

Written with -o: o, in q's dtype and layout, and lse (natural log), float32 [b, hq, sq] or [hq, total].

Examples:
  tessera attend qkv.safetensors --causal bottom-right
  tessera attend qkv.safetensors --causal bottom-right --check -o out.safetensors
  tessera attend cache.safetensors --kv-layout head-major --window 4095,0 --softcap 50 --threads 8
  tessera attend qkv.safetensors --causal bottom-right --compare-unfused --json)";

struct Options {
  std::string input, output;
  AttendFlags flags;
  Target target;
  bool check = false, compare_unfused = false, json = false;
  int repeats = 0;
};

std::vector<std::int64_t> parse_window(const std::string& text) {
  std::int64_t left = 0, right = 0;
  const auto *begin = text.data(), *end = begin + text.size();
  const auto first = std::from_chars(begin, end, left);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == ',') {
    const auto second = std::from_chars(first.ptr + 1, end, right);
    if (second.ec == std::errc() && second.ptr == end && left >= -1 && right >= -1) return {left, right};
  }
  throw CLI::ValidationError("--window", fmt::format("\"{}\" is not L,R: two whole numbers from -1, as in 4095,0", text));
}

/// A cap of 0 would be an option without effect, so it is an error as well; the bounds are those of Problem::softcap.
CLI::Validator softcap_value() {
  const auto range = between(1e-30, 1e30);
  return {[range](std::string& text) {
            return range(text).empty() ? std::string() : text + " is not a number in [1e-30, 1e30]; leave it out for no cap";
          },
          ""};
}

/// The bounds are those of Problem::softmax_scale.
CLI::Validator scale_value() {
  const auto range = between(-1e30, 1e30);
  return {[range](std::string& text) {
            return range(text).empty() ? std::string() : text + " is not a number in [-1e30, 1e30]";
          },
          ""};
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("input", o.input, "The file of tensors")->required()->check(not_empty())->type_name("IN.safetensors");
  app.add_option("-o,--output", o.output, "Write o and lse to this file")->check(not_empty())->type_name("OUT.safetensors");
  app.add_option("--causal", o.flags.causal,
                 "See keys up to the query's position: query i stands at\ni + sk - sq (bottom-right) or at i (top-left)")
      ->check(one_of({"bottom-right", "top-left"}))
      ->type_name("bottom-right|top-left");
  app.add_option_function<std::string>(
         "--window", [&o](const std::string& text) { o.flags.window = parse_window(text); },
         "See L keys left and R right of the query's position, inclusive; -1: no bound")
      ->type_name("L,R");
  app.add_option("--align", o.flags.align,
                 "Where queries stand, for a window or ALiBi without --causal (default: bottom-right)")
      ->check(one_of({"bottom-right", "top-left"}))
      ->type_name("bottom-right|top-left");
  app.add_option("--softcap", o.flags.softcap, "Cap scores: X tanh(s / X)")->check(softcap_value())->type_name("X");
  app.add_option("--scale", o.flags.scale, "Multiply scores by X (default: 1 / sqrt(dqk))")
      ->check(scale_value())
      ->type_name("X");
  app.add_option("--kv-chunk", o.flags.kv_chunk, "Keys a chunk of split-KV (default: the planner's)")
      ->check(whole_number_above_0())
      ->type_name("N");
  app.add_option("--kv-layout", o.flags.kv_layout, "Order of a paged cache (default: token-major)")
      ->check(one_of({"token-major", "head-major"}))
      ->type_name("token-major|head-major");
  add_target_options(app, o.target);
  app.add_flag("--check", o.check, "Compare with the oracle (float64); exit code 1 when the error is over its bound");
  app.add_flag("--compare-unfused", o.compare_unfused, "Time the three unfused steps with the whole score matrix as well");
  app.add_option("--repeats", o.repeats, "Timed repeats (default: as many as half a second holds, at most 50)")
      ->check(between(1, 100000))
      ->type_name("N");
  app.add_flag("--json", o.json, "The report as JSON");
}

struct Outputs {
  AlignedBuffer o, lse;
};

// Plans, runs once unmeasured, then the repeats. The memory is what both take together beyond inputs and outputs.
void run_fused(const AttendInput& in, const Options& options, Outputs& out, AttendReport& report) {
  out.o = value_of(AlignedBuffer::make(static_cast<std::size_t>(in.o_elements()) * size_of(in.problem.dtype), "the output"));
  out.lse = value_of(AlignedBuffer::make(static_cast<std::size_t>(in.lse_elements()) * sizeof(float), "the output"));
  std::fill_n(out.o.data(), out.o.size(), std::byte{0});  // resident before memory is counted
  std::fill_n(out.lse.data(), out.lse.size(), std::byte{0});
  const auto implementation = choose_implementation(options.target, in.problem);

  const bench::PeakMemory peak;
  const auto plan_begin = Clock::now();
  const auto plan = value_of(tessera::plan(in.problem, plan_options(options.target, implementation)));
  report.plan_seconds = seconds_since(plan_begin);
  auto workspace = value_of(AlignedBuffer::make(plan.workspace_bytes(), "the workspace"));
  const auto tensors = in.tensors(out.o.data(), out.lse.as<float>());
  const auto run = [&] {
    const auto begin = Clock::now();
    check(plan.run(tensors, workspace.data(), workspace.size()), options.input);
    return seconds_since(begin);
  };
  const double first = run();
  const int most = options.repeats > 0 ? options.repeats : kMaxRepeats;
  const double budget = options.repeats > 0 ? std::numeric_limits<double>::infinity() : kBudgetSeconds;
  if (options.repeats == 0 && first > budget) report.seconds.push_back(first);
  for (double spent = report.seconds.empty() ? 0 : first;
       static_cast<int>(report.seconds.size()) < most && spent < budget;) {
    report.seconds.push_back(run());
    spent += report.seconds.back();
  }
  report.extra_bytes = static_cast<double>(peak.extra_bytes());
  report.implementation = plan.implementation();
  report.backend = backend_of(report.implementation);
  report.threads = bench::threads_of(plan);
  report.workspace_bytes = plan.workspace_bytes();
}

void compare_unfused(const AttendInput& in, const Options& options, const OracleAnswer* oracle, AttendReport& report) {
  const int repeats = options.repeats > 0 ? options.repeats : kMaxRepeats;
  const double budget = options.repeats > 0 ? std::numeric_limits<double>::infinity() : kBudgetSeconds;
  report.unfused = run_unfused(in, report.threads, repeats, budget);
  if (oracle != nullptr) report.unfused_error = compare(DType::f32, report.unfused->o.data(), oracle->lse.data(), *oracle).o;
}

void write_outputs(const AttendInput& in, const Outputs& out, const Options& options) {
  const std::string dtype = in.problem.dtype == DType::f32 ? "F32" : in.problem.dtype == DType::f16 ? "F16" : "BF16";
  const TensorToWrite tensors[] = {{"o", dtype, in.o_shape(), out.o.data(), out.o.size()},
                                   {"lse", "F32", in.lse_shape(), out.lse.data(), out.lse.size()}};
  check(write_safetensors(options.output, tensors, {{"made_by", "tessera attend"}, {"problem", in.problem.to_string()}}));
}

ExitCode attend(const Options& options) {
  require_backend(options.target.backend);
  check(check_output(options.output, {&options.input, 1}), "-o");  // before anything is computed
  const auto file = value_of(SafetensorsFile::open(options.input));
  const auto in = load_attend_input(file, options.flags);
  if (const auto why = options.compare_unfused ? unfused_refusal(in.problem) : ""; !why.empty()) {
    throw Failure(kUnsupported, "--compare-unfused: " + why);
  }
  for (const auto& name : in.unused)
    fmt::print(stderr, "tessera: note: tensor \"{}\" of {} is not used\n", printable(name), options.input);

  AttendReport report;
  Outputs out;
  Progress progress;
  progress.show("attention ...");
  run_fused(in, options, out, report);
  std::optional<OracleAnswer> oracle;
  if (options.check) {
    progress.show("the oracle, in float64 ...");
    oracle = ask_oracle(in.problem, in.tensors(nullptr, nullptr), options.target.threads);
    report.comparison = compare(in.problem.dtype, out.o.data(), out.lse.as<float>(), *oracle);
  }
  if (options.compare_unfused) {
    progress.show("unfused attention ...");
    compare_unfused(in, options, oracle ? &*oracle : nullptr, report);
  }
  progress.clear();
  if (!options.output.empty()) {
    write_outputs(in, out, options);
    report.output = options.output;
  }
  summarise(in, out.o.data(), out.lse.as<float>(), report);
  if (options.json)
    print_json(report_json(in, report));
  else
    fmt::print("{}", report_text(in, report));
  return report.comparison && !report.comparison->pass() ? kCheckFailed : kDone;
}

}  // namespace

void add_attend(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("attend", "Attention over the tensors of a file: the main job");
  auto options = std::make_shared<Options>();
  add_options(*command, *options);
  command->footer(kFooter);
  command->callback([options, &action] { action = [options] { return attend(*options); }; });
}

}  // namespace tessera::cli
