// SPDX-License-Identifier: Apache-2.0
// TopK and DropOut of the library, and the sum of exclusive ors.
#include <algorithm>

#include "library_rows.hpp"
#include "twin/calls_rows.hpp"

namespace twin {

using namespace library;

namespace {

std::uint64_t blocks_up(std::uint64_t elements, DType dtype) {
  const std::uint64_t block = kBlockBytes / size_bytes(dtype);
  return (elements + block - 1) / block * block;
}

void check(Instruction& i, const LibraryTopK& c) {
  require_floats(i, c.src.dtype);
  if (c.rows < 1 || c.inner < 1 || c.inner % 32 || c.n < 1 || c.n > c.inner || (c.small ? c.inner != 32 : c.inner > 4096))
    i.refuse(Kind::Limit,
             format("TopK of %lld rows of inner %lld, n %lld", static_cast<long long>(c.rows),
                    static_cast<long long>(c.inner), static_cast<long long>(c.n)),
             "inner is a multiple of 32 up to 4096 (TOPK_NSMALL: 32), n at most inner");
  if (c.k < 1 || c.k > c.n)
    i.refuse(Kind::Limit, format("TopK: k %lld of n %lld", static_cast<long long>(c.k), static_cast<long long>(c.n)),
             "1 <= k <= n");
  i.require(!(c.small && c.finish), Kind::Limit, "TopK in mode TOPK_NSMALL with finishLocal", "isHasfinish is false there");
  i.require(c.work_is_calc, Kind::Limit, "TopK: tmpLocal is at another position than VECCALC",
            "take it from a TBuf<VECCALC>");
}

struct Ranked {
  double value;
  std::uint64_t place;
};
void rank(std::vector<Ranked>& row, bool largest) {
  std::stable_sort(row.begin(), row.end(), [&](const Ranked& a, const Ranked& b) {
    if (std::isnan(a.value) || std::isnan(b.value)) return std::isnan(a.value) && !std::isnan(b.value);
    return largest ? a.value > b.value : a.value < b.value;
  });
}

void choose(Instruction& i, const LibraryTopK& c, std::uint64_t values_step, std::uint64_t indices_step) {
  Numbers src(i, c.src), values(i, c.values), indices(i, c.indices);
  std::optional<Numbers> given = numbers(i, c.src_index), finish = numbers(i, c.finish);
  const std::uint8_t left =
      new_origin(format("TopK at %s leaves the elements behind the k-th", to_string(i.site()).c_str()));
  const auto k = static_cast<std::uint64_t>(c.k), inner = static_cast<std::uint64_t>(c.inner);
  std::vector<Ranked> row(inner);
  for (std::uint64_t r = 0; r < static_cast<std::uint64_t>(c.rows); ++r) {
    std::uint8_t state = kDefined;  // one value without a definition, padding included, and the order has none
    for (std::uint64_t m = 0; m < inner; ++m) row[m] = {src.get(r * inner + m, &state), m};
    rank(row, c.largest);
    std::uint8_t ended = kDefined;
    const bool drop = finish && finish->get(r, &ended) != 0;
    for (std::uint64_t m = 0; m < k; ++m) {
      values.put(r * values_step + m, row[m].value, state);
      std::uint8_t index_state = meet(state, ended);
      double index = static_cast<double>(row[m].place);
      if (given) index = given->get((c.small ? r * inner : 0) + row[m].place, &index_state);
      indices.put(r * indices_step + m, drop ? static_cast<double>(c.n) : index, drop ? ended : index_state);
    }
    for (std::uint64_t m = k; m < values_step; ++m) values.leave(r * values_step + m, left);
    for (std::uint64_t m = k; m < indices_step; ++m) indices.leave(r * indices_step + m, left);
  }
}

}  // namespace

void library_topk(const LibraryTopK& c, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_topk(c, site); }) {
    Instruction i(Pipe::V, "TopK", site);
    Operands operands(i, false);
    check(i, c);
    if (!i.refused()) {
      const auto rows = static_cast<std::uint64_t>(c.rows), inner = static_cast<std::uint64_t>(c.inner);
      const auto k = static_cast<std::uint64_t>(c.k);
      const std::uint64_t values_step = c.small ? k : blocks_up(k, c.values.dtype);
      const std::uint64_t indices_step = c.small ? k : blocks_up(k, c.indices.dtype);
      operands.read(&c.src, rows * inner, "srcLocal");
      operands.read(c.src_index, c.small ? rows * inner : inner, "srcIndexLocal");
      operands.read(c.finish, rows, "finishLocal");
      operands.write(&c.values, rows * values_step, "dstValueLocal");
      operands.write(&c.indices, rows * indices_step, "dstIndexLocal");
      operands.work(c.work, rows * inner * 8);
      // Sort32, and merges of four lists until one is left (none if small); then two GatherMask over pairs of 8 bytes, and
      // two Muls for the smallest, in the same unit: two elements a cycle.
      std::uint64_t passes = 1;
      for (std::uint64_t lists = inner / 32; lists > 1; lists = (lists + 3) / 4) ++passes;
      i.cost("Sort", rows * inner * passes + rows * inner / 8 + (c.largest ? 0 : rows * inner / 16), c.src.dtype);
      if (i.issue()) {
        choose(i, c, values_step, indices_step);
        operands.spoil_work();
      }
    }
  }
  close(site);
}

void library_dropout(const LibraryDropOut& c, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_dropout(c, site); }) {
    Instruction i(Pipe::V, "DropOut", site);
    Operands operands(i);
    const std::uint64_t total = std::uint64_t{c.rows} * c.columns;
    const std::uint64_t wanted = c.bits ? (c.columns + 7) / 8 : c.columns;  // bytes of a row's mask
    require_floats(i, c.src.dtype);
    require_shape(i, c.rows, c.columns, c.columns, "fill in firstAxis and srcLastAxis of DropOutShapeInfo");
    if (c.padded) require_blocks(i, c.columns, c.src.dtype);
    if (c.padded && c.mask_columns < wanted)
      i.refuse(Kind::Limit, format("DropOut: maskLastAxis %u for rows of %u elements", c.mask_columns, c.columns),
               c.bits ? "a bit an element" : "a byte an element");
    if (c.padded && wanted % 2)
      i.refuse(Kind::Limit, format("DropOut: %llu bytes of mask a row", static_cast<unsigned long long>(wanted)),
               "an even number, where padding follows them");
    if (!(c.keep > 0 && c.keep <= 1))
      i.refuse(Kind::Limit, format("DropOut: keepProb %g", static_cast<double>(c.keep)), "0 < keepProb <= 1");
    operands.read(&c.src, total, "srcLocal");
    operands.read(&c.mask,
                  c.padded ? c.rows * std::uint64_t{c.mask_columns}
                  : c.bits ? (total + 7) / 8
                           : total,
                  "maskLocal");
    operands.write(&c.dst, total, "dstLocal");
    operands.work(c.work, total * sizeof(float));
    // Select and Muls; a mask of bytes becomes halves and is compared; padding is gathered away: no figure is public.
    i.cost("OneVector", (3 + (c.bits ? 0 : 4) + (c.padded ? 1 : 0)) * repeats(total, c.src.dtype), c.src.dtype);
    if (i.issue()) {
      Numbers src(i, c.src), mask(i, c.mask), dst(i, c.dst);
      for (std::uint64_t k = 0; k < total; ++k) {
        const std::uint64_t row = c.padded ? k / c.columns : 0, column = c.padded ? k % c.columns : k;
        std::uint8_t mask_state = kDefined, state = kDefined;
        const auto byte =
            static_cast<unsigned>(mask.get(row * c.mask_columns + (c.bits ? column / 8 : column), &mask_state));
        const bool kept = c.bits ? (byte >> (column % 8) & 1) != 0 : byte != 0;
        const double x = src.get(k, &state);
        dst.put(k, kept ? x / static_cast<double>(c.keep) : 0, meet(mask_state, kept ? state : kDefined));
      }
      operands.spoil_work();
    }
  }
  close(site);
}

void library_xor_sum(const View& dst, const View& a, const View& b, const MaybeView& work, std::uint32_t count, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_xor_sum(dst, a, b, work, count, site); }) {
    Instruction i(Pipe::V, "ReduceXorSum", site);
    Operands operands(i);
    i.require(count > 0, Kind::Limit, "ReduceXorSum of no elements", "calCount is at least 1");
    operands.read(&a, count, "src0Tensor");
    operands.read(&b, count, "src1Tensor");
    operands.write(&dst, 1, "dstTensor");
    operands.work(work, std::uint64_t{count} * 8);
    // Or, And, Not, And; to floats in two halves, and their sums by whole repeats: no figure is public.
    i.cost("OneVector", (4 + 2 + 14) * repeats(count, a.dtype), a.dtype);
    if (i.issue()) {
      Numbers x(i, a), y(i, b);
      std::uint8_t state = kDefined;
      double sum = 0;
      for (std::uint64_t k = 0; k < count; ++k)
        sum +=
            static_cast<double>(static_cast<std::int64_t>(x.get(k, &state)) ^ static_cast<std::int64_t>(y.get(k, &state)));
      Numbers(i, dst).put(0, sum, state);
      operands.spoil_work();
    }
  }
  close(site);
}

}  // namespace twin
