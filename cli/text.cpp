// SPDX-License-Identifier: Apache-2.0
#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::cli {
namespace {

// Four digits that mean something.
std::string four_digits(double x) { return fmt::format("{:.{}f}", x, x < 10 ? 3 : x < 100 ? 2 : 1); }

std::size_t width_of(const std::string& text) {  // in characters: UTF-8 continuation bytes take no column
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return four_digits(seconds * 1e6) + " µs";
  return seconds < 1 ? four_digits(seconds * 1e3) + " ms" : four_digits(seconds) + " s";
}

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{} {}", four_digits(bytes), kUnits[unit]);
}

std::string rate_text(double per_second, const char* unit) {
  static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  for (; per_second >= 1000 && prefix < 5; ++prefix) per_second /= 1000;
  return fmt::format("{} {}{}", four_digits(per_second), kPrefixes[prefix], unit);
}

std::string number_text(double x) { return std::isnan(x) ? "nan" : fmt::format("{:.6g}", x); }

std::string list_text(const std::vector<double>& values) {
  std::string text;
  for (const double x : values) text += (text.empty() ? "" : ", ") + number_text(x);
  return text;
}

std::string table_text(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right) {
  std::vector<std::size_t> widths(right.size(), 0);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string pad(widths[c] - width_of(row[c]), ' ');
      line += right[c] ? pad + row[c] : row[c] + pad;
      if (c + 1 < row.size()) line += "  ";
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace tessera::cli
