// SPDX-License-Identifier: Apache-2.0
// Sizes that know when they have overflowed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace tessera::planner {

/// product = the product of factors (each >= 0); false on overflow.
inline bool multiply(std::initializer_list<std::int64_t> factors, std::int64_t& product) noexcept {
  bool fits = true;
  product = 1;
  for (std::int64_t factor : factors) fits &= !__builtin_mul_overflow(product, factor, &product);
  return fits;
}

/// sum += value; false on overflow.
inline bool add(std::int64_t value, std::int64_t& sum) noexcept { return !__builtin_add_overflow(sum, value, &sum); }

/// A running size in bytes. Once it has overflowed 63 bits it stays that way.
class SizeSum {
 public:
  void add(std::size_t bytes) noexcept {
    fits_ &= !__builtin_add_overflow(bytes_, bytes, &bytes_);
    fits_ &= bytes_ <= kMax;
  }
  void add(const std::array<std::int64_t, 3>& factors) noexcept {
    std::int64_t product = 0;
    fits_ &= planner::multiply({factors[0], factors[1], factors[2]}, product);
    add(static_cast<std::size_t>(product));
  }
  void multiply(std::size_t factor) noexcept { fits_ &= !__builtin_mul_overflow(bytes_, factor, &bytes_) && bytes_ <= kMax; }
  std::size_t align(std::size_t alignment) noexcept {
    add((alignment - bytes_ % alignment) % alignment);
    return bytes_;
  }
  bool fits() const noexcept { return fits_; }

 private:
  static constexpr std::size_t kMax = std::numeric_limits<std::int64_t>::max();
  std::size_t bytes_ = 0;
  bool fits_ = true;
};

}  // namespace tessera::planner
