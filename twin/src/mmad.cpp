// SPDX-License-Identifier: Apache-2.0
// Mmad: C (m, n) = or += A (m, k) · B (k, n).
#include <algorithm>
#include <cmath>

#include "cube_common.hpp"
#include "gemm.hpp"
#include "wide.hpp"

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

// What the operands of a call amount to. A: (m / 16, kf, 16, c0), or in GEMV mode a vector; B: (kf, n / 16, 16, c0).
struct Shape {
  explicit Shape(const MmadCall& call)
      : type(call.a.dtype),
        integers(type == DType::I8 || type == DType::I4),
        gemv(call.m == 1),
        hf32(type == DType::F32 && core().cube.hf32),
        bits(size_bits(type)),
        c0(256 / bits),
        m(up(call.m, 16)),
        n(up(call.n, 16)),
        kf((call.k + c0 - 1) / c0),
        rows(gemv ? 1 : m),
        a_bytes(gemv ? std::uint64_t{up(call.k, c0)} * bits / 8 : std::uint64_t{m / 16} * kf * kFractalBytes),
        b_bytes(std::uint64_t{n / 16} * kf * kFractalBytes),
        c_bytes(std::uint64_t{m} * n * 4) {}
  std::uint64_t a_at(std::uint32_t r, std::uint32_t p) const {
    return gemv ? std::uint64_t{p} * bits / 8
                : ((std::uint64_t{r / 16} * kf + p / c0) * 16 + r % 16) * 32 + p % c0 * bits / 8;
  }
  std::uint64_t b_at(std::uint32_t p, std::uint32_t j) const {
    return ((std::uint64_t{p / c0} * (n / 16) + j / 16) * 16 + j % 16) * 32 + p % c0 * bits / 8;
  }
  std::uint64_t c_at(std::uint32_t r, std::uint32_t j) const { return (std::uint64_t{j / 16} * m + r) * 16 + j % 16; }

  DType type;
  bool integers, gemv, hf32;
  std::uint32_t bits, c0, m, n, kf, rows;  // rows of A that are read
  std::uint64_t a_bytes, b_bytes, c_bytes;
};

void check_call(Instruction& i, const MmadCall& call, const Shape& s) {
  if (!(call.a.space == Space::L0A && call.b.space == Space::L0B && call.c.space == Space::L0C))
    i.refuse(Kind::Limit,
             format("Mmad takes A from L0A, B from L0B and writes L0C, not %s, %s, %s", name(call.a.space),
                    name(call.b.space), name(call.c.space)),
             "use positions A2, B2 and CO1");
  if (!(s.type == call.b.dtype && (s.integers ? call.c.dtype == DType::I32 : call.c.dtype == DType::F32) &&
        (s.integers || s.type == DType::F16 || s.type == DType::BF16 || s.type == DType::F32)))
    i.refuse(Kind::Limit,
             format("Mmad of %s and %s into %s does not exist on this chip", name(s.type), name(call.b.dtype),
                    name(call.c.dtype)),
             "int8 or int4 into int32; half, bfloat16 or float into float");
  if (!(call.m <= 4095 && call.n <= 4095 && call.k <= 4095))
    i.refuse(Kind::Limit, format("Mmad: m %u, n %u, k %u, each at most 4095", call.m, call.n, call.k), "split it");
  i.require_aligned(call.c, 1024, "the destination");
  i.require_aligned(call.a, kFractalBytes, "A");
  i.require_aligned(call.b, kFractalBytes, "B");
}

// GEMV mode on an operand that was loaded for another: reports it.
bool reads_fractals_as_a_vector(Instruction& i, const MmadCall& call, const Shape& s) {
  if (!s.gemv || call.k <= s.c0) return false;
  const auto& fractal = core().memory[int(Space::L0A)].fractal;
  const std::uint64_t first = call.a.addr / 32;
  bool scattered = false;
  for (std::uint64_t f = 0; f < s.a_bytes / 32; ++f) scattered |= fractal[first + f] != 0;
  if (scattered) {
    i.complain(Kind::CubeLayout,
               "Mmad with m = 1 reads A as a plain vector (GEMV mode), but this A was loaded as fractals: each 32 bytes "
               "are followed by 15 other rows",
               "load the row contiguously (Nd2Nz with dstNzC0Stride = 1, or a plain DataCopy), or give m = 16");
  }
  return scattered;
}

// C before the sum: zero, a bias for each column, or what is there.
void begin_sum(Instruction& i, const MmadCall& call, const Shape& s) {
  float* const c = reinterpret_cast<float*>(i.bytes(call.c));
  States cs(i, call.c);
  if (call.from_zero && !call.has_bias) {
    std::memset(static_cast<void*>(c), 0, s.c_bytes);
    cs.set(0, s.c_bytes, kDefined);
  } else if (call.has_bias || call.from_bias) {
    States biases(i, call.bias);
    for (std::uint32_t j = 0; j < s.n; ++j) {
      for (std::uint32_t r = 0; r < s.m; ++r) {
        const std::uint64_t at = s.c_at(r, j);
        if (j < call.n) std::memcpy(&c[at], i.bytes(call.bias) + std::uint64_t{j} * 4, 4);
        cs.set(at * 4, 4, j < call.n ? biases.of(std::uint64_t{j} * 4, 4) : kDefined);
      }
    }
  }
}

void add_integers(Instruction& i, const MmadCall& call, const Shape& s) {
  static thread_local std::vector<std::int8_t> left, right;
  const auto value = [&](const std::uint8_t* at, std::uint32_t p) {
    return static_cast<std::int8_t>(s.bits == 4 ? int4_of(*at, p % 2) : load<std::int8_t>(at));
  };
  const std::uint8_t *const a = i.bytes(call.a), *const b = i.bytes(call.b);
  left.resize(std::size_t{s.rows} * call.k);
  right.resize(std::size_t{s.n} * call.k);
  for (std::uint32_t r = 0; r < s.rows; ++r) {
    for (std::uint32_t p = 0; p < call.k; ++p) left[std::size_t{r} * call.k + p] = value(a + s.a_at(r, p), p);
  }
  for (std::uint32_t j = 0; j < s.n; ++j) {
    for (std::uint32_t p = 0; p < call.k; ++p)
      right[(std::size_t{j / 16} * call.k + p) * 16 + j % 16] = value(b + s.b_at(p, j), p);
  }
  multiply_integers(reinterpret_cast<std::int32_t*>(i.bytes(call.c)), left.data(), right.data(), s.rows, s.m, s.n, call.k);
}

// The operands as gemm wants them: rows of A, and columns of B in blocks of sixteen. A row of a fractal is C0 elements.
template <class T, class Value>
void unpack(float* left, float* right, const std::uint8_t* a, const std::uint8_t* b, const Shape& shape, std::uint32_t k,
            Value value) {
  wide([=, s = shape] {
    for (std::uint32_t first = 0; first < k; first += s.c0) {
      const std::uint32_t n = std::min(s.c0, k - first);
      for (std::uint32_t r = 0; r < s.rows; ++r) {
        const std::uint8_t* const from = a + s.a_at(r, first);
        float* const to = left + std::size_t{r} * k + first;
        for (std::uint32_t p = 0; p < n; ++p) to[p] = value(load<T>(from + p * sizeof(T)));
      }
      for (std::uint32_t j = 0; j < s.n; j += 16) {
        constexpr std::uint32_t kColumn = kBlockBytes / sizeof(T);
        float square[16 * kColumn];
        const std::uint8_t* const from = b + s.b_at(first, j);
        for (std::uint32_t e = 0; e < 16 * kColumn; ++e) square[e] = value(load<T>(from + e * sizeof(T)));
        float* const to = right + (std::size_t{j / 16} * k + first) * 16;
        for (std::uint32_t p = 0; p < n; ++p) {
          for (std::uint32_t e = 0; e < 16; ++e) to[p * 16 + e] = square[e * kColumn + p];
        }
      }
    }
  });
}

void add_floats(Instruction& i, const MmadCall& call, const Shape& s) {
  static thread_local std::vector<float> left, right;
  const std::uint8_t *const a = i.bytes(call.a), *const b = i.bytes(call.b);
  left.resize(std::size_t{s.m} * call.k);
  right.resize(std::size_t{s.n} * call.k);
  std::fill(left.begin() + std::size_t{s.rows} * call.k, left.end(), 0.0f);
  const auto as_float = [](auto v) { return float(v); };
  if (s.type == DType::F16) {
    unpack<half>(left.data(), right.data(), a, b, s, call.k, as_float);
  } else if (s.type == DType::BF16) {
    unpack<bfloat16_t>(left.data(), right.data(), a, b, s, call.k, as_float);
  } else if (s.hf32) {
    const bool chop = core().cube.hf32_toward_zero;
    unpack<float>(left.data(), right.data(), a, b, s, call.k, [chop](float v) { return to_hf32(v, chop); });
  } else {
    unpack<float>(left.data(), right.data(), a, b, s, call.k, as_float);
  }
  gemm(reinterpret_cast<float*>(i.bytes(call.c)), left.data(), right.data(), s.m, s.n, call.k);
}

// An element of C is as good as its row of A and its column of B.
void spread_undefined(Instruction& i, const MmadCall& call, const Shape& s) {
  States as(i, call.a), bs(i, call.b), cs(i, call.c);
  if (as.clean(0, s.a_bytes) && bs.clean(0, s.b_bytes)) return;
  std::vector<std::uint8_t> rows(s.m, kDefined), columns(s.n, kDefined);
  for (std::uint32_t p = 0; p < call.k; ++p) {
    for (std::uint32_t r = 0; r < s.rows; ++r) rows[r] = meet(rows[r], as.of(s.a_at(r, p), size_bytes(s.type)));
    for (std::uint32_t j = 0; j < s.n; ++j) columns[j] = meet(columns[j], bs.of(s.b_at(p, j), size_bytes(s.type)));
  }
  for (std::uint32_t j = 0; j < s.n; ++j) {
    for (std::uint32_t r = 0; r < s.m; ++r) {
      const std::uint8_t state = meet(rows[r], columns[j]);
      if (state != kDefined) cs.set(s.c_at(r, j) * 4, 4, state);
    }
  }
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
  const Shape s(call);
  check_call(i, call, s);
  if (call.m == 0 || call.n == 0 || call.k == 0) return;
  i.read(call.a, 0, s.a_bytes);
  i.read(call.b, 0, s.b_bytes);
  if (!call.from_zero && !call.from_bias) i.read(call.c, 0, s.c_bytes);
  if (call.has_bias || (call.from_bias && !call.from_zero)) i.read(call.bias, 0, std::uint64_t{call.n} * 4);
  i.write(call.c, 0, s.c_bytes);
  if ((s.m / 16) * (s.n / 16) < 10) i.tag(kSmallMmad);
  // Of the 16 × 16 × k products a cycle. Of int4 twice as many as of int8, as its fractals hold: assumed.
  const std::uint32_t k_step = s.hf32 ? 8 : s.type == DType::F32 ? 4 : s.integers ? 256 / s.bits : 16;
  i.cost("Mmad", std::uint64_t{s.gemv ? 1 : s.m / 16} * (s.n / 16) * ((call.k + k_step - 1) / k_step));
  unit_flag_of_mmad(i, call, s.c_bytes);
  if (!i.issue()) return;
  const bool reported = reads_fractals_as_a_vector(i, call, s);
  begin_sum(i, call, s);
  if (s.integers) {
    add_integers(i, call, s);
  } else {
    add_floats(i, call, s);
  }
  if (!reported) spread_undefined(i, call, s);
}

}  // namespace twin
