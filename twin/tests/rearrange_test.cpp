// SPDX-License-Identifier: Apache-2.0
// TransDataTo5HD, Transpose, Gather, Gatherb, GatherMask, CreateVecIndex and BilinearInterpolation against plain loops.
#include <cstring>
#include <numeric>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

// Runs body(dst, src) on n elements in UB; dst begins as −1 in every byte.
template <class T>
struct Stage {
  int n;
  void (*body)(const LocalTensor<T>& dst, const LocalTensor<T>& src);
};
template <class T>
void stage_kernel(GM_ADDR in, GM_ADDR old, GM_ADDR out, Stage<T> stage) {
  const auto src = ub<T>(0, stage.n), dst = ub<T>(65536, stage.n);
  DataCopy(src, gm<T>(in, stage.n), stage.n);
  DataCopy(dst, gm<T>(old, stage.n), stage.n);
  order<HardEvent::MTE2_V>();
  stage.body(dst, src);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<T>(out, stage.n), dst, stage.n);
}
template <class T>
std::vector<T> run(int n, void (*body)(const LocalTensor<T>&, const LocalTensor<T>&)) {
  std::vector<T> in(n), old(n, T(-1));
  for (int k = 0; k < n; ++k) in[k] = T(k % 120);
  twin_test::Device<T> x(in), y(old), z(n);
  RUN(stage_kernel<T>, 1).auto_sync(false)(x, y, z, Stage<T>{n, body});
  EXPECT_SILENT();
  return z.values();
}

template <class T>
void transpose_lists(const LocalTensor<T>& dst, const LocalTensor<T>& src) {
  constexpr int kBlock = 32 / sizeof(T);
  LocalTensor<T> d[16], s[16];
  for (int b = 0; b < 16; ++b) {
    d[b] = dst[b * kBlock];
    s[b] = src[b * kBlock];
  }
  TransDataTo5HD<T>(d, s, TransDataTo5HDParams(false, false, 2, 16, 16));
}
template <class T>
void transpose_addresses(const LocalTensor<T>& dst, const LocalTensor<T>& src) {
  constexpr int kBlock = 32 / sizeof(T);
  std::uint64_t d[16], s[16];
  for (int b = 0; b < 16; ++b) {
    d[b] = (std::uint64_t)(dst[b * kBlock].GetPhyAddr());
    s[b] = (std::uint64_t)(src[b * kBlock].GetPhyAddr());
  }
  TransDataTo5HD<T>(d, s, TransDataTo5HDParams(false, false, 2, 16, 16));
}
template <class T>
void check_lists(void (*body)(const LocalTensor<T>&, const LocalTensor<T>&)) {
  constexpr int kBlock = 32 / sizeof(T);
  const auto d = run<T>(32 * kBlock, body);
  for (int r = 0; r < 2; ++r) {
    for (int e = 0; e < (sizeof(T) == 1 ? 16 : kBlock); ++e) {
      for (int j = 0; j < 16; ++j) {
        const int list = sizeof(T) == 4 ? 2 * e + j / 8 : e, place = sizeof(T) == 4 ? j % 8 : j;
        ASSERT_EQ(float(d[(r * 16 + list) * kBlock + place]),
                  float((r * 16 + j) * kBlock + e) - ((r * 16 + j) * kBlock + e) / 120 * 120)
            << r << " " << e << " " << j;
      }
    }
  }
}
TEST(TransDataTo5HD, TransposesBlocksOfEveryWidthInTwoRepeats) {
  check_lists<half>(transpose_lists<half>);
  check_lists<std::int16_t>(transpose_addresses<std::int16_t>);
  check_lists<float>(transpose_lists<float>);
  check_lists<std::uint32_t>(transpose_addresses<std::uint32_t>);
  check_lists<std::int8_t>(transpose_lists<std::int8_t>);
}
TEST(TransDataTo5HD, MovesHalvesOfBytesAndKeepsTheOthers) {
  const auto d = run<std::int8_t>(512, [](const LocalTensor<std::int8_t>& dst, const LocalTensor<std::int8_t>& src) {
    LocalTensor<std::int8_t> to[16], from[16];
    for (int b = 0; b < 16; ++b) to[b] = dst[b * 32], from[b] = src[b * 32];
    TransDataTo5HD(to, from, TransDataTo5HDParams(true, false, 1, 0, 0));
  });
  for (int e = 0; e < 16; ++e) {
    for (int j = 0; j < 16; ++j) {
      ASSERT_EQ(d[e * 32 + j], -1);
      ASSERT_EQ(d[e * 32 + 16 + j], (j * 32 + e) % 120);
    }
  }
}
TEST(Transpose, ChangesTheOrderOfChannels) {
  const auto last = run<float>(2 * 3 * 16, [](const LocalTensor<float>& dst, const LocalTensor<float>& src) {
    Transpose(dst, src, ub<std::uint8_t>(131072, 1024), TransposeParamsExt(2, 3, 4, 4, TransposeType::TRANSPOSE_NCHW2NHWC));
  });
  const auto first = run<float>(2 * 3 * 16, [](const LocalTensor<float>& dst, const LocalTensor<float>& src) {
    Transpose(dst, src, ub<std::uint8_t>(131072, 1024), TransposeParamsExt(2, 3, 4, 4, TransposeType::TRANSPOSE_NHWC2NCHW));
  });
  for (int n = 0; n < 2; ++n) {
    for (int c = 0; c < 3; ++c) {
      for (int p = 0; p < 16; ++p) {
        EXPECT_EQ(last[(n * 16 + p) * 3 + c], (n * 3 + c) * 16 + p);
        EXPECT_EQ(first[(n * 3 + c) * 16 + p], (n * 16 + p) * 3 + c);
      }
    }
  }
}

TEST(CreateVecIndex, CountsLanesOverRepeatsAndLeavesMaskedOnes) {
  const auto d = run<float>(256, [](const LocalTensor<float>& dst, const LocalTensor<float>&) {
    CreateVecIndex(dst, 5.0f, std::uint64_t{40}, 2, 1, 16);
  });
  const auto h = run<std::int16_t>(512, [](const LocalTensor<std::int16_t>& dst, const LocalTensor<std::int16_t>&) {
    std::uint64_t mask[2] = {0xf0f0, 1};
    CreateVecIndex(dst, std::int16_t{-3}, mask, 2, 2, 16);
  });
  for (int r = 0; r < 2; ++r) {
    for (int l = 0; l < 64; ++l) EXPECT_EQ(d[r * 128 + l], l < 40 ? 5 + r * 64 + l : -1);
    for (int l = 0; l < 128; ++l) {
      const bool on = l < 64 ? 0xf0f0 >> (l % 32) & (l < 32) : l == 64;
      EXPECT_EQ(h[(r * 16 + l / 16 * 2) * 16 + l % 16], on ? -3 + r * 128 + l : -1) << l;
    }
  }
}

template <class T>
void gather_body(const LocalTensor<T>& dst, const LocalTensor<T>& src) {
  constexpr int kLanes = 256 / sizeof(T);
  const auto offsets = ub<std::uint32_t>(131072, 2 * kLanes);
  for (int k = 0; k < 2 * kLanes; ++k) offsets.SetValue(k, static_cast<std::uint32_t>((2 * kLanes - 1 - k) * sizeof(T)));
  order<HardEvent::S_V>();
  Gather(dst, src, offsets, 0, std::uint64_t{40}, 2, 16);
}
template <class T>
void check_gather() {
  constexpr int kLanes = 256 / sizeof(T);
  const auto d = run<T>(4 * kLanes, gather_body<T>);
  for (int r = 0; r < 2; ++r) {
    for (int l = 0; l < kLanes; ++l)
      ASSERT_EQ(float(d[r * 2 * kLanes + l]), l < 40 ? float((2 * kLanes - 1 - r * kLanes - l) % 120) : -1.0f);
  }
}
TEST(Gather, TakesMaskAndRepeats) {
  check_gather<half>();
  check_gather<float>();
  check_gather<std::int32_t>();
}
TEST(Gatherb, TakesBlocksByByteOffset) {
  const auto d = run<std::uint16_t>(512, [](const LocalTensor<std::uint16_t>& dst, const LocalTensor<std::uint16_t>& src) {
    const auto offsets = ub<std::uint32_t>(131072, 16);
    for (std::uint32_t k = 0; k < 16; ++k) offsets.SetValue(k, (15 - k) * 32);
    order<HardEvent::S_V>();
    Gatherb(dst, src, offsets, 2, GatherRepeatParams(2, 16));
  });
  for (int k = 0; k < 16; ++k) {
    for (int e = 0; e < 16; ++e) EXPECT_EQ(d[k * 32 + e], ((15 - k) * 16 + e) % 120);
    for (int e = 16; e < 32; ++e) EXPECT_EQ(d[k * 32 + e], 65535);
  }
}

std::uint64_t kept;
TEST(GatherMask, CountsElementsPastARepeatInCounterMode) {
  const auto d = run<float>(300 * 2 + 8, [](const LocalTensor<float>& dst, const LocalTensor<float>& src) {
    GatherMask(dst, src, 1, true, 300, GatherMaskParams(1, 2, 38, 0), kept);
  });
  EXPECT_EQ(kept, 300u);
  for (int r = 0; r < 2; ++r) {
    for (int k = 0; k < 150; ++k) ASSERT_EQ(d[r * 150 + k], (r * 304 + 2 * k) % 120) << k;
  }
}
TEST(GatherMask, TakesBitsOfATensorForEachRepeat) {
  const auto d = run<half>(512, [](const LocalTensor<half>& dst, const LocalTensor<half>& src) {
    const auto bits = ub<std::uint16_t>(131072, 32);
    for (int k = 0; k < 32; ++k) bits.SetValue(k, k < 16 ? 0x8001 : 0x0180);
    order<HardEvent::S_V>();
    GatherMask(dst, src, bits, false, 0, GatherMaskParams(1, 2, 8, 1), kept);
  });
  EXPECT_EQ(kept, 32u);
  for (int k = 0; k < 16; ++k) {
    EXPECT_EQ(float(d[k]), (k / 2 * 16 + k % 2 * 15) % 120);
    EXPECT_EQ(float(d[16 + k]), (128 + k / 2 * 16 + 7 + k % 2) % 120);
  }
}
TEST(BilinearInterpolation, WeighsAndAddsBlocks) {
  for (const bool weight_a_block : {false, true}) {
    static bool mode;
    mode = weight_a_block;
    const auto d = run<half>(1024, [](const LocalTensor<half>& dst, const LocalTensor<half>& src) {
      const auto offsets = ub<std::uint32_t>(131072, 48);
      const auto weights = ub<half>(135168, 48);
      for (std::uint32_t k = 0; k < 48; ++k) offsets.SetValue(k, k * 32);
      for (std::uint32_t k = 0; k < 48; ++k) weights.SetValue(k, half(static_cast<float>(k % 5)));
      order<HardEvent::S_V>();
      BilinearInterpolation(dst, src, offsets, weights, std::uint64_t{100}, 3, mode, 1, 128, 2,
                            ub<std::uint8_t>(139264, 1024));
    });
    for (int v = 0; v < 2; ++v) {
      for (int l = 0; l < 128; ++l) {
        float sum = 0;
        for (int h = 0; h < 3; ++h) {
          const int step = v * 3 + h;
          sum += static_cast<float>(((step * 8 + l / 16) * 16 + l % 16) % 120) *
                 static_cast<float>((mode ? step * 8 + l / 16 : step) % 5);
        }
        ASSERT_EQ(float(d[v * 128 + l]), l < 100 ? sum : -1.0f);
      }
    }
  }
}

void astray_kernel(GM_ADDR, GM_ADDR) {
  std::uint64_t lists[16] = {};
  TransDataTo5HD<half>(lists, lists, TransDataTo5HDParams(false, false, 1, 0, 0));
}
TEST(TransDataTo5HD, ReportsAddressesOutsideOfLocalMemory) {
  twin_test::Device<float> x(64), y(64);
  RUN(astray_kernel, 1)(x, y);
  EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::OutOfBounds), nullptr);
}

}  // namespace
