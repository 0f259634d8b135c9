// SPDX-License-Identifier: Apache-2.0
// The error bars, shared by the fast and the slow tier.
#pragma once

#include <string>

#include "precision/measure.hpp"

namespace tessera::test {

/// float32 within 2e-6 of float64.
inline void expect_float32(const std::string& problem, std::int64_t row_step) {
  const Instance instance(parse("f32 " + problem), random_values(61, Distribution::normal));
  const Exact exact(instance, row_step);
  for (const std::string& implementation : runnable_kernels()) {
    Output output;
    ASSERT_TRUE(run(instance, {implementation, 2}, output));
    EXPECT_LE(exact.of(output).max, 2e-6) << context(instance, {implementation, 2});
  }
}

/// f16 and bf16 within twice the error, largest and rms, of rounding inputs, P and outputs alone.
inline void expect_twice_the_rounding(DType dtype, Distribution distribution, const std::string& problem,
                                      std::int64_t row_step) {
  const Instance instance(parse(dtype, problem), random_values(62, distribution));
  const Exact exact(instance, row_step);
  for (const std::string& implementation : runnable_kernels()) {
    Output output;
    ASSERT_TRUE(run(instance, {implementation, 2}, output));
    const Error error = exact.of(output);
    EXPECT_LE(error.max, 2 * exact.simulated().max) << context(instance, {implementation, 2});
    EXPECT_LE(error.rms, 2 * exact.simulated().rms) << context(instance, {implementation, 2});
  }
}

}  // namespace tessera::test
