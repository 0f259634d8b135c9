// SPDX-License-Identifier: Apache-2.0
// Instructions that compute and convert, compare registers, and what reductions leave behind.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

// Runs body on sources at 0 and 32 KB and a destination at 64 KB, n elements each; returns the destination.
template <class D, class S>
using Body = void (*)(const LocalTensor<D>&, const LocalTensor<S>&, const LocalTensor<S>&);
template <class D, class S>
void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR old, GM_ADDR z, int n, Body<D, S> body) {
  const auto a = ub<S>(0, n), b = ub<S>(32768, n);
  const auto d = ub<D>(65536, n);
  DataCopy(a, gm<S>(x, n), n);
  DataCopy(b, gm<S>(y, n), n);
  DataCopy(d, gm<D>(old, n), n);
  order<HardEvent::MTE2_V>();
  body(d, a, b);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<D>(z, n), d, n);
}
template <class D, class S>
std::vector<D> run(const std::vector<S>& a, const std::vector<S>& b, Body<D, S> body) {
  const int n = static_cast<int>(a.size());
  twin_test::Device<S> x(a), y(b);
  twin_test::Device<D> old(std::vector<D>(n, D(1))), z(n);
  RUN((kernel<D, S>), 1).auto_sync(false)(x, y, old, z, n, body);
  EXPECT_SILENT();
  return z.values();
}
template <class S>
std::vector<S> values(unsigned seed, int n, int range) {
  std::mt19937 random(seed);
  std::vector<S> v(n);
  for (S& e : v)
    e = S(static_cast<float>(static_cast<int>(random() % (2 * range)) - range) / (std::is_integral<S>::value ? 1 : 4));
  return v;
}
float relu(float x) { return x > 0 ? x : 0; }
float byte(float x, bool is_signed = true) {
  const float r = std::nearbyint(x);
  return is_signed ? std::min(std::max(r, -128.0f), 127.0f) : std::min(std::max(r, 0.0f), 255.0f);
}

template <class D, class S>
void check_relu_cast() {
  const auto a = values<S>(1, 512, 700), b = values<S>(2, 512, 700);
  const auto sum = run<D, S>(
      a, b, [](const LocalTensor<D>& d, const LocalTensor<S>& s, const LocalTensor<S>& t) { AddReluCast(d, s, t, 512); });
  const auto difference = run<D, S>(a, b, [](const LocalTensor<D>& d, const LocalTensor<S>& s, const LocalTensor<S>& t) {
    SubReluCast(d, s, t, std::uint64_t{40}, 2, BinaryRepeatParams(1, 1, 1, sizeof(S) == 4 ? 4 : 4, 8, 8));
  });
  constexpr int kLanes = 256 / sizeof(S);
  for (int k = 0; k < 512; ++k) {
    const float x = float(a[k]), y = float(b[k]);
    const float want = sizeof(D) == 1 ? byte(relu(x + y)) : float(half(relu(x + y)));
    ASSERT_EQ(float(sum[k]), want) << k;
  }
  for (int r = 0; r < 2; ++r) {
    for (int l = 0; l < kLanes; ++l) {
      const float x = float(a[r * kLanes + l]), y = float(b[r * kLanes + l]);
      const float want = sizeof(D) == 1 ? byte(relu(x - y)) : float(half(relu(x - y)));
      ASSERT_EQ(float(difference[r * 4 * 32 / sizeof(D) + l]), l < 40 ? want : 1) << r << " " << l;
    }
  }
}
TEST(AddReluCast, AndSubReluCastInEveryPairOfTypes) {
  check_relu_cast<std::int8_t, half>();
  check_relu_cast<half, float>();
  check_relu_cast<std::int8_t, std::int16_t>();
}
TEST(MulCast, SaturatesToBytes) {
  const auto a = values<half>(3, 256, 60), b = values<half>(4, 256, 60);
  const auto s = run<std::int8_t, half>(
      a, b, [](const LocalTensor<std::int8_t>& d, const LocalTensor<half>& x, const LocalTensor<half>& y) {
        MulCast(d, x, y, 256);
      });
  const auto u = run<std::uint8_t, half>(
      a, b, [](const LocalTensor<std::uint8_t>& d, const LocalTensor<half>& x, const LocalTensor<half>& y) {
        MulCast(d, x, y, 256);
      });
  for (int k = 0; k < 256; ++k) {
    const float product = float(half(float(a[k]) * float(b[k])));
    ASSERT_EQ(s[k], byte(product));
    ASSERT_EQ(u[k], byte(product, false));
  }
}
TEST(AddDeqRelu, ScalesTheSum) {
  const auto a = values<std::int32_t>(5, 128, 5000), b = values<std::int32_t>(6, 128, 5000);
  const auto d = run<half, std::int32_t>(
      a, b, [](const LocalTensor<half>& out, const LocalTensor<std::int32_t>& x, const LocalTensor<std::int32_t>& y) {
        SetDeqScale(half(0.125f));
        std::uint64_t mask[2] = {0x00ff00ff00ff00ffull, 0};
        AddDeqRelu(out, x, y, mask, 2, BinaryRepeatParams(1, 1, 1, 4, 8, 8));
      });
  for (int k = 0; k < 128; ++k)
    ASSERT_EQ(float(d[k]), k % 16 < 8 ? float(half(relu(static_cast<float>(a[k] + b[k]) * 0.125f))) : 1) << k;
}
TEST(Cast, FromInt32ToHalfTakesTheScale) {
  const auto a = values<std::int32_t>(5, 64, 5000);
  const auto d = run<half, std::int32_t>(
      a, a, [](const LocalTensor<half>& out, const LocalTensor<std::int32_t>& x, const LocalTensor<std::int32_t>&) {
        SetDeqScale(half(0.5f));
        Cast(out, x, RoundMode::CAST_NONE, 64);
      });
  for (int k = 0; k < 64; ++k) EXPECT_EQ(float(d[k]), float(half(static_cast<float>(a[k]) * 0.5f)));
}
void unscaled_kernel(GM_ADDR, GM_ADDR) {
  Duplicate(ub<std::int32_t>(0, 64), 1, 64);
  Cast(ub<half>(1024, 64), ub<std::int32_t>(0, 64), RoundMode::CAST_NONE, 64);
}
TEST(Cast, FromInt32ToHalfWithoutAScaleIsReported) {
  twin_test::Device<float> x(64), y(64);
  RUN(unscaled_kernel, 1)(x, y);
  EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::Uninitialised), nullptr);
}
TEST(CastDeq, FillsHalvesOfBlocks) {
  const auto a = values<std::int16_t>(7, 256, 1000);
  const auto one = run<std::int8_t, std::int16_t>(
      a, a, [](const LocalTensor<std::int8_t>& d, const LocalTensor<std::int16_t>& x, const LocalTensor<std::int16_t>&) {
        SetDeqScale(0.25f, 3, true);
        CastDeq<std::int8_t, std::int16_t, false, true>(d, x, 128);
      });
  const auto each = run<std::uint8_t, std::int16_t>(
      a, a, [](const LocalTensor<std::uint8_t>& d, const LocalTensor<std::int16_t>& x, const LocalTensor<std::int16_t>&) {
        VdeqInfo info;
        for (int k = 0; k < 16; ++k)
          info.vdeqScale[k] = 0.125f * static_cast<float>(k), info.vdeqOffset[k] = static_cast<std::int16_t>(-k);
        SetDeqScale(ub<std::uint64_t>(131072, 16), info);
        CastDeq<std::uint8_t, std::int16_t, true, true, false>(d, x, 128, 1, UnaryRepeatParams(1, 1, 8, 8));
      });
  for (int k = 0; k < 128; ++k) {
    ASSERT_EQ(one[k / 16 * 32 + k % 16], byte(std::nearbyint(a[k] * 0.25f) + 3)) << k;
    ASSERT_EQ(one[k / 16 * 32 + 16 + k % 16], 1) << k;
    ASSERT_EQ(each[k / 16 * 32 + 16 + k % 16],
              byte(std::nearbyint(a[k] * 0.125f * static_cast<float>(k % 16)) - k % 16, false))
        << k;
    ASSERT_EQ(each[k / 16 * 32 + k % 16], 1) << k;
  }
}

// ---- compare and select ----
template <class T>
void check_register() {
  constexpr int kLanes = 256 / sizeof(T);
  const auto a = values<T>(8, 2 * kLanes, 9), b = values<T>(9, 2 * kLanes, 9);
  const auto d = run<T, T>(a, b, [](const LocalTensor<T>& out, const LocalTensor<T>& x, const LocalTensor<T>& y) {
    Compare(x, y, CMPMODE::LT, std::uint64_t{kLanes}, BinaryRepeatParams());
    PipeBarrier<PIPE_V>();
    GetCmpMask(ub<std::uint8_t>(131072, 16));
    PipeBarrier<PIPE_V>();
    Compare(y, x, CMPMODE::EQ, std::uint64_t{kLanes}, BinaryRepeatParams());  // another, then the first again
    SetCmpMask(ub<std::uint8_t>(131072, 16));
    SetVectorMask<T>(kLanes - 3);
    Select<T, SELMODE::VSEL_CMPMASK_SPR>(out, x, y, 2, BinaryRepeatParams());
    ResetMask();
  });
  for (int r = 0; r < 2; ++r) {
    for (int l = 0; l < kLanes; ++l) {
      const int k = r * kLanes + l;
      ASSERT_EQ(float(d[k]), l >= kLanes - 3 ? 1 : float(a[l]) < float(b[l]) ? float(a[k]) : float(b[k])) << k;
    }
  }
}
TEST(Compare, KeepsItsBitsInTheRegister) {
  check_register<half>();
  check_register<float>();
}
TEST(Select, TakesBitsAndScalarsInEveryForm) {
  const auto a = values<float>(10, 128, 9), b = values<float>(11, 128, 9);
  for (const bool repeats : {true, false}) {
    static SELMODE mode;
    mode = repeats ? SELMODE::VSEL_CMPMASK_SPR : SELMODE::VSEL_TENSOR_TENSOR_MODE;
    const auto d =
        run<float, float>(a, b, [](const LocalTensor<float>& out, const LocalTensor<float>& x, const LocalTensor<float>& y) {
          const auto bits = ub<std::uint8_t>(131072, 32);
          Compares(bits, x, 0.0f, CMPMODE::GE, std::uint64_t{64}, 2, UnaryRepeatParams());
          PipeBarrier<PIPE_V>();
          std::uint64_t lanes[2] = {~1ull, 0};
          Select(out, bits, x, y, mode, lanes, 2, BinaryRepeatParams());
        });
    for (int k = 0; k < 128; ++k) {
      const int chooser = repeats ? k % 64 : k;
      ASSERT_EQ(d[k], k % 64 == 0 ? 1 : a[chooser] >= 0 ? a[k] : b[k]) << k;
    }
  }
}

// Mode 2 over the register: it holds where the bits lie.
template <class T>
void check_select_by_address() {
  constexpr int kOne = 256 / sizeof(T);
  const auto a = values<T>(12, 2 * kOne, 9), b = values<T>(13, 2 * kOne, 9);
  const auto d = run<T, T>(a, b, [](const LocalTensor<T>& out, const LocalTensor<T>& x, const LocalTensor<T>& y) {
    const auto bits = ub<std::uint8_t>(131072, 32);
    const auto address = ub<std::int32_t>(131104, 8);
    Compares(bits, x, T(0.0f), CMPMODE::GE, std::uint64_t{kOne}, 2, UnaryRepeatParams());
    Duplicate(address, static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(bits.GetPhyAddr())), 8);
    PipeBarrier<PIPE_V>();
    SetCmpMask(address);
    PipeBarrier<PIPE_V>();
    SetVectorMask<T>(kOne - 5);
    Select<T, SELMODE::VSEL_TENSOR_TENSOR_MODE>(out, x, y, 2, BinaryRepeatParams());
    ResetMask();
  });
  for (int k = 0; k < 2 * kOne; ++k)
    ASSERT_EQ(float(d[k]), k % kOne >= kOne - 5 ? 1 : float(a[k]) >= 0 ? float(a[k]) : float(b[k])) << k;
}
TEST(Select, FollowsTheAddressInTheRegister) {
  check_select_by_address<half>();
  check_select_by_address<float>();
}
void wrong_address(GM_ADDR, int what) {
  const auto address = ub<std::int32_t>(131104, 8);
  const auto x = ub<float>(0, 64), y = ub<float>(256, 64);
  Duplicate(ub<float>(0, 128), 0.0f, 128);
  if (what != 0) Duplicate(address, what == 1 ? 0x7ffffff0 : 8, 8);
  PipeBarrier<PIPE_V>();
  SetCmpMask(address);
  SetVectorMask<float>(64);
  Select<float, SELMODE::VSEL_TENSOR_TENSOR_MODE>(x, x, y, 1, BinaryRepeatParams());
}
TEST(Select, ReportsWhatIsNoAddressInTheRegister) {
  twin_test::Device<float> x(64);
  const std::pair<twin::Kind, const char*> said[] = {{twin::Kind::Uninitialised, "uses as an address"},
                                                     {twin::Kind::OutOfBounds, "no address in UB"},
                                                     {twin::Kind::Alignment, "does not begin on 32 bytes"}};
  for (int what = 0; what < 3; ++what) {
    twin::take_findings();
    RUN(wrong_address, 1).as(twin::KernelType::AivOnly)(x, what);
    twin_test::expect_found(said[what].first, said[what].second);
  }
}

// ---- reductions ----
TEST(Reduce, MasksRegistersAndNewerNames) {
  static float most, index, sum;
  const auto a = values<float>(12, 256, 500);
  const auto d =
      run<float, float>(a, a, [](const LocalTensor<float>& out, const LocalTensor<float>& x, const LocalTensor<float>&) {
        const auto work = ub<float>(131072, 64);
        std::uint64_t even[2] = {0x5555555555555555ull, 0};
        ReduceMax(out, x, work, even, 4, 8, true);
        PipeBarrier<PIPE_V>();
        GetReduceMaxMinCount<float>(most, index);
        ReduceMin(out[8], x, work, even, 4, 8);
        PipeBarrier<PIPE_V>();
        RepeatReduceSum(out[16], x, 4, 10, 1, 1, 1, 8);
        sum = GetAccVal<float>();
        ReduceRepeat<ReduceType::MAX>(out[24], x, 64, 2, 1, 1, 8);
        ReduceDataBlock<ReduceType::SUM>(out[32], x, 1, even, 1, 1, 8);
        ReducePairElem<ReduceType::SUM>(out[64], x, 2, 64, 1, 1, 8);
        ReduceSum(out[128], x, work, even, 4, 8);
        SetFlag<HardEvent::S_V>(1);
        WaitFlag<HardEvent::S_V>(1);
      });
  int at = 0;
  float least = a[0], total = 0;
  for (int k = 0; k < 256; k += 2) {
    if (a[k] > a[at]) at = k;
    least = std::min(least, a[k]);
    total += a[k];
  }
  std::uint32_t bits;
  std::memcpy(&bits, &d[1], 4);
  EXPECT_EQ(d[0], a[at]);
  EXPECT_EQ(bits, static_cast<std::uint32_t>(at));
  EXPECT_EQ(most, a[at]);
  std::memcpy(&bits, &index, 4);
  EXPECT_EQ(bits, static_cast<std::uint32_t>(at));
  EXPECT_EQ(d[8], least);
  for (int r = 0; r < 4; ++r) {
    float want = 0;
    for (int k = 0; k < 10; ++k) want += a[r * 64 + k];
    EXPECT_EQ(d[16 + r], want);
    if (r == 3) {
      EXPECT_EQ(sum, want);
    }
  }
  EXPECT_EQ(d[24], *std::max_element(a.begin(), a.begin() + 64));
  for (int b = 0; b < 8; ++b) EXPECT_EQ(d[32 + b], a[b * 8] + a[b * 8 + 2] + a[b * 8 + 4] + a[b * 8 + 6]);
  for (int p = 0; p < 64; ++p) EXPECT_EQ(d[64 + p], a[2 * p] + a[2 * p + 1]);
  EXPECT_EQ(d[128], total);
}
TEST(Reduce, SumsOfHalvesStayAtTheEndOfTheirRange) {
  std::vector<half> a(128, half(0));
  a[0] = a[1] = half(60000);
  a[2] = half(-30000);
  a[3] = half(100);
  const auto d =
      run<half, half>(a, a, [](const LocalTensor<half>& out, const LocalTensor<half>& x, const LocalTensor<half>&) {
        WholeReduceSum(out, x, 128, 1, 1, 1, 8);
        BlockReduceSum(out[16], x, 1, 128, 1, 1, 8);
      });
  // 60000 + 60000 stays at 65504, −30000 + 100 = −29900 (−29904 in half)
  const float want = float(half(65504 + float(half(-29900))));
  EXPECT_EQ(float(d[0]), want);
  EXPECT_EQ(float(d[16]), want);
}

}  // namespace
