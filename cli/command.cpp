// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cli/printable.hpp"
#include "tessera/implementations.hpp"

namespace tessera::cli {
namespace {

constexpr int kMaxThreads = 1024;
constexpr std::size_t kShownBytes = 200;  // of what a caller wrote, in a message

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

constexpr std::size_t kMaxListBytes = 16u << 20;

std::string contents_of_list(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  char block[1 << 16];
  while (file && text.size() <= kMaxListBytes) {
    file.read(block, sizeof block);
    text.append(block, static_cast<std::size_t>(file.gcount()));
  }
  if (text.size() > kMaxListBytes)
    throw Failure(kBadInput, fmt::format("{}: over the {} bytes that a list of problems may have", path, kMaxListBytes));
  if (!file.eof() || file.bad()) throw Failure(kBadInput, fmt::format("{}: cannot read this list of problems", path));
  return text;
}

// Messages of the library begin with the argument's name; here the text itself is the better one.
void check_problem(const Status& status, std::string_view text, std::string_view where) {
  if (status.ok()) return;
  std::string_view message = status.message();
  if (constexpr std::string_view kName = "problem: "; message.starts_with(kName)) message.remove_prefix(kName.size());
  throw Failure(exit_code_of(status),
                fmt::format("{}problem \"{}\": {}", where, printable(text, kShownBytes), printable(message)));
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

void add_threads_option(CLI::App& app, int& threads) {
  app.add_option("--threads", threads, "Threads to use (default: every core this process may use)")
      ->check(between(1, kMaxThreads))
      ->type_name("N");
}

void add_target_options(CLI::App& app, Target& target) {
  app.add_option("--backend", target.backend, "cpu, reference, ascend-twin or ascend-npu (default: the best there is)")
      ->check(one_of({"cpu", "reference", "ascend-twin", "ascend-npu"}))
      ->type_name("NAME");
  app.add_option("--impl", target.impl, "Force one implementation; 'tessera info' lists them")
      ->check(not_empty())
      ->type_name("NAME");
  add_threads_option(app, target.threads);
}

void require_backend(const std::string& backend) {
  if (backend == "ascend-npu" || backend == "ascend-twin") {
    throw Failure(kUnsupported,
                  fmt::format("backend {}: this build has no attention operators for Ascend; use --backend cpu", backend));
  }
}

std::string asked_implementation(const Target& target) {
  const char* forced = std::getenv("TESSERA_FORCE_IMPL");
  const char* origin = target.impl.empty() ? "TESSERA_FORCE_IMPL" : "--impl";
  std::string name = !target.impl.empty() ? target.impl : forced != nullptr ? forced : "";
  if (name.empty()) return {};
  const auto* info = find_implementation(name);
  if (info == nullptr) {
    throw Failure(kBadInput, fmt::format("{}: no implementation is called \"{}\" (there are {})", origin,
                                         printable(name, kShownBytes), implementation_names()));
  }
  if (!target.backend.empty() && info->backend != target.backend) {
    throw Failure(kBadInput,
                  fmt::format("{}: {} belongs to backend {}, not to {}", origin, name, info->backend, target.backend));
  }
  if (!info->available) throw Failure(kUnsupported, fmt::format("{}: {} cannot run here: {}", origin, name, info->reason));
  return name;
}

std::string choose_implementation(const Target& target, const Problem& problem) {
  require_backend(target.backend);
  check(problem.validate());
  if (auto name = asked_implementation(target); !name.empty()) {
    check(accepts(name, problem), fmt::format("{} does not take this problem", name));
    return name;
  }
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

std::vector<Problem> parse_problems(const std::vector<std::string>& arguments) {
  std::vector<Problem> problems;
  for (const auto& argument : arguments) {
    if (argument.empty() || argument[0] != '@') {
      problems.push_back(parse_problem(argument));
      continue;
    }
    const auto path = argument.substr(1);
    if (path.empty()) throw Failure(kBadInput, "@: the name of a list of problems must follow");
    const auto before = problems.size();
    std::istringstream list(contents_of_list(path));
    int number = 0;
    for (std::string line; std::getline(list, line);) {
      ++number;
      line.resize(std::min(line.find('#'), line.size()));
      line.erase(0, std::min(line.find_first_not_of(" \t\r"), line.size()));
      line.resize(line.find_last_not_of(" \t\r") + 1);
      if (!line.empty()) problems.push_back(parse_problem(line, fmt::format("{}:{}: ", path, number)));
    }
    if (problems.size() == before) throw Failure(kBadInput, fmt::format("{}: no problem in it", path));
  }
  return problems;
}

Problem parse_problem(const std::string& text, std::string_view where) {
  auto problem = Problem::parse(text);
  check_problem(problem.status(), text, where);
  return std::move(problem).value();
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
