// SPDX-License-Identifier: Apache-2.0
// The library's functions: values in double, rounded once; costs as so many vector instructions.
#include <cmath>
#include <cstring>
#include <limits>

#include "lanes.hpp"
#include "twin/calls_library.hpp"

namespace twin {
namespace {

template <class T>
double read(const std::uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return static_cast<double>(v);
}
template <class T>
void write(std::uint8_t* p, double x) {
  T v;
  if constexpr (std::is_integral<T>::value) {
    const double r = std::isnan(x) ? 0 : std::nearbyint(x);
    constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
    v = r <= kLow ? std::numeric_limits<T>::min() : r >= kHigh ? std::numeric_limits<T>::max() : static_cast<T>(r);
  } else {
    v = T(static_cast<float>(x));
  }
  std::memcpy(p, &v, sizeof v);
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
double get(const std::uint8_t* p, DType dtype) {
#define TWIN_READ(type) read<type>(p)
  TWIN_EACH_TYPE(dtype, TWIN_READ)
#undef TWIN_READ
}
void put(std::uint8_t* p, DType dtype, double x){
#define TWIN_WRITE(type) write<type>(p, x)
    TWIN_EACH_TYPE(dtype, TWIN_WRITE)
#undef TWIN_WRITE
}
#undef TWIN_EACH_TYPE

std::uint64_t repeats(std::uint64_t count, DType dtype) {
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
void close(Site site) { core().barrier(Pipe::V, site_id(site)); }

}  // namespace

void library_map(const LibraryMap& call, Site site) {
  {
    Instruction i(Pipe::V, call.name, site);
    const std::uint32_t size = size_bytes(call.dst.dtype);
    i.require_aligned(call.dst, kBlockBytes, "the destination");
    for (int s = 0; s < call.sources; ++s) {
      i.require_aligned(call.src[s], kBlockBytes, "a source");
      i.read(call.src[s], 0, std::uint64_t{call.count} * size_bytes(call.src[s].dtype));
    }
    i.write(call.dst, 0, std::uint64_t{call.count} * size);
    const Work work(i, call.work, std::uint64_t{call.count} * size);
    i.cost("OneVector", call.passes * repeats(call.count, call.dst.dtype), call.dst.dtype);
    if (call.count && i.issue()) {
      States ds(i, call.dst);
      std::vector<States> ss;
      for (int s = 0; s < call.sources; ++s) ss.emplace_back(i, call.src[s]);
      for (std::uint64_t k = 0; k < call.count; ++k) {
        double x[3] = {};
        std::uint8_t state = kDefined;
        for (int s = 0; s < call.sources; ++s) {
          const std::uint32_t n = size_bytes(call.src[s].dtype);
          x[s] = get(i.bytes(call.src[s]) + k * n, call.src[s].dtype);
          state = meet(state, ss[s].of(k * n, n));
        }
        put(i.bytes(call.dst) + k * size, call.dst.dtype, call.value(x, call.scalar));
        ds.set(k * size, size, state);
      }
      work.spoil(i);
    }
  }
  close(site);
}

void library_fold(const LibraryFold& call, Site site) {
  {
    Instruction i(Pipe::V, call.name, site);
    const DType from = call.src.dtype, to = call.dst.dtype;
    const std::uint32_t size = size_bytes(from), out = size_bytes(to);
    i.require_aligned(call.dst, kBlockBytes, "the destination");
    i.require_aligned(call.src, kBlockBytes, "the source");
    if (call.used == 0 || call.used > call.middle)
      i.refuse(Kind::Limit, format("%s of %u elements of a dimension of %u", call.name, call.used, call.middle),
               "at least one, and not more than there are");
    const auto at = [&](std::uint64_t o, std::uint64_t m, std::uint64_t n) {
      return (o * call.outer_step + m * call.middle_step + n) * size;
    };
    for (std::uint64_t o = 0; o < call.outer; ++o) {
      if (call.middle_step == 1) {
        i.read(call.src, at(o, 0, 0), std::uint64_t{call.used} * size);
      } else {
        for (std::uint64_t m = 0; m < call.used; ++m) i.read(call.src, at(o, m, 0), std::uint64_t{call.inner} * size);
      }
    }
    const std::uint64_t results = std::uint64_t{call.outer} * call.inner;
    i.write(call.dst, 0, results * out);
    const std::uint64_t total = results * call.middle;
    const Work work(i, call.work, total * size);
    if (call.middle_step == 1) {  // along lanes: whole repeats, then what they left
      i.cost(call.fold == Fold::Sum || call.fold == Fold::Mean ? "WholeReduceSum" : "WholeReduceMax", repeats(total, from),
             from);
    } else {  // across rows: one two-vector instruction a row
      i.cost("TwoVectors", call.outer * std::uint64_t{call.used} * repeats(call.inner, from), from);
    }
    if (results && i.issue()) {
      States ds(i, call.dst), ss(i, call.src);
      for (std::uint64_t o = 0; o < call.outer; ++o) {
        for (std::uint64_t n = 0; n < call.inner; ++n) {
          double value = call.fold == Fold::Prod || call.fold == Fold::All ? 1 : 0;
          std::uint8_t state = kDefined;
          for (std::uint64_t m = 0; m < call.used; ++m) {
            const double x = get(i.bytes(call.src) + at(o, m, n), from);
            state = meet(state, ss.of(at(o, m, n), size));
            switch (call.fold) {
              case Fold::Sum:
              case Fold::Mean:
                value += x;
                break;
              case Fold::Max:
                value = m == 0 || x > value || std::isnan(x) ? x : value;
                break;
              case Fold::Min:
                value = m == 0 || x < value || std::isnan(x) ? x : value;
                break;
              case Fold::Prod:
                value *= x;
                break;
              case Fold::Any:
                value = value != 0 || x != 0;
                break;
              default:
                value = value != 0 && x != 0;
            }
          }
          if (call.fold == Fold::Mean) value /= call.used;
          const std::uint64_t place = (o * call.inner + n) * out;
          put(i.bytes(call.dst) + place, to, value);
          ds.set(place, out, state);
        }
      }
      work.spoil(i);
    }
  }
  close(site);
}

void library_broadcast(const View& dst, const View& src, const View* work_view, const std::uint32_t* dst_shape,
                       const std::uint32_t* src_shape, int dims, Site site) {
  {
    Instruction i(Pipe::V, "Broadcast", site);
    const std::uint32_t size = size_bytes(dst.dtype);
    std::uint64_t total = 1, given = 1;
    for (int d = 0; d < dims; ++d) {
      if (src_shape[d] != dst_shape[d] && src_shape[d] != 1)
        i.refuse(Kind::Limit,
                 format("Broadcast: dimension %d of the source is %u, of the destination %u", d, src_shape[d], dst_shape[d]),
                 "a source dimension is 1, or equal");
      total *= dst_shape[d];
      given *= src_shape[d];
    }
    i.require_aligned(dst, kBlockBytes, "the destination");
    i.require_aligned(src, kBlockBytes, "the source");
    i.read(src, 0, given * size);
    i.write(dst, 0, total * size);
    const Work work(i, work_view, total * size);
    i.cost("OneVector", 2 * repeats(total, dst.dtype), dst.dtype);
    if (total && i.issue()) {
      States ds(i, dst), ss(i, src);
      const std::vector<std::uint8_t> from(i.bytes(src), i.bytes(src) + given * size);
      std::vector<std::uint8_t> states(given);
      for (std::uint64_t k = 0; k < given; ++k) states[k] = ss.of(k * size, size);
      for (std::uint64_t k = 0; k < total; ++k) {
        std::uint64_t rest = k, at = 0, step = 1;
        for (int d = dims; d-- > 0;) {
          if (src_shape[d] != 1) at += rest % dst_shape[d] * step;
          rest /= dst_shape[d];
          step *= src_shape[d];
        }
        std::memcpy(i.bytes(dst) + k * size, &from[at * size], size);
        ds.set(k * size, size, states[at]);
      }
      work.spoil(i);
    }
  }
  close(site);
}

}  // namespace twin
