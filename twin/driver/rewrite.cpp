// SPDX-License-Identifier: Apache-2.0
#include "rewrite.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "survey.hpp"

namespace twincc {
namespace {

class Rewriter : private Words {
 public:
  Rewriter(const std::string& source, const std::set<std::string>& typing) : Words(source), typing_(typing) {}

  Source run() {
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

 private:
  struct Edit {
    std::size_t begin, end;
    std::string with;
  };

  void fail(std::size_t i, const std::string& why) {
    if (out_.error.empty()) out_.error = "line " + std::to_string(line(i)) + ": " + why;
  }

  // Open braces outside of preprocessor lines: those of namespaces and extern "C" leave a kernel nameable where it stands.
  void scope(std::size_t i) {
    if (is(i, "}")) {
      if (!scopes_.empty()) scopes_.pop_back();
    } else if (is(i, "{")) {
      bool open = false;
      for (std::size_t p = i; p > 0 && !is(p - 1, ";") && !is(p - 1, "{") && !is(p - 1, "}"); --p)
        open |= is(p - 1, "namespace") || (is(p - 1, "extern") && tokens_[p].kind == Token::Text && p + 1 == i);
      scopes_.push_back(open);
    }
  }

  bool in_namespace() const { return std::find(scopes_.begin(), scopes_.end(), false) == scopes_.end(); }
  // class X {, struct X :, enum class X {, using X =, class X;, const T X =, #define X, T X(…) {, and AscendC::X.
  void own_name(std::size_t i) {
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
  void constant(std::size_t i) {
    while (++i < tokens_.size() && !is(i, ";") && !is(i, "(") && !tokens_[i].directive) {
      if (!is(i, "=") && !is(i, "{") && !is(i, "[")) continue;
      if (tokens_[i - 1].kind == Token::Word) out_.own_names.push_back(text(i - 1));
      return;
    }
  }

  // [aicore] and [host, aicore] are __aicore__; a file's own definitions of the qualifiers, for compilers that lack them,
  // go.
  void spelling(std::size_t i) {
    static const std::set<std::string> kQualifiers = {"__aicore__", "__global__", "__gm__", "__ubuf__", "__cbuf__",
                                                      "__ca__",     "__cb__",     "__cc__", "__fbuf__"};
    const std::size_t both = is(i + 1, "host") && is(i + 2, ",") ? 2 : 0;
    if (!tokens_[i].directive && is(i, "[") && is(i + 1 + both, "aicore") && is(i + 2 + both, "]"))
      edits_.push_back({tokens_[i].begin, tokens_[i + 2 + both].end,
                        (i > 0 && tokens_[i - 1].end == tokens_[i].begin ? " __aicore__" : "__aicore__") +
                            ends_of_lines(i, i + 2 + both)});
    if (!(tokens_[i].directive && is(i, "#") && is(i + 1, "define") && kQualifiers.count(text(i + 2)))) return;
    std::size_t last = i + 2;
    while (last + 1 < tokens_.size() && tokens_[last + 1].directive && !is(last + 1, "#") && same_directive(last)) ++last;
    edits_.push_back({tokens_[i].begin, tokens_[last].end, ends_of_lines(i, last)});
  }
  // From a qualifier, or a macro of the file that stands for it, to the end of the function's body.
  void device_function(std::size_t i) {
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

  void kernel(std::size_t global) {
    Kernel k;
    k.in_macro = tokens_[global].directive;
    k.line = line(global);
    // Qualifiers may stand on either side of __global__; the function's name is the last word before its parameters.
    std::size_t begin = global;
    while (begin > 0 && !is(begin - 1, ";") && !is(begin - 1, "}") && !is(begin - 1, "{") &&
           tokens_[begin - 1].directive == k.in_macro)
      --begin;
    if (k.in_macro) begin = global;
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
    const std::size_t name = pasted(i - 1);
    if (name <= global) return;
    k.name = one_line(s_.substr(tokens_[name].begin, tokens_[i - 1].end - tokens_[name].begin));
    if (!k.in_macro) rename(name);
    const std::size_t end = behind(i);
    parameters(k, i + 1, end);
    if (is(end, "{") && tokens_[end].directive == k.in_macro) {
      const std::size_t close = behind(end);
      if (close == 0 || !is(close - 1, "}") || tokens_[close - 1].directive != k.in_macro)
        return fail(global, "kernel " + k.name + " has no end");
      k.defined = true;
      types(k, end, close);
      if (in_namespace()) edits_.push_back({tokens_[close - 1].end, tokens_[close - 1].end, registration(k)});
    }
    out_.own_names.push_back(k.name);
    out_.kernels.push_back(std::move(k));
  }
  // What the body says by KERNEL_TASK_TYPE…, where its words alone tell.
  void types(Kernel& k, std::size_t from, std::size_t end) {
    const std::string of_qualifiers = k.type;
    std::string type;
    int conditions = 0;
    by_key_.clear();
    for (std::size_t p = from; p < end; ++p) {
      if (!k.in_macro) conditions += condition(p);
      k.unclear_type |= typing_.count(text(p)) != 0;
      const bool keyed = is(p, "KERNEL_TASK_TYPE");
      if ((!keyed && !is(p, "KERNEL_TASK_TYPE_DEFAULT")) || !is(p + 1, "(")) continue;
      k.unclear_type |= conditions != 0 || tokens_[p].directive != k.in_macro || !plain_type(p);
      if (keyed) {
        by_key_.emplace_back(one_line(text(p + 2)), one_line(text(p + 4)));
      } else {
        k.unclear_type |= !type.empty() && type != text(p + 2);
        k.type = type = text(p + 2);
      }
    }
    bodies_.emplace_back(from, end);
    if (!k.unclear_type) return;
    k.type = of_qualifiers;
    out_.unclear_types = true;
  }
  // 1 where an #if begins, -1 where it ends.
  int condition(std::size_t i) const {
    if (!is(i, "#") || !tokens_[i].directive) return 0;
    return is(i + 1, "if") || is(i + 1, "ifdef") || is(i + 1, "ifndef") ? 1 : is(i + 1, "endif") ? -1 : 0;
  }
  // KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_X) or KERNEL_TASK_TYPE(key, KERNEL_TYPE_X) word for word.
  bool plain_type(std::size_t i) const {
    const std::size_t at = i + (is(i, "KERNEL_TASK_TYPE") ? 4 : 2);
    return is_kernel_type(text(at)) && is(at + 1, ")") && (at == i + 2 || is(i + 3, ","));
  }
  // A type that a function gives which is no kernel counts for kernels without one, if there are such.
  void types_outside() {
    std::vector<bool> open;  // #if, true but for a header's guard
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].directive) {
        const int c = condition(i);
        if (c > 0) open.push_back(!is(i + 1, "ifndef") || !is(i + 4, "define") || text(i + 2) != text(i + 5));
        if (c < 0 && !open.empty()) open.pop_back();
        continue;
      }
      if (!is(i, "KERNEL_TASK_TYPE_DEFAULT") || !is(i + 1, "(")) continue;
      const bool inside = std::any_of(bodies_.begin(), bodies_.end(), [i](auto& b) { return b.first <= i && i < b.second; });
      const bool chosen = std::find(open.begin(), open.end(), true) != open.end();
      out_.unclear_types |= !inside && (chosen || !plain_type(i));
    }
  }
  void parameters(Kernel& k, std::size_t from, std::size_t end) {
    int depth = 0;
    for (std::size_t p = from; p < end; ++p) {
      if (is(p, "<") || is(p, "(") || is(p, "[") || is(p, "{")) ++depth;
      if (is(p, ">") || is(p, "]") || is(p, "}") || (is(p, ")") && p + 1 < end)) --depth;
      if ((depth == 0 && is(p, ",")) || p + 1 == end) {
        if (p > from)
          k.parameters.push_back(one_line(s_.substr(tokens_[from].begin, tokens_[p - 1].end - tokens_[from].begin)));
        from = p + 1;
      }
    }
    if (k.parameters.size() == 1 && k.parameters[0] == "void") k.parameters.clear();
  }
  static std::string one_line(std::string s) {
    for (char& c : s) {
      if (c == '\n' || c == '\r' || c == '\\') c = ' ';
    }
    return s;
  }
  // A word made by ## begins where the first of its pieces does.
  std::size_t pasted(std::size_t i) const {
    while (i >= 3 && is(i - 1, "#") && is(i - 2, "#") && tokens_[i - 3].kind == Token::Word) i -= 3;
    return i;
  }
  // A kernel may have the name of a function of C, which the device's compiler does not declare and the host's does.
  static bool is_c_name(const std::string& name) {
    static const std::set<std::string> kNames = {
        "abs",      "acos",      "acosh",  "asin",   "asinh", "atan",    "atan2",  "atanh", "cbrt",   "ceil",
        "copysign", "cos",       "cosh",   "div",    "dup",   "erf",     "erfc",   "exp",   "exp2",   "expm1",
        "fabs",     "fdim",      "floor",  "fma",    "fmax",  "fmin",    "fmod",   "frexp", "gamma",  "hypot",
        "index",    "ldexp",     "lgamma", "log",    "log10", "log1p",   "log2",   "logb",  "modf",   "nan",
        "pow",      "remainder", "remove", "rint",   "round", "scalbn",  "select", "sin",   "sincos", "sinh",
        "sqrt",     "tan",       "tanh",   "tgamma", "trunc", "truncate"};
    return kNames.count(name) != 0;
  }
  void rename(std::size_t i) {
    if (is_c_name(text(i))) edits_.push_back({tokens_[i].begin, tokens_[i].end, kRenamed + text(i)});
  }
  // What stands behind a kernel's body, on the line of its closing brace.
  std::string registration(const Kernel& k) const {
    const auto type = [](const std::string& t) { return t.empty() ? "TWIN_UNIT_TYPE" : engine_type(t, false, true); };
    std::string s = " ";
    if (k.unclear_type) {
      s += "TWIN_TYPES_OF(" + k.name + ", " + type(k.type) + ")";
      return s + launch_function(k);
    }
    for (const auto& [key, t] : by_key_) s += "TWIN_KERNEL_TYPE(" + k.name + ", " + type(t) + ", " + key + ") ";
    if (!k.type.empty() || by_key_.empty()) s += "TWIN_KERNEL_TYPE(" + k.name + ", " + type(k.type) + ", -1)";
    return s + launch_function(k);
  }
  static std::string launch_function(const Kernel& k) {
    if (k.is_template) return "";
    const HostParameters p = host_parameters(k);
    const std::string function = is_c_name(k.name) ? kRenamed + k.name : k.name;
    return " TWIN_KERNEL(" + k.name + ", " + function + ", (std::uint32_t twin_blocks, void* twin_stream" + p.declared +
           "), (" + p.names + "))";
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

  static constexpr const char* kRenamed = "twin_kernel_";  // as launch.cpp knows it
  std::vector<Edit> edits_;
  std::vector<bool> scopes_;
  std::vector<std::pair<std::string, std::string>> by_key_;  // KERNEL_TASK_TYPE of the kernel at hand
  const std::set<std::string>& typing_;
  std::vector<std::pair<std::size_t, std::size_t>> bodies_;  // of kernels
  std::set<std::string> device_words_ = {"__aicore__", "__global__"};
  Source out_;
};

}  // namespace

Source rewrite(const std::string& source, const std::set<std::string>& typing_macros) {
  // A byte order mark may stand before the first line.
  const std::string text = source.compare(0, 3, "\xEF\xBB\xBF") == 0 ? source.substr(3) : source;
  return Rewriter(text, typing_macros).run();
}

}  // namespace twincc
