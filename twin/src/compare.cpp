// SPDX-License-Identifier: Apache-2.0
// Compare and Select: bits in a tensor, or in the compare register of the core.
#include <algorithm>
#include <cstring>

#include "lanes.hpp"
#include "twin/calls_vector.hpp"

namespace twin {

std::uint8_t new_origin(const std::string& text);

namespace {

std::uint64_t repeats_for(const Lanes& lanes, std::uint32_t widest) {
  return lanes.form == Lanes::Count ? (std::uint64_t{lanes.count} * widest + kRepeatBytes - 1) / kRepeatBytes
                                    : lanes.repeats;
}

bool holds(double a, double b, Compare how) {
  switch (how) {
    case Compare::LT:
      return a < b;
    case Compare::GT:
      return a > b;
    case Compare::EQ:
      return a == b;
    case Compare::LE:
      return a <= b;
    case Compare::GE:
      return a >= b;
    default:
      return a != b;
  }
}

double value_of(const std::uint8_t* p, DType dtype) {
  const bool is_float = dtype == DType::F16 || dtype == DType::F32;
  return is_float ? static_cast<double>(load_float(p, dtype)) : load<std::int32_t>(p);
}

// Collects bits, eight to a byte. A byte is undefined only if all of its lanes are: bits have no state of their own.
struct Bits {
  std::uint8_t byte = 0, worst = 0;
  int undefined = 0, n = 0;
  template <class Store>
  void add(bool bit, std::uint8_t state, bool last, Store&& store) {
    byte = static_cast<std::uint8_t>(byte | int{bit} << n);
    if (state != kDefined) ++undefined, worst = state;
    if (++n < 8 && !last) return;
    store(byte, undefined == n ? worst : kDefined);
    *this = {};
  }
};

void check_types(Instruction& i, DType dtype, Compare how) {
  if (!(dtype == DType::F16 || dtype == DType::F32 || (dtype == DType::I32 && how == Compare::EQ)))
    i.refuse(Kind::Limit, format("%s on %s: half and float, int32 with EQ only", i.name(), name(dtype)),
             "cast to float first");
}

}  // namespace

void vector_compare(const Lanes& lanes, const View& dst, const View& src0, const MaybeView& src1, std::uint64_t scalar,
                    Compare how, Stride src0_stride, Stride src1_stride, const char* instruction, Site site) {
  TWIN_HOLD_BACK(Pipe::V,
                 { vector_compare(lanes, dst, src0, src1, scalar, how, src0_stride, src1_stride, instruction, site); })
  Instruction i(Pipe::V, instruction, site);
  const std::uint32_t size = size_bytes(src0.dtype);
  check_types(i, src0.dtype, how);
  const bool whole = lanes.form != Lanes::Count || std::uint64_t{lanes.count} * size % kRepeatBytes == 0;
  if (!whole)
    i.refuse(Kind::Alignment, format("%s of %u elements: they must fill whole 256-byte repeats", instruction, lanes.count),
             "round the count up, and the buffers with it");
  Lanes all = lanes;  // the mask is ignored: every lane of a repeat is compared
  if (lanes.form != Lanes::Count) {
    all.form = Lanes::FirstN;
    all.count = lanes_a_repeat(size);
    all.set_mask = true;
  }
  Operand operands[2] = {{&src0, src0_stride}, {src1 ? &*src1 : &src0, src1 ? src1_stride : src0_stride}};
  const auto& runs = make_runs(i, all, operands, src1 ? 2 : 1);
  std::uint64_t lanes_in_all = 0;
  for (const Run& r : runs) lanes_in_all += r.n;
  i.require_aligned(dst, kBlockBytes, "the destination");
  i.write(dst, 0, (lanes_in_all + 7) / 8);
  i.cost(src1 ? "Compare" : "Compares", repeats_for(lanes, size), src0.dtype);
  if (!i.issue()) return;
  const double constant = value_of(reinterpret_cast<const std::uint8_t*>(&scalar), src0.dtype);
  const std::uint8_t* const a = i.bytes(src0);
  const std::uint8_t* const b = src1 ? i.bytes(*src1) : nullptr;
  States ds(i, dst), as(i, src0), bs(i, src1 ? *src1 : src0);
  Bits bits;
  std::uint64_t at = 0, byte = 0;
  for (const Run& r : runs) {
    for (std::uint64_t k = 0; k < r.n; ++k) {
      const std::uint64_t oa = r.offset[0] + k * size, ob = r.offset[1] + k * size;
      const bool bit = holds(value_of(a + oa, src0.dtype), src1 ? value_of(b + ob, src0.dtype) : constant, how);
      const std::uint8_t state = meet(as.of(oa, size), src1 ? bs.of(ob, size) : kDefined);
      bits.add(bit, state, ++at == lanes_in_all, [&](std::uint8_t value, std::uint8_t of_it) {
        i.bytes(dst)[byte] = value;
        ds.set(byte++, 1, of_it);
      });
    }
  }
}

void vector_compare_to_register(const Lanes& lanes, const View& src0, const View& src1, Compare how, Stride src0_stride,
                                Stride src1_stride, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_compare_to_register(lanes, src0, src1, how, src0_stride, src1_stride, site); })
  Instruction i(Pipe::V, "Compare", site);
  const std::uint32_t size = size_bytes(src0.dtype);
  if (src0.dtype != DType::F16 && src0.dtype != DType::F32)
    i.refuse(Kind::Limit, format("Compare into the register on %s: half and float only", name(src0.dtype)),
             "give it a destination");
  const Operand operands[2] = {{&src0, src0_stride}, {&src1, src1_stride}};
  const auto& runs = make_runs(i, lanes, operands, 2);
  i.cost("Compare", 1, src0.dtype);
  if (!i.issue()) return;
  VectorRegisters& r = core().registers;
  States as(i, src0), bs(i, src1);
  for (const Run& run : runs) {
    for (std::uint64_t k = 0; k < run.n; ++k) {
      const std::uint64_t oa = run.offset[0] + k * size, ob = run.offset[1] + k * size, lane = run.lane + k;
      const bool bit = holds(value_of(i.bytes(src0) + oa, src0.dtype), value_of(i.bytes(src1) + ob, src0.dtype), how);
      r.compared[lane / 8] =
          static_cast<std::uint8_t>((r.compared[lane / 8] & ~(1u << lane % 8)) | unsigned{bit} << lane % 8);
      const std::uint8_t state = meet(as.of(oa, size), bs.of(ob, size));
      r.compared_state[lane / 8] = lane % 8 ? meet(r.compared_state[lane / 8], state) : state;
    }
  }
}

void compare_register(const View& view, bool load, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { compare_register(view, load, site); })
  Instruction i(Pipe::V, load ? "SetCmpMask" : "GetCmpMask", site);
  i.require_aligned(view, 16, load ? "the source" : "the destination");
  if (load) {
    i.read(view, 0, 16);
  } else {
    i.write(view, 0, 16);
  }
  i.cost("OneVector", 1);
  if (!i.issue()) return;
  VectorRegisters& r = core().registers;
  States states(i, view);
  if (load) {
    std::memcpy(r.compared, i.bytes(view), 16);
    for (std::uint64_t k = 0; k < 16; ++k) r.compared_state[k] = states.of(k, 1);
  } else {
    std::memcpy(i.bytes(view), r.compared, 16);
    for (std::uint64_t k = 0; k < 16; ++k) states.set(k, 1, r.compared_state[k]);
  }
}

// Select's modes 1 and 2 keep intermediate results in the last 8 KB of UB, which must be left to them.
static void use_reserved_ub(Instruction& i) {
  constexpr std::uint64_t kReserved = 8192;
  Core& c = core();
  Memory& ub = c.memory[int(Space::UB)];
  if (ub.bytes < kReserved) return;
  const std::uint64_t begin = ub.bytes - kReserved;
  if (c.allocated[int(Space::UB)] > begin) {
    i.complain(Kind::Capacity,
               format("%s in mode 1 or 2 uses the last 8 KB of UB, [0x%llx, 0x%llx), but InitBuffer has given away UB up to "
                      "0x%llx",
                      i.name(), static_cast<unsigned long long>(begin), static_cast<unsigned long long>(ub.bytes),
                      static_cast<unsigned long long>(c.allocated[int(Space::UB)])),
               "use 8 KB less (ReserveLocalMemory on the host), or mode 0");
  }
  std::uint8_t* const state = ub.state + begin;
  if (std::all_of(state, state + kReserved, [](std::uint8_t s) { return s == kUnwritten; })) return;
  std::memset(state,
              new_origin(format("the last 8 KB of UB, which %s at %s has used", i.name(), to_string(i.site()).c_str())),
              kReserved);
}

void vector_select(const SelectCall& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_select(call, site); })
  Instruction i(Pipe::V, "Select", site);
  const View& dst = call.dst;
  const std::uint32_t size = size_bytes(dst.dtype);
  const std::uint32_t a_repeat = lanes_a_repeat(size);
  if (dst.dtype != DType::F16 && dst.dtype != DType::F32)
    i.refuse(Kind::Limit, format("Select on %s: half and float only", name(dst.dtype)),
             "cast, or reinterpret the bits as half or float");
  const View& other = call.src1 ? *call.src1 : call.src0;
  const Operand operands[3] = {{&dst, call.dst_stride, true},
                               {&call.src0, call.src0_stride},
                               {&other, call.src1 ? call.src1_stride : call.src0_stride}};
  const auto& runs = make_runs(i, call.lanes, operands, call.src1 ? 3 : 2);
  const bool same_bits = call.mask_repeats || !call.mask;  // for each repeat; otherwise they go on
  std::uint64_t last_lane = 0;
  for (const Run& r : runs) last_lane = std::max(last_lane, r.lane + r.n);
  if (call.mask) i.read(*call.mask, 0, same_bits ? a_repeat / 8 : (last_lane + 7) / 8);
  i.cost("Select", repeats_for(call.lanes, size), dst.dtype);
  if (call.mask && !call.mask_repeats) use_reserved_ub(i);
  if (!i.issue()) return;
  const VectorRegisters& reg = core().registers;
  const std::uint8_t* const m = call.mask ? i.bytes(*call.mask) : reg.compared;
  const std::uint8_t* const constant =
      call.scalar_in_register ? reg.compared : reinterpret_cast<const std::uint8_t*>(&call.scalar);
  States ds(i, dst), as(i, call.src0), bs(i, other), ms(i, call.mask ? *call.mask : call.src0);
  for (const Run& r : runs) {
    for (std::uint64_t k = 0; k < r.n; ++k) {
      const std::uint64_t lane = same_bits ? (r.lane + k) % a_repeat : r.lane + k;
      const bool first = m[lane / 8] >> (lane % 8) & 1;
      const std::uint64_t od = r.offset[0] + k * size, oa = r.offset[1] + k * size, ob = r.offset[2] + k * size;
      std::uint8_t state = call.mask ? ms.of(lane / 8, 1) : reg.compared_state[lane / 8];
      state = meet(state, first ? as.of(oa, size) : call.src1 ? bs.of(ob, size) : kDefined);
      std::memcpy(i.bytes(dst) + od,
                  first       ? i.bytes(call.src0) + oa
                  : call.src1 ? i.bytes(*call.src1) + ob
                              : constant,
                  size);
      ds.set(od, size, state);
    }
  }
}

}  // namespace twin
