// SPDX-License-Identifier: Apache-2.0
// Mmad: C (m, n) = or += A (m, k) · B (k, n).
#include <cmath>

#include "cube_common.hpp"
#include "gemm.hpp"

namespace twin {
namespace {

// c: (n / 16, m, 16); left: (rows, k); right: (n / 16, k, 16).
void multiply_integers(std::int32_t* c, const std::int8_t* left, const std::int8_t* right, std::uint32_t rows,
                       std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  for (std::uint32_t j = 0; j < n / 16; ++j) {
    for (std::uint32_t r = 0; r < rows; ++r) {
      std::uint32_t sums[16] = {};
      for (std::uint32_t p = 0; p < k; ++p) {
        const std::int32_t l = left[std::size_t{r} * k + p];
        const std::int8_t* const row = right + (std::size_t{j} * k + p) * 16;
        for (int e = 0; e < 16; ++e) sums[e] += static_cast<std::uint32_t>(l * row[e]);
      }
      std::int32_t* const out = c + (std::size_t{j} * m + r) * 16;
      for (int e = 0; e < 16; ++e) out[e] = static_cast<std::int32_t>(static_cast<std::uint32_t>(out[e]) + sums[e]);
    }
  }
}

// A float with 11 bits of mantissa: to nearest, ties to even, or toward zero.
float to_hf32(float v, bool toward_zero) {
  std::uint32_t bits = float_to_bits(v);
  if ((bits & 0x7f800000u) == 0x7f800000u) return v;
  if (!toward_zero) bits += 0x7ffu + (bits >> 12 & 1u);
  return bits_to_float(bits & ~0xfffu);
}

}  // namespace

void set_hf32(bool on) {
  TWIN_HOLD_BACK(Pipe::M, { set_hf32(on); })
  core().cube.hf32 = on;
}
void set_hf32_rounding(bool toward_zero) {
  TWIN_HOLD_BACK(Pipe::M, { set_hf32_rounding(toward_zero); })
  core().cube.hf32_toward_zero = toward_zero;
}

void cube_mmad(const MmadCall& call, Site site) {
  if (call.unit_flag != 0) core().follow(Pipe::FIX, Pipe::M, site);
  TWIN_HOLD_BACK(Pipe::M, { cube_mmad(call, site); })
  Instruction i(Pipe::M, "Mmad", site);
  i.take_int4();
  const DType type = call.a.dtype;
  const bool integers = type == DType::I8 || type == DType::I4;
  const std::uint32_t bits = size_bits(type), c0 = 256 / bits;
  if (!(call.a.space == Space::L0A && call.b.space == Space::L0B && call.c.space == Space::L0C))
    i.refuse(Kind::Limit,
             format("Mmad takes A from L0A, B from L0B and writes L0C, not %s, %s, %s", name(call.a.space),
                    name(call.b.space), name(call.c.space)),
             "use positions A2, B2 and CO1");
  if (!(type == call.b.dtype && (integers ? call.c.dtype == DType::I32 : call.c.dtype == DType::F32) &&
        (integers || type == DType::F16 || type == DType::BF16 || type == DType::F32)))
    i.refuse(
        Kind::Limit,
        format("Mmad of %s and %s into %s does not exist on this chip", name(type), name(call.b.dtype), name(call.c.dtype)),
        "int8 or int4 into int32; half, bfloat16 or float into float");
  if (!(call.m <= 4095 && call.n <= 4095 && call.k <= 4095))
    i.refuse(Kind::Limit, format("Mmad: m %u, n %u, k %u, each at most 4095", call.m, call.n, call.k), "split it");
  i.require_aligned(call.c, 1024, "the destination");
  i.require_aligned(call.a, kFractalBytes, "A");
  i.require_aligned(call.b, kFractalBytes, "B");
  if (call.m == 0 || call.n == 0 || call.k == 0) return;
  const bool gemv = call.m == 1;
  const std::uint32_t m = up(call.m, 16), n = up(call.n, 16), kf = (call.k + c0 - 1) / c0;
  const std::uint64_t a_bytes = gemv ? std::uint64_t{up(call.k, c0)} * bits / 8 : std::uint64_t{m / 16} * kf * kFractalBytes;
  const std::uint64_t b_bytes = std::uint64_t{n / 16} * kf * kFractalBytes;
  const std::uint64_t c_bytes = std::uint64_t{m} * n * 4;
  i.read(call.a, 0, a_bytes);
  i.read(call.b, 0, b_bytes);
  if (!call.from_zero && !call.from_bias) i.read(call.c, 0, c_bytes);
  if (call.has_bias || (call.from_bias && !call.from_zero)) i.read(call.bias, 0, std::uint64_t{call.n} * 4);
  i.write(call.c, 0, c_bytes);
  if ((m / 16) * (n / 16) < 10) i.tag(kSmallMmad);
  const bool hf32 = type == DType::F32 && core().cube.hf32;
  // Of the 16 × 16 × k products a cycle. Of int4 twice as many as of int8, as its fractals hold: assumed.
  const std::uint32_t k_step = hf32 ? 8 : type == DType::F32 ? 4 : integers ? 256 / bits : 16;
  i.cost("Mmad", std::uint64_t{gemv ? 1 : m / 16} * (n / 16) * ((call.k + k_step - 1) / k_step));
  unit_flag_of_mmad(i, call, c_bytes);
  if (!i.issue()) return;
  const std::uint8_t* const a = i.bytes(call.a);
  const std::uint8_t* const b = i.bytes(call.b);
  float* const c = reinterpret_cast<float*>(i.bytes(call.c));
  States as(i, call.a), bs(i, call.b), cs(i, call.c);
  bool scattered = false;
  if (gemv && call.k > c0) {
    const auto& fractal = core().memory[int(Space::L0A)].fractal;
    const std::uint64_t first = call.a.addr / 32;
    for (std::uint64_t f = 0; f < a_bytes / 32; ++f) scattered |= fractal[first + f] != 0;
    if (scattered) {
      i.complain(Kind::CubeLayout,
                 "Mmad with m = 1 reads A as a plain vector (GEMV mode), but this A was loaded as fractals: each 32 bytes "
                 "are followed by 15 other rows",
                 "load the row contiguously (Nd2Nz with dstNzC0Stride = 1, or a plain DataCopy), or give m = 16");
    }
  }
  if (call.from_zero && !call.has_bias) {
    std::memset(static_cast<void*>(c), 0, c_bytes);
    cs.set(0, c_bytes, kDefined);
  } else if (call.has_bias || call.from_bias) {
    States biases(i, call.bias);
    for (std::uint32_t j = 0; j < n; ++j) {
      for (std::uint32_t r = 0; r < m; ++r) {
        const std::uint64_t at = (std::uint64_t{j / 16} * m + r) * 16 + j % 16;
        if (j < call.n) std::memcpy(&c[at], i.bytes(call.bias) + std::uint64_t{j} * 4, 4);
        cs.set(at * 4, 4, j < call.n ? biases.of(std::uint64_t{j} * 4, 4) : kDefined);
      }
    }
  }
  static thread_local std::vector<float> left, right;
  static thread_local std::vector<std::uint8_t> rows, columns;
  const bool clean = scattered || (as.clean(0, a_bytes) && bs.clean(0, b_bytes));  // scattered: reported, once
  rows.assign(m, kDefined);
  columns.assign(n, kDefined);
  const auto a_at = [&](std::uint32_t r, std::uint32_t p) {
    return gemv ? std::uint64_t{p} * bits / 8
                : ((std::uint64_t{r / 16} * kf + p / c0) * 16 + r % 16) * 32 + p % c0 * bits / 8;
  };
  const auto b_at = [&](std::uint32_t p, std::uint32_t j) {
    return ((std::uint64_t{p / c0} * (n / 16) + j / 16) * 16 + j % 16) * 32 + p % c0 * bits / 8;
  };
  if (!clean) {
    for (std::uint32_t p = 0; p < call.k; ++p) {
      for (std::uint32_t r = 0; r < (gemv ? 1 : m); ++r) rows[r] = meet(rows[r], as.of(a_at(r, p), size_bytes(type)));
      for (std::uint32_t j = 0; j < n; ++j) columns[j] = meet(columns[j], bs.of(b_at(p, j), size_bytes(type)));
    }
  }
  if (integers) {
    const std::uint32_t count = gemv ? 1 : m;
    const auto value = [&](const std::uint8_t* at, std::uint32_t p) {
      return static_cast<std::int8_t>(bits == 4 ? int4_of(*at, p % 2) : load<std::int8_t>(at));
    };
    static thread_local std::vector<std::int8_t> whole_left, whole_right;
    whole_left.resize(std::size_t{count} * call.k);
    whole_right.resize(std::size_t{n} * call.k);
    for (std::uint32_t r = 0; r < count; ++r) {
      for (std::uint32_t p = 0; p < call.k; ++p) whole_left[std::size_t{r} * call.k + p] = value(a + a_at(r, p), p);
    }
    for (std::uint32_t j = 0; j < n; ++j) {
      for (std::uint32_t p = 0; p < call.k; ++p)
        whole_right[(std::size_t{j / 16} * call.k + p) * 16 + j % 16] = value(b + b_at(p, j), p);
    }
    multiply_integers(reinterpret_cast<std::int32_t*>(c), whole_left.data(), whole_right.data(), count, m, n, call.k);
  } else {
    const bool chop = core().cube.hf32_toward_zero;
    const auto value = [&](const std::uint8_t* at) {
      return hf32 ? to_hf32(load_float(at, type), chop) : load_float(at, type);
    };
    left.assign(std::size_t{m} * call.k, 0);
    right.resize(std::size_t{n} * call.k);
    for (std::uint32_t r = 0; r < (gemv ? 1 : m); ++r) {
      for (std::uint32_t p = 0; p < call.k; ++p) left[std::size_t{r} * call.k + p] = value(a + a_at(r, p));
    }
    for (std::uint32_t j = 0; j < n; ++j) {
      for (std::uint32_t p = 0; p < call.k; ++p)
        right[(std::size_t{j / 16} * call.k + p) * 16 + j % 16] = value(b + b_at(p, j));
    }
    gemm(c, left.data(), right.data(), m, n, call.k);
  }
  if (clean) return;
  for (std::uint32_t j = 0; j < n; ++j) {
    for (std::uint32_t r = 0; r < m; ++r) {
      const std::uint8_t state = meet(rows[r], columns[j]);
      if (state != kDefined) cs.set(((std::uint64_t{j / 16} * m + r) * 16 + j % 16) * 4, 4, state);
    }
  }
}

}  // namespace twin
