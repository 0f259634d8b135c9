// SPDX-License-Identifier: Apache-2.0
// tessera plan: how a problem is cut, and why.
#include <fmt/format.h>

#include "cli/command.hpp"

namespace tessera::cli {
namespace {

constexpr const char* kFooter =
    R"(Nothing is run: the plan is made, and its tiles, splits, work for each thread, workspace and predicted time are shown.
The predicted time is that of the planner's cost model, not a measurement.

Examples:
  tessera plan "bf16 hq32 hkv8 d128 sq1 skv100000 page128"
  tessera plan "bf16 b16 hq32 hkv8 d128 sq1 ragged100-8000 page16" --threads 64
  tessera plan @workloads/performance.txt --json)";

struct Options {
  std::vector<std::string> problems;
  Target target;
  bool json = false;
};

ExitCode plan(const Options& options) {
  require_backend(options.target.backend);
  Json all = Json::array();
  for (const auto& problem : parse_problems(options.problems)) {
    const auto implementation = choose_implementation(options.target, problem);
    const auto plan = value_of(tessera::plan(problem, plan_options(options.target, implementation)),
                               fmt::format("problem \"{}\"", problem.to_string()));
    if (options.json) {
      all.push_back(Json::parse(plan.explain_json()));
      continue;
    }
    const auto explanation = plan.explain();
    fmt::print("{}{}", explanation, explanation.ends_with('\n') ? "\n" : "\n\n");
  }
  if (options.json) print_json(all);
  return kDone;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("plan", "How a problem is cut: tiles, splits, work per thread, workspace, predicted time, and why");
  auto options = std::make_shared<Options>();
  command->add_option("problem", options->problems, "Problem strings, or @FILE with one a line")
      ->required()
      ->type_name("PROBLEM");
  add_target_options(*command, options->target);
  command->add_flag("--json", options->json, "As a JSON array, one object a problem");
  command->footer(std::string(kProblemHelp) + kFooter);
  command->callback([options, &action] { action = [options] { return plan(*options); }; });
}

}  // namespace tessera::cli
