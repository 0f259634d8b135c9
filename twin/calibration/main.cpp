// SPDX-License-Identifier: Apache-2.0
// twin_calibrate [--write|--check PAGE]: prints the table of published and modelled figures, or puts it into the page
// (docs/twin_timing.md), or compares it with the one there. Fails if a figure is off by more than 10 %, or the page is old.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "calibration.hpp"
#include "twin/report.hpp"

namespace {

constexpr const char* kTableBegins = "| what | unit | published |";

std::string read(const char* path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The page with this table in place of the one it has: all lines that begin with '|', from the table's head on.
std::string with_table(const std::string& page, const std::string& table) {
  const auto begin = page.find(kTableBegins);
  if (begin == std::string::npos) return "";
  auto end = begin;
  while (end < page.size() && page[end] == '|') end = page.find('\n', end) + 1;
  return page.substr(0, begin) + table + page.substr(end);
}

}  // namespace

int main(int argc, char** argv) {
  const bool write = argc == 3 && std::strcmp(argv[1], "--write") == 0;
  const bool check = argc == 3 && std::strcmp(argv[1], "--check") == 0;
  if (argc != 1 && !write && !check) {
    std::fprintf(stderr, "usage: twin_calibrate [--write|--check PAGE]\n");
    return 2;
  }
  const auto rows = twin_calibration::run(true);
  const std::string table = twin_calibration::to_markdown(rows);
  twin::take_findings();  // the measured loops copy again and again to one place
  int status = 0;
  for (const auto& row : rows) {
    if (std::fabs(row.error()) <= 0.10) continue;
    std::fprintf(stderr, "twin_calibrate: %s is off by %+.1f %%\n", row.what.c_str(), 100 * row.error());
    status = 1;
  }
  if (argc == 1) {
    std::fputs(table.c_str(), stdout);
    return status;
  }
  const std::string before = read(argv[2]), after = with_table(before, table);
  if (after.empty()) {
    std::fprintf(stderr, "twin_calibrate: no table in %s\n", argv[2]);
    return 2;
  }
  if (check && before != after) {
    std::fprintf(stderr, "twin_calibrate: the table in %s is old; twin_calibrate --write renews it\n", argv[2]);
    return 1;
  }
  if (write && !(std::ofstream(argv[2]) << after).flush()) {
    std::fprintf(stderr, "twin_calibrate: cannot write %s\n", argv[2]);
    return 2;
  }
  return status;
}
