// SPDX-License-Identifier: Apache-2.0
// What is checked of any tensor: address, strides, and that rows which are written do not overlap. Messages begin with the
// tensor's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/footprint.hpp"

namespace tessera::runtime {

/// Not null, and a multiple of `alignment`.
Status check_pointer(const std::string& name, const void* data, std::size_t alignment);

/// Not negative, and the last element's offset in bytes fits 62 bits. The innermost axis, of stride 1, has row_elems.
Status check_strides(const std::string& name, std::span<const Axis> axes, std::int64_t row_elems, std::size_t element_bytes);

/// Rows of an output must not share elements.
Status check_disjoint(const std::string& name, const void* data, std::span<const Axis> axes, std::int64_t row_elems);

}  // namespace tessera::runtime
