// SPDX-License-Identifier: Apache-2.0
#include "bench/render.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace tessera::bench {
namespace {

std::string number(double x, const char* format = "%.6g") {
  char text[64];
  std::snprintf(text, sizeof text, format, x);
  return text;
}

std::string seconds(double s) {
  if (s < 1e-3) return number(s * 1e6, "%.3g us");
  return s < 1 ? number(s * 1e3, "%.3g ms") : number(s, "%.3g s");
}

std::string bytes(std::int64_t n) {
  const auto x = static_cast<double>(n);
  if (x >= 1 << 20) return number(x / (1 << 20), "%.1f MiB");
  return x >= 1 << 10 ? number(x / (1 << 10), "%.1f KiB") : number(x, "%.0f B");
}

struct Field {
  const char* name;
  std::string value;
  bool is_text;
};

/// Every field, in the order of the documentation.
std::vector<Field> fields(const Row& row) {
  return {{"problem", row.problem, true},
          {"backend", row.backend, true},
          {"impl", row.impl, true},
          {"threads", std::to_string(row.threads), false},
          {"modelled", row.modelled ? "true" : "false", false},
          {"repeats", std::to_string(row.repeats), false},
          {"median_s", number(row.median_s), false},
          {"spread_s", number(row.spread_s), false},
          {"flops", number(row.flops, "%.17g"), false},
          {"bytes", number(row.bytes, "%.17g"), false},
          {"flops_per_s", number(row.flops_per_s), false},
          {"bytes_per_s", number(row.bytes_per_s), false},
          {"compute_peak", number(row.compute_peak), false},
          {"memory_peak", number(row.memory_peak), false},
          {"roof", row.roof, true},
          {"roof_fraction", number(row.roof_fraction, "%.4f"), false},
          {"workspace_bytes", std::to_string(row.workspace_bytes), false},
          {"peak_extra_bytes", std::to_string(row.peak_extra_bytes), false}};
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string json_line(const Row& row) {
  std::string out = "{";
  for (const Field& field : fields(row)) {
    if (out.size() > 1) out += ", ";
    out += quoted(field.name) + ": " + (field.is_text ? quoted(field.value) : field.value);
  }
  return out + "}\n";
}

std::string csv(std::span<const Row> rows) {
  std::string out;
  for (const Field& field : fields(Row{})) out += std::string(out.empty() ? "" : ",") + field.name;
  out += '\n';
  for (const Row& row : rows) {
    std::string line;
    for (const Field& field : fields(row))
      line += std::string(line.empty() ? "" : ",") + (field.is_text ? quoted(field.value) : field.value);
    out += line + '\n';
  }
  return out;
}

using Line = std::vector<std::string>;

std::vector<Line> readable(std::span<const Row> rows) {
  std::vector<Line> lines = {
      {"problem", "impl", "threads", "median", "spread", "GFLOP/s", "GB/s", "roof", "of roof", "workspace", "extra memory"}};
  for (const Row& row : rows) {
    const double spread = row.median_s > 0 ? 100 * row.spread_s / row.median_s : 0;
    lines.push_back({row.problem, row.impl + (row.modelled ? " (modelled)" : ""), std::to_string(row.threads),
                     seconds(row.median_s), number(spread, "%.1f %%"), number(row.flops_per_s / 1e9, "%.1f"),
                     number(row.bytes_per_s / 1e9, "%.1f"), row.roof, number(100 * row.roof_fraction, "%.1f %%"),
                     bytes(row.workspace_bytes), bytes(row.peak_extra_bytes)});
  }
  return lines;
}

constexpr std::size_t kTextColumns = 2;  // the rest is aligned right, but for "roof", which reads well either way

std::string table(const std::vector<Line>& lines, bool markdown) {
  std::vector<std::size_t> width(lines[0].size(), 0);
  for (const Line& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) width[c] = std::max(width[c], line[c].size());
  }
  std::string out;
  for (std::size_t row = 0; row < lines.size(); ++row) {
    std::string text = markdown ? "|" : "";
    for (std::size_t c = 0; c < width.size(); ++c) {
      const std::string padding(width[c] - lines[row][c].size(), ' ');
      if (markdown) text += ' ';
      text += c < kTextColumns ? lines[row][c] + padding : padding + lines[row][c];
      text += markdown ? " |" : "  ";
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + '\n';
    if (markdown && row == 0) {
      out += '|';
      for (std::size_t c = 0; c < width.size(); ++c) out += c < kTextColumns ? "---|" : "--:|";
      out += '\n';
    }
  }
  return out;
}

}  // namespace

std::optional<Format> parse_format(std::string_view name) {
  if (name == "table") return Format::table;
  if (name == "md") return Format::markdown;
  if (name == "csv") return Format::csv;
  if (name == "json") return Format::json;
  return std::nullopt;
}

std::string render(std::span<const Row> rows, Format format) {
  if (format == Format::csv) return csv(rows);
  if (format == Format::json) {
    std::string out;
    for (const Row& row : rows) out += json_line(row);
    return out;
  }
  return table(readable(rows), format == Format::markdown);
}

}  // namespace tessera::bench
