// SPDX-License-Identifier: Apache-2.0
// Images from GM into L1, changed on the way: SetAippFunctions sets how, LoadImageToLocal loads.
#pragma once

#include "ascendc/load.hpp"
#include "twin/calls_aipp.hpp"

namespace AscendC {

enum class AippInputFormat : std::uint8_t { YUV420SP_U8 = 0, XRGB8888_U8 = 1, RGB888_U8 = 4, YUV400_U8 = 9 };
template <class T>
struct AippPaddingParams {
  std::uint32_t paddingMode = 0;
  T paddingValueCh0 = T(0), paddingValueCh1 = T(0), paddingValueCh2 = T(0), paddingValueCh3 = T(0);
};
struct AippSwapParams {
  bool isSwapRB = false, isSwapUV = false, isSwapAX = false;
};
struct AippSingleLineParams {
  bool isSingleLineCopy = false;
};
struct AippDataTypeConvParams {
  std::uint8_t dtcMeanCh0 = 0, dtcMeanCh1 = 0, dtcMeanCh2 = 0;
  half dtcMinCh0 = half(0.0f), dtcMinCh1 = half(0.0f), dtcMinCh2 = half(0.0f);
  half dtcVarCh0 = half(1.0f), dtcVarCh1 = half(1.0f), dtcVarCh2 = half(1.0f);
  std::uint32_t dtcRoundMode = 0;
};
template <class T>
struct AippChannelPaddingParams {
  std::uint32_t cPaddingMode = 0;
  T cPaddingValue = T(0);
};
struct AippColorSpaceConvParams {
  bool isEnableCsc = false;
  std::int16_t cscMatrixR0C0 = 0, cscMatrixR0C1 = 0, cscMatrixR0C2 = 0;
  std::int16_t cscMatrixR1C0 = 0, cscMatrixR1C1 = 0, cscMatrixR1C2 = 0;
  std::int16_t cscMatrixR2C0 = 0, cscMatrixR2C1 = 0, cscMatrixR2C2 = 0;
  std::uint8_t cscBiasIn0 = 0, cscBiasIn1 = 0, cscBiasIn2 = 0;
  std::uint8_t cscBiasOut0 = 0, cscBiasOut1 = 0, cscBiasOut2 = 0;
};
template <class T>
struct AippParams {
  AippPaddingParams<T> paddingParams;
  AippSwapParams swapParams;
  AippSingleLineParams singleLineParams;
  AippDataTypeConvParams dtcParams;
  AippChannelPaddingParams<T> cPaddingParams;
  AippColorSpaceConvParams cscParams;
};
struct LoadImageToLocalParams {
  LoadImageToLocalParams() = default;
  LoadImageToLocalParams(std::uint16_t width, std::uint16_t height, std::uint16_t x, std::uint16_t y, std::uint16_t source,
                         std::uint8_t top, std::uint8_t bottom, std::uint16_t left, std::uint16_t right)
      : horizSize(width),
        vertSize(height),
        horizStartPos(x),
        vertStartPos(y),
        srcHorizSize(source),
        topPadSize(top),
        botPadSize(bottom),
        leftPadSize(left),
        rightPadSize(right) {}
  std::uint16_t horizSize = 0, vertSize = 0, horizStartPos = 0, vertStartPos = 0, srcHorizSize = 0;
  std::uint8_t topPadSize = 0, botPadSize = 0;
  std::uint16_t leftPadSize = 0, rightPadSize = 0;
  std::uint8_t sid = 0;
};

namespace detail {
template <class T>
::twin::Aipp aipp(AippInputFormat format, const AippParams<T>& p) {
  static_assert(std::is_same<T, std::int8_t>::value || std::is_same<T, half>::value,
                "SetAippFunctions: int8_t and half come out on the 910B");
  ::twin::Aipp a;
  a.format = static_cast<std::uint8_t>(format);
  a.dtype = ::twin::DTypeOf<T>::kValue;
  const auto& pad = p.paddingParams;
  const T values[] = {pad.paddingValueCh0, pad.paddingValueCh1, pad.paddingValueCh2, pad.paddingValueCh3};
  for (int c = 0; c < 4; ++c) a.padding[c] = static_cast<float>(values[c]);
  a.padding_mode = pad.paddingMode;
  a.swap_rb = p.swapParams.isSwapRB;
  a.swap_uv = p.swapParams.isSwapUV;
  a.swap_ax = p.swapParams.isSwapAX;
  a.single_line = p.singleLineParams.isSingleLineCopy;
  const AippDataTypeConvParams& d = p.dtcParams;
  const std::uint8_t means[] = {d.dtcMeanCh0, d.dtcMeanCh1, d.dtcMeanCh2};
  const half mins[] = {d.dtcMinCh0, d.dtcMinCh1, d.dtcMinCh2}, vars[] = {d.dtcVarCh0, d.dtcVarCh1, d.dtcVarCh2};
  const AippColorSpaceConvParams& s = p.cscParams;
  const std::int16_t matrix[3][3] = {{s.cscMatrixR0C0, s.cscMatrixR0C1, s.cscMatrixR0C2},
                                     {s.cscMatrixR1C0, s.cscMatrixR1C1, s.cscMatrixR1C2},
                                     {s.cscMatrixR2C0, s.cscMatrixR2C1, s.cscMatrixR2C2}};
  const std::uint8_t in[] = {s.cscBiasIn0, s.cscBiasIn1, s.cscBiasIn2};
  const std::uint8_t out[] = {s.cscBiasOut0, s.cscBiasOut1, s.cscBiasOut2};
  for (int c = 0; c < 3; ++c) {
    a.mean[c] = means[c];
    a.min[c] = static_cast<float>(mins[c]);
    a.var[c] = static_cast<float>(vars[c]);
    for (int k = 0; k < 3; ++k) a.matrix[c][k] = matrix[c][k];
    a.bias_in[c] = in[c];
    a.bias_out[c] = out[c];
  }
  a.round_mode = d.dtcRoundMode;
  a.channel_mode = p.cPaddingParams.cPaddingMode;
  a.channel_padding = static_cast<float>(p.cPaddingParams.cPaddingValue);
  a.csc = s.isEnableCsc;
  return a;
}
}  // namespace detail

template <class T, class U>
TWIN_API void SetAippFunctions(const GlobalTensor<T>& src0, AippInputFormat format, AippParams<U> config) {
  ::twin::Aipp a = detail::aipp(format, config);
  a.image = src0.view();
  ::twin::set_aipp(a);
}
template <class T, class U>
TWIN_API void SetAippFunctions(const GlobalTensor<T>& src0, const GlobalTensor<T>& src1, AippInputFormat format,
                               AippParams<U> config) {
  ::twin::Aipp a = detail::aipp(format, config);
  a.image = src0.view();
  a.chroma = src1.view();
  a.has_chroma = true;
  ::twin::set_aipp(a);
}
template <class T>
TWIN_API void LoadImageToLocal(const LocalTensor<T>& dst, const LoadImageToLocalParams& p, Site site = Site::here()) {
  static_assert(std::is_same<T, std::int8_t>::value || std::is_same<T, half>::value,
                "LoadImageToLocal takes int8_t and half on the 910B");
  ::twin::load_image_to_local(dst.view(),
                              {p.horizSize, p.vertSize, p.horizStartPos, p.vertStartPos, p.srcHorizSize, p.topPadSize,
                               p.botPadSize, p.leftPadSize, p.rightPadSize},
                              site);
}

}  // namespace AscendC
