// SPDX-License-Identifier: Apache-2.0
// The compiler's own names of gathers, copies and fused conversions beside plain models.
#include <numeric>

#include "raw_support.hpp"

using namespace raw_test;
using twin::Kind;

namespace {

template <class T>
std::uint32_t lower_half(__ubuf__ T* p) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(p));
}

// Lane k gets element (7 k + 3) mod kLanes; masked-off lanes keep what they had.
template <class T>
void check_gather() {
  const auto a = numbers<T>(1);
  constexpr int kOne = 256 / sizeof(T);
  std::vector<T> carrier(kLanes);  // of the distances
  const auto got = run<T, T>(a, carrier, [](auto* x, auto*, auto* z) {
    zero(z);
    LocalTensor<std::uint32_t> distances(TPosition::VECCALC, 16384, kLanes);
    for (int k = 0; k < kLanes; ++k) distances.SetValue(k, static_cast<std::uint32_t>((7 * k + 3) % kLanes * sizeof(T)));
    set_flag(PIPE_S, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID1);
    set_vector_mask(0, 0x00000000fffffff7);
    vgather(z, distances.GetPhyAddr(), lower_half(x), 8, kLanes * sizeof(T) / 256);
  });
  for (int k = 0; k < kLanes; ++k) {
    const int lane = k % kOne;
    const bool at_work = lane < 32 && lane != 3;
    EXPECT_EQ(float(got[k]), at_work ? float(a[(7 * k + 3) % kLanes]) : 0) << k;
  }
}
TEST(RawRearrange, GathersElements) {
  check_gather<std::uint32_t>();
  check_gather<std::uint16_t>();
}
TEST(RawRearrange, GathersBlocks) {
  const auto a = numbers<std::uint16_t>(2);
  const auto got = run<std::uint16_t, std::uint16_t>(a, a, [](auto* x, auto*, auto* z) {
    zero(z);
    LocalTensor<std::uint32_t> distances(TPosition::VECCALC, 16384, 8);
    for (int k = 0; k < 8; ++k) distances.SetValue(k, static_cast<std::uint32_t>((k * 3 + 1) % 8 * 32));
    set_flag(PIPE_S, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID1);
    set_vector_mask(0, 1);                                        // of no consequence
    vgatherb(z, distances.GetPhyAddr(), lower_half(x), 8, 2, 1);  // every second block
  });
  for (int k = 0; k < kLanes; ++k) {
    const int block = k / 32, in = k % 32;
    EXPECT_EQ(got[k], in < 16 ? a[(block * 3 + 1) % 8 * 16 + in] : 0) << k;
  }
}
TEST(RawRearrange, PicksByPatternAndByBits) {
  const auto a = numbers<std::uint32_t>(3);
  auto bits = std::vector<std::uint32_t>(kLanes);
  std::iota(bits.begin(), bits.end(), 0x12345u);
  for (const int pattern : {0, 1, 4, 7}) {
    const auto got = run<std::uint32_t, std::uint32_t>(a, bits, [pattern](auto* x, auto* y, auto* z) {
      zero(z);
      vreducev2(z, x, y, 4, 1, static_cast<std::uint8_t>(pattern), 8, 1);
      const std::int64_t kept = get_rsvd_cnt();
      LocalTensor<std::uint32_t> out(TPosition::VECCALC, 8192, kLanes);
      set_flag(PIPE_V, PIPE_S, EVENT_ID1);
      wait_flag(PIPE_V, PIPE_S, EVENT_ID1);
      if (kept < kLanes) out.SetValue(kLanes - 1, static_cast<std::uint32_t>(kept));
      set_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
      wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
    });
    std::vector<std::uint32_t> expected;
    for (int k = 0; k < kLanes; ++k) {
      const int lane = k % 64;
      const bool chosen = pattern == 0   ? bits[k / 64 * 8 + lane / 32] >> lane % 32 & 1
                          : pattern == 1 ? k % 2 == 0
                          : pattern == 4 ? k % 4 == 1
                                         : true;
      if (chosen) expected.push_back(a[k]);
    }
    for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(got[k], expected[k]) << pattern << ", " << k;
    if (pattern != 7) {
      EXPECT_EQ(got[kLanes - 1], expected.size()) << pattern;
    }
  }
}
template <class T>
void check_copy() {
  const auto a = numbers<T>(4);
  constexpr int kOne = 256 / sizeof(T), kBlock = 32 / sizeof(T);
  const auto got = run<T, T>(a, a, [](auto* x, auto*, auto* z) {
    zero(z);
    set_vector_mask(0, 0x5555);
    vcopy(z, x, 1, 1, 0, 8, 8);  // the first block eight times
  });
  for (int k = 0; k < kLanes; ++k)
    EXPECT_EQ(float(got[k]), k < std::min(16, kOne) && k % 2 == 0 ? float(a[k % kBlock]) : 0) << k;
}
TEST(RawRearrange, CopiesLanes) {
  check_copy<std::int16_t>();
  check_copy<std::uint32_t>();
}

// Each name of a fused conversion does what the function of the reference does.
template <class S, class D, class Raw, class Same>
void check_fused(const char* name, Raw raw, Same same) {
  const auto a = numbers<S>(5), b = numbers<S>(6);
  constexpr int kRepeats = kLanes * sizeof(S) / 256;
  const auto got = run<S, D>(a, b, [&](auto* x, auto* y, auto* z) { raw(z, x, y, kRepeats, 1, 1, 1, 4, 8, 8); });
  const auto expected = run<S, D>(a, b, [&](auto*, auto*, auto*) {
    same(LocalTensor<D>(TPosition::VECCALC, 8192, kLanes), LocalTensor<S>(TPosition::VECCALC, 0, kLanes),
         LocalTensor<S>(TPosition::VECCALC, 4096, kLanes));
  });
  for (int k = 0; k < kLanes; ++k)
    ASSERT_EQ(static_cast<double>(got[k]), static_cast<double>(expected[k])) << name << ", lane " << k;
}
#define FUSED(name, S, D, function)                        \
  check_fused<S, D>(                                       \
      #name, [](auto... given) { name(given..., false); }, \
      [](const auto& d, const auto& x, const auto& y) { function(d, x, y, kLanes); })
#define PRODUCT(name, D)                            \
  check_fused<half, D>(                             \
      #name, [](auto... given) { name(given...); }, \
      [](const auto& d, const auto& x, const auto& y) { MulCast(d, x, y, kLanes); })
TEST(RawRearrange, ComputesAndConverts) {
  FUSED(vaddreluconv_f162s8, half, std::int8_t, AddReluCast);
  FUSED(vaddreluconv_s162s8, std::int16_t, std::int8_t, AddReluCast);
  FUSED(vaddreluconv_f322f16, float, half, AddReluCast);
  FUSED(vsubreluconv_f162s8, half, std::int8_t, SubReluCast);
  FUSED(vsubreluconv_s162s8, std::int16_t, std::int8_t, SubReluCast);
  FUSED(vsubreluconv_f322f16, float, half, SubReluCast);
  PRODUCT(vmulconv_f162s8, std::int8_t);
  PRODUCT(vmulconv_f162u8, std::uint8_t);
}

void far_away(GM_ADDR) {
  LocalTensor<std::uint32_t> distances(TPosition::VECCALC, 16384, 64);
  Duplicate(distances, 4u, 64);
  pipe_barrier(PIPE_V);
  set_vector_mask(0, ~0ull);
  vgather((__ubuf__ std::uint32_t*)nullptr, distances.GetPhyAddr(), 0x7ffffff0u, 8, 1);
}
TEST(RawRearrange, ReportsAnAddressOutsideOfUb) {
  twin_test::Device<float> x(64);
  twin::take_findings();
  RUN(far_away, 1).as(twin::KernelType::AivOnly)(x);
  twin_test::expect_found(Kind::OutOfBounds, "");
}

}  // namespace
