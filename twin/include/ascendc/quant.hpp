// SPDX-License-Identifier: Apache-2.0
// AscendQuant, AscendDequant and AscendAntiQuant of the library: a scale for the tensor, or one a channel. Each comes with
// and without its scratch tensor.
#pragma once

#include "ascendc/library.hpp"
#include "twin/calls_quant.hpp"

namespace AscendC {

// Not zero: the counts as constants, in place of the arguments.
struct AscendQuantConfig {
  std::uint32_t calcCount = 0, offsetCount = 0, scaleCount = 0, workLocalSize = 0;
};
inline constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG = {0, 0, 0, 0};
enum class DeQuantMode : std::int32_t { DEQUANT_WITH_SINGLE_ROW = 0, DEQUANT_WITH_MULTI_ROW };
struct DequantParams {
  std::uint32_t m = 0, n = 0, calCount = 0;
};
struct AntiQuantShapeInfo {
  std::uint32_t offsetHeight{0}, offsetWidth{0}, scaleHeight{0}, scaleWidth{0};
};

namespace detail {
inline ::twin::QuantFactor factor(double value) { return {::twin::QuantFactor::Value, value, {}}; }
template <class T>
::twin::QuantFactor factor(const LocalTensor<T>& tensor) {
  return {::twin::QuantFactor::Tensor, 0, tensor.view()};
}
template <class D, class S>
::twin::QuantOperands quant_operands(const LocalTensor<D>& dst, const LocalTensor<S>& src, const ::twin::QuantFactor& scale,
                                     const ::twin::QuantFactor& offset, const Scratch* work) {
  ::twin::QuantOperands at{dst.view(), src.view(), scale, offset, work != nullptr, {}};
  if (work) at.work = work->view();
  return at;
}

template <class T, const AscendQuantConfig& config>
void quantise(const LocalTensor<std::int8_t>& dst, const LocalTensor<T>& src, const Scratch* work,
              const ::twin::QuantFactor& scale, const ::twin::QuantFactor& offset, std::uint32_t scale_count,
              std::uint32_t offset_count, std::uint32_t count, Site site) {
  static_assert(std::is_same<T, half>::value || std::is_same<T, float>::value,
                "AscendQuant takes half and float on the 910B");
  const bool channels = scale.form == ::twin::QuantFactor::Tensor;
  constexpr bool kConstant = config.calcCount != 0 && config.workLocalSize != 0;
  if (kConstant && (!channels || config.scaleCount != 0)) {
    count = config.calcCount;
    scale_count = config.scaleCount;
    offset_count = config.offsetCount;
  }
  ::twin::library_quant({quant_operands(dst, src, scale, offset, work), scale_count, offset_count, count}, site);
}

template <class D, class S>
constexpr bool dequantises(bool tensor) {
  constexpr bool kScaleFits = std::is_same<S, float>::value || std::is_same<S, bfloat16_t>::value;
  if (std::is_same<D, half>::value) return tensor && std::is_same<S, std::uint64_t>::value;
  return kScaleFits && (std::is_same<D, float>::value || std::is_same<D, bfloat16_t>::value);
}
template <class D, class S>
void dequantise(const LocalTensor<D>& dst, const LocalTensor<std::int32_t>& src, const ::twin::QuantFactor& scale,
                const Scratch* work, const DequantParams& p, DeQuantMode mode, Site site) {
  ::twin::library_dequant(
      {quant_operands(dst, src, scale, {}, work), p.m, p.n, p.calCount, mode == DeQuantMode::DEQUANT_WITH_SINGLE_ROW}, site);
}

// The shapes that shapeInfo leaves out are those of the tensors.
inline void fill(std::uint32_t& height, std::uint32_t& width, const ShapeInfo& of) {
  if (height != 0 || width != 0 || of.shapeDim < 2) return;
  height = of.shape[0];
  width = of.shape[1];
}
template <class S, class D, bool isTranspose>
void anti_quantise(const LocalTensor<D>& dst, const LocalTensor<S>& src, const ::twin::QuantFactor& offset,
                   const ::twin::QuantFactor& scale, const Scratch* work, std::uint32_t k, const AntiQuantShapeInfo& shape,
                   Site site) {
  static_assert(std::is_same<S, std::int8_t>::value || std::is_same<S, int4b_t>::value,
                "AscendAntiQuant reads int8_t and int4b_t on the 910B");
  static_assert(std::is_same<D, half>::value || std::is_same<D, bfloat16_t>::value,
                "AscendAntiQuant writes half and bfloat16_t on the 910B");
  ::twin::library_anti_quant({quant_operands(dst, src, scale, offset, work), k, src.GetSize(), shape.scaleHeight,
                              shape.scaleWidth, shape.offsetHeight, shape.offsetWidth, isTranspose},
                             site);
}
}  // namespace detail

// ---- AscendQuant: one scale and offset ----
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
TWIN_API void AscendQuant(const LocalTensor<std::int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                          const LocalTensor<std::uint8_t>& sharedTmpBuffer, const float scale, const float offset,
                          const std::uint32_t calCount, Site site = Site::here()) {
  detail::quantise<T, config>(dstTensor, srcTensor, &sharedTmpBuffer, detail::factor(scale), detail::factor(offset), 0, 0,
                              calCount, site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
TWIN_API void AscendQuant(const LocalTensor<std::int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                          const LocalTensor<std::uint8_t>& sharedTmpBuffer, const float scale, const float offset,
                          Site site = Site::here()) {
  detail::quantise<T, config>(dstTensor, srcTensor, &sharedTmpBuffer, detail::factor(scale), detail::factor(offset), 0, 0,
                              srcTensor.GetSize(), site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
TWIN_API void AscendQuant(const LocalTensor<std::int8_t>& dstTensor, const LocalTensor<T>& srcTensor, const float scale,
                          const float offset, const std::uint32_t calCount, Site site = Site::here()) {
  detail::quantise<T, config>(dstTensor, srcTensor, nullptr, detail::factor(scale), detail::factor(offset), 0, 0, calCount,
                              site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
TWIN_API void AscendQuant(const LocalTensor<std::int8_t>& dstTensor, const LocalTensor<T>& srcTensor, const float scale,
                          const float offset, Site site = Site::here()) {
  detail::quantise<T, config>(dstTensor, srcTensor, nullptr, detail::factor(scale), detail::factor(offset), 0, 0,
                              srcTensor.GetSize(), site);
}
// ---- one scale a channel, and one offset, or one a channel ----
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
TWIN_API void AscendQuant(const LocalTensor<std::int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                          const LocalTensor<std::uint8_t>& sharedTmpBuffer, const LocalTensor<T>& scaleTensor,
                          const detail::Given<T> offset, const std::uint32_t scaleCount, const std::uint32_t calCount,
                          Site site = Site::here()) {
  detail::quantise<T, config>(dstTensor, srcTensor, &sharedTmpBuffer, detail::factor(scaleTensor),
                              detail::factor(static_cast<double>(offset)), scaleCount, 0, calCount, site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
TWIN_API void AscendQuant(const LocalTensor<std::int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                          const LocalTensor<std::uint8_t>& sharedTmpBuffer, const LocalTensor<T>& scaleTensor,
                          const LocalTensor<T>& offsetTensor, const std::uint32_t scaleCount,
                          const std::uint32_t offsetCount, const std::uint32_t calCount, Site site = Site::here()) {
  detail::quantise<T, config>(dstTensor, srcTensor, &sharedTmpBuffer, detail::factor(scaleTensor),
                              detail::factor(offsetTensor), scaleCount, offsetCount, calCount, site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
TWIN_API void AscendQuant(const LocalTensor<std::int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                          const LocalTensor<std::uint8_t>& sharedTmpBuffer, const LocalTensor<T>& scaleTensor,
                          const detail::Given<T> offset, Site site = Site::here()) {
  detail::quantise<T, config>(dstTensor, srcTensor, &sharedTmpBuffer, detail::factor(scaleTensor),
                              detail::factor(static_cast<double>(offset)), scaleTensor.GetSize(), 0, srcTensor.GetSize(),
                              site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
TWIN_API void AscendQuant(const LocalTensor<std::int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                          const LocalTensor<std::uint8_t>& sharedTmpBuffer, const LocalTensor<T>& scaleTensor,
                          const LocalTensor<T>& offsetTensor, Site site = Site::here()) {
  detail::quantise<T, config>(dstTensor, srcTensor, &sharedTmpBuffer, detail::factor(scaleTensor),
                              detail::factor(offsetTensor), scaleTensor.GetSize(), offsetTensor.GetSize(),
                              srcTensor.GetSize(), site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
TWIN_API void AscendQuant(const LocalTensor<std::int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                          const LocalTensor<T>& scaleTensor, const detail::Given<T> offset, const std::uint32_t scaleCount,
                          const std::uint32_t calCount, Site site = Site::here()) {
  detail::quantise<T, config>(dstTensor, srcTensor, nullptr, detail::factor(scaleTensor),
                              detail::factor(static_cast<double>(offset)), scaleCount, 0, calCount, site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
TWIN_API void AscendQuant(const LocalTensor<std::int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                          const LocalTensor<T>& scaleTensor, const LocalTensor<T>& offsetTensor,
                          const std::uint32_t scaleCount, const std::uint32_t offsetCount, const std::uint32_t calCount,
                          Site site = Site::here()) {
  detail::quantise<T, config>(dstTensor, srcTensor, nullptr, detail::factor(scaleTensor), detail::factor(offsetTensor),
                              scaleCount, offsetCount, calCount, site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
TWIN_API void AscendQuant(const LocalTensor<std::int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                          const LocalTensor<T>& scaleTensor, const detail::Given<T> offset, Site site = Site::here()) {
  detail::quantise<T, config>(dstTensor, srcTensor, nullptr, detail::factor(scaleTensor),
                              detail::factor(static_cast<double>(offset)), scaleTensor.GetSize(), 0, srcTensor.GetSize(),
                              site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
TWIN_API void AscendQuant(const LocalTensor<std::int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                          const LocalTensor<T>& scaleTensor, const LocalTensor<T>& offsetTensor, Site site = Site::here()) {
  detail::quantise<T, config>(dstTensor, srcTensor, nullptr, detail::factor(scaleTensor), detail::factor(offsetTensor),
                              scaleTensor.GetSize(), offsetTensor.GetSize(), srcTensor.GetSize(), site);
}

// ---- AscendDequant. Of an uint64 scale the lower half is a float. ----
#define TWIN_DEQUANT_CHECK(tensor)                                                                                   \
  static_assert(detail::dequantises<dstT, scaleT>(tensor),                                                           \
                "AscendDequant does not take these element types on the 910B: half with uint64_t scales, float and " \
                "bfloat16_t with float and bfloat16_t")
template <class dstT, class scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<std::int32_t>& srcTensor,
                            const LocalTensor<scaleT>& deqScale, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                            DequantParams params, Site site = Site::here()) {
  TWIN_DEQUANT_CHECK(true);
  detail::dequantise<dstT, scaleT>(dstTensor, srcTensor, detail::factor(deqScale), &sharedTmpBuffer, params, mode, site);
}
template <class dstT, class scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<std::int32_t>& srcTensor,
                            const LocalTensor<scaleT>& deqScale, DequantParams params, Site site = Site::here()) {
  TWIN_DEQUANT_CHECK(true);
  detail::dequantise<dstT, scaleT>(dstTensor, srcTensor, detail::factor(deqScale), nullptr, params, mode, site);
}
template <class dstT, class scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<std::int32_t>& srcTensor,
                            const scaleT deqScale, const LocalTensor<std::uint8_t>& sharedTmpBuffer, DequantParams params,
                            Site site = Site::here()) {
  TWIN_DEQUANT_CHECK(false);
  detail::dequantise<dstT, scaleT>(dstTensor, srcTensor, detail::factor(static_cast<double>(deqScale)), &sharedTmpBuffer,
                                   params, mode, site);
}
template <class dstT, class scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<std::int32_t>& srcTensor,
                            const scaleT deqScale, DequantParams params, Site site = Site::here()) {
  TWIN_DEQUANT_CHECK(false);
  detail::dequantise<dstT, scaleT>(dstTensor, srcTensor, detail::factor(static_cast<double>(deqScale)), nullptr, params,
                                   mode, site);
}
// The older forms, by a count.
template <class dstT, class scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<std::int32_t>& srcTensor,
                            const LocalTensor<scaleT>& deqScale, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                            const std::uint32_t calCount, Site site = Site::here()) {
  AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, sharedTmpBuffer,
                                    DequantParams{0, calCount, deqScale.GetSize()}, site);
}
template <class dstT, class scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<std::int32_t>& srcTensor,
                            const LocalTensor<scaleT>& deqScale, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                            Site site = Site::here()) {
  AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, sharedTmpBuffer, srcTensor.GetSize(), site);
}
template <class dstT, class scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<std::int32_t>& srcTensor,
                            const LocalTensor<scaleT>& deqScale, const std::uint32_t calCount, Site site = Site::here()) {
  AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, DequantParams{0, calCount, deqScale.GetSize()}, site);
}
template <class dstT, class scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<std::int32_t>& srcTensor,
                            const LocalTensor<scaleT>& deqScale, Site site = Site::here()) {
  AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, srcTensor.GetSize(), site);
}
#undef TWIN_DEQUANT_CHECK

// ---- AscendAntiQuant: tensors, one scale and offset a channel and group of k ----
template <class InputDataType, class OutputDataType, bool isTranspose>
TWIN_API void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                              const LocalTensor<OutputDataType>& offset, const LocalTensor<OutputDataType>& scale,
                              const LocalTensor<std::uint8_t>& sharedTmpBuffer, const std::uint32_t k,
                              const AntiQuantShapeInfo& shapeInfo = {}, Site site = Site::here()) {
  AntiQuantShapeInfo shape = shapeInfo;
  detail::fill(shape.offsetHeight, shape.offsetWidth, offset.GetShapeInfo());
  detail::fill(shape.scaleHeight, shape.scaleWidth, scale.GetShapeInfo());
  detail::anti_quantise<InputDataType, OutputDataType, isTranspose>(dst, src, detail::factor(offset), detail::factor(scale),
                                                                    &sharedTmpBuffer, k, shape, site);
}
template <class InputDataType, class OutputDataType, bool isTranspose>
TWIN_API void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                              const LocalTensor<OutputDataType>& scale, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                              const std::uint32_t k, const AntiQuantShapeInfo& shapeInfo = {}, Site site = Site::here()) {
  AntiQuantShapeInfo shape = shapeInfo;
  detail::fill(shape.scaleHeight, shape.scaleWidth, scale.GetShapeInfo());
  detail::anti_quantise<InputDataType, OutputDataType, isTranspose>(dst, src, {}, detail::factor(scale), &sharedTmpBuffer, k,
                                                                    shape, site);
}
template <class InputDataType, class OutputDataType, bool isTranspose>
TWIN_API void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                              const LocalTensor<OutputDataType>& offset, const LocalTensor<OutputDataType>& scale,
                              const std::uint32_t k, const AntiQuantShapeInfo& shapeInfo = {}, Site site = Site::here()) {
  AntiQuantShapeInfo shape = shapeInfo;
  detail::fill(shape.offsetHeight, shape.offsetWidth, offset.GetShapeInfo());
  detail::fill(shape.scaleHeight, shape.scaleWidth, scale.GetShapeInfo());
  detail::anti_quantise<InputDataType, OutputDataType, isTranspose>(dst, src, detail::factor(offset), detail::factor(scale),
                                                                    nullptr, k, shape, site);
}
// ---- one scale and offset ----
template <class InputDataType, class OutputDataType, bool isTranspose>
TWIN_API void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                              const OutputDataType offset, const OutputDataType scale,
                              const LocalTensor<std::uint8_t>& sharedTmpBuffer, const std::uint32_t k,
                              const AntiQuantShapeInfo& shapeInfo = {}, Site site = Site::here()) {
  detail::anti_quantise<InputDataType, OutputDataType, isTranspose>(dst, src, detail::factor(static_cast<double>(offset)),
                                                                    detail::factor(static_cast<double>(scale)),
                                                                    &sharedTmpBuffer, k, shapeInfo, site);
}
template <class InputDataType, class OutputDataType, bool isTranspose>
TWIN_API void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                              const OutputDataType scale, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                              const std::uint32_t k, const AntiQuantShapeInfo& shapeInfo = {}, Site site = Site::here()) {
  detail::anti_quantise<InputDataType, OutputDataType, isTranspose>(dst, src, {}, detail::factor(static_cast<double>(scale)),
                                                                    &sharedTmpBuffer, k, shapeInfo, site);
}
template <class InputDataType, class OutputDataType, bool isTranspose>
TWIN_API void AscendAntiQuant(const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
                              const OutputDataType offset, const OutputDataType scale, const std::uint32_t k,
                              const AntiQuantShapeInfo& shapeInfo = {}, Site site = Site::here()) {
  detail::anti_quantise<InputDataType, OutputDataType, isTranspose>(dst, src, detail::factor(static_cast<double>(offset)),
                                                                    detail::factor(static_cast<double>(scale)), nullptr, k,
                                                                    shapeInfo, site);
}

}  // namespace AscendC
