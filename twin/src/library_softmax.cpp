// SPDX-License-Identifier: Apache-2.0
// The library's softmax, whole and in the steps of FlashAttention.
#include "library_rows.hpp"

namespace twin {

using namespace library;

void library_softmax(const LibrarySoftmax& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_softmax(call, site); }) {
    Instruction i(Pipe::V, call.name, site);
    const bool given = call.mode == LibrarySoftmax::Given, log = call.mode == LibrarySoftmax::Log;
    const bool divided_update = call.mode == LibrarySoftmax::DividedUpdate;
    const bool update = call.mode == LibrarySoftmax::Update || divided_update;
    const bool divides = call.mode == LibrarySoftmax::Whole || given || log || divided_update;
    const DType type = call.src.dtype;
    const std::uint32_t size = size_bytes(type);
    if (type != DType::F16 && type != DType::F32)
      i.refuse(Kind::Limit, format("%s on %s: half and float only", call.name, name(type)), "cast first");
    if (call.rows == 0 || call.columns == 0 || call.used == 0 || call.used > call.columns)
      i.refuse(Kind::Limit,
               format("%s of %u rows of %u elements, %u of them used", call.name, call.rows, call.columns, call.used),
               "fill in SoftMaxShapeInfo (srcM, srcK, oriSrcM, oriSrcK) or the tiling's srcM and srcK");
    if (std::uint64_t{call.columns} * size % kBlockBytes)
      i.refuse(Kind::Alignment, format("%s: rows of %u elements do not fill blocks of 32 bytes", call.name, call.columns),
               "pad the rows, and give their own length as oriSrcK");
    require_fractals(i, call.nz, call.rows, call.columns);
    i.require_aligned(call.dst, kBlockBytes, "the destination");
    i.require_aligned(call.src, kBlockBytes, "the source");
    const std::uint64_t total = std::uint64_t{call.rows} * call.columns * size;
    i.read(call.src, 0, total);
    i.write(call.dst, 0, total);
    const PerRow sum(i, call.sum, call.rows, !given), max(i, call.max, call.rows, !given),
        factor(i, call.factor, call.rows, true);
    const View* const none = nullptr;
    const PerRow old_sum(i, update ? static_cast<const View*>(call.old_sum) : none, call.rows, false);
    const PerRow old_max(i, update ? static_cast<const View*>(call.old_max) : none, call.rows, false);
    const std::uint64_t work = call.work && call.work->bytes ? std::min(call.work->bytes, total) : 0;
    if (work) i.write(*call.work, 0, work);
    // Max and sum by whole repeats, subtract, exp, divide: no figure is public.
    i.cost("OneVector", (log ? 25u : divides ? 22u : 18u) * ((total + kRepeatBytes - 1) / kRepeatBytes), type);
    if (i.issue()) {
      States ds(i, call.dst), ss(i, call.src);
      const std::uint8_t unused =
          call.used < call.columns
              ? new_origin(format("%s at %s leaves the padding of its rows", call.name, to_string(site).c_str()))
              : kDefined;
      for (std::uint64_t r = 0; r < call.rows; ++r) {
        std::uint8_t state = kDefined;
        std::vector<double> x(call.used);
        double most = -INFINITY, total_of_row = 0;
        for (std::uint64_t c = 0; c < call.used; ++c) {
          const std::uint64_t at = place(call.nz, call.rows, call.columns, r, c) * size;
          x[c] = load_float(i.bytes(call.src) + at, type);
          state = meet(state, ss.of(at, size));
          most = x[c] > most || std::isnan(x[c]) ? x[c] : most;
        }
        double before = 0, scale = 1;
        if (given) most = max.value(r, &state);
        if (update) {
          before = old_max.value(r, &state);
          most = std::fmax(most, before);
          scale = std::exp(before - most);
        }
        for (double& v : x) total_of_row += v = std::exp(v - most);
        if (update) {
          scale *= divided_update ? old_sum.value(r, &state) : 1;
          total_of_row += divided_update ? scale : scale * old_sum.value(r, &state);
        }
        if (given) total_of_row = sum.value(r, &state);
        for (std::uint64_t c = 0; c < call.columns; ++c) {
          const std::uint64_t at = place(call.nz, call.rows, call.columns, r, c) * size;
          if (c < call.used) {
            const double y = divides ? x[c] / total_of_row : x[c];
            store_float(i.bytes(call.dst) + at, type, log ? std::log10(y) : y);
          }
          ds.set(at, size, c < call.used ? state : unused);
        }
        if (!given) {
          max.fill(r, most, state);
          sum.fill(r, total_of_row, state);
        }
        factor.fill(r, divided_update ? scale / total_of_row : scale, state);
      }
      if (work)
        States(i, *call.work)
            .set(0, work, new_origin(format("the temporary of %s at %s", call.name, to_string(site).c_str())));
    }
  }
  close(site);
}

}  // namespace twin
