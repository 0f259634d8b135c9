// SPDX-License-Identifier: Apache-2.0
// The compiler's own names of vector instructions beside the functions of the reference that do the same.
#include "raw_support.hpp"

using namespace raw_test;
using twin::Kind;

namespace {

using namespace AscendC;

template <class T>
void check_reductions() {
  const auto a = numbers<T>(1);
  constexpr int kOne = 256 / sizeof(T), kRepeats = kLanes / kOne, kBlock = 32 / sizeof(T);
  const auto sums = run<T, T>(a, a, [](auto* x, auto*, auto* z) { zero(z), vcadd(z, x, kRepeats, 1, 1, 8, false); });
  const auto largest = run<T, T>(a, a, [](auto* x, auto*, auto* z) { zero(z), vcmax(z, x, kRepeats, 1, 1, 8, ONLY_VALUE); });
  const auto least = run<T, T>(a, a, [](auto* x, auto*, auto* z) { zero(z), vcmin(z, x, kRepeats, 1, 1, 8, VALUE_INDEX); });
  const auto blocks = run<T, T>(a, a, [](auto* x, auto*, auto* z) { zero(z), vcgadd(z, x, kRepeats, 1, 1, 8); });
  const auto tops = run<T, T>(a, a, [](auto* x, auto*, auto* z) { zero(z), vcgmax(z, x, kRepeats, 1, 1, 8); });
  const auto bottoms = run<T, T>(a, a, [](auto* x, auto*, auto* z) { zero(z), vcgmin(z, x, kRepeats, 1, 1, 8); });
  const auto pairs = run<T, T>(a, a, [](auto* x, auto*, auto* z) { zero(z), vcpadd(z, x, kRepeats, 1, 1, 8); });
  for (int r = 0; r < kRepeats; ++r) {
    float sum = 0, top = -1e9f, low = 1e9f;
    for (int k = 0; k < kOne; ++k) {
      const float v = a[r * kOne + k];
      sum += v, top = std::max(top, v), low = std::min(low, v);
    }
    EXPECT_EQ(float(sums[r]), float(T(sum))) << r;
    EXPECT_EQ(float(largest[r]), top) << r;
    EXPECT_EQ(float(least[2 * r]), low) << r;
  }
  for (int q = 0; q < kRepeats * 8; ++q) {
    float sum = 0, top = -1e9f, low = 1e9f;
    for (int k = 0; k < kBlock; ++k) {
      const float v = a[q * kBlock + k];
      sum += v, top = std::max(top, v), low = std::min(low, v);
    }
    EXPECT_EQ(float(blocks[q]), float(T(sum))) << q;
    EXPECT_EQ(float(tops[q]), top) << q;
    EXPECT_EQ(float(bottoms[q]), low) << q;
  }
  for (int q = 0; q < kRepeats * kOne / 2; ++q) EXPECT_EQ(float(pairs[q]), float(a[2 * q]) + float(a[2 * q + 1])) << q;
}
TEST(RawVector, Reduces) {
  check_reductions<float>();
  check_reductions<half>();
}

// Each name of a conversion does what Cast does with its rounding.
template <class S, class D, class Raw>
void check_conversion(const char* name, RoundMode mode, Raw raw) {
  const auto a = numbers<S>(3);
  constexpr int kWide = sizeof(S) > sizeof(D) ? sizeof(S) : sizeof(D), kOne = 256 / kWide;
  constexpr std::uint8_t kDst = 8 * sizeof(D) / kWide, kSrc = 8 * sizeof(S) / kWide;
  const auto got = run<S, D>(a, a, [&](auto* x, auto*, auto* z) { raw(z, x, kLanes / kOne, 1, 1, kDst, kSrc); });
  const auto expected = run<S, D>(a, a, [&](auto*, auto*, auto*) {
    Cast(LocalTensor<D>(TPosition::VECCALC, 8192, kLanes), LocalTensor<S>(TPosition::VECCALC, 0, kLanes), mode, kLanes);
  });
  for (int k = 0; k < kLanes / kOne * kOne; ++k)
    ASSERT_EQ(static_cast<double>(got[k]), static_cast<double>(expected[k])) << name << " of " << static_cast<double>(a[k]);
}
#define CONVERSION(name, S, D, mode) check_conversion<S, D>(#name, RoundMode::mode, [](auto... given) { name(given...); })
#define ROUNDED(name, S, D)              \
  CONVERSION(name##r, S, D, CAST_RINT);  \
  CONVERSION(name##a, S, D, CAST_ROUND); \
  CONVERSION(name##f, S, D, CAST_FLOOR); \
  CONVERSION(name##c, S, D, CAST_CEIL);  \
  CONVERSION(name##z, S, D, CAST_TRUNC)
TEST(RawVector, Converts) {
  ROUNDED(vconv_f322f32, float, float);
  CONVERSION(vconv_f322f16, float, half, CAST_NONE);
  ROUNDED(vconv_f322f16, float, half);
  CONVERSION(vconv_f322f16o, float, half, CAST_ODD);
  ROUNDED(vconv_f322bf16, float, bfloat16_t);
  ROUNDED(vconv_f322s64, float, std::int64_t);
  ROUNDED(vconv_f322s32, float, std::int32_t);
  ROUNDED(vconv_f322s16, float, std::int16_t);
  CONVERSION(vconv_f162f32, half, float, CAST_NONE);
  ROUNDED(vconv_f162s32, half, std::int32_t);
  ROUNDED(vconv_f162s16, half, std::int16_t);
  CONVERSION(vconv_f162s8, half, std::int8_t, CAST_NONE);
  ROUNDED(vconv_f162s8, half, std::int8_t);
  CONVERSION(vconv_f162u8, half, std::uint8_t, CAST_NONE);
  ROUNDED(vconv_f162u8, half, std::uint8_t);
  CONVERSION(vconv_bf162f32, bfloat16_t, float, CAST_NONE);
  ROUNDED(vconv_bf162s32, bfloat16_t, std::int32_t);
  CONVERSION(vconv_s82f16, std::int8_t, half, CAST_NONE);
  CONVERSION(vconv_u82f16, std::uint8_t, half, CAST_NONE);
  CONVERSION(vconv_s162f16, std::int16_t, half, CAST_NONE);
  ROUNDED(vconv_s162f16, std::int16_t, half);
  CONVERSION(vconv_s162f32, std::int16_t, float, CAST_NONE);
  CONVERSION(vconv_s322f32, std::int32_t, float, CAST_NONE);
  ROUNDED(vconv_s322f32, std::int32_t, float);
  CONVERSION(vconv_s322s16, std::int32_t, std::int16_t, CAST_NONE);
  CONVERSION(vconv_s322s64, std::int32_t, std::int64_t, CAST_NONE);
  ROUNDED(vconv_s642f32, std::int64_t, float);
  CONVERSION(vconv_s642s32, std::int64_t, std::int32_t, CAST_NONE);
}

#define EACH_COMPARISON(check) \
  check(eq, ==);               \
  check(ne, !=);               \
  check(lt, <);                \
  check(gt, >);                \
  check(le, <=);               \
  check(ge, >=)
template <class T>
void check_comparisons() {
  auto a = numbers<T>(5), b = numbers<T>(6);
  for (int k = 0; k < kLanes; k += 3) b[k] = a[k];
  constexpr int kOne = 256 / sizeof(T);
  std::vector<T> chosen;
#define CHECK(suffix, op)                                                                                               \
  do {                                                                                                                  \
    const auto bits = run<T, std::uint8_t>(                                                                             \
        a, b, [](auto* x, auto* y, auto* z) { zero(z), vcmpv_##suffix(z, x, y, kLanes / kOne, 1, 1, 1, 8, 8, 8); });    \
    const auto with = run<T, std::uint8_t>(                                                                             \
        a, b, [](auto* x, auto*, auto* z) { zero(z), vcmpvs_##suffix(z, x, T(3.0f), kLanes / kOne, 1, 1, 8, 8); });     \
    chosen = run<T, T>(a, b, [](auto* x, auto* y, auto* z) {                                                            \
      zero(z), vcmp_##suffix(x, y, 1, 1, 1, 1, 8, 8, 8), vsel(z, x, y, 1, 1, 1, 1, 8, 8, 8, 0);                         \
    });                                                                                                                 \
    for (int k = 0; k < kLanes / kOne * kOne; ++k) {                                                                    \
      ASSERT_EQ(bits[k / 8] >> k % 8 & 1, int(float(a[k]) op float(b[k]))) << #suffix << ", lane " << k;                \
      ASSERT_EQ(with[k / 8] >> k % 8 & 1, int(float(a[k]) op 3.0f)) << #suffix << ", lane " << k;                       \
    }                                                                                                                   \
    for (int k = 0; k < kOne; ++k)                                                                                      \
      ASSERT_EQ(float(chosen[k]), float(a[k]) op float(b[k]) ? float(a[k]) : float(b[k])) << #suffix << ", lane " << k; \
  } while (false)
  EACH_COMPARISON(CHECK);
#undef CHECK
}
TEST(RawVector, ComparesAndChooses) {
  check_comparisons<float>();
  check_comparisons<half>();
}
TEST(RawVector, ChoosesBetweenAVectorAndTheRegistersScalar) {
  auto a = numbers<float>(7), b = numbers<float>(8);
  b[0] = 2.5f;  // what set_cmpmask takes for the scalar
  const auto got = run<float, float>(a, b, [](auto* x, auto* y, auto* z) {
    auto* const bits = (__ubuf__ std::uint8_t*)(z + kLanes);
    vcmpvs_lt(bits, x, 0.0f, 4, 1, 1, 8, 8);
    set_cmpmask(y);
    pipe_barrier(PIPE_V);
    vsel(z, x, bits, 4, 1, 1, 1, 8, 8, 8, 1);
  });
  for (int k = 0; k < kLanes; ++k) EXPECT_EQ(got[k], a[k] < 0 ? a[k] : 2.5f) << k;
}

TEST(RawVector, ChoosesByBitsThatTheRegisterPointsAt) {
  const auto a = numbers<half>(10), b = numbers<half>(11);
  const auto got = run<half, half>(a, b, [](auto* x, auto* y, auto* z) {
    auto* const bits = (__ubuf__ std::uint8_t*)(z + kLanes);
    auto* const address = (__ubuf__ std::int32_t*)(bits + 32);
    vcmpvs_lt(bits, x, half(0.0f), 2, 1, 1, 8, 8);
    vector_dup(address, static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(bits)), 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    set_cmpmask(address);
    pipe_barrier(PIPE_V);
    vsel(z, x, y, 2, 1, 1, 1, 8, 8, 8, 2);
  });
  for (int k = 0; k < kLanes; ++k) EXPECT_EQ(float(got[k]), float(float(a[k]) < 0 ? a[k] : b[k])) << k;
}

// One sum over all repeats, which the scalar unit stores.
template <class T>
void check_register_sum() {
  const auto a = numbers<T>(12);
  const auto got = run<T, T>(a, a, [](auto* x, auto*, auto* z) {
    zero(z);
    vcadd(z, x, kLanes * sizeof(T) / 256, 1, 1, 8, true);
    set_flag(PIPE_V, PIPE_S, EVENT_ID1);
    wait_flag(PIPE_V, PIPE_S, EVENT_ID1);
    const std::int64_t bits = get_acc_val();
    T sum;
    std::memcpy(static_cast<void*>(&sum), &bits, sizeof sum);
    LocalTensor<T>(TPosition::VECCALC, 8192, kLanes).SetValue(1, sum);
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
  });
  float sum = 0;
  for (const T& v : a) sum += float(v);
  EXPECT_EQ(float(got[1]), float(T(sum)));
  EXPECT_EQ(float(got[0]), 0);  // dst is left alone
}
TEST(RawVector, SumsAllRepeatsIntoTheRegister) {
  check_register_sum<float>();
  check_register_sum<half>();
}
void unwritten_sum(GM_ADDR) {
  vcadd((__ubuf__ float*)nullptr, (__ubuf__ float*)std::uintptr_t{512}, 1, 1, 1, 8, true);
  set_flag(PIPE_V, PIPE_S, EVENT_ID1);
  wait_flag(PIPE_V, PIPE_S, EVENT_ID1);
  (void)get_acc_val();
}
TEST(RawVector, ReportsASumOfWhatNothingWrote) {
  twin_test::Device<float> x(64);
  twin::take_findings();
  RUN(unwritten_sum, 1).as(twin::KernelType::AivOnly)(x);
  twin_test::expect_found(Kind::Uninitialised, "reads a sum of undefined values");
}

template <class T, class Bits>
void check_spreading() {
  const auto a = numbers<T>(9);
  constexpr int kBlock = 32 / sizeof(T), kRepeats = kLanes / kBlock / 8;
  const auto got = run<T, T>(
      a, a, [](auto* x, auto*, auto* z) { zero(z), vbrcb((__ubuf__ Bits*)z, (const __ubuf__ Bits*)x, 1, 8, kRepeats); });
  for (int k = 0; k < kRepeats * 8 * kBlock; ++k) EXPECT_EQ(float(got[k]), float(a[k / kBlock])) << k;
}
TEST(RawVector, Spreads) {
  check_spreading<float, std::uint32_t>();
  check_spreading<half, std::uint16_t>();
}

void refused(GM_ADDR, int what) {
  auto* const p = (__ubuf__ float*)std::uintptr_t{0};
  auto* const z = (__ubuf__ float*)std::uintptr_t{4096};
  if (what == 0) vcmp_eq(p, z, 2, 1, 1, 1, 8, 8, 8);
  if (what == 1) vsel(z, p, p, 1, 1, 1, 1, 8, 8, 8, 3);
  if (what == 2) vaddreluconv_f322f16((__ubuf__ half*)z, p, p, 1, 1, 1, 1, 4, 8, 8, true);
}
TEST(RawVector, SaysWhatItDoesNotHave) {
  twin_test::Device<float> x(64);
  const char* const said[] = {"vcmp_eq of other than one repeat", "vsel with a selectMode above 2",
                              "vaddreluconv_f322f16 with h true"};
  for (int what = 0; what < 3; ++what) {
    twin::take_findings();
    RUN(refused, 1).as(twin::KernelType::AivOnly)(x, what);
    twin_test::expect_found(Kind::Limit, said[what]);
  }
}

}  // namespace
