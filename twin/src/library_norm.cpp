// SPDX-License-Identifier: Apache-2.0
// LayerNorm, RmsNorm, DeepNorm, BatchNorm, GroupNorm, Normalize: one loop over groups of elements.
#include "library_rows.hpp"
#include "twin/calls_norm.hpp"

namespace twin {

using namespace library;

namespace {

void declare(Operands& operands, const LibraryNorm& c, std::uint64_t total) {
  operands.read(&c.src, total, "the source");
  operands.read(c.added, total, "gxLocal");
  operands.read(c.gamma, c.gammas, "gamma");
  operands.read(c.beta, c.gammas, "beta");
  operands.read(c.given_mean, c.groups, "the mean");
  operands.read(c.given_variance, c.groups, "the variance");
  operands.write(&c.dst, total, "the destination");
  operands.write(c.mean, c.groups, "the mean");
  operands.write(c.variance, c.groups, "the variance");
  operands.write(c.rstd, c.groups, "rstd");
  operands.work(c.work, total * sizeof(float));
}

// The values of a group, and their mean and variance: their own, or the caller's.
struct Group {
  std::vector<double> x;
  double mean = 0, variance = 0;
  std::uint8_t state = kDefined;
};

class Norm {
 public:
  Norm(Instruction& i, const LibraryNorm& c)
      : i_(i),
        c_(c),
        source_(i, c.src),
        result_(i, c.dst),
        added_(numbers(i, c.added)),
        gamma_(numbers(i, c.gamma)),
        beta_(numbers(i, c.beta)),
        given_mean_(numbers(i, c.given_mean)),
        given_variance_(numbers(i, c.given_variance)),
        mean_(numbers(i, c.mean)),
        variance_(numbers(i, c.variance)),
        rstd_(numbers(i, c.rstd)) {
    group_.x.resize(c.members);
  }
  void run() {
    const bool padded = c_.member_step == 1 && c_.run_step > c_.run;
    const std::uint8_t unused = padded ? left_padding(i_) : kDefined;
    for (std::uint64_t g = 0; g < c_.groups; ++g) {
      gather(g);
      const double rstd = 1 / std::sqrt(group_.variance + c_.epsilon);
      for (std::uint64_t m = 0; m < c_.members; ++m) scale(g, m, rstd);
      for (std::uint64_t m = 0; padded && m < c_.members; m += c_.run) {
        for (std::uint64_t k = c_.run; k < c_.run_step; ++k) result_.leave(place(g, m) + k, unused);
      }
      if (mean_) mean_->put(g, group_.mean, group_.state);
      if (variance_) variance_->put(g, group_.variance, group_.state);
      if (rstd_) rstd_->put(g, rstd, group_.state);
    }
  }

 private:
  std::uint64_t place(std::uint64_t g, std::uint64_t m) const {
    return g * c_.group_step + m / c_.run * c_.run_step + m % c_.run * c_.member_step;
  }
  void gather(std::uint64_t g) {
    group_.state = kDefined;
    group_.mean = group_.variance = 0;
    for (std::uint64_t m = 0; m < c_.members; ++m) {
      double& x = group_.x[m] = c_.alpha * source_.get(place(g, m), &group_.state);
      if (added_) x += added_->get(place(g, m), &group_.state);
    }
    const auto n = static_cast<double>(c_.members);
    if (given_mean_) {
      group_.mean = given_mean_->get(g, &group_.state);
      group_.variance = given_variance_->get(g, &group_.state);
      return;
    }
    if (c_.centred) {
      for (const double x : group_.x) group_.mean += x;
      group_.mean /= n;
    }
    for (const double x : group_.x) group_.variance += (x - group_.mean) * (x - group_.mean);
    group_.variance /= n;
  }
  void scale(std::uint64_t g, std::uint64_t m, double rstd) {
    const std::uint64_t k = g % c_.gamma_groups * c_.gammas_a_group + m / c_.gamma_run;
    std::uint8_t state = group_.state;
    double y = (group_.x[m] - group_.mean) * rstd;
    if (gamma_) y *= gamma_->get(k, &state);
    if (beta_) y += beta_->get(k, &state);
    result_.put(place(g, m), y, state);
  }

  Instruction& i_;
  const LibraryNorm& c_;
  Numbers source_, result_;
  std::optional<Numbers> added_, gamma_, beta_, given_mean_, given_variance_, mean_, variance_, rstd_;
  Group group_;
};

}  // namespace

void library_norm(const LibraryNorm& c, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_norm(c, site); }) {
    Instruction i(Pipe::V, c.name, site);
    Operands operands(i, c.in_place);
    const bool rows = c.member_step == 1;
    const std::uint64_t total = c.groups * (rows && c.run ? c.members / c.run * c.run_step : c.members);
    require_floats(i, c.src.dtype);
    require_shape(i, c.groups, rows ? c.run_step : c.members, c.run, c.shape_from);
    require_blocks(i, rows ? c.run_step : c.groups, c.src.dtype);
    declare(operands, c, total);
    // Two sums of 7 a repeat by whole repeats (one without a centre, none where both are given); difference, square, two
    // scalings; rstd by Adds, Ln, Muls, Exp spread over the rows; times rstd, gamma, plus beta: no figure is public.
    const std::uint64_t sums = c.given_mean ? 0 : c.centred ? 2 : 1;
    passes_cost(i, sums * 7 + (c.centred ? 13 : 9) + (c.added ? 2 : 0), total, c.src.dtype, c.added ? 3 : 2);
    if (i.issue()) {
      Norm(i, c).run();
      operands.spoil_work();
    }
  }
  close(site);
}

}  // namespace twin
