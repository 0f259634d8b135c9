// SPDX-License-Identifier: Apache-2.0
// LoadData 3D against the definition of a convolution's matrix: the window comes out through a product with the identity.
#include <random>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;

namespace {

struct Shape {
  int h, w, c;           // image; c a multiple of C0
  std::uint8_t pads[4];  // left, right, top, bottom
  int stride_w, stride_h, filter_w, filter_h, dilation_w, dilation_h;
  int k_start, k_extent, m_start, m_extent;
};
enum class Into { A, ATransposed, B };

template <class T>
LoadData3DParamsV2<T> params(const Shape& s, Into into) {
  return LoadData3DParamsV2<T>(
      s.pads, static_cast<std::uint16_t>(s.h), static_cast<std::uint16_t>(s.w), static_cast<std::uint16_t>(s.c),
      static_cast<std::uint16_t>(s.k_extent), static_cast<std::uint16_t>(s.m_extent), static_cast<std::uint16_t>(s.k_start),
      static_cast<std::uint16_t>(s.m_start), static_cast<std::uint8_t>(s.stride_w), static_cast<std::uint8_t>(s.stride_h),
      static_cast<std::uint8_t>(s.filter_w), static_cast<std::uint8_t>(s.filter_h), static_cast<std::uint8_t>(s.dilation_w),
      static_cast<std::uint8_t>(s.dilation_h), into == Into::ATransposed, false, T(3));
}

// out (rows, columns) = the window, or its transpose; rows and columns multiples of 16.
template <class T, class C>
void kernel(GM_ADDR image, GM_ADDR identity, GM_ADDR out, Shape s, Into into) {
  constexpr int kC0 = 32 / sizeof(T);
  const int n = s.h * s.w * s.c;
  const int rows = into == Into::ATransposed ? s.k_extent : s.m_extent;
  const int columns = into == Into::ATransposed ? s.m_extent : s.k_extent;
  const int side = into == Into::B ? rows : columns;  // of the identity
  LocalTensor<T> picture(TPosition::A1, 0, n), eye(TPosition::B1, 262144, side * side);
  LocalTensor<T> a(TPosition::A2, 0, rows * side), b(TPosition::B2, 0, side * columns);
  LocalTensor<C> c(TPosition::CO1, 0, rows * columns);
  DataCopy(picture, gm<T>(image, n), n);
  DataCopy(eye, gm<T>(identity, side * side),
           Nd2NzParams(1, static_cast<std::uint16_t>(side), static_cast<std::uint16_t>(side), 0,
                       static_cast<std::uint16_t>(side), static_cast<std::uint16_t>(side), 1, 0));
  order<HardEvent::MTE2_MTE1>();
  if (into == Into::B) {
    for (int r = 0; r < side / 16; ++r)
      LoadData(a[r * side * 16], eye,
               LoadData2DParams(static_cast<std::uint16_t>(r), static_cast<std::uint8_t>(side / kC0),
                                static_cast<std::uint16_t>(side / 16), 0, 0, false, 0));
    LoadData(b, picture, params<T>(s, into));
  } else {
    LoadData(a, picture, params<T>(s, into));
    LoadData(b, eye, LoadData2DParams(0, static_cast<std::uint8_t>(side / kC0 * side / 16), 1, 0, 0, false, 0));
  }
  order<HardEvent::MTE1_M>();
  Mmad(c, a, b,
       MmadParams(static_cast<std::uint16_t>(rows), static_cast<std::uint16_t>(columns), static_cast<std::uint16_t>(side),
                  false));
  order<HardEvent::M_FIX>();
  Fixpipe(gm<C>(out, rows * columns), c,
          FixpipeParamsV220(static_cast<std::uint16_t>(columns), static_cast<std::uint16_t>(rows),
                            static_cast<std::uint16_t>(rows), static_cast<std::uint32_t>(columns), false));
}

template <class T, class C>
void check(const Shape& s, Into into) {
  constexpr int kC0 = 32 / sizeof(T);
  std::mt19937 random(5);
  std::vector<T> image(s.h * s.w * s.c);
  for (T& v : image) v = T(static_cast<int>(random() % 100) - 50);
  const int rows = into == Into::ATransposed ? s.k_extent : s.m_extent;
  const int columns = into == Into::ATransposed ? s.m_extent : s.k_extent;
  const int side = into == Into::B ? rows : columns;
  std::vector<T> eye(side * side, T(0));
  for (int k = 0; k < side; ++k) eye[k * side + k] = T(1);
  twin_test::Device<T> di(image), de(eye);
  twin_test::Device<C> out(rows * columns);
  RUN((kernel<T, C>), 1).as(twin::KernelType::AicOnly)(di, de, out, s, into);
  EXPECT_SILENT();
  const auto got = out.values();
  const int wo = (s.w + s.pads[0] + s.pads[1] - (s.filter_w - 1) * s.dilation_w - 1) / s.stride_w + 1;
  for (int m = 0; m < s.m_extent; ++m) {
    for (int k = 0; k < s.k_extent; ++k) {
      const int pixel = m + s.m_start, depth = k + s.k_start, tap = depth / kC0;
      const int x = pixel % wo * s.stride_w + tap % s.filter_w * s.dilation_w - s.pads[0];
      const int y = pixel / wo * s.stride_h + tap / s.filter_w % s.filter_h * s.dilation_h - s.pads[2];
      const int c1 = tap / s.filter_w / s.filter_h;
      const bool inside = x >= 0 && y >= 0 && x < s.w && y < s.h;
      const float want = inside ? float(image[((c1 * s.h + y) * s.w + x) * kC0 + depth % kC0]) : 3;
      ASSERT_EQ(float(got[into == Into::ATransposed ? k * columns + m : m * columns + k]), want) << m << " " << k;
    }
  }
}

// 8 × 8 output pixels. The K of a float operand is rounded up to 16 by its identity.
constexpr Shape kPlain{8, 8, 64, {0, 0, 0, 0}, 1, 1, 1, 1, 1, 1, 0, 32, 0, 64};
constexpr Shape kFilter{9, 8, 32, {1, 2, 1, 0}, 1, 1, 3, 2, 1, 2, 32, 64, 16, 32};
constexpr Shape kStrided{15, 19, 32, {0, 0, 0, 0}, 2, 2, 3, 1, 2, 1, 32, 32, 32, 32};

TEST(LoadData3d, FillsL0aInEveryType) {
  for (const Shape& s : {kPlain, kFilter, kStrided}) {
    check<half, float>(s, Into::A);
    check<bfloat16_t, float>(s, Into::A);
    check<float, float>(s, Into::A);
    check<std::int8_t, std::int32_t>(s, Into::A);
  }
}
TEST(LoadData3d, TransposesTheWindow) {
  for (const Shape& s : {kPlain, kFilter, kStrided}) {
    check<half, float>(s, Into::ATransposed);
    check<bfloat16_t, float>(s, Into::ATransposed);
  }
}
TEST(LoadData3d, FillsL0b) {
  for (const Shape& s : {kPlain, kFilter, kStrided}) {
    check<half, float>(s, Into::B);
    check<float, float>(s, Into::B);
  }
}
template <int kWrong>
void wrong_kernel(GM_ADDR image) {
  LocalTensor<half> picture(TPosition::A1, 0, 4096), a(TPosition::A2, 0, 4096);
  Shape s = kPlain;
  if (kWrong == 1) s.m_extent = 40;
  if (kWrong == 2) s.k_extent = 80;
  if (kWrong == 3) s.stride_w = 0;
  DataCopy(picture, gm<half>(image, 4096), 4096);
  order<HardEvent::MTE2_MTE1>();
  LoadData(a, picture, params<half>(s, Into::A));
}
template <int kWrong>
bool reports(twin::Kind kind) {
  twin_test::Device<half> x(std::vector<half>(4096, half(1)));
  RUN(wrong_kernel<kWrong>, 1).as(twin::KernelType::AicOnly)(x);
  return twin_test::find(twin::take_findings(), kind) != nullptr;
}
TEST(LoadData3d, ReportsWindowsThatDoNotExist) {
  EXPECT_TRUE(reports<1>(twin::Kind::Alignment));
  EXPECT_TRUE(reports<2>(twin::Kind::OutOfBounds));
  EXPECT_TRUE(reports<3>(twin::Kind::Limit));
}

}  // namespace
