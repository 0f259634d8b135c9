// SPDX-License-Identifier: Apache-2.0
// How far an implementation is from float64, and how far it would be if it rounded nothing but inputs, P and outputs.
#pragma once

#include <string>
#include <vector>

#include "support/kit.hpp"

namespace tessera::test {

struct Error {
  double max = 0, rms = 0;
};

/// Exact O of every `row_step`-th row (and the last) of a packed dense problem without options but causal, and the error
/// of the simulated implementation: exact scores, P rounded, O = round(P V). P is softmax(S), or exp(S - max) as a one-pass
/// implementation has it, with exact sums: the smaller error of the two counts.
class Exact {
 public:
  explicit Exact(const Instance& instance, std::int64_t row_step = 1);

  const Error& simulated() const { return simulated_; }
  Error of(const Output& output) const;

 private:
  std::vector<std::int64_t> rows_;  // (batch, query, head) flattened, as in Output::o
  std::vector<double> o_;           // [rows_, head_dim_v]
  std::int64_t dim_;
  Error simulated_;
};

}  // namespace tessera::test
