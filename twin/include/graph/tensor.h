// SPDX-License-Identifier: Apache-2.0
// ge::Shape, as host tiling gives it to the library's helpers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace ge {

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}
  std::size_t GetDimNum() const { return dims_.size(); }
  // 0 where there is no such dimension.
  std::int64_t GetDim(std::size_t i) const { return i < dims_.size() ? dims_[i] : 0; }
  std::vector<std::int64_t> GetDims() const { return dims_; }
  bool SetDim(std::size_t i, std::int64_t value) {
    if (i >= dims_.size()) return false;
    dims_[i] = value;
    return true;
  }
  // Of no dimensions: 0.
  std::int64_t GetShapeSize() const {
    std::int64_t n = dims_.empty() ? 0 : 1;
    for (const std::int64_t d : dims_) n *= d;
    return n;
  }

 private:
  std::vector<std::int64_t> dims_;
};

}  // namespace ge
