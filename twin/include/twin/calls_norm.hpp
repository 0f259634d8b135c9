// SPDX-License-Identifier: Apache-2.0
// The library's normalisations, as one step each of the vector pipe.
#pragma once

#include "twin/calls_library.hpp"

namespace twin {

// Groups of members, each group with its own mean and variance (divided by the number of members):
//   x    the source, or alpha · source + added
//   dst  (x − mean) · rstd · gamma + beta,  rstd = 1 / √(variance + epsilon)
// without a centre (RmsNorm): x · gamma / √(mean of squares + epsilon). Sums in double; each result is rounded once.
//   member m of group g lies at g · group_step + (m / run) · run_step + (m mod run) · member_step, in all tensors of the
//   source's shape; a run is followed by padding up to run_step, if member_step is 1
//   its gamma and beta are number (g mod gamma_groups) · gammas_a_group + m / gamma_run
struct LibraryNorm {
  const char* name = "";
  View dst, src;
  MaybeView added, gamma, beta;
  MaybeView mean, variance, rstd;        // one value a group, written
  MaybeView given_mean, given_variance;  // or read
  MaybeView work;
  bool centred = true;
  bool in_place = true;  // the destination may be the source
  std::uint64_t groups = 0, group_step = 0, members = 0, member_step = 1, run = 0, run_step = 0;
  std::uint64_t gamma_groups = 1, gammas_a_group = 0, gamma_run = 1, gammas = 0;
  double alpha = 1, epsilon = 0;
  const char* shape_from = "";  // where the kernel gives the shape, for reports
};
void library_norm(const LibraryNorm& call, Site site);

// With p = dy · gamma, d = x − mean, r = 1 / √(variance + epsilon), all sums over the H = `used` elements of a row:
//   v = Σ −p · d · r³ / 2,  u = −Σ p · r − v · 2 / H · Σ d
//   pd_x = p · r + v · 2 / H · d + u / H,  for_gamma = d · r
struct LibraryLayerNormGrad {
  View pd_x, for_gamma, dy, x, variance, mean, gamma;
  MaybeView work;
  std::uint64_t rows = 0, columns = 0, used = 0;
  double epsilon = 0;
};
void library_layer_norm_grad(const LibraryLayerNormGrad& call, Site site);
// Over rows: pd_gamma = Σ dy · for_gamma, pd_beta = Σ dy.
struct LibraryLayerNormGradBeta {
  View pd_gamma, pd_beta, for_gamma, dy;
  MaybeView work;
  std::uint64_t rows = 0, columns = 0, used = 0;
};
void library_layer_norm_grad_beta(const LibraryLayerNormGradBeta& call, Site site);

// mean += (x − mean) · reciprocal;  squares += (x − old mean) · (x − new mean): the first `used` of `length` elements. The
// others are taken over from the inputs, or left alone.
struct LibraryWelfordUpdate {
  View mean, squares, in_mean, in_squares, x;
  MaybeView work;
  bool take_over = false;
  std::uint32_t rows = 0, length = 0, used = 0;
  float reciprocal = 1;
};
void library_welford_update(const LibraryWelfordUpdate& call, Site site);
// mean = Σ mean_i · n_i · weight;  variance = (Σ squares_i + Σ n_i · (mean_i − mean)²) · reciprocal. n_i: counts[i], or
// `head` for the first head_length and `tail` for the others.
struct LibraryWelfordFinalize {
  View mean, variance, in_mean, in_squares;
  MaybeView counts, work;
  std::uint32_t length = 0, head = 1, head_length = 0, tail = 0, tail_length = 0;
  double weight = 1, reciprocal = 1;
};
void library_welford_finalize(const LibraryWelfordFinalize& call, Site site);

}  // namespace twin
