// SPDX-License-Identifier: Apache-2.0
// The benchmark binary. `tessera bench` measures problems too; what is here besides is for scripts.
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "bench/layout.hpp"
#include "bench/measure.hpp"
#include "bench/modes.hpp"
#include "bench/render.hpp"

namespace tessera::bench {
namespace {

constexpr char kUsage[] =
    "usage: tessera_bench run [--threads N] [--impl NAME] [--seconds S] [--format table|md|csv|json] \"<problem>\"...\n"
    "       tessera_bench plan [--threads N] [\"<problem>\"]   latency of planning (default: a batch of 64)\n"
    "       tessera_bench layout [--threads N] [--impl NAME] [--seconds S] [--format table|json] \"<problem>\"...\n"
    "                                                        a decode, and loops that only read its rows of K and V\n"
    "       tessera_bench serve                              answers requests on stdin; bench/serve.cpp lists them\n";

struct Arguments {
  Options options;
  Format format = Format::table;
  std::vector<std::string> problems;
};

/// The whole of `text`, in [least, most].
template <class T>
bool read(std::string_view text, T least, T most, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= least && value <= most;
}

bool parse(int count, char** values, Arguments& arguments) {
  for (int i = 0; i < count; ++i) {
    const std::string argument = values[i];
    if (argument.rfind("--", 0) != 0) {
      arguments.problems.push_back(argument);
      continue;
    }
    if (++i == count) return false;
    bool good = false;
    if (argument == "--threads") {
      good = read(values[i], 1, 1024, arguments.options.num_threads);
    } else if (argument == "--impl") {
      good = true;
      arguments.options.implementation = values[i];
    } else if (argument == "--seconds") {
      good = read(values[i], 0.01, 3600.0, arguments.options.seconds);
    } else if (const auto format = parse_format(values[i]); argument == "--format" && format) {
      good = true;
      arguments.format = *format;
    }
    if (good) continue;
    std::fprintf(stderr, "tessera_bench: %s %s\n", argument.c_str(), values[i]);
    return false;
  }
  return true;
}

int exit_code(const Status& status) {
  std::fprintf(stderr, "tessera_bench: %s\n", status.message().c_str());
  return status.code() == StatusCode::unsupported ? 3 : 2;
}

int run(const Arguments& arguments) {
  std::vector<Row> rows;
  for (const std::string& text : arguments.problems) {
    const auto problem = Problem::parse(text);
    if (!problem.ok()) return exit_code(problem.status());
    const auto row = measure(*problem, arguments.options);
    if (!row.ok()) return exit_code(row.status());
    if (arguments.format == Format::json) {
      std::fputs(render({&*row, 1}, Format::json).c_str(), stdout);
      std::fflush(stdout);
    }
    rows.push_back(*row);
  }
  if (arguments.format != Format::json) std::fputs(render(rows, arguments.format).c_str(), stdout);
  return 0;
}

int layout(const Arguments& arguments) {
  for (const std::string& text : arguments.problems) {
    const auto problem = Problem::parse(text);
    if (!problem.ok()) return exit_code(problem.status());
    const auto rates = measure_layout(*problem, arguments.options);
    if (!rates.ok()) return exit_code(rates.status());
    std::fputs(render(*rates, arguments.format == Format::json).c_str(), stdout);
    std::fflush(stdout);
  }
  return 0;
}

int plan(const Arguments& arguments) {
  const std::string text =
      arguments.problems.empty() ? "bf16 b64 hq32 hkv8 d128 sq1 causal page16 ragged100-8000" : arguments.problems[0];
  const auto problem = Problem::parse(text);
  if (!problem.ok()) return exit_code(problem.status());
  const auto latency = measure_plan(*problem, arguments.options.num_threads);
  if (!latency.ok()) return exit_code(latency.status());
  std::printf("{\"plan\": \"%s\", \"median_s\": %.4g, \"spread_s\": %.4g}\n", problem->to_string().c_str(),
              latency->median_s, latency->spread_s);
  return 0;
}

int main(int argc, char** argv) {
  Arguments arguments;
  const std::string mode = argc > 1 ? argv[1] : "";
  const bool good = argc > 1 && parse(argc - 2, argv + 2, arguments);
  if (good && mode == "run" && !arguments.problems.empty()) return run(arguments);
  const bool layout_format = arguments.format == Format::table || arguments.format == Format::json;
  if (good && mode == "layout" && !arguments.problems.empty() && layout_format) return layout(arguments);
  if (good && mode == "plan" && arguments.problems.size() <= 1) return plan(arguments);
  if (good && mode == "serve" && argc == 2) return serve(stdin, stdout);
  std::fputs(kUsage, stderr);
  return 2;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) { return tessera::bench::main(argc, argv); }
