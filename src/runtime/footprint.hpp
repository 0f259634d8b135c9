// SPDX-License-Identifier: Apache-2.0
// The memory that a strided tensor touches, and whether two of them meet: exact, so that interleaved layouts are not
// refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tessera/attention.hpp"

namespace tessera::runtime {

struct Axis {
  const char* name;
  std::int64_t size, stride;  // elements, or bytes in a Footprint
};

/// Rows of row_bytes each, one for every index of the axes. Strides are not negative; the whole spans at most 2^62 bytes.
struct Footprint {
  const void* data = nullptr;  // null: touches nothing
  std::int64_t row_bytes = 0;
  std::array<Axis, 4> axes = {};
  std::size_t num_axes = 0;

  Footprint() = default;
  Footprint(const void* begin, std::int64_t bytes) noexcept : data(begin), row_bytes(bytes) {}
  Footprint(const void* begin, std::span<const Axis> of, std::int64_t row_elems, std::int64_t element) noexcept;
};

/// Whether any byte belongs to both. Of a problem of up to 8 axes it takes a few steps where strides nest, as those of all
/// usual layouts do; after 2^16 steps without an answer the two are taken to be apart.
bool overlap(const Footprint& a, const Footprint& b) noexcept;

/// Whether two different rows share a byte.
bool overlaps_itself(const Footprint& a) noexcept;

struct NamedFootprint {
  std::string_view name;
  Footprint memory;
};

/// An error that names both where something written meets anything else, read or written.
Status check_apart(std::span<const NamedFootprint> written, std::span<const NamedFootprint> read);

}  // namespace tessera::runtime
