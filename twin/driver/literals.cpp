// SPDX-License-Identifier: Apache-2.0
#include "literals.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>

namespace twincc {
namespace {

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Where a number ends that begins here, and its value: its words may be several (1e-3, .5f).
std::size_t number(const std::string& s, std::size_t at, double* value) {
  std::string text;
  std::size_t end = at;
  const bool hex = s.compare(at, 2, "0x") == 0 || s.compare(at, 2, "0X") == 0;
  for (; end < s.size() && text.size() < 64; ++end) {
    const char c = s[end], before = text.empty() ? ' ' : text.back();
    const bool exponent = hex ? before == 'p' || before == 'P' : before == 'e' || before == 'E';
    if (c == '\'') continue;
    if (!identifier_char(c) && c != '.' && !(exponent && (c == '-' || c == '+'))) break;
    text += c;
  }
  *value = std::strtod(text.c_str(), nullptr);
  return end;
}

}  // namespace

std::vector<std::pair<int, double>> literals_of(const Words& words) {
  std::vector<std::pair<int, double>> out;
  const std::vector<Token>& tokens = words.tokens();
  const std::string& s = words.source();
  int line = 1;
  std::size_t counted = 0, end = 0;
  bool defines = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t at = tokens[i].begin;
    if (tokens[i].directive && words.is(i, "#")) defines = words.is(i + 1, "define");
    for (; counted < at; ++counted) line += s[counted] == '\n';
    const bool begins = digit(s[at]) || (s[at] == '.' && at + 1 < s.size() && digit(s[at + 1]));
    if (tokens[i].kind == Token::Text || !begins || at < end || (tokens[i].directive && !defines)) continue;
    double value = 0;
    end = number(s, at, &value);
    const bool minus = i > 0 && words.is(i - 1, "-");
    const bool operand = i > 1 && !words.is(i - 2, "return") && !words.is(i - 2, "case") &&
                         (tokens[i - 2].kind != Token::Sign || words.is(i - 2, ")") || words.is(i - 2, "]"));
    if (std::isfinite(value)) out.emplace_back(line, minus && !operand ? -value : value);
  }
  return out;
}

}  // namespace twincc
