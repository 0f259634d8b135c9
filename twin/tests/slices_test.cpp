// SPDX-License-Identifier: Apache-2.0
// DataCopy of slices, and out of Nz in UB.
#include <numeric>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

// A tensor of 4 lines of 48 floats: of each other line, elements 8 to 23 and 32 to 47, into a tile of 2 lines of 32.
void slice_kernel(GM_ADDR in, GM_ADDR out) {
  const auto tile = ub<float>(0, 64);
  const SliceInfo from[] = {{8, 47, 8, 2, 48}, {0, 3, 1, 1, 4}}, to[] = {{0, 31, 0, 2, 32}, {0, 1, 0, 1, 2}};
  DataCopy(tile, gm<float>(in, 192), to, from, 2);
  order<HardEvent::MTE2_MTE3>();
  DataCopy(gm<float>(out, 64), tile, 64);
}
TEST(DataCopy, TakesSlicesOfTwoDimensions) {
  std::vector<float> in(192);
  std::iota(in.begin(), in.end(), 0.0f);
  twin_test::Device<float> x(in), y(64);
  RUN(slice_kernel, 1)(x, y);
  EXPECT_SILENT();
  const auto got = y.values();
  for (int line = 0; line < 2; ++line) {
    for (int k = 0; k < 32; ++k) EXPECT_EQ(got[line * 32 + k], line * 96 + (k < 16 ? 8 + k : 16 + k)) << line << " " << k;
  }
}
void unequal_kernel(GM_ADDR in) {
  const SliceInfo from[] = {{0, 31, 0, 2, 48}}, to[] = {{0, 15, 0, 2, 32}};
  DataCopy(ub<float>(0, 64), gm<float>(in, 192), to, from, 1);
}
TEST(DataCopy, ReportsSlicesThatDoNotMatch) {
  twin_test::Device<float> x(std::vector<float>(192, 1.0f));
  RUN(unequal_kernel, 1)(x);
  EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::Limit), nullptr);
}
void nz_kernel(GM_ADDR in, GM_ADDR out) {
  const auto tile = ub<half>(0, 32 * 48);
  DataCopy(tile, gm<half>(in, 32 * 48), 32 * 48);
  order<HardEvent::MTE2_MTE3>();
  DataCopy(gm<half>(out, 32 * 64), tile, Nz2NdParamsFull(1, 32, 48, 1, 32, 64, 1));
}
TEST(DataCopy, MakesRowsOfFractals) {
  std::vector<half> in(32 * 48);
  for (int k = 0; k < 32 * 48; ++k) in[k] = half(k % 2000);
  twin_test::Device<half> x(in), y(std::vector<half>(32 * 64, half(-1)));
  RUN(nz_kernel, 1)(x, y);
  EXPECT_SILENT();
  const auto got = y.values();
  for (int r = 0; r < 32; ++r) {
    for (int c = 0; c < 64; ++c) EXPECT_EQ(float(got[r * 64 + c]), c < 48 ? float(in[(c / 16 * 32 + r) * 16 + c % 16]) : -1);
  }
}

}  // namespace
