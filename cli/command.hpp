// SPDX-License-Identifier: Apache-2.0
// What the commands share: exit codes, failures, and the options that choose who runs a problem.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tessera/attention.hpp"
#include "tessera/types.hpp"

namespace tessera::cli {

using Json = nlohmann::ordered_json;

enum ExitCode : int {
  kDone = 0,
  kCheckFailed = 1,  // a comparison with the oracle failed
  kBadInput = 2,     // bad usage, invalid input, a file that cannot be read or written, no memory
  kUnsupported = 3,  // the chosen backend does not do this
};

/// Ends the command: main prints the message to stderr and exits with the code.
struct Failure : std::runtime_error {
  Failure(ExitCode code, const std::string& message) : std::runtime_error(message), code(code) {}
  ExitCode code;
};

ExitCode exit_code_of(const Status& status) noexcept;
void check(const Status& status, std::string_view context = {});

template <class T>
T value_of(Result<T> result, std::string_view context = {}) {
  check(result.status(), context);
  return std::move(result).value();
}

/// Who runs a problem.
struct Target {
  std::string backend;  // empty: the library's first choice
  std::string impl;     // empty: the first of the backend that accepts
  int threads = 0;      // 0: every core the process may use
};
void add_target_options(CLI::App& app, Target& target, bool with_threads = true);

/// The implementation to name in PlanOptions: empty when the library is to choose. Throws Failure with the reason when
/// the backend or implementation that was asked for cannot run `problem`.
std::string choose_implementation(const Target& target, const Problem& problem);

/// Throws Failure (unsupported) for a backend that this build does not have.
void require_backend(const std::string& backend);

PlanOptions plan_options(const Target& target, const std::string& implementation) noexcept;

/// Problem strings from the command line; "@file" stands for the lines of a file, "#" begins a comment.
std::vector<std::string> expand_problems(const std::vector<std::string>& arguments);
Problem parse_problem(const std::string& text);

/// The backend that an implementation belongs to.
std::string backend_of(std::string_view implementation);

void print_json(const Json& json);

/// A line that rewrites itself on stderr, when stderr is a terminal; otherwise silent.
class Progress {
 public:
  Progress() noexcept;
  ~Progress();
  void show(const std::string& text);
  void clear();

 private:
  bool terminal_ = false;
  bool shown_ = false;
};

/// Each adds one command; `action` is what main runs when it was chosen.
using Action = std::function<ExitCode()>;
void add_info(CLI::App& app, Action& action);
void add_attend(CLI::App& app, Action& action);
void add_merge(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_trace(CLI::App& app, Action& action);

}  // namespace tessera::cli
