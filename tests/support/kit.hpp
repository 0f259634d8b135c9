// SPDX-License-Identifier: Apache-2.0
// What most suites need, in one include.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/instance.hpp"
#include "support/run.hpp"
#include "support/values.hpp"
#include "tessera/attention.hpp"
#include "tessera/implementations.hpp"

namespace tessera::test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr DType kDTypes[] = {DType::f32, DType::f16, DType::bf16};

/// The problem of a string that is known to be right.
inline Problem parse(const std::string& text) {
  Result<Problem> problem = Problem::parse(text);
  if (!problem) {
    ADD_FAILURE() << problem.status().message();
    std::abort();
  }
  return *problem;
}
inline Problem parse(DType dtype, const std::string& rest) { return parse(std::string(name_of(dtype)) + " " + rest); }

/// x as the dtype holds it.
inline double rounded(DType dtype, double x) { return decode(dtype, encode(dtype, x)); }

/// Mean of the value rows [begin, end) when v[j] = j and q = 0; empty gives (0, -inf).
inline Answer mean_of_tokens(std::int64_t begin, std::int64_t end) {
  if (end <= begin) return {0, -kInf};
  return {static_cast<double>(begin + end - 1) / 2, std::log(static_cast<double>(end - begin))};
}

}  // namespace tessera::test
