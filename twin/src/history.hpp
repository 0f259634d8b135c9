// SPDX-License-Identifier: Apache-2.0
// Who last wrote, and who since read, each byte of one memory: intervals in pages, so that a contiguous access costs one
// step a page however long it is, and scattered ones stay bounded by the page.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "twin/types.hpp"

namespace twin {

// kPolled: a scalar read of a cache line that the core has invalidated, as a loop does that waits for another core's value.
// Two atomic stores of one kind need no order; an addition and a maximum do.
enum Tag : std::uint8_t { kPlain = 0, kAtomicAdd = 1, kSmallMmad = 2, kPolled = 4, kAtomicMax = 8, kAtomicMin = 16 };
inline constexpr std::uint8_t kAtomic = kAtomicAdd | kAtomicMax | kAtomicMin;

struct Event {
  std::uint32_t time = 0;  // the how-manieth instruction of its pipe, from 1; 0: none
  std::uint32_t site = 0;
  std::uint32_t tensor = 0;
  std::uint16_t core = 0;
  Pipe pipe = Pipe::S;
  std::uint8_t tag = kPlain;
};

// The first of two tensors if they lie over each other by mistake, so that a write of the second destroys it; otherwise 0.
std::uint32_t destroyed_tensor(std::uint32_t old, std::uint32_t fresh);

class History {
 public:
  explicit History(std::uint32_t page_bits) : page_bits_(page_bits) {}

  // Calls on_meet(old event, old was a write, begin, end, lost) for each earlier access that an access of this kind meets,
  // then records it. lost: the tensor whose value the old write destroyed.
  template <class OnMeet>
  void access(std::uint64_t begin, std::uint64_t end, bool write, const Event& now, OnMeet&& on_meet) {
    while (begin < end) {
      const std::uint64_t index = begin >> page_bits_;
      const std::uint64_t base = index << page_bits_;
      const std::uint64_t stop = std::min<std::uint64_t>(end, base + page_bytes());
      if (pages_.size() <= index) pages_.resize(index + 1);
      if (!pages_[index]) pages_[index] = std::make_unique<Page>(1, Segment{0, page_bytes(), 0, {}, {}});
      visit(*pages_[index], hint_, base, static_cast<std::uint32_t>(begin - base), static_cast<std::uint32_t>(stop - base),
            write, now, on_meet);
      begin = stop;
    }
  }
  void clear() { pages_.clear(); }
  // Calls f(last write, reads since, begin, end) for each stretch, in order.
  template <class F>
  void each(F&& f) const {
    for (std::uint64_t index = 0; index < pages_.size(); ++index) {
      if (!pages_[index]) continue;
      for (const Segment& s : *pages_[index])
        f(s.write, s.reads, (index << page_bits_) + s.begin, (index << page_bits_) + s.end);
    }
  }
  // Calls f(event, begin, end) for the last write of each stretch of the range; records nothing.
  template <class F>
  void writes(std::uint64_t begin, std::uint64_t end, F&& f) const {
    for (std::uint64_t index = begin >> page_bits_; index < pages_.size() && (index << page_bits_) < end; ++index) {
      if (!pages_[index]) continue;
      const std::uint64_t base = index << page_bits_;
      for (const Segment& s : *pages_[index]) {
        if (s.write.time && base + s.end > begin && base + s.begin < end) f(s.write, base + s.begin, base + s.end);
      }
    }
  }

 private:
  struct Segment {
    std::uint32_t begin, end;
    std::uint32_t lost;  // the tensor that this write destroyed
    Event write;
    std::vector<Event> reads;  // one a (core, pipe): the newest
  };
  using Page = std::vector<Segment>;

  template <class OnMeet>
  static void visit(Page& page, std::size_t& hint, std::uint64_t base, std::uint32_t begin, std::uint32_t end, bool write,
                    const Event& now, OnMeet& on_meet) {
    std::size_t i = find(page, hint, begin);
    if (page[i].begin < begin) split(page, i++, begin);
    const std::size_t first = i;
    std::uint32_t lost = 0;
    for (; i < page.size() && page[i].begin < end; ++i) {
      if (page[i].end > end) split(page, i, end);
      Segment& segment = page[i];
      if (write) {  // first: a reader that the write before reached orders the two writes as well
        for (const Event& read : segment.reads) on_meet(read, false, base + segment.begin, base + segment.end, 0u);
      }
      if (segment.write.time) on_meet(segment.write, true, base + segment.begin, base + segment.end, segment.lost);
      if (write) {
        if (segment.write.tensor != now.tensor) {
          const std::uint32_t destroyed = destroyed_tensor(segment.write.tensor, now.tensor);
          if (destroyed) lost = destroyed;
        } else if (segment.lost) {
          lost = segment.lost;  // still destroyed
        }
      } else {
        remember(segment.reads, now);
      }
    }
    hint = write ? first : i - 1;
    if (write) {  // the segments become one
      page[first].end = page[i - 1].end;
      page[first].write = now;
      page[first].lost = lost;
      page[first].reads.clear();
      page.erase(page.begin() + first + 1, page.begin() + i);
    }
  }
  // The segment that holds the byte. An instruction's accesses go upwards: near `hint`, where the last one ended.
  static std::size_t find(const Page& page, std::size_t hint, std::uint32_t begin) {
    std::size_t i = hint < page.size() && page[hint].begin <= begin ? hint : 0;
    for (const std::size_t near = std::min(i + 8, page.size()); i < near; ++i) {
      if (page[i].end > begin) return i;
    }
    return static_cast<std::size_t>(std::upper_bound(page.begin() + static_cast<std::ptrdiff_t>(i), page.end(), begin,
                                                     [](std::uint32_t b, const Segment& s) { return b < s.end; }) -
                                    page.begin());
  }
  static void split(Page& page, std::size_t i, std::uint32_t at) {
    Segment left = page[i];
    left.end = at;
    page[i].begin = at;
    page.insert(page.begin() + i, std::move(left));
  }
  static void remember(std::vector<Event>& reads, const Event& now) {
    for (Event& read : reads) {
      if (read.core == now.core && read.pipe == now.pipe) {
        read = now;
        return;
      }
    }
    reads.push_back(now);
  }

  std::uint32_t page_bytes() const { return 1u << page_bits_; }

  std::uint32_t page_bits_;
  std::size_t hint_ = 0;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace twin
