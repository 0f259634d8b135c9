// SPDX-License-Identifier: Apache-2.0
// Rows of measurements as text: for a terminal, for a document, for a spreadsheet, for a program.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bench/measure.hpp"

namespace tessera::bench {

enum class Format { table, markdown, csv, json };

/// "table", "md", "csv" or "json".
std::optional<Format> parse_format(std::string_view name);

/// json: one object a line, every field of Row. csv: the same fields, with a header. table and md: the readable ones.
std::string render(std::span<const Row> rows, Format format);

}  // namespace tessera::bench
