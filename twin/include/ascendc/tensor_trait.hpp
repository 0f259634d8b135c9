// SPDX-License-Identifier: Apache-2.0
// What describes a tensor besides its elements: layouts, and traits that carry one. Instructions take a tensor of a trait
// for a tensor of its elements. TWIN_OWN_<name>: as in norm.hpp.
#pragma once

#include <tuple>

#include "ascendc/base.hpp"

namespace AscendC {

namespace detail {
template <class S, class D>
class LayoutOf {
 public:
  constexpr LayoutOf() = default;
  constexpr LayoutOf(const S& shape, const D& stride) : shape_(shape), stride_(stride) {}
  TWIN_API constexpr const S& GetShape() const { return shape_; }
  TWIN_API constexpr const D& GetStride() const { return stride_; }
  TWIN_API constexpr LayoutOf& layout() { return *this; }
  TWIN_API constexpr const LayoutOf& layout() const { return *this; }

 private:
  S shape_{};
  D stride_{};
};
}  // namespace detail

#ifndef TWIN_OWN_TensorTrait
template <class T, TPosition pos = TPosition::GM, class LayoutType = detail::LayoutOf<std::tuple<>, std::tuple<>>>
struct TensorTrait {
  using LiteType = T;
  using LiteLayoutType = LayoutType;
  static constexpr const TPosition tPos = pos;
  constexpr TensorTrait(const LayoutType& t = {}) : layout_(t) {}  // NOLINT: converts, as the reference has it
  TWIN_API constexpr LayoutType& GetLayout() { return layout_; }
  TWIN_API constexpr const LayoutType& GetLayout() const { return layout_; }
  TWIN_API void SetLayout(const LayoutType& t) { layout_ = t; }

 private:
  LayoutType layout_;
};
template <class T>
struct is_tensorTrait : std::false_type {};
template <class T, TPosition pos, class LayoutType>
struct is_tensorTrait<TensorTrait<T, pos, LayoutType>> : std::true_type {};
template <class T, TPosition pos, class LayoutType>
TWIN_API constexpr auto MakeTensorTrait(const LayoutType& t) {
  return TensorTrait<T, pos, LayoutType>(t);
}
namespace detail {
template <class T, TPosition pos, class LayoutType>
struct Same<TensorTrait<T, pos, LayoutType>> {
  using Type = T;  // scalars beside the tensor are of its elements' type
};
}  // namespace detail
#endif

// The type of a tensor's elements.
template <class T>
using PrimT = typename detail::Same<T>::Type;

}  // namespace AscendC

#ifndef TWIN_OWN_TensorTrait
template <class T, AscendC::TPosition pos, class LayoutType>
struct twin::DTypeOf<AscendC::TensorTrait<T, pos, LayoutType>> : twin::DTypeOf<T> {};
#endif
