// SPDX-License-Identifier: Apache-2.0
// twin_calibrate: prints the table of published and modelled figures (docs/twin_timing.md has it).
// Fails if one of them is off by more than 10 %.
#include <cmath>
#include <cstdio>

#include "calibration.hpp"
#include "twin/report.hpp"

int main() {
  const auto rows = twin_calibration::run(true);
  std::fputs(twin_calibration::to_markdown(rows).c_str(), stdout);
  twin::take_findings();  // the measured loops copy again and again to one place
  int off = 0;
  for (const auto& row : rows) off += std::fabs(row.error()) > 0.10;
  return off == 0 ? 0 : 1;
}
