// SPDX-License-Identifier: Apache-2.0
// The library on matrices: reductions, Broadcast, choices by bytes, running sums.
#include "library_common.hpp"

namespace twin {

using namespace library;

void library_fold(const LibraryFold& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_fold(call, site); }) {
    Instruction i(Pipe::V, call.name, site);
    const DType from = call.src.dtype, to = call.dst.dtype;
    const std::uint32_t size = size_bytes(from), out = size_bytes(to);
    i.require_aligned(call.dst, kBlockBytes, "the destination");
    i.require_aligned(call.src, kBlockBytes, "the source");
    if (call.used == 0 || call.used > call.middle)
      i.refuse(Kind::Limit, format("%s of %u elements of a dimension of %u", call.name, call.used, call.middle),
               "at least one, and not more than there are");
    const auto at = [&](std::uint64_t o, std::uint64_t m, std::uint64_t n) {
      return (o * call.outer_step + m * call.middle_step + n) * size;
    };
    for (std::uint64_t o = 0; o < call.outer; ++o) {
      if (call.middle_step == 1) {
        i.read(call.src, at(o, 0, 0), std::uint64_t{call.used} * size);
      } else {
        for (std::uint64_t m = 0; m < call.used; ++m) i.read(call.src, at(o, m, 0), std::uint64_t{call.inner} * size);
      }
    }
    const std::uint64_t results = std::uint64_t{call.outer} * call.inner;
    i.write(call.dst, 0, results * out);
    const std::uint64_t total = results * call.middle;
    const Work work(i, call.work, total * size);
    if (call.middle_step == 1) {  // along lanes: whole repeats, then what they left
      i.cost(call.fold == Fold::Sum || call.fold == Fold::Mean ? "WholeReduceSum" : "WholeReduceMax", repeats(total, from),
             from);
    } else {  // across rows: one two-vector instruction a row
      i.cost("TwoVectors", call.outer * std::uint64_t{call.used} * repeats(call.inner, from), from);
    }
    if (results && i.issue()) {
      States ds(i, call.dst), ss(i, call.src);
      for (std::uint64_t o = 0; o < call.outer; ++o) {
        for (std::uint64_t n = 0; n < call.inner; ++n) {
          double value = call.fold == Fold::Prod || call.fold == Fold::All ? 1 : 0;
          std::uint8_t state = kDefined;
          for (std::uint64_t m = 0; m < call.used; ++m) {
            const double x = get(i.bytes(call.src) + at(o, m, n), from);
            state = meet(state, ss.of(at(o, m, n), size));
            switch (call.fold) {
              case Fold::Sum:
              case Fold::Mean:
                value += x;
                break;
              case Fold::Max:
                value = m == 0 || x > value || std::isnan(x) ? x : value;
                break;
              case Fold::Min:
                value = m == 0 || x < value || std::isnan(x) ? x : value;
                break;
              case Fold::Prod:
                value *= x;
                break;
              case Fold::Any:
                value = value != 0 || x != 0;
                break;
              default:
                value = value != 0 && x != 0;
            }
          }
          if (call.fold == Fold::Mean) value /= call.used;
          const std::uint64_t place = (o * call.inner + n) * out;
          put(i.bytes(call.dst) + place, to, value);
          ds.set(place, out, state);
        }
      }
      work.spoil(i);
    }
  }
  close(site);
}

void library_broadcast(const View& dst, const View& src, const MaybeView& work_view, const std::uint32_t* dst_shape,
                       const std::uint32_t* src_shape, int dims, Site site) {
  if (core().stands(Pipe::V)) {
    return core().hold_back(Pipe::V, [=, to = std::vector<std::uint32_t>(dst_shape, dst_shape + dims),
                                      from = std::vector<std::uint32_t>(src_shape, src_shape + dims)] {
      library_broadcast(dst, src, work_view, to.data(), from.data(), dims, site);
    });
  }
  {
    Instruction i(Pipe::V, "Broadcast", site);
    const std::uint32_t size = size_bytes(dst.dtype);
    std::uint64_t total = 1, given = 1;
    for (int d = 0; d < dims; ++d) {
      if (src_shape[d] != dst_shape[d] && src_shape[d] != 1)
        i.refuse(Kind::Limit,
                 format("Broadcast: dimension %d of the source is %u, of the destination %u", d, src_shape[d], dst_shape[d]),
                 "a source dimension is 1, or equal");
      total *= dst_shape[d];
      given *= src_shape[d];
    }
    i.require_aligned(dst, kBlockBytes, "the destination");
    i.require_aligned(src, kBlockBytes, "the source");
    i.read(src, 0, given * size);
    i.write(dst, 0, total * size);
    const Work work(i, work_view, total * size);
    i.cost("OneVector", 2 * repeats(total, dst.dtype), dst.dtype);
    if (total && i.issue()) {
      States ds(i, dst), ss(i, src);
      const std::vector<std::uint8_t> from(i.bytes(src), i.bytes(src) + given * size);
      std::vector<std::uint8_t> states(given);
      for (std::uint64_t k = 0; k < given; ++k) states[k] = ss.of(k * size, size);
      for (std::uint64_t k = 0; k < total; ++k) {
        std::uint64_t rest = k, at = 0, step = 1;
        for (int d = dims; d-- > 0;) {
          if (src_shape[d] != 1) at += rest % dst_shape[d] * step;
          rest /= dst_shape[d];
          step *= src_shape[d];
        }
        std::memcpy(i.bytes(dst) + k * size, &from[at * size], size);
        ds.set(k * size, size, states[at]);
      }
      work.spoil(i);
    }
  }
  close(site);
}

void library_choose(const LibraryChoice& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_choose(call, site); }) {
    Instruction i(Pipe::V, "SelectWithBytesMask", site);
    const std::uint32_t size = size_bytes(call.dst.dtype), mask_size = size_bytes(call.mask.dtype);
    const std::uint64_t total = std::uint64_t{call.rows} * call.columns;
    if (call.mask_columns < call.columns)
      i.refuse(Kind::Limit,
               format("SelectWithBytesMask: maskLastAxis %u is less than srcLastAxis %u", call.mask_columns, call.columns),
               "the rows of the mask are at least as long");
    for (const View* v : {&call.dst, &call.src, &call.mask}) i.require_aligned(*v, kBlockBytes, "an operand");
    i.read(call.src, 0, total * size);
    i.read(call.mask, 0, std::uint64_t{call.rows} * call.mask_columns * mask_size);
    i.write(call.dst, 0, total * size);
    const Work work(i, call.work, total * size);
    i.cost("Select", 4 * repeats(total, call.dst.dtype), call.dst.dtype);  // to halves, compare, select: assumed
    if (total && i.issue()) {
      States ds(i, call.dst), ss(i, call.src), ms(i, call.mask);
      for (std::uint64_t k = 0; k < total; ++k) {
        const std::uint64_t m = (k / call.columns * call.mask_columns + k % call.columns) * mask_size;
        std::uint64_t chosen = 0;
        std::memcpy(&chosen, i.bytes(call.mask) + m, mask_size);
        const bool scalar = (chosen == 0) == call.scalar_where_zero;
        std::memcpy(i.bytes(call.dst) + k * size,
                    scalar ? reinterpret_cast<const std::uint8_t*>(&call.scalar) : i.bytes(call.src) + k * size, size);
        ds.set(k * size, size, meet(ms.of(m, mask_size), scalar ? kDefined : ss.of(k * size, size)));
      }
      work.spoil(i);
    }
  }
  close(site);
}

void library_running_sum(const View& dst, const MaybeView& last_row, const View& src, const MaybeView& work_view,
                         std::uint32_t rows, std::uint32_t columns, bool along_rows, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_running_sum(dst, last_row, src, work_view, rows, columns, along_rows, site); }) {
    Instruction i(Pipe::V, "CumSum", site);
    const std::uint32_t size = size_bytes(dst.dtype);
    if (dst.dtype != DType::F16 && dst.dtype != DType::F32)
      i.refuse(Kind::Limit, format("CumSum on %s: half and float only", name(dst.dtype)), "cast first");
    if (std::uint64_t{columns} * size % kBlockBytes)
      i.refuse(Kind::Alignment, format("CumSum: rows of %u elements do not fill blocks of 32 bytes", columns),
               "pad the rows");
    const std::uint64_t total = std::uint64_t{rows} * columns;
    i.require_aligned(dst, kBlockBytes, "the destination");
    i.require_aligned(src, kBlockBytes, "the source");
    i.read(src, 0, total * size);
    i.write(dst, 0, total * size);
    if (last_row) i.write(*last_row, 0, std::uint64_t{columns} * size);
    const Work work(i, work_view, total * size);
    i.cost("TwoVectors", std::uint64_t{rows} * repeats(columns, dst.dtype) * (along_rows ? 3 : 1),
           dst.dtype);  // two transposes: assumed
    if (total && i.issue()) {
      States ds(i, dst), ss(i, src);
      const std::uint64_t lines = along_rows ? rows : columns, length = along_rows ? columns : rows;
      for (std::uint64_t l = 0; l < lines; ++l) {
        double sum = 0;
        std::uint8_t state = kDefined;
        for (std::uint64_t k = 0; k < length; ++k) {
          const std::uint64_t at = (along_rows ? l * columns + k : k * columns + l) * size;
          sum = static_cast<float>(sum + get(i.bytes(src) + at, dst.dtype));  // added in float, one after another
          state = meet(state, ss.of(at, size));
          put(i.bytes(dst) + at, dst.dtype, sum);
          ds.set(at, size, state);
        }
      }
      if (last_row) {
        std::memcpy(i.bytes(*last_row), i.bytes(dst) + (total - columns) * size, std::uint64_t{columns} * size);
        States last(i, *last_row);
        last.copy_from(ds, 0, (total - columns) * size, std::uint64_t{columns} * size);
      }
      work.spoil(i);
    }
  }
  close(site);
}

}  // namespace twin
