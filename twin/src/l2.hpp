// SPDX-License-Identifier: Apache-2.0
// The shared L2: sets of ways, least recently used goes first, writes stay until they are evicted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace twin {

class L2 {
 public:
  struct Line {
    std::uint64_t tag = ~0ull;
    double free_at = 0;  // when its present user is done with it
    std::int32_t user = -1;
    bool dirty = false;
  };
  struct Outcome {
    std::uint64_t hit_lines = 0, miss_lines = 0, evicted_lines = 0;  // evicted: dirty ones, written to HBM
  };

  L2(std::uint64_t bytes, std::uint32_t line_bytes, std::uint32_t ways)
      : ways_(ways), sets_(std::max<std::uint64_t>(1, bytes / line_bytes / ways)), lines_(sets_ / kTogether + 1) {}

  Line& access(std::uint64_t line, bool write, Outcome* out) {
    Line* const set = set_of(line % sets_);  // newest first
    std::uint32_t at = 0;
    while (at < ways_ && set[at].tag != line) ++at;
    if (at < ways_) {
      ++out->hit_lines;
    } else {
      at = ways_ - 1;
      out->evicted_lines += set[at].dirty;
      set[at] = {line, 0, -1, false};
      ++out->miss_lines;
    }
    Line found = set[at];
    found.dirty |= write;
    std::move_backward(set, set + at, set + at + 1);
    set[0] = found;
    return set[0];
  }

 private:
  // Sets come into being together: all 9 MB of a 192 MB cache take longer than most launches.
  static constexpr std::uint64_t kTogether = 64;
  Line* set_of(std::uint64_t set) {
    auto& lines = lines_[set / kTogether];
    if (!lines) lines = std::make_unique<Line[]>(kTogether * ways_);
    return &lines[set % kTogether * ways_];
  }

  std::uint32_t ways_;
  std::uint64_t sets_;
  std::vector<std::unique_ptr<Line[]>> lines_;
};

}  // namespace twin
