// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, and tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::cli {

std::string seconds_text(double seconds);                    // "1.23 ms"
std::string bytes_text(double bytes);                        // "1.5 MiB"
std::string rate_text(double per_second, const char* unit);  // "123.4 GFLOP/s"
std::string number_text(double x);                           // six digits; NaN of any sign is "nan"
std::string list_text(const std::vector<double>& values);    // "0.5, nan, 3"

/// Columns padded to their widest cell; the first row is the head. Numbers in `right` columns are right-aligned.
std::string table_text(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right);

}  // namespace tessera::cli
