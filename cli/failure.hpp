// SPDX-License-Identifier: Apache-2.0
// Exit codes of the command, and how a function ends it with one.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tessera/types.hpp"

namespace tessera::cli {

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

}  // namespace tessera::cli
