// SPDX-License-Identifier: Apache-2.0
// Micro-kernels that reproduce the published figures of the 910B on the timing model.
#pragma once

#include <string>
#include <vector>

namespace twin_calibration {

// What agreement of a row says. kTable: the figure is itself a number of the device file, and an instruction stream gets it
// back. kFit: a rate of the device file was fitted to it. kPredicted: nothing in the device file was taken from it.
enum Basis { kTable, kFit, kPredicted };
struct Row {
  std::string what, unit;
  double published, modelled;
  Basis basis;
  double error() const { return modelled / published - 1; }
};

// streaming: also the elementwise Add over 8192² halves, which moves 400 MB three times.
std::vector<Row> run(bool streaming);
std::string to_markdown(const std::vector<Row>& rows);

}  // namespace twin_calibration
