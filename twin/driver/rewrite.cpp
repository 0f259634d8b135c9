// SPDX-License-Identifier: Apache-2.0
#include "rewrite.hpp"

#include <algorithm>

#include "rewriter.hpp"
#include "survey.hpp"

namespace twincc {

Source Rewriter::run() {
  survey(*this, &out_);
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (!tokens_[i].directive) scope(i);
    own_name(i);
    if (is(i, "__global__")) kernel(i);
    if (three(i, '<')) launch(i);
    if (is(i, "ICPU_RUN_KF") && is(i + 1, "(") && is(i + 3, ",")) rename(i + 2);
    spelling(i);
    device_function(i);
  }
  types_outside();
  std::string text;
  std::size_t copied = 0;
  std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  for (const Edit& e : edits_) {
    if (e.begin < copied) continue;  // inside another launch's arguments: not legal there
    text += s_.substr(copied, e.begin - copied) + e.with;
    copied = e.end;
  }
  out_.text = text + s_.substr(copied);
  out_.changed = !edits_.empty();
  return std::move(out_);
}

void Rewriter::fail(std::size_t i, const std::string& why) {
  if (out_.error.empty()) out_.error = "line " + std::to_string(line(i)) + ": " + why;
}

void Rewriter::scope(std::size_t i) {
  if (is(i, "}")) {
    if (!scopes_.empty()) scopes_.pop_back();
  } else if (is(i, "{")) {
    bool open = false;
    for (std::size_t p = i; p > 0 && !is(p - 1, ";") && !is(p - 1, "{") && !is(p - 1, "}"); --p)
      open |= is(p - 1, "namespace") || (is(p - 1, "extern") && tokens_[p].kind == Token::Text && p + 1 == i);
    scopes_.push_back(open);
  }
}

bool Rewriter::in_namespace() const { return std::find(scopes_.begin(), scopes_.end(), false) == scopes_.end(); }

// class X {, struct X :, enum class X {, using X =, class X;, const T X =, #define X, T X(…) {, and AscendC::X.
void Rewriter::own_name(std::size_t i) {
  if (is(i, "AscendC") && is(i + 1, ":") && is(i + 2, ":") && i + 3 < tokens_.size() && tokens_[i + 3].kind == Token::Word)
    out_.qualified_names.push_back(text(i + 3));
  if (is(i, "define") && is(i - 1, "#")) out_.own_names.push_back(text(i + 1));
  if (!tokens_[i].directive && in_namespace() && (is(i, "const") || is(i, "constexpr"))) constant(i);
  if (tokens_[i].directive || !in_namespace() || (i > 0 && is(i - 1, "enum"))) return;
  const bool alias = is(i, "using");
  if (!alias && !is(i, "class") && !is(i, "struct") && !is(i, "union") && !is(i, "enum")) return;
  if (is(i, "enum") && (is(i + 1, "class") || is(i + 1, "struct"))) ++i;
  if (i + 2 >= tokens_.size() || tokens_[i + 1].kind != Token::Word) return;
  if (alias ? is(i + 2, "=") : is(i + 2, "{") || is(i + 2, ":") || is(i + 2, ";") || is(i + 2, "final"))
    out_.own_names.push_back(text(i + 1));
}

// The name before what a constant of a namespace is set to, if that is one: a function's has a bracket first.
void Rewriter::constant(std::size_t i) {
  while (++i < tokens_.size() && !is(i, ";") && !is(i, "(") && !tokens_[i].directive) {
    if (!is(i, "=") && !is(i, "{") && !is(i, "[")) continue;
    if (tokens_[i - 1].kind == Token::Word) out_.own_names.push_back(text(i - 1));
    return;
  }
}

// [aicore] and [host, aicore] are __aicore__; a file's own definitions of the qualifiers, for compilers that lack them,
// go.
void Rewriter::spelling(std::size_t i) {
  static const std::set<std::string> kQualifiers = {"__aicore__", "__global__", "__gm__", "__ubuf__", "__cbuf__",
                                                    "__ca__",     "__cb__",     "__cc__", "__fbuf__"};
  const std::size_t both = is(i + 1, "host") && is(i + 2, ",") ? 2 : 0;
  if (!tokens_[i].directive && is(i, "[") && is(i + 1 + both, "aicore") && is(i + 2 + both, "]"))
    edits_.push_back(
        {tokens_[i].begin, tokens_[i + 2 + both].end,
         (i > 0 && tokens_[i - 1].end == tokens_[i].begin ? " __aicore__" : "__aicore__") + ends_of_lines(i, i + 2 + both)});
  if (!(tokens_[i].directive && is(i, "#") && is(i + 1, "define") && kQualifiers.count(text(i + 2)))) return;
  std::size_t last = i + 2;
  while (last + 1 < tokens_.size() && tokens_[last + 1].directive && !is(last + 1, "#") && same_directive(last)) ++last;
  edits_.push_back({tokens_[i].begin, tokens_[last].end, ends_of_lines(i, last)});
}

// From a qualifier, or a macro of the file that stands for it, to the end of the function's body.
void Rewriter::device_function(std::size_t i) {
  if (is(i, "define") && i > 0 && is(i - 1, "#")) {
    for (std::size_t p = i + 2; p < tokens_.size() && tokens_[p].directive && same_directive(p - 1); ++p) {
      if (is(p, "__aicore__")) device_words_.insert(text(i + 1));
    }
  }
  if (tokens_[i].directive || tokens_[i].kind != Token::Word || device_words_.count(text(i)) == 0) return;
  std::size_t p = i + 1;
  while (p < tokens_.size() && !is(p, ";") && !is(p, "}") && !is(p, "{")) p = is(p, "(") ? behind(p) : p + 1;
  if (is(p, "{")) out_.device_lines.emplace_back(line(i), line(behind(p) - 1));
}

std::string Rewriter::one_line(std::string s) {
  for (char& c : s) {
    if (c == '\n' || c == '\r' || c == '\\') c = ' ';
  }
  return s;
}

std::size_t Rewriter::pasted(std::size_t i) const {
  while (i >= 3 && is(i - 1, "#") && is(i - 2, "#") && tokens_[i - 3].kind == Token::Word) i -= 3;
  return i;
}

// A kernel may have the name of a function of C, which the device's compiler does not declare and the host's does.
bool Rewriter::is_c_name(const std::string& name) {
  static const std::set<std::string> kNames = {
      "abs",    "acos", "acosh", "asin",  "asinh", "atan",      "atan2",  "atanh",   "cbrt",   "ceil",   "copysign", "cos",
      "cosh",   "div",  "dup",   "erf",   "erfc",  "exp",       "exp2",   "expm1",   "fabs",   "fdim",   "floor",    "fma",
      "fmax",   "fmin", "fmod",  "frexp", "gamma", "hypot",     "index",  "ldexp",   "lgamma", "log",    "log10",    "log1p",
      "log2",   "logb", "modf",  "nan",   "pow",   "remainder", "remove", "rint",    "round",  "scalbn", "select",   "sin",
      "sincos", "sinh", "sqrt",  "tan",   "tanh",  "tgamma",    "trunc",  "truncate"};
  return kNames.count(name) != 0;
}

void Rewriter::rename(std::size_t i) {
  if (is_c_name(text(i))) edits_.push_back({tokens_[i].begin, tokens_[i].end, kRenamed + text(i)});
}

Source rewrite(const std::string& source, const std::set<std::string>& typing_macros) {
  // A byte order mark may stand before the first line.
  const std::string text = source.compare(0, 3, "\xEF\xBB\xBF") == 0 ? source.substr(3) : source;
  return Rewriter(text, typing_macros).run();
}

}  // namespace twincc
