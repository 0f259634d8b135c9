// SPDX-License-Identifier: Apache-2.0
// Tiling templates: an operator project's list of the template arguments that its kernel may be compiled for. The vendor's
// build makes one kernel of each; on the twin a template kernel is launched with its arguments, kernel<0><<<…>>>(…). The
// list is kept as it is written, for what the host makes of it: GET_TPL_TILING_KEY puts the arguments' values together, each
// as wide as it is declared (the page of GET_TPL_TILING_KEY). That the first one has the lowest bits, and that a number
// stands for itself, is assumed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>

#define ASCENDC_TPL_ARGS_DECL(op, ...) static const char* const g_tilingDeclareParams [[maybe_unused]] = #__VA_ARGS__
#define ASCENDC_TPL_SEL(...) static_assert(true, "tiling template")

#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8
#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2

namespace AscendC {
constexpr std::uint64_t INVALID_TILING_KEY = ~std::uint64_t{0};

namespace detail {
// The next declaration in the list from `at` on: its name and how many bits it has; 0 behind the last.
inline unsigned next_declared(const std::string& list, std::size_t& at, std::string& argument) {
  const std::size_t begin = list.find("ASCENDC_TPL_", at), open = list.find('(', begin);
  if (begin == std::string::npos || open == std::string::npos) return 0;
  const std::string kind = list.substr(begin + 12, open - begin - 12);
  std::size_t end = open;
  for (int depth = 0; end < list.size(); ++end) {  // the lists of some declarations have calls in them
    depth += list[end] == '(' ? 1 : list[end] == ')' ? -1 : 0;
    if (depth == 0) break;
  }
  at = end;
  const std::size_t comma = list.find(',', open);
  argument = list.substr(open + 1, comma - open - 1);
  if (kind.rfind("BOOL", 0) == 0) return 1;
  if (kind.rfind("UINT", 0) != 0) return 8;
  std::string width = list.substr(comma + 1, list.find(',', comma + 1) - comma - 1);
  while (!width.empty() && (width.front() == ' ' || width.front() == '\n')) width.erase(0, 1);
  if (width.rfind("ASCENDC_TPL_", 0) == 0) width.erase(0, 12);
  return static_cast<unsigned>(std::atoi(width.c_str()));
}
inline std::uint64_t tiling_key(const char* declared, std::initializer_list<std::uint64_t> values) {
  const std::string list = declared;
  std::string argument;
  std::uint64_t key = 0;
  unsigned used = 0;
  std::size_t at = 0;
  const auto wrong = [&](const char* why) {
    std::fprintf(stderr, "GET_TPL_TILING_KEY with %zu values: %s %s\n", values.size(), argument.c_str(), why);
    return INVALID_TILING_KEY;
  };
  for (const std::uint64_t value : values) {
    const unsigned bits = next_declared(list, at, argument);
    if (bits == 0 || bits + used > 64) return wrong(bits ? "has no bits left of 64" : "is the last one that is declared");
    if (bits < 64 && value >> bits) return wrong("has fewer bits than its value");
    key |= value << used;
    used += bits;
  }
  return next_declared(list, at, argument) ? wrong("has no value") : key;
}
}  // namespace detail
}  // namespace AscendC

#define GET_TPL_TILING_KEY(...) ::AscendC::detail::tiling_key(g_tilingDeclareParams, {__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...) (context)->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__))
