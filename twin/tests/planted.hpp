// SPDX-License-Identifier: Apache-2.0
// What tests of planted bugs share. Reports are compared with the lines that the kernels are written on: WRONG and OTHER
// stand on them.
#pragma once

#include "kernels.hpp"
#include "support.hpp"

namespace twin_test {

inline int wrong_line = 0;
inline int other_line = 0;
#define WRONG twin_test::wrong_line = __LINE__;
#define OTHER twin_test::other_line = __LINE__;

inline AscendC::GlobalTensor<float> floats(GM_ADDR address, std::int64_t first, int count) {
  AscendC::GlobalTensor<float> t;
  t.SetGlobalBuffer((__gm__ float*)address + first, count);
  return t;
}

// The one finding of the run, with the lines that the kernel noted.
inline void expect_one(twin::Kind kind, bool two_lines, const std::string& part, const char* core) {
  const auto found = twin::take_findings();
  ASSERT_EQ(found.size(), 1u) << text(found);
  EXPECT_EQ(found[0].kind, kind);
  EXPECT_TRUE(ends_with(found[0].line_a, at(wrong_line))) << found[0].line_a << ", not " << wrong_line;
  if (two_lines) {
    EXPECT_TRUE(ends_with(found[0].line_b, at(other_line))) << found[0].line_b << ", not " << other_line;
  }
  EXPECT_NE(found[0].what.find(part), std::string::npos) << found[0].what;
  EXPECT_EQ(found[0].core, core);
  EXPECT_FALSE(found[0].fix.empty());
}

}  // namespace twin_test
