// SPDX-License-Identifier: Apache-2.0
// The library's tiling on the host: shapes arrive in the fields that kernels read, sizes grow with them, what is wrong says
// so.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "tiling/tiling_api.h"

namespace {

using namespace AscendC;  // NOLINT: as host code does

template <class Tiling>
void expect_bsh(const Tiling& t, std::uint32_t b, std::uint32_t s, std::uint32_t h, std::uint32_t own) {
  EXPECT_EQ(t.bLength, b);
  EXPECT_EQ(t.sLength, s);
  EXPECT_EQ(t.hLength, h);
  EXPECT_EQ(t.originalHLength, own);
}
TEST(LibraryTiling, ShapesOfNormalisations) {
  const ge::Shape padded({2, 16, 64, 50}), bsh({2, 16, 64}), own({2, 16, 50});
  LayerNormTiling layer;
  GetLayerNormNDTilingInfo(padded, 4096, 2, false, layer);
  expect_bsh(layer, 2, 16, 64, 50);
  GetLayerNormNDTillingInfo(ge::Shape({2, 16, 64, 64}), 4096, 2, false, layer);
  expect_bsh(layer, 2, 16, 64, 64);
  optiling::LayerNormSeparateTiling separate;
  GetLayerNormNDTilingInfo(ge::Shape({8, 64}), 4096, 2, false, true, separate);
  EXPECT_EQ(separate.aLength, 8u);
  EXPECT_EQ(separate.rLength, 64u);
  AscendC::tiling::RmsNormTiling rms;
  EXPECT_TRUE(GetRmsNormTilingInfo(bsh, own, 4096, 2, rms));
  expect_bsh(rms, 2, 16, 64, 50);
  EXPECT_EQ(rms.reciprocalOfHLength, 1.0f / 50);
  EXPECT_FALSE(GetRmsNormTilingInfo(own, bsh, 4096, 2, rms));
  EXPECT_FALSE(GetRmsNormTilingInfo(ge::Shape({2, 64}), ge::Shape({2, 64}), 4096, 2, rms));
  DeepNormTiling deep;
  EXPECT_TRUE(GetDeepNormTilingInfo(bsh, own, 4096, 2, false, false, deep));
  expect_bsh(deep, 2, 16, 64, 50);
  BatchNormTiling batch;
  EXPECT_TRUE(GetBatchNormNDTilingInfo(bsh, bsh, 4096, 2, false, batch));
  EXPECT_EQ(batch.originalBLength, 2u);
  EXPECT_EQ(batch.meanVarSize, 1024u);
  GroupNormTiling group;
  GetGroupNormNDTilingInfo(ge::Shape({2, 16, 3, 9}), 4096, 4, false, 4, group);
  EXPECT_EQ(group.n, 2u);
  EXPECT_EQ(group.c, 16u);
  EXPECT_EQ(group.hw, 27u);
  EXPECT_EQ(group.g, 4u);
  EXPECT_EQ(group.d, 4u);
  EXPECT_EQ(group.hwAlignSize, 32u);
  LayerNormGradTiling grad;
  GetLayerNormGradNDTilingInfo(padded, 4096, 2, false, grad);
  expect_bsh(grad, 2, 16, 64, 50);
  LayerNormGradBetaTiling beta;
  GetLayerNormGradBetaNDTilingInfo(padded, 4096, 2, false, beta);
  expect_bsh(beta, 2, 16, 64, 50);
}
TEST(Tiling, CarriesWhatCommunicationWouldNeed) {  // sizes: the page of the TilingData of communication
  struct Data {
    Mc2InitTiling init;
    optiling::Mc2CcTiling reduce;
    std::uint32_t rows;
  };
  EXPECT_EQ(offsetof(Data, reduce), 64u);
  EXPECT_EQ(offsetof(Data, rows), 344u);
}
TEST(LibraryTiling, ShapesOfSoftmax) {
  const ge::Shape shape({2, 3, 40});
  SoftMaxTiling t[5];
  SoftMaxTilingFunc(shape, 4, 4096, t[0]);
  SoftMaxFlashTilingFunc(shape, 4, 4096, t[1], true);
  SoftMaxFlashV2TilingFunc(shape, 2, 4, 4096, t[2], true);
  SoftMaxFlashV3TilingFunc(shape, 2, 4, 4096, t[3], true);
  SoftMaxGradTilingFunc(shape, 4, 4096, t[4], true);
  for (const SoftMaxTiling& each : t) {
    EXPECT_EQ(each.srcM, 6u);
    EXPECT_EQ(each.srcK, 40u);
    EXPECT_EQ(each.srcSize, 240u);
  }
  LogSoftMaxTiling log;
  LogSoftMaxTilingFunc(shape, 4, 4096, log);
  EXPECT_EQ(log.srcM, 6u);
  EXPECT_EQ(log.srcK, 40u);
  SoftMaxTilingFunc(ge::Shape(), 4, 4096, t[0]);
  EXPECT_EQ(t[0].srcM, 0u);
}
TEST(LibraryTiling, TemporariesHoldARowAtLeastAndAllAtMost) {
  const ge::Shape bsh({2, 16, 64}), padded({2, 16, 64, 64}), nchw({2, 16, 8, 4});
  std::uint32_t most = 0, least = 0;
  const auto check = [&](const char* what) {
    EXPECT_GE(least, 64u * 4 * 4) << what;
    EXPECT_GT(most, least) << what;
    EXPECT_EQ(most % 32, 0u) << what;
    EXPECT_EQ(least % 32, 0u) << what;
    most = least = 0;
  };
  GetLayerNormMaxMinTmpSize(padded, 2, false, most, least), check("LayerNorm");
  GetLayerNormMaxMinTmpSize(ge::Shape({32, 64}), 2, false, true, false, most, least), check("LayerNorm with rstd");
  GetNormalizeMaxMinTmpSize(ge::Shape({32, 64}), 4, 2, false, true, false, most, least), check("Normalize");
  EXPECT_TRUE(GetRmsNormMaxMinTmpSize(bsh, 2, most, least)), check("RmsNorm");
  EXPECT_TRUE(GetDeepNormMaxMinTmpSize(bsh, 2, false, false, most, least)), check("DeepNorm");
  EXPECT_TRUE(GetBatchNormMaxMinTmpSize(bsh, bsh, 2, false, most, least)), check("BatchNorm");
  GetGroupNormMaxMinTmpSize(nchw, 2, false, 4, most, least), check("GroupNorm");
  GetLayerNormGradMaxMinTmpSize(padded, 2, false, most, least), check("LayerNormGrad");
  GetLayerNormGradBetaMaxMinTmpSize(padded, 2, false, most, least), check("LayerNormGradBeta");
  GetWelfordUpdateMaxMinTmpSize(bsh, 2, 4, false, false, most, least), check("WelfordUpdate");
  GetWelfordFinalizeMaxMinTmpSize(bsh, 4, false, most, least), check("WelfordFinalize");
  GetDropOutMaxMinTmpSize(bsh, 4, false, most, least), check("DropOut");
  GetReduceXorSumMaxMinTmpSize(bsh, 2, false, most, least), check("ReduceXorSum");
  GetSoftMaxFlashV3MaxMinTmpSize(bsh, 2, 4, most, least, true), check("SoftmaxFlashV3");
  for (const auto& [max, min] :
       {std::pair(GetSoftMaxMaxTmpSize(bsh, 4, false), GetSoftMaxMinTmpSize(bsh, 4, false)),
        std::pair(GetSoftMaxFlashMaxTmpSize(bsh, 4, true, false), GetSoftMaxFlashMinTmpSize(bsh, 4, true, false)),
        std::pair(GetSoftMaxFlashV2MaxTmpSize(bsh, 2, 4, true), GetSoftMaxFlashV2MinTmpSize(bsh, 2, 4, true)),
        std::pair(GetSoftMaxGradMaxTmpSize(bsh, 4, false, false), GetSoftMaxGradMinTmpSize(bsh, 4, false, false)),
        std::pair(GetLogSoftMaxMaxTmpSize(bsh, 4, false), GetLogSoftMaxMinTmpSize(bsh, 4, false))}) {
    most = max, least = min;
    check("softmax");
  }
}
using Sizes = void (*)(const ge::Shape&, std::uint32_t, bool, std::uint32_t&, std::uint32_t&);
using Factors = void (*)(std::uint32_t, std::uint32_t&, std::uint32_t&);
struct Elementwise {
  const char* name;
  Sizes sizes;
  Factors factors;
};
#define BOTH(name) \
  { #name, Get##name##MaxMinTmpSize, Get##name##TmpBufferFactorSize }
const Elementwise kElementwise[] = {BOTH(Acos),
                                    BOTH(Acosh),
                                    BOTH(Asin),
                                    BOTH(Asinh),
                                    BOTH(Atan),
                                    BOTH(Atanh),
                                    BOTH(Ceil),
                                    BOTH(Clamp),
                                    BOTH(Cos),
                                    BOTH(Cosh),
                                    BOTH(Digamma),
                                    BOTH(Erf),
                                    BOTH(Erfc),
                                    BOTH(Floor),
                                    BOTH(Fmod),
                                    BOTH(Frac),
                                    BOTH(GeGLU),
                                    BOTH(Lgamma),
                                    BOTH(Log),
                                    BOTH(Log10),
                                    BOTH(Log2),
                                    BOTH(Sign),
                                    BOTH(Sin),
                                    BOTH(Sinh),
                                    BOTH(Tan),
                                    BOTH(Tanh),
                                    BOTH(Trunc),
                                    BOTH(Xor),
                                    {"ReGlu", GetReGluMaxMinTmpSize, nullptr},
                                    {"Sigmoid", GetSigmoidMaxMinTmpSize, nullptr},
                                    {"Silu", GetSiluTmpSize, nullptr},
                                    {"Swish", GetSwishTmpSize, nullptr},
                                    {"Exp", nullptr, GetExpTmpBufferFactorSize},
                                    {"Mean", nullptr, GetMeanTmpBufferFactorSize},
                                    {"SwiGLU", nullptr, GetSwiGLUTmpBufferFactorSize}};
#undef BOTH
TEST(LibraryTiling, ElementwiseTemporariesAreWhatTheFactorsSay) {
  for (const std::uint32_t bytes : {1u, 2u, 4u, 8u, 32u}) {
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{31}, std::int64_t{1024}, std::int64_t{5001}}) {
      std::uint32_t want = 0, unused = 0;
      GetTanhMaxMinTmpSize(ge::Shape({n}), bytes, false, want, unused);
      for (const Elementwise& f : kElementwise) {
        std::uint32_t most = 0, least = 0, live = 0, extra = 0;
        if (f.sizes) {
          f.sizes(ge::Shape({n}), bytes, false, most, least);
          EXPECT_EQ(least, 256u) << f.name;
          EXPECT_EQ(most, std::max<std::uint32_t>(256, (static_cast<std::uint32_t>(n) * 16 + 31) / 32 * 32)) << f.name;
        }
        if (f.factors) {
          f.factors(bytes, live, extra);
          EXPECT_GT(live, 0u) << f.name;
          EXPECT_LE(want, live * n * bytes + extra) << f.name << " " << n << " of " << bytes;
        }
      }
    }
  }
  std::uint32_t live = 1, extra = 0;
  GetTanhTmpBufferFactorSize(0, live, extra);
  EXPECT_EQ(live, 0u);
}
TEST(LibraryTiling, TemporariesWithParametersOfTheirOwn) {
  const platform_ascendc::PlatformAscendC platform;
  const ge::Shape matrix({16, 64}), one({1});
  std::uint32_t most = 0, least = 0, live = 0, extra = 0;
  const auto check = [&](const char* what, std::uint32_t want_most, std::uint32_t want_least) {
    EXPECT_EQ(most, want_most) << what;
    EXPECT_EQ(least, want_least) << what;
    most = least = 0;
  };
  constexpr std::uint32_t kAll = 16 * 64 * 16, kRow = 64 * 16;
  EXPECT_TRUE(GetExpMaxMinTmpSize(matrix, 4, false, most, least)), check("Exp", kAll, 256);
  EXPECT_FALSE(GetExpMaxMinTmpSize(ge::Shape(), 4, false, most, least)), check("Exp of nothing", 256, 256);
  GetGeluMaxMinTmpSize(matrix, 2, most, least), check("Gelu", kAll, 256);
  most = GetGeluMaxTmpSize(matrix, 2), least = GetGeluMinTmpSize(matrix, 2), check("Gelu, each", kAll, 256);
  GetSwiGLUMaxMinTmpSize(matrix, 2, most, least, false), check("SwiGLU", kAll, 256);
  GetRoundMaxMinTmpSize(platform, matrix, 2, false, most, least), check("Round", kAll, 256);
  GetPowerMaxMinTmpSize(matrix, one, false, 2, false, most, least), check("Power of a tensor", kAll, 256);
  GetPowerMaxMinTmpSize(one, matrix, true, 4, false, most, least), check("Power of a number", kAll, 256);
  GetSumMaxMinTmpSize(64, 2, false, most, least), check("Sum", kRow, kRow);
  GetMeanMaxMinTmpSize(64, 2, 4, false, most, least), check("Mean", kRow, kRow);
  GetCumSumMaxMinTmpSize(matrix, 2, true, false, most, least), check("CumSum", kAll, kRow);
  for (const auto reduce :
       {GetReduceAllMaxMinTmpSize, GetReduceAnyMaxMinTmpSize, GetReduceMaxMaxMinTmpSize, GetReduceMeanMaxMinTmpSize,
        GetReduceMinMaxMinTmpSize, GetReduceProdMaxMinTmpSize, GetReduceSumMaxMinTmpSize})
    reduce(matrix, ge::DT_FLOAT, ReducePattern::RA, true, false, most, least), check("Reduce", kAll, kRow);
  GetBroadCastMaxMinTmpSize(platform, ge::Shape({1, 64}), matrix, 2, false, most, least), check("BroadCast", kAll, kRow);
  GetRoundTmpBufferFactorSize(platform, 2, live, extra);
  EXPECT_EQ(live, 8u);
  GetPowerTmpBufferFactorSize(true, false, true, 4, live, extra);
  EXPECT_EQ(live, 4u);
  EXPECT_EQ(extra, 256u);
  EXPECT_EQ(GetSortTmpSize(platform, 128, 4), 1024u);
  EXPECT_EQ(GetConcatTmpSize(platform, 130, 2), 1056u);
}
TEST(LibraryTiling, TransDataNamesWhatItCannotConvert) {
  const platform_ascendc::PlatformAscendC platform;
  const ge::Shape plain({1, 20, 1, 3, 5}), blocks({1, 1, 2, 3, 5, 16});
  std::uint32_t most = 0, least = 0;
  const auto ask = [&](DataFormat from, DataFormat to, const ge::Shape& src, const ge::Shape& dst) {
    return GetTransDataMaxMinTmpSize(platform, src, dst, ge::DT_FLOAT16, TransDataConfig{from, to}, most, least);
  };
  EXPECT_TRUE(ask(DataFormat::NCDHW, DataFormat::NDC1HWC0, plain, blocks));
  EXPECT_EQ(most, 480u * 16);
  EXPECT_TRUE(ask(DataFormat::NDC1HWC0, DataFormat::NCDHW, blocks, plain));
  EXPECT_TRUE(ask(DataFormat::NCDHW, DataFormat::FRACTAL_Z_3D, plain, blocks));
  EXPECT_FALSE(ask(DataFormat::NCDHW, DataFormat::NCDHW, plain, plain));
  EXPECT_FALSE(ask(DataFormat::ND, DataFormat::NZ, plain, blocks));
  EXPECT_FALSE(ask(DataFormat::NCDHW, DataFormat::NDC1HWC0, plain, ge::Shape()));
}
TEST(LibraryTiling, TopKRefusesWhatItCannotSort) {
  const platform_ascendc::PlatformAscendC platform;
  std::uint32_t most = 0, least = 0;
  TopkTiling t;
  EXPECT_TRUE(GetTopKMaxMinTmpSize(platform, 64, 4, false, true, TopKMode::TOPK_NORMAL, true, 4, most, least));
  EXPECT_GE(least, 64u * 16);
  EXPECT_GE(most, 4 * 64u * 16);
  EXPECT_TRUE(TopKTilingFunc(platform, 64, 4, 8, 4, true, TopKMode::TOPK_NORMAL, true, t));
  EXPECT_EQ(t.allDataSize, 256);
  EXPECT_EQ(t.innerDataSize, 64);
  EXPECT_FALSE(GetTopKMaxMinTmpSize(platform, 60, 4, false, true, TopKMode::TOPK_NORMAL, true, 4, most, least));
  EXPECT_FALSE(TopKTilingFunc(platform, 60, 4, 8, 4, true, TopKMode::TOPK_NORMAL, true, t));
  EXPECT_FALSE(TopKTilingFunc(platform, 64, 4, 65, 4, true, TopKMode::TOPK_NORMAL, true, t));
  EXPECT_FALSE(TopKTilingFunc(platform, 64, 4, 8, 8, true, TopKMode::TOPK_NORMAL, true, t));
}
TEST(LibraryTiling, ShapesHaveDimensions) {
  ge::Shape s({2, 3});
  EXPECT_EQ(s.GetDimNum(), 2u);
  EXPECT_EQ(s.GetDim(1), 3);
  EXPECT_EQ(s.GetDim(2), 0);
  EXPECT_TRUE(s.SetDim(1, 5));
  EXPECT_FALSE(s.SetDim(2, 5));
  EXPECT_EQ(s.GetShapeSize(), 10);
  EXPECT_EQ(ge::Shape().GetShapeSize(), 0);
  EXPECT_EQ(ge::Shape(std::vector<std::int64_t>{4, 4}).GetDims().size(), 2u);
}

template <class Tiling>
void expect_saved(Tiling t) {
  auto* const bytes = reinterpret_cast<unsigned char*>(&t);
  for (std::size_t k = 0; k < sizeof t; ++k) bytes[k] = static_cast<unsigned char>(k % 2);
  ASSERT_EQ(t.GetDataSize(), sizeof t);
  std::vector<unsigned char> all(sizeof t + 4, 9), part(all);
  t.SaveToBuffer(all.data(), all.size());
  EXPECT_TRUE(std::equal(bytes, bytes + sizeof t, all.begin()));
  EXPECT_EQ(all[sizeof t], 9);
  t.SaveToBuffer(part.data(), 8);  // no more than there is room for
  EXPECT_TRUE(std::equal(bytes, bytes + 8, part.begin()));
  EXPECT_EQ(part[8], 9);
}
TEST(LibraryTiling, IsSavedByteForByte) {
  expect_saved(TCubeTiling());
  expect_saved(SoftMaxTiling());
  expect_saved(LogSoftMaxTiling());
  expect_saved(LayerNormTiling());
  expect_saved(LayerNormSeparateTiling());
  expect_saved(LayerNormGradTiling());
  expect_saved(LayerNormGradBetaTiling());
  expect_saved(RmsNormTiling());
  expect_saved(DeepNormTiling());
  expect_saved(BatchNormTiling());
  expect_saved(GroupNormTiling());
  expect_saved(TopkTiling());
  expect_saved(PadTiling());
  expect_saved(UnPadTiling());
  expect_saved(optiling::ConfusionTransposeTiling());
}

}  // namespace
