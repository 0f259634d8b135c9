// SPDX-License-Identifier: Apache-2.0
// TopK in both modes, DropOut in its five, the sum of exclusive ors, Digamma; what is wrong with a call.
#include <algorithm>
#include <cstring>
#include <limits>

#include "rows_support.hpp"

using namespace AscendC;
using twin_test::expect_found;
using twin_test::gm;
using twin_test::order;
using twin_test::random_values;
using twin_test::Standing;
using twin_test::ub;

namespace {

// ---- TopK ----
struct TopKCase {
  int rows, inner, n, k;
  bool largest;
};
template <class T, bool kIndex, bool kFinish, TopKMode kMode, bool kWork>
void topk_kernel(GM_ADDR in, GM_ADDR index, GM_ADDR finish, GM_ADDR values, GM_ADDR indices, TopKCase c) {
  const bool small = kMode == TopKMode::TOPK_NSMALL;
  const int block = 32 / static_cast<int>(sizeof(T)), whole = c.rows * c.inner;
  const int value_step = small ? c.k : (c.k + block - 1) / block * block, index_step = small ? c.k : (c.k + 7) / 8 * 8;
  const int indices_given = small ? whole : c.inner;
  const auto x = ub<T>(0, whole), v = ub<T>(65536, 4096);
  const auto i = ub<std::int32_t>(32768, 4096), o = ub<std::int32_t>(81920, 4096);
  const auto f = ub<bool>(98304, 64);
  const auto work = ub<std::uint8_t>(131072, 32768);
  DataCopy(x, gm<T>(in, whole), whole);
  DataCopy(i, gm<std::int32_t>(index, indices_given), indices_given);
  DataCopy(f.template ReinterpretCast<std::uint8_t>(), gm<std::uint8_t>(finish, 32), 32);
  order<HardEvent::MTE2_V>();
  const TopKInfo info = {c.rows, c.inner, c.n};
  if constexpr (kWork) {
    const Standing standing(true);
    TopK<T, kIndex, kFinish, false, kMode>(v, o, x, i, f, work, c.k, TopkTiling(), info, c.largest);
  } else {
    TopK<T, kIndex, kFinish, false, kMode>(v, o, x, i, f, c.k, TopkTiling(), info, c.largest);
  }
  order<HardEvent::V_MTE3>();
  const auto bytes = static_cast<std::uint32_t>(c.k);
  if (small) {
    DataCopyPad(gm<T>(values, c.rows * c.k), v, DataCopyExtParams(1, c.rows * bytes * sizeof(T), 0, 0, 0));
    DataCopyPad(gm<std::int32_t>(indices, c.rows * c.k), o, DataCopyExtParams(1, c.rows * bytes * 4, 0, 0, 0));
    return;
  }
  for (int r = 0; r < c.rows; ++r) {
    DataCopyPad(gm<T>(values + r * c.k * sizeof(T), c.k), v[r * value_step],
                DataCopyExtParams(1, bytes * sizeof(T), 0, 0, 0));
    DataCopyPad(gm<std::int32_t>(indices + r * c.k * 4, c.k), o[r * index_step], DataCopyExtParams(1, bytes * 4, 0, 0, 0));
  }
}
template <class T, bool kIndex, bool kFinish, TopKMode kMode, bool kWork>
void check_topk(TopKCase c, unsigned seed) {
  auto in = random_values<T>(seed, c.rows * c.inner, -40, 40);
  for (T& v : in) v = T(std::nearbyint(static_cast<float>(v)));  // with equal ones
  in[c.inner / 2] = T(std::numeric_limits<float>::quiet_NaN());
  in[1] = T(std::numeric_limits<float>::infinity());
  for (int r = 0; r < c.rows; ++r) {
    for (int m = c.n; m < c.inner; ++m) in[r * c.inner + m] = T(c.largest ? -INFINITY : INFINITY);
  }
  std::vector<std::int32_t> index(c.rows * c.inner);
  for (std::size_t m = 0; m < index.size(); ++m) index[m] = static_cast<std::int32_t>(1000 + 3 * m);
  std::vector<std::uint8_t> finish(32);
  for (int r = 0; r < c.rows; ++r) finish[r] = r % 2;
  twin_test::Device<T> x(in), values(c.rows * c.k);
  twin_test::Device<std::int32_t> i(index), indices(c.rows * c.k);
  twin_test::Device<std::uint8_t> f(finish);
  RUN((topk_kernel<T, kIndex, kFinish, kMode, kWork>), 1).auto_sync(false)(x, i, f, values, indices, c);
  EXPECT_SILENT();
  const auto v = values.values();
  const auto o = indices.values();
  for (int r = 0; r < c.rows; ++r) {
    std::vector<int> places(c.inner);
    for (int m = 0; m < c.inner; ++m) places[m] = m;
    const auto value = [&](int m) { return static_cast<double>(in[r * c.inner + m]); };
    std::stable_sort(places.begin(), places.end(), [&](int a, int b) {
      if (std::isnan(value(a)) || std::isnan(value(b))) return std::isnan(value(a)) && !std::isnan(value(b));
      return c.largest ? value(a) > value(b) : value(a) < value(b);
    });
    for (int m = 0; m < c.k; ++m) {
      const T want = in[r * c.inner + places[m]];
      ASSERT_TRUE(v[r * c.k + m] == want || (std::isnan(float(want)) && std::isnan(float(v[r * c.k + m]))))
          << "seed " << seed << ", row " << r << ", " << m << ": " << float(v[r * c.k + m]) << ", not " << float(want);
      const int small_row = kMode == TopKMode::TOPK_NSMALL ? r * c.inner : 0;
      const int place = kIndex ? index[small_row + places[m]] : places[m];
      ASSERT_EQ(o[r * c.k + m], kFinish && r % 2 ? c.n : place) << "seed " << seed << ", row " << r << ", " << m;
    }
  }
}
template <class T>
void topk_forms() {
  constexpr TopKMode kNormal = TopKMode::TOPK_NORMAL, kSmall = TopKMode::TOPK_NSMALL;
  check_topk<T, false, false, kNormal, true>({3, 96, 90, 11, true}, 1);
  check_topk<T, true, true, kNormal, false>({4, 64, 64, 5, false}, 2);
  check_topk<T, true, false, kNormal, true>({1, 1024, 1000, 32, true}, 3);
  check_topk<T, false, true, kNormal, true>({2, 32, 31, 31, false}, 4);
  check_topk<T, false, false, kSmall, false>({5, 32, 17, 8, true}, 5);
  check_topk<T, true, false, kSmall, true>({4, 32, 32, 3, false}, 6);
}
TEST(TopK, OrdersRowsInBothModes) {
  topk_forms<float>();
  topk_forms<half>();
}

void wrong_topk(GM_ADDR in, int inner, int n, int k, int which) {
  const auto x = ub<float>(0, 8192), v = ub<float>(32768, 4096);
  const auto o = ub<std::int32_t>(65536, 4096);
  const auto work = which == 1 ? LocalTensor<std::uint8_t>(TPosition::VECIN, 98304, 32768) : ub<std::uint8_t>(98304, 32768);
  Duplicate(x, 1.0f, 8192);
  PipeBarrier<PIPE_V>();
  LocalTensor<std::int32_t> no_index;
  LocalTensor<bool> no_finish;
  (void)in;
  TopK<float>(which == 2 ? x[8] : v, o, x, no_index, no_finish, work, k, TopkTiling(), TopKInfo{1, inner, n});
}
TEST(TopK, RefusesWhatItsPageRulesOut) {
  twin_test::Device<float> x(8);
  const auto run = [&](int inner, int n, int k, int which) { RUN(wrong_topk, 1).auto_sync(false)(x, inner, n, k, which); };
  run(40, 40, 4, 0);
  expect_found(twin::Kind::Limit, "inner 40");
  run(4128, 4128, 4, 0);
  expect_found(twin::Kind::Limit, "inner 4128");
  run(64, 65, 4, 0);
  expect_found(twin::Kind::Limit, "n 65");
  run(64, 60, 61, 0);
  expect_found(twin::Kind::Limit, "k 61 of n 60");
  run(64, 60, 4, 1);
  expect_found(twin::Kind::Limit, "another position than VECCALC");
  run(64, 60, 4, 2);
  expect_found(twin::Kind::Overlap, "dstValueLocal lies over srcLocal");
  run(64, 60, 4, 0);
  EXPECT_SILENT();
}
void unfilled_kernel(GM_ADDR in, GM_ADDR out) {
  const auto x = ub<float>(0, 32), v = ub<float>(1024, 8);
  const auto o = ub<std::int32_t>(2048, 8);
  DataCopy(x, gm<float>(in, 24), 24);
  order<HardEvent::MTE2_V>();
  TopK<float>(v, o, x, LocalTensor<std::int32_t>(), LocalTensor<bool>(), 8, TopkTiling(), TopKInfo{1, 32, 24});
  order<HardEvent::V_MTE3>();
  DataCopy(gm<std::int32_t>(out, 8), o, 8);
}
TEST(TopK, PaddingThatNobodyFilledTakesPartInTheOrder) {
  twin_test::Device<float> x(std::vector<float>(24, 1.0f)), y(8);
  RUN(unfilled_kernel, 1).auto_sync(false)(x, y);
  EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::Uninitialised), nullptr);
}

// ---- DropOut ----
constexpr std::uint32_t kRows = 4, kColumns = 48, kPaddedBytes = 64, kPaddedBits = 32;
template <class T, std::uint32_t kMode, bool kWork>
void dropout_kernel(GM_ADDR in, GM_ADDR mask, GM_ADDR out, std::uint32_t mask_columns, int mask_bytes) {
  constexpr int kN = kRows * kColumns;
  const auto x = ub<T>(0, kN), y = ub<T>(4096, kN);
  const auto m = ub<std::uint8_t>(8192, 512), work = ub<std::uint8_t>(16384, 8192);
  DataCopy(x, gm<T>(in, kN), kN);
  DataCopy(m, gm<std::uint8_t>(mask, mask_bytes), mask_bytes);
  order<HardEvent::MTE2_V>();
  DropOutShapeInfo info;
  info.firstAxis = kRows;
  info.srcLastAxis = kColumns;
  info.maskLastAxis = mask_columns;
  if constexpr (kWork) {
    const Standing standing(true);
    DropOut<T, false, kMode>(y, x, m, work, 0.75f, info);
  } else {
    DropOut<T, true, kMode>(y, x, m, 0.75f, info);
  }
  order<HardEvent::V_MTE3>();
  DataCopy(gm<T>(out, kN), y, kN);
}
template <class T, std::uint32_t kMode, bool kWork>
void check_dropout(bool bits, std::uint32_t mask_columns) {
  const auto in = random_values<T>(11, kRows * kColumns, -2, 2);
  std::mt19937 random(12);
  std::vector<std::uint8_t> mask(256);
  for (auto& b : mask) b = static_cast<std::uint8_t>(bits ? random() % 256 : random() % 2);
  twin_test::Device<T> x(in), y(in.size());
  twin_test::Device<std::uint8_t> m(mask);
  RUN((dropout_kernel<T, kMode, kWork>), 1).auto_sync(false)(x, m, y, mask_columns, 256);
  EXPECT_SILENT();
  const auto got = y.values();
  for (std::uint32_t k = 0; k < in.size(); ++k) {
    const std::uint32_t r = k / kColumns, column = k % kColumns;
    const bool kept =
        bits ? (mask[r * mask_columns + column / 8] >> (column % 8) & 1) != 0 : mask[r * mask_columns + column] != 0;
    const T want = kept ? T(static_cast<float>(static_cast<double>(in[k]) / 0.75)) : T(0.0f);
    ASSERT_EQ(float(got[k]), float(want)) << "mode " << kMode << ", element " << k;
  }
}
template <class T>
void dropout_forms() {
  check_dropout<T, 0, true>(false, kColumns);
  check_dropout<T, 0, false>(false, kPaddedBytes);
  check_dropout<T, 0, true>(true, kColumns / 8);
  check_dropout<T, 0, false>(true, kPaddedBits);
  check_dropout<T, 1, true>(false, kPaddedBytes);
  check_dropout<T, 2, false>(false, kColumns);
  check_dropout<T, 3, true>(true, kColumns / 8);
  check_dropout<T, 4, false>(true, kPaddedBits);
}
TEST(DropOut, TakesBytesAndBitsWithAndWithoutPadding) {
  dropout_forms<float>();
  dropout_forms<half>();
}
template <std::uint32_t kMode>
void wrong_dropout(GM_ADDR, std::uint32_t columns, std::uint32_t mask_columns, float keep) {
  const auto x = ub<float>(0, 1024), y = ub<float>(8192, 1024);
  const auto m = ub<std::uint8_t>(16384, 1024);
  Duplicate(x, 1.0f, 1024);
  Duplicate(m.ReinterpretCast<std::int32_t>(), 0x01010101, 256);
  PipeBarrier<PIPE_V>();
  DropOutShapeInfo info;
  info.firstAxis = 2;
  info.srcLastAxis = columns;
  info.maskLastAxis = mask_columns;
  DropOut<float, false, kMode>(y, x, m, keep, info);
}
TEST(DropOut, RefusesMasksTooShortAndProbabilitiesThatAreNone) {
  twin_test::Device<float> x(8);
  RUN(wrong_dropout<1>, 1).auto_sync(false)(x, 64u, 32u, 0.5f);
  expect_found(twin::Kind::Limit, "maskLastAxis 32 for rows of 64");
  RUN(wrong_dropout<4>, 1).auto_sync(false)(x, 64u, 4u, 0.5f);
  expect_found(twin::Kind::Limit, "maskLastAxis 4 for rows of 64");
  RUN(wrong_dropout<0>, 1).auto_sync(false)(x, 64u, 64u, 0.0f);
  expect_found(twin::Kind::Limit, "keepProb 0");
  RUN(wrong_dropout<0>, 1).auto_sync(false)(x, 0u, 64u, 0.5f);
  expect_found(twin::Kind::Limit, "DropOut of 2 rows of 0 elements");
}

// ---- ReduceXorSum ----
template <bool kWork>
void xor_kernel(GM_ADDR in, GM_ADDR out, int n) {
  const auto a = ub<std::int16_t>(0, n), b = ub<std::int16_t>(8192, n), d = ub<std::int16_t>(16384, 16);
  const auto work = ub<std::uint8_t>(32768, 8192);
  DataCopy(a, gm<std::int16_t>(in, n), n);
  DataCopy(b, gm<std::int16_t>(in + n * 2, n), n);
  order<HardEvent::MTE2_V>();
  LocalTensor<std::int16_t> dst = d;
  if constexpr (kWork) {
    const Standing standing(true);
    ReduceXorSum<std::int16_t>(dst, a, b, work, n - 3);
  } else {
    ReduceXorSum<std::int16_t, true>(dst, a, b, n - 3);
  }
  order<HardEvent::V_MTE3>();
  DataCopyPad(gm<std::int16_t>(out, 1), dst, DataCopyExtParams(1, 2, 0, 0, 0));
}
void check_xor(int n, int spread) {
  std::mt19937 random(n);
  std::vector<std::int16_t> in(2 * n);
  for (auto& v : in) v = static_cast<std::int16_t>(static_cast<int>(random() % spread) - spread / 3);
  std::int64_t sum = 0;
  for (int k = 0; k < n - 3; ++k) sum += in[k] ^ in[n + k];
  const auto want = static_cast<std::int16_t>(std::clamp<std::int64_t>(sum, -32768, 32767));
  twin_test::Device<std::int16_t> x(in), y(16), z(16);
  RUN(xor_kernel<true>, 1).auto_sync(false)(x, y, n);
  RUN(xor_kernel<false>, 1).auto_sync(false)(x, z, n);
  EXPECT_SILENT();
  EXPECT_EQ(y.values()[0], want);
  EXPECT_EQ(z.values()[0], want);
}
TEST(ReduceXorSum, AddsAndStaysInsideOfItsType) {
  check_xor(256, 100);
  check_xor(1024, 30000);
}

// ---- Digamma ----
template <class T, bool kWork>
void digamma_kernel(GM_ADDR in, GM_ADDR out) {
  const auto x = ub<T>(0, 64), y = ub<T>(1024, 64);
  const auto work = ub<std::uint8_t>(4096, 8192);
  DataCopy(x, gm<T>(in, 64), 64);
  order<HardEvent::MTE2_V>();
  if constexpr (kWork) {
    Digamma(y, x, work, 64);
  } else {
    Digamma<T, false>(y, x, 64);
  }
  order<HardEvent::V_MTE3>();
  DataCopy(gm<T>(out, 64), y, 64);
}
template <class T, bool kWork>
void check_digamma() {
  // ψ(1) = −γ, ψ(1/2) = −γ − 2 ln 2, ψ(n + 1) = ψ(n) + 1/n, ψ(1 − x) = ψ(x) + π / tan(π x)
  constexpr double kGamma = 0.57721566490153286, kPi = 3.14159265358979323846;
  std::vector<T> in(64, T(0.5f));
  std::vector<double> want(64, -kGamma - 2 * std::log(2.0));
  double harmonic = -kGamma;
  for (int k = 1; k < 32; ++k) {
    in[k] = T(static_cast<float>(k));
    want[k] = harmonic;
    harmonic += 1.0 / k;
  }
  double halves = want[0];
  for (int k = 0; k < 8; ++k) {  // 0.5 + k, and below zero: ψ(1/2 − k) = ψ(1/2 + k)
    in[32 + k] = T(0.5f + static_cast<float>(k));
    in[40 + k] = T(0.5f - static_cast<float>(k));
    want[32 + k] = want[40 + k] = halves;
    halves += 1 / (0.5 + k);
  }
  in[48] = T(-0.25f);
  want[48] = -kGamma - kPi / 2 - 3 * std::log(2.0) + 4 + kPi;  // ψ(1/4) + 4 + π: by reflection of ψ(5/4)
  twin_test::Device<T> x(in), y(64);
  RUN((digamma_kernel<T, kWork>), 1).auto_sync(false)(x, y);
  EXPECT_SILENT();
  for (int k = 0; k < 49; ++k)
    EXPECT_EQ(float(y.values()[k]), float(T(static_cast<float>(want[k])))) << "of " << float(in[k]);
}
TEST(Digamma, AtWholeAndHalfNumbers) {
  check_digamma<float, true>();
  check_digamma<float, false>();
  check_digamma<half, true>();
  check_digamma<half, false>();
}

}  // namespace
