// SPDX-License-Identifier: Apache-2.0
// The library's elementwise functions: values in double, rounded once; costs as so many vector instructions.
#include "library_common.hpp"

namespace twin {

using namespace library;

void library_map(const LibraryMap& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_map(call, site); }) {
    Instruction i(Pipe::V, call.name, site);
    const std::uint32_t size = size_bytes(call.dst.dtype);
    i.require_aligned(call.dst, kBlockBytes, "the destination");
    for (int s = 0; s < call.sources; ++s) {
      i.require_aligned(call.src[s], kBlockBytes, "a source");
      i.read(call.src[s], 0, std::uint64_t{call.count} * size_bytes(call.src[s].dtype));
    }
    i.write(call.dst, 0, std::uint64_t{call.count} * size);
    const Work work(i, call.work, std::uint64_t{call.count} * size);
    i.cost("OneVector", call.passes * repeats(call.count, call.dst.dtype), call.dst.dtype);
    if (call.count && i.issue()) {
      States ds(i, call.dst);
      std::vector<States> ss;
      for (int s = 0; s < call.sources; ++s) ss.emplace_back(i, call.src[s]);
      for (std::uint64_t k = 0; k < call.count; ++k) {
        double x[3] = {};
        std::uint8_t state = kDefined;
        for (int s = 0; s < call.sources; ++s) {
          const std::uint32_t n = size_bytes(call.src[s].dtype);
          x[s] = get(i.bytes(call.src[s]) + k * n, call.src[s].dtype);
          state = meet(state, ss[s].of(k * n, n));
        }
        put(i.bytes(call.dst) + k * size, call.dst.dtype, call.value(x, call.scalar));
        ds.set(k * size, size, state);
      }
      work.spoil(i);
    }
  }
  close(site);
}

}  // namespace twin
