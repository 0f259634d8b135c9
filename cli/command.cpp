// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tessera/implementations.hpp"

namespace tessera::cli {
namespace {

constexpr int kMaxThreads = 1024;

const ImplementationInfo* find_implementation(std::string_view name) {
  for (const auto& info : implementations()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

std::string implementation_names() {
  std::string names;
  for (const auto& info : implementations()) names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

// The caller named one: it runs the problem, or the reason why not is the error.
std::string named_implementation(const std::string& name, const std::string& backend, const Problem& problem,
                                 std::string_view origin) {
  const auto* info = find_implementation(name);
  if (info == nullptr) {
    throw Failure(kBadInput, fmt::format("{}: no implementation is called \"{}\" (there are {})", origin, name,
                                         implementation_names()));
  }
  if (!backend.empty() && info->backend != backend) {
    throw Failure(kBadInput, fmt::format("{}: {} belongs to backend {}, not to {}", origin, name, info->backend, backend));
  }
  if (!info->available) throw Failure(kUnsupported, fmt::format("{}: {} cannot run here: {}", origin, name, info->reason));
  check(accepts(name, problem), fmt::format("{} does not take this problem", name));
  return name;
}

}  // namespace

ExitCode exit_code_of(const Status& status) noexcept {
  if (status.ok()) return kDone;
  return status.code() == StatusCode::unsupported ? kUnsupported : kBadInput;
}

void check(const Status& status, std::string_view context) {
  if (status.ok()) return;
  throw Failure(exit_code_of(status), context.empty() ? status.message() : fmt::format("{}: {}", context, status.message()));
}

void add_target_options(CLI::App& app, Target& target, bool with_threads) {
  app.add_option("--backend", target.backend, "cpu, reference, ascend-twin or ascend-npu (default: the best there is)")
      ->check(one_of({"cpu", "reference", "ascend-twin", "ascend-npu"}))
      ->type_name("NAME");
  app.add_option("--impl", target.impl, "Force one implementation; 'tessera info' lists them")
      ->check(not_empty())
      ->type_name("NAME");
  if (!with_threads) return;
  app.add_option("--threads", target.threads, "Threads to use (default: every core this process may use)")
      ->check(between(1, kMaxThreads))
      ->type_name("N");
}

void require_backend(const std::string& backend) {
  if (backend == "ascend-npu" || backend == "ascend-twin") {
    throw Failure(kUnsupported,
                  fmt::format("backend {}: this build has no attention operators for Ascend; use --backend cpu", backend));
  }
}

std::string choose_implementation(const Target& target, const Problem& problem) {
  require_backend(target.backend);
  check(problem.validate());
  if (!target.impl.empty()) return named_implementation(target.impl, target.backend, problem, "--impl");
  const char* forced = std::getenv("TESSERA_FORCE_IMPL");
  if (forced != nullptr && *forced != '\0')
    return named_implementation(forced, target.backend, problem, "TESSERA_FORCE_IMPL");
  if (target.backend.empty()) return {};

  std::string reasons;
  for (const auto& info : implementations()) {
    if (info.backend != target.backend) continue;
    const auto status = info.available ? accepts(info.name, problem) : Status::unsupported(std::string(info.reason));
    if (status.ok()) return std::string(info.name);
    reasons += fmt::format("\n  {}: {}", info.name, status.message());
  }
  throw Failure(kUnsupported, fmt::format("backend {} cannot run \"{}\":{}", target.backend, problem.to_string(), reasons));
}

PlanOptions plan_options(const Target& target, const std::string& implementation) noexcept {
  PlanOptions options;
  options.max_threads = target.threads;
  options.implementation = implementation;
  return options;
}

std::vector<std::string> expand_problems(const std::vector<std::string>& arguments) {
  std::vector<std::string> problems;
  for (const auto& argument : arguments) {
    if (argument.empty() || argument[0] != '@') {
      problems.push_back(argument);
      continue;
    }
    const auto path = argument.substr(1);
    std::ifstream file(path);
    if (!file) throw Failure(kBadInput, fmt::format("{}: cannot read this list of problems", path));
    const auto before = problems.size();
    for (std::string line; std::getline(file, line);) {
      line.resize(std::min(line.find('#'), line.size()));
      line.erase(0, std::min(line.find_first_not_of(" \t\r"), line.size()));
      line.resize(line.find_last_not_of(" \t\r") + 1);
      if (!line.empty()) problems.push_back(line);
    }
    if (file.bad()) throw Failure(kBadInput, fmt::format("{}: cannot read this list of problems", path));
    if (problems.size() == before) throw Failure(kBadInput, fmt::format("{}: no problem in it", path));
  }
  return problems;
}

Problem parse_problem(const std::string& text) {
  auto problem = value_of(Problem::parse(text), fmt::format("problem \"{}\"", text));
  check(problem.validate(), fmt::format("problem \"{}\"", text));
  return problem;
}

std::string backend_of(std::string_view implementation) {
  const auto* info = find_implementation(implementation);
  return info == nullptr ? "" : std::string(info->backend);
}

void print_json(const Json& json) { fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace)); }

Progress::Progress() noexcept : terminal_(::isatty(STDERR_FILENO) != 0) {}
Progress::~Progress() { clear(); }

void Progress::show(const std::string& text) {
  if (!terminal_) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
  shown_ = false;
}

}  // namespace tessera::cli
