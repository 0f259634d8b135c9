// SPDX-License-Identifier: Apache-2.0
// SetAippFunctions and LoadImageToLocal against a plain model of one pixel at a time, for every format and mode.
#include <random>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;

namespace {

constexpr int kWidth = 22, kHeight = 10;  // of the source

template <class T>
struct Case {
  AippInputFormat format;
  AippParams<T> how;
  LoadImageToLocalParams window{8, 4, 4, 2, kWidth, 0, 0, 0, 0};
  int channels() const { return format == AippInputFormat::YUV400_U8 ? 1 : format == AippInputFormat::XRGB8888_U8 ? 4 : 3; }
  int rows() const { return how.singleLineParams.isSingleLineCopy ? 1 : window.vertSize; }
  int out_rows() const { return rows() + window.topPadSize + window.botPadSize; }
  int out_columns() const { return window.horizSize + window.leftPadSize + window.rightPadSize; }
  int out_channels() const { return how.cPaddingParams.cPaddingMode == 1 ? 4 : 32 / static_cast<int>(sizeof(T)); }
  int count() const { return out_rows() * out_columns() * out_channels(); }
};

template <class T>
void load_kernel(GM_ADDR image, GM_ADDR chroma, GM_ADDR out, Case<T> c) {
  LocalTensor<T> l1(TPosition::A1, 0, c.count());
  GlobalTensor<std::uint8_t> first = gm<std::uint8_t>(image, kWidth * kHeight * 4);
  if (c.format == AippInputFormat::YUV420SP_U8)
    SetAippFunctions(first, gm<std::uint8_t>(chroma, kWidth * kHeight / 2), c.format, c.how);
  else
    SetAippFunctions(first, c.format, c.how);
  LoadImageToLocal(l1, c.window);
  order<HardEvent::MTE2_MTE3>();
  DataCopy(gm<T>(out, c.count()), l1, c.count());
}

template <class T>
std::vector<float> model(const Case<T>& c, const std::vector<std::uint8_t>& image, const std::vector<std::uint8_t>& chroma) {
  std::vector<float> out;
  const AippParams<T>& h = c.how;
  const int left = c.window.leftPadSize, right = c.window.rightPadSize, top = c.window.topPadSize;
  const auto wrap = [&](int k, int before, int size, int after) {
    if (k >= 0 && k < size) return k;
    switch (h.paddingParams.paddingMode) {
      case 1:
        return k < 0 ? 0 : size - 1;
      case 2:
        return k < 0 ? k + before : k - after;
      default:
        return k < 0 ? -k - 1 : 2 * size - 1 - k;
    }
  };
  for (int y = 0; y < c.out_rows(); ++y) {
    for (int x = 0; x < c.out_columns(); ++x) {
      int px = x - left, py = y - top;
      const bool inside = px >= 0 && px < c.window.horizSize && py >= 0 && py < c.rows();
      const bool constant = !inside && h.paddingParams.paddingMode == 0;
      px = wrap(px, left, c.window.horizSize, right) + c.window.horizStartPos;
      py = wrap(py, top, c.rows(), c.window.botPadSize) + c.window.vertStartPos;
      int v[4] = {};
      if (!constant && c.format == AippInputFormat::YUV420SP_U8) {
        v[0] = image[py * kWidth + px];
        v[1] = chroma[py / 2 * kWidth + px / 2 * 2];
        v[2] = chroma[py / 2 * kWidth + px / 2 * 2 + 1];
        if (h.swapParams.isSwapUV) std::swap(v[1], v[2]);
      } else if (!constant) {
        for (int k = 0; k < c.channels(); ++k) v[k] = image[(py * kWidth + px) * c.channels() + k];
      }
      if (c.format == AippInputFormat::XRGB8888_U8) {
        if (h.swapParams.isSwapRB) std::swap(v[1], v[3]);
        if (h.swapParams.isSwapAX) {
          const int first = v[0];
          v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = first;
        }
      } else if (h.swapParams.isSwapRB) {
        std::swap(v[0], v[2]);
      }
      const AippColorSpaceConvParams& s = h.cscParams;
      if (s.isEnableCsc) {
        const int a = v[0] - s.cscBiasIn0, b = v[1] - s.cscBiasIn1, d = v[2] - s.cscBiasIn2;
        const auto clip = [](int k) { return k < 0 ? 0 : k > 255 ? 255 : k; };
        v[0] = clip(((s.cscMatrixR0C0 * a + s.cscMatrixR0C1 * b + s.cscMatrixR0C2 * d) >> 8) + s.cscBiasOut0);
        v[1] = clip(((s.cscMatrixR1C0 * a + s.cscMatrixR1C1 * b + s.cscMatrixR1C2 * d) >> 8) + s.cscBiasOut1);
        v[2] = clip(((s.cscMatrixR2C0 * a + s.cscMatrixR2C1 * b + s.cscMatrixR2C2 * d) >> 8) + s.cscBiasOut2);
      }
      const AippDataTypeConvParams& d = h.dtcParams;
      const int mean[] = {d.dtcMeanCh0, d.dtcMeanCh1, d.dtcMeanCh2, 0};
      const float min[] = {float(d.dtcMinCh0), float(d.dtcMinCh1), float(d.dtcMinCh2), 0};
      const float var[] = {float(d.dtcVarCh0), float(d.dtcVarCh1), float(d.dtcVarCh2), 1};
      const T pad[] = {h.paddingParams.paddingValueCh0, h.paddingParams.paddingValueCh1, h.paddingParams.paddingValueCh2,
                       h.paddingParams.paddingValueCh3};
      for (int k = 0; k < c.out_channels(); ++k) {
        if (k >= c.channels())
          out.push_back(float(h.cPaddingParams.cPaddingValue));
        else if (constant)
          out.push_back(float(pad[k]));
        else if (sizeof(T) == 1)
          out.push_back(static_cast<float>(std::max(-128, std::min(127, v[k] - mean[k]))));
        else
          out.push_back(float(half((static_cast<float>(v[k] - mean[k]) - min[k]) * var[k])));
      }
    }
  }
  return out;
}

template <class T>
void check(const Case<T>& c, const char* what) {
  std::mt19937 random(5);
  std::vector<std::uint8_t> image(kWidth * kHeight * 4), chroma(kWidth * kHeight / 2);
  for (auto& v : image) v = static_cast<std::uint8_t>(random());
  for (auto& v : chroma) v = static_cast<std::uint8_t>(random());
  twin_test::Device<std::uint8_t> x(image), uv(chroma);
  twin_test::Device<T> out(c.count());
  RUN(load_kernel<T>, 1).as(twin::KernelType::AicOnly)(x, uv, out, c);
  EXPECT_SILENT();
  const auto got = out.values();
  const auto want = model(c, image, chroma);
  for (std::size_t k = 0; k < want.size(); ++k) ASSERT_EQ(float(got[k]), want[k]) << what << " " << k;
}

template <class T>
void check_formats() {
  for (const AippInputFormat format : {AippInputFormat::YUV420SP_U8, AippInputFormat::XRGB8888_U8,
                                       AippInputFormat::RGB888_U8, AippInputFormat::YUV400_U8}) {
    Case<T> c{format, {}};
    check(c, "plain");
    c.how.cPaddingParams = {1, T(-3)};
    c.how.dtcParams.dtcMeanCh0 = 100, c.how.dtcParams.dtcMeanCh1 = 7, c.how.dtcParams.dtcMeanCh2 = 220;
    c.how.dtcParams.dtcMinCh1 = half(-7.0f), c.how.dtcParams.dtcVarCh2 = half(0.0123f);
    check(c, "four channels, other type");
    c.how.singleLineParams.isSingleLineCopy = true;
    check(c, "one line");
    c.how.singleLineParams.isSingleLineCopy = false;
    c.how.swapParams.isSwapUV = format == AippInputFormat::YUV420SP_U8;
    c.how.swapParams.isSwapRB = format == AippInputFormat::RGB888_U8 || format == AippInputFormat::XRGB8888_U8;
    check(c, "swapped");
    c.how.swapParams.isSwapAX = format == AippInputFormat::XRGB8888_U8;
    check(c, "X behind");
    c.window.leftPadSize = 3, c.window.rightPadSize = 5;
    c.how.paddingParams = {0, T(1), T(2), T(3), T(4)};
    check(c, "constant padding");
    c.window.topPadSize = 2, c.window.botPadSize = 3;
    for (std::uint32_t mode = 1; mode <= 3; ++mode) {
      c.how.paddingParams.paddingMode = mode;
      check(c, "padding");
    }
    if (format == AippInputFormat::YUV400_U8) continue;
    c.how.cscParams = {true, 256, 0, 359, 256, -88, -183, 256, 454, 0, 0, 128, 128, 1, 0, 2};
    check(c, "colours");
  }
}
TEST(LoadImageToLocal, EveryFormatAndMode) {
  check_formats<std::int8_t>();
  check_formats<half>();
}

// ---- misuse ----
template <class T>
void run_wrong(const Case<T>& c) {
  twin_test::Device<std::uint8_t> x(kWidth * kHeight * 4), uv(kWidth * kHeight / 2);
  twin_test::Device<T> out(8192);
  RUN(load_kernel<T>, 1).as(twin::KernelType::AicOnly)(x, uv, out, c);
}
TEST(LoadImageToLocal, SaysWhatDoesNotFit) {
  const Case<std::int8_t> good{AippInputFormat::RGB888_U8, {}};
  Case<std::int8_t> c = good;
  c.window.topPadSize = 1;
  run_wrong(c);
  twin_test::expect_found(twin::Kind::Limit, "paddingMode 0 pads on the left and on the right only");
  c = good;
  c.window.horizStartPos = 16;
  run_wrong(c);
  twin_test::expect_found(twin::Kind::OutOfBounds, "pixels 16 to 24 of rows of 22");
  c = good;
  c.window.horizStartPos = 3;
  run_wrong(c);
  twin_test::expect_found(twin::Kind::Limit, "from pixel 3 of row 2");
  c = good;
  c.how.swapParams.isSwapUV = true;
  run_wrong(c);
  twin_test::expect_found(twin::Kind::Limit, "isSwapUV is for YUV420SP_U8");
  c = good;
  c.format = AippInputFormat::YUV400_U8;
  c.how.cscParams.isEnableCsc = true;
  run_wrong(c);
  twin_test::expect_found(twin::Kind::Limit, "the colour space of three channels");
}

void alone_kernel(GM_ADDR image, GM_ADDR out, int way) {
  LocalTensor<half> l1(TPosition::A1, 0, 1024);
  const LoadImageToLocalParams window(8, 4, 0, 0, kWidth, 0, 0, 0, 0);
  if (way == 1) SetAippFunctions(gm<std::uint8_t>(image, 4096), AippInputFormat::RGB888_U8, AippParams<std::int8_t>());
  if (way == 2) SetAippFunctions(gm<std::uint8_t>(image, 200), AippInputFormat::RGB888_U8, AippParams<half>());
  if (way == 3) SetAippFunctions(gm<std::uint8_t>(image, 4096), AippInputFormat::RGB888_U8, AippParams<half>());
  LoadImageToLocal(l1, window);
  if (way != 3) order<HardEvent::MTE2_MTE3>();
  DataCopy(gm<half>(out, 512), l1, 512);
}
TEST(LoadImageToLocal, NeedsItsFunctionsAndItsFlag) {
  const auto run = [](int way) {
    const twin_test::Device<std::uint8_t> x(std::vector<std::uint8_t>(4096, 1));
    const twin_test::Device<half> out(512);
    RUN(alone_kernel, 1).as(twin::KernelType::AicOnly)(x, out, way);
  };
  run(0);
  twin_test::expect_found(twin::Kind::Limit, "LoadImageToLocal before SetAippFunctions");
  run(1);
  twin_test::expect_found(twin::Kind::Limit, "of half, after SetAippFunctions of int8");
  run(2);
  twin_test::expect_found(twin::Kind::OutOfBounds, "LoadImageToLocal");
  run(3);
  twin_test::expect_found(twin::Kind::ReadAfterWrite, "nothing orders the two");
}

}  // namespace
