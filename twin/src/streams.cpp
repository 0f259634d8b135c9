// SPDX-License-Identifier: Apache-2.0
#include "streams.hpp"

#include <algorithm>

#include "engine.hpp"
#include "launched.hpp"

namespace twin {
namespace {

// Of a memory and all streams; older ones are forgotten, so that programs that never wait stay fast.
constexpr std::size_t kRemembered = 64;

void join(Streams::Point* into, const Streams::Point& other) {
  if (into->size() < other.size()) into->resize(other.size());
  for (std::size_t k = 0; k < other.size(); ++k) (*into)[k] = std::max((*into)[k], other[k]);
}
bool knows(const Streams::Point& known, int stream, std::uint64_t time) {
  return static_cast<std::size_t>(stream) < known.size() && known[stream] >= time;
}

std::string stream_name(int number) { return number ? format("stream %d", number) : "the default stream"; }

}  // namespace

Streams& Streams::get() {
  static Streams* all = new Streams;  // outlives what the program destroys at its end
  return *all;
}

int Streams::number(const void* stream) const {
  const auto found = numbers_.find(stream);
  return found == numbers_.end() ? 0 : found->second;
}

Streams::Point& Streams::clock(int stream) {
  if (clocks_.size() <= static_cast<std::size_t>(stream)) clocks_.resize(stream + 1);
  return clocks_[stream];
}

const void* Streams::create() {
  const int n = free_numbers_.empty() ? static_cast<int>(numbers_.size()) + 1 : *free_numbers_.begin();
  free_numbers_.erase(n);
  const void* const handle = new char;
  numbers_[handle] = n;
  return handle;
}

void Streams::destroy(const void* stream) {
  if (!numbers_.count(stream)) return;
  host_waits(stream);
  free_numbers_.insert(number(stream));
  numbers_.erase(stream);
  delete static_cast<const char*>(stream);
}

Streams::Point Streams::point(const void* stream) { return clock(number(stream)); }
void Streams::wait(const void* stream, const Point& event) { join(&clock(number(stream)), event); }

void Streams::host_waits(const Point& event) {
  join(&host_, event);
  for (auto& [memory, pasts] : past_) {  // whatever comes later comes behind them
    pasts.erase(std::remove_if(pasts.begin(), pasts.end(), [&](const Past& p) { return knows(host_, p.stream, p.time); }),
                pasts.end());
  }
}
void Streams::host_waits_for_all() {
  Point all;
  for (const Point& p : clocks_) join(&all, p);
  host_waits(all);
}

int Streams::begin(const void* stream) {
  const int n = number(stream);
  Point& mine = clock(n);
  join(&mine, host_);
  if (mine.size() <= static_cast<std::size_t>(n)) mine.resize(n + 1);
  ++mine[n];
  return n;
}

std::vector<Streams::Span> Streams::spans_of(const Memory& memory) {
  std::vector<Span> out;
  memory.history.each([&](const Event& write, const std::vector<Event>& reads, std::uint64_t begin, std::uint64_t end) {
    if (!write.time && reads.empty()) return;
    const Event& e = write.time ? write : reads.front();
    const bool writes = write.time != 0;
    if (!out.empty() && out.back().end == begin && out.back().write == writes && out.back().site == e.site &&
        out.back().tag == e.tag) {
      out.back().end = end;
    } else {
      out.push_back({begin, end, writes, e.tag, e.site});
    }
  });
  return out;
}

void Streams::check(const Memory& memory, const Past& now, const Point& known) {
  const auto pasts = past_.find(&memory);
  if (pasts == past_.end()) return;
  for (const Past& old : pasts->second) {
    if (knows(known, old.stream, old.time)) continue;
    auto a = now.spans.begin(), b = old.spans.begin();
    while (a != now.spans.end() && b != old.spans.end()) {
      const bool meet = a->begin < b->end && b->begin < a->end && (a->write || b->write) && !(a->tag & b->tag & kAtomic);
      if (meet) {
        Finding f{Kind::GmRace};
        if (a->site) f.line_a = to_string(site_of(a->site));  // a copy has no line
        (f.line_a.empty() ? f.line_a : f.line_b) = b->site ? to_string(site_of(b->site)) : "";
        f.core = (now.stream < 0 ? "the host" : stream_name(now.stream)) + " against " + stream_name(old.stream);
        f.range = hex_range(memory.name, std::max(a->begin, b->begin), std::min(a->end, b->end));
        f.what = format("%s %s what the %s %s, and nothing orders the two", now.what.c_str(),
                        a->write ? "overwrites" : "reads", old.what.c_str(), b->write ? "writes" : "reads");
        f.fix = now.stream < 0 ? "aclrtSynchronizeStream before the copy"
                               : "aclrtRecordEvent behind the first and aclrtStreamWaitEvent before the second, "
                                 "aclrtSynchronizeStream between them, or one stream for both";
        report(std::move(f));
        break;
      }
      ++(a->end < b->end ? a : b);
    }
  }
}

void Streams::keep(const Memory& memory, Past&& now) {
  std::deque<Past>& pasts = past_[&memory];
  pasts.push_back(std::move(now));
  if (pasts.size() > kRemembered) pasts.pop_front();
}

void Streams::launched(const Launched& launch, const void* stream, Site at) {
  const int n = begin(stream);
  if (!used()) return;
  const Point known = clock(n);
  GlobalMemory::get().each_touched(launch.serial, [&](const Memory& memory) {
    Past now{n, known[n], format("launch of %s at %s", launch.kernel.c_str(), to_string(at).c_str()), at, spans_of(memory)};
    if (now.spans.empty()) return;
    check(memory, now, known);
    keep(memory, std::move(now));
  });
}

void Streams::host_accesses(const char* function, const void* pointer, std::size_t bytes, bool write) {
  if (!used()) return;
  host_waits(point(nullptr));  // a copy of the host's waits for the default stream
  const Memory* const m = GlobalMemory::get().find(reinterpret_cast<std::uint64_t>(pointer));
  if (!m) return;
  const std::uint64_t first = reinterpret_cast<std::uint64_t>(pointer) - reinterpret_cast<std::uint64_t>(m->data);
  check(*m, {-1, 0, function, Site::none(), {{first, first + bytes, write, kPlain, 0}}}, host_);
}

void Streams::stream_accesses(const char* function, const void* stream, const void* pointer, std::size_t bytes, bool write) {
  const int n = begin(stream);
  const Memory* const m = GlobalMemory::get().find(reinterpret_cast<std::uint64_t>(pointer));
  if (!used() || !m) return;
  const std::uint64_t first = reinterpret_cast<std::uint64_t>(pointer) - reinterpret_cast<std::uint64_t>(m->data);
  const Point known = clock(n);
  Past now{n, known[n], function, Site::none(), {{first, first + bytes, write, kPlain, 0}}};
  check(*m, now, known);
  keep(*m, std::move(now));
}

}  // namespace twin
