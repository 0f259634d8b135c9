// SPDX-License-Identifier: Apache-2.0
// What a kernel asks for while it is looked into: dumps, traps, a counter that grows.
#include <cstdio>
#include <cstring>

#include "element.hpp"
#include "engine.hpp"

namespace twin {
namespace {

std::string element_text(const std::uint8_t* p, DType dtype, bool second_of_byte) {
  const auto read = [&](auto value) {
    std::memcpy(&value, p, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::F16:
      return format("%g", double(half_to_float(read(std::uint16_t{}))));
    case DType::BF16:
      return format("%g", double(bfloat_to_float(read(std::uint16_t{}))));
    case DType::F32:
      return format("%g", double(read(float{})));
    case DType::I8:
      return format("%d", read(std::int8_t{}));
    case DType::U8:
      return format("%u", read(std::uint8_t{}));
    case DType::I4:
      return format("%d", int4_of(*p, second_of_byte));
    case DType::I16:
      return format("%d", read(std::int16_t{}));
    case DType::U16:
      return format("%u", read(std::uint16_t{}));
    case DType::I32:
      return format("%d", read(std::int32_t{}));
    case DType::U32:
      return format("%u", read(std::uint32_t{}));
    case DType::I64:
      return format("%lld", static_cast<long long>(read(std::int64_t{})));
    default:
      return format("%llu", static_cast<unsigned long long>(read(std::uint64_t{})));
  }
}

}  // namespace

std::int64_t system_cycle() {
  std::int64_t n = 0;
  for (const std::uint32_t issued : core().issued) n += issued;
  return n;
}

void trap(const char* why, Site site) {
  report({Kind::Limit, format("%s: the core stops here", why), to_string(site), "", core().label(), "S", "", "",
          "see why it came here"});
}

void refuse_call(const char* what, const char* fix, Site site) {
  report({Kind::Limit, what, to_string(site), "", core().label(), "", "", "", fix});
}

void refuse_bytes(const char* name, Site site) {
  refuse_call(format("%s of 8-bit elements: the 910B has it for int16_t and uint16_t", name).c_str(),
              "ReinterpretCast<uint16_t>() the operands and halve the count", site);
}

void refuse_repeats(std::int64_t repeats, Site site);  // ascendc/vector.hpp
void refuse_repeats(std::int64_t repeats, Site site) {
  refuse_call(format("%lld repeats: an instruction takes 0 to 255, and does the %d that 8 bits leave",
                     static_cast<long long>(repeats), static_cast<int>(repeats & 255))
                  .c_str(),
              "several calls of at most 255 repeats", site);
}

void dump(const View& view, std::uint32_t desc, std::uint32_t count, Site site) {
  const Core& c = core();
  const std::uint32_t size = size_bytes(view.dtype), a_byte = view.dtype == DType::I4 ? 2 : 1;
  Memory* m =
      view.space == Space::GM ? GlobalMemory::get().find(view.addr) : const_cast<Memory*>(&c.memory[int(view.space)]);
  const std::uint64_t at = !m                        ? 0
                           : view.space == Space::GM ? view.addr - reinterpret_cast<std::uint64_t>(m->data)
                                                     : view.addr;
  std::uint64_t there = m && at < m->bytes ? (m->bytes - at) / size * a_byte : 0;
  if (view.bytes) there = std::min<std::uint64_t>(there, view.bytes / size * a_byte);
  if (count > there) {
    report({Kind::OutOfBounds,
            format("DumpTensor of %u elements of a tensor that has %llu", count, static_cast<unsigned long long>(there)),
            to_string(site), "", c.label(), "", "", "", "dump fewer"});
    count = static_cast<std::uint32_t>(there);
  }
  std::string line = format("DumpTensor: desc=%u, %s, %s, data_type=%s, position=%s, addr=0x%llx, dump_size=%u\n[", desc,
                            to_string(site).c_str(), c.label().c_str(), name(view.dtype), name(view.space),
                            static_cast<unsigned long long>(at), count);
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::uint64_t byte = at + k / a_byte * size;
    line += k ? ", " : "";
    line += all_defined(m->state + byte, size) ? element_text(m->data + byte, view.dtype, k % a_byte) : "undefined";
  }
  std::fputs((line + "]\n").c_str(), stdout);
}

}  // namespace twin
