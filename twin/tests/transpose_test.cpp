// SPDX-License-Identifier: Apache-2.0
// ConfusionTranspose in its seven scenarios against plain indices, for both sizes of elements; what it refuses.
#include "kernels.hpp"
#include "support.hpp"
#include "tiling/tiling_api.h"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::Standing;
using twin_test::ub;

namespace {

struct Heads {
  int b, n, s, d;
  int h() const { return n * d; }
};
int up16(int x) { return (x + 15) / 16 * 16; }

// Where element (row, column) of a plane of rows × columns lies in Nz.
std::size_t nz(int plane, int row, int column, int rows, int columns) {
  return (static_cast<std::size_t>(plane) * (up16(columns) / 16) + column / 16) * up16(rows) * 16 + row * 16 + column % 16;
}
std::size_t source_at(int type, const Heads& c, int b, int n, int s, int d) {
  const bool splits = type == 3 || type == 4;
  return splits ? nz(b, s, n * c.d + d, c.s, c.h()) : nz(b * c.n + n, s, d, c.s, c.d);
}
std::size_t result_at(int type, const Heads& c, int b, int n, int s, int d) {
  switch (type) {
    case 2:
      return nz(b * c.s + s, n, d, c.n, c.d);
    case 3:
      return nz(b * c.n + n, s, d, c.s, c.d);
    case 4:
      return ((static_cast<std::size_t>(b) * c.n + n) * c.s + s) * c.d + d;
    case 6:
      return nz(b, s, n * c.d + d, c.s, c.h());
    default:
      return ((static_cast<std::size_t>(b) * c.s + s) * c.n + n) * c.d + d;
  }
}

template <class T>
void transpose_kernel(GM_ADDR in, GM_ADDR out, int given, int wanted, ConfusionTransposeTiling tiling, int type, bool late) {
  const auto x = ub<T>(0, given), y = ub<T>(65536, wanted);
  const auto kind = static_cast<TransposeType>(type);
  DataCopy(x, gm<T>(in, given), given);
  Duplicate(y, T(0), wanted);
  order<HardEvent::MTE2_V>();
  PipeBarrier<PIPE_V>();
  {
    const Standing standing(late);
    if (late) {
      Transpose(y, x, ub<std::uint8_t>(131072, 32768), kind, tiling);
    } else {
      ConfusionTranspose(y, x, kind, tiling);
    }
  }
  PipeBarrier<PIPE_V>();
  order<HardEvent::V_MTE3>();
  DataCopy(gm<T>(out, wanted), y, wanted);
}
template <class T>
std::vector<T> ramp(int n) {
  std::vector<T> v(n);
  for (int k = 0; k < n; ++k) v[k] = T(k % 2000);
  return v;
}

template <class T>
void check_heads(const Heads& c) {
  for (int type = 1; type <= 6; ++type) {
    ConfusionTransposeTiling tiling;
    GetTransposeTilingInfo(ge::Shape({c.b, c.n, c.s, c.d}), 4096, sizeof(T), static_cast<std::uint32_t>(type), tiling);
    const int given = c.b * c.h() * up16(c.s);
    const int wanted = type == 2 ? c.b * c.s * up16(c.n) * c.d : type == 3 || type == 6 ? given : c.b * c.s * c.h();
    const auto in = ramp<T>(given);
    for (const bool late : {false, true}) {
      twin_test::Device<T> x(in), y(wanted);
      RUN(transpose_kernel<T>, 1).auto_sync(false)(x, y, given, wanted, tiling, type, late);
      const auto found = twin::take_findings();
      // Of scenario 2 the padding of N goes out too.
      ASSERT_EQ(found.size(), type == 2 && c.n % 16 ? 1u : 0u) << "type " << type << "\n" << twin_test::text(found);
      const auto got = y.values();
      for (int b = 0; b < c.b; ++b) {
        for (int n = 0; n < c.n; ++n) {
          for (int s = 0; s < c.s; ++s) {
            for (int d = 0; d < c.d; ++d)
              ASSERT_EQ(float(got[result_at(type, c, b, n, s, d)]), float(in[source_at(type, c, b, n, s, d)]))
                  << "type " << type << " at " << b << ", " << n << ", " << s << ", " << d;
          }
        }
      }
    }
  }
}
TEST(ConfusionTranspose, MovesHeads) {
  check_heads<half>({1, 2, 64, 32});
  check_heads<half>({2, 16, 16, 16});
  check_heads<float>({2, 3, 32, 16});
  check_heads<std::int16_t>({1, 4, 16, 48});
}

template <class T>
void check_matrix(int h, int w) {
  ConfusionTransposeTiling tiling;
  GetConfusionTransposeOnlyTilingInfo(ge::Shape({h, w}), 4096, sizeof(T), tiling);
  const auto in = ramp<T>(h * w);
  twin_test::Device<T> x(in), y(h * w);
  RUN(transpose_kernel<T>, 1).auto_sync(false)(x, y, h * w, h * w, tiling, 7, true);
  EXPECT_SILENT();
  const auto got = y.values();
  for (int r = 0; r < h; ++r) {
    for (int c = 0; c < w; ++c) ASSERT_EQ(float(got[c * h + r]), float(in[r * w + c])) << r << ", " << c;
  }
}
TEST(ConfusionTranspose, TurnsMatrices) {
  check_matrix<half>(16, 64);
  check_matrix<float>(48, 32);
  check_matrix<std::uint32_t>(32, 32);
}

TEST(ConfusionTranspose, RefusesOtherTilingsAndShapes) {
  twin_test::Device<half> x(1024), y(1024);
  const auto run = [&](ConfusionTransposeTiling tiling, int type, const char* part) {
    RUN(transpose_kernel<half>, 1).auto_sync(false)(x, y, 1024, 1024, tiling, type, false);
    twin_test::expect_found(twin::Kind::Limit, part);
  };
  ConfusionTransposeTiling t;
  run(t, 1, "its tiling is empty");
  GetTransposeTilingInfo(ge::Shape({1, 2, 16, 32}), 4096, 2, 1, t);
  run(t, 2, "of another transposeType");
  run(t, 10, "a transposeType of another function");
  GetTransposeTilingInfo(ge::Shape({1, 2, 16, 24}), 4096, 2, 1, t);
  run(t, 1, "H / N is no multiple of 16");
  GetConfusionTransposeOnlyTilingInfo(ge::Shape({24, 16}), 4096, 2, t);
  run(t, 7, "H and W are no multiples of 16");
}

}  // namespace
