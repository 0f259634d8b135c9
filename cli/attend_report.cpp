// SPDX-License-Identifier: Apache-2.0
#include "cli/attend_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/statistics.hpp"
#include "cli/half.hpp"
#include "cli/text.hpp"

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kFirstValues = 4;

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string error_text(const ErrorReport& error) {
  return fmt::format("max {:.3e}   rms {:.3e}   bound {:.3e}   {:.2f} of it used", error.max_error, error.rms_error,
                     error.bound, error.worst_ratio);
}

std::string unfused_text(const AttendReport& r) {
  const double fused = median_of(r.seconds), unfused = median_of(r.unfused->seconds);
  auto text = fmt::format("unfused   {} median of {}: {:.2f} times the fused time\n", seconds_text(unfused),
                          r.unfused->seconds.size(), unfused / fused);
  text += fmt::format("memory    fused {}, unfused {} ({} of it the score matrix), beyond inputs and output\n",
                      bytes_text(r.extra_bytes), bytes_text(r.unfused->extra_bytes), bytes_text(r.unfused->score_bytes));
  if (r.unfused_error) {
    text += fmt::format("          unfused, in float32 throughout, against the oracle: max {:.3e}   rms {:.3e}\n",
                        r.unfused_error->max_error, r.unfused_error->rms_error);
  }
  return text;
}

Json error_json(const ErrorReport& error) {
  return {{"max_error", error.max_error},
          {"rms_error", error.rms_error},
          {"bound", error.bound},
          {"share_of_bound", error.worst_ratio},
          {"worst", error.worst}};
}

}  // namespace

double median_of(const std::vector<double>& values) { return bench::median(values); }

void summarise(const AttendInput& in, const void* o, const float* lse, AttendReport& report) {
  double squares = 0;
  const auto count = in.o_elements(), lse_count = in.lse_elements();
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = widen(in.problem.dtype, o, i);
    if (i < kFirstValues) report.o_first.push_back(x);
    if (!std::isfinite(x)) {
      ++report.o_not_finite;
      continue;
    }
    squares += x * x;
    report.o_max = std::max(report.o_max, std::abs(x));
  }
  report.o_norm = std::sqrt(squares);
  for (std::int64_t i = 0; i < std::min(kFirstValues, lse_count); ++i) report.lse_first.push_back(lse[i]);
}

std::string report_text(const AttendInput& in, const AttendReport& r) {
  const double median = median_of(r.seconds);
  auto text = fmt::format("problem   {}\n", in.problem.to_string());
  text += fmt::format("ran on    {} ({}), {} {}\n", r.backend, r.implementation, r.threads,
                      r.threads == 1 ? "thread" : "threads");
  text += fmt::format("o         {} {}   norm {:.6g}   max |o| {:.6g}   first {}\n", name_of(in.problem.dtype),
                      shape_text(in.o_shape()), r.o_norm, r.o_max, list_text(r.o_first));
  if (r.o_not_finite > 0) text += fmt::format("          {} values are NaN or infinite\n", r.o_not_finite);
  text += fmt::format("lse       f32 {}   first {}\n", shape_text(in.lse_shape()), list_text(r.lse_first));
  text +=
      fmt::format("time      {} median of {}   {}   {}   (plan {}, workspace {})\n", seconds_text(median), r.seconds.size(),
                  rate_text(in.problem.flops() / median, "FLOP/s"), rate_text(in.problem.bytes() / median, "B/s"),
                  seconds_text(r.plan_seconds), bytes_text(static_cast<double>(r.workspace_bytes)));
  if (r.unfused) text += unfused_text(r);
  if (r.comparison) {
    text += fmt::format("check o   {}\n", error_text(r.comparison->o));
    text += fmt::format("check lse {}\n", error_text(r.comparison->lse));
    if (r.comparison->o.worst_ratio > 1) text += fmt::format("          {}\n", r.comparison->o.worst);
    if (r.comparison->lse.worst_ratio > 1) text += fmt::format("          lse of {}\n", r.comparison->lse.worst);
    text += r.comparison->pass() ? "check     PASS: every value is within its bound of the oracle\n" : "check     FAIL\n";
  }
  if (!r.output.empty()) text += fmt::format("wrote     {}: o, lse\n", r.output);
  return text;
}

Json report_json(const AttendInput& in, const AttendReport& r) {
  const double median = median_of(r.seconds);
  Json json = {{"problem", in.problem.to_string()},
               {"backend", r.backend},
               {"impl", r.implementation},
               {"threads", r.threads},
               {"modelled", false},
               {"o",
                {{"dtype", name_of(in.problem.dtype)},
                 {"shape", in.o_shape()},
                 {"norm", r.o_norm},
                 {"max", r.o_max},
                 {"not_finite", r.o_not_finite},
                 {"first", r.o_first}}},
               {"lse", {{"dtype", "f32"}, {"shape", in.lse_shape()}, {"first", r.lse_first}}},
               {"repeats", r.seconds.size()},
               {"median_s", median},
               {"plan_s", r.plan_seconds},
               {"flops", in.problem.flops()},
               {"bytes", in.problem.bytes()},
               {"flops_per_s", in.problem.flops() / median},
               {"bytes_per_s", in.problem.bytes() / median},
               {"workspace_bytes", r.workspace_bytes},
               {"peak_extra_bytes", r.extra_bytes},
               {"unused_tensors", in.unused}};
  if (r.comparison)
    json["check"] = {
        {"pass", r.comparison->pass()}, {"o", error_json(r.comparison->o)}, {"lse", error_json(r.comparison->lse)}};
  if (r.unfused) {
    json["unfused"] = {{"repeats", r.unfused->seconds.size()},
                       {"median_s", median_of(r.unfused->seconds)},
                       {"times_fused", median_of(r.unfused->seconds) / median},
                       {"peak_extra_bytes", r.unfused->extra_bytes},
                       {"score_bytes", r.unfused->score_bytes}};
    if (r.unfused_error)
      json["unfused"]["max_error"] = r.unfused_error->max_error, json["unfused"]["rms_error"] = r.unfused_error->rms_error;
  }
  if (!r.output.empty()) json["output"] = r.output;
  return json;
}

}  // namespace tessera::cli
