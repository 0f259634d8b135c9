// SPDX-License-Identifier: Apache-2.0
// What `tessera attend` says about a run, for people and as JSON.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/attend_input.hpp"
#include "cli/oracle.hpp"
#include "cli/unfused.hpp"

namespace tessera::cli {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

inline constexpr int kMaxRepeats = 50;
inline constexpr double kBudgetSeconds = 0.5;

struct AttendReport {
  std::string backend, implementation;
  int threads = 1;
  std::size_t workspace_bytes = 0;
  double plan_seconds = 0, extra_bytes = 0;
  std::vector<double> seconds;  // of each repeat

  double o_norm = 0, o_max = 0;  // over the finite values of O
  std::int64_t o_not_finite = 0;
  std::vector<double> o_first, lse_first;

  std::optional<Comparison> comparison;
  std::optional<UnfusedAnswer> unfused;
  std::optional<ErrorReport> unfused_error;
  std::string output;
};

/// Fills in what is said about the values of O and LSE.
void summarise(const AttendInput& in, const void* o, const float* lse, AttendReport& report);

std::string report_text(const AttendInput& in, const AttendReport& report);
nlohmann::ordered_json report_json(const AttendInput& in, const AttendReport& report);

double median_of(const std::vector<double>& values);

}  // namespace tessera::cli
