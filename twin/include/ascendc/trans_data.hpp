// SPDX-License-Identifier: Apache-2.0
// TransData of the library: NCDHW from and to NDC1HWC0 and FRACTAL_Z_3D; shapes and strides as tuples. TWIN_OWN_<name>: as
// in norm.hpp.
#pragma once

#include "ascendc/formats.hpp"
#include "ascendc/language.hpp"
#include "ascendc/library.hpp"
#include "ascendc/norm_grad.hpp"
#include "twin/calls_layout.hpp"

namespace AscendC {

// Sizes of a tensor's axes, and how many elements lie between two neighbours of each.
#ifndef TWIN_OWN_Shape
template <class... T>
using Shape = std::tuple<T...>;
#endif
#ifndef TWIN_OWN_Stride
template <class... T>
using Stride = std::tuple<T...>;
#endif
#ifndef TWIN_OWN_Layout
template <class ShapeType, class StrideType>
using Layout = detail::LayoutOf<ShapeType, StrideType>;
#endif
#ifndef TWIN_OWN_Coord
template <class... T>
using Coord = std::tuple<T...>;
#endif
template <class... T>
TWIN_API constexpr std::tuple<T...> MakeShape(const T&... sizes) {
  return std::tuple<T...>(sizes...);
}
template <class... T>
TWIN_API constexpr std::tuple<T...> MakeStride(const T&... strides) {
  return std::tuple<T...>(strides...);
}
template <class ShapeType, class StrideType>
TWIN_API constexpr auto MakeLayout(const ShapeType& shape, const StrideType& stride) {
  return detail::LayoutOf<ShapeType, StrideType>(shape, stride);
}
template <class... T>
TWIN_API constexpr auto MakeCoord(const T&... axes) {
  return std::tuple<T...>(axes...);
}

namespace detail {
template <class T>
inline constexpr bool kIsTuple = false;
template <class... T>
inline constexpr bool kIsTuple<std::tuple<T...>> = true;
template <class S>
constexpr std::size_t elements_of(const S& shape) {
  if constexpr (kIsTuple<S>) {
    return std::apply([](const auto&... axis) { return (elements_of(axis) * ... * std::size_t{1}); }, shape);
  } else {
    return static_cast<std::size_t>(shape);
  }
}
template <class C, class S, class D>
constexpr std::size_t index_of(const C& coord, const S& shape, const D& stride);
template <class C, class S, class D, std::size_t... k>
constexpr std::size_t index_of(const C& coord, const S& shape, const D& stride, std::index_sequence<k...>) {
  constexpr std::size_t kAxes = sizeof...(k);
  static_assert(std::tuple_size<D>::value == kAxes, "Crd2Idx: the shape and the stride have the same axes");
  if constexpr (kIsTuple<C>) {
    static_assert(std::tuple_size<C>::value == kAxes, "Crd2Idx: the coordinate and the shape have the same axes");
    return (index_of(std::get<k>(coord), std::get<k>(shape), std::get<k>(stride)) + ... + std::size_t{0});
  } else {  // one number for several axes: the first one runs fastest, the last one has no end
    std::size_t rest = static_cast<std::size_t>(coord), index = 0;
    const auto take = [&rest](std::size_t size, bool last) {
      const std::size_t here = last ? rest : rest % size;
      rest = last ? 0 : rest / size;
      return here;
    };
    ((index += index_of(take(elements_of(std::get<k>(shape)), k + 1 == kAxes), std::get<k>(shape), std::get<k>(stride))),
     ...);
    return index;
  }
}
template <class C, class S, class D>
constexpr std::size_t index_of(const C& coord, const S& shape, const D& stride) {
  if constexpr (kIsTuple<S>) {
    return index_of(coord, shape, stride, std::make_index_sequence<std::tuple_size<S>::value>());
  } else {
    return static_cast<std::size_t>(coord) * static_cast<std::size_t>(stride);
  }
}
}  // namespace detail
// Where the element of a coordinate lies. One number may stand for several axes.
template <class CoordType, class ShapeType, class StrideType>
TWIN_API constexpr auto Crd2Idx(const CoordType& coord, const ShapeType& shape, const StrideType& stride) {
  return detail::index_of(coord, shape, stride);
}
template <class CoordType, class ShapeType, class StrideType>
TWIN_API constexpr auto Crd2Idx(const CoordType& coord, const detail::LayoutOf<ShapeType, StrideType>& layout) {
  return detail::index_of(coord, layout.GetShape(), layout.GetStride());
}

template <class U, class S>
struct TransDataParams {
  U srcLayout;
  S dstLayout;
};

namespace detail {
// Axes N, C, D, H, W; blocks of C and N of 16.
struct Image3d {
  std::uint32_t n = 0, c = 0, d = 0, h = 0, w = 0;
  bool operator==(const Image3d& o) const { return n == o.n && c == o.c && d == o.d && h == o.h && w == o.w; }
};
inline ::twin::TensorLayout layout_of(DataFormat format, const Image3d& i) {
  const std::uint64_t c1 = (i.c + 15) / 16, n1 = (i.n + 15) / 16, hw = std::uint64_t{i.h} * i.w;
  ::twin::TensorLayout l;
  if (format == DataFormat::NCDHW) {
    l.axis[0] = {i.c * i.d * hw, 0, 1};
    l.axis[1] = {i.d * hw, 0, 1};
    l.axis[2] = {hw, 0, 1};
    l.axis[3] = {i.w, 0, 1};
    l.axis[4] = {1, 0, 1};
    l.elements = i.n * i.c * i.d * hw;
  } else if (format == DataFormat::NDC1HWC0) {
    l.axis[0] = {i.d * c1 * hw * 16, 0, 1};
    l.axis[1] = {hw * 16, 1, 16};
    l.axis[2] = {c1 * hw * 16, 0, 1};
    l.axis[3] = {i.w * 16u, 0, 1};
    l.axis[4] = {16, 0, 1};
    l.elements = i.n * i.d * c1 * hw * 16;
  } else {  // D, C1, H, W, N1, N0, C0
    l.axis[0] = {256, 16, 16};
    l.axis[1] = {hw * n1 * 256, 1, 16};
    l.axis[2] = {c1 * hw * n1 * 256, 0, 1};
    l.axis[3] = {i.w * n1 * 256, 0, 1};
    l.axis[4] = {n1 * 256, 0, 1};
    l.elements = i.d * c1 * hw * n1 * 256;
  }
  return l;
}
template <class Tuple, std::size_t... I>
void sizes_of(const Tuple& shape, std::uint32_t* sizes, std::index_sequence<I...>) {
  ((sizes[I] = static_cast<std::uint32_t>(std::get<I>(shape))), ...);
}
// The image that a shape in this format says. C and N of a blocked one are known in blocks only: `plain` says the rest.
template <DataFormat format, class L>
Image3d image_of(const L& layout, const Image3d* plain, const char** wrong) {
  using Tuple = std::decay_t<decltype(layout.GetShape())>;
  constexpr std::size_t kAxes = format == DataFormat::NCDHW ? 5 : format == DataFormat::NDC1HWC0 ? 6 : 7;
  static_assert(std::tuple_size<Tuple>::value == kAxes,
                "TransData: a shape of NCDHW has five axes, of NDC1HWC0 six, of FRACTAL_Z_3D seven");
  std::uint32_t s[kAxes] = {};
  sizes_of(layout.GetShape(), s, std::make_index_sequence<kAxes>());
  if constexpr (format == DataFormat::NCDHW) return {s[0], s[1], s[2], s[3], s[4]};
  const bool z = format == DataFormat::FRACTAL_Z_3D;
  const std::uint32_t c1 = z ? s[1] : s[2];
  Image3d i = z ? Image3d{plain->n, plain->c, s[0], s[2], s[3]} : Image3d{s[0], plain->c, s[1], s[3], s[4]};
  if (s[kAxes - 1] != 16 || (z && s[kAxes - 2] != 16)) *wrong = "C0 and N0 are 16 for elements of 16 bits";
  if (c1 != (plain->c + 15) / 16 || (z && s[4] != (plain->n + 15) / 16))
    *wrong = "C1 and N1 of the one shape are not C and N of the other, rounded up to 16";
  return i;
}
template <const TransDataConfig& config, class T, class U, class S>
void trans_data(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Scratch* work, const TransDataParams<U, S>& p,
                Site site) {
  using namespace ::twin;
  static_assert(sizeof(T) == 2 && library_takes<T>(kI16 | kU16 | kF16 | kBF16),
                "TransData takes half, bfloat16_t, int16_t and uint16_t");
  constexpr DataFormat kFrom = config.srcFormat, kTo = config.dstFormat;
  constexpr bool kOut = kFrom == DataFormat::NCDHW;
  constexpr DataFormat kOther = kOut ? kTo : kFrom;
  static_assert((kOut || kTo == DataFormat::NCDHW) && (kOther == DataFormat::NDC1HWC0 || kOther == DataFormat::FRACTAL_Z_3D),
                "TransData goes between NCDHW and NDC1HWC0 or FRACTAL_Z_3D");
  LibraryLayout c;
  c.name = "TransData";
  c.dst = dst.view();
  c.src = src.view();
  c.work = view_of(work);
  Image3d image, other;
  if constexpr (kOut) {
    image = image_of<DataFormat::NCDHW>(p.srcLayout, nullptr, &c.wrong);
    other = image_of<kOther>(p.dstLayout, &image, &c.wrong);
  } else {
    image = image_of<DataFormat::NCDHW>(p.dstLayout, nullptr, &c.wrong);
    other = image_of<kOther>(p.srcLayout, &image, &c.wrong);
  }
  if (!c.wrong && !(image == other)) c.wrong = "its two shapes are of different images";
  if (!c.wrong && image.n * image.c * image.d * image.h * image.w == 0) c.wrong = "a shape with an axis of nothing";
  c.fix = "shapes N, C, D, H, W and N, D, C1, H, W, C0 or D, C1, H, W, N1, N0, C0";
  const std::uint32_t count[5] = {image.n, image.c, image.d, image.h, image.w};
  for (int a = 0; a < 5; ++a) c.count[a] = count[a];
  c.from = layout_of(kFrom, image);
  c.to = layout_of(kTo, image);
  library_layout(c, site);
}
}  // namespace detail

#ifndef TWIN_OWN_TransData
// What pads C1 · C0 and N1 · N0 past C and N is left undefined.
template <const TransDataConfig& config, class T, class U, class S>
TWIN_API void TransData(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                        const LocalTensor<std::uint8_t>& sharedTmpBuffer, const TransDataParams<U, S>& params,
                        Site site = Site::here()) {
  detail::trans_data<config>(dstTensor, srcTensor, &sharedTmpBuffer, params, site);
}
template <const TransDataConfig& config, class T, class U, class S>
TWIN_API void TransData(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                        const TransDataParams<U, S>& params, Site site = Site::here()) {
  detail::trans_data<config, T>(dstTensor, srcTensor, nullptr, params, site);
}
#endif

}  // namespace AscendC
