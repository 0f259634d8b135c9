// SPDX-License-Identifier: Apache-2.0
#include "calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "twin/report.hpp"

TEST(Calibration, EveryFigureIsWithinTenPercent) {
  for (const auto& row : twin_calibration::run(false)) {
    EXPECT_LE(std::fabs(row.error()), 0.10)
        << row.what << ": published " << row.published << " " << row.unit << ", modelled " << row.modelled;
  }
  // The loops that were measured copy again and again to one place, without a barrier: that, and only that, is found.
  for (const auto& f : twin::take_findings()) EXPECT_EQ(f.kind, twin::Kind::WriteAfterWrite) << to_text(f);
}
