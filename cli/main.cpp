// SPDX-License-Identifier: Apache-2.0
// The command `tessera`: results to stdout, progress and errors to stderr, exit codes as command.hpp lists them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "cli/command.hpp"

namespace {

constexpr const char* kFooter =
    R"(A problem is named by one string everywhere: "bf16 b4 hq32 hkv8 d128 sq1 skv4096 causal page128".

Examples:
  tessera info
  tessera attend samples/smollm2_layer02.safetensors --causal bottom-right --check
  tessera bench "bf16 hq32 hkv8 d128 sq1 skv32768" "f32 hq8 hkv2 d128 sq1024 skv1024 causal"
  tessera trace "bf16 hq32 hkv8 d128 sq1 skv32768" -o decode.svg

Exit codes: 0 done, 1 a check failed, 2 bad usage or invalid input, 3 unsupported by the chosen backend.
'tessera COMMAND --help' explains a command with examples.)";

bool has_command(const CLI::App& app, const std::string& name) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(commands.begin(), commands.end(), [&](const auto* command) { return command->get_name() == name; });
}

/// "attend ", or nothing.
std::string command_of(int argc, char** argv, const CLI::App& app) {
  return argc > 1 && has_command(app, argv[1]) ? std::string(argv[1]) + " " : "";
}

/// CLI11 counts arguments where an option is given twice.
std::string usage_error(std::string text) {
  if (const auto at = text.find(": At Most 1 required"); at != std::string::npos)
    text.replace(at, std::string::npos, ": given more than once");
  return text;
}

int run(int argc, char** argv) {
  using namespace tessera::cli;
  CLI::App app{"Tile-fused attention: FlashAttention-2 and FlashDecoding for CPUs and Ascend NPUs.", "tessera"};
  app.footer(kFooter);
  app.set_version_flag("--version", TESSERA_VERSION);
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(36);
  Action action;
  add_info(app, action);
  add_attend(app, action);
  add_merge(app, action);
  add_plan(app, action);
  add_verify(app, action);
  add_bench(app, action);
  add_trace(app, action);
  // Before CLI11, which would only say that a command is missing.
  if (const std::string name = argc > 1 ? argv[1] : "-"; name.rfind('-', 0) != 0 && !has_command(app, name)) {
    fmt::print(stderr, "tessera: no command is called \"{}\"\nTry 'tessera --help'.\n", name);
    return kBadInput;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    fmt::print(stderr, "tessera: {}\nTry 'tessera {}--help'.\n", usage_error(error.what()), command_of(argc, argv, app));
    return kBadInput;
  }
  if (!action) {
    fmt::print(stderr, "{}", app.help());
    return kBadInput;
  }
  return action();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      std::fputs("tessera: cannot write to stdout\n", stderr);
      return tessera::cli::kBadInput;
    }
    return code;
  } catch (const tessera::cli::Failure& failure) {
    fmt::print(stderr, "tessera: {}\n", failure.what());
    return failure.code;
  } catch (const std::bad_alloc&) {
    std::fputs("tessera: out of memory\n", stderr);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tessera: {}\n", error.what());
  }
  return tessera::cli::kBadInput;
}
