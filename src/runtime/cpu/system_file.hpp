// SPDX-License-Identifier: Apache-2.0
// Small text files by which the system tells about itself.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

namespace tessera::runtime {

using SystemFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

inline SystemFile open_system_file(const std::string& path) { return {std::fopen(path.c_str(), "re"), std::fclose}; }

/// The next line, without blanks and the newline at its end; false where there is none.
inline bool next_line(const SystemFile& file, std::string& text) {
  char line[4096];
  if (!file || !std::fgets(line, sizeof line, file.get())) return false;
  text = line;
  text.resize(text.find_last_not_of(" \n") + 1);
  return true;
}

/// The first line of a file, or "".
inline std::string first_line(const std::string& path) {
  std::string text;
  return next_line(open_system_file(path), text) ? text : "";
}

}  // namespace tessera::runtime
