// SPDX-License-Identifier: Apache-2.0
#include "rewrite.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace twincc {
namespace {

bool identifier_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

struct Token {
  std::size_t begin, end;
  enum Kind { Word, Text, Sign } kind;
};

// Words, literals and single signs; comments and blanks are left out. Raw strings, digit separators and line splices are
// understood.
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
    if (std::isspace(static_cast<unsigned char>(c)) || c == '\\') {
      ++at_;
    } else if (c == '/' && look(1) == '/') {
      while (at_ < s_.size() && s_[at_] != '\n') at_ += s_[at_] == '\\' && look(1) == '\n' ? 2 : 1;
      at_ = std::min(at_, s_.size());
    } else if (c == '/' && look(1) == '*') {
      const std::size_t end = s_.find("*/", at_ + 2);
      at_ = end == std::string::npos ? s_.size() : end + 2;
    } else if (c == '"' || c == '\'') {
      literal(c, at_);
    } else if (identifier_char(c)) {
      word();
    } else {
      tokens_.push_back({at_, at_ + 1, Token::Sign});
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
      tokens_.push_back({begin, at_, Token::Text});
      return;
    }
    tokens_.push_back({begin, at_, Token::Word});
  }
  void literal(char quote, std::size_t begin) {
    ++at_;
    while (at_ < s_.size() && s_[at_] != quote && s_[at_] != '\n') at_ += s_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, s_.size());
    tokens_.push_back({begin, at_, Token::Text});
  }

  const std::string& s_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

class Rewriter {
 public:
  explicit Rewriter(const std::string& source) : s_(source), tokens_(Lexer(s_).run()) {}

  Source run() {
    survey();
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is(i, "__global__")) kernel(i);
      if (three(i, '<')) launch(i);
    }
    std::string text;
    std::size_t copied = 0;
    std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    for (const Edit& e : edits_) {
      if (e.begin < copied) continue;  // inside another launch's arguments: not legal there
      text += s_.substr(copied, e.begin - copied) + e.with;
      copied = e.end;
    }
    out_.text = text + s_.substr(copied);
    return std::move(out_);
  }

 private:
  struct Edit {
    std::size_t begin, end;
    std::string with;
  };

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
  void fail(std::size_t i, const std::string& why) {
    if (out_.error.empty()) out_.error = "line " + std::to_string(line(i)) + ": " + why;
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

  void survey() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == Token::Sign) {
        if (is(i, "#") && is(i + 1, "include") && i + 2 < tokens_.size() && tokens_[i + 2].kind == Token::Text) {
          const std::string quoted = text(i + 2);
          if (quoted.size() > 2) out_.quoted_includes.push_back(quoted.substr(1, quoted.size() - 2));
        }
        continue;
      }
      if (tokens_[i].kind != Token::Word) continue;
      const std::string word = text(i);
      const auto any = [&](std::initializer_list<const char*> list) {
        return std::find(list.begin(), list.end(), word) != list.end();
      };
      out_.names_core_kind |=
          any({"ASCEND_IS_AIC", "ASCEND_IS_AIV", "ASCEND_IS_NOT_AIC", "ASCEND_IS_NOT_AIV", "g_coreType", "__DAV_C220_CUBE__",
               "__DAV_C220_VEC__", "KERNEL_TYPE_MIX_AIC_1_1", "KERNEL_TYPE_MIX_AIC_1_2"});
      out_.uses_cube |= any({"Mmad", "Fixpipe", "LoadData", "LoadDataWithTranspose"});
      out_.uses_vector |= any({"VECIN", "VECOUT", "VECCALC"});
      if (word == "main" && is(i + 1, "(")) out_.has_main = true;
    }
    if (!out_.names_core_kind) {
      for (std::size_t i = 0; i + 3 < tokens_.size(); ++i)
        out_.names_core_kind |= is(i, "__mix__") && is(i + 1, "(") && !is(i + 2, "0") && !is(i + 4, "0");
    }
  }

  void kernel(std::size_t global) {
    Kernel k;
    k.line = line(global);
    // Qualifiers may stand on either side of __global__; the function's name is the last word before its parameters.
    std::size_t begin = global;
    while (begin > 0 && !is(begin - 1, ";") && !is(begin - 1, "}") && !is(begin - 1, "{")) --begin;
    std::size_t i = begin;
    for (; i < tokens_.size(); ++i) {
      if (is(i, "template")) k.is_template = true;
      if (is(i, "__vector__")) k.type = "KERNEL_TYPE_AIV_ONLY";
      if (is(i, "__cube__")) k.type = "KERNEL_TYPE_AIC_ONLY";
      if (is(i, "__mix__") && is(i + 1, "(")) {
        const std::string cube = text(i + 2), vector = text(i + 4);
        k.type = cube == "0" ? "KERNEL_TYPE_MIX_AIV_1_0" : "KERNEL_TYPE_MIX_AIC_1_" + vector;
        i = behind(i + 1) - 1;
        continue;
      }
      if ((is(i, "__launch_bounds__") || is(i, "__attribute__") || is(i, "alignas")) && is(i + 1, "(")) {
        i = behind(i + 1) - 1;
        continue;
      }
      if (i > global && is(i, "(")) break;
      if (i > global && (is(i, ";") || is(i, "{") || is(i, "}"))) return;
    }
    if (i >= tokens_.size() || tokens_[i - 1].kind != Token::Word) return;
    k.name = text(i - 1);
    const std::size_t end = behind(i);
    std::size_t from = i + 1;
    int depth = 0;
    for (std::size_t p = i + 1; p < end; ++p) {
      if (is(p, "<") || is(p, "(") || is(p, "[") || is(p, "{")) ++depth;
      if (is(p, ">") || is(p, "]") || is(p, "}") || (is(p, ")") && p + 1 < end)) --depth;
      if ((depth == 0 && is(p, ",")) || p + 1 == end) {
        if (p > from) k.parameters.push_back(s_.substr(tokens_[from].begin, tokens_[p - 1].end - tokens_[from].begin));
        from = p + 1;
      }
    }
    if (is(end, "{")) {
      k.defined = true;
      const std::size_t close = behind(end);
      for (std::size_t p = end; p < close; ++p) {
        if (is(p, "KERNEL_TASK_TYPE_DEFAULT") && is(p + 1, "(")) k.type = text(p + 2);
        if (is(p, "KERNEL_TASK_TYPE") && is(p + 1, "(") && k.type.empty()) k.type = text(p + 4);
      }
    }
    out_.kernels.push_back(std::move(k));
  }

  // callee<<<a, b, c>>>(arguments): the callee is a name, perhaps qualified, perhaps with template arguments.
  void launch(std::size_t open) {
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
    --first;
    while (first >= 2 && is(first - 1, ":") && is(first - 2, ":")) {
      first -= 2;
      if (first == 0 || tokens_[first - 1].kind != Token::Word) break;
      if (is(first - 1, "return") || is(first - 1, "else")) break;
      --first;
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
    const std::string callee = s_.substr(tokens_[first].begin, tokens_[open].begin - tokens_[first].begin);
    edits_.push_back(
        {tokens_[first].begin, tokens_[open + 2].end, "::twin::launcher<decltype(" + callee + "), " + callee + ">("});
    edits_.push_back({tokens_[close].begin, tokens_[close + 2].end, ")"});
    out_.launches = true;
  }

  const std::string& s_;
  std::vector<Token> tokens_;
  std::vector<Edit> edits_;
  Source out_;
};

}  // namespace

Source rewrite(const std::string& source) {
  // A byte order mark may stand before the first line.
  const std::string text = source.compare(0, 3, "\xEF\xBB\xBF") == 0 ? source.substr(3) : source;
  return Rewriter(text).run();
}

std::string engine_type(const std::string& type, bool uses_cube, bool uses_vector) {
  static constexpr std::pair<const char*, const char*> kTypes[] = {
      {"KERNEL_TYPE_AIV_ONLY", "AivOnly"},     {"KERNEL_TYPE_AIC_ONLY", "AicOnly"},
      {"KERNEL_TYPE_MIX_AIV_1_0", "MixAiv10"}, {"KERNEL_TYPE_MIX_AIC_1_0", "MixAic10"},
      {"KERNEL_TYPE_MIX_AIC_1_1", "MixAic11"}, {"KERNEL_TYPE_MIX_AIC_1_2", "MixAic12"}};
  for (const auto& [written, engine] : kTypes) {
    if (type == written) return engine;
  }
  return uses_cube ? (uses_vector ? "MixAic12" : "AicOnly") : "AivOnly";
}

std::string parameter_name(const std::string& parameter) {
  std::size_t end = parameter.find('=');
  if (end == std::string::npos) end = parameter.size();
  while (end > 0 && !identifier_char(parameter[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && identifier_char(parameter[begin - 1])) --begin;
  return parameter.substr(begin, end - begin);
}

std::string host_parameter(const std::string& parameter) {
  const std::string name = parameter_name(parameter);
  const bool pointer = parameter.find('*') != std::string::npos || parameter.find("GM_ADDR") != std::string::npos;
  return pointer ? "::twin::AnyPointer " + name : parameter;
}

}  // namespace twincc
