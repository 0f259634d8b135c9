// SPDX-License-Identifier: Apache-2.0
// Vector instructions that compute and convert, and the dequantising ones with their register.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "lanes.hpp"
#include "twin/calls_vector.hpp"
#include "wide.hpp"

namespace twin {
namespace {

// To the nearest integer, ties to even, kept inside the type; NaN becomes 0.
template <class T>
T to_byte(float x) {
  constexpr float kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  const float r = x != x ? 0.0f : std::nearbyint(x);
  return static_cast<T>(static_cast<std::int32_t>(r < kLow ? kLow : r > kHigh ? kHigh : r));
}

float relu(float x) { return x > 0 ? x : 0.0f; }
float as_half(float x) { return half_to_float(float_to_half(x)); }

template <Fused kOp, class D, class S>
D lane(S a, S b, [[maybe_unused]] float scale) {
  if constexpr (kOp == Fused::AddDeqRelu) {  // the sum is exact in double, and rounded once
    return D(relu(static_cast<float>(static_cast<double>(a) + static_cast<double>(b)) * scale));
  } else if constexpr (kOp == Fused::MulCast) {
    return to_byte<D>(as_half(static_cast<float>(a) * static_cast<float>(b)));
  } else {
    const float x = a, y = b, result = relu(kOp == Fused::AddReluCast ? x + y : x - y);
    if constexpr (std::is_same_v<D, half>) return D(result);
    return to_byte<std::int8_t>(std::is_same_v<S, half> ? as_half(result) : result);
  }
}

using LoopFn = void (*)(std::uint8_t* d, const std::uint8_t* a, const std::uint8_t* b, std::uint32_t n, float scale);
template <Fused kOp, class D, class S>
void run_lanes(std::uint8_t* d, const std::uint8_t* a, const std::uint8_t* b, std::uint32_t n, float scale) {
  wide([=] {
    for (std::uint64_t k = 0; k < n; ++k) {
      const S x = load<S>(a + k * sizeof(S)), y = load<S>(b + k * sizeof(S));
      store<D>(d + k * sizeof(D), lane<kOp, D, S>(x, y, scale));
    }
  });
}

// Null: the chip has no such instruction.
LoopFn loop_of(Fused op, DType src, DType dst) {
  struct Form {
    Fused op;
    DType src, dst;
    LoopFn loop;
  };
  using F = Fused;
  using T = DType;
  static constexpr Form kForms[] = {{F::MulCast, T::F16, T::I8, &run_lanes<F::MulCast, std::int8_t, half>},
                                    {F::MulCast, T::F16, T::U8, &run_lanes<F::MulCast, std::uint8_t, half>},
                                    {F::AddDeqRelu, T::I32, T::F16, &run_lanes<F::AddDeqRelu, half, std::int32_t>},
                                    {F::AddReluCast, T::F16, T::I8, &run_lanes<F::AddReluCast, std::int8_t, half>},
                                    {F::AddReluCast, T::F32, T::F16, &run_lanes<F::AddReluCast, half, float>},
                                    {F::AddReluCast, T::I16, T::I8, &run_lanes<F::AddReluCast, std::int8_t, std::int16_t>},
                                    {F::SubReluCast, T::F16, T::I8, &run_lanes<F::SubReluCast, std::int8_t, half>},
                                    {F::SubReluCast, T::F32, T::F16, &run_lanes<F::SubReluCast, half, float>},
                                    {F::SubReluCast, T::I16, T::I8, &run_lanes<F::SubReluCast, std::int8_t, std::int16_t>}};
  for (const Form& form : kForms) {
    if (form.op == op && form.src == src && form.dst == dst) return form.loop;
  }
  return nullptr;
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
  const LoopFn loop = loop_of(call.op, call.src0.dtype, call.dst.dtype);
  if (!loop)
    i.refuse(Kind::Limit,
             format("%s from %s to %s does not exist on this chip", i.name(), name(call.src0.dtype), name(call.dst.dtype)),
             "compute, then Cast");
  if (call.op == Fused::AddDeqRelu) require_deq_scale(i);
  const Operand operands[3] = {
      {&call.dst, call.dst_stride, true}, {&call.src0, call.src0_stride}, {&call.src1, call.src1_stride}};
  const auto& runs = make_runs(i, call.lanes, operands, 3);
  i.cost("TwoVectors", repeats_for(call.lanes, from), call.src0.dtype);
  if (!i.issue()) return;
  States ds(i, call.dst), as(i, call.src0), bs(i, call.src1);
  for (const Run& r : runs) {
    loop(i.bytes(call.dst) + r.offset[0], i.bytes(call.src0) + r.offset[1], i.bytes(call.src1) + r.offset[2], r.n,
         core().registers.deq_scale[0]);
    meet_lanes({ds, r.offset[0], to}, r.n, Elements{as, r.offset[1], from}, Elements{bs, r.offset[2], from});
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

namespace {

struct DequantisedPiece {  // inside a block of the destination
  std::uint64_t from, to;  // bytes
  std::uint32_t lane, n;   // the first, of sixteen
};

template <class Byte>
void dequantise(std::uint8_t* d, const std::uint8_t* a, const std::vector<DequantisedPiece>& pieces, const float* scale,
                const float* offset) {
  wide([=, first = pieces.data(), n = pieces.size()] {
    for (const DequantisedPiece* p = first; p < first + n; ++p) {
      float values[16];
      for (std::uint32_t k = 0; k < p->n; ++k) values[k] = static_cast<float>(load<std::int16_t>(a + p->from + k * 2));
      for (std::uint32_t k = p->n; k < 16; ++k) values[k] = 0;
      float scales[16], offsets[16];
      std::memcpy(scales, scale + p->lane, sizeof scales);
      std::memcpy(offsets, offset + p->lane, sizeof offsets);
      Byte bytes[16];
      for (std::uint32_t k = 0; k < 16; ++k) bytes[k] = to_byte<Byte>(std::nearbyint(values[k] * scales[k]) + offsets[k]);
      std::memcpy(d + p->to, bytes, p->n);
    }
  });
}

}  // namespace

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
  static thread_local std::vector<DequantisedPiece> pieces;
  pieces.clear();
  std::uint64_t total = 0, end = 0;
  std::uint32_t lanes_at_work = 0;  // a bit each, of sixteen
  for (const Run& r : runs) {
    for (std::uint32_t k = 0; k < r.n;) {
      const auto lane = static_cast<std::uint32_t>((r.lane + k) % 16), n = std::min(16 - lane, r.n - k);
      pieces.push_back({r.offset[0] + std::uint64_t{k} * 2, place(r.lane + k), lane, n});
      end = std::max(end, pieces.back().to + n);
      lanes_at_work |= ((1u << n) - 1) << lane;
      total += n;
      k += n;
    }
  }
  {
    Accesses written(i, dst, true, end);
    for (const DequantisedPiece& p : pieces) written.add_each(p.to, p.n, 1);
  }
  for (int at = 0; at < 16; ++at) {
    const bool is_signed = reg.deq_signed[each_lane ? at : 0];
    if (lanes_at_work >> at & 1 && is_signed != (dst.dtype == DType::I8)) {
      i.refuse(Kind::Limit, format("CastDeq into %s with signMode %d", name(dst.dtype), is_signed),
               "signMode true gives int8, false uint8");
      break;
    }
  }
  i.cost("Cast", (total + 127) / 128, DType::F16);
  if (!i.issue()) return;
  float scale[32] = {}, offset[32] = {};  // sixteen from any lane on can be loaded
  for (int k = 0; k < 16; ++k) {
    scale[k] = reg.deq_scale[each_lane ? k : 0];
    offset[k] = reg.deq_offset[each_lane ? k : 0];
  }
  const std::uint8_t* const a = i.bytes(src);
  std::uint8_t* const d = i.bytes(dst);
  dst.dtype == DType::I8 ? dequantise<std::int8_t>(d, a, pieces, scale, offset)
                         : dequantise<std::uint8_t>(d, a, pieces, scale, offset);
  States ds(i, dst), ss(i, src);
  const Span& read = runs.span[0];
  const bool clean = read.begin >= read.end || ss.clean(read.begin, read.end - read.begin);
  for (const DequantisedPiece& p : pieces) {
    clean ? ds.set(p.to, p.n, kDefined) : meet_lanes({ds, p.to, 1}, p.n, Elements{ss, p.from, 2});
  }
}

}  // namespace twin
