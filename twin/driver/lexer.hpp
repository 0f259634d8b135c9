// SPDX-License-Identifier: Apache-2.0
// Words, literals and single signs of a C++ source; comments and blanks are left out. Raw strings, digit separators and line
// splices are understood. Any text is legal input.
#pragma once

#include <string>
#include <vector>

namespace twincc {

bool identifier_char(char c);

struct Token {
  std::size_t begin, end;
  enum Kind { Word, Text, Sign } kind;
  bool directive = false;  // inside a preprocessor line
};

std::vector<Token> lex(const std::string& source);

}  // namespace twincc
