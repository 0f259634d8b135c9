// SPDX-License-Identifier: Apache-2.0
#include "bench/layout.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <utility>

#include "bench/statistics.hpp"
#include "bench/timing.hpp"
#include "tessera/attention.hpp"
#include "tessera/roofline.hpp"

namespace tessera::bench {
namespace {

constexpr std::int64_t kTile = 32, kLongBlock = 128;
constexpr std::int64_t kLine = 64;

/// Appends rows and joins those that touch.
class LineList {
 public:
  void add(const std::byte* row, std::int64_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(row);
    const std::byte* begin = row - address % kLine;
    const std::byte* end = row + bytes + (kLine - (address + static_cast<std::uintptr_t>(bytes)) % kLine) % kLine;
    if (!lines_.empty() && begin <= lines_.back().end && begin >= lines_.back().begin) {
      lines_.back().end = std::max(lines_.back().end, end);
    } else {
      lines_.push_back({begin, end});
    }
  }
  std::vector<Lines> take() { return std::move(lines_); }

 private:
  std::vector<Lines> lines_;
};

/// Rows of K, or of V, of some keys and heads of one sequence.
struct Rows {
  const Inputs& inputs;
  std::int64_t b, bytes;
  bool values;

  const std::byte* at(std::int64_t key, std::int64_t head) const {
    return values ? inputs.v_row(b, key, head) : inputs.k_row(b, key, head);
  }
  void of_a_head(std::int64_t begin, std::int64_t end, std::int64_t head, LineList& out) const {
    for (std::int64_t key = begin; key < end; ++key) out.add(at(key, head), bytes);
  }
  void of_all_heads(std::int64_t begin, std::int64_t end, std::int64_t heads, LineList& out) const {
    std::vector<const std::byte*> rows;
    for (std::int64_t key = begin; key < end; ++key) {
      for (std::int64_t head = 0; head < heads; ++head) rows.push_back(at(key, head));
    }
    std::sort(rows.begin(), rows.end());
    for (const std::byte* row : rows) out.add(row, bytes);
  }
};

/// A place in a list of lines; stays at the last line.
class Cursor {
 public:
  explicit Cursor(const std::vector<Lines>& lines)
      : piece_(lines.data()), last_(piece_ + lines.size() - 1), at_(piece_->begin) {}

  const std::byte* at() const { return at_; }
  bool has(std::int64_t bytes) const { return piece_->end - at_ >= bytes; }  // in one piece
  void advance(std::int64_t bytes) {
    at_ += bytes;
    if (at_ != piece_->end) return;
    if (piece_ == last_) {
      at_ -= kLine;
    } else {
      at_ = (++piece_)->begin;
    }
  }

 private:
  const Lines* piece_;
  const Lines* last_;
  const std::byte* at_;
};

Cursor ahead(const std::vector<Lines>& lines, int bytes) {
  Cursor cursor(lines);
  for (std::int64_t i = 0; i < bytes; i += kLine) cursor.advance(kLine);
  return cursor;
}

typedef std::uint64_t Vector __attribute__((vector_size(16)));

template <bool kFar, bool kNear>
Vector read_all(const std::vector<Lines>& lines, int far_bytes, int near_bytes) {
  constexpr int kMany = 4;
  Cursor far = ahead(lines, far_bytes), near = ahead(lines, near_bytes);
  Vector sums[4] = {};
  const auto read = [&]<int kCount>(const std::byte* at) {
    for (int i = 0; i < kCount; ++i) {
      if constexpr (kFar) __builtin_prefetch(far.at() + i * kLine);
      if constexpr (kNear) __builtin_prefetch(near.at() + i * kLine);
      const auto* line = reinterpret_cast<const Vector*>(at + i * kLine);
      for (int part = 0; part < 4; ++part) sums[part] += line[part];
    }
    if constexpr (kFar) far.advance(kCount * kLine);
    if constexpr (kNear) near.advance(kCount * kLine);
  };
  for (const Lines& piece : lines) {
    for (const std::byte* at = piece.begin; at != piece.end;) {
      if (piece.end - at >= kMany * kLine && (!kFar || far.has(kMany * kLine)) && (!kNear || near.has(kMany * kLine))) {
        read.template operator()<kMany>(at);
        at += kMany * kLine;
      } else {
        read.template operator()<1>(at);
        at += kLine;
      }
    }
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

std::atomic<std::uint64_t> sink;  // what was read counts as used

void read(const std::vector<Lines>& lines, const Reading& reading) {
  if (lines.empty()) return;
  const auto loop = reading.near_bytes != 0  ? read_all<true, true>
                    : reading.far_bytes != 0 ? read_all<true, false>
                                             : read_all<false, false>;
  sink += loop(lines, reading.far_bytes, reading.near_bytes)[0];
}

constexpr double kRepeatSeconds = 5e-3;  // starting a thread takes 1 % of it

/// Seconds of one read of everything by all threads.
double time_reading(const std::vector<std::vector<Lines>>& lists, const Reading& reading, int repeats) {
  const auto work = [&](std::size_t thread) {
    for (int i = 0; i < repeats; ++i) read(lists[thread], reading);
  };
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < lists.size(); ++thread) others.emplace_back(work, thread);
    work(0);
  }
  return seconds_since(begin) / repeats;
}

Status check(const Problem& problem) {
  const std::string name = "layout: \"" + problem.to_string() + "\": ";
  if (problem.window_left >= 0 || problem.window_right >= 0) {
    return Status::unsupported(name + "with a window not all keys are read");
  }
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    if (problem.query_length(b) > 8) return Status::unsupported(name + "more than 8 queries: their products are the roof");
  }
  return {};
}

double bytes_of(const Problem& problem) {
  double keys = 0;
  for (std::int64_t b = 0; b < problem.batch; ++b) keys += static_cast<double>(problem.key_length(b));
  const auto row =
      static_cast<double>((problem.head_dim_qk + problem.head_dim_v) * static_cast<int>(size_of(problem.dtype)));
  return keys * static_cast<double>(problem.num_kv_heads) * row;
}

constexpr std::array kOrders = {RowOrder::heads, RowOrder::tiles, RowOrder::blocks, RowOrder::caches};

std::vector<Reading> all_readings() {
  std::vector<Reading> readings;
  for (const RowOrder order : kOrders) {
    for (const auto& [far, near] : {std::pair{0, 0}, {4096, 0}, {8192, 0}, {8192, 4096}, {12288, 6144}, {16384, 8192}}) {
      readings.push_back({order, far, near});
    }
  }
  return readings;
}

}  // namespace

const char* name_of(RowOrder order) noexcept {
  switch (order) {
    case RowOrder::heads:
      return "heads";
    case RowOrder::tiles:
      return "tiles";
    case RowOrder::blocks:
      return "blocks";
    case RowOrder::caches:
      return "caches";
  }
  return "";
}

std::vector<Lines> lines_to_read(const Problem& problem, const Inputs& inputs, RowOrder order, int thread, int num_threads) {
  LineList out;
  const std::int64_t page = problem.paged() ? problem.page_size : 0, heads = problem.num_kv_heads;
  const std::int64_t block = order == RowOrder::heads    ? std::max(page, kTile)
                             : order == RowOrder::blocks ? std::max(page, kLongBlock)
                                                         : kTile;
  const std::int64_t share = std::max(page, kLongBlock);  // keys are shared out in such pieces
  const auto element = static_cast<std::int64_t>(size_of(problem.dtype));
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    const Rows k{inputs, b, problem.head_dim_qk * element, false}, v{inputs, b, problem.head_dim_v * element, true};
    const std::int64_t keys = problem.key_length(b), pieces = (keys + share - 1) / share;
    const std::int64_t first = std::min(keys, pieces * thread / num_threads * share);
    const std::int64_t end = std::min(keys, pieces * (thread + 1) / num_threads * share);
    if (order == RowOrder::caches) {
      for (const Rows& rows : {k, v}) {
        for (std::int64_t key = first; key < end; key += share)
          rows.of_all_heads(key, std::min(end, key + share), heads, out);
      }
      continue;
    }
    for (std::int64_t key = first; key < end; key += block) {
      const std::int64_t block_end = std::min(end, key + block);
      if (order != RowOrder::heads) {
        k.of_all_heads(key, block_end, heads, out);
        v.of_all_heads(key, block_end, heads, out);
        continue;
      }
      for (std::int64_t head = 0; head < heads; ++head) {
        for (std::int64_t tile = key; tile < block_end; tile += kTile) {
          k.of_a_head(tile, std::min(block_end, tile + kTile), head, out);
          v.of_a_head(tile, std::min(block_end, tile + kTile), head, out);
        }
      }
    }
  }
  return out.take();
}

Result<LayoutRates> measure_layout(const Problem& problem, const Options& options) {
  if (Status status = problem.validate(); !status) return status;
  if (Status status = check(problem); !status) return status;
  const auto begin = Clock::now();
  const auto plan = tessera::plan(problem, {options.num_threads, options.implementation});
  if (!plan.ok()) return plan.status();
  const auto inputs = Inputs::make(problem, problem.seed.value_or(1));
  if (!inputs.ok()) return inputs.status();
  const auto workspace = Arena::make(plan->workspace_bytes());
  if (!workspace.ok()) return workspace.status();

  LayoutRates rates;
  rates.problem = problem.to_string();
  rates.impl = std::string(plan->implementation());
  rates.threads = threads_of(*plan);
  rates.bytes = bytes_of(problem);
  rates.readings = all_readings();

  std::vector<std::vector<Lines>> lists[kOrders.size()];
  for (const RowOrder order : kOrders) {
    for (int thread = 0; thread < rates.threads; ++thread) {
      lists[static_cast<int>(order)].push_back(lines_to_read(problem, *inputs, order, thread, rates.threads));
    }
  }
  // The library first, and each reading after it: seconds of one pass in `repeats` of them.
  const auto time_one = [&](std::size_t which, int repeats) -> Result<double> {
    if (which == 0) return time_runs(*plan, *inputs, *workspace, repeats);
    const Reading& reading = rates.readings[which - 1];
    return time_reading(lists[static_cast<int>(reading.order)], reading, repeats);
  };
  auto once = time_one(0, 1);  // starts threads and takes what memory there is to take
  if (once.ok()) once = time_one(0, 1);
  if (!once.ok()) return once.status();
  const int repeats = std::max(1, static_cast<int>(kRepeatSeconds / *once + 0.5));

  std::vector<double> peaks;
  std::vector<std::vector<double>> fractions(rates.readings.size() + 1);
  for (; rates.rounds < 3 || seconds_since(begin) < options.seconds; ++rates.rounds) {
    for (std::size_t which = 0; which < fractions.size(); ++which) {
      const auto seconds = time_one(which, repeats);
      if (!seconds.ok()) return seconds.status();
      const auto peak = sample_read_rate(rates.impl, inputs->data(), static_cast<std::size_t>(rates.bytes), rates.threads,
                                         std::clamp(*seconds * repeats, kShortestSample, kLongestSample));
      if (!peak.ok()) return peak.status();
      peaks.push_back(*peak);
      fractions[which].push_back(rates.bytes / *peak / *seconds);
    }
  }
  rates.memory_peak = median(peaks);
  rates.kernel_fraction = median(fractions[0]);
  for (std::size_t i = 0; i < rates.readings.size(); ++i) rates.readings[i].roof_fraction = median(fractions[i + 1]);
  std::stable_sort(rates.readings.begin(), rates.readings.end(),
                   [](const Reading& a, const Reading& b) { return a.roof_fraction > b.roof_fraction; });
  return rates;
}

std::string render(const LayoutRates& rates, bool json) {
  char text[512];
  const Reading& best = rates.readings.front();
  if (json) {
    std::snprintf(text, sizeof text,
                  "{\"layout\": \"%s\", \"impl\": \"%s\", \"threads\": %d, \"rounds\": %d, \"bytes\": %.0f, "
                  "\"memory_peak\": %.4g, \"order\": \"%s\", \"far_bytes\": %d, \"near_bytes\": %d, "
                  "\"reading_fraction\": %.4f, \"kernel_fraction\": %.4f}\n",
                  rates.problem.c_str(), rates.impl.c_str(), rates.threads, rates.rounds, rates.bytes, rates.memory_peak,
                  name_of(best.order), best.far_bytes, best.near_bytes, best.roof_fraction, rates.kernel_fraction);
    return text;
  }
  std::snprintf(text, sizeof text,
                "%s, %d threads, %d rounds\nK and V: %.1f MB; a sequential read: %.1f GB/s\n\n"
                "order   prefetched ahead   of the sequential read\n",
                rates.problem.c_str(), rates.threads, rates.rounds, rates.bytes / 1e6, rates.memory_peak / 1e9);
  std::string out = text;
  for (const Reading& reading : rates.readings) {
    std::snprintf(text, sizeof text, "%-6s  %5d and %5d B    %.3f\n", name_of(reading.order), reading.far_bytes,
                  reading.near_bytes, reading.roof_fraction);
    out += text;
  }
  std::snprintf(text, sizeof text, "\ntessera (%s): %.3f, that is %.2f of the fastest that only reads\n", rates.impl.c_str(),
                rates.kernel_fraction, rates.kernel_fraction / best.roof_fraction);
  return out + text;
}

}  // namespace tessera::bench
