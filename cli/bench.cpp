// SPDX-License-Identifier: Apache-2.0
// tessera bench: the measurement itself is bench/measure.hpp.
#include <fmt/format.h>

#include "bench/measure.hpp"
#include "bench/render.hpp"
#include "cli/command.hpp"
#include "cli/workloads.hpp"

namespace tessera::cli {
namespace {

constexpr const char* kFooter =
    R"(Each problem runs on seeded normal data; the peaks of this machine are sampled in turn with the repeats, so that a share
of the roof compares like with like. Without a problem, workloads/performance.txt is run.

Examples:
  tessera bench "bf16 hq32 hkv8 d128 sq1 skv32768"
  tessera bench "f32 hq8 hkv2 d128 sq1024 skv1024 causal" --threads 1 --impl avx2
  tessera bench @workloads/performance.txt --format md
  tessera bench "bf16 hq32 hkv8 d128 sq1 skv4096" --json)";

struct Options {
  std::vector<std::string> problems;
  Target target;
  std::string format;
  bool json = false;
  bench::Options measure;
};

ExitCode run(const Options& options) {
  require_backend(options.target.backend);
  const auto format =
      options.json ? bench::Format::json : bench::parse_format(options.format).value_or(bench::Format::table);
  auto arguments = options.problems;
  if (arguments.empty()) arguments.push_back("@" + workload_file("performance.txt"));
  const auto problems = parse_problems(arguments);

  Progress progress;
  std::vector<bench::Row> rows;
  for (const auto& problem : problems) {
    progress.show(fmt::format("{} of {}: {}", rows.size() + 1, problems.size(), problem.to_string()));
    auto measure = options.measure;
    const auto implementation = choose_implementation(options.target, problem);
    measure.implementation = implementation;
    measure.num_threads = options.target.threads;
    rows.push_back(value_of(bench::measure(problem, measure), fmt::format("problem \"{}\"", problem.to_string())));
    if (format != bench::Format::json) continue;
    progress.clear();
    fmt::print("{}", bench::render({&rows.back(), 1}, format));
    std::fflush(stdout);
  }
  progress.clear();
  if (format != bench::Format::json) fmt::print("{}", bench::render(rows, format));
  return kDone;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("bench", "Time problems: median, spread, FLOP/s, bytes/s, share of the measured roof, peak memory");
  auto options = std::make_shared<Options>();
  command->add_option("problem", options->problems, "Problem strings, or @FILE with one a line")->type_name("PROBLEM");
  add_target_options(*command, options->target);
  auto* format = command->add_option("--format", options->format, "table (default), md, csv or json (one object a line)")
                     ->check(one_of({"table", "md", "csv", "json"}))
                     ->type_name("FORMAT");
  command->add_flag("--json", options->json, "The same as --format json")->excludes(format);
  command->add_option("--seconds", options->measure.seconds, "Time to spend on a problem (default: 2)")
      ->check(between(0.01, 3600.0))
      ->type_name("S");
  command->footer(std::string(kProblemHelp) + kFooter);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tessera::cli
