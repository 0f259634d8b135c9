// SPDX-License-Identifier: Apache-2.0
// What must hold before Matmul can compute: each thing that does not is reported with what to do about it.
#include "matmul.hpp"

namespace twin {
namespace {

struct Check {
  const MatmulState& s;
  Site site = Site::none();
  bool right = true;
  void need(bool holds, Kind kind, const std::string& what, const std::string& fix) {
    if (holds) return;
    right = false;
    report({kind, "Matmul: " + what, to_string(site), "", core().label(), "", "", "", fix});
  }
};

struct Room {
  std::uint64_t l0a, l0b, l0c, bt;
};
// Of the device's cube cores, wherever the call is made.
Room room(bool c_in_l0c) {
  std::string error;
  const Device& d = *find_device(settings().device, &error);
  const auto bytes = [&](const char* key) { return static_cast<std::uint64_t>(d.at(key)); };
  const bool shares = core().kind == CoreKind::AIC && !c_in_l0c;  // with what InitBuffer has given to the kernel
  return {bytes("l0a_bytes"), bytes("l0b_bytes"), shares ? matmul_l0c(core()).whole : bytes("l0c_bytes"), bytes("bt_bytes")};
}

void check_base(Check& c, const char* what, std::int32_t rows, std::int32_t columns, std::uint32_t bits,
                std::uint64_t room) {
  const std::uint64_t bytes = std::uint64_t(rows) * columns * bits / 8;
  c.need(bytes <= room, Kind::Capacity,
         format("a base block of %s has %d x %d elements, %llu bytes, and the memory %llu", what, rows, columns,
                static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(room)),
         "smaller baseM, baseN or baseK: SetFixSplit, or leave them to GetTiling");
}

void check_shapes(Check& c) {
  const MatmulState& s = c.s;
  const TCubeTiling& t = s.tiling;
  c.need(s.m > 0 && s.n > 0 && s.k > 0, Kind::Limit, format("shape %d x %d x %d: nothing to compute", s.m, s.n, s.k),
         "singleCoreM, singleCoreN, singleCoreK of the tiling, or SetSingleShape");
  const std::int32_t c0 = 256 / static_cast<int>(size_bits(s.types.a));
  c.need(t.baseM % 16 == 0 && t.baseN % 16 == 0 && t.baseK % c0 == 0, Kind::Alignment,
         format("baseM %d, baseN %d, baseK %d: multiples of 16, 16 and %d", t.baseM, t.baseN, t.baseK, c0),
         "whole fractals: round them up");
  // Squares that are turned begin at whole squares of a transfer.
  const std::int32_t side = std::max(16, c0);
  const auto steps = [&](std::int32_t step) { return s.types.large_loads && step > 1; };
  const bool a_right =
      !s.a.turned || ((!steps(t.stepM) || t.baseM % side == 0) && (!steps(t.stepKa) || t.baseK % side == 0));
  const bool b_right = s.b.turned || ((!steps(t.stepN) || t.baseN % side == 0) && (!steps(t.stepKb) || t.baseK % side == 0));
  c.need(a_right && b_right, Kind::Alignment,
         format("baseM %d, baseN %d, baseK %d of %s, several to a transfer, turned on the way to L0: multiples of %d",
                t.baseM, t.baseN, t.baseK, name(s.types.a), side),
         "round them up, or a step of 1");
  const auto cuts_columns = [&](Matrix format, bool across, std::int32_t base) {
    return format == Matrix::NZ && across && base % c0 != 0;
  };
  c.need(!cuts_columns(s.types.a_format, s.a.turned, t.baseM) && !cuts_columns(s.types.b_format, !s.b.turned, t.baseN),
         Kind::Alignment, format("baseM %d, baseN %d cut the columns of %d elements of an NZ matrix", t.baseM, t.baseN, c0),
         format("multiples of %d", c0));
  const std::int32_t a_line = s.a.turned ? s.org_m : s.org_ka, b_line = s.b.turned ? s.org_kb : s.org_n;
  const bool pairs = s.types.a == DType::I4;  // two to a byte, and the copies count bytes
  const std::int32_t most = pairs ? 2 * 65535 : 65535;
  c.need(a_line <= most && b_line <= most, Kind::Limit,
         format("rows of A and B in memory have %d and %d elements, at most %d", a_line, b_line, most), "split the matrix");
  c.need(
      !pairs || (a_line % 2 == 0 && b_line % 2 == 0), Kind::Alignment,
      format("rows of A and B in memory have %d and %d elements of int4b_t: whole bytes are even numbers", a_line, b_line),
      "pad the rows");
}

void check_operands(Check& c) {
  const MatmulState& s = c.s;
  c.need(s.a.set && s.b.set, Kind::Limit, format("%s has not been set", s.a.set ? "B" : "A"),
         "SetTensorA and SetTensorB first");
  c.need(!s.a.all_one || s.m == 1, Kind::Limit, format("SetTensorA with a scalar stands for one row of K, and M is %d", s.m),
         "singleCoreM 1, or a tensor for A");
  c.need(!s.b.all_one || s.n == 1, Kind::Limit,
         format("SetTensorB with a scalar stands for one column of K, and N is %d", s.n),
         "singleCoreN 1, or a tensor for B");
  c.need(!s.a.turned || s.types.a_may_turn, Kind::Limit, "SetTensorA with isTransposeA, which its MatmulType excludes",
         "MatmulType<position, format, type, true> for A");
  c.need(!s.b.turned || s.types.b_may_turn, Kind::Limit, "SetTensorB with isTransposeB, which its MatmulType excludes",
         "MatmulType<position, format, type, true> for B");
  c.need(!(size_bytes(s.types.a) == 4 && ((s.a.in_l1 && s.a.turned) || (s.b.in_l1 && !s.b.turned))), Kind::Limit,
         "a float operand of TSCM whose lines do not run along K", "transpose it, or leave it in GM");
  // A column of an int4b_t operand in L1 is turned in squares of 64.
  c.need(!(s.types.a == DType::I4 && s.b.in_l1 && !s.b.turned && s.org_kb % 64), Kind::Alignment,
         format("B of int4b_t in TSCM with %d rows: it is turned on the way to L0, 64 of them at a time", s.org_kb),
         "pad K to a multiple of 64, or transpose B");
  const bool integers = s.types.integers();
  const bool scaled = size_bytes(s.types.c) == 1 || (integers && s.types.c == DType::F16);
  c.need(!scaled || s.scale_given || s.scales_given, Kind::Limit,
         format("C of %s from %s needs a scale", name(s.types.c), name(s.types.a)), "SetQuantScalar or SetQuantVector");
  c.need(!s.bias.set || (integers ? s.types.bias == DType::I32 : s.types.bias == DType::F32 || s.types.bias == s.types.a),
         Kind::Limit, format("bias of %s to a product of %s", name(s.types.bias), name(s.types.a)),
         integers ? "int32_t" : "float, or the type of A");
}

}  // namespace

bool matmul_check(const MatmulState& s, Site site) {
  if (s.types.alone && core().kind == CoreKind::AIV) return false;
  Check c{s, site};
  const TCubeTiling& t = s.tiling;
  c.need(t.baseM > 0 && t.baseN > 0 && t.baseK > 0 && t.depthA1 > 0 && t.depthB1 > 0, Kind::Limit,
         format("baseM %d, baseN %d, baseK %d, depthA1 %d, depthB1 %d of the tiling, all at least 1", t.baseM, t.baseN,
                t.baseK, t.depthA1, t.depthB1),
         "REGIST_MATMUL_OBJ(&pipe, workspace, mm, &tiling) or mm.Init(&tiling), filled by GetTiling");
  if (!c.right) return false;
  check_shapes(c);
  check_operands(c);
  const Room r = room(s.types.c_in_l0c);
  const std::uint32_t bits = size_bits(s.types.a);
  const auto wide = static_cast<std::int32_t>(bits == 4 && !s.b.turned ? up(t.baseN, 64) : t.baseN);  // in squares
  check_base(c, "A (baseM, baseK) in L0A", t.baseM, t.baseK, bits, r.l0a);
  check_base(c, "B (baseK, baseN) in L0B", t.baseK, wide, bits, r.l0b);
  check_base(c, "C (baseM, baseN) in L0C", t.baseM, wide, 32, r.l0c);
  if (s.bias.set) check_base(c, "the bias (1, baseN) in the BiasTable", 1, t.baseN, 32, r.bt);
  if (s.types.large_loads) {
    const std::int32_t a = std::max(1, t.stepM) * std::max(1, t.stepKa), b = std::max(1, t.stepN) * std::max(1, t.stepKb);
    c.need(
        t.depthA1 >= a && t.depthB1 >= b, Kind::Limit,
        format("depthA1 %d and depthB1 %d hold no whole transfer of stepM x stepKa = %d and stepN x stepKb = %d base blocks",
               t.depthA1, t.depthB1, a, b),
        "depth is step, or twice that for two buffers");
  }
  return c.right;
}

}  // namespace twin
