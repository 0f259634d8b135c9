// SPDX-License-Identifier: Apache-2.0
// ListTensorDesc: a list of tensors in GM, read through the scalar unit. As 64-bit words: the bytes from its begin to the
// pointers; for each tensor its dimensions in the lower and its index in the upper half of a word, then their sizes; the
// pointers.
#pragma once

#include "ascendc/tensor.hpp"

namespace AscendC {

template <class T>
class TensorDesc {
 public:
  TWIN_API void SetShapeAddr(std::uint64_t* shapePtr) { shape_ = shapePtr; }
  TWIN_API std::uint64_t GetDim() const { return dim_; }
  TWIN_API std::uint64_t GetIndex() const { return index_; }
  TWIN_API std::uint64_t GetShape(std::uint32_t offset, Site site = Site::here()) const {
    if (shape_ != nullptr && offset < dim_) return shape_[offset];
    ::twin::refuse_call("TensorDesc::GetShape of a dimension that the tensor does not have, or without SetShapeAddr",
                        "call SetShapeAddr before GetDesc, and stay below GetDim()", site);
    return 0;
  }
  TWIN_API __gm__ T* GetDataPtr() const { return data_; }
  TWIN_API GlobalTensor<T> GetDataObj(Site site = Site::here()) const {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(data_, site);
    return tensor;
  }

 private:
  friend class ListTensorDesc;
  std::uint64_t* shape_ = nullptr;
  std::uint64_t dim_ = 0, index_ = 0;
  __gm__ T* data_ = nullptr;
};

class ListTensorDesc {
 public:
  ListTensorDesc() = default;
  explicit ListTensorDesc(__gm__ void* data, std::uint32_t length = 0xffffffff, std::uint32_t shapeSize = 0xffffffff,
                          Site site = Site::here()) {
    Init(data, length, shapeSize, site);
  }
  TWIN_API void Init(__gm__ void* data, std::uint32_t length = 0xffffffff, std::uint32_t shapeSize = 0xffffffff,
                     Site site = Site::here()) {
    words_.SetGlobalBuffer(reinterpret_cast<__gm__ std::uint64_t*>(data), length == 0xffffffff ? 0 : length / 8, site);
    pointers_ = words_.GetValue(0, site) / 8;
    size_ = 0;
    if (pointers_ > kMostWords)
      return ::twin::refuse_call("ListTensorDesc: what lies there is no list of tensors", "check the address", site);
    for (std::uint64_t at = 1; at < pointers_; at += 1 + dims(words_.GetValue(at, site))) ++size_;
    if (shapeSize != 0xffffffff && shapeSize != size_)
      ::twin::refuse_call("ListTensorDesc: the list does not hold shapeSize tensors", "give the number that it holds", site);
  }
  template <class T>
  TWIN_API void GetDesc(TensorDesc<T>& desc, std::uint32_t index, Site site = Site::here()) {
    if (!holds(index, site)) return;
    if (desc.shape_ == nullptr)
      return ::twin::refuse_call("ListTensorDesc::GetDesc into a TensorDesc without room for the shape",
                                 "call SetShapeAddr before", site);
    std::uint64_t at = 1;
    for (std::uint32_t k = 0; k < index; ++k) at += 1 + dims(words_.GetValue(at, site));
    const std::uint64_t head = words_.GetValue(at, site);
    desc.dim_ = dims(head);
    desc.index_ = head >> 32;
    for (std::uint64_t d = 0; d < desc.dim_; ++d) desc.shape_[d] = words_.GetValue(at + 1 + d, site);
    desc.data_ = GetDataPtr<T>(static_cast<std::uint32_t>(desc.index_), site);
  }
  template <class T>
  TWIN_API __gm__ T* GetDataPtr(std::uint32_t index, Site site = Site::here()) {
    return holds(index, site) ? reinterpret_cast<__gm__ T*>(words_.GetValue(pointers_ + index, site)) : nullptr;
  }
  TWIN_API std::uint32_t GetSize() const { return size_; }

 private:
  static constexpr std::uint64_t kMostWords = 1 << 16;  // a list is some hundred words long
  static std::uint64_t dims(std::uint64_t head) { return head & 0xffffffff; }
  bool holds(std::uint32_t index, Site site) const {
    if (index < size_) return true;
    ::twin::refuse_call("ListTensorDesc: an index past the tensors of the list", "stay below GetSize()", site);
    return false;
  }
  GlobalTensor<std::uint64_t> words_;
  std::uint64_t pointers_ = 0;  // the word where they begin
  std::uint32_t size_ = 0;
};

}  // namespace AscendC
