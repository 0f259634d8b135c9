// SPDX-License-Identifier: Apache-2.0
// Kernels in a source: their names, parameters and types, and what stands behind their bodies afterwards.
#include <algorithm>

#include "rewriter.hpp"

namespace twincc {

void Rewriter::kernel(std::size_t global) {
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
void Rewriter::types(Kernel& k, std::size_t from, std::size_t end) {
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
int Rewriter::condition(std::size_t i) const {
  if (!is(i, "#") || !tokens_[i].directive) return 0;
  return is(i + 1, "if") || is(i + 1, "ifdef") || is(i + 1, "ifndef") ? 1 : is(i + 1, "endif") ? -1 : 0;
}

// KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_X) or KERNEL_TASK_TYPE(key, KERNEL_TYPE_X) word for word.
bool Rewriter::plain_type(std::size_t i) const {
  const std::size_t at = i + (is(i, "KERNEL_TASK_TYPE") ? 4 : 2);
  return is_kernel_type(text(at)) && is(at + 1, ")") && (at == i + 2 || is(i + 3, ","));
}

// A type that a function gives which is no kernel counts for kernels without one, if there are such.
void Rewriter::types_outside() {
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

void Rewriter::parameters(Kernel& k, std::size_t from, std::size_t end) {
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

// What stands behind a kernel's body, on the line of its closing brace.
std::string Rewriter::registration(const Kernel& k) const {
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

std::string Rewriter::launch_function(const Kernel& k) {
  if (k.is_template) return "";
  const HostParameters p = host_parameters(k);
  const std::string function = is_c_name(k.name) ? kRenamed + k.name : k.name;
  return " TWIN_KERNEL(" + k.name + ", " + function + ", (std::uint32_t twin_blocks, void* twin_stream" + p.declared +
         "), (" + p.names + "))";
}

}  // namespace twincc
