// SPDX-License-Identifier: Apache-2.0
// One tensor of a file at a time: found, checked and converted. Failures name the tensor, its dtype and shape.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "cli/safetensors.hpp"
#include "tessera/attention.hpp"

namespace tessera::cli {

class TensorReader {
 public:
  explicit TensorReader(const SafetensorsFile& file) : file_(file) {}

  bool has(std::string_view name) const { return file_.header().find(name) != nullptr; }
  const TensorInfo& required(std::string_view name) const;

  /// dtype of q, k or v: f32, f16 or bf16.
  DType float_dtype(const TensorInfo& tensor) const;
  AlignedBuffer load(const TensorInfo& tensor) const;
  /// int32 or int64 of the given rank, as int64.
  std::vector<std::int64_t> indices(const TensorInfo& tensor, std::size_t rank) const;
  /// [count] floats of any of the three dtypes, as float32.
  std::vector<float> floats(const TensorInfo& tensor, std::int64_t count, std::string_view meaning) const;

  void expect_rank(const TensorInfo& tensor, std::size_t rank, std::string_view axes) const;
  void expect_axis(const TensorInfo& tensor, std::size_t axis, std::int64_t size, std::string_view meaning) const;
  /// Strides that broadcast `tensor` (right-aligned, axes of 1 repeat) to `full`.
  void broadcast(const TensorInfo& tensor, const std::int64_t (&full)[4], std::int64_t (&strides)[4]) const;

  [[noreturn]] void refuse(const TensorInfo& tensor, std::string_view why) const;
  [[noreturn]] void refuse(std::string_view why) const;

 private:
  const SafetensorsFile& file_;
};

}  // namespace tessera::cli
