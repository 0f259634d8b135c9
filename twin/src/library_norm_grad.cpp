// SPDX-License-Identifier: Apache-2.0
// The gradient of LayerNorm, and mean and variance by Welford's method.
#include "library_rows.hpp"
#include "twin/calls_norm.hpp"

namespace twin {

using namespace library;

namespace {
constexpr const char* kShape = "fill in bLength, sLength, hLength and originalHLength of the tiling";
}

void library_layer_norm_grad(const LibraryLayerNormGrad& c, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_layer_norm_grad(c, site); }) {
    Instruction i(Pipe::V, "LayerNormGrad", site);
    Operands operands(i);
    const std::uint64_t total = c.rows * c.columns;
    require_floats(i, c.x.dtype);
    require_shape(i, c.rows, c.columns, c.used, kShape);
    require_blocks(i, c.columns, c.x.dtype);
    operands.read(&c.dy, total, "inputDy");
    operands.read(&c.x, total, "inputX");
    operands.read(&c.variance, c.rows, "inputVariance");
    operands.read(&c.mean, c.rows, "inputMean");
    operands.read(&c.gamma, c.used, "inputGamma");
    operands.write(&c.pd_x, total, "outputPdX");
    operands.write(&c.for_gamma, total, "resForGamma");
    operands.work(c.work, total * sizeof(float));
    // Three sums of 7 a repeat by whole repeats, and 19 products, differences, roots and spreads: no figure is public.
    passes_cost(i, 40, total, c.x.dtype, 4);
    if (i.issue()) {
      Numbers dy(i, c.dy), x(i, c.x), variance(i, c.variance), mean(i, c.mean), gamma(i, c.gamma);
      Numbers pd_x(i, c.pd_x), for_gamma(i, c.for_gamma);
      const std::uint8_t unused = c.used < c.columns ? left_padding(i) : kDefined;
      const auto n = static_cast<double>(c.used);
      std::vector<double> p(c.used), d(c.used);
      for (std::uint64_t r = 0; r < c.rows; ++r) {
        std::uint8_t d_state = kDefined, state = kDefined;
        const double r_std = 1 / std::sqrt(variance.get(r, &d_state) + c.epsilon), m = mean.get(r, &d_state);
        double v = 0, u = 0, sum = 0;
        for (std::uint64_t k = 0; k < c.used; ++k) {
          p[k] = dy.get(r * c.columns + k, &state) * gamma.get(k, &state);
          d[k] = x.get(r * c.columns + k, &d_state) - m;
          v += -0.5 * p[k] * d[k] * r_std * r_std * r_std;
          u += -p[k] * r_std;
          sum += d[k];
        }
        u += v / n * -2 * sum;
        state = meet(state, d_state);
        for (std::uint64_t k = 0; k < c.used; ++k) {
          pd_x.put(r * c.columns + k, p[k] * r_std + v * 2 / n * d[k] + u / n, state);
          for_gamma.put(r * c.columns + k, d[k] * r_std, d_state);
        }
        for (std::uint64_t k = c.used; k < c.columns; ++k) {
          pd_x.leave(r * c.columns + k, unused);
          for_gamma.leave(r * c.columns + k, unused);
        }
      }
      operands.spoil_work();
    }
  }
  close(site);
}

void library_layer_norm_grad_beta(const LibraryLayerNormGradBeta& c, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_layer_norm_grad_beta(c, site); }) {
    Instruction i(Pipe::V, "LayerNormGradBeta", site);
    Operands operands(i);
    const std::uint64_t total = c.rows * c.columns;
    require_floats(i, c.dy.dtype);
    require_shape(i, c.rows, c.columns, c.used, kShape);
    require_blocks(i, c.columns, c.dy.dtype);
    operands.read(&c.for_gamma, total, "resForGamma");
    operands.read(&c.dy, total, "inputDy");
    operands.write(&c.pd_gamma, c.columns, "outputPdGamma");
    operands.write(&c.pd_beta, c.columns, "outputPdBeta");
    operands.work(c.work, total * sizeof(float));
    passes_cost(i, 3, total, c.dy.dtype, 2);  // a product and two sums of rows
    if (i.issue()) {
      Numbers dy(i, c.dy), res(i, c.for_gamma), pd_gamma(i, c.pd_gamma), pd_beta(i, c.pd_beta);
      const std::uint8_t unused = c.used < c.columns ? left_padding(i) : kDefined;
      std::vector<double> gamma(c.used), beta(c.used);
      std::vector<std::uint8_t> gamma_state(c.used, kDefined), beta_state(c.used, kDefined);
      for (std::uint64_t k = 0; k < c.used; ++k) {
        for (std::uint64_t r = 0; r < c.rows; ++r) {
          const double g = dy.get(r * c.columns + k, &beta_state[k]);
          gamma[k] += g * res.get(r * c.columns + k, &gamma_state[k]);
          beta[k] += g;
        }
      }
      for (std::uint64_t k = 0; k < c.used; ++k) {
        pd_gamma.put(k, gamma[k], meet(gamma_state[k], beta_state[k]));
        pd_beta.put(k, beta[k], beta_state[k]);
      }
      for (std::uint64_t k = c.used; k < c.columns; ++k) {
        pd_gamma.leave(k, unused);
        pd_beta.leave(k, unused);
      }
      operands.spoil_work();
    }
  }
  close(site);
}

void library_welford_update(const LibraryWelfordUpdate& c, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_welford_update(c, site); }) {
    Instruction i(Pipe::V, "WelfordUpdate", site);
    Operands operands(i, false);
    const std::uint64_t written = c.take_over ? c.length : c.used;
    if (c.rows != 1 || c.used == 0 || c.used > c.length)
      i.refuse(Kind::Limit, format("WelfordUpdate: rnLength %u, abLength %u, abComputeLength %u", c.rows, c.length, c.used),
               "rnLength is 1; 1 <= abComputeLength <= abLength");
    require_blocks(i, c.length, c.x.dtype);
    operands.read(&c.in_mean, written, "inputMean");
    operands.read(&c.in_squares, written, "inputVariance");
    operands.read(&c.x, c.used, "inputX");
    operands.write(&c.mean, written, "outputMean");
    operands.write(&c.squares, written, "outputVariance");
    operands.work(c.work, c.length * sizeof(float));
    passes_cost(i, 6, written, c.x.dtype, 1);  // Sub, Muls, Add, Sub, Mul, Add
    if (i.issue()) {
      Numbers in_mean(i, c.in_mean), in_squares(i, c.in_squares), x(i, c.x), mean(i, c.mean), squares(i, c.squares);
      for (std::uint64_t k = 0; k < written; ++k) {
        std::uint8_t mean_state = kDefined, state = kDefined;
        double m = in_mean.get(k, &mean_state), s = in_squares.get(k, &state);
        if (k < c.used) {
          const double d = x.get(k, &mean_state) - m;
          m += d * static_cast<double>(c.reciprocal);
          s += d * (d - d * static_cast<double>(c.reciprocal));
          state = meet(state, mean_state);
        }
        mean.put(k, m, mean_state);
        squares.put(k, s, state);
      }
      operands.spoil_work();
    }
  }
  close(site);
}

void library_welford_finalize(const LibraryWelfordFinalize& c, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_welford_finalize(c, site); }) {
    Instruction i(Pipe::V, "WelfordFinalize", site);
    Operands operands(i, false);
    if (c.length == 0) i.refuse(Kind::Limit, "WelfordFinalize: abLength 0", "at least one block");
    require_blocks(i, c.length, DType::F32);
    if (!c.counts && (std::uint64_t{c.head_length} + c.tail_length != c.length || (c.tail == 0 && c.tail_length != 0)))
      i.refuse(Kind::Limit,
               format("WelfordFinalize: headCountLength %u, tailCount %u, tailCountLength %u, abLength %u", c.head_length,
                      c.tail, c.tail_length, c.length),
               "the two lengths make abLength together; without a tailCount there is no tailCountLength");
    operands.read(&c.in_mean, c.length, "inputMean");
    operands.read(&c.in_squares, c.length, "inputVariance");
    operands.read(c.counts, c.length, "counts");
    operands.write(&c.mean, 1, "outputMean");
    operands.write(&c.variance, 1, "outputVariance");
    operands.work(c.work, c.length * sizeof(float));
    // Two sums of 7 a repeat by whole repeats, six more: no figure is public.
    passes_cost(i, 20 + (c.counts ? 1 : 0), c.length, DType::F32, 0);
    if (i.issue()) {
      Numbers in_mean(i, c.in_mean), in_squares(i, c.in_squares);
      std::optional<Numbers> counts = numbers(i, c.counts);
      std::uint8_t mean_state = kDefined, state = kDefined;
      const auto count = [&](std::uint64_t k) {
        return counts ? counts->get(k, &mean_state) : k < c.head_length ? c.head : c.tail;
      };
      double mean = 0, squares = 0;
      for (std::uint64_t k = 0; k < c.length; ++k) mean += in_mean.get(k, &mean_state) * count(k);
      mean *= c.weight;
      for (std::uint64_t k = 0; k < c.length; ++k) {
        const double d = in_mean.get(k, &mean_state) - mean;
        squares += in_squares.get(k, &state) + count(k) * d * d;
      }
      Numbers(i, c.mean).put(0, mean, mean_state);
      Numbers(i, c.variance).put(0, squares * c.reciprocal, meet(state, mean_state));
      operands.spoil_work();
    }
  }
  close(site);
}

}  // namespace twin
