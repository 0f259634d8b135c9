// SPDX-License-Identifier: Apache-2.0
// The memories: of each core, and GM, with what is known of each byte.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "clock.hpp"
#include "history.hpp"
#include "twin/types.hpp"

namespace twin {

// State of a byte. Values from kFirstOrigin on: undefined, and where that came from (Launch::origins).
inline constexpr std::uint8_t kUnwritten = 0;
inline constexpr std::uint8_t kDefined = 1;
inline constexpr std::uint8_t kFirstSkipped = 2;  // to kFirstOrigin: what the timing-only mode has not computed
inline constexpr std::uint8_t kFirstOrigin = 64;

// ---- the scalar unit's data cache ----
inline constexpr std::uint64_t kCacheLineBytes = 64;
// What one core has, or had, of one line of GM. Lines are never evicted here: a real cache may keep them, so a kernel must
// not count on the contrary.
struct CachedLine {
  std::uint16_t core = 0;
  bool present = false, invalidated = false;  // invalidated: by DataCacheCleanAndInvalid, since the last load
  std::uint64_t dirty = 0, cleaned = 0;       // bytes, one bit each: stored and not written back; written back in the past
  std::uint32_t load_site = 0, store_site = 0, store_time = 0, store_tensor = 0, clean_time = 0;
  const char* stored_by = "";  // the instruction of store_site
  Clock loaded;                // what the scalar unit knew to be complete when it loaded the line
  Clock released;              // what other cores learn from reading what was written back
};

// ---- atomic sums whose order decides the result ----
// Of the values added to one element of GM: with few bits each, every partial sum in any order is exact.
struct AtomicSum {
  float magnitude = 0;       // sum of |value|, rounded up
  std::int16_t lowest = 0;   // all values are multiples of 2^lowest
  std::uint8_t addends = 0;  // that are not zero; saturates
};
class AtomicSums {
 public:
  // Adds a value to the sum at this byte; `base`: what the element held before the first. True if the order of the addends
  // decides how the sum is rounded.
  bool add(std::uint64_t at, DType dtype, float base, float value);
  void forget(std::uint64_t begin, std::uint64_t end);  // somebody stored plain values there
  bool empty() const { return pages_.empty(); }
  void clear() { pages_.clear(); }

 private:
  static constexpr std::uint64_t kPage = 2048;
  std::map<std::uint64_t, std::vector<AtomicSum>> pages_;  // an entry each two bytes
};

// ---- memories ----
struct Memory {
  Space space = Space::UB;
  std::uint8_t* data = nullptr;
  std::uint8_t* state = nullptr;  // one a byte
  std::uint64_t bytes = 0;
  std::uint64_t device_bytes = 0;   // a core's: what the device has, which is less once a TPipe that took more was reported
  std::vector<std::uint8_t> grown;  // holds the larger one
  // GM: where the L2 model sees it. Given at the first touch in a launch, so that it depends on nothing that was before.
  std::uint64_t device_address = 0;
  std::uint64_t touched_in = 0;  // Launched::serial
  bool of_the_host = false;      // GM of GmAlloc, which the host may read and write as its own
  bool of_each_launch = false;   // GM of the library's own, which the device gives to each launch anew
  std::string name;
  History history{12};
  AtomicSums sums;                                          // GM
  std::map<std::uint64_t, std::vector<CachedLine>> cached;  // GM: by line, one a core that has had it
  std::vector<std::uint8_t>
      fractal;  // L1, L0A, L0B: for each 32 bytes, 1 if they hold a row of a fractal made from a matrix
};

// Global memory: what aclrtMalloc and GmAlloc gave out.
class GlobalMemory {
 public:
  static GlobalMemory& get();
  void* allocate(std::size_t bytes, const char* by, bool of_each_launch = false);
  template <class F>
  void each_touched(std::uint64_t serial, F&& f) const {  // by the launch of that number, of what the program allocated
    for (const auto& [address, memory] : blocks_) {
      if (!memory->of_each_launch && memory->touched_in == serial) f(*memory);
    }
  }
  bool release(void* pointer);
  Memory* find(std::uint64_t address, bool* freed = nullptr);  // the live allocation that holds the address
  const Memory* before(std::uint64_t address) const;           // the live allocation that ends before it; null: none near
  void forget_history();
  void mark_defined(const void* pointer, std::size_t bytes);  // a host copy into it

 private:
  void forget_freed(std::uint64_t begin, std::uint64_t end);

  std::map<std::uint64_t, std::unique_ptr<Memory>> blocks_;  // by host address
  std::map<std::uint64_t, std::uint64_t> freed_;             // the same: how long each was
  std::deque<std::uint64_t> freed_in_order_;                 // the last ones, so that a program may allocate for ever
  Memory* last_ = nullptr;
  int count_ = 0;
};

}  // namespace twin
