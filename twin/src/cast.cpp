// SPDX-License-Identifier: Apache-2.0
// Cast, in every pair of types and rounding mode that the reference lists for the Atlas A2.
#include <cstring>

#include "cast_int4.hpp"
#include "rounding.hpp"

namespace twin {

void require_deq_scale(Instruction& i);  // fused.cpp

namespace {

double load_value(const std::uint8_t* p, DType dtype) {
  switch (dtype) {
    case DType::I8:
      return load<std::int8_t>(p);
    case DType::U8:
      return load<std::uint8_t>(p);
    case DType::I16:
      return load<std::int16_t>(p);
    case DType::I32:
      return load<std::int32_t>(p);
    case DType::I64:
      return static_cast<double>(load<std::int64_t>(p));
    case DType::F16:
      return load<half>(p);
    case DType::BF16:
      return load<bfloat16_t>(p);
    default:
      return load<float>(p);
  }
}

void store_value(std::uint8_t* p, DType dtype, double x, Round mode) {
  switch (dtype) {
    case DType::I8:
      return store(p, saturate<std::int8_t>(x, mode));
    case DType::U8:
      return store(p, saturate<std::uint8_t>(x, mode));
    case DType::I16:
      return store(p, saturate<std::int16_t>(x, mode));
    case DType::I32:
      return store(p, saturate<std::int32_t>(x, mode));
    case DType::I64:
      return store(p, saturate<std::int64_t>(x, mode));
    case DType::F16: {
      const double r = round_to_format(x, mode, 10, -14);
      return store(p, half(std::fabs(r) > 65504 ? std::copysign(std::numeric_limits<double>::infinity(), r) : r));
    }
    case DType::BF16:
      return store(p, bfloat16_t(round_to_format(x, mode, 7, -126)));
    default:
      return store(p, static_cast<float>(x));
  }
}

bool has(DType src, DType dst) {
  using D = DType;
  static constexpr std::pair<D, D> kPairs[] = {
      {D::F16, D::F32}, {D::F16, D::I32},  {D::F16, D::I16},  {D::F16, D::I8},  {D::F16, D::U8},
      {D::F32, D::F32}, {D::F32, D::F16},  {D::F32, D::BF16}, {D::F32, D::I64}, {D::F32, D::I32},
      {D::F32, D::I16}, {D::BF16, D::F32}, {D::BF16, D::I32}, {D::U8, D::F16},  {D::I8, D::F16},
      {D::I16, D::F16}, {D::I16, D::F32},  {D::I32, D::F32},  {D::I32, D::I64}, {D::I32, D::I16},
      {D::I32, D::F16}, {D::I64, D::I32},  {D::I64, D::F32},  {D::F16, D::I4},  {D::I4, D::F16}};
  for (const auto& [from, to] : kPairs) {
    if (from == src && to == dst) return true;
  }
  return false;
}

using LoopFn = void (*)(std::uint8_t*, const std::uint8_t*, std::uint32_t);
void f16_to_f32(std::uint8_t* dp, const std::uint8_t* ap, std::uint32_t n) {
  for (std::uint32_t k = n; k-- > 0;) store<float>(dp + k * 4, half_to_float(load<std::uint16_t>(ap + k * 2)));
}
void bf16_to_f32(std::uint8_t* dp, const std::uint8_t* ap, std::uint32_t n) {
  for (std::uint32_t k = n; k-- > 0;) store<float>(dp + k * 4, bfloat_to_float(load<std::uint16_t>(ap + k * 2)));
}
void f32_to_f16(std::uint8_t* dp, const std::uint8_t* ap, std::uint32_t n) {
  for (std::uint32_t k = 0; k < n; ++k) store<std::uint16_t>(dp + k * 2, float_to_half(load<float>(ap + k * 4)));
}
void f32_to_bf16(std::uint8_t* dp, const std::uint8_t* ap, std::uint32_t n) {
  for (std::uint32_t k = 0; k < n; ++k) store<std::uint16_t>(dp + k * 2, float_to_bfloat(load<float>(ap + k * 4)));
}

LoopFn fast(DType src, DType dst, Round mode) {
  if (src == DType::F16 && dst == DType::F32) return &f16_to_f32;
  if (src == DType::BF16 && dst == DType::F32) return &bf16_to_f32;
  const bool nearest = mode == Round::None || mode == Round::Rint;
  if (src == DType::F32 && dst == DType::F16 && nearest) return &f32_to_f16;
  if (src == DType::F32 && dst == DType::BF16 && nearest) return &f32_to_bf16;
  return nullptr;
}

}  // namespace

void vector_cast(const Lanes& lanes, const View& dst, const View& src, Stride dst_stride, Stride src_stride, Round mode,
                 Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_cast(lanes, dst, src, dst_stride, src_stride, mode, site); })
  Instruction i(Pipe::V, "Cast", site);
  i.take_int4();
  const bool packed = src.dtype == DType::I4 || dst.dtype == DType::I4;
  if (packed) check_cast_int4(i, lanes, dst, mode);
  if (!has(src.dtype, dst.dtype))
    i.refuse(Kind::Limit, format("Cast from %s to %s does not exist on this chip", name(src.dtype), name(dst.dtype)),
             "go by way of float");
  const bool scaled = src.dtype == DType::I32 && dst.dtype == DType::F16;
  if (scaled) require_deq_scale(i);
  const std::uint32_t to = size_bytes(dst.dtype), from = size_bytes(src.dtype), widest = std::max(to, from);
  const Operand operands[2] = {{&dst, dst_stride, true}, {&src, src_stride}};
  const auto& runs = make_runs(i, lanes, operands, 2);
  i.cost("Cast", lanes.form == Lanes::Count ? (std::uint64_t{lanes.count} * widest + kRepeatBytes - 1) / kRepeatBytes
                                            : lanes.repeats);
  if (!i.issue()) return;
  if (packed) return cast_int4(i, dst, src, runs, mode);
  States ds(i, dst), ss(i, src);
  std::uint8_t* const d = i.bytes(dst);
  const std::uint8_t* const a = i.bytes(src);
  const LoopFn loop = fast(src.dtype, dst.dtype, mode);
  const bool in_place =
      to > from && d < a + src.bytes && a < d + dst.bytes;  // widening over its own source: from the last element down
  for (std::size_t n = 0; n < runs.size(); ++n) {
    const Run& r = runs[in_place ? runs.size() - 1 - n : n];
    const std::uint64_t od = r.offset[0], oa = r.offset[1];
    const bool clean = ss.clean(oa, std::uint64_t{r.n} * from);
    if (loop) {
      loop(d + od, a + oa, r.n);
    } else {
      for (std::uint64_t k = 0; k < r.n; ++k) {
        const std::uint64_t e = in_place ? r.n - 1 - k : k;
        if (src.dtype == DType::I64 && dst.dtype == DType::I32) {
          const auto v = load<std::int64_t>(a + oa + e * 8);
          store<std::int32_t>(d + od + e * 4, static_cast<std::int32_t>(v < INT32_MIN   ? INT32_MIN
                                                                        : v > INT32_MAX ? INT32_MAX
                                                                                        : v));
        } else if (src.dtype == DType::F32 && dst.dtype == DType::F32) {
          store<float>(d + od + e * 4, static_cast<float>(round_to_integer(load<float>(a + oa + e * 4), mode)));
        } else {
          const double x = load_value(a + oa + e * from, src.dtype);
          store_value(d + od + e * to, dst.dtype, scaled ? x * core().registers.deq_scale[0] : x, mode);
        }
      }
    }
    if (clean) {
      ds.set(od, std::uint64_t{r.n} * to, kDefined);
    } else {
      for (std::uint64_t k = 0; k < r.n; ++k) {
        const std::uint64_t e = in_place ? r.n - 1 - k : k;
        ds.set(od + e * to, to, ss.of(oa + e * from, from));
      }
    }
  }
}

}  // namespace twin
