// SPDX-License-Identifier: Apache-2.0
// Runs an instance on an implementation and watches the memory around it; compares with the oracle or a closed form.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/instance.hpp"
#include "tessera/executor.hpp"

namespace tessera::test {

/// The implementations that this machine can run and that take every kind of problem; only TESSERA_FORCE_IMPL when it is
/// set.
const std::vector<std::string>& runnable();
/// The same without the reference, which is slow.
const std::vector<std::string>& runnable_kernels();

struct How {
  std::string implementation;
  int threads = 1;
  Executor* executor = nullptr;
  bool with_lse = true;
};

/// What a run wrote: o [total_queries, num_q_heads, head_dim_v] widened, lse as AttentionTensors has it.
struct Output {
  std::vector<float> o, lse;
};

/// Plans and runs with every output byte set to 0xff (a NaN) and a workspace full of NaN. Fails when a status is not ok, or
/// when a byte outside the rows of O, of LSE or of the workspace was written.
::testing::AssertionResult run(const Instance& instance, const How& how, Output& output);

/// What the oracle says, and how far an honest implementation may be from it: each error is a small multiple of epsilon
/// times the terms' magnitude; sums of n terms count as sqrt(n) roundings.
struct Expected {
  std::vector<double> o, lse;
  std::vector<double> o_bound, lse_bound;
};
Expected expected(const Instance& instance);

::testing::AssertionResult close(const Instance& instance, const How& how, const Output& output, const Expected& expected);

/// Runs every implementation that takes the problem, kernels with one and with three threads, and compares.
void expect_all(const Instance& instance, const Expected& expected);
void expect_oracle(const Instance& instance);

/// Every row's answer in closed form: all channels of O, and the LSE, within two ulp.
struct Answer {
  double o, lse;
};
using ClosedForm = std::function<Answer(std::int64_t b, std::int64_t h, std::int64_t i)>;
void expect_answer(const Instance& instance, const ClosedForm& answer);

/// O and LSE of sequence b alone, in the order of a batch of one.
Output rows_of(const Instance& batch, const Output& output, std::int64_t b);

/// Empty when both hold the same bits; else the first difference.
std::string first_difference(const Output& a, const Output& b);

/// The problem, how it was run, and the command that repeats the current test.
std::string context(const Instance& instance, const How& how);

}  // namespace tessera::test
