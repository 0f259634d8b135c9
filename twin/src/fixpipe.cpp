// SPDX-License-Identifier: Apache-2.0
// Fixpipe: out of L0C, converted, to GM or L1. A value is scaled, cut off at zero (relu), rounded and offset, in this order.
#include <algorithm>
#include <cmath>

#include "cube_common.hpp"
#include "wide.hpp"

namespace twin {

void store_row(std::uint8_t* d, const std::uint8_t* a, std::uint64_t bytes);

FixpipeRegisters& fixpipe_registers() { return core().cube.fixpipe; }

namespace {

bool is_byte(DType t) { return t == DType::I8 || t == DType::U8; }

bool fits(Quant quant, DType from, DType to) {
  switch (quant) {
    case Quant::None:
      return from == to && (from == DType::F32 || from == DType::I32);
    case Quant::F16:
      return from == DType::F32 && to == DType::F16;
    case Quant::BF16:
      return from == DType::F32 && to == DType::BF16;
    case Quant::Dequant:
      return from == DType::I32 && to == DType::F16;
    case Quant::ToByte:
      return from == DType::F32 && is_byte(to);
    default:
      return from == DType::I32 && is_byte(to);
  }
}

struct Scale {
  float factor;
  int offset;
  explicit Scale(std::uint64_t bits)
      : factor(bits_to_float(static_cast<std::uint32_t>(bits) & 0xffffe000u)),
        offset(static_cast<int>(bits >> 37 & 0x1ff) - static_cast<int>(bits >> 37 & 0x100) * 2) {}
};

// One value; writes an element of the destination.
void convert(const FixpipeCall& call, const Scale& scale, const std::uint8_t* from, std::uint8_t* to) {
  if (call.quant == Quant::None && call.src.dtype == DType::I32) {
    std::int32_t v;
    std::memcpy(&v, from, 4);
    if (call.relu && v < 0) v = 0;
    std::memcpy(to, &v, 4);
    return;
  }
  float v;
  if (call.src.dtype == DType::I32) {
    std::int32_t whole;
    std::memcpy(&whole, from, 4);
    v = static_cast<float>(whole);
  } else {
    std::memcpy(&v, from, 4);
  }
  if (call.quant >= Quant::Dequant) v *= scale.factor;
  if (call.relu && v < 0) v = 0;
  if (is_byte(call.dst.dtype)) {
    const bool is_signed = call.dst.dtype == DType::I8;
    const float whole = std::isnan(v) ? 0.0f : std::nearbyint(v) + static_cast<float>(scale.offset);
    const int byte = static_cast<int>(std::min(std::max(whole, is_signed ? -128.0f : 0.0f), is_signed ? 127.0f : 255.0f));
    *to = static_cast<std::uint8_t>(byte);
  } else if (call.dst.dtype == DType::F32) {
    std::memcpy(to, &v, 4);
  } else {
    const std::uint16_t bits = call.dst.dtype == DType::F16 ? float_to_half(v) : float_to_bfloat(v);
    std::memcpy(to, &bits, 2);
  }
}

// Floats without a scale, n of a row: blocks of sixteen, from one to the next `step` bytes.
template <class D>
void convert_row(const std::uint8_t* from, std::uint64_t step, std::uint8_t* to, std::uint64_t n, bool relu) {
  wide([=] {
    for (std::uint64_t first = 0; first < n; first += 16) {
      const std::uint8_t* const block = from + first / 16 * step;
      for (std::uint64_t e = 0; e < std::min<std::uint64_t>(16, n - first); ++e) {
        const float v = load<float>(block + e * 4);
        store(to + (first + e) * sizeof(D), D(relu && v < 0 ? 0.0f : v));
      }
    }
  });
}
using ConvertRow = void (*)(const std::uint8_t* from, std::uint64_t step, std::uint8_t* to, std::uint64_t n, bool relu);
// Null: value by value.
ConvertRow row_converter(const FixpipeCall& call) {
  if (call.src.dtype != DType::F32 || call.quant >= Quant::Dequant || call.quant == Quant::ToByte) return nullptr;
  if (call.dst.dtype == DType::F32) return &convert_row<float>;
  if (call.dst.dtype == DType::F16) return &convert_row<half>;
  return call.dst.dtype == DType::BF16 ? &convert_row<bfloat16_t> : nullptr;
}

// Where a tile lies in L0C and where it goes.
struct Places {
  const FixpipeCall& call;
  std::uint64_t size;     // of an element of the destination
  std::uint64_t columns;  // that lie together in the destination, of each row of a block of 16 in L0C
  explicit Places(const FixpipeCall& c)
      : call(c), size(size_bytes(c.dst.dtype)), columns(!c.row_major && c.channel_split ? 8 : 16) {}
  std::uint64_t pieces() const { return (call.n + columns - 1) / columns; }
  std::uint64_t width(std::uint64_t piece) const {
    return call.row_major ? std::min<std::uint64_t>(columns, call.n - piece * columns) : columns;
  }
  std::uint64_t in(std::uint64_t q, std::uint64_t r, std::uint64_t piece) const {
    const std::uint64_t column = piece * columns;
    return q * call.src_matrix_stride * 1024 + (column / 16 * call.src_stride + r) * 64 + column % 16 * 4;
  }
  std::uint64_t out(std::uint64_t q, std::uint64_t r, std::uint64_t piece) const {
    if (call.row_major) return (q * call.dst_matrix_stride + r * call.dst_stride + piece * 16) * size;
    // Nz: a row of a fractal is 32 bytes, or 64 for whole fractals of float and int32.
    const std::uint64_t row = size == 4 && columns == 16 ? 64 : 32, a_row = row / (columns * size);
    return piece / a_row * call.dst_stride * 32 + r * row + piece % a_row * columns * size;
  }
};

void check(Instruction& i, const FixpipeCall& call) {
  const bool to_gm = call.dst.space == Space::GM;
  const DType from = call.src.dtype, to = call.dst.dtype;
  if (!(call.src.space == Space::L0C && (to_gm || call.dst.space == Space::L1)))
    i.refuse(Kind::Limit,
             format("%s from %s to %s: on this chip it goes from L0C to GM or L1", i.name(), name(call.src.space),
                    name(call.dst.space)),
             "a vector core reads it from GM");
  const std::uint32_t whole = call.channel_split ? 8 : 16;
  if (!(call.row_major || call.n % whole == 0))
    i.refuse(Kind::Alignment, format("%s: nSize %u is not a multiple of %u", i.name(), call.n, whole), "round it up");
  if (!(call.n >= 1 && call.n <= 4095 && call.m >= 1 && call.m <= (call.row_major ? 8192u : 65535u)))
    i.refuse(Kind::Limit,
             format("%s: nSize %u and mSize %u; 1 to 4095, and 1 to %u", i.name(), call.n, call.m,
                    call.row_major ? 8192u : 65535u),
             "split it");
  if (!(call.src_stride % 16 == 0 || call.n <= 16))
    i.refuse(Kind::Alignment,
             format("%s: srcStride %u is not a multiple of 16, the rows of a fractal", i.name(), call.src_stride),
             "srcStride is the height of the L0C tile, rounded up to 16", &call.src);
  if (!(!call.row_major || call.m <= 1 || call.dst_stride >= call.n))
    i.refuse(Kind::Limit,
             format("%s: dstStride %u is less than nSize %u, so that its rows overwrite each other", i.name(),
                    call.dst_stride, call.n),
             "dstStride is the length of a row of the destination, in elements", &call.dst);
  if (!to_gm) i.require_aligned(call.dst, kBlockBytes, "the destination");
  if (!(call.src_stride >= call.m || call.n <= 16))
    i.refuse(Kind::Limit, format("%s: srcStride %u is less than mSize %u", i.name(), call.src_stride, call.m),
             "srcStride is the height of the L0C tile, rounded up to 16");
  if (!(call.mode_fits && fits(call.quant, from, to)))
    i.refuse(Kind::Limit, format("%s from %s to %s without the quantPre for it", i.name(), name(from), name(to)),
             "float: NoQuant, F322F16, F322BF16, (V)QF322B8_PRE; int32: NoQuant, (V)DEQF16, (V)REQ8");
  if (!(!call.channel_split || (to == DType::F32 && !call.row_major)))
    i.refuse(Kind::Limit, format("%s: isChannelSplit is for float in Nz", i.name()), "leave it false");
  i.require_aligned(call.src, 64, "the source");
  if (call.a_scale_a_column) {
    if (!(call.scales.space == Space::L1 || call.scales.space == Space::FB))
      i.refuse(Kind::Limit,
               format("%s: the quantisation tensor lies in %s; it is read from L1, or from the Fixpipe buffer", i.name(),
                      name(call.scales.space)),
               "use position A1, or C2PIPE2GM with SetFixPipeConfig");
    i.require_aligned(call.scales, 32, "the quantisation tensor");
  }
}

}  // namespace

void cube_fixpipe(const FixpipeCall& call, Site site) {
  if (call.unit_flag != 0) core().follow(Pipe::M, Pipe::FIX, site);
  TWIN_HOLD_BACK(Pipe::FIX, { cube_fixpipe(call, site); })
  Instruction i(Pipe::FIX, call.name, site);
  check(i, call);
  const Places places(call);
  const bool to_gm = call.dst.space == Space::GM;
  const std::uint64_t size = places.size, pieces = places.pieces();
  for (std::uint64_t q = 0; q < call.matrices; ++q) {
    for (std::uint64_t j = 0; j < (call.n + 15) / 16; ++j)
      i.read(call.src, places.in(q, 0, j * 16 / places.columns), std::uint64_t{call.m} * 64);
    if (call.row_major) {
      for (std::uint64_t r = 0; r < call.m; ++r) i.write(call.dst, places.out(q, r, 0), std::uint64_t{call.n} * size);
    } else {
      for (std::uint64_t j = 0; j < pieces; ++j) {
        const std::uint64_t row = size == 4 && places.columns == 16 ? 64 : 32;
        if (j % (row / (places.columns * size)) == 0) i.write(call.dst, places.out(q, 0, j), std::uint64_t{call.m} * row);
      }
    }
  }
  if (call.a_scale_a_column) i.read(call.scales, 0, std::uint64_t{call.n} * 8);
  i.move(to_gm ? Path::L0cToGm : Path::L0cToL1, std::uint64_t{call.matrices} * call.m * call.n * size);
  unit_flag_of_fixpipe(i, call);
  const bool executes = i.issue();
  if (!i.refused() && call.unit_flag != 0) core().unit_read.join_with(core().completed(Pipe::FIX));
  if (!executes) return;
  if (call.a_scale_a_column) i.use(call.scales, 0, std::uint64_t{call.n} * 8, "scales by");
  std::vector<Scale> scales(call.n, Scale(call.scale));
  for (std::uint64_t k = 0; call.a_scale_a_column && k < call.n; ++k) {
    std::uint64_t bits;
    std::memcpy(&bits, i.bytes(call.scales) + k * 8, 8);
    scales[k] = Scale(bits);
  }
  States ds(i, call.dst), ss(i, call.src);
  const ConvertRow convert_all = row_converter(call);
  std::vector<std::uint8_t> whole(call.n * size);
  for (std::uint64_t q = 0; q < call.matrices; ++q) {
    bool clean = true;
    for (std::uint64_t column = 0; column < call.n; column += 16)
      clean &= ss.clean(places.in(q, 0, column / places.columns), std::uint64_t{call.m} * 64);
    const bool by_rows = clean && convert_all && call.row_major && to_gm;
    for (std::uint64_t r = 0; by_rows && r < call.m; ++r) {
      convert_all(i.bytes(call.src) + places.in(q, r, 0), std::uint64_t{call.src_stride} * 64, whole.data(), call.n,
                  call.relu);
      store_row(i.bytes(call.dst) + places.out(q, r, 0), whole.data(), whole.size());
      ds.set(places.out(q, r, 0), whole.size(), kDefined);
    }
    for (std::uint64_t r = 0; !by_rows && r < call.m; ++r) {
      for (std::uint64_t j = 0; j < pieces; ++j) {
        std::uint8_t row[64];
        const std::uint64_t from = places.in(q, r, j), to = places.out(q, r, j), n = places.width(j);
        for (std::uint64_t e = 0; e < n; ++e) {
          const std::uint64_t column = std::min<std::uint64_t>(j * places.columns + e, call.n - 1);
          convert(call, scales[column], i.bytes(call.src) + from + e * 4, row + e * size);
        }
        if (to_gm) {
          i.use(call.src, from, n * 4, "stores to GM");
          store_row(i.bytes(call.dst) + to, row, n * size);
          ds.set(to, n * size, kDefined);
        } else {
          std::memcpy(i.bytes(call.dst) + to, row, n * size);
          for (std::uint64_t e = 0; e < n; ++e) ds.set(to + e * size, size, ss.of(from + e * 4, 4));
        }
      }
    }
  }
}

}  // namespace twin
