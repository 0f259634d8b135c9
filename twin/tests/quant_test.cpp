// SPDX-License-Identifier: Apache-2.0
// AscendQuant, AscendDequant and AscendAntiQuant in every form and pair of types, against plain loops; and what they refuse.
#include <cmath>
#include <cstring>
#include <random>

#include "kernels.hpp"
#include "support.hpp"
#include "tiling/tiling_api.h"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

float half_of(float x) { return float(half(x)); }
float bfloat_of(float x) { return float(bfloat16_t(x)); }

template <class T>
std::vector<T> values(unsigned seed, double low, double high, std::size_t n) {
  std::mt19937 random(seed);
  std::vector<T> v(n);
  for (T& e : v) e = T(static_cast<float>(low + (high - low) * (random() % 10007) / 10007));
  return v;
}

// The source at 0, scales at 64 KB, offsets at 80 KB, the destination at 96 KB, the temporary at 160 KB.
template <class D, class S, class F>
struct Tensors {
  LocalTensor<D> dst;
  LocalTensor<S> src;
  LocalTensor<F> scale, offset;
  LocalTensor<std::uint8_t> tmp = ub<std::uint8_t>(163840, 16384);
};
template <class D, class S, class F>
using Body = void (*)(const Tensors<D, S, F>&, int form);
template <class D, class S, class F>
void quant_test_kernel(GM_ADDR src, GM_ADDR scale, GM_ADDR offset, GM_ADDR dst, int n, int factors, int out, int form,
                       Body<D, S, F> body) {
  const Tensors<D, S, F> t{ub<D>(98304, out), ub<S>(0, n), ub<F>(65536, factors), ub<F>(81920, factors)};
  DataCopy(t.src, gm<S>(src, n), n);
  DataCopy(t.scale, gm<F>(scale, factors), factors);
  DataCopy(t.offset, gm<F>(offset, factors), factors);
  DataCopy(t.dst, gm<D>(dst, out), out);
  order<HardEvent::MTE2_V>();
  body(t, form);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<D>(dst, out), t.dst, out);
}
// On `out` elements that begin as 1.
template <class D, class S, class F, class Bytes>
std::vector<D> run(const std::vector<Bytes>& src, const std::vector<F>& scale, const std::vector<F>& offset, int n, int out,
                   int form, Body<D, S, F> body) {
  twin_test::Device<Bytes> x(src);
  twin_test::Device<F> s(scale), o(offset);
  twin_test::Device<D> y(std::vector<D>(out, D(1)));
  RUN((quant_test_kernel<D, S, F>), 1).auto_sync(false)(x, s, o, y, n, static_cast<int>(scale.size()), out, form, body);
  return y.values();
}

// ---- AscendQuant ----
constexpr int kRows = 5, kChannels = 64, kCount = kRows * kChannels, kSpare = 32;
constexpr float kScale = 1.7f, kOffset = -3.3f;
constexpr AscendQuantConfig kConstants = {kCount, kChannels, kChannels, 4096};

template <class T>
void quantise(const Tensors<std::int8_t, T, T>& t, int form) {
  const auto src = t.src[0];
  LocalTensor<T> all = t.src;
  all.SetSize(kCount);
  LocalTensor<T> scale = t.scale, offset = t.offset;
  scale.SetSize(kChannels);
  offset.SetSize(kChannels);
  const T shift = T(kOffset);
  switch (form) {
    case 0:
      return AscendQuant(t.dst, src, t.tmp, kScale, kOffset, kCount);
    case 1:
      return AscendQuant<T>(t.dst, all, t.tmp, kScale, kOffset);
    case 2:
      return AscendQuant(t.dst, src, kScale, kOffset, kCount);
    case 3:
      return AscendQuant<T, false>(t.dst, all, kScale, kOffset);
    case 4:
      return AscendQuant(t.dst, src, t.tmp, t.scale, shift, kChannels, kCount);
    case 5:
      return AscendQuant(t.dst, all, t.tmp, scale, shift);
    case 6:
      return AscendQuant(t.dst, src, t.scale, shift, kChannels, kCount);
    case 7:
      return AscendQuant(t.dst, all, scale, shift);
    case 8:
      return AscendQuant(t.dst, src, t.tmp, t.scale, t.offset, kChannels, kChannels, kCount);
    case 9:
      return AscendQuant(t.dst, all, t.tmp, scale, offset);
    case 10:
      return AscendQuant(t.dst, src, t.scale, t.offset, kChannels, kChannels, kCount);
    case 11:
      return AscendQuant(t.dst, all, scale, offset);
    default:
      return AscendQuant<T, false, kConstants>(t.dst, src, t.tmp, t.scale, t.offset, 32, 32, 32);
  }
}
template <class T>
void check_quant() {
  auto src = values<T>(1, -90, 90, kCount + kSpare);
  src[3] = T(1e9f), src[4] = T(-1e9f), src[5] = T(NAN);
  const auto scale = values<T>(2, -2, 2, kChannels + 32), offset = values<T>(3, -20, 20, kChannels + 32);
  for (int form = 0; form < 13; ++form) {
    const auto got = run<std::int8_t, T, T>(src, scale, offset, kCount + kSpare, kCount + kSpare, form, &quantise<T>);
    EXPECT_SILENT();
    for (int k = 0; k < kCount + kSpare; ++k) {
      const int c = k % kChannels;
      const float by = half_of(form < 4 ? kScale : float(scale[c])), plus = half_of(form < 8 ? kOffset : float(offset[c]));
      const float x = half_of(half_of(half_of(float(src[k])) * by) + plus);
      const float want = std::isnan(x) ? 0 : std::min(127.0f, std::max(-128.0f, std::nearbyint(x)));
      ASSERT_EQ(int(got[k]), k < kCount ? int(want) : 1) << "form " << form << ", element " << k << " " << float(src[k]);
    }
  }
}
TEST(AscendQuant, RoundsEveryStepToHalfInEveryForm) {
  check_quant<half>();
  check_quant<float>();
}

// ---- AscendDequant ----
std::uint64_t as_scale(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return 0xabcd000000000000ull | bits;  // the upper half says other things
}
template <class D>
float rounded_as(float x) {
  return std::is_same<D, half>::value ? half_of(x) : std::is_same<D, bfloat16_t>::value ? bfloat_of(x) : x;
}
constexpr DequantParams kPlain = {3, 24, 20}, kFolds = {1, 96, 32};
template <class D, class F>
void dequantise(const Tensors<D, std::int32_t, F>& t, int form) {
  LocalTensor<std::int32_t> all = t.src;
  all.SetSize(96);
  LocalTensor<F> scale = t.scale;
  scale.SetSize(32);
  switch (form) {
    case 0:
      return AscendDequant(t.dst, t.src, t.scale, t.tmp, kPlain);
    case 1:
      return AscendDequant<D, F>(t.dst, t.src, t.scale, {3, 24, 20});
    case 2:
      return AscendDequant(t.dst, t.src, t.scale, t.tmp, kFolds);
    case 3:
      return AscendDequant<D, F, DeQuantMode::DEQUANT_WITH_MULTI_ROW>(t.dst, t.src, t.scale, kFolds);
    case 4:
      return AscendDequant(t.dst, t.src, scale, t.tmp, 96);
    case 5:
      return AscendDequant(t.dst, all, scale, t.tmp);
    case 6:
      return AscendDequant(t.dst, t.src, scale, 96);
    case 7:
      return AscendDequant<D, F>(t.dst, all, scale);
    default:
      break;
  }
  if constexpr (!std::is_same<F, std::uint64_t>::value) {
    if (form == 8) return AscendDequant(t.dst, t.src, F(0.3f), t.tmp, kPlain);
    if (form == 9) return AscendDequant(t.dst, t.src, F(0.3f), {3, 24, 20});
  }
}
template <class D, class F>
void dequantise_and_fill(const Tensors<D, std::int32_t, F>& t, int form) {
  dequantise(t, form);
  PipeBarrier<PIPE_V>();
  if (form == 3) return Duplicate(t.dst[32], D(1), 64);  // what follows calCount is undefined
  if (form >= 2 && form < 8) return;
  const int row = sizeof(D) == 2 ? 32 : 24;  // whole blocks
  for (int r = 0; r < 3; ++r) {
    std::uint64_t mask[2] = {0xfff00000ull, 0};
    if (row == 24) mask[0] = 0xf0;
    Duplicate(t.dst[r * row + (row == 24 ? 16 : 0)], D(1), mask, 1, 1, 8);
  }
}
template <class D, class F>
void check_dequant() {
  const auto numbers = values<float>(4, -9e5, 9e5, 128);
  std::vector<std::int32_t> src(128);
  for (int k = 0; k < 128; ++k) src[k] = static_cast<std::int32_t>(numbers[k]);
  src[0] = 2147483647, src[1] = -2147483647 - 1;
  const auto factors = values<float>(5, -0.01, 0.01, 32);
  std::vector<F> scale(32);
  std::vector<float> by(32);
  for (int k = 0; k < 32; ++k) {
    if constexpr (std::is_same<F, std::uint64_t>::value) {
      scale[k] = as_scale(factors[k]);
      by[k] = factors[k];
    } else {
      scale[k] = F(factors[k]);
      by[k] = float(scale[k]);
    }
  }
  const float one = rounded_as<D>(1);
  for (int form = 0; form < (std::is_same<F, std::uint64_t>::value ? 8 : 10); ++form) {
    const auto got = run<D, std::int32_t, F>(src, scale, scale, 128, 96, form, &dequantise_and_fill<D, F>);
    EXPECT_SILENT();
    const bool flat = form >= 2 && form < 8;
    const int columns = flat ? 32 : 24, used = flat ? 32 : 20, row = flat ? 32 : sizeof(D) == 2 ? 32 : 24;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < row; ++c) {
        float scalar = 0.3f;
        if constexpr (std::is_same<F, bfloat16_t>::value) scalar = bfloat_of(0.3f);
        const float want = c >= used || (form == 3 && r > 0)
                               ? one
                               : rounded_as<D>(static_cast<float>(src[r * columns + c]) * (form >= 8 ? scalar : by[c]));
        ASSERT_EQ(float(got[r * row + c]), want) << "form " << form << " at " << r << ", " << c;
      }
    }
  }
}
TEST(AscendDequant, ScalesInFloatInEveryFormAndPairOfTypes) {
  check_dequant<half, std::uint64_t>();
  check_dequant<float, float>();
  check_dequant<float, bfloat16_t>();
  check_dequant<bfloat16_t, bfloat16_t>();
  check_dequant<bfloat16_t, float>();
}
TEST(AscendDequant, LeavesTheRestOfARowUndefined) {
  const std::vector<std::int32_t> src(128, 5);
  const std::vector<float> scale(32, 2.0f);
  run<float, std::int32_t, float>(src, scale, scale, 128, 96, 0, &dequantise<float, float>);
  twin_test::expect_found(twin::Kind::Uninitialised, "AscendDequant");
}

// ---- AscendAntiQuant: (K, N), or turned (N, K); two groups of K ----
constexpr int kK = 64, kN = 32, kGroups = 2;
template <class S, class D, bool turned>
void anti_quantise(const Tensors<D, S, D>& t, int form) {
  LocalTensor<S> src = t.src;
  src.SetSize(kK * kN);
  const std::uint32_t h = turned ? kN : kGroups, w = turned ? kGroups : kN;
  const AntiQuantShapeInfo shape = {h, w, h, w};
  LocalTensor<D> scale = t.scale, offset = t.offset;
  const std::uint32_t sizes[] = {h, w};
  scale.SetShapeInfo(ShapeInfo(2, sizes));
  offset.SetShapeInfo(ShapeInfo(2, sizes));
  const D by = D(0.3f), plus = D(1.7f);
  switch (form) {
    case 0:
      return AscendAntiQuant<S, D, turned>(t.dst, src, t.offset, t.scale, t.tmp, kK, shape);
    case 1:
      return AscendAntiQuant<S, D, turned>(t.dst, src, offset, scale, kK);
    case 2:
      return AscendAntiQuant<S, D, turned>(t.dst, src, scale, t.tmp, kK);
    case 3:
      return AscendAntiQuant<S, D, turned>(t.dst, src, plus, by, t.tmp, kK);
    case 4:
      return AscendAntiQuant<S, D, turned>(t.dst, src, by, t.tmp, kK);
    default:
      return AscendAntiQuant<S, D, turned>(t.dst, src, plus, by, kK, shape);
  }
}
template <class S, class D, bool turned>
void check_anti_quant() {
  constexpr bool kFour = std::is_same<S, int4b_t>::value;
  std::mt19937 random(6);
  std::vector<std::uint8_t> src(kFour ? kK * kN / 2 : kK * kN);
  for (auto& b : src) b = static_cast<std::uint8_t>(random());
  const auto source = [&](int k) {
    return kFour ? std::int8_t(int4b_t(src[k / 2] >> (k % 2 * 4))) : static_cast<std::int8_t>(src[k]);
  };
  const auto scale = values<D>(7, -1, 1, kGroups * kN), offset = values<D>(8, -9, 9, kGroups * kN);
  const auto step = [](float x) { return std::is_same<D, half>::value ? half_of(x) : x; };
  for (int form = 0; form < 6; ++form) {
    const auto got = run<D, S, D>(src, scale, offset, kK * kN, kK * kN, form, &anti_quantise<S, D, turned>);
    EXPECT_SILENT();
    for (int at = 0; at < kK * kN; ++at) {
      const int k = turned ? at % kK : at / kN, n = turned ? at / kK : at % kN, group = k / (kK / kGroups);
      const int factor = turned ? n * kGroups + group : group * kN + n;
      const float by = form < 3 ? float(scale[factor]) : float(D(0.3f));
      const float plus = form < 2 ? float(offset[factor]) : form == 3 || form == 5 ? float(D(1.7f)) : 0;
      const float want = step(step(float(source(at)) + plus) * by);
      ASSERT_EQ(float(got[at]), float(D(want))) << "form " << form << ", turned " << turned << ", element " << at;
    }
  }
}
TEST(AscendAntiQuant, ScalesWhatIsShiftedInEveryFormAndPairOfTypes) {
  check_anti_quant<std::int8_t, half, false>();
  check_anti_quant<std::int8_t, half, true>();
  check_anti_quant<std::int8_t, bfloat16_t, false>();
  check_anti_quant<std::int8_t, bfloat16_t, true>();
  check_anti_quant<int4b_t, half, false>();
  check_anti_quant<int4b_t, half, true>();
  check_anti_quant<int4b_t, bfloat16_t, false>();
  check_anti_quant<int4b_t, bfloat16_t, true>();
}

TEST(Quantisation, HostCodeLearnsHowLargeTemporariesMayBe) {
  const ge::Shape src({64, 512}), scale({1, 512});
  std::uint32_t most = 0, least = 0;
  const auto check = [&](const char* what) {
    EXPECT_GE(least, 512u * 16) << what;
    EXPECT_GT(most, least) << what;
    EXPECT_EQ(most % 32 + least % 32, 0u) << what;
  };
  GetAscendQuantMaxMinTmpSize(src, 2, most, least), check("AscendQuant");
  GetAscendDequantMaxMinTmpSize(src, 4, most, least), check("AscendDequant");
  GetAscendAntiQuantMaxMinTmpSize(src, scale, false, ge::DT_INT8, ge::DT_BF16, most, least), check("AscendAntiQuant");
  EXPECT_EQ(GetAscendAntiQuantMaxTmpSize(src, scale, false, ge::DT_INT8, ge::DT_BF16), most);
  EXPECT_EQ(GetAscendAntiQuantMinTmpSize(src, scale, false, ge::DT_INT4, ge::DT_FLOAT16), least);
}

// ---- misuse ----
void misuse_of_quant(const Tensors<std::int8_t, half, half>& t, int form) {
  const auto numbers = ub<std::int32_t>(0, 128);
  const auto floats = ub<float>(98304, 128);
  const auto bytes = ub<std::int8_t>(0, 256);
  const auto halves = ub<half>(98304, 256);
  switch (form) {
    case 0:
      return AscendQuant(t.dst, t.src, t.scale, half(0), 16, 64);
    case 1:
      return AscendQuant(t.dst, t.src, t.scale, half(0), 64, 96);
    case 2:
      return AscendQuant(t.dst, t.src, t.scale, t.offset, 64, 32, 64);
    case 3:
      return AscendQuant(t.dst, t.src, 1.0f, 0.0f, 512);
    case 4:
      return AscendQuant(t.src.ReinterpretCast<std::int8_t>(), t.src, 1.0f, 0.0f, 64);
    case 5:
      return AscendDequant(floats, numbers, 2.0f, {2, 12, 12});
    case 6:
      return AscendDequant(floats, numbers, 2.0f, {2, 16, 17});
    case 7:
      return AscendDequant(floats, numbers, ub<float>(65536, 24), 64);
    case 8:
      return AscendDequant(numbers.ReinterpretCast<float>(), numbers, 2.0f, {2, 16, 16});
    case 9:
      return AscendAntiQuant<std::int8_t, half, false>(halves, bytes, t.offset, t.scale, 8, {1, 16, 1, 32});
    case 10:
      return AscendAntiQuant<std::int8_t, half, false>(halves, bytes, t.scale, t.tmp, 8);
    case 11:
      return AscendAntiQuant<std::int8_t, half, true>(halves, bytes, half(1), half(2), 16);
    case 12:
      return AscendAntiQuant<std::int8_t, half, false>(halves, bytes, half(1), half(2), 7);
    case 13:
      return AscendAntiQuant<std::int8_t, half, false>(halves, bytes[8], half(1), half(2), 8);
    default:
      return AscendQuant(t.dst, t.src, ub<std::uint8_t>(98304, 256), 1.0f, 0.0f, 64);
  }
}
TEST(Quantisation, NamesWhatDoesNotFit) {
  const struct {
    twin::Kind kind;
    const char* what;
  } cases[] = {{twin::Kind::Limit, "scaleCount 16"},
               {twin::Kind::Limit, "96 elements with scaleCount 64"},
               {twin::Kind::Limit, "offsetCount 32, scaleCount 64"},
               {twin::Kind::OutOfBounds, "AscendQuant reads"},
               {twin::Kind::Overlap, "lies over"},
               {twin::Kind::Alignment, "n = 12"},
               {twin::Kind::Limit, "calCount 17"},
               {twin::Kind::Limit, "64 elements with 24 scales"},
               {twin::Kind::Overlap, "lies over"},
               {twin::Kind::Limit, "the offset of (1, 16) for src of (8, 32)"},
               {twin::Kind::Limit, "the scale of (0, 0)"},
               {twin::Kind::Alignment, "k = 16"},
               {twin::Kind::Limit, "k = 7 does not divide the 256 elements"},
               {twin::Kind::Alignment, "AscendAntiQuant"},
               {twin::Kind::Overlap, "the temporary lies over"}};
  const std::vector<half> src(256, half(1)), factors(64, half(1));
  int form = 0;
  for (const auto& c : cases) {
    run<std::int8_t, half, half>(src, factors, factors, 256, 256, form, &misuse_of_quant);
    twin_test::expect_found(c.kind, c.what);
    ++form;
  }
}

}  // namespace
