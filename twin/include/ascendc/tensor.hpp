// SPDX-License-Identifier: Apache-2.0
// GlobalTensor and LocalTensor: a place and a length. Element accesses go through the scalar pipe.
#pragma once

#include "ascendc/tensor_trait.hpp"

namespace AscendC {

// t(i), t(i) = v.
template <class T>
class ElementReference {
 public:
  ElementReference(const ::twin::View& view, std::uint64_t index, Site site) : view_(view), index_(index), site_(site) {}
  operator T() const {  // NOLINT: stands for the element
    if constexpr (kHalfAByte) {
      std::int8_t both = 0;
      ::twin::scalar_load(view_, index_ / 2, &both, 1, site_);
      return T(both >> (index_ % 2 * 4));
    } else {
      T value;
      ::twin::scalar_load(view_, index_ * sizeof(T), &value, sizeof(T), site_);
      return value;
    }
  }
#define TWIN_COMPOUND(sign) \
  ElementReference& operator sign##=(T value) { return *this = static_cast<T>(static_cast<T>(*this) sign value); }
  TWIN_COMPOUND(+)
  TWIN_COMPOUND(-)
  TWIN_COMPOUND(*)
  TWIN_COMPOUND(/)
#undef TWIN_COMPOUND
  ElementReference& operator=(T value) {
    if constexpr (kHalfAByte) {
      const auto both = static_cast<std::uint8_t>((std::int8_t(value) & 15) * 0x11);
      ::twin::scalar_store(view_, index_ / 2, &both, 1, site_, index_ % 2 ? 0x0f : 0xf0);
    } else {
      ::twin::scalar_store(view_, index_ * sizeof(T), &value, sizeof(T), site_);
    }
    return *this;
  }

 private:
  static constexpr bool kHalfAByte = ::twin::DTypeOf<T>::kValue == ::twin::DType::I4;
  ::twin::View view_;
  std::uint64_t index_;
  Site site_ = Site::none();
};

// What a kernel says of a tensor's shape; instructions take theirs from their own arguments.
struct ShapeInfo {
  ShapeInfo() = default;
  ShapeInfo(const std::uint8_t dims, const std::uint32_t sizes[]) : shapeDim(dims) {
    for (int d = 0; d < dims && d < 8; ++d) shape[d] = sizes[d];
  }
  std::uint8_t shapeDim = 0;
  std::uint32_t shape[8] = {};
};
namespace detail {
// A tensor is copied with each slice of it, and hardly any has a shape: it points to the one it was given, which is kept.
class ShapeOfTensor {
 public:
  void set(const ShapeInfo& shape) {
    std::uint32_t words[9] = {shape.shapeDim};
    for (int d = 0; d < 8; ++d) words[1 + d] = shape.shape[d];
    words_ = ::twin::keep_shape(words);
  }
  ShapeInfo get() const { return words_ ? ShapeInfo(static_cast<std::uint8_t>(words_[0]), words_ + 1) : ShapeInfo(); }

 private:
  const std::uint32_t* words_ = nullptr;
};
}  // namespace detail
TWIN_API std::uint32_t GetShapeSize(const ShapeInfo& shapeInfo) {
  std::uint32_t n = 1;
  for (int d = 0; d < shapeInfo.shapeDim && d < 8; ++d) n *= shapeInfo.shape[d];
  return n;
}

template <class T>
class GlobalTensor {
 public:
  using PrimType = PrimT<T>;
  GlobalTensor() { view_.space = ::twin::Space::GM, view_.dtype = ::twin::DTypeOf<T>::kValue; }
  TWIN_API void SetGlobalBuffer(__gm__ PrimType* buffer, std::uint64_t size, Site site = Site::here()) {
    view_.addr = reinterpret_cast<std::uint64_t>(buffer);
    view_.bytes = ::twin::bytes_of<T>(size);
    view_.tensor = ::twin::declare_tensor("GlobalTensor", view_.space, ::twin::Maker::Static, 0, 0, site);
  }
  TWIN_API void SetGlobalBuffer(__gm__ PrimType* buffer, Site site = Site::here()) { SetGlobalBuffer(buffer, 0, site); }
  TWIN_API __gm__ PrimType* GetPhyAddr() const { return reinterpret_cast<__gm__ PrimType*>(view_.addr); }
  TWIN_API __gm__ PrimType* GetPhyAddr(std::uint64_t offset) const {
    return reinterpret_cast<__gm__ PrimType*>(view_.addr + ::twin::offset_of<T>(offset));
  }
  TWIN_API std::uint64_t GetSize() const { return ::twin::elements_in<T>(view_.bytes); }
  TWIN_API void SetShapeInfo(const ShapeInfo& shapeInfo) { shape_.set(shapeInfo); }
  TWIN_API ShapeInfo GetShapeInfo() const { return shape_.get(); }
  TWIN_API PrimType GetValue(std::uint64_t index, Site site = Site::here()) const {
    return ElementReference<PrimType>(view_, index, site);
  }
  TWIN_API void SetValue(std::uint64_t index, PrimType value, Site site = Site::here()) {
    ElementReference<PrimType>(view_, index, site) = value;
  }
  ElementReference<PrimType> operator()(std::uint64_t index, Site site = Site::here()) const { return {view_, index, site}; }
  GlobalTensor operator[](std::uint64_t offset) const {
    GlobalTensor part = *this;
    const std::uint64_t step = ::twin::offset_of<T>(offset);
    part.view_.addr += step;
    if (view_.bytes) part.view_.bytes = view_.bytes > step ? view_.bytes - step : kNothing;
    part.view_.splits_byte |= ::twin::splits_byte<T>(offset);
    return part;
  }
  template <class U>
  GlobalTensor<U> ReinterpretCast() const {
    GlobalTensor<U> other;
    other.view_ = view_;
    other.view_.dtype = ::twin::DTypeOf<U>::kValue;
    return other;
  }
  template <CacheRwMode rwMode = CacheRwMode::RW>
  TWIN_API void SetL2CacheHint(CacheMode mode) {
    view_.cache_hint = mode == CacheMode::CACHE_MODE_DISABLE;  // the others change which lines L2 drops first: not modelled
  }
  const ::twin::View& view() const { return view_; }

 private:
  template <class U>
  friend class GlobalTensor;
  // A part that begins past the end: one byte long, so that every access is found outside of it.
  static constexpr std::uint64_t kNothing = 1;
  ::twin::View view_;
  detail::ShapeOfTensor shape_;
};

template <class T>
class LocalTensor;
namespace detail {
// What an operator between two tensors stands for until it is assigned (operators.hpp). Its second operand brings the line:
// an operator has no default argument, but a conversion to one has.
enum class WholeOp : std::uint8_t { Add, Sub, Mul, Div, And, Or, LT, GT, EQ, LE, GE, NE };
template <class T, WholeOp op>
struct Whole {
  LocalTensor<T> a, b;
  Site site;
};
template <class T>
struct Operand {
  Operand(const LocalTensor<T>& t, Site s = Site::here()) : tensor(t), site(s) {}  // NOLINT: converts
  const LocalTensor<T>& tensor;
  Site site;
};
}  // namespace detail

// Where a LocalTensor lies, for SetAddr: the address as GetPhyAddr gives it, or a number of bytes.
struct TBuffAddr {
  std::uint32_t dataLen = 0;
  std::uint64_t bufferAddr = 0;
  std::uint8_t logicPos = 0;
};

template <class T>
class LocalTensor {
  // Of GetPhyAddr: a CPU has a pointer, the device's compiler, as the check's pass over pointers sees it, a number.
#if defined(TWIN_DEVICE_CHECK) && TWIN_DEVICE_CHECK == 2
  using Address = std::uint64_t;
#else
  using Address = PrimT<T>*;
#endif

 public:
  using PrimType = PrimT<T>;
  LocalTensor() { view_.dtype = ::twin::DTypeOf<T>::kValue; }
  explicit LocalTensor(const ::twin::View& view, TPosition position) : view_(view), position_(position) {
    view_.dtype = ::twin::DTypeOf<T>::kValue;
  }
  LocalTensor(TPosition position, std::uint32_t addr, std::uint32_t count, Site site = Site::here()) : position_(position) {
    view_.space = detail::space_of(position);
    view_.dtype = ::twin::DTypeOf<T>::kValue;
    view_.addr = addr;
    view_.bytes = ::twin::bytes_of<T>(count);
    view_.tensor =
        ::twin::declare_tensor(detail::name_of(position), view_.space, ::twin::Maker::Static, view_.addr, view_.bytes, site);
  }
  TWIN_API PrimType GetValue(std::uint32_t index, Site site = Site::here()) const {
    return ElementReference<PrimType>(view_, index, site);
  }
  template <class V>
  TWIN_API void SetValue(std::uint32_t index, V value, Site site = Site::here()) const {
    ElementReference<PrimType>(view_, index, site) = static_cast<PrimType>(value);
  }
  ElementReference<PrimType> operator()(std::uint32_t index, Site site = Site::here()) const { return {view_, index, site}; }
  LocalTensor operator[](std::uint32_t offset) const {
    LocalTensor part = *this;
    const std::uint64_t step = ::twin::offset_of<T>(offset);
    part.view_.addr += step;
    part.view_.bytes = view_.bytes > step ? view_.bytes - step : 1;
    part.view_.splits_byte |= ::twin::splits_byte<T>(offset);
    return part;
  }
  template <class U>
  LocalTensor<U> ReinterpretCast() const {
    return LocalTensor<U>(view_, position_);
  }
  TWIN_API std::uint32_t GetSize() const { return static_cast<std::uint32_t>(::twin::elements_in<T>(view_.bytes)); }
  TWIN_API std::uint32_t GetLength() const { return static_cast<std::uint32_t>(view_.bytes); }
  TWIN_API void SetSize(std::uint32_t size) { view_.bytes = ::twin::bytes_of<T>(size); }
  TWIN_API TPosition GetPosition() const { return position_; }
  // What is read or written through the pointer the twin does not see.
  TWIN_API Address GetPhyAddr(std::uint32_t offset = 0, Site site = Site::here()) const {
    return reinterpret_cast<Address>(::twin::local_pointer(view_, site) + ::twin::offset_of<T>(offset));
  }
  TWIN_API void SetShapeInfo(const ShapeInfo& shapeInfo) { shape_.set(shapeInfo); }
  TWIN_API ShapeInfo GetShapeInfo() const { return shape_.get(); }
  TWIN_API void SetBufferLen(std::uint32_t dataLen) { view_.bytes = dataLen; }
  // A tensor without TPipe or size of its own: as far as the memory goes if dataLen is 0.
  TWIN_API void SetAddr(const TBuffAddr& bufferAddr, Site site = Site::here()) {
    position_ = static_cast<TPosition>(bufferAddr.logicPos);
    const ::twin::Space space = detail::space_of(position_);
    view_ = ::twin::local_view(space == ::twin::Space::GM ? ::twin::Space::UB : space,
                               reinterpret_cast<const void*>(bufferAddr.bufferAddr), ::twin::DTypeOf<T>::kValue, site);
    if (bufferAddr.dataLen) view_.bytes = bufferAddr.dataLen;
  }
  // This tensor begins so many elements of its own behind another one.
  template <class U>
  TWIN_API void SetAddrWithOffset(LocalTensor<U>& src, std::uint32_t offset) {
    view_.addr = src.view().addr + ::twin::offset_of<T>(offset);
    view_.splits_byte = ::twin::splits_byte<T>(offset);
    view_.space = src.view().space;
    view_.buffer = src.view().buffer;
    view_.generation = src.view().generation;
    view_.tensor = src.view().tensor;
    position_ = src.GetPosition();
  }
  TWIN_API void Print(std::uint32_t len, Site site = Site::here()) const { ::twin::dump(view_, 0, len, site); }
  TWIN_API void Print(Site site = Site::here()) const { Print(GetSize(), site); }
  TWIN_API void SetUserTag(std::int32_t tag) { tag_ = tag; }
  TWIN_API std::int32_t GetUserTag() const { return tag_; }
  // dst = a + b: whole tensors
  template <class U, detail::WholeOp op>
  LocalTensor& operator=(const detail::Whole<U, op>& expression) {
    whole(expression, *this);
    return *this;
  }
#define TWIN_WHOLE(sign, op)                                                                                      \
  friend detail::Whole<T, detail::WholeOp::op> operator sign(const LocalTensor& a, const detail::Operand<T>& b) { \
    return {a, b.tensor, b.site};                                                                                 \
  }
  TWIN_WHOLE(+, Add)
  TWIN_WHOLE(-, Sub)
  TWIN_WHOLE(*, Mul)
  TWIN_WHOLE(/, Div)
  TWIN_WHOLE(&, And)
  TWIN_WHOLE(|, Or)
  TWIN_WHOLE(<, LT)
  TWIN_WHOLE(>, GT)
  TWIN_WHOLE(==, EQ)
  TWIN_WHOLE(<=, LE)
  TWIN_WHOLE(>=, GE)
  TWIN_WHOLE(!=, NE)
#undef TWIN_WHOLE
  const ::twin::View& view() const { return view_; }

 private:
  ::twin::View view_;
  TPosition position_ = TPosition::VECCALC;
  std::int32_t tag_ = 0;
  detail::ShapeOfTensor shape_;
};

}  // namespace AscendC
