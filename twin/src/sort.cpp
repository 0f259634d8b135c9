// SPDX-License-Identifier: Apache-2.0
// Sort32, MrgSort and what the library builds from them.
#include <algorithm>
#include <cstring>

#include "lanes.hpp"
#include "sort.hpp"
#include "twin/calls_vector.hpp"
#include "wide.hpp"

namespace twin {
namespace {

constexpr std::uint64_t kPairBytes = 8;

// Pairs as an instruction read them, their states unless all are defined, and a key each that orders them: the score above,
// the place below, both so that the larger key comes first. Descending, equal scores as they came. The reference says
// nothing of NaN; here it comes first, so that the order stays a strict one.
struct List {
  std::vector<std::uint64_t> pairs, states, keys;
  bool clean = true;
  std::size_t size() const { return pairs.size(); }
  void resize(std::size_t n) {
    pairs.resize(n);
    keys.resize(n);
  }
  std::uint8_t* states_of_all() {  // from now on it has states
    if (clean) states.assign(size(), kAllDefined);
    clean = false;
    return reinterpret_cast<std::uint8_t*>(states.data());
  }

 private:
  static constexpr std::uint64_t kAllDefined = 0x0101010101010101 * kDefined;
};

std::int32_t as_integer(float score) {
  const auto bits = static_cast<std::int32_t>(float_to_bits(score));
  return score != score ? INT32_MAX : bits >= 0 ? bits : INT32_MIN - bits;  // 0 and -0 are the same
}
std::uint64_t key_of(float score, std::uint32_t place) {
  return std::uint64_t{static_cast<std::uint32_t>(as_integer(score)) ^ 0x80000000u} << 32 | ~place;  // never 0
}
std::uint32_t place_of(std::uint64_t key) { return ~static_cast<std::uint32_t>(key); }

// Keys of n scores, `step` bytes apart, of which the first has this place.
template <class Score>
void make_keys(std::uint64_t* keys, const std::uint8_t* scores, std::size_t step, std::size_t n, std::uint32_t place) {
  wide([=] {
    for (std::size_t k = 0; k < n; ++k)
      keys[k] = key_of(load<Score>(scores + k * step), place + static_cast<std::uint32_t>(k));
  });
}
void make_keys(std::uint64_t* keys, const std::uint8_t* scores, DType dtype, std::size_t step, std::size_t n,
               std::uint32_t place) {
  dtype == DType::F16 ? make_keys<half>(keys, scores, step, n, place) : make_keys<float>(keys, scores, step, n, place);
}

void check(Instruction& i, const View& dst, DType scores, std::uint32_t repeats) {
  if (scores != DType::F16 && scores != DType::F32)
    i.refuse(Kind::Limit, format("%s on %s: half and float only", i.name(), name(scores)), "cast the scores");
  if (repeats > 255)
    i.refuse(Kind::Limit, format("%s: %u repeats, at most 255 are possible", i.name(), repeats), "split it");
  i.require_aligned(dst, kBlockBytes, "the destination");
}

// Pairs of scores and indices. The two bytes between a half and its index are reserved: zero here.
template <class Score>
void join(std::uint64_t* pairs, const std::uint8_t* scores, const std::uint8_t* indices, std::size_t n) {
  wide([=] {
    for (std::size_t k = 0; k < n; ++k)
      pairs[k] = load<Score>(scores + k * sizeof(Score)) | std::uint64_t{load<std::uint32_t>(indices + k * 4)} << 32;
  });
}
void make_pairs(Instruction& i, const View& scores, const View& indices, std::size_t n, List& list) {
  const std::uint32_t size = size_bytes(scores.dtype);
  list.pairs.resize(n);
  list.clean = true;
  const std::uint8_t *const s = i.bytes(scores), *const x = i.bytes(indices);
  size == 2 ? join<std::uint16_t>(list.pairs.data(), s, x, n) : join<std::uint32_t>(list.pairs.data(), s, x, n);
  States ss(i, scores), is(i, indices);
  if (ss.clean(0, n * size) && is.clean(0, n * 4)) return;
  std::uint8_t* const states = list.states_of_all();
  for (std::size_t k = 0; k < n; ++k)
    std::memset(states + k * kPairBytes, meet(ss.of(k * size, size), is.of(k * 4, 4)), kPairBytes);
}

// Appends pairs from memory.
void load_pairs(Instruction& i, const View& view, std::uint64_t offset, DType dtype, std::size_t n, List& list) {
  const std::size_t first = list.size();
  list.resize(first + n);
  if (!list.clean) list.states.resize(first + n);
  const std::uint8_t* const p = i.bytes(view) + offset;
  std::memcpy(list.pairs.data() + first, p, n * kPairBytes);
  make_keys(list.keys.data() + first, p, dtype, kPairBytes, n, static_cast<std::uint32_t>(first));
  States states(i, view);
  const bool clean = states.clean(offset, n * kPairBytes);
  if (clean && list.clean) return;
  std::uint8_t* const to = list.states_of_all() + first * kPairBytes;
  for (std::uint64_t k = 0; k < n * kPairBytes; ++k) to[k] = clean ? kDefined : states.of(offset + k, 1);
}

// Stores the pairs in the order of these keys, which hold their places.
void store_in_order(Instruction& i, const View& view, std::uint64_t offset, const List& list, const std::uint64_t* keys,
                    std::size_t n) {
  std::uint8_t *const to = i.bytes(view) + offset, *const states = i.state(view) + offset;
  for (std::size_t k = 0; k < n; ++k) store(to + k * kPairBytes, list.pairs[place_of(keys[k])]);
  if (list.clean) return (void)std::memset(states, kDefined, n * kPairBytes);
  for (std::size_t k = 0; k < n; ++k) store(states + k * kPairBytes, list.states[place_of(keys[k])]);
}

void store_sorted(Instruction& i, const View& dst, const View& scores, List& list) {
  list.keys.resize(list.size());
  make_keys(list.keys.data(), i.bytes(scores), scores.dtype, size_bytes(scores.dtype), list.size(), 0);
  sort_descending(list.keys);
  store_in_order(i, dst, 0, list, list.keys.data(), list.size());
}

template <class Score>
void make_integers(std::int32_t* to, const std::uint8_t* scores, std::size_t n) {
  wide([=] {
    for (std::size_t k = 0; k < n; ++k) to[k] = as_integer(load<Score>(scores + k * sizeof(Score)));
  });
}

void store_sorted_groups(Instruction& i, const View& dst, const View& scores, const List& list) {
  static thread_local std::vector<std::int32_t> integers;
  static thread_local std::vector<std::uint32_t> places;
  const std::size_t n = list.size();
  integers.resize(n);
  places.resize(n);
  scores.dtype == DType::F16 ? make_integers<half>(integers.data(), i.bytes(scores), n)
                             : make_integers<float>(integers.data(), i.bytes(scores), n);
  places_in_groups(integers.data(), places.data(), n);
  std::uint8_t *const to = i.bytes(dst), *const states = i.state(dst);
  for (std::size_t k = 0; k < n; ++k) store(to + (k / 32 * 32 + places[k]) * kPairBytes, list.pairs[k]);
  if (list.clean) return (void)std::memset(states, kDefined, n * kPairBytes);
  for (std::size_t k = 0; k < n; ++k) store(states + (k / 32 * 32 + places[k]) * kPairBytes, list.states[k]);
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
  full ? store_sorted(i, dst, scores, list) : store_sorted_groups(i, dst, scores, list);
  if (work) {
    const std::uint8_t left = new_origin(format("the temporary of %s at %s", name, to_string(site).c_str()));
    States(i, *work).set(0, n * kPairBytes, left);
  }
}

// Of equal scores in two lists that of the first list comes first. Ends with the first exhausted list on request.
std::size_t merge(const List& all, const MergeCall& call, std::uint32_t taken[4], std::uint64_t* merged) {
  const std::uint64_t* next[4] = {};
  const std::uint64_t* end[4] = {};
  std::uint64_t head[4] = {};  // 0, which is no key, when a list is exhausted
  const std::uint64_t* first = all.keys.data();
  for (int l = 0; l < call.lists; ++l) {
    next[l] = first;
    end[l] = first += call.length[l];
    head[l] = next[l] < end[l] ? *next[l] : 0;
  }
  std::size_t n = 0;
  while (n < all.size()) {
    const int low = head[1] > head[0] ? 1 : 0, high = head[3] > head[2] ? 3 : 2;
    const int best = head[high] > head[low] ? high : low;
    merged[n++] = head[best];
    head[best] = ++next[best] < end[best] ? *next[best] : 0;
    if (head[best] == 0 && call.stop_at_exhausted) break;
  }
  first = all.keys.data();
  std::fill(taken, taken + 4, 0u);
  for (int l = 0; l < call.lists; ++l) {
    taken[l] = static_cast<std::uint32_t>(next[l] - first);
    first += call.length[l];
  }
  return n;
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
  static thread_local List all;
  static thread_local std::vector<std::uint64_t> merged;
  merged.resize(total);
  for (std::uint64_t r = 0; r < call.repeats; ++r) {
    all.resize(0);
    all.clean = true;
    for (int l = 0; l < call.lists; ++l)
      load_pairs(i, call.src[l], r * total * kPairBytes, call.dst.dtype, call.length[l], all);
    const std::size_t n = merge(all, call, core().registers.merged, merged.data());
    store_in_order(i, call.dst, r * total * kPairBytes, all, merged.data(), n);
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

// Pairs taken apart.
template <class Score>
static void part(std::uint8_t* scores, std::uint8_t* indices, const std::uint64_t* pairs, std::size_t n) {
  wide([=] {
    for (std::size_t k = 0; k < n; ++k) store(scores + k * sizeof(Score), static_cast<Score>(pairs[k]));
    for (std::size_t k = 0; k < n; ++k) store(indices + k * 4, static_cast<std::uint32_t>(pairs[k] >> 32));
  });
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
  all.resize(0);
  all.clean = true;
  load_pairs(i, pairs, 0, scores.dtype, n, all);
  std::uint8_t *const values = i.bytes(scores), *const numbers = i.bytes(indices);
  size == 2 ? part<std::uint16_t>(values, numbers, all.pairs.data(), n)
            : part<std::uint32_t>(values, numbers, all.pairs.data(), n);
  if (!all.clean)
    return size == 2 ? part<std::uint16_t>(i.state(scores), i.state(indices), all.states.data(), n)
                     : part<std::uint32_t>(i.state(scores), i.state(indices), all.states.data(), n);
  States(i, scores).set(0, n * size, kDefined);
  States(i, indices).set(0, n * 4, kDefined);
}

}  // namespace twin
