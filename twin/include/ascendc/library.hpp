// SPDX-License-Identifier: Apache-2.0
// The library over the instructions: mathematics and activations. Each function comes with and without its scratch tensor.
#pragma once

#include <cmath>
#include <limits>

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
inline const ::twin::View* view_of(const Scratch* work) { return work ? &work->view() : nullptr; }
inline bool is_calc(const Scratch* work) { return !work || work->GetPosition() == TPosition::VECCALC; }
// The derivative of ln Γ; NaN at 0, −1, −2, ... By recurrence to x >= 10, where six terms of its series are exact to 1e-16.
inline double digamma(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x <= 0 && x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
  if (x < 0) return digamma(1 - x) - kPi / std::tan(kPi * x);
  double value = 0;
  for (; x < 10; x += 1) value -= 1 / x;
  const double r = 1 / (x * x);
  return value + std::log(x) - 0.5 / x -
         r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * 691.0 / 32760)))));
}
}  // namespace detail

// A function with a temporary, and without: forms(PARAMETER, ADDRESS) writes it with that parameter and the Scratch's
// address.
#define TWIN_NO_PARAMETER
#define TWIN_WORK_PARAMETER const LocalTensor<std::uint8_t>&sharedTmpBuffer,
#define TWIN_WITH_AND_WITHOUT_WORK(forms) forms(TWIN_NO_PARAMETER, nullptr) forms(TWIN_WORK_PARAMETER, &sharedTmpBuffer)

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
#ifndef TWIN_OWN_Arange
// Its newer name.
template <class T>
TWIN_API void Arange(const LocalTensor<T>& dst, const T firstValue, const T diffValue, const std::int32_t count,
                     Site site = Site::here()) {
  ArithProgression(dst, firstValue, diffValue, count, site);
}
#endif

// The library's Exp: with a number of Taylor terms where the instruction has isSetMask. Computed in double and rounded once,
// like every function of the library; the terms are only cost.
namespace detail {
inline double value_of_library_exp(const double* x, double) { return std::exp(x[0]); }
template <class T, class Level>
void library_exp(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Scratch* work, Level level, std::uint32_t count,
                 Site site) {
  static_assert(std::is_same<T, half>::value || std::is_same<T, float>::value, "Exp takes half and float");
  const int passes = level == 0 ? 1 : 4 + 2 * static_cast<int>(level);
  ::twin::library_map(
      {"Exp", dst.view(), {src.view()}, 1, work ? &work->view() : nullptr, count, passes, 0, value_of_library_exp}, site);
}
template <auto kLevel>
inline constexpr bool kTerms = !std::is_same<std::remove_cv_t<decltype(kLevel)>, bool>::value;
}  // namespace detail
template <class T, auto taylorExpandLevel, bool isReuseSource = false,
          std::enable_if_t<detail::kTerms<taylorExpandLevel>, bool> = true>
TWIN_API void Exp(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& sharedTmpBuffer,
                  const std::uint32_t calCount, Site site = Site::here()) {
  detail::library_exp(dst, src, &sharedTmpBuffer, taylorExpandLevel, calCount, site);
}
template <class T, auto taylorExpandLevel, bool isReuseSource = false,
          std::enable_if_t<detail::kTerms<taylorExpandLevel>, bool> = true>
TWIN_API void Exp(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t calCount,
                  Site site = Site::here()) {
  detail::library_exp(dst, src, nullptr, taylorExpandLevel, calCount, site);
}

}  // namespace AscendC
