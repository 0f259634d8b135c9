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
void add_target_options(CLI::App& app, Target& target);
void add_threads_option(CLI::App& app, int& threads);

/// The implementation that --impl or else TESSERA_FORCE_IMPL names; empty when neither does. Throws Failure when this
/// machine cannot run it, or when it does not belong to the backend that was asked for.
std::string asked_implementation(const Target& target);

/// The implementation to name in PlanOptions: empty when the library is to choose. Throws Failure with the reason when
/// the backend or implementation that was asked for cannot run `problem`.
std::string choose_implementation(const Target& target, const Problem& problem);

/// Throws Failure (unsupported) for a backend that this build does not have.
void require_backend(const std::string& backend);

PlanOptions plan_options(const Target& target, const std::string& implementation) noexcept;

/// Problem strings from the command line; "@file" stands for the lines of a file, "#" begins a comment. All are checked
/// before the first is run. `where` begins a message.
std::vector<Problem> parse_problems(const std::vector<std::string>& arguments);
Problem parse_problem(const std::string& text, std::string_view where = {});

/// What the tokens of a problem string mean, for --help.
inline constexpr const char* kProblemHelp = R"(A problem is a string of tokens, in any order:
  f32, f16 or bf16          dtype of Q, K, V and O
  b4  sq1  skv4096          sequences; queries and keys of each (default: b1 sq1)
  hq32  hkv8                query heads, kv heads (default: as many)
  d128, or dqk192 dv128     head dims, 1 to 256
  causal                    keys up to the query's position; the last query stands at the last key
  win4095,0                 keys up to 4095 left and 0 right of it; -1: no bound
  causal-tl, win-tl4095,0   the same, but the first query stands at the first key
  scale0.1  softcap30       scores are 0.1 q.k (default: 1 / sqrt(dqk)), then 30 tanh(s / 30)
  alibi  sink  bias  mask   with slopes, a sink a head, an additive bias, a boolean mask
  page16 or hpage16         keys in pages of 16 tokens, token-major or head-major
  kvchunk512                keys a chunk of split-KV (default: the planner's)
  ragged100-8000  seed7     key lengths drawn between the two; all that is drawn follows the seed

)";

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
