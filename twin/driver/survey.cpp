// SPDX-License-Identifier: Apache-2.0
#include "survey.hpp"

#include <algorithm>

#include "literals.hpp"

namespace twincc {
namespace {

void include(const Words& words, std::size_t i, Source* out) {
  const std::vector<Token>& tokens = words.tokens();
  const std::string& source = words.source();
  if (i >= tokens.size()) return;
  if (tokens[i].kind == Token::Text) {
    const std::string quoted = words.text(i);
    if (quoted.size() > 2) out->includes.push_back({quoted.substr(1, quoted.size() - 2), true});
  } else if (words.is(i, "<")) {
    const std::size_t close = source.find_first_of(">\n", tokens[i].end);
    if (close == std::string::npos || source[close] != '>') return;
    out->includes.push_back({source.substr(tokens[i].end, close - tokens[i].end), false});
  }
}

void macro(const Words& words, std::size_t i, Source* out) {
  const std::vector<Token>& tokens = words.tokens();
  std::set<std::string>& of = out->macros[words.text(i)];
  for (; i + 1 < tokens.size() && tokens[i + 1].directive && words.same_directive(i); ++i) {
    if (tokens[i + 1].kind == Token::Word) of.insert(words.text(i + 1));
  }
}

}  // namespace

void survey(const Words& words, Source* out) {
  const std::vector<Token>& tokens = words.tokens();
  out->literals = literals_of(words);
  int task_types = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Sign) {
      if (words.is(i, "#") && words.is(i + 1, "include")) include(words, i + 2, out);
      if (words.is(i, "#") && words.is(i + 1, "define") && i + 2 < tokens.size()) macro(words, i + 2, out);
      continue;
    }
    if (tokens[i].kind != Token::Word) continue;
    const std::string word = words.text(i);
    const auto any = [&](std::initializer_list<const char*> list) {
      return std::find(list.begin(), list.end(), word) != list.end();
    };
    out->names_core_kind |=
        any({"ASCEND_IS_AIC", "ASCEND_IS_AIV", "ASCEND_IS_NOT_AIC", "ASCEND_IS_NOT_AIV", "g_coreType", "__DAV_C220_CUBE__",
             "__DAV_C220_VEC__", "KERNEL_TYPE_MIX_AIC_1_1", "KERNEL_TYPE_MIX_AIC_1_2"});
    out->uses_cube |= any({"Mmad", "Fixpipe", "LoadData", "LoadDataWithTranspose"});
    out->uses_matmul |= word == "REGIST_MATMUL_OBJ" && !words.is(i - 1, "define");
    out->meets_all |= word == "SyncAll";
    out->takes_tiling |= word.compare(0, 15, "GET_TILING_DATA") == 0 && !words.is(i - 1, "define");
    out->cube_only |= word == "ASCENDC_CUBE_ONLY" && words.is(i - 1, "define");
    out->uses_vector |= any({"VECIN", "VECOUT", "VECCALC"});
    if (word == "KERNEL_TASK_TYPE_DEFAULT" && words.is(i + 1, "(") && !words.is(i - 1, "define")) {
      const std::string type = words.text(i + 2);
      out->type = task_types++ == 0 || out->type == type ? type : "";
    }
    if (word == "main" && words.is(i + 1, "(")) out->has_main = true;
  }
  if (!out->names_core_kind) {
    for (std::size_t i = 0; i + 3 < tokens.size(); ++i)
      out->names_core_kind |=
          words.is(i, "__mix__") && words.is(i + 1, "(") && !words.is(i + 2, "0") && !words.is(i + 4, "0");
  }
}

}  // namespace twincc
