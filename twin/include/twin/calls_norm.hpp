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
  const View *added = nullptr, *gamma = nullptr, *beta = nullptr;
  const View *mean = nullptr, *variance = nullptr, *rstd = nullptr;  // one value a group, written
  const View *given_mean = nullptr, *given_variance = nullptr;       // or read
  const View* work = nullptr;
  bool centred = true;
  bool in_place = true;  // the destination may be the source
  std::uint64_t groups = 0, group_step = 0, members = 0, member_step = 1, run = 0, run_step = 0;
  std::uint64_t gamma_groups = 1, gammas_a_group = 0, gamma_run = 1, gammas = 0;
  double alpha = 1, epsilon = 0;
  const char* shape_from = "";  // where the kernel gives the shape, for reports
};
void library_norm(const LibraryNorm& call, Site site);

}  // namespace twin
