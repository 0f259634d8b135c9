// SPDX-License-Identifier: Apache-2.0
// Two rows meet where the difference of their addresses, delta + sum of s_k x_k with an x_k for each axis, lies inside
// (-bytes of one, bytes of the other). Axes are decided from the largest stride down; what the smaller ones can still add
// leaves one to three values of x_k where strides nest, and their greatest common divisor ends most other searches.
#include "runtime/footprint.hpp"

#include <algorithm>
#include <numeric>

namespace tessera::runtime {
namespace {

__extension__ using Wide = __int128;  // sums of two spans of 2^62

Wide floor_div(Wide a, Wide b) noexcept { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
Wide ceil_div(Wide a, Wide b) noexcept { return -floor_div(-a, b); }

struct Term {
  std::int64_t stride, low, high;  // stride > 0; x in [low, high]
  Wide rest_low, rest_high;        // what this term and those after it add, at the least and at the most
  std::int64_t divisor;            // of this stride and those after it
};

/// Searches x with low <= value + sum of s_k x_k <= high.
class Search {
 public:
  Search(Wide low, Wide high, bool skip_zero) noexcept : low_(low), high_(high), skip_zero_(skip_zero) {}

  void add(std::int64_t stride, std::int64_t low, std::int64_t high) noexcept {
    for (std::size_t i = 0; !skip_zero_ && i < size_; ++i) {  // equal strides are one axis
      if (terms_[i].stride != stride) continue;
      terms_[i].low += low, terms_[i].high += high;
      return;
    }
    terms_[size_++] = {stride, low, high, 0, 0, 0};
  }

  bool found(Wide value) noexcept {
    std::sort(terms_.begin(), terms_.begin() + size_, [](const Term& a, const Term& b) { return a.stride > b.stride; });
    Wide least = 0, most = 0;
    std::int64_t divisor = 0;
    for (std::size_t i = size_; i-- > 0;) {
      Term& t = terms_[i];
      least += Wide{t.stride} * t.low, most += Wide{t.stride} * t.high;
      divisor = std::gcd(divisor, t.stride);
      t.rest_low = least, t.rest_high = most, t.divisor = divisor;
    }
    return from(0, value, true);
  }

 private:
  bool from(std::size_t k, Wide value, bool all_zero) noexcept {
    if (k == size_) return low_ <= value && value <= high_ && !(skip_zero_ && all_zero);
    const Term& t = terms_[k];
    if (value + t.rest_high < low_ || value + t.rest_low > high_) return false;
    if (floor_div(high_ - value, t.divisor) * t.divisor < low_ - value) return false;  // no multiple fits
    const Wide rest_low = k + 1 < size_ ? terms_[k + 1].rest_low : 0,
               rest_high = k + 1 < size_ ? terms_[k + 1].rest_high : 0;
    const Wide first = std::max<Wide>(t.low, ceil_div(low_ - rest_high - value, t.stride));
    const Wide last = std::min<Wide>(t.high, floor_div(high_ - rest_low - value, t.stride));
    for (Wide x = first; x <= last; ++x) {
      if (--steps_ < 0) return false;
      if (from(k + 1, value + x * t.stride, all_zero && x == 0)) return true;
    }
    return false;
  }

  Wide low_, high_;
  bool skip_zero_;
  std::array<Term, 8> terms_ = {};
  std::size_t size_ = 0;
  int steps_ = 1 << 16;
};

Wide address(const Footprint& f) noexcept { return static_cast<Wide>(reinterpret_cast<std::uintptr_t>(f.data)); }

Wide end(const Footprint& f) noexcept {
  Wide last = address(f) + f.row_bytes;
  for (std::size_t i = 0; i < f.num_axes; ++i) last += Wide{f.axes[i].size - 1} * f.axes[i].stride;
  return last;
}

}  // namespace

Footprint::Footprint(const void* begin, std::span<const Axis> of, std::int64_t row_elems, std::int64_t element) noexcept
    : data(begin), row_bytes(row_elems * element) {
  for (const Axis& axis : of) {
    if (axis.size == 0) data = nullptr;
    if (axis.size > 1) axes[num_axes++] = {axis.name, axis.size, axis.stride * element};
  }
}

bool overlap(const Footprint& a, const Footprint& b) noexcept {
  if (a.data == nullptr || b.data == nullptr || a.row_bytes == 0 || b.row_bytes == 0) return false;
  if (address(a) >= end(b) || address(b) >= end(a)) return false;
  Search search(1 - Wide{a.row_bytes}, Wide{b.row_bytes} - 1, false);
  for (std::size_t i = 0; i < a.num_axes; ++i) {
    if (a.axes[i].stride > 0) search.add(a.axes[i].stride, 0, a.axes[i].size - 1);
  }
  for (std::size_t i = 0; i < b.num_axes; ++i) {
    if (b.axes[i].stride > 0) search.add(b.axes[i].stride, 1 - b.axes[i].size, 0);
  }
  return search.found(address(a) - address(b));
}

bool overlaps_itself(const Footprint& a) noexcept {
  if (a.data == nullptr || a.row_bytes == 0) return false;
  Search search(1 - Wide{a.row_bytes}, Wide{a.row_bytes} - 1, true);
  for (std::size_t i = 0; i < a.num_axes; ++i) {
    if (a.axes[i].stride == 0) return true;
    search.add(a.axes[i].stride, 1 - a.axes[i].size, a.axes[i].size - 1);
  }
  return search.found(0);
}

Status check_apart(std::span<const NamedFootprint> written, std::span<const NamedFootprint> read) {
  const auto error = [](const NamedFootprint& a, const NamedFootprint& b) {
    return Status::invalid(std::string(a.name) + ": shares memory with " + std::string(b.name));
  };
  for (std::size_t i = 0; i < written.size(); ++i) {
    for (const NamedFootprint& other : read) {
      if (overlap(written[i].memory, other.memory)) return error(written[i], other);
    }
    for (const NamedFootprint& other : written.subspan(i + 1)) {
      if (overlap(written[i].memory, other.memory)) return error(written[i], other);
    }
  }
  return {};
}

}  // namespace tessera::runtime
