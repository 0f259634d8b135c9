// SPDX-License-Identifier: Apache-2.0
// A source and its tokens, with the questions that are asked of them. Any number is legal: behind the last token nothing is.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "lexer.hpp"

namespace twincc {

class Words {
 public:
  explicit Words(const std::string& source) : s_(source), tokens_(lex(s_)) {}

  const std::string& source() const { return s_; }
  const std::vector<Token>& tokens() const { return tokens_; }
  std::string text(std::size_t i) const {
    return i < tokens_.size() ? s_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin) : "";
  }
  bool is(std::size_t i, const char* what) const {
    return i < tokens_.size() && tokens_[i].kind != Token::Text &&
           s_.compare(tokens_[i].begin, tokens_[i].end - tokens_[i].begin, what) == 0;
  }
  bool three(std::size_t i, char c) const {
    for (std::size_t k = 0; k < 3; ++k) {
      if (i + k >= tokens_.size() || tokens_[i + k].kind != Token::Sign || s_[tokens_[i + k].begin] != c) return false;
      if (k && tokens_[i + k].begin != tokens_[i + k - 1].end) return false;
    }
    return true;
  }
  int line(std::size_t i) const {
    return 1 + static_cast<int>(std::count(s_.begin(), s_.begin() + static_cast<std::ptrdiff_t>(tokens_[i].begin), '\n'));
  }
  // From an opening bracket to behind its closing one; the end if there is none.
  std::size_t behind(std::size_t i) const {
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      if (tokens_[i].kind != Token::Sign) continue;
      const char c = s_[tokens_[i].begin];
      if (std::strchr("([{", c)) ++depth;
      if (std::strchr(")]}", c) && --depth <= 0) return i + 1;
    }
    return tokens_.size();
  }

  // As many as the text from one token to another has.
  std::string ends_of_lines(std::size_t first, std::size_t last) const {
    const auto from = s_.begin() + static_cast<std::ptrdiff_t>(tokens_[first].begin);
    const auto to = s_.begin() + static_cast<std::ptrdiff_t>(tokens_[last].end);
    return std::string(static_cast<std::size_t>(std::count(from, to, '\n')), '\n');
  }
  // No unescaped end of line between this token and the next.
  bool same_directive(std::size_t i) const {
    for (std::size_t at = tokens_[i].end; at < tokens_[i + 1].begin; ++at) {
      if (s_[at] == '\n' && !(at > 0 && (s_[at - 1] == '\\' || (s_[at - 1] == '\r' && at > 1 && s_[at - 2] == '\\'))))
        return false;
    }
    return true;
  }

 protected:
  const std::string& s_;
  std::vector<Token> tokens_;
};

}  // namespace twincc
