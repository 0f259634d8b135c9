// SPDX-License-Identifier: Apache-2.0
// tessera verify: every implementation against the oracle.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/inputs.hpp"
#include "cli/command.hpp"
#include "cli/oracle.hpp"
#include "cli/text.hpp"
#include "cli/workloads.hpp"
#include "tessera/implementations.hpp"

namespace tessera::cli {
namespace {

constexpr const char* kFooter =
    R"(Each problem is filled with seeded normal data (the seed is part of its string) and answered once by the oracle, which
works in float64, and once by each implementation that this machine can run. Every value must be within a derived bound
(docs/cli.md). Without a problem, the lists of workloads/ are run; those that would keep the oracle too long are left out
and counted. A failure prints the command that repeats it.

Examples:
  tessera verify
  tessera verify --impl avx2
  tessera verify "bf16 hq6 hkv2 d80 sq17 skv1000 causal win100,-1 softcap30 alibi"
  tessera verify @my_list.txt --max-flops 1e12 --json)";

constexpr double kMaxFlops = 3e9;  // the oracle takes about a second for that

struct Options {
  std::vector<std::string> problems;
  Target target;
  std::optional<double> max_flops;
  bool json = false;
};

enum class Outcome { pass, fail, declined };

struct Verdict {
  std::string problem, impl;
  Outcome outcome = Outcome::pass;
  std::string reason;
  Comparison comparison;
};

std::vector<std::string> chosen_implementations(const Target& target) {
  if (auto name = asked_implementation(target); !name.empty()) return {name};
  std::vector<std::string> names;
  for (const auto& info : implementations()) {
    if (info.available && (target.backend.empty() || info.backend == target.backend)) names.emplace_back(info.name);
  }
  if (names.empty()) throw Failure(kUnsupported, "no implementation of this backend can run here");
  return names;
}

// Runs one implementation on inputs whose outputs were overwritten with a pattern, so that a value left out is seen.
Verdict judge(const Problem& problem, const bench::Inputs& inputs, const std::string& impl, int threads,
              const OracleAnswer& oracle) {
  Verdict verdict{problem.to_string(), impl, Outcome::pass, {}, {}};
  if (const auto status = accepts(impl, problem); !status.ok()) {
    verdict.outcome = Outcome::declined;
    verdict.reason = status.message();
    return verdict;
  }
  auto tensors = inputs.tensors();
  std::fill_n(static_cast<std::byte*>(tensors.o.data), inputs.o_bytes(), std::byte{0x55});
  std::fill_n(tensors.lse, oracle.lse.size(), 12345.0f);
  PlanOptions options;
  options.implementation = impl;
  options.max_threads = threads;
  auto plan = tessera::plan(problem, options);
  auto status = plan.status();
  if (status.ok()) {
    auto workspace = value_of(AlignedBuffer::make(plan->workspace_bytes(), "the workspace"));
    status = plan->run(tensors, workspace.data(), workspace.size());
  }
  if (status.ok()) {
    verdict.comparison = compare(problem.dtype, tensors.o.data, tensors.lse, oracle);
    if (verdict.comparison.pass()) return verdict;
    const auto& worse = verdict.comparison.o.worst_ratio > 1 ? verdict.comparison.o : verdict.comparison.lse;
    verdict.reason = fmt::format("{}{} ({:.3g} times its bound)", &worse == &verdict.comparison.lse ? "lse of " : "",
                                 worse.worst, worse.worst_ratio);
  } else {
    verdict.reason = status.message();
  }
  verdict.outcome = Outcome::fail;
  return verdict;
}

std::string repeat_command(const Verdict& verdict, int threads) {
  return fmt::format("tessera verify --impl {}{} \"{}\"", verdict.impl,
                     threads > 0 ? fmt::format(" --threads {}", threads) : "", verdict.problem);
}

const char* word(Outcome outcome) {
  return outcome == Outcome::pass ? "pass" : outcome == Outcome::fail ? "fail" : "declined";
}

Json json_of(const std::vector<Verdict>& verdicts, const std::vector<std::string>& left_out, int threads) {
  Json json = {{"results", Json::array()}, {"left_out", left_out}};
  for (const auto& v : verdicts) {
    Json row = {{"problem", v.problem}, {"impl", v.impl}, {"result", word(v.outcome)}};
    if (!v.reason.empty()) row["reason"] = v.reason;
    if (v.outcome != Outcome::declined) {
      row["max_error"] = v.comparison.o.max_error;
      row["rms_error"] = v.comparison.o.rms_error;
      row["share_of_bound"] = v.comparison.o.worst_ratio;
      row["lse_max_error"] = v.comparison.lse.max_error;
      row["lse_share_of_bound"] = v.comparison.lse.worst_ratio;
    }
    if (v.outcome == Outcome::fail) row["repeat"] = repeat_command(v, threads);
    json["results"].push_back(row);
  }
  return json;
}

// One line an implementation: how many, and how near its worst value came to the bound.
std::string summary(const std::vector<std::string>& impls, const std::vector<Verdict>& verdicts) {
  std::vector<std::vector<std::string>> rows = {{"implementation", "passed", "failed", "declined", "most of a bound used"}};
  for (const auto& impl : impls) {
    int counts[3] = {};
    double ratio = 0;
    for (const auto& v : verdicts) {
      if (v.impl != impl) continue;
      ++counts[static_cast<int>(v.outcome)];
      ratio = std::max({ratio, v.comparison.o.worst_ratio, v.comparison.lse.worst_ratio});
    }
    rows.push_back({impl, std::to_string(counts[0]), std::to_string(counts[1]), std::to_string(counts[2]),
                    fmt::format("{:.2f}", ratio)});
  }
  return table_text(rows, {false, true, true, true, true});
}

ExitCode verify(const Options& options) {
  require_backend(options.target.backend);
  const auto impls = chosen_implementations(options.target);
  const double max_flops = options.max_flops.value_or(options.problems.empty() ? kMaxFlops : INFINITY);
  auto arguments = options.problems;
  if (arguments.empty()) arguments = {"@" + workload_file("correctness.txt"), "@" + workload_file("performance.txt")};
  const auto problems = parse_problems(arguments);

  Progress progress;
  std::vector<Verdict> verdicts;
  std::vector<std::string> left_out;
  std::size_t done = 0, failed = 0;
  for (const auto& problem : problems) {
    ++done;
    if (problem.flops() > max_flops) {
      left_out.push_back(problem.to_string());
      continue;
    }
    progress.show(fmt::format("{} of {}: {}", done, problems.size(), problem.to_string()));
    const auto inputs = value_of(bench::Inputs::make(problem, problem.seed.value_or(1)), problem.to_string());
    const auto oracle = ask_oracle(problem, inputs.tensors(), options.target.threads);
    for (const auto& impl : impls) {
      verdicts.push_back(judge(problem, inputs, impl, options.target.threads, oracle));
      const auto& verdict = verdicts.back();
      if (verdict.outcome != Outcome::fail) continue;
      ++failed;
      progress.clear();
      fmt::print(stderr, "FAIL  {}  \"{}\"\n      {}\n      repeat: {}\n", verdict.impl, verdict.problem, verdict.reason,
                 repeat_command(verdict, options.target.threads));
    }
  }
  progress.clear();
  if (verdicts.empty())
    throw Failure(kBadInput, fmt::format("nothing was verified: every problem is over --max-flops {:g}", max_flops));
  if (options.json) {
    print_json(json_of(verdicts, left_out, options.target.threads));
  } else {
    fmt::print("{}", summary(impls, verdicts));
    if (!left_out.empty()) {
      fmt::print("{} of {} problems left out: over {:.3g} FLOP, too long for the oracle (--max-flops raises it)\n",
                 left_out.size(), problems.size(), max_flops);
    }
    fmt::print("{}\n", failed == 0 ? "PASS" : fmt::format("FAIL: {} of {}", failed, verdicts.size()));
  }
  return failed == 0 ? kDone : kCheckFailed;
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("verify", "Every implementation against the oracle, over workloads/ or the problems given");
  auto options = std::make_shared<Options>();
  command->add_option("problem", options->problems, "Problem strings, or @FILE with one a line")->type_name("PROBLEM");
  add_target_options(*command, options->target);
  command
      ->add_option("--max-flops", options->max_flops,
                   "Leave out problems of more useful work than this (default: 3e9 for workloads/, no limit for problems "
                   "that are named)")
      ->check(positive())
      ->type_name("X");
  command->add_flag("--json", options->json, "Every result as JSON");
  command->footer(std::string(kProblemHelp) + kFooter);
  command->callback([options, &action] { action = [options] { return verify(*options); }; });
}

}  // namespace tessera::cli
