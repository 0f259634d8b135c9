// SPDX-License-Identifier: Apache-2.0
#include "bug_pairs.hpp"

namespace twin_test {

TEST_P(Bug, IsReportedOnceWithItsLines) {
  twin::take_findings();
  GetParam().planted(x_, y_);
  const auto found = twin::take_findings();
  const twin::Finding* f = find(found, GetParam().kind);
  ASSERT_NE(f, nullptr) << "nothing of this kind in: " << text(found);
  // A copy shorter than a block is two: it moves more than it says, and so into another core's block.
  const std::size_t reports = GetParam().name == std::string("statistics_of_8_bytes") ? 2 : 1;
  EXPECT_EQ(found.size(), reports) << text(found);
  EXPECT_TRUE(ends_with(f->line_a, at(wrong_line))) << f->line_a << ", expected line " << wrong_line;
  if (GetParam().two_lines) {
    EXPECT_TRUE(ends_with(f->line_b, at(other_line))) << f->line_b << ", expected line " << other_line;
  }
  EXPECT_FALSE(f->fix.empty());
  EXPECT_FALSE(f->core.empty());
}

TEST_P(Bug, SisterRunsSilently) {
  twin::take_findings();
  GetParam().repaired(x_, y_);
  EXPECT_SILENT();
}

}  // namespace twin_test
