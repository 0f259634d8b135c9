// SPDX-License-Identifier: Apache-2.0
// Small text helpers of the reports.
#pragma once

#include <string>

namespace twin {

std::string json_string(const std::string& s);    // in quotes, escaped
std::string short_line(const std::string& line);  // "/a/b/softmax.h:112" as "softmax.h:112"

}  // namespace twin
