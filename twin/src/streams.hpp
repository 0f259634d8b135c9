// SPDX-License-Identifier: Apache-2.0
// Order between launches, and of the host with them. Launches run at once, one after the other; on the device only a stream,
// an event or a wait of the host orders two of them. Each stream counts what was given to it; a point is, for each stream,
// how much of it is known to be over.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "history.hpp"
#include "twin/engine.hpp"

namespace twin {

struct Launched;
struct Memory;

class Streams {
 public:
  using Point = std::vector<std::uint64_t>;  // by number of the stream; 0 is the default stream

  static Streams& get();
  const void* create();
  void destroy(const void* stream);  // waits for it
  Point point(const void* stream);   // what an event recorded there stands for
  void wait(const void* stream, const Point& event);
  void host_waits(const Point& event);
  void host_waits(const void* stream) { host_waits(point(stream)); }
  void host_waits_for_all();

  // A launch has ended: what it did to GM, in the histories, against launches that nothing orders with it.
  void launched(const Launched& launch, const void* stream, Site at);
  // A copy of the host's, at once, or one given to a stream.
  void host_accesses(const char* function, const void* pointer, std::size_t bytes, bool write);
  void stream_accesses(const char* function, const void* stream, const void* pointer, std::size_t bytes, bool write);
  void forget(const Memory& memory) { past_.erase(&memory); }

 private:
  struct Span {
    std::uint64_t begin, end;
    bool write;
    std::uint8_t tag;    // history.hpp
    std::uint32_t site;  // of the instruction, 0 for a copy
  };
  struct Past {  // what one launch, or copy, did to one memory
    int stream;
    std::uint64_t time;  // in its stream
    std::string what;    // "launch of k at main.asc:12"
    Site at = Site::none();
    std::vector<Span> spans;  // in order, apart
  };

  int number(const void* stream) const;
  bool used() const { return !numbers_.empty(); }
  Point& clock(int stream);
  int begin(const void* stream);  // the next in it; its number
  void check(const Memory& memory, const Past& now, const Point& known);
  void keep(const Memory& memory, Past&& now);
  static std::vector<Span> spans_of(const Memory& memory);

  std::map<const void*, int> numbers_;
  std::set<int> free_numbers_;
  std::vector<Point> clocks_{Point(1)};
  Point host_{0};
  std::map<const Memory*, std::deque<Past>> past_;
};

}  // namespace twin
