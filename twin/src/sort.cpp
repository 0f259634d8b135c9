// SPDX-License-Identifier: Apache-2.0
// Sort32, MrgSort and what the library builds from them.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "lanes.hpp"
#include "twin/calls_vector.hpp"
#include "wide.hpp"

namespace twin {
namespace {

constexpr std::uint64_t kPairBytes = 8, kSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kAllDefined = 0x0101010101010101 * kDefined;  // states of a pair

// A list: the bytes and states of its pairs, and a key each that orders them: descending, equal scores as they came. The
// reference says nothing of NaN; here it comes first, so that the order stays a strict one.
struct List {
  std::vector<std::uint64_t> pairs, states, keys;
  std::size_t size() const { return pairs.size(); }
  void resize(std::size_t n) {
    pairs.resize(n);
    states.resize(n);
    keys.resize(n);
  }
};

std::uint64_t key_of(float score, std::uint32_t place) {
  const auto bits = static_cast<std::int32_t>(float_to_bits(score));
  const std::int32_t up = score != score ? INT32_MAX : bits >= 0 ? bits : INT32_MIN - bits;  // 0 and -0 are the same
  return std::uint64_t{static_cast<std::uint32_t>(up) ^ 0x80000000u} << 32 | ~place;
}

void check(Instruction& i, const View& dst, DType scores, std::uint32_t repeats) {
  if (scores != DType::F16 && scores != DType::F32)
    i.refuse(Kind::Limit, format("%s on %s: half and float only", i.name(), name(scores)), "cast the scores");
  if (repeats > 255)
    i.refuse(Kind::Limit, format("%s: %u repeats, at most 255 are possible", i.name(), repeats), "split it");
  i.require_aligned(dst, kBlockBytes, "the destination");
}

// Pairs of scores and indices. The two bytes between a half and its index are reserved: zero here.
void make_pairs(Instruction& i, const View& scores, const View& indices, std::size_t n, List& list) {
  const std::uint32_t size = size_bytes(scores.dtype);
  list.resize(n);
  const std::uint8_t *const s = i.bytes(scores), *const x = i.bytes(indices);
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint64_t score = size == 2 ? load<std::uint16_t>(s + k * 2) : load<std::uint32_t>(s + k * 4);
    list.pairs[k] = score | std::uint64_t{load<std::uint32_t>(x + k * 4)} << 32;
    list.keys[k] = key_of(load_float(s + k * size, scores.dtype), static_cast<std::uint32_t>(k));
  }
  States ss(i, scores), is(i, indices);
  std::fill(list.states.begin(), list.states.end(), kAllDefined);
  if (ss.clean(0, n * size) && is.clean(0, n * 4)) return;
  for (std::size_t k = 0; k < n; ++k) std::memset(&list.states[k], meet(ss.of(k * size, size), is.of(k * 4, 4)), kPairBytes);
}

void load_pairs(Instruction& i, const View& view, std::uint64_t offset, DType dtype, std::size_t n, List& list) {
  list.resize(n);
  const std::uint8_t* const p = i.bytes(view) + offset;
  std::memcpy(list.pairs.data(), p, n * kPairBytes);
  for (std::size_t k = 0; k < n; ++k)
    list.keys[k] = key_of(load_float(p + k * kPairBytes, dtype), static_cast<std::uint32_t>(k));
  States states(i, view);
  std::fill(list.states.begin(), list.states.end(), kAllDefined);
  if (states.clean(offset, n * kPairBytes)) return;
  auto* const state = reinterpret_cast<std::uint8_t*>(list.states.data());
  for (std::uint64_t k = 0; k < n * kPairBytes; ++k) state[k] = states.of(offset + k, 1);
}

// Sorts 32 pairs: the place of each is how many come before it, counted for all at once.
void sort32(const List& from, std::size_t first, List& to) {
  std::uint64_t before[32] = {};
  const std::uint64_t* const keys = from.keys.data() + first;
  std::uint64_t* const places = before;
  wide([=] {
    for (int other = 0; other < 32; ++other) {
      for (int k = 0; k < 32; ++k)  // as signed numbers, which is what vectors compare
        places[k] += static_cast<std::int64_t>(keys[other] ^ kSign) > static_cast<std::int64_t>(keys[k] ^ kSign);
    }
  });
  for (std::size_t k = 0; k < 32; ++k) {
    to.pairs[first + before[k]] = from.pairs[first + k];
    to.states[first + before[k]] = from.states[first + k];
    to.keys[first + before[k]] = from.keys[first + k];
  }
}

void sort_list(List& list, bool full) {
  static thread_local List sorted;
  sorted.resize(list.size());
  if (!full) {
    for (std::size_t k = 0; k < list.size(); k += 32) sort32(list, k, sorted);
  } else {
    std::vector<std::uint32_t> order(list.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return list.keys[a] > list.keys[b]; });
    for (std::size_t k = 0; k < order.size(); ++k) {
      sorted.pairs[k] = list.pairs[order[k]];
      sorted.states[k] = list.states[order[k]];
    }
  }
  std::swap(list, sorted);
}

void store_pairs(Instruction& i, const View& view, std::uint64_t offset, const List& list) {
  std::memcpy(i.bytes(view) + offset, list.pairs.data(), list.size() * kPairBytes);
  std::memcpy(i.state(view) + offset, list.states.data(), list.size() * kPairBytes);
}

void sort_pairs(const View& dst, const View& scores, const View& indices, const View* work, std::uint32_t repeats, bool full,
                const char* name, Site site) {
  Instruction i(Pipe::V, name, site);
  check(i, dst, scores.dtype, repeats);
  i.require_aligned(scores, kBlockBytes, "the scores");
  i.require_aligned(indices, kBlockBytes, "the indices");
  const std::uint64_t n = std::uint64_t{repeats} * 32;
  i.read(scores, 0, n * size_bytes(scores.dtype));
  i.read(indices, 0, n * 4);
  i.write(dst, 0, n * kPairBytes);
  if (work) i.write(*work, 0, n * kPairBytes);
  std::uint64_t passes = 1;  // a merge takes four lists
  for (std::uint64_t lists = repeats; full && lists > 1; lists = (lists + 3) / 4) ++passes;
  i.cost("Sort", n * passes, scores.dtype);
  if (n == 0 || !i.issue()) return;
  static thread_local List list;
  make_pairs(i, scores, indices, n, list);
  sort_list(list, full);
  store_pairs(i, dst, 0, list);
  if (work) {
    const std::uint8_t left = new_origin(format("the temporary of %s at %s", name, to_string(site).c_str()));
    States(i, *work).set(0, n * kPairBytes, left);
  }
}

// Of equal scores in two lists that of the first list comes first. Ends with the first exhausted list on request.
void merge(const List* lists, const MergeCall& call, std::uint32_t taken[4], List& merged) {
  std::size_t total = 0;
  std::uint64_t next[4] = {};  // scores at the lists' heads; 0, which is none's, when a list is exhausted
  const auto head = [&](int l) { return l < call.lists && taken[l] < lists[l].size() ? lists[l].keys[taken[l]] >> 32 : 0; };
  std::fill(taken, taken + 4, 0u);
  for (int l = 0; l < 4; ++l) {
    next[l] = head(l);
    if (l < call.lists) total += lists[l].size();
  }
  merged.resize(total);
  std::size_t n = 0;
  while (n < total) {
    const int low = next[1] > next[0] ? 1 : 0, high = next[3] > next[2] ? 3 : 2;
    const int best = next[high] > next[low] ? high : low;
    merged.pairs[n] = lists[best].pairs[taken[best]];
    merged.states[n++] = lists[best].states[taken[best]];
    ++taken[best];
    next[best] = head(best);
    if (next[best] == 0 && call.stop_at_exhausted) break;
  }
  merged.resize(n);
}

}  // namespace

void vector_sort32(const View& dst, const View& scores, const View& indices, std::uint32_t repeats, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_sort32(dst, scores, indices, repeats, site); })
  sort_pairs(dst, scores, indices, nullptr, repeats, false, "Sort32", site);
}

void vector_sort(const View& dst, const View& scores, const View& indices, const View& work, std::uint32_t repeats,
                 bool full, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_sort(dst, scores, indices, work, repeats, full, site); })
  sort_pairs(dst, scores, indices, full && repeats > 1 ? &work : nullptr, repeats, full, "Sort", site);
  if (full) core().barrier(Pipe::V, site_id(site));  // its steps depend on each other
}

void vector_merge(const MergeCall& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_merge(call, site); })
  Instruction i(Pipe::V, "MrgSort", site);
  check(i, call.dst, call.dst.dtype, call.repeats);
  i.require(call.lists >= 2 && call.lists <= 4, Kind::Limit,
            "MrgSort: validBit names two, three or four lists: 0b11, 0b111 or 0b1111", "give it one of these");
  std::uint64_t total = 0;
  bool equal = true;
  for (int l = 0; l < call.lists; ++l) {
    if (call.length[l] > 4095)
      i.refuse(Kind::Limit, format("MrgSort: list %d has %u pairs, at most 4095 are possible", l, call.length[l]),
               "merge in more steps");
    total += call.length[l];
    equal &=
        call.length[l] == call.length[0] && call.src[l].addr == call.src[0].addr + std::uint64_t(l) * call.length[0] * 8;
  }
  if (!(call.repeats <= 1 || (equal && call.lists == 4 && !call.stop_at_exhausted)))
    i.refuse(Kind::Limit,
             format("MrgSort with %u repeats: then four lists of one length lie one after another, and none stops it",
                    call.repeats),
             "repeatTimes 1, or four equal adjacent lists, validBit 0b1111 and no suspension");
  for (std::uint64_t r = 0; r < call.repeats; ++r) {
    for (int l = 0; l < call.lists; ++l) i.read(call.src[l], r * total * kPairBytes, call.length[l] * kPairBytes);
  }
  i.write(call.dst, 0, call.repeats * total * kPairBytes);
  i.cost("Sort", call.repeats * total, call.dst.dtype);
  if (total == 0 || !i.issue()) return;
  std::uint32_t* const taken = core().registers.merged;
  static thread_local List lists[4], merged;
  for (std::uint64_t r = 0; r < call.repeats; ++r) {
    for (int l = 0; l < call.lists; ++l)
      load_pairs(i, call.src[l], r * total * kPairBytes, call.dst.dtype, call.length[l], lists[l]);
    merge(lists, call, taken, merged);
    store_pairs(i, call.dst, r * total * kPairBytes, merged);
  }
}

void merge_counts(std::uint32_t taken[4], Site site) {
  core().need(Pipe::V, site);
  Core& c = core();
  c.synchronise(Pipe::V, Pipe::S, site_id(site));  // the register is read when the merge is done
  std::copy(c.registers.merged, c.registers.merged + 4, taken);
  if (!is_skipped(c.registers.skipped)) return;
  for (int l = 0; l < 4; ++l) stand_in(c, DType::U32, c.registers.skipped, site_id(site), &taken[l], sizeof taken[l]);
}

void vector_extract(const View& scores, const View& indices, const View& pairs, std::uint32_t repeats, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_extract(scores, indices, pairs, repeats, site); })
  Instruction i(Pipe::V, "Extract", site);
  check(i, scores, scores.dtype, repeats);
  i.require_aligned(indices, kBlockBytes, "the indices");
  i.require_aligned(pairs, kBlockBytes, "the source");
  const std::uint64_t n = std::uint64_t{repeats} * 32;
  const std::uint32_t size = size_bytes(scores.dtype);
  i.read(pairs, 0, n * kPairBytes);
  i.write(scores, 0, n * size);
  i.write(indices, 0, n * 4);
  i.cost("OneVector", 2 * ((n * kPairBytes + kRepeatBytes - 1) / kRepeatBytes), DType::F32);  // two GatherMask
  if (n == 0 || !i.issue()) return;
  static thread_local List all;
  load_pairs(i, pairs, 0, scores.dtype, n, all);
  std::uint8_t *const values = i.bytes(scores), *const numbers = i.bytes(indices);
  std::uint8_t *const value_states = i.state(scores), *const number_states = i.state(indices);
  for (std::size_t k = 0; k < n; ++k) {
    std::memcpy(values + k * size, &all.pairs[k], size);
    std::memcpy(value_states + k * size, &all.states[k], size);
    store(numbers + k * 4, static_cast<std::uint32_t>(all.pairs[k] >> 32));
    store(number_states + k * 4, static_cast<std::uint32_t>(all.states[k] >> 32));
  }
}

}  // namespace twin
