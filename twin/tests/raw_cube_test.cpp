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

// Bias through the BiasTable at an address of its own, as it is and from half; the product leaves by L1 as half, where it is
// an operand again; the forms of mad.
template <class Bias>
void bias_kernel(GM_ADDR x, GM_ADDR bias, GM_ADDR z, int form) {
  auto* const a1 = (__cbuf__ half*)std::uintptr_t{0};
  auto* const bias1 = (__cbuf__ Bias*)std::uintptr_t{4096};
  auto* const back = (__cbuf__ half*)std::uintptr_t{8192};
  auto* const a = (__ca__ half*)std::uintptr_t{0};
  auto* const b = (__cb__ half*)std::uintptr_t{0};
  auto* const c = (__cc__ float*)std::uintptr_t{0};
  copy_gm_to_cbuf(a1, (__gm__ half*)x, 0, 1, 16, 0, 0, PAD_NONE);
  copy_gm_to_cbuf(bias1, (__gm__ Bias*)bias, 0, 1, 4, 0, 0, PAD_NONE);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  load_cbuf_to_ca(a, a1, 0, 1, 0, 0, 0, false, inc);
  load_cbuf_to_cb(b, a1, 0, 1, 0, 0, 0, true, inc);
  copy_cbuf_to_bt(128, bias1, sizeof(Bias) == 2, 1, 1, 0, 0);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID1);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID1);
  if (form == 0) mad(c, a, b, std::uint64_t{128}, 16, 16, 16, 0, false, true, false);
  if (form == 1) mad(c, a, b, std::uint64_t{128}, 16, 16, 16, 0, 0, 0, false, false, true, false);
  if (form == 2) {
    mad(c, a, b, 16, 16, 16, 0, 0, 0, false, false, false, true);
    pipe_barrier(PIPE_M);
    mad(c, a, b, 16, 16, 16, false);
  }
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  copy_matrix_cc_to_cbuf(back, c, 0, 16, 16, 16, 16, 0, F322F16, 1, false, false);
  set_flag(PIPE_FIX, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_FIX, PIPE_MTE1, EVENT_ID0);
  load_cbuf_to_ca(a, back, 0, 1, 0, 0, 0, false, inc);  // relu(product), times the identity that lies behind the matrix
  load_cbuf_to_cb(b, a1, 0, 1, 0, 0, 0, true, inc);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID1);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID1);
  set_flag(PIPE_FIX, PIPE_M, EVENT_ID1);
  wait_flag(PIPE_FIX, PIPE_M, EVENT_ID1);
  mad(c, a, b, 16, 16, 16, true);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  set_nd_para(1);
  copy_matrix_cc_to_gm((__gm__ float*)z, c, 0, 16, 16, 16, 16, 0, NoQuant, 0, false, true);
}
template <class Bias>
void check_bias(int form) {
  const auto a = values(7, 256);
  std::vector<Bias> bias(32, Bias(0.0f));
  for (int n = 0; n < 32; ++n) bias[n] = Bias(static_cast<float>(n % 7 - 3));
  twin_test::Device<half> x(a);
  twin_test::Device<Bias> y(std::vector<Bias>(64, Bias(9.0f)));
  std::vector<Bias> padded(64, Bias(0.0f));
  std::copy(bias.begin(), bias.end(), padded.begin());
  y.set(padded);
  twin_test::Device<float> z(256);
  RUN(bias_kernel<Bias>, 1).as(KernelType::AicOnly).auto_sync(false)(x, y, z, form);
  EXPECT_SILENT();
  const auto product = [&](const std::vector<float>& left) {
    std::vector<float> out(256);
    for (int m = 0; m < 16; ++m) {
      for (int n = 0; n < 16; ++n) {
        for (int k = 0; k < 16; ++k) out[m * 16 + n] += left[m * 16 + k] * float(a[k * 16 + n]);
      }
    }
    return out;
  };
  auto first = product(std::vector<float>(a.begin(), a.end()));
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 16; ++n) {
      float& v = first[m * 16 + n];
      v = form == 2 ? 2 * v : v + float(bias[n]);
      v = v < 0 ? 0 : float(half(v));
    }
  }
  const auto expected = product(first), got = z.values();
  for (int k = 0; k < 256; ++k) ASSERT_EQ(got[k], expected[k]) << "form " << form << ", element " << k;
}
TEST(RawCube, BiasByAddressAndBackThroughL1) {
  for (const int form : {0, 1, 2}) {
    check_bias<float>(form);
    check_bias<half>(form);
  }
}

// Int32 with a scale for each column, from the Fixpipe buffer that set_fpc points into; by numbers and by pointers of
// tensors.
void scales_kernel(GM_ADDR x, GM_ADDR scales, GM_ADDR z, bool by_tensor) {
  auto* const l1 = (__cbuf__ std::int8_t*)std::uintptr_t{0};
  auto* const s1 = (__cbuf__ std::uint64_t*)std::uintptr_t{4096};
  AscendC::LocalTensor<std::uint64_t> tensor(AscendC::TPosition::C2PIPE2GM, 256, 16);
  auto* const fb = by_tensor ? (__fbuf__ std::uint64_t*)tensor.GetPhyAddr() : (__fbuf__ std::uint64_t*)std::uintptr_t{256};
  copy_gm_to_cbuf(l1, (__gm__ std::int8_t*)x, 0, 1, 32, 0, 0, PAD_NONE);
  copy_gm_to_cbuf(s1, (__gm__ std::uint64_t*)scales, 0, 1, 4, 0, 0, PAD_NONE);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  set_flag(PIPE_MTE2, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_FIX, EVENT_ID0);
  load_cbuf_to_ca((__ca__ std::int8_t*)std::uintptr_t{0}, l1, 0, 1, 0, 0, 0, false, inc);
  load_cbuf_to_cb((__cb__ std::int8_t*)std::uintptr_t{0}, l1, 1, 1, 0, 0, 0, false, inc);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID1);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID1);
  auto* const c = (__cc__ std::int32_t*)std::uintptr_t{0};
  mad(c, (__ca__ std::int8_t*)std::uintptr_t{0}, (__cb__ std::int8_t*)std::uintptr_t{0}, 16, 32, 16, 0, false, false, true);
  copy_cbuf_to_fbuf(fb, s1, 1, 1, 0, 0);
  set_fpc((reinterpret_cast<std::uint64_t>(fb) >> 7) << 8);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  pipe_barrier(PIPE_FIX);
  set_nd_para(1);
  copy_matrix_cc_to_gm((__gm__ half*)z, c, 0, 16, 16, 16, 16, 0, 10, 0, false, true);  // VDEQF16, by its number
}
TEST(RawCube, ScalesOfColumnsThroughTheFixpipeBuffer) {
  std::vector<std::int8_t> in(1024);
  for (int k = 0; k < 1024; ++k) in[k] = static_cast<std::int8_t>(k * 7 % 15 - 7);
  std::vector<std::uint64_t> scales(16);
  for (int n = 0; n < 16; ++n) {
    const float scale = 0.25f * static_cast<float>(n + 1);
    std::uint32_t bits;
    std::memcpy(&bits, &scale, 4);
    scales[n] = bits;
  }
  twin_test::Device<std::int8_t> x(in);
  twin_test::Device<std::uint64_t> s(scales);
  twin_test::Device<half> z(256);
  for (const bool by_tensor : {false, true}) {
    RUN(scales_kernel, 1).as(KernelType::AicOnly).auto_sync(false)(x, s, z, by_tensor);
    EXPECT_SILENT();
    const auto got = z.values();
    for (int m = 0; m < 16; ++m) {
      for (int n = 0; n < 16; ++n) {
        int sum = 0;
        for (int k = 0; k < 32; ++k) sum += in[m * 32 + k] * in[512 + n * 32 + k];
        ASSERT_EQ(float(got[m * 16 + n]), float(half(static_cast<float>(sum) * 0.25f * static_cast<float>(n + 1))));
      }
    }
  }
}

// Fractals from the last to the first.
void descending_kernel(GM_ADDR x, GM_ADDR z, bool transposes) {
  auto* const l1 = (__cbuf__ half*)std::uintptr_t{0};
  copy_gm_to_cbuf(l1, (__gm__ half*)x, 0, 1, 64, 0, 0, PAD_NONE);  // the identity, then three matrices
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  load_cbuf_to_ca((__ca__ half*)std::uintptr_t{0}, l1, 0, 1, 0, 0, 0, false, inc);
  auto* const b = (__cb__ half*)std::uintptr_t{0};
  if (transposes)
    load_cbuf_to_cb_transpose(b, l1, 3, 3, 1, 0, dec, 0);
  else
    load_cbuf_to_cb(b, l1, 3, 3, 1, 0, 0, true, dec);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID1);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID1);
  auto* const c = (__cc__ float*)std::uintptr_t{0};
  mad(c, (__ca__ half*)std::uintptr_t{0}, b, 16, 16, 48, true);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  set_nd_para(1);
  copy_matrix_cc_to_gm((__gm__ float*)z, c, 0, 48, 16, 48, 16, 0, NoQuant, 0, false, true);
}
TEST(RawCube, LoadsWithDescendingAddresses) {
  std::vector<half> in(1024, half(0));
  for (int k = 0; k < 16; ++k) in[k * 17] = half(1);
  for (int k = 256; k < 1024; ++k) in[k] = half(k);
  twin_test::Device<half> x(in);
  twin_test::Device<float> z(16 * 48);
  for (const bool transposes : {false, true}) {
    RUN(descending_kernel, 1).as(KernelType::AicOnly).auto_sync(false)(x, z, transposes);
    EXPECT_SILENT();
    const auto got = z.values();
    for (int k = 0; k < 16; ++k) {
      for (int n = 0; n < 48; ++n) ASSERT_EQ(got[k * 48 + n], 256 * (3 - n / 16) + k * 16 + n % 16) << k << ", " << n;
    }
  }
}

void refused_kernel(GM_ADDR z, int what) {
  auto* const c = (__cc__ float*)std::uintptr_t{0};
  auto* const a = (__ca__ half*)std::uintptr_t{0};
  auto* const b = (__cb__ half*)std::uintptr_t{0};
  if (what == 0) mad(c, a, b, 16, 16, 16, 1, 0, 0, false, false, false, true);
  if (what == 1) copy_matrix_cc_to_gm((__gm__ half*)z, c, 0, 16, 16, 16, 16, 0, 6, 0, false, true);
  if (what == 2) copy_cbuf_to_bt(32, (__cbuf__ half*)std::uintptr_t{0}, 1, 1, 1, 0, 0);
  if (what == 3) copy_cbuf_to_bt(960, (__cbuf__ half*)std::uintptr_t{0}, 1, 1, 1, 0, 0);
}
TEST(RawCube, RefusesWhatTheChipDoesNotHave) {
  twin_test::Device<half> z(256);
  const auto run = [&](int what) { RUN(refused_kernel, 1).as(KernelType::AicOnly)(z, what); };
  run(0);
  twin_test::expect_found(Kind::Limit, "featOffset");
  run(1);
  twin_test::expect_found(Kind::Limit, "without the quantPre for it");
  run(2);
  twin_test::expect_found(Kind::Alignment, "not on a multiple of 64 bytes");
  run(3);
  twin_test::expect_found(Kind::OutOfBounds, "writes bytes [0, 128) of a tensor of 64 bytes");
}

}  // namespace
