// SPDX-License-Identifier: Apache-2.0
#include "runtime/tensor_checks.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "planner/checked.hpp"

namespace tessera::runtime {
namespace {

using base::number;

/// "q.strides.seq: 7", "bias.strides[2]: 7".
std::string stride_text(const std::string& name, const Axis& axis) {
  return name + ".strides" + (axis.name[0] == '[' ? "" : ".") + axis.name + ": " + number(axis.stride);
}

}  // namespace

Status check_pointer(const std::string& name, const void* data, std::size_t alignment) {
  if (data == nullptr) return Status::invalid(name + ": null");
  const auto past = reinterpret_cast<std::uintptr_t>(data) % alignment;
  if (past == 0) return {};
  return Status::invalid(name + ": its address is " + number(past) + " past a multiple of the element size, " +
                         number(alignment));
}

Status check_strides(const std::string& name, std::span<const Axis> axes, std::int64_t row_elems,
                     std::size_t element_bytes) {
  for (const Axis& axis : axes) {
    if (axis.stride < 0) return Status::invalid(stride_text(name, axis) + " is negative");
  }
  std::int64_t last = row_elems, bytes = 0;
  for (const Axis& axis : axes) {
    std::int64_t extent = 0;
    const bool fits = planner::multiply({std::max<std::int64_t>(axis.size - 1, 0), axis.stride}, extent) &&
                      planner::add(extent, last) &&
                      planner::multiply({last, static_cast<std::int64_t>(element_bytes), 2}, bytes);
    if (fits) continue;
    return Status::invalid(stride_text(name, axis) + ", " + number(axis.size) +
                           " times; the tensor spans more than 2^62 bytes");
  }
  return {};
}

Status check_disjoint(const std::string& name, const void* data, std::span<const Axis> axes, std::int64_t row_elems) {
  if (!overlaps_itself(Footprint(data, axes, row_elems, 1))) return {};
  std::string message = name + ".strides: rows overlap with";
  for (const Axis& axis : axes) message += std::string(" ") + axis.name + " " + number(axis.stride);
  return Status::invalid(message);
}

}  // namespace tessera::runtime
