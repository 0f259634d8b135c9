// SPDX-License-Identifier: Apache-2.0
// TransData in its four scenarios against plain indices.
#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

struct Image {
  int n, c, d, h, w;
  int count() const { return n * c * d * h * w; }
};
int up16(int x) { return (x + 15) / 16; }
std::size_t plain_at(const Image& i, int n, int c, int d, int h, int w) {
  return (((static_cast<std::size_t>(n) * i.c + c) * i.d + d) * i.h + h) * i.w + w;
}
std::size_t blocked_at(bool z, const Image& i, int n, int c, int d, int h, int w) {
  if (!z) return ((((static_cast<std::size_t>(n) * i.d + d) * up16(i.c) + c / 16) * i.h + h) * i.w + w) * 16 + c % 16;
  const std::size_t pixel = ((static_cast<std::size_t>(d) * up16(i.c) + c / 16) * i.h + h) * i.w + w;
  return ((pixel * up16(i.n) + n / 16) * 16 + n % 16) * 16 + c % 16;
}
int blocked_count(bool z, const Image& i) { return i.d * up16(i.c) * 16 * i.h * i.w * (z ? up16(i.n) * 16 : i.n); }

constexpr TransDataConfig kToBlocks = {DataFormat::NCDHW, DataFormat::NDC1HWC0},
                          kFromBlocks = {DataFormat::NDC1HWC0, DataFormat::NCDHW},
                          kToZ = {DataFormat::NCDHW, DataFormat::FRACTAL_Z_3D},
                          kFromZ = {DataFormat::FRACTAL_Z_3D, DataFormat::NCDHW};

template <class T, bool kZ, bool kBack>
void kernel(GM_ADDR in, GM_ADDR out, Image i, int given, int wanted, int wrong) {
  const auto x = ub<T>(0, given), y = ub<T>(65536, wanted);
  DataCopy(x, gm<T>(in, given), given);
  order<HardEvent::MTE2_V>();
  const auto plain = MakeLayout(MakeShape(i.n, i.c, i.d, i.h, i.w), MakeStride());
  const int c0 = wrong == 1 ? 8 : 16, c1 = up16(i.c) + (wrong == 2), h = i.h + (wrong == 3);
  const auto five = MakeLayout(MakeShape(i.n, i.d, c1, h, i.w, c0), MakeStride());
  const auto z = MakeLayout(MakeShape(i.d, c1, h, i.w, up16(i.n), 16, c0), MakeStride());
  const auto temporary = ub<std::uint8_t>(131072, 32768);
  if constexpr (kBack && kZ) TransData<kFromZ>(y, x, temporary, TransDataParams<decltype(z), decltype(plain)>{z, plain});
  if constexpr (kBack && !kZ) TransData<kFromBlocks>(y, x, TransDataParams<decltype(five), decltype(plain)>{five, plain});
  if constexpr (!kBack && kZ) TransData<kToZ>(y, x, TransDataParams<decltype(plain), decltype(z)>{plain, z});
  if constexpr (!kBack && !kZ)
    TransData<kToBlocks>(y, x, temporary, TransDataParams<decltype(plain), decltype(five)>{plain, five});
  PipeBarrier<PIPE_V>();
  order<HardEvent::V_MTE3>();
  DataCopy(gm<T>(out, wanted), y, wanted);
}
int up32_bytes(int count) { return (count + 15) / 16 * 16; }  // elements of 16 bits

template <class T, bool kZ, bool kBack>
void check(const Image& i) {
  const int plain = up32_bytes(i.count()), blocked = blocked_count(kZ, i);
  const int given = kBack ? blocked : plain, wanted = kBack ? plain : blocked;
  std::vector<T> in(given);
  for (int k = 0; k < given; ++k) in[k] = T(static_cast<float>(k % 1000));
  twin_test::Device<T> x(in), y(wanted);
  twin::take_findings();
  RUN((kernel<T, kZ, kBack>), 1).auto_sync(false)(x, y, i, given, wanted, 0);
  const auto found = twin::take_findings();
  // Padding that goes out is undefined, and reported as that.
  const bool padded = kBack ? plain != i.count() : i.c % 16 || (kZ && i.n % 16);
  ASSERT_EQ(found.size(), padded ? 1u : 0u) << twin_test::text(found);
  if (padded) {
    EXPECT_EQ(found[0].kind, twin::Kind::Uninitialised);
  }
  const auto got = y.values();
  for (int n = 0; n < i.n; ++n) {
    for (int c = 0; c < i.c; ++c) {
      for (int d = 0; d < i.d; ++d) {
        for (int h = 0; h < i.h; ++h) {
          for (int w = 0; w < i.w; ++w) {
            const std::size_t p = plain_at(i, n, c, d, h, w), b = blocked_at(kZ, i, n, c, d, h, w);
            ASSERT_EQ(float(got[kBack ? p : b]), float(in[kBack ? b : p]))
                << "at " << n << ", " << c << ", " << d << ", " << h << ", " << w;
          }
        }
      }
    }
  }
}
template <class T>
void check_all() {
  for (const Image& i : {Image{16, 16, 1, 3, 5}, Image{2, 32, 2, 4, 4}, Image{3, 20, 1, 2, 3}}) {
    check<T, false, false>(i);
    check<T, false, true>(i);
    check<T, true, false>(i);
    check<T, true, true>(i);
  }
}
TEST(TransData, GoesBetweenPlainAndBlockedImages) {
  check_all<half>();
  check_all<std::int16_t>();
  check_all<bfloat16_t>();
}
TEST(TransData, RefusesShapesThatDoNotFit) {
  const Image i{16, 16, 1, 3, 5};
  twin_test::Device<half> x(4096), y(4096);
  const char* const said[] = {"C0 and N0 are 16", "C1 and N1 of the one shape", "of different images"};
  for (int wrong = 1; wrong <= 3; ++wrong) {
    twin::take_findings();
    RUN((kernel<half, true, false>), 1).auto_sync(false)(x, y, i, 3840, 3840, wrong);
    twin_test::expect_found(twin::Kind::Limit, said[wrong - 1]);
  }
}
TEST(Layout, KeepsShapeAndStride) {
  constexpr auto layout = MakeLayout(MakeShape(10, 20, 30), MakeStride(1, 100, 200));
  static_assert(AscendC::Std::get<1>(layout.GetShape()) == 20 && AscendC::Std::get<2>(layout.GetStride()) == 200);
  const Shape<int, int> shape = MakeShape(3, 4);
  const Layout<Shape<int, int>, Stride<int, int>> both(shape, MakeStride(4, 1));
  EXPECT_EQ(AscendC::Std::get<0>(both.GetShape()), 3);
}
TEST(Std, ChangesTypes) {
  namespace S = AscendC::Std;
  static_assert(S::is_same_v<S::add_const_t<int>, const int> && S::is_same_v<S::add_const<int>::type, const int>);
  static_assert(S::is_same_v<S::remove_const_t<const int>, int> && S::is_same_v<S::remove_const<const int>::type, int>);
  static_assert(S::is_same_v<S::remove_pointer_t<half*>, half> && S::is_same_v<S::remove_pointer<half*>::type, half>);
  static_assert(S::is_same_v<S::remove_cvref_t<const half&>, half>);
  static_assert(S::is_convertible_v<int, float> && !S::is_convertible_v<int*, float> &&
                S::is_convertible<int, float>::value);
}
TEST(Layout, FindsElements) {  // numbers: the page of Crd2Idx
  constexpr auto layout = MakeLayout(MakeShape(3, 4, 5), MakeStride(20, 5, 1));
  static_assert(Crd2Idx(MakeCoord(1, 2, 3), layout) == 33);
  const Coord<std::size_t, std::size_t> coord = MakeCoord(std::size_t{11}, std::size_t{12});
  const auto shape = MakeShape(MakeShape(2, 4), MakeShape(3, 5));
  const auto stride = MakeStride(MakeStride(3, 6), MakeStride(1, 24));
  EXPECT_EQ(Crd2Idx(coord, shape, stride), 129u);
  EXPECT_EQ(Crd2Idx(11, MakeLayout(shape, stride)), 10u);
  EXPECT_EQ(Crd2Idx(MakeCoord(11), MakeShape(shape), MakeStride(stride)), 10u);
  using Two = AscendC::Std::integral_constant<std::size_t, 2>;
  EXPECT_EQ(Crd2Idx(MakeCoord(Two(), 1), MakeShape(4, Two()), MakeStride(Two(), 1)), 5u);
}

}  // namespace
