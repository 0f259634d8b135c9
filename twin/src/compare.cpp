// SPDX-License-Identifier: Apache-2.0
// Compare and Select: bits in a tensor, or in the compare register of the core.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "lanes.hpp"
#include "twin/calls_vector.hpp"
#include "wide.hpp"

namespace twin {

std::uint8_t new_origin(const std::string& text);

namespace {

// Calls f with what holds between two values.
template <class F>
void with_comparison(Compare how, F&& f) {
  switch (how) {
    case Compare::LT:
      return f(std::less<>());
    case Compare::GT:
      return f(std::greater<>());
    case Compare::EQ:
      return f(std::equal_to<>());
    case Compare::LE:
      return f(std::less_equal<>());
    case Compare::GE:
      return f(std::greater_equal<>());
    default:
      return f(std::not_equal_to<>());
  }
}

// flags[k]: whether it holds between a[k] and b[k], or the one b.
template <class T>
void compare(std::uint8_t* flags, const std::uint8_t* a, const std::uint8_t* b, bool one_b, std::uint32_t n, Compare how) {
  using C = std::conditional_t<std::is_integral_v<T>, T, float>;
  with_comparison(how, [=](auto holds) {
    if (one_b) {
      wide([=] {
        const C value = load<T>(b);
        for (std::uint64_t k = 0; k < n; ++k) flags[k] = holds(C(load<T>(a + k * sizeof(T))), value);
      });
    } else {
      wide([=] {
        for (std::uint64_t k = 0; k < n; ++k) flags[k] = holds(C(load<T>(a + k * sizeof(T))), C(load<T>(b + k * sizeof(T))));
      });
    }
  });
}
void compare(std::uint8_t* flags, DType dtype, const std::uint8_t* a, const std::uint8_t* b, bool one_b, std::uint32_t n,
             Compare how) {
  if (dtype == DType::F16) return compare<half>(flags, a, b, one_b, n, how);
  if (dtype == DType::F32) return compare<float>(flags, a, b, one_b, n, how);
  compare<std::int32_t>(flags, a, b, one_b, n, how);
}

// Eight flags as the bits of a byte, the first lowest.
std::uint8_t packed(const std::uint8_t* flags) {
  return static_cast<std::uint8_t>(load<std::uint64_t>(flags) * 0x0102040810204080 >> 56);
}

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
    i.complain(Kind::Alignment, format("%s of %u elements: they must fill whole 256-byte repeats", instruction, lanes.count),
               "round the count up, and the buffers with it");  // and done: what the chip leaves behind the last is not said
  Lanes all = lanes;                                            // the mask is ignored: every lane of a repeat is compared
  if (lanes.form != Lanes::Count) {
    all.form = Lanes::FirstN;
    all.count = lanes_a_repeat(size);
    all.set_mask = true;
  }
  Operand operands[2] = {{&src0, src0_stride}, {src1 ? &*src1 : &src0, src1 ? src1_stride : src0_stride}};
  const std::uint64_t mask[2] = {core().mask[0], core().mask[1]};
  const auto& runs = make_runs(i, all, operands, src1 ? 2 : 1);
  if (lanes.form != Lanes::Count && !lanes.set_mask) core().mask[0] = mask[0], core().mask[1] = mask[1];
  std::uint64_t lanes_in_all = 0;
  for (const Run& r : runs) lanes_in_all += r.n;
  i.require_aligned(dst, kBlockBytes, "the destination");
  i.write(dst, 0, (lanes_in_all + 7) / 8);
  i.cost(src1 ? "Compare" : "Compares", repeats_for(lanes, size), src0.dtype);
  if (!i.issue()) return;
  States ds(i, dst), as(i, src0), bs(i, src1 ? *src1 : src0);
  std::uint8_t* const d = i.bytes(dst);
  static thread_local std::vector<std::uint8_t> flags, states;
  flags.assign((lanes_in_all + 7) / 8 * 8, 0);
  states.assign(flags.size(), kDefined);
  std::uint64_t at = 0;
  for (const Run& r : runs) {
    compare(flags.data() + at, src0.dtype, i.bytes(src0) + r.offset[0],
            src1 ? i.bytes(*src1) + r.offset[1] : reinterpret_cast<const std::uint8_t*>(&scalar), !src1, r.n, how);
    const std::uint64_t bytes = std::uint64_t{r.n} * size;
    if (!as.clean(r.offset[0], bytes) || (src1 && !bs.clean(r.offset[1], bytes))) {
      for (std::uint64_t k = 0; k < r.n; ++k)
        states[at + k] = meet(as.of(r.offset[0] + k * size, size), src1 ? bs.of(r.offset[1] + k * size, size) : kDefined);
    }
    at += r.n;
  }
  for (std::uint64_t first = 0; first < at; first += 8) {
    d[first / 8] = packed(flags.data() + first);
    // A byte is undefined only if all of its lanes are: bits have no state of their own.
    const auto begin = states.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(8, at - first));
    ds.set(first / 8, 1, std::find(begin, end, kDefined) != end ? kDefined : *(end - 1));
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
      std::uint8_t bit;
      compare(&bit, src0.dtype, i.bytes(src0) + oa, i.bytes(src1) + ob, false, 1, how);
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
  if (ub.bytes < kReserved || ub.bytes > ub.device_bytes) return;  // a larger one was reported
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
  const bool one_state = std::memcmp(state, state + 1, kReserved - 1) == 0;
  if (one_state && *state == kUnwritten) return;
  const std::uint8_t used =
      new_origin(format("the last 8 KB of UB, which %s at %s has used", i.name(), to_string(i.site()).c_str()));
  if (!one_state || *state != used) std::memset(state, used, kReserved);
}

// 0xff for each of n lanes whose bit is set. Bits are those of the lanes from `first` on, or of their places in a repeat.
static void spread_bits(std::uint8_t* flags, const std::uint8_t* bits, std::uint64_t first, std::uint32_t n,
                        std::uint32_t a_repeat, bool same_bits) {
  static const auto kSpread = [] {
    std::array<std::uint64_t, 256> all{};
    for (unsigned byte = 0; byte < 256; ++byte) {
      for (unsigned k = 0; k < 8; ++k) all[byte] |= std::uint64_t{byte >> k & 1 ? 0xffu : 0u} << (8 * k);
    }
    return all;
  }();
  for (std::uint32_t k = 0; k < n;) {
    const std::uint64_t lane = same_bits ? (first + k) % a_repeat : first + k;
    const std::uint32_t here = std::min<std::uint32_t>(8 - lane % 8, n - k);
    const std::uint64_t eight = kSpread[bits[lane / 8]] >> (lane % 8 * 8);
    std::memcpy(flags + k, &eight, here);
    k += here;
  }
}

template <class Word>
static void choose(std::uint8_t* d, const std::uint8_t* flags, const std::uint8_t* a, const std::uint8_t* b, bool one_b,
                   std::uint32_t n) {
  if (one_b) {
    const Word other = load<Word>(b);
    wide([=] {
      for (std::uint64_t k = 0; k < n; ++k)
        store<Word>(d + k * sizeof(Word), flags[k] ? load<Word>(a + k * sizeof(Word)) : other);
    });
  } else {
    wide([=] {
      for (std::uint64_t k = 0; k < n; ++k) {
        const Word first = load<Word>(a + k * sizeof(Word)), second = load<Word>(b + k * sizeof(Word));
        store<Word>(d + k * sizeof(Word), flags[k] ? first : second);
      }
    });
  }
}

// The mask that the compare register points at: what is left of UB from there.
static View mask_at_register(Instruction& i) {
  const VectorRegisters& reg = core().registers;
  const auto address = load<std::uint32_t>(reg.compared);
  const View mask = ub_view(address, DType::U8);
  if (!all_defined(reg.compared_state, sizeof address)) {
    i.refuse(Kind::Uninitialised, "Select uses as an address what the compare register holds, which is undefined",
             "SetCmpMask with a tensor that holds the address of the mask");
  } else if (mask.bytes == 0) {
    i.refuse(Kind::OutOfBounds,
             format("Select: the compare register holds 0x%x, which is no address in UB of this core", address),
             "SetCmpMask with a tensor that holds what GetPhyAddr of the mask gives");
  } else if (mask.addr % kBlockBytes != 0) {
    i.refuse(Kind::Alignment,
             format("Select: the mask at UB 0x%llx does not begin on 32 bytes", static_cast<unsigned long long>(mask.addr)),
             "begin it on a multiple of 32 bytes");
  }
  return mask;
}

void vector_select(const SelectCall& asked, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_select(asked, site); })
  Instruction i(Pipe::V, "Select", site);
  SelectCall call = asked;
  const View pointed_at = call.address_in_register ? mask_at_register(i) : View{};
  if (call.address_in_register) {
    if (i.refused()) return;
    call.mask = &pointed_at;
  }
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
  const std::uint64_t mask_bytes = same_bits ? a_repeat / 8 : (last_lane + 7) / 8;
  if (call.mask) i.read(*call.mask, 0, mask_bytes);
  i.cost("Select", repeats_for(call.lanes, size), dst.dtype);
  if (call.mask && !call.mask_repeats && !call.address_in_register) use_reserved_ub(i);
  if (!i.issue()) return;
  const VectorRegisters& reg = core().registers;
  const std::uint8_t* const m = call.mask ? i.bytes(*call.mask) : reg.compared;
  const std::uint8_t* const constant =
      call.scalar_in_register ? reg.compared : reinterpret_cast<const std::uint8_t*>(&call.scalar);
  States ds(i, dst), as(i, call.src0), bs(i, other), ms(i, call.mask ? *call.mask : call.src0);
  const bool mask_clean = call.mask ? ms.clean(0, mask_bytes) : all_defined(reg.compared_state, a_repeat / 8);
  static thread_local std::vector<std::uint8_t> flags;
  for (const Run& r : runs) {
    flags.resize(std::max<std::size_t>(flags.size(), r.n));
    spread_bits(flags.data(), m, r.lane, r.n, a_repeat, same_bits);
    with_word(size, [&](auto word) {
      choose<decltype(word)>(i.bytes(dst) + r.offset[0], flags.data(), i.bytes(call.src0) + r.offset[1],
                             call.src1 ? i.bytes(*call.src1) + r.offset[2] : constant, !call.src1, r.n);
    });
    const std::uint64_t bytes = std::uint64_t{r.n} * size;
    if (mask_clean && as.clean(r.offset[1], bytes) && (!call.src1 || bs.clean(r.offset[2], bytes))) {
      ds.set(r.offset[0], bytes, kDefined);
      continue;
    }
    for (std::uint64_t k = 0; k < r.n; ++k) {
      const std::uint64_t lane = same_bits ? (r.lane + k) % a_repeat : r.lane + k;
      std::uint8_t state = call.mask ? ms.of(lane / 8, 1) : reg.compared_state[lane / 8];
      const std::uint64_t at = k * size;
      state = meet(state, flags[k] ? as.of(r.offset[1] + at, size) : call.src1 ? bs.of(r.offset[2] + at, size) : kDefined);
      ds.set(r.offset[0] + at, size, state);
    }
  }
}

}  // namespace twin
