// SPDX-License-Identifier: Apache-2.0
// The library over the instructions: mathematics, activations, reductions of matrices, Broadcast. Each function comes with
// and without its scratch tensor.
#pragma once

#include <cmath>

#include "ascendc/fused.hpp"
#include "ascendc/reduce.hpp"
#include "twin/calls_library.hpp"

namespace AscendC {

namespace detail {
template <class T>
constexpr bool library_takes(std::uint32_t types) {
  return (types & ::twin::bit(::twin::DTypeOf<T>::kValue)) != 0;
}
using Scratch = LocalTensor<std::uint8_t>;
}  // namespace detail

#define TWIN_LIBRARY_VALUE(name, expression)                                                   \
  namespace detail {                                                                           \
  inline double value_of_##name([[maybe_unused]] const double* x, [[maybe_unused]] double s) { \
    [[maybe_unused]] const double a = x[0], b = x[1];                                          \
    return expression;                                                                         \
  }                                                                                            \
  }
#define TWIN_LIBRARY_CHECK(name, types) \
  using namespace ::twin;               \
  static_assert(detail::library_takes<T>(types), #name " does not take this element type on the 910B")

#define TWIN_LIBRARY_1(name, types, passes, expression)                                                                     \
  TWIN_LIBRARY_VALUE(name, expression)                                                                                      \
  template <class T, bool isReuseSource = false>                                                                            \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                                  \
                     const LocalTensor<std::uint8_t>& sharedTmpBuffer, const std::uint32_t calCount,                        \
                     Site site = Site::here()) {                                                                            \
    TWIN_LIBRARY_CHECK(name, types);                                                                                        \
    library_map(                                                                                                            \
        {#name, dst.view(), {src.view()}, 1, &sharedTmpBuffer.view(), calCount, passes, 0, detail::value_of_##name}, site); \
  }                                                                                                                         \
  template <class T, bool isReuseSource = false>                                                                            \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t calCount,                    \
                     Site site = Site::here()) {                                                                            \
    TWIN_LIBRARY_CHECK(name, types);                                                                                        \
    library_map({#name, dst.view(), {src.view()}, 1, nullptr, calCount, passes, 0, detail::value_of_##name}, site);         \
  }                                                                                                                         \
  template <class T, bool isReuseSource = false>                                                                            \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                                  \
                     const LocalTensor<std::uint8_t>& sharedTmpBuffer, Site site = Site::here()) {                          \
    name<T, isReuseSource>(dst, src, sharedTmpBuffer, src.GetSize(), site);                                                 \
  }                                                                                                                         \
  template <class T, bool isReuseSource = false>                                                                            \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, Site site = Site::here()) {                      \
    name<T, isReuseSource>(dst, src, src.GetSize(), site);                                                                  \
  }
#define TWIN_LIBRARY_2(name, types, passes, expression)                                                                    \
  TWIN_LIBRARY_VALUE(name, expression)                                                                                     \
  template <class T, bool isReuseSource = false>                                                                           \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                    \
                     const LocalTensor<std::uint8_t>& sharedTmpBuffer, std::uint32_t calCount, Site site = Site::here()) { \
    TWIN_LIBRARY_CHECK(name, types);                                                                                       \
    library_map({#name,                                                                                                    \
                 dst.view(),                                                                                               \
                 {src0.view(), src1.view()},                                                                               \
                 2,                                                                                                        \
                 &sharedTmpBuffer.view(),                                                                                  \
                 calCount,                                                                                                 \
                 passes,                                                                                                   \
                 0,                                                                                                        \
                 detail::value_of_##name},                                                                                 \
                site);                                                                                                     \
  }                                                                                                                        \
  template <class T, bool isReuseSource = false>                                                                           \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                    \
                     std::uint32_t calCount, Site site = Site::here()) {                                                   \
    TWIN_LIBRARY_CHECK(name, types);                                                                                       \
    library_map({#name, dst.view(), {src0.view(), src1.view()}, 2, nullptr, calCount, passes, 0, detail::value_of_##name}, \
                site);                                                                                                     \
  }                                                                                                                        \
  template <class T, bool isReuseSource = false>                                                                           \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                    \
                     const LocalTensor<std::uint8_t>& sharedTmpBuffer, Site site = Site::here()) {                         \
    name<T, isReuseSource>(dst, src0, src1, sharedTmpBuffer, src0.GetSize(), site);                                        \
  }                                                                                                                        \
  template <class T, bool isReuseSource = false>                                                                           \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                    \
                     Site site = Site::here()) {                                                                           \
    name<T, isReuseSource>(dst, src0, src1, src0.GetSize(), site);                                                         \
  }
#define TWIN_LIBRARY_1S(name, types, passes, expression)                                                  \
  TWIN_LIBRARY_VALUE(name, expression)                                                                    \
  template <class T, bool isReuseSource = false>                                                          \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                \
                     const LocalTensor<std::uint8_t>& sharedTmpBuffer, const detail::Given<T> scalar,     \
                     const std::uint32_t calCount, Site site = Site::here()) {                            \
    TWIN_LIBRARY_CHECK(name, types);                                                                      \
    library_map({#name,                                                                                   \
                 dst.view(),                                                                              \
                 {src.view()},                                                                            \
                 1,                                                                                       \
                 &sharedTmpBuffer.view(),                                                                 \
                 calCount,                                                                                \
                 passes,                                                                                  \
                 static_cast<double>(scalar),                                                             \
                 detail::value_of_##name},                                                                \
                site);                                                                                    \
  }                                                                                                       \
  template <class T, bool isReuseSource = false>                                                          \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const detail::Given<T> scalar, \
                     const std::uint32_t calCount, Site site = Site::here()) {                            \
    TWIN_LIBRARY_CHECK(name, types);                                                                      \
    library_map({#name,                                                                                   \
                 dst.view(),                                                                              \
                 {src.view()},                                                                            \
                 1,                                                                                       \
                 nullptr,                                                                                 \
                 calCount,                                                                                \
                 passes,                                                                                  \
                 static_cast<double>(scalar),                                                             \
                 detail::value_of_##name},                                                                \
                site);                                                                                    \
  }
#include "twin/library.inc"
#undef TWIN_LIBRARY_VALUE
#undef TWIN_LIBRARY_CHECK

// ---- with parameters of their own ----
namespace detail {
inline double value_of_swish(const double* x, double s) { return x[0] / (1 + std::exp(-s * x[0])); }
inline double value_of_swiglu(const double* x, double s) { return x[0] * x[1] / (1 + std::exp(-s * x[1])); }
inline double value_of_power(const double* x, double s) { return std::pow(x[0], s); }
inline double value_of_power_of(const double* x, double s) { return std::pow(s, x[0]); }
inline double value_of_fma(const double* x, double) { return x[0] * x[1] + x[2]; }
inline double value_of_xor(const double* x, double) {
  return static_cast<double>(static_cast<std::int64_t>(x[0]) ^ static_cast<std::int64_t>(x[1]));
}
}  // namespace detail
template <class T, bool isReuseSource = false>
TWIN_API void Swish(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t dataSize,
                    const detail::Given<T> scalarValue, Site site = Site::here()) {
  ::twin::library_map(
      {"Swish", dst.view(), {src.view()}, 1, nullptr, dataSize, 6, static_cast<double>(scalarValue), detail::value_of_swish},
      site);
}
template <class T, bool isReuseSource = false>
TWIN_API void SwiGLU(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                     const float& scalarValue, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                     const std::uint32_t calCount, Site site = Site::here()) {
  ::twin::library_map({"SwiGLU",
                       dst.view(),
                       {src0.view(), src1.view()},
                       2,
                       &sharedTmpBuffer.view(),
                       calCount,
                       7,
                       static_cast<double>(scalarValue),
                       detail::value_of_swiglu},
                      site);
}
template <class T, bool isReuseSource = false>
TWIN_API void SwiGLU(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                     const float& scalarValue, const std::uint32_t calCount, Site site = Site::here()) {
  ::twin::library_map({"SwiGLU",
                       dst.view(),
                       {src0.view(), src1.view()},
                       2,
                       nullptr,
                       calCount,
                       7,
                       static_cast<double>(scalarValue),
                       detail::value_of_swiglu},
                      site);
}
template <class T, bool isReuseSource = false>
TWIN_API void Power(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const detail::Given<T>& src1,
                    const LocalTensor<std::uint8_t>& sharedTmpBuffer, std::uint32_t calCount, Site site = Site::here()) {
  ::twin::library_map({"Power",
                       dst.view(),
                       {src0.view()},
                       1,
                       &sharedTmpBuffer.view(),
                       calCount,
                       14,
                       static_cast<double>(src1),
                       detail::value_of_power},
                      site);
}
template <class T, bool isReuseSource = false>
TWIN_API void Power(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const detail::Given<T>& src1,
                    std::uint32_t calCount, Site site = Site::here()) {
  ::twin::library_map(
      {"Power", dst.view(), {src0.view()}, 1, nullptr, calCount, 14, static_cast<double>(src1), detail::value_of_power},
      site);
}
template <class T, bool isReuseSource = false>
TWIN_API void Power(const LocalTensor<T>& dst, const detail::Given<T>& src0, const LocalTensor<T>& src1,
                    const LocalTensor<std::uint8_t>& sharedTmpBuffer, std::uint32_t calCount, Site site = Site::here()) {
  ::twin::library_map({"Power",
                       dst.view(),
                       {src1.view()},
                       1,
                       &sharedTmpBuffer.view(),
                       calCount,
                       14,
                       static_cast<double>(src0),
                       detail::value_of_power_of},
                      site);
}
template <class T, bool isReuseSource = false>
TWIN_API void Power(const LocalTensor<T>& dst, const detail::Given<T>& src0, const LocalTensor<T>& src1,
                    std::uint32_t calCount, Site site = Site::here()) {
  ::twin::library_map(
      {"Power", dst.view(), {src1.view()}, 1, nullptr, calCount, 14, static_cast<double>(src0), detail::value_of_power_of},
      site);
}
template <class T, bool isReuseSource = false>
TWIN_API void Fma(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                  const LocalTensor<T>& src2, const LocalTensor<std::uint8_t>& sharedTmpBuffer, const std::uint32_t count,
                  Site site = Site::here()) {
  ::twin::library_map({"Fma",
                       dst.view(),
                       {src0.view(), src1.view(), src2.view()},
                       3,
                       &sharedTmpBuffer.view(),
                       count,
                       3,
                       0,
                       detail::value_of_fma},
                      site);
}
template <class T, bool isReuseSource = false>
TWIN_API void Xor(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                  const LocalTensor<std::uint8_t>& sharedTmpBuffer, const std::uint32_t calCount, Site site = Site::here()) {
  static_assert(std::is_integral<T>::value && sizeof(T) == 2, "Xor takes int16_t and uint16_t on the 910B");
  ::twin::library_map(
      {"Xor", dst.view(), {src0.view(), src1.view()}, 2, &sharedTmpBuffer.view(), calCount, 4, 0, detail::value_of_xor},
      site);
}
template <class T, bool isReuseSource = false>
TWIN_API void Xor(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                  const std::uint32_t calCount, Site site = Site::here()) {
  static_assert(std::is_integral<T>::value && sizeof(T) == 2, "Xor takes int16_t and uint16_t on the 910B");
  ::twin::library_map({"Xor", dst.view(), {src0.view(), src1.view()}, 2, nullptr, calCount, 4, 0, detail::value_of_xor},
                      site);
}
// first, first + diff, ... The steps are added to one another: not one product an element.
template <class T>
TWIN_API void ArithProgression(const LocalTensor<T>& dst, const T firstValue, const T diffValue, const std::int32_t count,
                               Site site = Site::here()) {
  static_assert(std::is_same<T, half>::value || std::is_same<T, float>::value || std::is_same<T, std::int16_t>::value ||
                    std::is_same<T, std::int32_t>::value,
                "ArithProgression takes half, float, int16_t and int32_t");
  CreateVecIndex(dst, T(0), static_cast<std::uint32_t>(count), site);
  ::twin::pipe_barrier(::twin::Pipe::V, site);
  Muls(dst, dst, diffValue, count, site);
  ::twin::pipe_barrier(::twin::Pipe::V, site);
  Adds(dst, dst, firstValue, count, site);
  ::twin::pipe_barrier(::twin::Pipe::V, site);
}

// ---- Broadcast ----
template <class T, std::int32_t dim, std::int32_t axis, bool isReuseSource = false>
TWIN_API void Broadcast(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t dstShape[dim],
                        const std::uint32_t srcShape[dim], LocalTensor<std::uint8_t>& sharedTmpBuffer,
                        Site site = Site::here()) {
  static_assert(dim >= 1 && dim <= 2 && axis >= 0 && axis < dim, "Broadcast: one or two dimensions, along one of them");
  ::twin::library_broadcast(dst.view(), src.view(), &sharedTmpBuffer.view(), dstShape, srcShape, dim, site);
}
template <class T, std::int32_t dim, std::int32_t axis, bool isReuseSource = false>
TWIN_API void Broadcast(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t dstShape[dim],
                        const std::uint32_t srcShape[dim], Site site = Site::here()) {
  static_assert(dim >= 1 && dim <= 2 && axis >= 0 && axis < dim, "Broadcast: one or two dimensions, along one of them");
  ::twin::library_broadcast(dst.view(), src.view(), nullptr, dstShape, srcShape, dim, site);
}

// ---- reductions of matrices: of rows (AR) or of columns (RA); rows of rowLength elements, padded to 32 bytes ----
namespace Pattern {
namespace Reduce {
struct AR {
  static constexpr bool kRows = true;
};
struct RA {
  static constexpr bool kRows = false;
};
struct R : AR {};
}  // namespace Reduce
}  // namespace Pattern

namespace detail {
template <class P, class = void>
struct IsPattern : std::false_type {};
template <class P>
struct IsPattern<P, std::void_t<decltype(P::kRows)>> : std::true_type {};

template <class T, class P>
void fold(::twin::Fold how, const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, const Scratch* work,
          const std::uint32_t shape[], bool padded, Site site) {
  const std::uint32_t block = 32 / sizeof(T);
  const std::uint32_t row = padded ? (shape[1] + block - 1) / block * block : shape[1];
  ::twin::LibraryFold call{name, how, dst.view(), src.view(), work ? &work->view() : nullptr};
  call.outer = P::kRows ? shape[0] : 1;
  call.middle = call.used = P::kRows ? shape[1] : shape[0];
  call.inner = P::kRows ? 1 : shape[1];
  call.middle_step = P::kRows ? 1 : row;
  call.outer_step = row;
  ::twin::library_fold(call, site);
}
}  // namespace detail
#define TWIN_FOLD(name, how)                                                                                      \
  template <class T, class pattern, bool isReuseSource = false,                                                   \
            std::enable_if_t<detail::IsPattern<pattern>::value, bool> = true>                                     \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& work, \
                     const std::uint32_t srcShape[], bool srcInnerPad, Site site = Site::here()) {                \
    detail::fold<T, pattern>(::twin::Fold::how, #name, dst, src, &work, srcShape, srcInnerPad, site);             \
  }                                                                                                               \
  template <class T, class pattern, bool isReuseSource = false,                                                   \
            std::enable_if_t<detail::IsPattern<pattern>::value, bool> = true>                                     \
  TWIN_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t srcShape[],        \
                     bool srcInnerPad, Site site = Site::here()) {                                                \
    detail::fold<T, pattern>(::twin::Fold::how, #name, dst, src, nullptr, srcShape, srcInnerPad, site);           \
  }
TWIN_FOLD(ReduceSum, Sum)
TWIN_FOLD(ReduceMax, Max)
TWIN_FOLD(ReduceMin, Min)
TWIN_FOLD(ReduceMean, Mean)
TWIN_FOLD(ReduceProd, Prod)
TWIN_FOLD(ReduceAny, Any)
TWIN_FOLD(ReduceAll, All)
#undef TWIN_FOLD

// Of the first n elements of each of `outter` rows, which are `inner` elements apart.
struct SumParams {
  std::uint32_t outter = 1, inner = 0, n = 0;
};
struct MeanParams {
  std::uint32_t outter = 1, inner = 0, n = 0;
};
namespace detail {
template <class T, class P>
void fold_rows(::twin::Fold how, const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, const Scratch* work,
               const P& p, Site site) {
  ::twin::LibraryFold call{name, how, dst.view(), src.view(), work ? &work->view() : nullptr};
  call.outer = p.outter;
  call.middle = p.inner;
  call.used = p.n;
  call.outer_step = p.inner;
  ::twin::library_fold(call, site);
}
}  // namespace detail
template <class T, std::int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
TWIN_API void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                  const SumParams& sumParams, Site site = Site::here()) {
  detail::fold_rows(::twin::Fold::Sum, "Sum", dst, src, &sharedTmpBuffer, sumParams, site);
}
template <class T, std::int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
TWIN_API void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const SumParams& sumParams,
                  Site site = Site::here()) {
  detail::fold_rows<T>(::twin::Fold::Sum, "Sum", dst, src, nullptr, sumParams, site);
}
template <class T, class accType = T, bool isReuseSource = false, bool isBasicBlock = false, std::int32_t reduceDim = -1>
TWIN_API void Mean(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                   const MeanParams& meanParams, Site site = Site::here()) {
  detail::fold_rows(::twin::Fold::Mean, "Mean", dst, src, &sharedTmpBuffer, meanParams, site);
}
template <class T, class accType = T, bool isReuseSource = false, bool isBasicBlock = false, std::int32_t reduceDim = -1>
TWIN_API void Mean(const LocalTensor<T>& dst, const LocalTensor<T>& src, const MeanParams& meanParams,
                   Site site = Site::here()) {
  detail::fold_rows<T>(::twin::Fold::Mean, "Mean", dst, src, nullptr, meanParams, site);
}

// ---- choices by bytes ----
struct SelectWithBytesMaskShapeInfo {
  std::uint32_t firstAxis = 0, srcLastAxis = 0, maskLastAxis = 0;
};
// Where the byte is 0 the first source, elsewhere the second; one of them is a scalar. Rows of the mask may be longer.
template <class T, class U, bool isReuseMask = true>
TWIN_API void SelectWithBytesMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, detail::Given<T> src1,
                                  const LocalTensor<U>& mask, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                                  const SelectWithBytesMaskShapeInfo& info, Site site = Site::here()) {
  ::twin::library_choose({dst.view(), src0.view(), mask.view(), &sharedTmpBuffer.view(), detail::bits_of(src1), false,
                          info.firstAxis, info.srcLastAxis, info.maskLastAxis},
                         site);
}
template <class T, class U, bool isReuseMask = true>
TWIN_API void SelectWithBytesMask(const LocalTensor<T>& dst, detail::Given<T> src0, const LocalTensor<T>& src1,
                                  const LocalTensor<U>& mask, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                                  const SelectWithBytesMaskShapeInfo& info, Site site = Site::here()) {
  ::twin::library_choose({dst.view(), src1.view(), mask.view(), &sharedTmpBuffer.view(), detail::bits_of(src0), true,
                          info.firstAxis, info.srcLastAxis, info.maskLastAxis},
                         site);
}

// ---- running sums: along rows, or down columns; the last row also on its own ----
struct CumSumConfig {
  bool isLastAxis = true, isReuseSource = false, outputLastRow = false;
};
inline constexpr CumSumConfig defaultCumSumConfig = {true, false, false};
struct CumSumInfo {
  std::uint32_t outter = 0, inner = 0;
};
template <class T, const CumSumConfig& config = defaultCumSumConfig>
TWIN_API void CumSum(LocalTensor<T>& dst, LocalTensor<T>& lastRow, const LocalTensor<T>& src,
                     LocalTensor<std::uint8_t>& sharedTmpBuffer, const CumSumInfo& info, Site site = Site::here()) {
  ::twin::library_running_sum(dst.view(), config.outputLastRow ? &lastRow.view() : nullptr, src.view(),
                              &sharedTmpBuffer.view(), info.outter, info.inner, config.isLastAxis, site);
}
template <class T, const CumSumConfig& config = defaultCumSumConfig>
TWIN_API void CumSum(LocalTensor<T>& dst, LocalTensor<T>& lastRow, const LocalTensor<T>& src, const CumSumInfo& info,
                     Site site = Site::here()) {
  ::twin::library_running_sum(dst.view(), config.outputLastRow ? &lastRow.view() : nullptr, src.view(), nullptr, info.outter,
                              info.inner, config.isLastAxis, site);
}

}  // namespace AscendC
