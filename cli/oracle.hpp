// SPDX-License-Identifier: Apache-2.0
// An answer against the oracle's: the error, and the bound that it may not pass. The bound is derived, not fitted:
// docs/cli.md has the derivation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/safetensors.hpp"
#include "tessera/attention.hpp"

namespace tessera::cli {

/// A problem with q, k and v widened to float32 (exact), so that the oracle's output is not rounded to 16 bits, and the
/// oracle's answer to it. Optional tensors are those of the original, which must outlive this.
struct OracleAnswer {
  Problem problem;
  AlignedBuffer q, k, v;
  AttentionTensors tensors;  // of the widened problem, packed
  std::vector<float> o;      // packed as q
  std::vector<float> lse;
  double seconds = 0;  // what the oracle took
};

/// `tensors` must be packed. Throws Failure.
OracleAnswer ask_oracle(const Problem& problem, const AttentionTensors& tensors, int threads);

struct ErrorReport {
  double max_error = 0;
  double rms_error = 0;
  double bound = 0;        // where the error stands nearest to its bound, or farthest beyond
  double worst_ratio = 0;  // error / bound there; over 1 fails. Infinite: one is NaN or infinite and the other is not
  std::string worst;       // "row 3 of sequence 0, head 2, feature 17: got 0.1, oracle 0.2"
};

struct Comparison {
  ErrorReport o, lse;
  bool pass() const noexcept { return o.worst_ratio <= 1 && lse.worst_ratio <= 1; }
};

/// Compares outputs of `dtype`, laid out as the problem's own, with the oracle's.
Comparison compare(DType dtype, const void* o, const float* lse, const OracleAnswer& oracle);

}  // namespace tessera::cli
