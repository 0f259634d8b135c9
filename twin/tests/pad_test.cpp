// SPDX-License-Identifier: Apache-2.0
// Pad and UnPad in every type, and what they refuse.
#include "kernels.hpp"
#include "support.hpp"
#include "tiling/tiling_api.h"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

constexpr int kRows = 16;
struct Case {
  std::uint32_t width, used;
  std::uint16_t left, right;
};
template <class T>
void pad_kernel(GM_ADDR in, GM_ADDR out, Case c, bool work) {
  constexpr int kBlock = 32 / sizeof(T);
  const int n = kRows * static_cast<int>(c.width),
            wide = kRows * ((static_cast<int>(c.width) + kBlock - 1) / kBlock * kBlock);
  const auto a = ub<T>(0, n), d = ub<T>(32768, wide);
  DataCopy(a, gm<T>(in, n), n);
  order<HardEvent::MTE2_V>();
  PadTiling tiling;
  PadTilingFunc(ge::Shape({kRows, c.width}), ge::Shape({kRows, c.used}), 8192, sizeof(T), tiling);
  const PadParams p{c.left, c.right, -7};
  if (work) {
    Pad(d, a, p, ub<std::uint8_t>(65536, 8192), tiling);
  } else {
    Pad(d, a, p, tiling);
  }
  order<HardEvent::V_MTE3>();
  DataCopy(gm<T>(out, wide), d, wide);
}
template <class T>
void unpad_kernel(GM_ADDR in, GM_ADDR out, Case c, bool work) {
  const int n = kRows * static_cast<int>(c.width), left = kRows * (static_cast<int>(c.width) - c.right);
  const auto a = ub<T>(0, n), d = ub<T>(32768, left);
  DataCopy(a, gm<T>(in, n), n);
  order<HardEvent::MTE2_V>();
  UnPadTiling tiling;
  UnPadTilingFunc(ge::Shape({kRows, c.width}), 8192, sizeof(T), tiling);
  UnPadParams p{c.left, c.right};
  LocalTensor<std::uint8_t> tmp = ub<std::uint8_t>(65536, 8192);
  if (work) {
    UnPad(d, a, p, tmp, tiling);
  } else {
    UnPad(d, a, p, tiling);
  }
  order<HardEvent::V_MTE3>();
  DataCopy(gm<T>(out, left), d, left);
}
template <class T>
std::vector<T> ramp(int n) {
  std::vector<T> v(n);
  for (int k = 0; k < n; ++k) v[k] = T(k % 900 + 1);
  return v;
}
template <class T>
void check() {
  constexpr int kBlock = 32 / sizeof(T);
  const Case cases[] = {
      {2 * kBlock - 1, 2 * kBlock - 1, 0, 1}, {kBlock + 3, kBlock + 3, 2, kBlock - 5}, {3 * kBlock, 3 * kBlock - 2, 0, 2}};
  for (const Case& c : cases) {
    const auto in = ramp<T>(kRows * static_cast<int>(c.width));
    const int filled = (static_cast<int>(c.width) + kBlock - 1) / kBlock * kBlock;
    twin_test::Device<T> x(in), y(kRows * filled);
    for (const bool work : {true, false}) {
      RUN(pad_kernel<T>, 1)(x, y, c, work);
      EXPECT_SILENT();
      const auto out = y.values();
      for (int k = 0; k < kRows * filled; ++k) {
        const int column = k % filled - c.left;
        const bool inside = column >= 0 && column < static_cast<int>(c.used);
        ASSERT_EQ(float(out[k]), float(inside ? in[k / filled * c.width + column] : T(-7))) << c.width << " " << k;
      }
    }
  }
  const Case cut = {2 * kBlock, 0, 0, 3};
  const auto in = ramp<T>(kRows * 2 * kBlock);
  twin_test::Device<T> x(in), y(kRows * (2 * kBlock - 3));
  for (const bool work : {true, false}) {
    RUN(unpad_kernel<T>, 1)(x, y, cut, work);
    EXPECT_SILENT();
    const auto out = y.values();
    for (std::size_t k = 0; k < out.size(); ++k)
      ASSERT_EQ(float(out[k]), float(in[k / (2 * kBlock - 3) * 2 * kBlock + k % (2 * kBlock - 3)])) << k;
  }
}
TEST(Pad, FillsRowsToBlocksAndUnPadTakesThemBack) {
  check<half>();
  check<float>();
  check<std::int16_t>();
  check<std::uint16_t>();
  check<std::int32_t>();
  check<std::uint32_t>();
}
TEST(Pad, HostCodeLearnsHowLargeTemporariesMayBe) {
  std::uint32_t most = 0, least = 0;
  GetPadMaxMinTmpSize(ge::Shape({16, 60}), 2, most, least);
  EXPECT_GE(least, 60u * 16);
  EXPECT_GT(most, least);
  GetUnPadMaxMinTmpSize(platform_ascendc::PlatformAscendC(), ge::Shape({16, 64}), 2, most, least);
  EXPECT_GE(least, 64u * 16);
  EXPECT_GT(most, least);
}
TEST(Pad, LeavesWhatItDoesNotPadUndefined) {
  twin_test::Device<half> x(ramp<half>(kRows * 12)), y(kRows * 16);
  RUN(pad_kernel<half>, 1)(x, y, Case{12, 12, 1, 1}, false);
  EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::Uninitialised), nullptr);
}
TEST(Pad, NamesWhatDoesNotFit) {
  const struct {
    bool cut;
    Case c;
    const char* what;
  } cases[] = {{false, {16, 16, 0, 1}, "which fill blocks of 32 bytes already"},
               {false, {16, 12, 1, 2}, "leftPad 1"},
               {false, {12, 10, 0, 2}, "srcOriWidth 10, srcWidth 12"},
               {false, {12, 12, 3, 2}, "3 + 12 + 2 columns, more than the 16"},
               {false, {12, 0, 0, 2}, "0 of them used"},
               {true, {12, 0, 0, 2}, "rows of 12 columns: they do not fill blocks"},
               {true, {32, 0, 0, 16}, "rightPad 16"},
               {true, {32, 0, 0, 0}, "rightPad 0"},
               {true, {32, 0, 1, 2}, "leftPad 1"}};
  twin_test::Device<half> x(ramp<half>(kRows * 32)), y(kRows * 32);
  for (const auto& each : cases) {
    if (each.cut) {
      RUN(unpad_kernel<half>, 1)(x, y, each.c, true);
    } else {
      RUN(pad_kernel<half>, 1)(x, y, each.c, true);
    }
    twin_test::expect_found(twin::Kind::Limit, each.what);
  }
}

}  // namespace
