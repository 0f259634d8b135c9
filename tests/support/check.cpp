// SPDX-License-Identifier: Apache-2.0
#include "support/check.hpp"

#include "support/run.hpp"
#include "tessera/implementations.hpp"

namespace tessera::test {
namespace {

/// Runs `instance`; what differs from `wanted`, or what failed.
std::string difference(const Instance& instance, const How& how, const Output& wanted, const char* what) {
  Output output;
  const auto ran = run(instance, how, output);
  const std::string found = ran ? first_difference(output, wanted) : ran.message();
  return found.empty() ? "" : std::string(what) + ": " + found + context(instance, how);
}

std::string check_bits(const RandomCase& c, const Instance& instance, const std::string& implementation,
                       const Output& wanted) {
  const auto threads = static_cast<int>(2 + mix(c.layout.seed) % 6);
  if (auto text = difference(instance, {implementation, threads}, wanted, "other threads"); !text.empty()) return text;

  Layout moved = c.layout;
  moved.strides = c.layout.strides == StrideKind::padded ? StrideKind::packed : StrideKind::padded;
  moved.shuffle_pages = true;
  moved.spare_pages = 4;
  moved.seed = mix(c.layout.seed);
  moved.poison = Poison::nan;
  Problem paged = c.problem;
  if (paged.paged()) paged.page_size = static_cast<std::int64_t>(1 + mix(moved.seed) % 150);
  if (auto text = difference(Instance(paged, c.values, moved), {implementation, 1}, wanted, "other placement");
      !text.empty()) {
    return text;
  }
  // Broadcast axes of a bias or mask name sequence 0, so such a case has no sequence of its own.
  if (c.problem.batch < 2 || c.problem.has_bias || c.problem.has_mask) return "";
  const auto b = static_cast<std::int64_t>(mix(c.layout.seed) % static_cast<std::uint64_t>(c.problem.batch));
  const Instance alone(single_sequence(c.problem, b), single_values(c.values, b), c.layout);
  return difference(alone, {implementation, 1}, rows_of(instance, wanted, b), "sequence alone");
}

}  // namespace

std::string check_case(const RandomCase& c) {
  const Instance instance(c.problem, c.values, c.layout);
  const Expected e = expected(instance);
  for (const std::string& implementation : runnable()) {
    const How how{implementation, 1};
    Output output;
    if (const auto ran = run(instance, how, output); !ran) return ran.message();
    if (const auto near = close(instance, how, output, e); !near) return near.message();
    if (implementation == "reference") continue;
    if (auto text = check_bits(c, instance, implementation, output); !text.empty()) return text;
  }
  return "";
}

}  // namespace tessera::test
