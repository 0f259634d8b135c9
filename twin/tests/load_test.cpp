// SPDX-License-Identifier: Apache-2.0
// Operands that need turning on their way into L0B, fractals straight from GM, and where a product's sum begins.
#include <random>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;

namespace {

// C (16, N) = A (16, K) · B (K, N), B row-major in GM: its squares are turned by LoadDataWithTranspose. A square of floats
// is two fractals side by side, so that K is one square there.
template <class T>
constexpr int kK = sizeof(T) == 1   ? 64
                   : sizeof(T) == 2 ? 32
                                    : 16;
template <class T>
constexpr int kN = sizeof(T) == 1 ? 64 : 32;
template <class T, class C>
void turning_kernel(GM_ADDR a, GM_ADDR b, GM_ADDR out) {
  constexpr int kC0 = 32 / sizeof(T), kSide = sizeof(T) == 1 ? 32 : 16, kSquares = kN<T> / kSide;
  LocalTensor<T> a1(TPosition::A1, 0, 16 * kK<T>), b1(TPosition::B1, 65536, kK<T> * kN<T>);
  LocalTensor<T> a2(TPosition::A2, 0, 16 * kK<T>), b2(TPosition::B2, 0, kK<T> * kN<T>);
  LocalTensor<C> c(TPosition::CO1, 0, 16 * kN<T>);
  DataCopy(a1, gm<T>(a, 16 * kK<T>), Nd2NzParams(1, 16, kK<T>, 0, kK<T>, 16, 1, 0));
  DataCopy(b1, gm<T>(b, kK<T> * kN<T>), Nd2NzParams(1, kK<T>, kN<T>, 0, kN<T>, kK<T>, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  LoadData(a2, a1, LoadData2DParams(0, kK<T> / kC0, 1, 0, 0, false, 0));
  for (int k = 0; k < kK<T> / kSide; ++k) {  // a row of squares
    LoadDataWithTranspose(b2[k * kSide * kN<T>], b1,
                          LoadData2dTransposeParams(static_cast<std::uint16_t>(k), kSquares, kK<T> / kSide,
                                                    sizeof(T) == 1 ? 1 : 0, sizeof(T) == 4 ? kSquares - 1 : 0));
  }
  order<HardEvent::MTE1_M>();
  Mmad(c, a2, b2, MmadParams(16, kN<T>, kK<T>, false));
  order<HardEvent::M_FIX>();
  Fixpipe(gm<C>(out, 16 * kN<T>), c, FixpipeParamsV220(kN<T>, 16, 16, kN<T>, false));
}
template <class T, class C>
void check_turning() {
  std::mt19937 random(17);
  std::vector<T> a(16 * kK<T>), b(kK<T> * kN<T>);
  for (T& v : a) v = T(static_cast<int>(random() % 9) - 4);
  for (T& v : b) v = T(static_cast<int>(random() % 9) - 4);
  twin_test::Device<T> x(a), y(b);
  twin_test::Device<C> z(16 * kN<T>);
  RUN((turning_kernel<T, C>), 1).as(twin::KernelType::AicOnly)(x, y, z);
  EXPECT_SILENT();
  const auto c = z.values();
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < kN<T>; ++n) {
      float sum = 0;
      for (int k = 0; k < kK<T>; ++k) sum += float(a[m * kK<T> + k]) * float(b[k * kN<T> + n]);
      ASSERT_EQ(float(c[m * kN<T> + n]), sum) << m << " " << n;
    }
  }
}
TEST(LoadDataWithTranspose, TurnsSquaresOfEveryWidth) {
  check_turning<half, float>();
  check_turning<bfloat16_t, float>();
  check_turning<float, float>();
  check_turning<std::int8_t, std::int32_t>();
}

// ---- fractals from GM, through L1 or at once; turned; backwards ----
void gm_kernel(GM_ADDR fractals, GM_ADDR out, int way) {
  LocalTensor<half> l1(TPosition::A1, 0, 1024), a(TPosition::A2, 0, 256), b(TPosition::B2, 0, 256);
  LocalTensor<float> c(TPosition::CO1, 0, 256);
  const auto in = gm<half>(fractals, 1024);  // the identity, then B three times
  if (way == 0) {
    LoadData(l1, in, LoadData2DParams(0, 4, 1, 0, 0, false, 0));  // GM to L1
    order<HardEvent::MTE2_MTE1>();
    LoadData(a, l1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    LoadData(b, l1, LoadData2DParams(2, 1, 1, 0, 0, true, 0));  // turned
    order<HardEvent::MTE1_M>();
  } else {
    LoadData(a, in, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    LoadData(b, in, LoadData2DParams(3, 1, 1, 0, 0, false, 1));  // backwards from the last
    order<HardEvent::MTE2_M>();
  }
  Mmad(c, a, b, MmadParams(16, 16, 16, false));
  order<HardEvent::M_FIX>();
  Fixpipe(gm<float>(out, 256), c, FixpipeParamsV220(16, 16, 16, 16, false));
}
TEST(LoadData, TakesFractalsFromGm) {
  std::vector<half> in(1024, half(0));
  for (int k = 0; k < 16; ++k) in[k * 17] = half(1);
  for (int f = 1; f < 4; ++f) {
    for (int k = 0; k < 256; ++k) in[f * 256 + k] = half(f * 300 + k);
  }
  twin_test::Device<half> x(in);
  twin_test::Device<float> y(256);
  for (const int way : {0, 1}) {
    RUN(gm_kernel, 1).as(twin::KernelType::AicOnly)(x, y, way);
    EXPECT_SILENT();
    const auto c = y.values();
    for (int k = 0; k < 16; ++k) {
      for (int n = 0; n < 16; ++n)  // a fractal of L0B holds its columns one after another
        EXPECT_EQ(c[k * 16 + n], way == 0 ? 600 + k * 16 + n : 900 + n * 16 + k);
    }
  }
}

// ---- where the sum begins ----
enum Begin { kZero, kBias, kBiasTable, kGoesOn };
template <class T, class C>
void begin_kernel(GM_ADDR a, GM_ADDR bias, GM_ADDR out, int begin) {
  constexpr int kC0 = 32 / sizeof(T);
  LocalTensor<T> a1(TPosition::A1, 0, 16 * kC0), a2(TPosition::A2, 0, 16 * kC0), b2(TPosition::B2, 0, 16 * kC0);
  LocalTensor<C> bias1(TPosition::C1, 65536, 16), table(TPosition::C2, 0, 16), c(TPosition::CO1, 0, 256);
  DataCopy(a1, gm<T>(a, 16 * kC0), 16 * kC0);
  DataCopy(bias1, gm<C>(bias, 16), 16);
  order<HardEvent::MTE2_MTE1>();
  LoadData(a2, a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  LoadData(b2, a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  DataCopy(table, bias1, DataCopyParams(1, 1, 0, 0));  // 64 bytes
  order<HardEvent::MTE1_M>();
  MmadParams p(16, 16, kC0, false);
  if (begin == kBias) {
    Mmad(c, a2, b2, table, p);
  } else if (begin == kBiasTable) {
    p.cmatrixInitVal = false;
    p.cmatrixSource = true;
    Mmad(c, a2, b2, p);
  } else {
    Mmad(c, a2, b2, p);
    if (begin == kGoesOn) {
      p.cmatrixInitVal = false;
      PipeBarrier<PIPE_M>();
      Mmad(c, a2, b2, p);
    }
  }
  order<HardEvent::M_FIX>();
  Fixpipe(gm<C>(out, 256), c, FixpipeParamsV220(16, 16, 16, 16, false));
}
template <class T, class C>
void check_begin() {
  constexpr int kC0 = 32 / sizeof(T);
  std::vector<T> a(16 * kC0);
  std::vector<C> bias(16);
  for (int k = 0; k < 16 * kC0; ++k) a[k] = T(k * 7 % 11 - 5);
  for (int n = 0; n < 16; ++n) bias[n] = C(100 * n - 7);
  twin_test::Device<T> x(a);
  twin_test::Device<C> y(bias), z(256);
  for (const int begin : {kZero, kBias, kBiasTable, kGoesOn}) {
    RUN((begin_kernel<T, C>), 1).as(twin::KernelType::AicOnly)(x, y, z, begin);
    EXPECT_SILENT();
    const auto c = z.values();
    for (int m = 0; m < 16; ++m) {
      for (int n = 0; n < 16; ++n) {
        float sum = 0;  // both operands hold the same fractal: A (m, k), B (k, n) = A (n, k)
        for (int k = 0; k < kC0; ++k) sum += float(a[m * kC0 + k]) * float(a[n * kC0 + k]);
        const float want = begin == kGoesOn ? 2 * sum : begin == kZero ? sum : sum + float(bias[n]);
        ASSERT_EQ(float(c[m * 16 + n]), want) << begin << " " << m << " " << n;
      }
    }
  }
}
TEST(Mmad, BeginsFromZeroABiasOrWhatIsThere) {
  check_begin<half, float>();
  check_begin<bfloat16_t, float>();
  check_begin<float, float>();
  check_begin<std::int8_t, std::int32_t>();
}

}  // namespace
