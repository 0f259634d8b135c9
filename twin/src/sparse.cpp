// SPDX-License-Identifier: Apache-2.0
// Products with a matrix of which two of each four rows are left out.
#include "cube_common.hpp"

namespace twin {

void cube_load_sparse(const View& dst, const View& src, const View& index, const Load2d& load, Site site) {
  TWIN_HOLD_BACK(Pipe::MTE1, { cube_load_sparse(dst, src, index, load, site); })
  Instruction i(Pipe::MTE1, "LoadDataWithSparse", site);
  if (!(dst.space == Space::L0B && src.space == Space::L1 && index.space == Space::L1))
    i.refuse(Kind::Limit,
             format("LoadDataWithSparse from %s and %s to %s: from L1 to L0B", name(src.space), name(index.space),
                    name(dst.space)),
             "use positions B1 and B2");
  if (!(dst.dtype == DType::I8 && src.dtype == DType::I8))
    i.refuse(Kind::Limit, format("LoadDataWithSparse of %s: int8 only", name(src.dtype)), "use LoadData");
  i.require(!load.transpose && !load.backwards, Kind::Limit, "LoadDataWithSparse: ifTranspose and addrMode are to be 0",
            "lay the fractals out in order");
  if (!(load.repeats <= 255))
    i.refuse(Kind::Limit, format("LoadDataWithSparse: repeatTimes %u, at most 255", load.repeats), "split it");
  i.require_aligned(dst, kFractalBytes, "the destination");
  i.require_aligned(src, kBlockBytes, "the source");
  i.require_aligned(index, kBlockBytes, "the index");
  const auto from = [&](std::uint64_t r) { return load.first + r * load.src_stride; };
  const auto to = [&](std::uint64_t r) { return r * (std::uint64_t{load.dst_gap} + 1) * kFractalBytes; };
  for (std::uint64_t r = 0; r < load.repeats; ++r) {
    i.read(src, from(r) * kFractalBytes, kFractalBytes);
    i.read(index, from(r) * kFractalBytes / 4, kFractalBytes / 4);
    i.write(dst, to(r), kFractalBytes);
  }
  i.move(Path::L1ToL0b, load.repeats * (kFractalBytes + kFractalBytes / 4));
  if (load.repeats == 0 || !i.issue()) return;
  auto& kept = core().cube.sparse_index;
  kept.resize(core().memory[int(Space::L0B)].bytes / 4);
  States ds(i, dst), ss(i, src);
  for (std::uint64_t r = 0; r < load.repeats; ++r) {
    i.use(index, from(r) * kFractalBytes / 4, kFractalBytes / 4, "takes as positions");
    std::memcpy(i.bytes(dst) + to(r), i.bytes(src) + from(r) * kFractalBytes, kFractalBytes);
    ds.copy_from(ss, to(r), from(r) * kFractalBytes, kFractalBytes);
    std::memcpy(&kept[(dst.addr + to(r)) / 4], i.bytes(index) + from(r) * kFractalBytes / 4, kFractalBytes / 4);
    std::memset(core().memory[int(Space::L0B)].fractal.data() + (dst.addr + to(r)) / 32, 0, 16);
  }
}

void cube_mmad_sparse(const MmadCall& call, Site site) {
  TWIN_HOLD_BACK(Pipe::M, { cube_mmad_sparse(call, site); })
  Instruction i(Pipe::M, "MmadWithSparse", site);
  i.require(call.a.space == Space::L0A && call.b.space == Space::L0B && call.c.space == Space::L0C, Kind::Limit,
            "MmadWithSparse takes A from L0A, B from L0B and writes L0C", "use positions A2, B2 and CO1");
  if (!(call.a.dtype == DType::I8 && call.b.dtype == DType::I8 && call.c.dtype == DType::I32))
    i.refuse(Kind::Limit,
             format("MmadWithSparse of %s and %s into %s: int8 into int32 only", name(call.a.dtype), name(call.b.dtype),
                    name(call.c.dtype)),
             "use Mmad");
  if (!(call.m <= 4095 && call.n <= 4095 && call.k <= 4095 && call.k % 64 == 0))
    i.refuse(Kind::Limit,
             format("MmadWithSparse: m %u, n %u, k %u; each at most 4095, k a multiple of 64", call.m, call.n, call.k),
             "split it, or pad k");
  i.require(!core().cube.sparse_index.empty(), Kind::Uninitialised, "MmadWithSparse without a LoadDataWithSparse before",
            "load B with its index");
  i.require_aligned(call.c, 1024, "the destination");
  i.require_aligned(call.a, kFractalBytes, "A");
  i.require_aligned(call.b, kFractalBytes, "B");
  if (call.m == 0 || call.n == 0 || call.k == 0) return;
  const std::uint64_t m = up(call.m, 16), n = up(call.n, 16), kf = call.k / 32;
  i.read(call.a, 0, m / 16 * kf * kFractalBytes);
  i.read(call.b, 0, n / 16 * kf / 2 * kFractalBytes);
  if (!call.from_zero) i.read(call.c, 0, m * n * 4);
  i.write(call.c, 0, m * n * 4);
  if (m / 16 * (n / 16) < 10) i.tag(kSmallMmad);
  i.cost("Mmad", m / 16 * (n / 16) * (call.k / 64));
  unit_flag_of_mmad(i, call, m * n * 4);
  if (!i.issue()) return;
  const auto& kept = core().cube.sparse_index;
  States as(i, call.a), bs(i, call.b), cs(i, call.c);
  for (std::uint64_t r = 0; r < m; ++r) {
    for (std::uint64_t j = 0; j < n; ++j) {
      std::uint8_t* const c = i.bytes(call.c) + ((j / 16 * m + r) * 16 + j % 16) * 4;
      const std::uint64_t at_c = ((j / 16 * m + r) * 16 + j % 16) * 4;
      std::int32_t sum = 0;
      if (!call.from_zero) std::memcpy(&sum, c, 4);
      std::uint8_t state = call.from_zero ? kDefined : cs.of(at_c, 4);
      for (std::uint64_t p = 0; p < call.k / 2; ++p) {
        const std::uint64_t at_b = ((p / 32 * (n / 16) + j / 16) * 16 + j % 16) * 32 + p % 32;
        const std::uint64_t b = call.b.addr + at_b;
        const std::uint64_t row = p / 2 * 4 + p % 2 + (kept[b / 4] >> (b % 4 * 2) & 3);
        if (row >= call.k) continue;
        const std::uint64_t at_a = ((r / 16 * kf + row / 32) * 16 + r % 16) * 32 + row % 32;
        sum +=
            std::int32_t{static_cast<std::int8_t>(i.bytes(call.a)[at_a])} * static_cast<std::int8_t>(i.bytes(call.b)[at_b]);
        if (r < call.m && j < call.n) state = meet(state, meet(as.of(at_a, 1), bs.of(at_b, 1)));
      }
      std::memcpy(c, &sum, 4);
      cs.set(at_c, 4, state);
    }
  }
}

}  // namespace twin
