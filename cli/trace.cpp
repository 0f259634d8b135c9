// SPDX-License-Identifier: Apache-2.0
// tessera trace: what each thread of a run did, and when.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "bench/inputs.hpp"
#include "cli/attend_report.hpp"
#include "cli/command.hpp"
#include "cli/files.hpp"
#include "cli/timeline.hpp"
#include "tessera/trace.hpp"

namespace tessera::cli {
namespace {

constexpr const char* kFooter =
    R"(The problem runs on seeded normal data, a few times without trace and up to ten times with; the fastest of each is shown.
The summary gives the share of each thread's time in each stage. Files by their ending:
  .json   Trace Event Format, for Perfetto (ui.perfetto.dev) or chrome://tracing
  .svg    a picture: a lane for each thread, coloured by stage, over microseconds
  .html   the same to zoom and drag, in one page that needs no network

Examples:
  tessera trace "bf16 hq32 hkv8 d128 sq1 skv32768"
  tessera trace "bf16 b1 hq8 hkv2 d128 sq1024 skv1024 causal" --threads 2 -o prefill.svg -o prefill.json
  tessera trace "f32 hq8 hkv2 d64 sq512 skv512" --json)";

constexpr int kTracedRuns = 10;

struct Options {
  std::string problem;
  std::vector<std::string> outputs;
  Target target;
  std::size_t events = std::size_t{1} << 18;  // a thread; 6 MiB
  bool json = false;
};

std::string (*renderer_of(const std::string& path))(const Timeline&) {
  const auto ending = std::filesystem::path(path).extension();
  if (ending == ".json") return chrome_json;
  if (ending == ".svg") return svg;
  if (ending == ".html") return html;
  throw Failure(kBadInput, fmt::format("-o {}: the name must end in .json, .svg or .html", path));
}

Timeline record(const Options& options, const Problem& problem) {
  const auto implementation = choose_implementation(options.target, problem);
  const auto plan = value_of(tessera::plan(problem, plan_options(options.target, implementation)));
  const auto inputs = value_of(bench::Inputs::make(problem, problem.seed.value_or(1)));
  auto workspace = value_of(AlignedBuffer::make(plan.workspace_bytes(), "the workspace"));
  const auto run = [&](TraceRecorder* recorder) {
    RunOptions run_options;
    run_options.trace = recorder;
    const auto begin = Clock::now();
    check(plan.run(inputs.tensors(), workspace.data(), workspace.size(), run_options));
    return seconds_since(begin);
  };
  const auto warm_begin = Clock::now();
  std::vector<double> untraced;
  do untraced.push_back(run(nullptr));
  while (untraced.size() < 5 && seconds_since(warm_begin) < 1.0);

  // Threads that slept are slow to come back, and the first run touches the recorder's memory: the fastest is shown.
  TraceRecorder recorder(plan.max_threads(), options.events);
  Timeline timeline;
  const auto traced_begin = Clock::now();
  for (int i = 0; i < kTracedRuns && (i < 2 || seconds_since(traced_begin) < 1.0); ++i) {
    recorder.clear();
    const double traced = run(&recorder);
    if (i > 0 && traced >= timeline.traced_s) continue;
    timeline = read_timeline(recorder);
    timeline.traced_s = traced;
  }
  timeline.problem = problem.to_string();
  timeline.impl = plan.implementation();
  timeline.untraced_s = *std::min_element(untraced.begin(), untraced.end());
  return timeline;
}

ExitCode trace(const Options& options) {
  require_backend(options.target.backend);
  for (const auto& path : options.outputs) {  // what is wrong with a name is said before anything runs
    renderer_of(path);
    if (std::count(options.outputs.begin(), options.outputs.end(), path) > 1)
      throw Failure(kBadInput, fmt::format("-o {}: given more than once", path));
    check(check_writable(path), "-o");
  }
  if (options.problem.starts_with('@'))
    throw Failure(kBadInput, options.problem + ": a trace is of one problem, not of a list");
  const auto problem = parse_problem(options.problem);
  if (problem.total_queries() == 0) {
    throw Failure(kBadInput,
                  fmt::format("problem \"{}\": it has no queries (sq0), so there is nothing to trace", problem.to_string()));
  }
  const auto timeline = record(options, problem);
  if (timeline.events() == 0) {
    throw Failure(kUnsupported, fmt::format("{} records no events; nothing was written", timeline.impl));
  }
  for (const auto& path : options.outputs) check(write_file(path, renderer_of(path)(timeline)));
  fmt::print("{}{}", options.json ? summary_json(timeline) : summary_text(timeline), options.json ? "\n" : "");
  for (const auto& path : options.outputs) {
    if (!options.json) fmt::print("wrote    {}\n", path);
  }
  return kDone;
}

}  // namespace

void add_trace(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("trace", "A timeline of a run: Chrome trace JSON, a picture, and each thread's use");
  auto options = std::make_shared<Options>();
  command->add_option("problem", options->problem, "Problem string")->required()->type_name("PROBLEM");
  command->add_option("-o,--output", options->outputs, "Write the timeline to this file; may be given more than once")
      ->take_all()
      ->expected(1)
      ->type_name("FILE");
  add_target_options(*command, options->target);
  command->add_option("--events", options->events, "Room for this many events a thread (default: 262144)")
      ->check(between(1, 1 << 26))
      ->type_name("N");
  command->add_flag("--json", options->json, "The summary as JSON");
  command->footer(std::string(kProblemHelp) + kFooter);
  command->callback([options, &action] { action = [options] { return trace(*options); }; });
}

}  // namespace tessera::cli
