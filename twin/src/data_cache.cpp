// SPDX-License-Identifier: Apache-2.0
// The scalar unit's data cache: lines of 64 bytes that nothing keeps coherent with GM. The twin's memory always has the
// newest values; what a stale line or its write-back would do on the chip is found by order, as races are:
//   a read of a cached line is stale if a write that is complete now was not when the line was loaded;
//   a store stays in its cache until DataCacheCleanAndInvalid, and nobody else sees it before;
//   a dirty line goes back whole, at any time up to the clean: it overwrites its neighbours' newer values.
#include "engine.hpp"
#include "launched.hpp"

namespace twin {
namespace {

CachedLine& line_of(Core& c, Memory& m, std::uint64_t line) {
  auto& all = m.cached[line];
  for (CachedLine& l : all) {
    if (l.core == c.index) return l;
  }
  all.emplace_back();
  all.back().core = static_cast<std::uint16_t>(c.index);
  return all.back();
}

void load(Core& c, Memory& m, std::uint64_t number, CachedLine& l, std::uint32_t site) {
  if (l.present) return;
  l.present = true;
  l.invalidated = false;
  l.load_site = site;
  l.loaded = c.completed(Pipe::S);
  c.cached.emplace_back(&m, number);
}

std::uint64_t bits(std::uint64_t line, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t base = line * kCacheLineBytes;
  const std::uint64_t first = std::max(begin, base) - base, last = std::min(end, base + kCacheLineBytes) - base;
  return (last >= 64 ? ~0ull : (1ull << last) - 1) & ~((1ull << first) - 1);
}

struct Meeting {
  std::uint32_t site_a, site_b;
  std::string core;
  Pipe pipe_a, pipe_b;
  std::uint32_t tensor_a, tensor_b;
};

void stale(const Memory& m, std::uint64_t begin, std::uint64_t end, const Meeting& at, const std::string& what,
           const char* fix) {
  Finding f{Kind::StaleCache};
  f.what = what;
  f.line_a = to_string(site_of(at.site_a));
  f.line_b = to_string(site_of(at.site_b));
  f.core = at.core;
  f.pipe_a = name(at.pipe_a);
  f.pipe_b = name(at.pipe_b);
  f.range = hex_range(m.name, begin, end);
  f.tensor = tensor_text(at.tensor_a);
  f.other_tensor = tensor_text(at.tensor_b);
  f.fix = fix;
  report(std::move(f));
}

constexpr const char* kApart =
    "keep what different cores or pipes write 64 bytes apart, or store it with DataCopyPad instead of SetValue";

std::string against(const Core& c, int other) {
  return other == c.index ? c.label() : c.label() + " against " + launched().cores[other]->label();
}

}  // namespace

const char* cache_cost(const Core& c, const Memory& m, std::uint64_t begin) {
  const auto found = m.cached.find(begin / kCacheLineBytes);
  if (found == m.cached.end()) return "ScalarGm";
  for (const CachedLine& l : found->second) {
    if (l.core == c.index) return l.present ? "ScalarGmCached" : "ScalarGm";
  }
  return "ScalarGm";
}

bool cache_before_load(Core& c, Memory& m, std::uint64_t begin) {
  const auto found = m.cached.find(begin / kCacheLineBytes);
  if (found == m.cached.end()) return false;
  bool anew = false;
  for (const CachedLine& l : found->second) anew |= l.core == c.index && l.invalidated;
  if (!anew) return false;
  // It takes care to see what others have written back, as a loop does that waits for their value: then it learns what they
  // knew.
  for (const CachedLine& l : found->second) {
    if (l.core != c.index && l.clean_time && !l.dirty) c.learn(Pipe::S, l.released);
  }
  return true;
}

void cache_load(Core& c, Memory& m, std::uint64_t begin, std::uint64_t end, std::uint32_t tensor, std::uint32_t site,
                const char* by) {
  const std::uint64_t number = begin / kCacheLineBytes;
  CachedLine& l = line_of(c, m, number);
  if (!l.present) return load(c, m, number, l, site);
  m.history.writes(begin, end, [&](const Event& w, std::uint64_t b, std::uint64_t e) {
    if ((w.core == c.index && w.pipe == Pipe::S) || knows(c, l.loaded, w) || !knows(c, c.clock[int(Pipe::S)], w)) return;
    stale(m, std::max(b, begin), std::min(e, end), {site, w.site, against(c, w.core), Pipe::S, w.pipe, tensor, w.tensor},
          format("%s reads a line that has been in the data cache since %s; %s at %s has written it after that", by,
                 to_string(site_of(l.load_site)).c_str(), name(w.pipe), to_string(site_of(w.site)).c_str()),
          "DataCacheCleanAndInvalid on the line before it is read again");
  });
}

void cache_store(Core& c, Memory& m, std::uint64_t begin, std::uint64_t end, std::uint32_t tensor, std::uint32_t site,
                 const char* by) {
  const std::uint64_t number = begin / kCacheLineBytes;
  CachedLine& l = line_of(c, m, number);
  load(c, m, number, l, site);
  l.dirty |= bits(number, begin, end);
  l.store_site = site;
  l.stored_by = by;
  l.store_tensor = tensor;
  l.store_time = c.issued[int(Pipe::S)];
  const std::uint64_t base = number * kCacheLineBytes;
  m.history.writes(base, std::min(base + kCacheLineBytes, m.bytes), [&](const Event& w, std::uint64_t b, std::uint64_t e) {
    b = std::max(b, base);
    e = std::min(e, base + kCacheLineBytes);
    if ((w.core == c.index && w.pipe == Pipe::S) || knows(c, l.loaded, w)) return;
    if ((bits(number, b, e) & ~l.dirty) == 0) return;                      // the same bytes: an ordinary race, if any
    if (w.pipe == Pipe::S && !knows(c, c.clock[int(Pipe::S)], w)) return;  // two dirty lines: cache_meet has said so
    stale(m, b, e, {site, w.site, against(c, w.core), Pipe::S, w.pipe, tensor, w.tensor},
          format("%s dirties a line of 64 bytes whose write-back overwrites what %s at %s writes beside it", by,
                 name(w.pipe), to_string(site_of(w.site)).c_str()),
          kApart);
  });
}

void cache_meet(Core& c, Pipe pipe, const Access& a, const Event& now, const char* instruction) {
  for (auto at = a.memory->cached.lower_bound(a.begin / kCacheLineBytes);
       at != a.memory->cached.end() && at->first * kCacheLineBytes < a.end; ++at) {
    const std::uint64_t touched = bits(at->first, a.begin, a.end);
    for (const CachedLine& l : at->second) {
      if (l.core == c.index && pipe == Pipe::S) continue;
      const Event stored{l.store_time, l.store_site, l.store_tensor, l.core, Pipe::S, kPlain};
      Event cleaned = stored;
      cleaned.time = l.clean_time;
      const Clock& known = c.clock[int(pipe)];
      const std::string store_line = to_string(site_of(l.store_site));
      const Meeting meeting{now.site, l.store_site, against(c, l.core), pipe, Pipe::S, a.tensor, l.store_tensor};
      if (!a.write) {
        if ((touched & l.dirty) == 0 || !knows(c, known, stored)) continue;
        stale(*a.memory, a.begin, a.end, meeting,
              format("%s reads what %s at %s wrote, which is still in the data cache of %s", instruction, l.stored_by,
                     store_line.c_str(), launched().cores[l.core]->label().c_str()),
              "DataCacheCleanAndInvalid after the store, and the flag after that");
        continue;
      }
      const bool overlaps_dirty = (touched & l.dirty) != 0;
      const bool bad = l.dirty ? !overlaps_dirty || knows(c, known, stored)
                               : l.cleaned && (touched & l.cleaned) == 0 && !knows(c, known, cleaned);
      if (!bad) continue;
      stale(*a.memory, a.begin, a.end, meeting,
            format("%s writes beside or into a line of 64 bytes that %s at %s has dirtied: its write-back "
                   "overwrites this",
                   instruction, l.stored_by, store_line.c_str()),
            overlaps_dirty ? "DataCacheCleanAndInvalid after the store, and the flag after that" : kApart);
    }
  }
}

void cache_clean_line(Core& c, Memory& m, std::uint64_t number, const Event& now) {
  CachedLine& l = line_of(c, m, number);
  l.present = false;
  l.invalidated = true;
  if (!l.dirty) return;
  // From here on the values are in GM: whoever reads them must come after this, not only after the store.
  const std::uint64_t base = number * kCacheLineBytes;
  const auto unmet = [](const Event&, bool, std::uint64_t, std::uint64_t, std::uint32_t) {};
  for (std::uint64_t b = 0; b < kCacheLineBytes; ++b) {
    if (!(l.dirty >> b & 1)) continue;
    std::uint64_t e = b;
    while (e < kCacheLineBytes && (l.dirty >> e & 1)) ++e;
    Event written = now;
    written.site = l.store_site;
    written.tensor = l.store_tensor;
    m.history.access(base + b, base + e, true, written, unmet);
    b = e;
  }
  l.cleaned |= l.dirty;
  l.dirty = 0;
  l.clean_time = now.time;
  l.released = as_foreign(c, c.completed(Pipe::S));
}

}  // namespace twin
