// SPDX-License-Identifier: Apache-2.0
#include "lexer.hpp"

#include <algorithm>
#include <cctype>

namespace twincc {

bool identifier_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

namespace {

class Lexer {
 public:
  explicit Lexer(const std::string& s) : s_(s) {}
  std::vector<Token> run() {
    while (at_ < s_.size()) next();
    return std::move(tokens_);
  }

 private:
  char look(std::size_t ahead = 0) const { return at_ + ahead < s_.size() ? s_[at_ + ahead] : '\0'; }
  void next() {
    const char c = s_[at_];
    if (c == '\n') {
      directive_ = false;
      line_begins_ = true;
      ++at_;
    } else if (c == '\\') {
      at_ += look(1) == '\n' ? 2 : look(1) == '\r' && look(2) == '\n' ? 3 : 1;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++at_;
    } else if (c == '/' && look(1) == '/') {
      while (at_ < s_.size() && s_[at_] != '\n') at_ += s_[at_] == '\\' && look(1) == '\n' ? 2 : 1;
      at_ = std::min(at_, s_.size());
    } else if (c == '/' && look(1) == '*') {
      const std::size_t end = s_.find("*/", at_ + 2);
      at_ = end == std::string::npos ? s_.size() : end + 2;
    } else {
      directive_ |= line_begins_ && c == '#';
      line_begins_ = false;
      token(c);
    }
  }
  void token(char c) {
    if (c == '"' || c == '\'') {
      literal(c, at_);
    } else if (identifier_char(c)) {
      word();
    } else {
      tokens_.push_back({at_, at_ + 1, Token::Sign, directive_});
      ++at_;
    }
  }
  void word() {
    const std::size_t begin = at_;
    const bool number = std::isdigit(static_cast<unsigned char>(s_[at_])) != 0;
    while (at_ < s_.size() &&
           (identifier_char(s_[at_]) || (number && (s_[at_] == '.' || (s_[at_] == '\'' && identifier_char(look(1)))))))
      ++at_;
    const std::string prefix = s_.substr(begin, at_ - begin);
    if (look() == '"' && (prefix == "R" || prefix == "u8R" || prefix == "uR" || prefix == "UR" || prefix == "LR")) {
      const std::size_t open = s_.find('(', at_);
      const std::string close = open == std::string::npos ? "" : ")" + s_.substr(at_ + 1, open - at_ - 1) + "\"";
      const std::size_t end = open == std::string::npos ? std::string::npos : s_.find(close, open);
      at_ = end == std::string::npos ? s_.size() : end + close.size();
      tokens_.push_back({begin, at_, Token::Text, directive_});
      return;
    }
    tokens_.push_back({begin, at_, Token::Word, directive_});
  }
  void literal(char quote, std::size_t begin) {
    ++at_;
    while (at_ < s_.size() && s_[at_] != quote && s_[at_] != '\n') at_ += s_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, s_.size());
    tokens_.push_back({begin, at_, Token::Text, directive_});
  }

  const std::string& s_;
  std::size_t at_ = 0;
  bool directive_ = false, line_begins_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(const std::string& source) { return Lexer(source).run(); }

}  // namespace twincc
