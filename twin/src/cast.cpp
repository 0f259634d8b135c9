// SPDX-License-Identifier: Apache-2.0
// Cast, in every pair of types and rounding mode that the reference lists for the Atlas A2.
#include <algorithm>
#include <cstring>

#include "cast_int4.hpp"
#include "rounding.hpp"
#include "wide.hpp"

namespace twin {

void require_deq_scale(Instruction& i);  // fused.cpp

namespace {

template <class D, class S, Round kMode>
D converted(S value, [[maybe_unused]] double scale) {
  constexpr bool kNearest = kMode == Round::Rint, kExact = sizeof(S) <= 2 || std::is_same_v<S, float>;  // as a float
  if constexpr (std::is_integral_v<S> && std::is_integral_v<D>) {
    return static_cast<D>(std::clamp<std::int64_t>(value, std::numeric_limits<D>::min(), std::numeric_limits<D>::max()));
  } else if constexpr (std::is_integral_v<D>) {
    return saturate<D, kMode>(value);
  } else if constexpr (std::is_same_v<D, float> && std::is_same_v<S, float>) {
    return static_cast<float>(round_to_integer<kMode>(value));
  } else if constexpr (std::is_same_v<D, float>) {
    return static_cast<float>(static_cast<double>(value));
  } else if constexpr (kNearest && kExact) {
    return D(static_cast<float>(value));
  } else if constexpr (std::is_same_v<D, half>) {
    const double x = std::is_same_v<S, std::int32_t> ? static_cast<double>(value) * scale : static_cast<double>(value);
    const double r = round_to_format<kMode>(x, 10, -14);
    return half(std::fabs(r) > 65504 ? std::copysign(std::numeric_limits<double>::infinity(), r) : r);
  } else {
    return D(round_to_format<kMode>(value, 7, -126));
  }
}

using LoopFn = void (*)(std::uint8_t* d, const std::uint8_t* a, std::uint32_t n, double scale);
template <class D, class S, Round kMode>
void convert(std::uint8_t* d, const std::uint8_t* a, std::uint32_t n, double scale) {
  wide([=] {
    for (std::uint64_t k = 0; k < n; ++k)
      store<D>(d + k * sizeof(D), converted<D, S, kMode>(load<S>(a + k * sizeof(S)), scale));
  });
}

template <class D, class S>
constexpr bool rounds() {  // for some value
  if (std::is_integral_v<S>) return std::is_same_v<D, half> && sizeof(S) > 1;
  return !std::is_same_v<D, float> || std::is_same_v<S, float>;
}

// Null: the chip has no such pair.
LoopFn loop_of(DType src, DType dst, Round mode) {
  LoopFn found = nullptr;
  const auto pair = [&](auto s, auto d) {
    using S = decltype(s);
    using D = decltype(d);
    if (DTypeOf<S>::kValue != src || DTypeOf<D>::kValue != dst) return;
    if constexpr (rounds<D, S>()) {
      found = with_rounding(mode, [](auto m) -> LoopFn { return &convert<D, S, m.value>; });
    } else {
      found = &convert<D, S, Round::Rint>;
    }
  };
  const auto pairs = [&](auto s, auto... d) { (pair(s, d), ...); };
  const std::int8_t i8{};
  const std::uint8_t u8{};
  const std::int16_t i16{};
  const std::int32_t i32{};
  const std::int64_t i64{};
  const float f32{};
  const half f16{};
  const bfloat16_t bf16{};
  pairs(f16, f32, i32, i16, i8, u8);
  pairs(f32, f32, f16, bf16, i64, i32, i16);
  pairs(bf16, f32, i32);
  pairs(u8, f16);
  pairs(i8, f16);
  pairs(i16, f16, f32);
  pairs(i32, f32, i64, i16, f16);
  pairs(i64, i32, f32);
  return found;
}

}  // namespace

void vector_cast(const Lanes& lanes, const View& dst, const View& src, Stride dst_stride, Stride src_stride, Round mode,
                 Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_cast(lanes, dst, src, dst_stride, src_stride, mode, site); })
  Instruction i(Pipe::V, "Cast", site);
  i.take_int4();
  const bool half_and_int4 =
      (src.dtype == DType::I4 && dst.dtype == DType::F16) || (src.dtype == DType::F16 && dst.dtype == DType::I4);
  const bool packed = src.dtype == DType::I4 || dst.dtype == DType::I4;
  if (packed) check_cast_int4(i, lanes, dst, mode);
  const LoopFn loop = loop_of(src.dtype, dst.dtype, mode);
  if (!loop && !half_and_int4)
    i.refuse(Kind::Limit, format("Cast from %s to %s does not exist on this chip", name(src.dtype), name(dst.dtype)),
             "go by way of float");
  const bool scaled = src.dtype == DType::I32 && dst.dtype == DType::F16;
  if (scaled) require_deq_scale(i);
  const std::uint32_t to = size_bytes(dst.dtype), from = size_bytes(src.dtype), widest = std::max(to, from);
  const Operand operands[2] = {{&dst, dst_stride, true}, {&src, src_stride}};
  const auto& runs = make_runs(i, lanes, operands, 2);
  i.cost("Cast", repeats_for(lanes, widest));
  if (!i.issue()) return;
  if (packed) return cast_int4(i, dst, src, runs, mode);
  States ds(i, dst), ss(i, src);
  std::uint8_t* const d = i.bytes(dst);
  const std::uint8_t* const a = i.bytes(src);
  const double scale = scaled ? core().registers.deq_scale[0] : 1;
  const bool in_place =
      to > from && d < a + src.bytes && a < d + dst.bytes;  // widening over its own source: from the last element down
  for (std::size_t n = 0; n < runs.size(); ++n) {
    const Run& r = runs[in_place ? runs.size() - 1 - n : n];
    std::uint8_t* const to_run = d + r.offset[0];
    const std::uint8_t* const from_run = a + r.offset[1];
    const bool over = to_run < from_run + std::uint64_t{r.n} * from && from_run < to_run + std::uint64_t{r.n} * to;
    const bool clean = ss.clean(r.offset[1], std::uint64_t{r.n} * from);
    if (to > from && over) {
      for (std::uint64_t k = r.n; k-- > 0;) loop(to_run + k * to, from_run + k * from, 1, scale);
    } else {
      loop(to_run, from_run, r.n, scale);
    }
    if (clean) {
      ds.set(r.offset[0], std::uint64_t{r.n} * to, kDefined);
    } else {
      for (std::uint64_t k = 0; k < r.n; ++k) {
        const std::uint64_t e = in_place ? r.n - 1 - k : k;
        ds.set(r.offset[0] + e * to, to, ss.of(r.offset[1] + e * from, from));
      }
    }
  }
}

}  // namespace twin
