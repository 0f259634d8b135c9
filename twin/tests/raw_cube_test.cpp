// SPDX-License-Identifier: Apache-2.0
// A product by the compiler's own names alone, its buffers at numbers made into pointers; what it reports.
#include <random>

#include "kernels.hpp"
#include "support.hpp"

using twin::KernelType;
using twin::Kind;

namespace {

constexpr std::uint16_t kM = 32, kN = 48, kK = 64;
constexpr std::uint32_t kFractal = 256;  // halves

// GM to L1, whole, each as columns of sixteen.
void load_l1(__cbuf__ half* a, __cbuf__ half* b, GM_ADDR x, GM_ADDR y) {
  copy_gm_to_cbuf_multi_nd2nz_b16(a, (__gm__ half*)x, 0, 1, kM, kK, 0, kK, kM, 1, 0);
  copy_gm_to_cbuf_multi_nd2nz_b16(b, (__gm__ half*)y, 0, 1, kK, kN, 0, kN, kK, 1, 0);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
}
template <bool kWrong>
void product_kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, bool transposes) {
  auto* const l1_a = (__cbuf__ half*)std::uintptr_t{0};
  auto* const l1_b = (__cbuf__ half*)std::uintptr_t{0x8000};
  auto* const l0_a = (__ca__ half*)std::uintptr_t{0};
  auto* const l0_b = (__cb__ half*)std::uintptr_t{0};
  auto* const l0_c = (__cc__ float*)std::uintptr_t{0};
  load_l1(l1_a, l1_b, x, y);
  for (std::uint16_t m = 0; m < kM / 16; ++m)
    load_cbuf_to_ca(l0_a + m * (kK / 16) * kFractal, l1_a, m, kK / 16, kM / 16, 0, 0, false, inc);
  for (std::uint16_t k = 0; k < kK / 16; ++k) {
    if (transposes) {
      load_cbuf_to_cb_transpose(l0_b + k * (kN / 16) * kFractal, l1_b, k, kN / 16, kK / 16, 0, inc, 0);
    } else {
      load_cbuf_to_cb(l0_b + k * (kN / 16) * kFractal, l1_b, k, kN / 16, kK / 16, 0, 0, true, addr_cal_mode_t::inc);
    }
  }
  if (!kWrong) {
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID1);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID1);
  }
  mad(l0_c, l0_a, l0_b, kM, kK, kN, 0, false, false, true);
  pipe_barrier(PIPE_M);
  mad(l0_c, l0_a, l0_b, kM, kK, kN, 0, false, false, false);  // once more, on top
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  set_nd_para(1);
  copy_matrix_cc_to_gm((__gm__ half*)z, l0_c, 0, kN, kM, kN, kM, 0, QuantMode_t::F322F16, 0, false, true);
}
std::vector<half> values(unsigned seed, int n) {
  std::mt19937 random(seed);
  std::vector<half> v(n);
  for (half& e : v) e = half(static_cast<float>(static_cast<int>(random() % 9) - 4));
  return v;
}
TEST(RawCube, MultipliesAtNumbersMadeIntoPointers) {
  const auto a = values(1, kM * kK), b = values(2, kK * kN);
  for (const bool transposes : {false, true}) {
    twin_test::Device<half> x(a), y(b), z(kM * kN);
    RUN(product_kernel<false>, 1).as(KernelType::AicOnly).auto_sync(false)(x, y, z, transposes);
    EXPECT_SILENT();
    const auto got = z.values();
    for (int m = 0; m < kM; ++m) {
      for (int n = 0; n < kN; ++n) {
        float sum = 0;
        for (int k = 0; k < kK; ++k) sum += float(a[m * kK + k]) * float(b[k * kN + n]);
        ASSERT_EQ(float(got[m * kN + n]), 2 * sum) << m << ", " << n;
      }
    }
  }
}
TEST(RawCube, ReportsAMissingFlag) {
  twin_test::Device<half> x(values(1, kM * kK)), y(values(2, kK * kN)), z(kM * kN);
  RUN(product_kernel<true>, 1).as(KernelType::AicOnly).auto_sync(false)(x, y, z, false);
  twin_test::expect_found(Kind::ReadAfterWrite, "nothing orders the two");
}

// A plain copy of blocks, int8 by numbers, and out of L0C in the layout it has.
void blocks_kernel(GM_ADDR x, GM_ADDR z) {
  auto* const l1 = (__cbuf__ std::int8_t*)std::uintptr_t{0};
  copy_gm_to_cbuf(l1, (__gm__ std::int8_t*)x, 0, 1, 32, 0, 0, PAD_NONE);  // two fractals: 16 × 32 of A, 32 × 16 of B
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  load_cbuf_to_ca((__ca__ std::int8_t*)std::uintptr_t{0}, l1, 0, 1, 0, 0, 0, false, inc);
  load_cbuf_to_cb((__cb__ std::int8_t*)std::uintptr_t{0}, l1, 1, 1, 0, 0, 0, false, inc);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID1);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID1);
  auto* const c = (__cc__ std::int32_t*)std::uintptr_t{1024};
  mad(c, (__ca__ std::int8_t*)std::uintptr_t{0}, (__cb__ std::int8_t*)std::uintptr_t{0}, 16, 32, 16, 0, false, false, true);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  copy_matrix_cc_to_gm((__gm__ std::int32_t*)z, c, 0, 16, 16, 32, 16, 0, QuantMode_t::NoQuant, 0, false, false);
}
TEST(RawCube, MultipliesBytes) {
  std::vector<std::int8_t> in(1024);
  for (int k = 0; k < 1024; ++k) in[k] = static_cast<std::int8_t>(k * 7 % 15 - 7);
  twin_test::Device<std::int8_t> x(in);
  twin_test::Device<std::int32_t> z(256);
  RUN(blocks_kernel, 1).as(KernelType::AicOnly).auto_sync(false)(x, z);
  EXPECT_SILENT();
  const auto got = z.values();
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 16; ++n) {
      int sum = 0;
      for (int k = 0; k < 32; ++k) sum += in[m * 32 + k] * in[512 + n * 32 + k];  // a row of B's fractal: one of N
      ASSERT_EQ(got[m * 16 + n], sum) << m << ", " << n;
    }
  }
}

void beyond_kernel(GM_ADDR x) {
  copy_gm_to_cbuf((__cbuf__ half*)std::uintptr_t{512 * 1024 - 64}, (__gm__ half*)x, 0, 1, 64, 0, 0, PAD_NONE);
}
TEST(RawCube, ReportsAddressesBeyondAMemory) {
  twin_test::Device<half> x(1024);
  RUN(beyond_kernel, 1).as(KernelType::AicOnly)(x);
  EXPECT_FALSE(twin::take_findings().empty());
}

}  // namespace
