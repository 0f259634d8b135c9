// SPDX-License-Identifier: Apache-2.0
#include "calibration.hpp"

#include <cstdio>

#include "micro.hpp"

namespace twin_calibration {

std::vector<Row> run(bool streaming) {
  const bool before = twin::settings().timing_only;
  twin::settings().timing_only = true;
  std::vector<Row> rows;
  moves(&rows);
  vector_costs(&rows);
  cube_costs(&rows);
  all_cores(&rows);
  if (streaming) streaming_adds(&rows);
  twin::settings().timing_only = before;
  return rows;
}

std::string to_markdown(const std::vector<Row>& rows) {
  constexpr const char* kNames[] = {"table", "fit", "prediction"};
  std::string out = "| what | unit | published | modelled | error | basis |\n|---|---|---|---|---|---|\n";
  for (const Row& r : rows) {
    char line[256];
    std::snprintf(line, sizeof line, "| %s | %s | %g | %.4g | %+.1f %% | %s |\n", r.what.c_str(), r.unit.c_str(),
                  r.published, r.modelled, 100 * r.error(), kNames[r.basis]);
    out += line;
  }
  return out;
}

}  // namespace twin_calibration
