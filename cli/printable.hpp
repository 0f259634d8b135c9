// SPDX-License-Identifier: Apache-2.0
// Text that comes from a file, as a terminal may see it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace tessera::cli {

/// UTF-8 with control characters (C0, DEL, C1), line separators and marks of writing direction as \xNN or \uNNNN, and \ and
/// " as \\ and \". At most `most` bytes of it, then "...".
inline std::string printable(std::string_view name, std::size_t most = std::string_view::npos) {
  const auto byte = [name](std::size_t i) { return i < name.size() ? static_cast<unsigned char>(name[i]) : 0u; };
  std::string text;
  char escape[8];
  for (std::size_t i = 0; i < name.size();) {
    const unsigned c = byte(i);
    const std::size_t length = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (i + length > most) return text + "...";
    const unsigned two = (c & 0x1f) << 6 | (byte(i + 1) & 0x3f);
    const unsigned three = (c & 0xf) << 12 | (byte(i + 1) & 0x3f) << 6 | (byte(i + 2) & 0x3f);
    const bool direction =
        three == 0x200e || three == 0x200f || (three >= 0x2028 && three <= 0x202e) || (three >= 0x2066 && three <= 0x2069);
    if (c < 0x20 || c == 0x7f) {
      std::snprintf(escape, sizeof escape, "\\x%02x", c);
      text += escape;
    } else if ((length == 2 && two < 0xa0) || (length == 3 && direction)) {
      std::snprintf(escape, sizeof escape, "\\u%04x", length == 2 ? two : three);
      text += escape;
    } else {
      if (c == '\\' || c == '"') text += '\\';
      text += name.substr(i, length);
    }
    i += length;
  }
  return text;
}

}  // namespace tessera::cli
