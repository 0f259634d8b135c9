// SPDX-License-Identifier: Apache-2.0
// Launches in a source: kernel<<<blocks, l2, stream>>>(arguments).
#include <cstring>

#include "rewriter.hpp"

namespace twincc {

// callee<<<a, b, c>>>(arguments): the callee is a name, perhaps qualified, perhaps with template arguments.
void Rewriter::launch(std::size_t open) {
  std::size_t first = open;
  if (first > 0 && is(first - 1, ">")) {
    int depth = 0;
    for (--first;; --first) {
      if (is(first, ">")) ++depth;
      if (is(first, "<") && --depth == 0) break;
      if (first == 0) return fail(open, "'<<<' after '>' that opens nowhere");
    }
  }
  if (first == 0 || tokens_[first - 1].kind != Token::Word) return fail(open, "'<<<' without a kernel's name before it");
  first = pasted(first - 1);
  while (first >= 2 && is(first - 1, ":") && is(first - 2, ":")) {
    first -= 2;
    if (first == 0 || tokens_[first - 1].kind != Token::Word) break;
    if (is(first - 1, "return") || is(first - 1, "else")) break;
    first = pasted(first - 1);
  }
  int depth = 0;
  std::size_t close = open + 3;
  for (; close < tokens_.size(); ++close) {
    if (tokens_[close].kind != Token::Sign) continue;
    const char c = s_[tokens_[close].begin];
    if (std::strchr("([{", c)) ++depth;
    if (std::strchr(")]}", c)) --depth;
    if (depth < 0 || c == ';') break;
    if (depth == 0 && three(close, '>')) {
      while (three(close + 1, '>')) ++close;  // "Foo<A<1>>>>": the last three close the launch
      break;
    }
  }
  if (close >= tokens_.size() || !three(close, '>')) return fail(open, "'<<<' without its '>>>'");
  if (!is(close + 3, "(")) return fail(open, "a launch without arguments: '(' expected after '>>>'");
  std::string callee = s_.substr(tokens_[first].begin, tokens_[open].begin - tokens_[first].begin);
  const bool of_c = first + 1 == open && is_c_name(text(first));
  if (of_c) callee = kRenamed + text(first);
  // Said twice, but its lines are there once. A comment that ends with a line stays one.
  std::string again;
  for (std::size_t i = first; i < open; ++i)
    again += (i > first && tokens_[i].begin > tokens_[i - 1].end ? " " : "") + one_line(text(i));
  if (of_c) again = callee;
  edits_.push_back(
      {tokens_[first].begin, tokens_[open + 2].end, "::twin::launcher<decltype(" + again + "), " + callee + ">("});
  edits_.push_back({tokens_[close].begin, tokens_[close + 2].end, ")"});
  out_.launches = true;
}

}  // namespace twincc
