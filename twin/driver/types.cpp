// SPDX-License-Identifier: Apache-2.0
#include "types.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "rewrite.hpp"

namespace twincc {
namespace {

constexpr const char* kDefault = "KERNEL_TASK_TYPE_DEFAULT";
constexpr const char* kUnit = "TWIN_UNIT_TYPE";

// file:line of a place in the preprocessor's output, by the mark (# 12 "file") above it.
std::string place(const std::string& s, std::size_t at) {
  for (int lines = 0;; ++lines) {
    const std::size_t end = at == 0 ? std::string::npos : s.rfind('\n', at - 1);
    const std::size_t begin = end == std::string::npos ? 0 : end + 1;
    if (lines > 0 && s.compare(begin, 2, "# ") == 0 && std::isdigit(static_cast<unsigned char>(s[begin + 2]))) {
      const std::size_t open = s.find('"', begin), close = s.find('"', open + 1);
      return s.substr(open + 1, close - open - 1) + ":" + std::to_string(std::atoi(s.c_str() + begin + 2) + lines - 1);
    }
    if (begin == 0) return "line " + std::to_string(lines + 1);
    at = end;
  }
}

// KERNEL_TASK_TYPE_DEFAULT(type) or KERNEL_TASK_TYPE(key, type), whatever the arguments are.
struct Call {
  bool is_default = false;
  std::string key, type, at;
};
Call call(const Words& words, const std::vector<std::size_t>& code, std::size_t i) {
  Call c;
  c.is_default = words.is(code[i], kDefault);
  c.at = place(words.source(), words.tokens()[code[i]].begin);
  int depth = 0;
  for (++i; i < code.size(); ++i) {
    const bool opens = words.is(code[i], "("), closes = words.is(code[i], ")");
    if (closes && --depth == 0) break;
    if (depth == 1 && words.is(code[i], ",") && !c.is_default) {
      c.key += (c.key.empty() ? "" : ", ") + c.type;
      c.type.clear();
    } else if (depth > 0) {
      c.type += (c.type.empty() ? "" : " ") + words.text(code[i]);
    }
    depth += opens;
  }
  return c;
}

bool calls(const Words& words, const std::vector<std::size_t>& code, std::size_t i) {
  return (words.is(code[i], kDefault) || words.is(code[i], "KERNEL_TASK_TYPE")) && i + 1 < code.size() &&
         words.is(code[i + 1], "(");
}

std::string in_engine(const std::string& type) { return type == kUnit ? type : engine_type(type, false, true); }

std::string no_type(const std::string& type) {
  return "'" + type +
         "' is no kernel type of this device: KERNEL_TYPE_AIV_ONLY, AIC_ONLY, MIX_AIV_1_0, MIX_AIC_1_0, MIX_AIC_1_1 and "
         "MIX_AIC_1_2 are";
}

}  // namespace

void TypeReader::fail(const std::string& why) {
  if (error_.empty()) error_ = why;
}

void TypeReader::say(ByKey* types, const std::string& key, const Said& said, const std::string& kernel) {
  if (!is_kernel_type(said.type)) return fail(said.at + ": kernel " + kernel + ": " + no_type(said.type));
  const auto [at, fresh] = types->try_emplace(key, said);
  if (!fresh && at->second.type != said.type)
    fail(said.at + ": kernel " + kernel + (key.empty() ? "" : " with tiling key " + key) + " is of type " + said.type +
         " here and of type " + at->second.type + " at " + at->second.at + ": a launch must know one for all its cores");
}

TypeReader::ByKey TypeReader::body(const Words& words, const std::vector<std::size_t>& code, std::size_t close,
                                   const std::string& kernel) {
  std::size_t open = close;
  for (int depth = 0;; --open) {
    if (words.is(code[open], "}")) ++depth;
    if ((words.is(code[open], "{") && --depth == 0) || open == 0) break;
  }
  ByKey types;
  for (std::size_t i = open; i < close; ++i) {
    if (!calls(words, code, i)) continue;
    const Call c = call(words, code, i);
    say(&types, c.key, {c.type, c.at}, kernel);
  }
  return types;
}

void TypeReader::read(const std::string& preprocessed) {
  const Words words(preprocessed);
  std::vector<std::size_t> code;
  for (std::size_t i = 0; i < words.tokens().size(); ++i) {
    if (!words.tokens()[i].directive) code.push_back(i);
  }
  std::map<std::string, ByKey> of_pass;
  std::vector<Call> unknown;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (calls(words, code, i)) {
      const Call c = call(words, code, i);
      if (c.is_default) defaults_.insert(c.type);
      if (!is_kernel_type(c.type)) unknown.push_back(c);
    }
    if (i == 0 || i + 4 >= code.size() || !words.is(code[i], "twin_types_of")) continue;
    const std::string kernel = words.text(code[i + 2]);
    ByKey types = body(words, code, i - 1, kernel);
    const auto [same, fresh] = of_pass.try_emplace(kernel, types);
    const auto equal = [](const auto& a, const auto& b) { return a.first == b.first && a.second.type == b.second.type; };
    if (!fresh && !std::equal(types.begin(), types.end(), same->second.begin(), same->second.end(), equal))
      fail(place(preprocessed, words.tokens()[code[i]].begin) + ": two kernels named " + kernel +
           " have different types, and a macro or #if gives them: write KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_...) in each");
    Types& all = kernels_[kernel];
    all.otherwise = words.text(code[i + 4]);
    for (const auto& [key, said] : types) say(&all.by_key, key, said, kernel);
  }
  if (!unknown.empty()) fail(unknown[0].at + ": " + no_type(unknown[0].type));  // outside of a kernel
}

std::map<std::string, std::string> TypeReader::registrations() const {
  std::map<std::string, std::string> out;
  for (const auto& [kernel, types] : kernels_) {
    std::string& text = out[kernel];
    const auto add = [&text, &name = kernel](const std::string& type, const std::string& key) {
      text += (text.empty() ? "" : " ") + ("TWIN_KERNEL_TYPE(" + name) + ", " + type + ", " + key + ")";
    };
    for (const auto& [key, said] : types.by_key) {
      if (!key.empty()) add(in_engine(said.type), key);
    }
    const auto all = types.by_key.find("");
    if (all != types.by_key.end()) {
      add(in_engine(all->second.type), "-1");
    } else if (types.by_key.empty() || types.otherwise != kUnit) {
      add(types.otherwise, "-1");
    }
  }
  return out;
}

bool TypeReader::mix() const {
  for (const auto& [kernel, types] : kernels_) {
    for (const auto& [key, said] : types.by_key) {
      if (in_engine(said.type).compare(0, 6, "MixAic") == 0) return true;
    }
  }
  return false;
}

std::set<std::string> typing_macros(const std::map<std::string, std::set<std::string>>& macros) {
  std::set<std::string> out;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [name, words] : macros) {
      const bool gives = std::any_of(words.begin(), words.end(), [&out](const std::string& w) {
        return w == "KERNEL_TASK_TYPE_DEFAULT" || w == "KERNEL_TASK_TYPE" || out.count(w) != 0;
      });
      more |= gives && out.insert(name).second;
    }
  }
  return out;
}

}  // namespace twincc
