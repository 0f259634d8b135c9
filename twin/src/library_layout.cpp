// SPDX-License-Identifier: Apache-2.0
// ConfusionTranspose: five axes, walked through in the order of the indices.
#include "twin/calls_layout.hpp"

#include "library_rows.hpp"

namespace twin {

using namespace library;

namespace {

std::uint64_t place(const TensorLayout& layout, const std::uint32_t (&index)[5]) {
  std::uint64_t at = 0;
  for (int a = 0; a < 5; ++a) {
    const AxisLayout& axis = layout.axis[a];
    at += index[a] / axis.split * axis.outer + index[a] % axis.split * axis.inner;
  }
  return at;
}
// False behind the last.
bool next(const std::uint32_t (&count)[5], std::uint32_t (&index)[5]) {
  for (int a = 4; a >= 0; --a) {
    if (++index[a] < count[a]) return true;
    index[a] = 0;
  }
  return false;
}

}  // namespace

void library_layout(const LibraryLayout& c, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_layout(c, site); }) {
    Instruction i(Pipe::V, c.name, site);
    Operands operands(i, false);
    if (c.wrong) i.refuse(Kind::Limit, format("%s: %s", c.name, c.wrong), c.fix);
    operands.read(&c.src, c.from.elements, "srcTensor");
    operands.write(&c.dst, c.to.elements, "dstTensor");
    operands.work(c.work, c.to.elements * size_bytes(c.dst.dtype));
    i.cost("Transpose", 2 * c.to.elements, c.dst.dtype);  // there and back by TransDataTo5HD: assumed
    if (i.issue()) {
      Numbers from(i, c.src);
      States to(i, c.dst);
      const std::uint64_t size = from.size();
      to.set(0, c.to.elements * size, left_padding(i));
      std::uint32_t index[5] = {};
      do {
        const std::uint64_t at = place(c.from, index), dst = place(c.to, index);
        std::uint8_t state = kDefined;
        from.get(at, &state);
        std::memcpy(i.bytes(c.dst) + dst * size, i.bytes(c.src) + at * size, size);
        to.set(dst * size, size, state);
      } while (next(c.count, index));
      operands.spoil_work();
    }
  }
  close(site);
}

}  // namespace twin
