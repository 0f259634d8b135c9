// SPDX-License-Identifier: Apache-2.0
// LoadData into L0A and L0B: fractals as they lie (2D), transposed, or unrolled from an image (3D); and constants.
#pragma once

#include "ascendc/move.hpp"
#include "twin/calls_cube.hpp"

namespace AscendC {

struct LoadData2DParams {
  LoadData2DParams() = default;
  LoadData2DParams(std::uint16_t start, std::uint8_t repeat, std::uint16_t src, std::uint8_t reserved, std::uint16_t dst,
                   bool transpose, std::uint8_t mode)
      : startIndex(start),
        repeatTimes(repeat),
        srcStride(src),
        sid(reserved),
        dstGap(dst),
        ifTranspose(transpose),
        addrMode(mode) {}
  std::uint16_t startIndex = 0;
  std::uint8_t repeatTimes = 0;
  std::uint16_t srcStride = 0;
  std::uint8_t sid = 0;
  std::uint16_t dstGap = 0;
  bool ifTranspose = false;
  std::uint8_t addrMode = 0;
};
using LoadData2dParams = LoadData2DParams;  // the older name
struct LoadData2dTransposeParams {
  LoadData2dTransposeParams() = default;
  LoadData2dTransposeParams(std::uint16_t start, std::uint8_t repeat, std::uint16_t src, std::uint16_t dst,
                            std::uint16_t fractal, std::uint8_t mode = 0)
      : startIndex(start), repeatTimes(repeat), srcStride(src), dstGap(dst), dstFracGap(fractal), addrMode(mode) {}
  std::uint16_t startIndex = 0;
  std::uint8_t repeatTimes = 0;
  std::uint16_t srcStride = 0, dstGap = 0, dstFracGap = 0;
  std::uint8_t addrMode = 0;
};
template <class T>
struct InitConstValueParams {
  InitConstValueParams() = default;
  InitConstValueParams(std::uint16_t repeat, std::uint16_t blocks, std::uint16_t gap, T value)
      : repeatTimes(repeat), blockNum(blocks), dstGap(gap), initValue(value) {}
  std::uint16_t repeatTimes = 0, blockNum = 0, dstGap = 0;
  T initValue = T(0);
};
constexpr std::uint32_t PAD_SIZE = 4;
struct IsResetLoad3dConfig {
  bool isSetFMatrix = true;  // false: size and pads as SetFmatrix left them
  bool isSetPadding = true;  // false: the value as SetLoadDataPaddingValue left it
};
inline constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG = {true, true};
enum class FmatrixMode : std::uint8_t { FMATRIX_LEFT, FMATRIX_RIGHT };

// From an image (C1, H, W, C0) to the matrix of its convolution. padList: left, right, top, bottom.
template <class T>
struct LoadData3DParamsV2 {
  LoadData3DParamsV2() = default;
  LoadData3DParamsV2(const std::uint8_t pads[PAD_SIZE], std::uint16_t height, std::uint16_t width, std::uint16_t channels,
                     std::uint16_t k_extent, std::uint16_t m_extent, std::uint16_t k_start, std::uint16_t m_start,
                     std::uint8_t stride_w, std::uint8_t stride_h, std::uint8_t filter_w, std::uint8_t filter_h,
                     std::uint8_t dilation_w, std::uint8_t dilation_h, bool transpose, bool small_k, T value)
      : l1H(height),
        l1W(width),
        channelSize(channels),
        kExtension(k_extent),
        mExtension(m_extent),
        kStartPt(k_start),
        mStartPt(m_start),
        strideW(stride_w),
        strideH(stride_h),
        filterW(filter_w),
        filterH(filter_h),
        dilationFilterW(dilation_w),
        dilationFilterH(dilation_h),
        enTranspose(transpose),
        enSmallK(small_k),
        padValue(value) {
    for (std::uint32_t k = 0; k < PAD_SIZE; ++k) padList[k] = pads[k];
  }
  LoadData3DParamsV2(const std::uint8_t pads[PAD_SIZE], std::uint16_t height, std::uint16_t width, std::uint16_t channels,
                     std::uint16_t k_extent, std::uint16_t m_extent, std::uint16_t k_start, std::uint16_t m_start,
                     std::uint8_t stride_w, std::uint8_t stride_h, std::uint8_t filter_w, std::uint8_t filter_h,
                     std::uint8_t dilation_w, std::uint8_t dilation_h, bool transpose, bool small_k, T value,
                     bool wide_filter_w, bool wide_filter_h, bool right)
      : LoadData3DParamsV2(pads, height, width, channels, k_extent, m_extent, k_start, m_start, stride_w, stride_h, filter_w,
                           filter_h, dilation_w, dilation_h, transpose, small_k, value) {
    filterSizeW = wide_filter_w;
    filterSizeH = wide_filter_h;
    fMatrixCtrl = right;
  }
  std::uint8_t padList[PAD_SIZE] = {};
  std::uint16_t l1H = 0, l1W = 0, channelSize = 0;
  std::uint16_t kExtension = 0, mExtension = 0, kStartPt = 0, mStartPt = 0;
  std::uint8_t strideW = 1, strideH = 1, filterW = 1, filterH = 1, dilationFilterW = 1, dilationFilterH = 1;
  bool enTranspose = false, enSmallK = false;
  T padValue = T(0);
  bool filterSizeW = false, filterSizeH = false;  // 256 more
  bool fMatrixCtrl = false;
};

template <class T>
TWIN_API void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParams& p,
                       Site site = Site::here()) {
  ::twin::cube_load_2d(dst.view(), src.view(),
                       {p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.ifTranspose, p.addrMode != 0}, site);
}
template <class T>
TWIN_API void LoadData(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const LoadData2DParams& p,
                       Site site = Site::here()) {
  ::twin::cube_load_2d(dst.view(), src.view(),
                       {p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.ifTranspose, p.addrMode != 0}, site);
}
template <class T>
TWIN_API void LoadDataWithTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2dTransposeParams& p,
                                    Site site = Site::here()) {
  ::twin::cube_load_transpose(dst.view(), src.view(),
                              {p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.dstFracGap, p.addrMode != 0}, site);
}
template <class T>
TWIN_API void InitConstValue(const LocalTensor<T>& dst, const InitConstValueParams<T>& p, Site site = Site::here()) {
  ::twin::cube_fill(dst.view(), p.repeatTimes, p.blockNum, p.dstGap, detail::bits_of(p.initValue), site);
}
template <class T>
TWIN_API void Fill(const LocalTensor<T>& dst, const InitConstValueParams<T>& p, Site site = Site::here()) {
  InitConstValue(dst, p, site);
}

template <class T, const IsResetLoad3dConfig& defaultConfig = IS_RESER_LOAD3D_DEFAULT_CONFIG, class U = T>
TWIN_API void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData3DParamsV2<U>& p,
                       Site site = Site::here()) {
  ::twin::Load3d load{p.l1H,
                      p.l1W,
                      p.padList[0],
                      p.padList[1],
                      p.padList[2],
                      p.padList[3],
                      p.channelSize,
                      p.kExtension,
                      p.mExtension,
                      p.kStartPt,
                      p.mStartPt,
                      p.strideW,
                      p.strideH,
                      p.filterW + (p.filterSizeW ? 256u : 0u),
                      p.filterH + (p.filterSizeH ? 256u : 0u),
                      p.dilationFilterW,
                      p.dilationFilterH};
  load.transpose = p.enTranspose;
  load.keep_image = !defaultConfig.isSetFMatrix;
  load.keep_padding = !defaultConfig.isSetPadding;
  load.padding = detail::bits_of(p.padValue);
  ::twin::cube_load_3d(dst.view(), src.view(), load, site);
}
TWIN_API void SetFmatrix(std::uint16_t l1H, std::uint16_t l1W, const std::uint8_t padList[PAD_SIZE],
                         const FmatrixMode& = FmatrixMode::FMATRIX_LEFT) {
  ::twin::set_load_image(l1H, l1W, padList);
}
template <class T>
TWIN_API void SetLoadDataPaddingValue(const T padValue) {
  ::twin::set_load_padding(detail::bits_of(padValue));
}
// 3D loads that wrap around at a boundary of L1, and those that repeat, are not covered: 0 and one time are what they do.
TWIN_API void SetLoadDataBoundary(std::uint32_t boundaryValue, Site site = Site::here()) {
  if (boundaryValue != 0)
    ::twin::refuse_call("SetLoadDataBoundary with a boundary: the twin's LoadData does not wrap around in L1",
                        "0, and load in two parts", site);
}
struct LoadDataRepeatParam {
  LoadDataRepeatParam() = default;
  LoadDataRepeatParam(std::uint16_t stride, std::uint8_t times, std::uint8_t mode)
      : repeatStride(stride), repeatTime(times), repeatMode(mode) {}
  std::uint16_t repeatStride = 0;
  std::uint8_t repeatTime = 1, repeatMode = 0;
};
TWIN_API void SetLoadDataRepeat(const LoadDataRepeatParam& repeatParams, Site site = Site::here()) {
  if (repeatParams.repeatTime > 1)
    ::twin::refuse_call("SetLoadDataRepeat with a repeatTime above 1: the twin's LoadData (3D) loads one window a call",
                        "call LoadData for each window", site);
}
template <class T, class U, class Index>
TWIN_API void LoadDataWithSparse(const LocalTensor<T>& dst, const LocalTensor<U>& src, const LocalTensor<Index>& idx,
                                 const LoadData2DParams& p, Site site = Site::here()) {
  ::twin::cube_load_sparse(dst.view(), src.view(), idx.view(),
                           {p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.ifTranspose, p.addrMode != 0}, site);
}

}  // namespace AscendC
