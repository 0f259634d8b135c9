// SPDX-License-Identifier: Apache-2.0
// A kernel's type in the engine's words, and its parameters as host code has them.
#include <algorithm>
#include <iterator>
#include <set>

#include "lexer.hpp"
#include "rewrite.hpp"

namespace twincc {

namespace {
constexpr std::pair<const char*, const char*> kTypes[] = {
    {"KERNEL_TYPE_AIV_ONLY", "AivOnly"},     {"KERNEL_TYPE_AIC_ONLY", "AicOnly"},
    {"KERNEL_TYPE_MIX_AIV_1_0", "MixAiv10"}, {"KERNEL_TYPE_MIX_AIC_1_0", "MixAic10"},
    {"KERNEL_TYPE_MIX_AIC_1_1", "MixAic11"}, {"KERNEL_TYPE_MIX_AIC_1_2", "MixAic12"}};
}

bool is_kernel_type(const std::string& word) {
  return std::any_of(std::begin(kTypes), std::end(kTypes), [&](const auto& type) { return word == type.first; });
}

std::string engine_type(const std::string& type, bool uses_cube, bool uses_vector) {
  for (const auto& [written, engine] : kTypes) {
    if (type == written) return engine;
  }
  return uses_cube ? (uses_vector ? "MixAic12" : "AicOnly") : "AivOnly";
}

HostParameters host_parameters(const Kernel& kernel) {
  static const std::set<std::string> kNoName = {
      "const",    "volatile", "unsigned", "signed",  "long",    "short",  "int",      "char",      "float", "double",
      "bool",     "struct",   "GM_ADDR",  "__gm__",  "uint8_t", "int8_t", "uint16_t", "half",      "void",  "int16_t",
      "uint32_t", "uint64_t", "int32_t",  "int64_t", "size_t",  "std",    "typename", "bfloat16_t"};
  HostParameters out;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::string parameter = kernel.parameters[i].substr(0, kernel.parameters[i].find('='));
    while (!parameter.empty() && parameter.back() == ' ') parameter.pop_back();
    const std::vector<Token> tokens = lex(parameter);
    if (tokens.empty()) continue;
    const Token& last = tokens.back();
    std::string name = last.kind == Token::Word ? parameter.substr(last.begin, last.end - last.begin) : "";
    // A type alone: one that everybody knows, or the only word there is.
    const auto words = std::count_if(tokens.begin(), tokens.end(), [&](const Token& t) {
      return t.kind == Token::Word && parameter.compare(t.begin, t.end - t.begin, "const") != 0;
    });
    if (name.empty() || kNoName.count(name) || words == 1) {
      name = "twin_argument" + std::to_string(i);
      parameter += " " + name;
    }
    const bool pointer = parameter.find('*') != std::string::npos || parameter.find("GM_ADDR") != std::string::npos;
    out.declared += ", " + (pointer ? "::twin::AnyPointer " + name : parameter);
    out.names += (out.names.empty() ? "" : ", ") + name;
  }
  return out;
}

}  // namespace twincc
