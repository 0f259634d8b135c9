// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"
using namespace AscendC;
namespace {
constexpr int kTile = 1024;
void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, int tiles) {
  TPipe pipe;
  TQue<QuePosition::VECIN, 2> in_x, in_y;
  TQue<QuePosition::VECOUT, 2> out;
  pipe.InitBuffer(in_x, 2, kTile * sizeof(float));
  pipe.InitBuffer(in_y, 2, kTile * sizeof(float));
  pipe.InitBuffer(out, 2, kTile * sizeof(float));
  GlobalTensor<float> gx, gy, gz;
  const int first = GetBlockIdx() * tiles * kTile;
  gx.SetGlobalBuffer((__gm__ float*)x + first, tiles * kTile);
  gy.SetGlobalBuffer((__gm__ float*)y + first, tiles * kTile);
  gz.SetGlobalBuffer((__gm__ float*)z + first, tiles * kTile);
  for (int t = 0; t < tiles; ++t) {
    auto a = in_x.AllocTensor<float>();
    auto b = in_y.AllocTensor<float>();
    DataCopy(a, gx[t * kTile], kTile);
    DataCopy(b, gy[t * kTile], kTile);
    in_x.EnQue(a);
    in_y.EnQue(b);
    a = in_x.DeQue<float>();
    b = in_y.DeQue<float>();
    auto c = out.AllocTensor<float>();
    Add(c, a, b, kTile);
    out.EnQue(c);
    in_x.FreeTensor(a);
    in_y.FreeTensor(b);
    c = out.DeQue<float>();
    DataCopy(gz[t * kTile], c, kTile);
    out.FreeTensor(c);
  }
}
TEST(First, AddsWithQueues) {
  const int n = 8 * 4 * kTile;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = i, y[i] = 2 * i;
  twin_test::Device<float> dx(x), dy(y), dz(n);
  RUN(add, 8).auto_sync(false)(dx, dy, dz, 4);
  EXPECT_SILENT();
  const auto z = dz.values();
  for (int i = 0; i < n; ++i) ASSERT_EQ(z[i], 3.0f * i) << i;
  puts(to_text(twin::last_timing()).c_str());
}
}  // namespace
