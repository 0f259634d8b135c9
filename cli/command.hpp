// SPDX-License-Identifier: Apache-2.0
// What the commands share: the options that choose who runs a problem, lists of problems, progress.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/failure.hpp"
#include "tessera/attention.hpp"
#include "tessera/types.hpp"

namespace tessera::cli {

using Json = nlohmann::ordered_json;

/// Validators that say what is wrong, and nothing in --help, where the type name and the text say it already.
inline CLI::Validator one_of(std::vector<std::string> names) { return CLI::IsMember(std::move(names)).description(""); }
/// NaN is below and above no bound, so CLI11's ranges let it through.
inline bool is_nan(const std::string& text) {
  const double value = std::strtod(text.c_str(), nullptr);
  return value != value;
}
template <class T>
CLI::Validator between(T low, T high) {
  const CLI::Validator range = CLI::Range(low, high).description("");
  return {[range](std::string& text) { return is_nan(text) ? text + " is not a number" : range(text); }, ""};
}
inline CLI::Validator positive() {
  const CLI::Validator range(CLI::PositiveNumber);
  return {[range](std::string& text) {
            return is_nan(text) || !range(text).empty() ? text + " is not a number above 0" : std::string();
          },
          ""};
}
/// CLI11 turns whole numbers beyond 64 bits into the largest that there is.
inline CLI::Validator whole_number_above_0() {
  return {[](std::string& text) {
            std::int64_t value = 0;
            const auto end = text.data() + text.size();
            const auto parsed = std::from_chars(text.data(), end, value);
            const bool good = parsed.ec == std::errc() && parsed.ptr == end && value > 0;
            return good ? std::string() : text + " is not a whole number in [1, 9223372036854775807]";
          },
          ""};
}
/// What is named must have a name.
inline CLI::Validator not_empty() {
  return {[](std::string& text) { return text.empty() ? std::string("the name is empty") : std::string(); }, ""};
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
