// SPDX-License-Identifier: Apache-2.0
#include "llvm_text.hpp"

#include <cctype>
#include <set>
#include <sstream>

#include "lexer.hpp"

namespace twincc {
namespace {

bool begins(const std::string& s, const char* with) { return s.rfind(with, 0) == 0; }

// The text behind `key` up to one of the ends; "" if the key is not there.
std::string after(const std::string& s, const std::string& key, const char* ends) {
  const std::size_t at = s.find(key);
  if (at == std::string::npos) return "";
  const std::size_t from = at + key.size(), to = s.find_first_of(ends, from);
  return s.substr(from, to == std::string::npos ? std::string::npos : to - from);
}
int number(const std::string& s) {
  int n = 0;
  for (const char c : s) {
    if (!std::isdigit(static_cast<unsigned char>(c)) || n > 100000000) break;
    n = n * 10 + (c - '0');
  }
  return n;
}

// @name or @"name" from `at` on, where s[at] is '@'; moves `at` behind it.
std::string symbol(const std::string& s, std::size_t& at) {
  ++at;
  if (at < s.size() && s[at] == '"') {
    const std::size_t close = s.find('"', at + 1);
    std::string name = s.substr(at + 1, close == std::string::npos ? std::string::npos : close - at - 1);
    at = close == std::string::npos ? s.size() : close + 1;
    return name;
  }
  const std::size_t from = at;
  while (at < s.size() && (identifier_char(s[at]) || s[at] == '.' || s[at] == '$' || s[at] == '-')) ++at;
  return s.substr(from, at - from);
}

// "10" of the argument "i64 noundef 10"; "" if it is no constant.
std::string constant(const std::string& argument) {
  const std::string value = argument.substr(argument.rfind(' ') + 1);
  const bool number = value.find_first_not_of("0123456789", value[0] == '-') == std::string::npos;
  return number && std::isdigit(static_cast<unsigned char>(value.empty() ? 'x' : value.back())) ? value : "";
}

// The word stands by itself and is no part of a quoted string or a name.
bool has_word(const std::string& line, const std::string& word) {
  std::string s;
  bool quoted = false;
  for (const char c : line) {
    quoted ^= c == '"';
    if (!quoted) s += c;
  }
  for (std::size_t at = s.find(word); at != std::string::npos; at = s.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool left = at == 0 || (!identifier_char(s[at - 1]) && s[at - 1] != '.' && s[at - 1] != '"' && s[at - 1] != '@');
    if (left && (end == s.size() || (!identifier_char(s[end]) && s[end] != '.'))) return true;
  }
  return false;
}

class Reader {
 public:
  std::map<std::string, IrFunction> run(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      if (begins(line, "!")) {
        metadata(line);
      } else if (begins(line, "attributes #")) {
        attributes_["#" + after(line, "attributes #", " ")] = {
            has_word(line, "convergent"), line.find("\"disable-tail-calls\"=\"true\"") != std::string::npos};
      } else if (begins(line, "define ") || begins(line, "declare ")) {
        head(line);
      } else if (begins(line, "}")) {
        current_ = nullptr;
        pending_.clear();
      } else if (current_) {
        body(line);
      }
    }
    return resolve();
  }

 private:
  struct Raw {
    IrFunction f;
    std::string attributes, debug;
    std::vector<std::pair<std::string, std::string>> references;  // symbol, !dbg
    std::vector<std::string> doubles;                             // !dbg
    std::set<std::string> prints;                                 // !dbg of calls of printf
  };
  struct Scope {
    std::string file, parent;
    int line = 0;
    bool artificial = false;
  };

  void metadata(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string id = line.substr(0, space);
    if (line.find("!DILocation(") != std::string::npos) {
      locations_[id] = {number(after(line, "line: ", ",)")), after(line, "scope: ", ",)")};
    } else if (line.find("!DIFile(") != std::string::npos) {
      const std::string name = after(line, "filename: \"", "\""), folder = after(line, "directory: \"", "\"");
      files_[id] = begins(name, "/") ? name : folder + "/" + name;
    } else if (line.find("!DISubprogram(") != std::string::npos || line.find("!DILexicalBlock") != std::string::npos) {
      scopes_[id] = {after(line, "file: ", ",)"), after(line, "scope: ", ",)"), number(after(line, " line: ", ",)")),
                     line.find("DIFlagArtificial") != std::string::npos};
    }
  }
  void head(const std::string& line) {
    std::size_t at = line.find('@');
    if (at == std::string::npos) return;
    Raw raw;
    raw.f.symbol = symbol(line, at);
    raw.f.defined = begins(line, "define ");
    const std::size_t mark = line.find(" #", at);
    if (mark != std::string::npos) raw.attributes = "#" + std::to_string(number(line.substr(mark + 2)));
    raw.debug = after(line, "!dbg ", " {");
    Raw& kept = raw_[raw.f.symbol];
    kept = std::move(raw);
    current_ = kept.f.defined ? &kept : nullptr;
  }
  void body(std::string line) {
    // An invoke goes on in the next line, which has its place.
    line = pending_ + line;
    pending_.clear();
    if (line.find(" invoke ") != std::string::npos && line.find(" unwind label ") == std::string::npos) {
      pending_ = line;
      return;
    }
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == ';') return;
    const std::string debug = after(line, "!dbg ", " ,)");
    // What a handler catches, and notes for the debugger.
    if (line.compare(first, 6, "catch ") == 0 || line.compare(first, 7, "filter ") == 0) return;
    if (line.find("@llvm.dbg.") != std::string::npos) return;
    for (std::size_t at = line.find('@'); at != std::string::npos; at = line.find('@', at)) {
      const std::string name = symbol(line, at);
      current_->references.emplace_back(name, debug);
      if (name == "printf") current_->prints.insert(debug);
      if (name == kIsTilingKey) current_->f.tiling_keys.push_back(constant(after(line.substr(at), "(", ")")));
    }
    if (!debug.empty() && (has_word(line, "double") || has_word(line, "x86_fp80") || has_word(line, "fp128")))
      current_->doubles.push_back(debug);
  }

  Place place(const std::string& debug) const {
    const auto l = locations_.find(debug);
    if (l == locations_.end()) return {};
    std::string scope = l->second.second;
    for (int depth = 0; depth < 100; ++depth) {
      const auto s = scopes_.find(scope);
      if (s == scopes_.end()) break;
      const auto f = files_.find(s->second.file);
      if (f != files_.end()) return {f->second, l->second.first};
      scope = s->second.parent;
    }
    return {};
  }
  std::map<std::string, IrFunction> resolve() {
    std::map<std::string, IrFunction> out;
    for (auto& [name, raw] : raw_) {
      IrFunction& f = out[name] = std::move(raw.f);
      f.aicore = attributes_[raw.attributes].aicore;
      f.kernel = attributes_[raw.attributes].kernel;
      const auto scope = scopes_.find(raw.debug);
      if (scope != scopes_.end()) {
        f.at = {files_[scope->second.file], scope->second.line};
        f.artificial = scope->second.artificial;
      }
      for (const auto& [symbol, debug] : raw.references) {
        const Place at = place(debug);
        f.references.push_back({symbol, at.line ? at : f.at});
      }
      std::set<Place> printed;  // what printf is given is a double by C's rules
      for (const std::string& debug : raw.prints) printed.insert(place(debug));
      for (const std::string& debug : raw.doubles) {
        const Place at = place(debug);
        if (printed.count(at) == 0) f.doubles.push_back(at);
      }
    }
    return out;
  }

  std::map<std::string, Raw> raw_;
  Raw* current_ = nullptr;
  std::string pending_;
  struct Marks {
    bool aicore = false, kernel = false;
  };
  std::map<std::string, Marks> attributes_;
  std::map<std::string, std::string> files_;
  std::map<std::string, Scope> scopes_;
  std::map<std::string, std::pair<int, std::string>> locations_;
};

}  // namespace

std::string with_tiling_key(const std::string& text, const std::string& key) {
  const std::string symbol = std::string("@") + kIsTilingKey + "(";
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (begins(line, "declare ") && line.find(symbol) != std::string::npos)
      line = "define internal zeroext i1 " + symbol + "i64 %key) alwaysinline {\n  %is = icmp eq i64 %key, " + key +
             "\n  ret i1 %is\n}";
    out += line + "\n";
  }
  return out;
}

std::map<std::string, IrFunction> read_module(const std::string& text) { return Reader().run(text); }

}  // namespace twincc
