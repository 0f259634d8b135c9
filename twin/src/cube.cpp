// SPDX-License-Identifier: Apache-2.0
// The cube core: fractals from L1 into L0A and L0B, Mmad, and Fixpipe out of L0C.
//   L0A  Zz: fractals of 16 × C0 row-major, in rows       L0B  Zn: fractals of C0 × 16 column-major, in rows
//   L0C  Nz: fractals of 16 × 16 row-major, in columns    C0: 32 bytes of elements
#include <cmath>
#include <cstring>

#include "gemm.hpp"
#include "lanes.hpp"

namespace twin {

void store_row(std::uint8_t* d, const std::uint8_t* a, std::uint64_t bytes);

namespace {

constexpr std::uint64_t kFractalBytes = 512;

float element(const std::uint8_t* p, DType dtype) {
  if (dtype == DType::F32) {
    float v;
    std::memcpy(&v, p, 4);
    return v;
  }
  std::uint16_t bits;
  std::memcpy(&bits, p, 2);
  return dtype == DType::F16 ? half_to_float(bits) : bfloat_to_float(bits);
}

std::uint32_t up(std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; }

void copy_fractal(Instruction& i, const View& dst, const View& src, std::uint64_t od, std::uint64_t os, bool transpose,
                  States& ds, States& ss) {
  std::uint8_t* const d = i.bytes(dst) + od;
  const std::uint8_t* const a = i.bytes(src) + os;
  if (!transpose) {
    std::memcpy(d, a, kFractalBytes);
    ds.copy_from(ss, od, os, kFractalBytes);
    return;
  }
  const bool clean = ss.clean(os, kFractalBytes);
  for (std::uint32_t r = 0; r < 16; ++r) {
    for (std::uint32_t c = 0; c < 16; ++c) {
      std::memcpy(d + (c * 16 + r) * 2, a + (r * 16 + c) * 2, 2);
      if (!clean) ds.set(od + (c * 16 + r) * 2, 2, ss.of(os + (r * 16 + c) * 2, 2));
    }
  }
  if (clean) ds.set(od, kFractalBytes, kDefined);
}

Path path_into(Space to, Space from) {
  if (from == Space::GM) return Path::GmToL0;
  return to == Space::L0A ? Path::L1ToL0a : Path::L1ToL0b;
}

void check_load(Instruction& i, const View& dst, const View& src) {
  if (!(dst.space == Space::L0A || dst.space == Space::L0B))
    i.refuse(Kind::Limit, format("%s into %s: it fills L0A and L0B", i.name(), name(dst.space)), "use positions A2 and B2");
  if (!(src.space == Space::L1 || src.space == Space::GM))
    i.refuse(Kind::Limit, format("%s from %s: it reads L1 or GM", i.name(), name(src.space)), "use positions A1 and B1");
  i.require_aligned(dst, kFractalBytes, "the destination");
  if (src.space == Space::L1) i.require_aligned(src, kBlockBytes, "the source");
}

void keep_layout(const View& dst, const View& src, std::uint64_t od, std::uint64_t os, bool forced) {
  Core& c = core();
  std::uint8_t* const to = c.memory[int(dst.space)].fractal.data() + (dst.addr + od) / 32;
  if (src.space == Space::L1 && !forced) {
    std::memcpy(to, c.memory[int(Space::L1)].fractal.data() + (src.addr + os) / 32, 16);
  } else {
    std::memset(to, forced, 16);
  }
}

}  // namespace

void cube_load_2d(const View& dst, const View& src, const Load2d& load, Site site) {
  Instruction i(src.space == Space::GM ? Pipe::MTE2 : Pipe::MTE1, "LoadData", site);
  check_load(i, dst, src);
  if (load.repeats > 255) i.refuse(Kind::Limit, format("LoadData: repeatTimes %u, at most 255", load.repeats), "split it");
  if (load.transpose && size_bytes(dst.dtype) != 2)
    i.refuse(Kind::Limit, format("LoadData: ifTranspose on %s, 16-bit elements only", name(dst.dtype)),
             "use LoadDataWithTranspose");
  const auto from = [&](std::uint64_t r) {
    const std::int64_t step = static_cast<std::int64_t>(r * load.src_stride) * (load.backwards ? -1 : 1);
    return static_cast<std::uint64_t>((static_cast<std::int64_t>(load.first) + step) *
                                      static_cast<std::int64_t>(kFractalBytes));
  };
  const auto to = [&](std::uint64_t r) { return r * (std::uint64_t{load.dst_gap} + 1) * kFractalBytes; };
  for (std::uint64_t r = 0; r < load.repeats; ++r) i.read(src, from(r), kFractalBytes);
  for (std::uint64_t r = 0; r < load.repeats; ++r) i.write(dst, to(r), kFractalBytes);
  i.move(path_into(dst.space, src.space), load.repeats * kFractalBytes);
  if (load.repeats == 0 || !i.issue()) return;
  States ds(i, dst), ss(i, src);
  for (std::uint64_t r = 0; r < load.repeats; ++r) {
    copy_fractal(i, dst, src, to(r), from(r), load.transpose, ds, ss);
    keep_layout(dst, src, to(r), from(r), load.transpose);
  }
}

void cube_load_transpose(const View& dst, const View& src, const LoadTranspose& load, Site site) {
  Instruction i(Pipe::MTE1, "LoadDataWithTranspose", site);
  check_load(i, dst, src);
  i.require(src.space == Space::L1, Kind::Limit, "LoadDataWithTranspose reads L1 only", "copy to L1 first");
  const std::uint32_t size = size_bytes(dst.dtype);
  // A repeat takes a square of elements: one fractal of 16-bit, two of 8-bit (32 × 32) or 32-bit (16 × 16) ones.
  const std::uint32_t fractals = size == 2 ? 1 : 2;
  const std::uint32_t side = size == 1 ? 32 : 16;
  const std::uint32_t c0 = 32 / size;
  const auto from = [&](std::uint64_t r) { return (load.first + r * load.src_stride) * fractals * kFractalBytes; };
  const auto to = [&](std::uint64_t r, std::uint64_t f) {
    return (r * (load.dst_gap + 1) + f * (load.dst_fractal_gap + 1)) * kFractalBytes;
  };
  for (std::uint64_t r = 0; r < load.repeats; ++r) {
    i.read(src, from(r), fractals * kFractalBytes);
    for (std::uint32_t f = 0; f < fractals; ++f) i.write(dst, to(r, f), kFractalBytes);
  }
  i.move(path_into(dst.space, src.space), std::uint64_t{load.repeats} * fractals * kFractalBytes);
  if (load.repeats == 0 || !i.issue()) return;
  States ds(i, dst), ss(i, src);
  // Element (row, column) of the square as it lies in the source: 8-bit fractals follow each other downwards, 32-bit ones
  // sideways.
  const auto in_source = [&](std::uint32_t row, std::uint32_t column) {
    return (column / c0 * (size == 4 ? 16 : 0) + row) * c0 * size + column % c0 * size;
  };
  for (std::uint64_t r = 0; r < load.repeats; ++r) {
    for (std::uint32_t row = 0; row < side; ++row) {
      for (std::uint32_t column = 0; column < side; ++column) {
        // The transposed square goes out in fractals of 16 rows, C0 columns.
        const std::uint32_t f = size == 4 ? row / c0 : column / 16;
        const std::uint64_t od = to(r, f) + (size == 4 ? column * c0 + row % c0 : column % 16 * c0 + row) * size;
        const std::uint64_t os = from(r) + in_source(row, column);
        std::memcpy(i.bytes(dst) + od, i.bytes(src) + os, size);
        ds.set(od, size, ss.of(os, size));
      }
    }
    for (std::uint32_t f = 0; f < fractals; ++f) keep_layout(dst, src, to(r, f), from(r), true);
  }
}

void cube_fill(const View& dst, std::uint32_t repeats, std::uint32_t blocks, std::uint32_t gap, std::uint64_t value,
               Site site) {
  Instruction i(dst.space == Space::L1 ? Pipe::MTE2 : Pipe::MTE1, "InitConstValue", site);
  const std::uint64_t unit = dst.space == Space::L1 ? kBlockBytes : kFractalBytes;
  const auto to = [&](std::uint64_t r) { return r * (std::uint64_t{blocks} + gap) * unit; };
  for (std::uint64_t r = 0; r < repeats; ++r) i.write(dst, to(r), blocks * unit);
  i.move(dst.space == Space::L0B ? Path::L1ToL0b : Path::L1ToL0a, repeats * blocks * unit);
  if (!i.issue()) return;
  const std::uint32_t size = size_bytes(dst.dtype);
  States ds(i, dst);
  for (std::uint64_t r = 0; r < repeats; ++r) {
    for (std::uint64_t k = 0; k < blocks * unit; k += size) std::memcpy(i.bytes(dst) + to(r) + k, &value, size);
    ds.set(to(r), blocks * unit, kDefined);
  }
}

namespace {

void multiply_int8(std::int32_t* c, const std::uint8_t* a, const std::uint8_t* b, std::uint32_t m, std::uint32_t n,
                   std::uint32_t k, std::uint32_t kf) {
  const auto at = [](const std::uint8_t* p) { return static_cast<std::int32_t>(static_cast<std::int8_t>(*p)); };
  for (std::uint32_t r = 0; r < m; ++r) {
    for (std::uint32_t j = 0; j < n; ++j) {
      std::int32_t sum = 0;
      for (std::uint32_t p = 0; p < k; ++p) {
        sum += at(a + ((r / 16 * kf + p / 32) * 16 + r % 16) * 32 + p % 32) *
               at(b + ((p / 32 * (n / 16) + j / 16) * 16 + j % 16) * 32 + p % 32);
      }
      std::int32_t& out = c[(j / 16 * m + r) * 16 + j % 16];
      out = static_cast<std::int32_t>(static_cast<std::uint32_t>(out) + static_cast<std::uint32_t>(sum));
    }
  }
}

// With unit flags the hardware hands L0C over fractal by fractal: every Mmad but the last into a tile has 2, the last has 3,
// and Fixpipe has 3 to give the tile back (the vendor's page on Mmad's unitFlag).
constexpr std::uint8_t kUnitGoesOn = 2, kUnitLast = 3;

void disagree(Instruction& i, const std::string& what, std::uint32_t other, const char* fix) {
  Finding f{Kind::CubeLayout,
            what,
            to_string(i.site()),
            other ? to_string(site_of(other)) : "",
            core().label(),
            name(i.pipe()),
            "",
            "",
            fix};
  report(std::move(f));
}

void check_unit_value(Instruction& i, std::uint8_t value) {
  if (value == 0 || value == kUnitGoesOn || value == kUnitLast) return;
  disagree(i, format("%s with unitFlag %d: 0, 2 and 3 exist", i.name(), value), 0, "0: off; 2: goes on; 3: the last");
}

void unit_flag_of_mmad(Instruction& i, const MmadCall& call, std::uint64_t c_bytes) {
  Core& c = core();
  check_unit_value(i, call.unit_flag);
  const auto old = c.unit_flags.find(call.c.addr);
  if (old != c.unit_flags.end() && old->second.value == kUnitLast && call.unit_flag != 0) {
    disagree(i,
             "Mmad with a unitFlag into a tile that the Mmad before closed with unitFlag 3 and no Fixpipe has read: it "
             "waits for ever",
             old->second.site, "give all but the last Mmad of a tile unitFlag 2");
  }
  if (call.unit_flag != 0) c.learn(Pipe::M, c.unit_read);
  c.unit_flags[call.c.addr] = {call.c.addr + c_bytes, call.unit_flag, site_id(i.site())};
}

void unit_flag_of_fixpipe(Instruction& i, const FixpipeCall& call) {
  Core& c = core();
  check_unit_value(i, call.unit_flag);
  auto tile = c.unit_flags.upper_bound(call.src.addr);
  const bool known = tile != c.unit_flags.begin() && call.src.addr < (--tile)->second.end;
  if (known && (tile->second.value != 0) != (call.unit_flag != 0)) {
    disagree(i, format("Fixpipe with unitFlag %d after a Mmad with unitFlag %d", call.unit_flag, tile->second.value),
             tile->second.site, "give both unit flags (the last Mmad 3, Fixpipe 3), or 0 to both and M_FIX flags");
  } else if (known && tile->second.value == kUnitGoesOn) {
    disagree(i,
             format("Fixpipe with unitFlag %d waits for a Mmad with unitFlag 3, but the last into this tile had 2",
                    call.unit_flag),
             tile->second.site, "give the last Mmad of a tile unitFlag 3");
  } else if (call.unit_flag != 0) {
    c.learn(Pipe::FIX, c.completed(Pipe::M));
  }
  if (known && call.unit_flag == kUnitLast) c.unit_flags.erase(tile);
}

}  // namespace

void cube_mmad(const MmadCall& call, Site site) {
  Instruction i(Pipe::M, "Mmad", site);
  const DType type = call.a.dtype;
  const bool integers = type == DType::I8;
  const std::uint32_t size = size_bytes(type), c0 = 32 / size;
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
        "int8 into int32; half, bfloat16 or float into float");
  if (call.m > 4095 || call.n > 4095 || call.k > 4095)
    i.refuse(Kind::Limit, format("Mmad: m %u, n %u, k %u, each at most 4095", call.m, call.n, call.k), "split it");
  i.require_aligned(call.c, 1024, "the destination");
  i.require_aligned(call.a, kFractalBytes, "A");
  i.require_aligned(call.b, kFractalBytes, "B");
  if (call.m == 0 || call.n == 0 || call.k == 0) return;
  const bool gemv = call.m == 1;
  const std::uint32_t m = up(call.m, 16), n = up(call.n, 16), kf = (call.k + c0 - 1) / c0;
  const std::uint64_t a_bytes = gemv ? std::uint64_t{up(call.k, c0)} * size : std::uint64_t{m / 16} * kf * kFractalBytes;
  const std::uint64_t b_bytes = std::uint64_t{n / 16} * kf * kFractalBytes;
  const std::uint64_t c_bytes = std::uint64_t{m} * n * 4;
  i.read(call.a, 0, a_bytes);
  i.read(call.b, 0, b_bytes);
  if (!call.from_zero && !call.from_bias) i.read(call.c, 0, c_bytes);
  if (call.has_bias || (call.from_bias && !call.from_zero)) i.read(call.bias, 0, std::uint64_t{call.n} * 4);
  i.write(call.c, 0, c_bytes);
  if ((m / 16) * (n / 16) < 10) i.tag(kSmallMmad);
  const std::uint32_t k_step = type == DType::F32 ? 4 : integers ? 32 : 16;  // of the 16 × 16 × k products a cycle
  i.cost("Mmad", std::uint64_t{gemv ? 1 : m / 16} * (n / 16) * ((call.k + k_step - 1) / k_step));
  unit_flag_of_mmad(i, call, c_bytes);
  if (!i.issue()) return;
  const std::uint8_t* const a = i.bytes(call.a);
  const std::uint8_t* const b = i.bytes(call.b);
  float* const c = reinterpret_cast<float*>(i.bytes(call.c));
  States as(i, call.a), bs(i, call.b), cs(i, call.c);
  if (gemv && call.k > c0) {
    const auto& fractal = core().memory[int(Space::L0A)].fractal;
    const std::uint64_t first = call.a.addr / 32;
    bool scattered = false;
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
  const bool clean = as.clean(0, a_bytes) && bs.clean(0, b_bytes);
  rows.assign(m, kDefined);
  columns.assign(n, kDefined);
  const auto a_at = [&](std::uint32_t r, std::uint32_t p) {
    return gemv ? std::uint64_t{p} * size : ((std::uint64_t{r / 16} * kf + p / c0) * 16 + r % 16) * 32 + p % c0 * size;
  };
  const auto b_at = [&](std::uint32_t p, std::uint32_t j) {
    return ((std::uint64_t{p / c0} * (n / 16) + j / 16) * 16 + j % 16) * 32 + p % c0 * size;
  };
  if (!clean) {
    for (std::uint32_t p = 0; p < call.k; ++p) {
      for (std::uint32_t r = 0; r < (gemv ? 1 : m); ++r) rows[r] = meet(rows[r], as.of(a_at(r, p), size));
      for (std::uint32_t j = 0; j < n; ++j) columns[j] = meet(columns[j], bs.of(b_at(p, j), size));
    }
  }
  if (integers) {
    multiply_int8(reinterpret_cast<std::int32_t*>(c), a, b, gemv ? 1 : m, n, call.k, kf);
  } else {
    left.assign(std::size_t{m} * call.k, 0);
    right.resize(std::size_t{n} * call.k);
    for (std::uint32_t r = 0; r < (gemv ? 1 : m); ++r) {
      for (std::uint32_t p = 0; p < call.k; ++p) left[std::size_t{r} * call.k + p] = element(a + a_at(r, p), type);
    }
    for (std::uint32_t j = 0; j < n; ++j) {
      for (std::uint32_t p = 0; p < call.k; ++p)
        right[(std::size_t{j / 16} * call.k + p) * 16 + j % 16] = element(b + b_at(p, j), type);
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

void cube_fixpipe(const FixpipeCall& call, Site site) {
  Instruction i(Pipe::FIX, "Fixpipe", site);
  const std::uint32_t size = size_bytes(call.dst.dtype);
  const DType from = call.src.dtype;
  const bool to_gm = call.dst.space == Space::GM;
  if (!(call.src.space == Space::L0C && (to_gm || call.dst.space == Space::L1)))
    i.refuse(Kind::Limit,
             format("Fixpipe from %s to %s: on this chip it goes from L0C to GM or L1", name(call.src.space),
                    name(call.dst.space)),
             "a vector core reads it from GM");
  if (call.n % 16 != 0 && !call.row_major)
    i.refuse(Kind::Alignment, format("Fixpipe: nSize %u is not a multiple of 16", call.n), "round it up");
  if (call.row_major && call.m > 8192)
    i.refuse(Kind::Limit, format("Fixpipe: mSize %u, at most 8192 when it writes ND", call.m), "split it");
  if (call.src_stride % 16 != 0 && call.n > 16)
    i.refuse(Kind::Alignment,
             format("Fixpipe: srcStride %u is not a multiple of 16, the rows of a fractal", call.src_stride),
             "srcStride is the height of the L0C tile, rounded up to 16", &call.src);
  if (call.row_major && call.m > 1 && call.dst_stride < call.n)
    i.refuse(Kind::Limit,
             format("Fixpipe: dstStride %u is less than nSize %u, so that its rows overwrite each other", call.dst_stride,
                    call.n),
             "dstStride is the length of a row of the destination, in elements", &call.dst);
  if (!to_gm) i.require_aligned(call.dst, kBlockBytes, "the destination");
  if (call.src_stride < call.m && call.n > 16)
    i.refuse(Kind::Limit, format("Fixpipe: srcStride %u is less than mSize %u", call.src_stride, call.m),
             "srcStride is the height of the L0C tile, rounded up to 16");
  if (!(call.mode_fits && (from == DType::F32 || from == DType::I32)))
    i.refuse(Kind::Limit, format("Fixpipe from %s to %s without the quantPre for it", name(from), name(call.dst.dtype)),
             "quantPre NoQuant, F322F16, F322BF16 or DEQF16");
  i.require_aligned(call.src, 64, "the source");
  const auto in = [&](std::uint64_t q, std::uint64_t r, std::uint64_t j) {  // j: column block of 16
    return q * call.src_matrix_stride * 1024 + (j * call.src_stride + r) * 64;
  };
  const auto out = [&](std::uint64_t q, std::uint64_t r, std::uint64_t j) {
    if (call.row_major) return (q * call.dst_matrix_stride + r * call.dst_stride + j * 16) * size;
    return j * call.dst_stride * 32 + r * 16 * size;
  };
  const std::uint64_t blocks = (call.n + 15) / 16;
  const auto width = [&](std::uint64_t j) { return std::min<std::uint64_t>(16, call.n - j * 16) * size; };
  for (std::uint64_t q = 0; q < call.matrices; ++q) {
    for (std::uint64_t j = 0; j < blocks; ++j) i.read(call.src, in(q, 0, j), std::uint64_t{call.m} * 64);
    if (call.row_major) {
      for (std::uint64_t r = 0; r < call.m; ++r) i.write(call.dst, out(q, r, 0), std::uint64_t{call.n} * size);
    } else {
      for (std::uint64_t j = 0; j < blocks; ++j) i.write(call.dst, out(q, 0, j), std::uint64_t{call.m} * 16 * size);
    }
  }
  i.move(to_gm ? Path::L0cToGm : Path::L0cToL1, std::uint64_t{call.matrices} * call.m * call.n * size);
  unit_flag_of_fixpipe(i, call);
  const bool executes = i.issue();
  if (!i.refused() && call.unit_flag != 0) core().unit_read.join_with(core().completed(Pipe::FIX));
  if (!executes) return;
  States ds(i, call.dst), ss(i, call.src);
  const float scale = element(reinterpret_cast<const std::uint8_t*>(&call.scale), DType::F32);
  for (std::uint64_t q = 0; q < call.matrices; ++q) {
    for (std::uint64_t r = 0; r < call.m; ++r) {
      for (std::uint64_t j = 0; j < blocks; ++j) {
        std::uint8_t row[64];
        const std::uint8_t* const a = i.bytes(call.src) + in(q, r, j);
        for (std::uint64_t e = 0; e < 16; ++e) {
          if (from == DType::I32) {
            std::int32_t v;
            std::memcpy(&v, a + e * 4, 4);
            if (call.relu && v < 0) v = 0;
            const std::uint16_t bits = float_to_half(static_cast<float>(v) * scale);
            std::memcpy(row + e * size, call.dequantise ? static_cast<const void*>(&bits) : &v, size);
          } else {
            float v = element(a + e * 4, DType::F32);
            if (call.relu && v < 0) v = 0;
            const std::uint16_t bits = call.dst.dtype == DType::F16 ? float_to_half(v) : float_to_bfloat(v);
            std::memcpy(row + e * size, size == 4 ? static_cast<const void*>(&v) : &bits, size);
          }
        }
        const std::uint64_t bytes = call.row_major ? width(j) : 16 * size;
        if (to_gm) {
          i.use(call.src, in(q, r, j), bytes / size * 4, "stores to GM");
          store_row(i.bytes(call.dst) + out(q, r, j), row, bytes);
          ds.set(out(q, r, j), bytes, kDefined);
        } else {
          std::memcpy(i.bytes(call.dst) + out(q, r, j), row, bytes);
          for (std::uint64_t e = 0; e < bytes / size; ++e)
            ds.set(out(q, r, j) + e * size, size, ss.of(in(q, r, j) + e * 4, 4));
        }
      }
    }
  }
}

}  // namespace twin
