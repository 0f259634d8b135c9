// SPDX-License-Identifier: Apache-2.0
// From L1 into the BiasTable, half or bfloat16 as float on request.
#include <cstring>

#include "cube_common.hpp"

namespace twin {

void move_to_bias(const View& to, const View& from, const Blocks& b, Site site) {
  TWIN_HOLD_BACK(Pipe::MTE1, { move_to_bias(to, from, b, site); })
  Instruction i(Pipe::MTE1, "DataCopy (to float)", site);
  if (!(from.space == Space::L1 && to.space == Space::BT))
    i.refuse(Kind::Limit, format("DataCopy (to float) from %s to %s", name(from.space), name(to.space)),
             "it goes from L1 to the BiasTable, C1 to C2");
  if (!(from.dtype == DType::F16 || from.dtype == DType::BF16))
    i.refuse(Kind::Limit, format("DataCopy (to float) of %s: half and bfloat16", name(from.dtype)), "copy float as it is");
  i.require_aligned(from, 32, "the source");
  i.require_aligned(to, 64, "the destination");
  const std::uint64_t wide = b.bytes * 2;
  for (std::uint64_t k = 0; k < b.count; ++k) i.read(from, k * b.src_step, b.bytes);
  for (std::uint64_t k = 0; k < b.count; ++k) i.write(to, k * b.dst_step, (wide + 63) / 64 * 64);
  i.move(Path::L1ToBt, b.count * wide);
  if (b.count == 0 || b.bytes == 0 || !i.issue()) return;
  States ds(i, to), ss(i, from);
  for (std::uint64_t k = 0; k < b.count; ++k) {
    for (std::uint64_t e = 0; e < b.bytes; e += 2) {
      std::uint16_t bits;
      std::memcpy(&bits, i.bytes(from) + k * b.src_step + e, 2);
      const float value = from.dtype == DType::F16 ? half_to_float(bits) : bfloat_to_float(bits);
      std::memcpy(i.bytes(to) + k * b.dst_step + e * 2, &value, 4);
      ds.set(k * b.dst_step + e * 2, 4, ss.of(k * b.src_step + e, 2));
    }
  }
}

}  // namespace twin
