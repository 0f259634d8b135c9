// SPDX-License-Identifier: Apache-2.0
// Any text is a problem or an error; what is a problem prints to a text that gives the same problem.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/check.hpp"
#include "tessera/problem.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto problem = tessera::Problem::parse(text);
  if (!problem) {
    FUZZ_CHECK(!problem.status().message().empty(), "an error without a message");
    return 0;
  }
  const std::string printed = problem->to_string();
  const auto again = tessera::Problem::parse(printed);
  FUZZ_CHECK(again.ok(), "'%s' does not parse: %s", printed.c_str(), again.status().message().c_str());
  FUZZ_CHECK(again->to_string() == printed, "'%s' prints as '%s'", printed.c_str(), again->to_string().c_str());
  FUZZ_CHECK(again->seqlens_kv == problem->seqlens_kv, "lengths of '%s' differ", printed.c_str());
  FUZZ_CHECK(again->validate().ok() == problem->validate().ok(), "'%s' is valid only once", printed.c_str());
  if (problem->validate()) FUZZ_CHECK(problem->flops() >= 0 && problem->bytes() >= 0, "'%s'", printed.c_str());
  return 0;
}
