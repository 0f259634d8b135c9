// SPDX-License-Identifier: Apache-2.0
// The gradient of the library's softmax, and the step of its PASA form.
#include "library_rows.hpp"
#include "twin/calls_rows.hpp"

namespace twin {

using namespace library;

void library_softmax_grad(const LibrarySoftmaxGrad& c, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_softmax_grad(c, site); }) {
    Instruction i(Pipe::V, c.name, site);
    Operands operands(i);
    const DType type = c.src.dtype;
    const std::uint64_t total = std::uint64_t{c.rows} * c.columns, block = kBlockBytes / size_bytes(type);
    require_floats(i, type);
    require_shape(i, c.rows, c.columns, c.used,
                  "fill in SoftMaxShapeInfo (srcM, srcK, oriSrcM, oriSrcK) or the tiling's srcM and srcK");
    require_blocks(i, c.columns, type);
    require_fractals(i, c.nz, c.rows, c.columns);
    operands.read(&c.grad, total, "the gradient");
    operands.read(&c.src, total, "the source");
    operands.write(&c.dst, c.front ? c.rows * block : total, "the destination");
    operands.work(c.work, total * sizeof(float));
    // Product, sum by whole repeats, spread over a block; over the row, difference, product: no figure is public.
    passes_cost(i, c.front ? 9 : 12, total, type, 3);
    if (i.issue()) {
      Numbers grad(i, c.grad), src(i, c.src), dst(i, c.dst);
      const std::uint8_t unused = !c.front && c.used < c.columns ? left_padding(i) : kDefined;
      std::vector<double> g(c.used), x(c.used);
      for (std::uint64_t r = 0; r < c.rows; ++r) {
        std::uint8_t state = kDefined;
        double sum = 0;
        for (std::uint64_t k = 0; k < c.used; ++k) {
          const std::uint64_t at = place(c.nz, c.rows, c.columns, r, k);
          g[k] = grad.get(at, &state);
          x[k] = src.get(at, &state);
          sum += g[k] * x[k];
        }
        if (c.front) {
          for (std::uint64_t k = 0; k < block; ++k) dst.put(r * block + k, sum, state);
          continue;
        }
        for (std::uint64_t k = 0; k < c.used; ++k) dst.put(place(c.nz, c.rows, c.columns, r, k), (g[k] - sum) * x[k], state);
        for (std::uint64_t k = c.used; k < c.columns; ++k) dst.leave(place(c.nz, c.rows, c.columns, r, k), unused);
      }
      operands.spoil_work();
    }
  }
  close(site);
}

namespace {

void check(Instruction& i, const LibrarySoftmaxPasa& c) {
  require_shape(i, c.rows, c.columns, c.used, "fill in srcM, srcK, oriSrcM and oriSrcK of SoftMaxParams");
  if (c.rows % 8 || c.columns < 512 || c.columns % 64)
    i.refuse(Kind::Limit, format("SoftmaxFlashV3 of %u rows of %u elements", c.rows, c.columns),
             "a multiple of 8 rows; of 64 elements, and at least 512");
  if (c.used != c.columns || c.used_rows != c.rows)
    i.refuse(Kind::Limit,
             format("SoftmaxFlashV3: oriSrcM %u of %u, oriSrcK %u of %u", c.used_rows, c.rows, c.used, c.columns),
             "it takes no padding: the same as srcM and srcK");
  if (c.blocks != 8 || c.loop == 0)
    i.refuse(Kind::Limit, format("SoftmaxFlashV3: splitMeanCnt %u, loopCnt %u", c.blocks, c.loop),
             "splitMeanCnt is 8, loopCnt at least 1");
  if (!(c.alpha >= 0 && c.alpha < 1))
    i.refuse(Kind::Limit, format("SoftmaxFlashV3: alpha %g", static_cast<double>(c.alpha)), "0 <= alpha < 1");
}

// One row: x in, exp of the shifted x out.
struct PasaRow {
  double mean = 0, max = 0, sum = 0, factor = 1;
};
PasaRow step(const LibrarySoftmaxPasa& c, std::vector<double>& x, double in_mean, double in_sum, double in_max) {
  const double scale = c.alpha / (1 - static_cast<double>(c.alpha));
  const std::size_t block = x.size() / c.blocks;
  PasaRow row;
  double m = 0;
  for (const double v : x) m += v;
  m /= static_cast<double>(x.size());
  double most = -INFINITY;
  for (std::size_t b = 0; b < x.size(); b += block) {
    double local = 0;
    for (std::size_t k = b; k < b + block; ++k) local += x[k];
    local /= static_cast<double>(block);
    for (std::size_t k = b; k < b + block; ++k) {
      x[k] -= (m - local) * scale;
      most = x[k] > most || std::isnan(x[k]) ? x[k] : most;
    }
  }
  const bool update = c.in_mean != nullptr;
  row.mean = update ? (m + in_mean * (c.loop - 1.0)) / c.loop : m;
  const double shift = (m - row.mean) * scale, before = (in_mean - row.mean) * scale;
  row.max = most + shift;
  if (update) {
    row.max = std::fmax(row.max, in_max + before);
    row.factor = std::exp(in_max - row.max + before);
    row.sum = row.factor * in_sum;
  }
  for (double& v : x) row.sum += v = std::exp(v - (row.max - shift));
  return row;
}

}  // namespace

void library_softmax_pasa(const LibrarySoftmaxPasa& c, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_softmax_pasa(c, site); }) {
    Instruction i(Pipe::V, "SoftmaxFlashV3", site);
    Operands operands(i);
    const std::uint64_t total = std::uint64_t{c.rows} * c.columns;
    const auto per_row = [&](const View* v) { return v ? c.rows * std::uint64_t{kBlockBytes} / size_bytes(v->dtype) : 0; };
    check(i, c);
    operands.read(&c.src, total, "the source");
    for (const MaybeView* v : {&c.in_mean, &c.in_sum, &c.in_max})
      operands.read(*v, per_row(*v), "a tensor of the step before");
    operands.write(&c.dst, total, "the destination");
    for (const MaybeView* v : {&c.mean, &c.sum, &c.max, &c.factor})
      operands.write(*v, per_row(*v), "a tensor of one value a row");
    operands.work(c.work, total * sizeof(float));
    // Two means (14), the shift (3), then as SoftmaxFlashV2 (18): no figure is public.
    passes_cost(i, 35, total, c.src.dtype, 2);
    if (i.issue()) {
      Numbers src(i, c.src), dst(i, c.dst);
      const PerRow mean(i, c.mean), sum(i, c.sum), max(i, c.max), factor(i, c.factor);
      const PerRow in_mean(i, c.in_mean), in_sum(i, c.in_sum), in_max(i, c.in_max);
      std::vector<double> x(c.columns);
      for (std::uint64_t r = 0; r < c.rows; ++r) {
        std::uint8_t state = kDefined;
        for (std::uint64_t k = 0; k < c.columns; ++k) x[k] = src.get(r * c.columns + k, &state);
        const bool update = c.in_mean != nullptr;
        const double before[] = {update ? in_mean.value(r, &state) : 0, update ? in_sum.value(r, &state) : 0,
                                 update ? in_max.value(r, &state) : 0};
        const PasaRow row = step(c, x, before[0], before[1], before[2]);
        for (std::uint64_t k = 0; k < c.columns; ++k) dst.put(r * c.columns + k, x[k], state);
        mean.fill(r, row.mean, state);
        sum.fill(r, row.sum, state);
        max.fill(r, row.max, state);
        factor.fill(r, row.factor, state);
      }
      operands.spoil_work();
    }
  }
  close(site);
}

void library_order(Pipe from, Pipe to, Site site) { core().synchronise(from, to, site_id(site)); }

}  // namespace twin
