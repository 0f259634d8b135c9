// SPDX-License-Identifier: Apache-2.0
// Vector instructions that compute and convert, and the dequantising ones with their register.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lanes.hpp"
#include "twin/calls_vector.hpp"

namespace twin {
namespace {

// To the nearest integer, ties to even, kept inside the type.
void store_byte(std::uint8_t* p, float x, bool is_signed) {
  const float r = std::isnan(x) ? 0.0f : std::nearbyint(x);
  if (is_signed) {
    store(p, static_cast<std::int8_t>(std::min(std::max(r, -128.0f), 127.0f)));
  } else {
    store(p, static_cast<std::uint8_t>(std::min(std::max(r, 0.0f), 255.0f)));
  }
}

float relu(float x) { return x > 0 ? x : 0.0f; }
float as_half(float x) { return half_to_float(float_to_half(x)); }

bool has(Fused op, DType src, DType dst) {
  using D = DType;
  switch (op) {
    case Fused::MulCast:
      return src == D::F16 && (dst == D::I8 || dst == D::U8);
    case Fused::AddDeqRelu:
      return src == D::I32 && dst == D::F16;
    default:
      return (src == D::F16 && dst == D::I8) || (src == D::F32 && dst == D::F16) || (src == D::I16 && dst == D::I8);
  }
}

void compute(Fused op, std::uint8_t* d, const std::uint8_t* a, const std::uint8_t* b, DType src, DType dst) {
  if (op == Fused::AddDeqRelu) {
    const auto sum = static_cast<std::int64_t>(load<std::int32_t>(a)) + load<std::int32_t>(b);
    return store(d, float_to_half(relu(static_cast<float>(sum) * core().registers.deq_scale[0])));
  }
  if (op == Fused::MulCast)
    return store_byte(d, as_half(static_cast<float>(load<half>(a)) * static_cast<float>(load<half>(b))), dst == DType::I8);
  const bool add = op == Fused::AddReluCast;
  if (src == DType::I16) {
    const int x = load<std::int16_t>(a), y = load<std::int16_t>(b);
    return store_byte(d, relu(static_cast<float>(add ? x + y : x - y)), true);
  }
  if (src == DType::F32) {
    const float x = load<float>(a), y = load<float>(b);
    return store(d, float_to_half(relu(add ? x + y : x - y)));
  }
  const float x = load<half>(a), y = load<half>(b);
  store_byte(d, as_half(relu(add ? x + y : x - y)), true);
}

const char* const kNames[] = {"AddReluCast", "SubReluCast", "MulCast", "AddDeqRelu"};

}  // namespace

void require_deq_scale(Instruction& i) {
  if (core().registers.deq_given) return;
  i.complain(Kind::Uninitialised, format("%s uses the scale of SetDeqScale, which nothing has set", i.name()),
             "SetDeqScale(half) before it");
}

void vector_fused(const FusedCall& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_fused(call, site); })
  Instruction i(Pipe::V, kNames[int(call.op)], site);
  const std::uint32_t from = size_bytes(call.src0.dtype), to = size_bytes(call.dst.dtype);
  if (!has(call.op, call.src0.dtype, call.dst.dtype))
    i.refuse(Kind::Limit,
             format("%s from %s to %s does not exist on this chip", i.name(), name(call.src0.dtype), name(call.dst.dtype)),
             "compute, then Cast");
  if (call.op == Fused::AddDeqRelu) require_deq_scale(i);
  const Operand operands[3] = {
      {&call.dst, call.dst_stride, true}, {&call.src0, call.src0_stride}, {&call.src1, call.src1_stride}};
  const auto& runs = make_runs(i, call.lanes, operands, 3);
  const std::uint64_t repeats = call.lanes.form == Lanes::Count
                                    ? (std::uint64_t{call.lanes.count} * from + kRepeatBytes - 1) / kRepeatBytes
                                    : call.lanes.repeats;
  i.cost("TwoVectors", repeats, call.src0.dtype);
  if (!i.issue()) return;
  States ds(i, call.dst), as(i, call.src0), bs(i, call.src1);
  for (const Run& r : runs) {
    for (std::uint64_t k = 0; k < r.n; ++k) {
      const std::uint64_t od = r.offset[0] + k * to, oa = r.offset[1] + k * from, ob = r.offset[2] + k * from;
      compute(call.op, i.bytes(call.dst) + od, i.bytes(call.src0) + oa, i.bytes(call.src1) + ob, call.src0.dtype,
              call.dst.dtype);
      ds.set(od, to, meet(as.of(oa, from), bs.of(ob, from)));
    }
  }
}

void set_deq_scale(const float* scale, const std::int16_t* offset, const bool* is_signed, bool each, Site site) {
  if (core().stands(Pipe::V)) {
    const int n = each ? 16 : 1;
    return core().hold_back(Pipe::V,
                            [s = std::vector<float>(scale, scale + n), o = std::vector<std::int16_t>(offset, offset + n),
                             g = std::vector<char>(is_signed, is_signed + n), each, site] {
                              bool is[16];
                              std::copy(g.begin(), g.end(), is);
                              set_deq_scale(s.data(), o.data(), is, each, site);
                            });
  }
  VectorRegisters& r = core().registers;
  r.deq_given = true;
  for (int k = 0; k < 16; ++k) {
    const int from = each ? k : 0;
    r.deq_scale[k] = scale[from];
    r.deq_offset[k] = static_cast<std::int16_t>((offset[from] & 0x1ff) - (offset[from] & 0x100 ? 512 : 0));  // nine bits
    r.deq_signed[k] = is_signed[from];
  }
}

// Sixteen int16 of a block become sixteen bytes in one half of a block of the destination.
void vector_dequantise(const Lanes& lanes, const View& dst, const View& src, Stride dst_stride, Stride src_stride,
                       bool each_lane, bool lower_half, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_dequantise(lanes, dst, src, dst_stride, src_stride, each_lane, lower_half, site); })
  Instruction i(Pipe::V, "CastDeq", site);
  if (!(src.dtype == DType::I16 && (dst.dtype == DType::I8 || dst.dtype == DType::U8)))
    i.refuse(Kind::Limit, format("CastDeq from %s to %s does not exist on this chip", name(src.dtype), name(dst.dtype)),
             "int16 to int8 or uint8, int32 to half");
  require_deq_scale(i);
  i.require_aligned(dst, kBlockBytes, "the destination");
  const Operand operand{&src, src_stride};
  const auto& runs = make_runs(i, lanes, &operand, 1);
  const VectorRegisters& reg = core().registers;
  const auto place = [&](std::uint64_t lane) {
    const std::uint64_t block =
        lanes.form == Lanes::Count ? lane / 16 : lane / 128 * dst_stride.repeat + lane % 128 / 16 * dst_stride.block;
    return block * kBlockBytes + (lower_half ? 0 : 16) + lane % 16;
  };
  std::uint64_t total = 0;
  for (const Run& r : runs) {
    for (std::uint64_t k = 0; k < r.n; ++k) {
      i.write(dst, place(r.lane + k), 1);
      const int at = each_lane ? static_cast<int>((r.lane + k) % 16) : 0;
      if (reg.deq_signed[at] != (dst.dtype == DType::I8))
        i.refuse(Kind::Limit, format("CastDeq into %s with signMode %d", name(dst.dtype), reg.deq_signed[at]),
                 "signMode true gives int8, false uint8");
    }
    total += r.n;
  }
  i.cost("Cast", (total + 127) / 128, DType::F16);
  if (!i.issue()) return;
  States ds(i, dst), ss(i, src);
  for (const Run& r : runs) {
    for (std::uint64_t k = 0; k < r.n; ++k) {
      const std::uint64_t from = r.offset[0] + k * 2, to = place(r.lane + k);
      const int at = each_lane ? static_cast<int>((r.lane + k) % 16) : 0;
      const float x = static_cast<float>(load<std::int16_t>(i.bytes(src) + from)) * reg.deq_scale[at];
      store_byte(i.bytes(dst) + to, std::nearbyint(x) + reg.deq_offset[at], reg.deq_signed[at]);
      ds.set(to, 1, ss.of(from, 2));
    }
  }
}

}  // namespace twin
