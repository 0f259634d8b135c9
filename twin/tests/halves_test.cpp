// SPDX-License-Identifier: Apache-2.0
// Arithmetic on every half there is, bit for bit as half's own conversions have it: subnormals, infinities and NaNs too.
#include <cmath>

#include "support.hpp"

using namespace AscendC;

namespace {

constexpr int kHalves = 65536;
int operation = 0;

void on_all_halves(GM_ADDR x, GM_ADDR y) {
  const LocalTensor<half> t(TPosition::VECCALC, 0, kHalves);
  GlobalTensor<half> in, out;
  in.SetGlobalBuffer((__gm__ half*)x, kHalves);
  out.SetGlobalBuffer((__gm__ half*)y, kHalves);
  DataCopy(t, in, kHalves);
  PipeBarrier<PIPE_ALL>();
  const int count = kHalves - 3;  // the last chunk is no whole number of vectors
  if (operation == 0) Adds(t, t, half(0.333f), count);
  if (operation == 1) Muls(t, t, half(0.0123f), count);
  if (operation == 2) Mul(t, t, t, count);
  if (operation == 3) Abs(t, t, count);
  PipeBarrier<PIPE_ALL>();
  DataCopy(out, t, kHalves);
}

TEST(Halves, AllOfThemAreRoundedAsOneByOne) {
  std::vector<half> all(kHalves);
  for (int h = 0; h < kHalves; ++h) all[h] = half::from_bits(static_cast<std::uint16_t>(h));
  for (operation = 0; operation < 4; ++operation) {
    twin_test::Device<half> x(all), y(kHalves);
    RUN(on_all_halves, 1)(x, y);
    EXPECT_SILENT();
    const std::vector<half> results = y.values();
    for (int h = 0; h < kHalves - 3; ++h) {
      const float a = all[h];
      const half expected = operation == 0   ? half(a + float(half(0.333f)))
                            : operation == 1 ? half(a * float(half(0.0123f)))
                            : operation == 2 ? half(a * a)
                                             : half(std::fabs(a));
      ASSERT_EQ(results[h].bits(), expected.bits()) << "operation " << operation << " of half " << h;
    }
    for (int h = kHalves - 3; h < kHalves; ++h) ASSERT_EQ(results[h].bits(), h);
  }
}

}  // namespace
