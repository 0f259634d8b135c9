// SPDX-License-Identifier: Apache-2.0
#include "stand_ins.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>

#include "launched.hpp"

namespace twin {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
// The first eight are tried before the kernel's own numbers.
constexpr double kReals[] = {1,    0,    -kInf, 3e38, std::numeric_limits<double>::quiet_NaN(),
                             -1,   kInf, 0.5,   2,    5,
                             -0.5, 100,  1e-3,  10,   -2,
                             -100, 7,    1e4,   1e-6, 1e6,
                             -1e4, 3e4,  0.1,   20,   50,
                             1e3,  -10,  -3e38};
constexpr double kIntegers[] = {1, 0, 2, 7, 3, 5, 4, -1, 8, 16, 6, 64, 255, 100, 1000};
constexpr std::size_t kFirst = 8, kSameRounds = 3;  // 0, -inf and 3e38 (integers 0, 2 and 7) for all reads at once
constexpr std::size_t kMostOfDevice = 32, kMostScalars = 16, kMost = 64;

struct Literals {
  std::vector<double> device, other;
};
Literals& literals() {
  static auto* all = new Literals;
  return *all;
}

bool integral(double v) { return std::fabs(v) < 2147483648.0 && v == std::floor(v); }

// A 16-bit floating-point number some numbers further up: as ordered integers they are neighbours.
std::uint16_t further(std::uint16_t bits, int step) {
  const int magnitude = bits & 0x7fff;
  const int order = (bits & 0x8000 ? -magnitude : magnitude) + step;
  return static_cast<std::uint16_t>(order < 0 ? 0x8000 | -order : order);
}

std::vector<StandIn> with_thresholds(const double* base, std::size_t n, const std::vector<double>& thresholds) {
  std::vector<StandIn> out;
  for (std::size_t k = 0; k < kFirst; ++k) out.push_back({base[k]});
  std::vector<double> sorted = thresholds;
  std::sort(sorted.begin(), sorted.end());
  for (const double t : thresholds) out.push_back({t});
  for (std::size_t k = 1; k < sorted.size(); ++k) out.push_back({sorted[k - 1] / 2 + sorted[k] / 2});
  for (const double t : thresholds) out.insert(out.end(), {{t, 1}, {t, -1}});
  for (std::size_t k = kFirst; k < n; ++k) out.push_back({base[k]});
  return out;
}

}  // namespace

bool register_literals(std::initializer_list<double> device, std::initializer_list<double> other) {
  literals().device.insert(literals().device.end(), device);
  literals().other.insert(literals().other.end(), other);
  return true;
}

void note_scalar(double value) {
  if (!in_launch() || !launched().timing_only || launched().rerun || !std::isfinite(value)) return;
  std::vector<double>& all = launched().scalars;
  if (all.size() < kMostScalars && std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
}

// Each as what it may be, a number that somebody would compare with: pointers, and floats read as integers, are not.
void note_words(const void* words, std::size_t bytes) {
  for (std::size_t at = 0; at + 4 <= bytes; at += 4) {
    float real;
    std::int32_t integer, high = 0;
    std::memcpy(&real, static_cast<const char*>(words) + at, 4);
    std::memcpy(&integer, &real, 4);
    if (at % 8 == 0 && at + 8 <= bytes) std::memcpy(&high, static_cast<const char*>(words) + at + 4, 4);
    if (high >= 0x5000 && high < 0x8000) {  // where this host's processes have their memory
      at += 4;
    } else if (std::abs(static_cast<double>(integer)) < 1 << 24) {
      note_scalar(integer);
    } else if (std::fabs(real) > 1e-12f && std::fabs(real) < 1e12f) {
      note_scalar(static_cast<double>(real));
    }
  }
}

double write_stand_in(const StandIn& s, DType dtype, void* value, std::uint32_t size) {
  const auto v = static_cast<float>(s.value);
  if (dtype == DType::F32) {
    float f = v;
    if (s.step != 0) f = std::nextafter(f, s.step > 0 ? HUGE_VALF : -HUGE_VALF);
    std::memcpy(value, &f, size);
    return static_cast<double>(f);
  }
  if (dtype == DType::F16 || dtype == DType::BF16) {
    const bool half = dtype == DType::F16;
    const std::uint16_t bits = further(half ? float_to_half(v) : float_to_bfloat(v), s.step);
    std::memcpy(value, &bits, size);
    return static_cast<double>(half ? half_to_float(bits) : bfloat_to_float(bits));
  }
  const std::int64_t i = static_cast<std::int64_t>(s.value) + s.step;
  std::memcpy(value, &i, std::min<std::size_t>(size, sizeof i));  // little-endian
  return static_cast<double>(i);
}

std::string stand_in_text(double value) {  // as short as tells it from its neighbours
  std::string text;
  for (int digits = 6; digits <= 9; ++digits) {
    text = format("%.*g", digits, value);
    if (std::strtof(text.c_str(), nullptr) == static_cast<float>(value)) break;
  }
  return text;
}

StandIns::StandIns(const std::vector<double>& thresholds) : reals(with_thresholds(kReals, std::size(kReals), thresholds)) {
  std::vector<double> whole;
  for (const double t : thresholds) {
    if (integral(t)) whole.push_back(t);
  }
  integers = with_thresholds(kIntegers, std::size(kIntegers), whole);
}

const std::vector<StandIn>& StandIns::of(DType dtype) const {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 ? reals : integers;
}

std::vector<double> thresholds_of(const Launched& l) {
  std::vector<double> out;
  const auto take = [&out](const std::vector<double>& from, std::size_t most) {
    for (std::size_t k = 0, n = 0; k < from.size() && n < most; ++k) {
      if (std::find(out.begin(), out.end(), from[k]) == out.end()) out.push_back(from[k]), ++n;
    }
  };
  take(literals().device, kMostOfDevice);
  take(l.scalars, kMostScalars);
  take(literals().other, kMost - out.size());
  return out;
}

Rerun::Rerun(const Launched& first, Last* last) : values_(thresholds_of(first)), last_(last) {
  for (const auto& core : first.cores) {
    for (const SkippedRead& r : core->skipped_reads) {
      Line& line = lines_.try_emplace(r.site, Line{}).first->second;
      if (!line.given.empty()) continue;
      line.place = lines_.size() - 1;
      line.dtype = r.dtype;
      line.given.resize(values_.of(r.dtype).size());
      line.given[0] = true;
      line.count = 1;
    }
  }
}

const Rerun::Line* Rerun::fewest() const {
  const Line* least = nullptr;
  for (const auto& [site, line] : lines_) {
    if (!least || line.given.size() - line.count > least->given.size() - least->count) least = &line;
  }
  return least;
}

bool Rerun::next() {
  for (auto& [site, line] : lines_) line.reads = 0, line.cores.clear();
  only_ = kNoSite;
  if (++round_ <= kSameRounds) {
    way_ = Way::Same;
    shift_ = round_;
    return !lines_.empty();
  }
  const Line* const least = fewest();
  if (!least || least->count == least->given.size()) return false;
  // The first read of the line that lacks the most gets one of those; lines differ, so that two values compare both ways.
  way_ = round_ % 2 == 0 ? Way::ARead : Way::ACore;
  const auto lacks =
      static_cast<std::size_t>(std::find(least->given.begin(), least->given.end(), false) - least->given.begin());
  const std::size_t n = least->given.size();
  shift_ = (lacks + n - kFirst * least->place % n) % n;
  return true;
}

void Rerun::repeat(Way way, std::size_t shift, std::uint32_t only_site) {
  way_ = way;
  shift_ = shift;
  for (auto& [site, line] : lines_) line.reads = 0, line.cores.clear();
  only_ = only_site;
}

double Rerun::give(int core, std::uint32_t site, std::uint8_t state, DType dtype, void* value, std::uint32_t size) {
  const auto at = lines_.find(site);
  if (at == lines_.end() || (only_ != kNoSite && site != only_)) return write_stand_in({}, dtype, value, size);
  Line& line = at->second;
  const std::vector<StandIn>& values = values_.of(dtype);
  std::size_t which = shift_;
  if (way_ != Way::Same) {
    const std::size_t turn = way_ == Way::ARead ? line.reads : line.cores.try_emplace(core, line.cores.size()).first->second;
    which += kFirst * line.place + turn;
  }
  ++line.reads;
  which %= values.size();
  if (which < line.given.size() && !line.given[which]) line.given[which] = true, ++line.count;
  const double given = write_stand_in(values[which], dtype, value, size);
  *last_ = {way_, shift_, site, state, given};
  return given;
}

std::vector<std::uint32_t> Rerun::sites() const {
  std::vector<std::uint32_t> out;
  for (const auto& [site, line] : lines_) out.push_back(site);
  return out;
}

std::pair<std::size_t, std::size_t> Rerun::tried() const {
  const Line* const least = fewest();
  return least ? std::pair(least->count, least->given.size()) : std::pair<std::size_t, std::size_t>(0, 0);
}

}  // namespace twin
