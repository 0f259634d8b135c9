// SPDX-License-Identifier: Apache-2.0
// Sort32, MrgSort and what the library builds from them.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lanes.hpp"
#include "twin/calls_vector.hpp"

namespace twin {
namespace {

constexpr std::uint64_t kPairBytes = 8;

struct Pair {
  float score;
  std::uint8_t bytes[kPairBytes], state[kPairBytes];
};

// Descending. The reference says nothing of NaN; here it comes first, so that the order stays a strict one.
bool before(const Pair& a, const Pair& b) {
  if (std::isnan(a.score) || std::isnan(b.score)) return std::isnan(a.score) && !std::isnan(b.score);
  return a.score > b.score;
}

void check(Instruction& i, const View& dst, DType scores, std::uint32_t repeats) {
  if (scores != DType::F16 && scores != DType::F32)
    i.refuse(Kind::Limit, format("%s on %s: half and float only", i.name(), name(scores)), "cast the scores");
  if (repeats > 255)
    i.refuse(Kind::Limit, format("%s: %u repeats, at most 255 are possible", i.name(), repeats), "split it");
  i.require_aligned(dst, kBlockBytes, "the destination");
}

// The pair of one score and one index. The two bytes between a half and its index are reserved: zero here.
Pair make_pair(const std::uint8_t* score, const std::uint8_t* index, std::uint8_t state, DType dtype) {
  Pair p{load_float(score, dtype), {}, {}};
  std::memcpy(p.bytes, score, size_bytes(dtype));
  std::memcpy(p.bytes + 4, index, 4);
  std::memset(p.state, state, kPairBytes);
  return p;
}

Pair load_pair(Instruction& i, const View& view, std::uint64_t offset, DType dtype, States& states) {
  const std::uint8_t* const p = i.bytes(view) + offset;
  Pair pair{load_float(p, dtype), {}, {}};
  std::memcpy(pair.bytes, p, kPairBytes);
  for (std::uint64_t k = 0; k < kPairBytes; ++k) pair.state[k] = states.of(offset + k, 1);
  return pair;
}

void store_pair(Instruction& i, const View& view, std::uint64_t offset, const Pair& pair, States& states) {
  std::memcpy(i.bytes(view) + offset, pair.bytes, kPairBytes);
  for (std::uint64_t k = 0; k < kPairBytes; ++k) states.set(offset + k, 1, pair.state[k]);
}

std::vector<Pair> read_pairs(Instruction& i, const View& scores, const View& indices, std::uint64_t n) {
  std::vector<Pair> pairs;
  States ss(i, scores), is(i, indices);
  const std::uint32_t size = size_bytes(scores.dtype);
  for (std::uint64_t k = 0; k < n; ++k) {
    pairs.push_back(make_pair(i.bytes(scores) + k * size, i.bytes(indices) + k * 4,
                              meet(ss.of(k * size, size), is.of(k * 4, 4)), scores.dtype));
  }
  return pairs;
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
  std::vector<Pair> pairs = read_pairs(i, scores, indices, n);
  const std::uint64_t step = full ? n : 32;
  for (std::uint64_t k = 0; k < n; k += step) std::stable_sort(pairs.begin() + k, pairs.begin() + k + step, before);
  States ds(i, dst);
  for (std::uint64_t k = 0; k < n; ++k) store_pair(i, dst, k * kPairBytes, pairs[k], ds);
  if (work) {
    const std::uint8_t left = new_origin(format("the temporary of %s at %s", name, to_string(site).c_str()));
    States(i, *work).set(0, n * kPairBytes, left);
  }
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
  States ds(i, call.dst);
  std::uint32_t* const taken = core().registers.merged;
  for (std::uint64_t r = 0; r < call.repeats; ++r) {
    std::vector<Pair> lists[4];
    for (int l = 0; l < call.lists; ++l) {
      States ss(i, call.src[l]);
      for (std::uint64_t k = 0; k < call.length[l]; ++k)
        lists[l].push_back(load_pair(i, call.src[l], (r * total + k) * kPairBytes, call.dst.dtype, ss));
    }
    std::fill(taken, taken + 4, 0u);
    for (std::uint64_t k = 0; k < total; ++k) {
      int best = -1;
      for (int l = 0; l < call.lists; ++l) {
        if (taken[l] == call.length[l]) continue;
        if (best < 0 || before(lists[l][taken[l]], lists[best][taken[best]])) best = l;
      }
      store_pair(i, call.dst, (r * total + k) * kPairBytes, lists[best][taken[best]], ds);
      if (++taken[best] == call.length[best] && call.stop_at_exhausted) break;
    }
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
  States vs(i, scores), xs(i, indices), ps(i, pairs);
  std::vector<Pair> all;
  for (std::uint64_t k = 0; k < n; ++k) all.push_back(load_pair(i, pairs, k * kPairBytes, scores.dtype, ps));
  for (std::uint64_t k = 0; k < n; ++k) {
    std::memcpy(i.bytes(scores) + k * size, all[k].bytes, size);
    std::memcpy(i.bytes(indices) + k * 4, all[k].bytes + 4, 4);
    for (std::uint32_t b = 0; b < size; ++b) vs.set(k * size + b, 1, all[k].state[b]);
    for (std::uint32_t b = 0; b < 4; ++b) xs.set(k * 4 + b, 1, all[k].state[4 + b]);
  }
}

}  // namespace twin
