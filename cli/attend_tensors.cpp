// SPDX-License-Identifier: Apache-2.0
#include "cli/attend_tensors.hpp"

#include <fmt/format.h>

#include "cli/failure.hpp"
#include "cli/half.hpp"
#include "cli/printable.hpp"

namespace tessera::cli {
namespace {

std::optional<DType> dtype_named(std::string_view name) {
  if (name == "F32") return DType::f32;
  if (name == "F16") return DType::f16;
  if (name == "BF16") return DType::bf16;
  return std::nullopt;
}

}  // namespace

void TensorReader::refuse(std::string_view why) const {
  throw Failure(kBadInput, fmt::format("{}: {}", file_.path().string(), why));
}

void TensorReader::refuse(const TensorInfo& tensor, std::string_view why) const {
  refuse(fmt::format("tensor \"{}\", {} {}: {}", printable(tensor.name), printable(tensor.dtype, 64), tensor.shape_text(),
                     why));
}

const TensorInfo& TensorReader::required(std::string_view name) const {
  if (const auto* tensor = file_.header().find(name)) return *tensor;
  std::string names;
  for (const auto& tensor : file_.header().tensors) {
    names += (names.empty() ? "" : ", ") + printable(tensor.name, 64);
    if (names.size() > 200) {
      names += ", ...";
      break;
    }
  }
  refuse(fmt::format("tensor \"{}\" is missing (the file has {})", name, names.empty() ? "none" : names));
}

DType TensorReader::float_dtype(const TensorInfo& tensor) const {
  const auto dtype = dtype_named(tensor.dtype);
  if (!dtype) refuse(tensor, "the dtype must be F32, F16 or BF16");
  return *dtype;
}

AlignedBuffer TensorReader::load(const TensorInfo& tensor) const { return value_of(file_.load(tensor)); }

std::vector<std::int64_t> TensorReader::indices(const TensorInfo& tensor, std::size_t rank) const {
  if (tensor.dtype != "I32" && tensor.dtype != "I64") refuse(tensor, "the dtype must be I32 or I64");
  if (tensor.shape.size() != rank) refuse(tensor, fmt::format("it must have {} {}", rank, rank == 1 ? "axis" : "axes"));
  const auto data = load(tensor);
  std::vector<std::int64_t> values(static_cast<std::size_t>(tensor.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = tensor.dtype == "I32" ? data.as<std::int32_t>()[i] : data.as<std::int64_t>()[i];
  }
  return values;
}

std::vector<float> TensorReader::floats(const TensorInfo& tensor, std::int64_t count, std::string_view meaning) const {
  const auto dtype = float_dtype(tensor);
  expect_rank(tensor, 1, "[hq]");
  expect_axis(tensor, 0, count, meaning);
  const auto data = load(tensor);
  std::vector<float> values(static_cast<std::size_t>(count));
  widen(dtype, data.data(), count, values.data());
  return values;
}

void TensorReader::expect_rank(const TensorInfo& tensor, std::size_t rank, std::string_view axes) const {
  if (tensor.shape.size() != rank)
    refuse(tensor, fmt::format("it must have {} {}, {}", rank, rank == 1 ? "axis" : "axes", axes));
}

void TensorReader::expect_axis(const TensorInfo& tensor, std::size_t axis, std::int64_t size,
                               std::string_view meaning) const {
  if (tensor.shape[axis] != size) refuse(tensor, fmt::format("axis {} must be {}, {}", axis, size, meaning));
}

void TensorReader::broadcast(const TensorInfo& tensor, const std::int64_t (&full)[4], std::int64_t (&strides)[4]) const {
  const auto rank = tensor.shape.size();
  const auto wanted =
      fmt::format("it must broadcast to [b, hq, sq, sk] = [{}, {}, {}, {}]", full[0], full[1], full[2], full[3]);
  if (rank > 4) refuse(tensor, wanted);
  std::int64_t stride = 1;
  for (std::size_t axis = 4; axis-- > 0;) {
    const auto size = axis + rank >= 4 ? tensor.shape[axis + rank - 4] : 1;
    if (size != 1 && size != full[axis]) refuse(tensor, wanted);
    strides[axis] = size == 1 ? 0 : stride;
    stride *= size;
  }
}

}  // namespace tessera::cli
