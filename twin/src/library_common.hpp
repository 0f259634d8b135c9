// SPDX-License-Identifier: Apache-2.0
// What the library's functions share: elements as doubles, the scratch tensor, the barrier behind.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "lanes.hpp"
#include "twin/calls_library.hpp"

namespace twin::library {

template <class T>
double read_as(const std::uint8_t* p) {
  return static_cast<double>(load<T>(p));
}
template <class T>
void write_as(std::uint8_t* p, double x) {
  T v;
  if constexpr (std::is_integral<T>::value) {
    const double r = std::isnan(x) ? 0 : std::nearbyint(x);
    constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
    v = r <= kLow ? std::numeric_limits<T>::min() : r >= kHigh ? std::numeric_limits<T>::max() : static_cast<T>(r);
  } else {
    v = T(static_cast<float>(x));
  }
  store(p, v);
}

#define TWIN_EACH_TYPE(dtype, call) \
  switch (dtype) {                  \
    case DType::F16:                \
      return call(half);            \
    case DType::BF16:               \
      return call(bfloat16_t);      \
    case DType::I8:                 \
      return call(std::int8_t);     \
    case DType::U8:                 \
      return call(std::uint8_t);    \
    case DType::I16:                \
      return call(std::int16_t);    \
    case DType::U16:                \
      return call(std::uint16_t);   \
    case DType::I32:                \
      return call(std::int32_t);    \
    case DType::U32:                \
      return call(std::uint32_t);   \
    default:                        \
      return call(float);           \
  }
inline double get(const std::uint8_t* p, DType dtype) {
#define TWIN_READ(type) read_as<type>(p)
  TWIN_EACH_TYPE(dtype, TWIN_READ)
#undef TWIN_READ
}
inline void put(std::uint8_t* p, DType dtype, double x) {
#define TWIN_WRITE(type) write_as<type>(p, x)
  TWIN_EACH_TYPE(dtype, TWIN_WRITE)
#undef TWIN_WRITE
}
#undef TWIN_EACH_TYPE

inline std::uint64_t repeats(std::uint64_t count, DType dtype) {
  return (count * size_bytes(dtype) + kRepeatBytes - 1) / kRepeatBytes;
}

// The scratch tensor: written by the steps inside, of no value afterwards.
struct Work {
  const View* view;
  std::uint64_t bytes;
  Work(Instruction& i, const View* v, std::uint64_t wanted)
      : view(v), bytes(v && v->bytes ? std::min(v->bytes, wanted) : 0) {
    if (!bytes) return;
    i.require_aligned(*v, kBlockBytes, "the temporary");
    i.write(*v, 0, bytes);
  }
  void spoil(Instruction& i) const {
    if (bytes)
      States(i, *view).set(0, bytes, new_origin(format("the temporary of %s at %s", i.name(), to_string(i.site()).c_str())));
  }
};

// The steps inside are ordered, and the last is over when the next instruction of the caller's begins.
inline void close(Site site) { core().barrier(Pipe::V, site_id(site)); }

}  // namespace twin::library
