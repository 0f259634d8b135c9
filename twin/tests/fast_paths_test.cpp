// SPDX-License-Identifier: Apache-2.0
// Instructions that the twin executes for many elements at once, against plain models on random inputs: NaN, infinities,
// both zeros, ties, masks, undefined values.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::Device;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

using Random = std::mt19937;

// Few different values, so that many are equal.
template <class T>
T special(Random& random) {
  const float inf = HUGE_VALF;
  const float values[] = {NAN, -NAN, inf, -inf, 0.0f, -0.0f, 6e-8f, -6e-8f, 65504.0f, 1.0f, -1.0f, 1.5f};
  const unsigned pick = random() % 24;
  return T(pick < 12 ? values[pick] : static_cast<float>(static_cast<int>(random() % 9) - 4));
}
template <class T>
std::vector<T> specials(Random& random, std::size_t n) {
  std::vector<T> v(n);
  for (T& x : v) x = special<T>(random);
  return v;
}

// a before b: larger, NaN first, both zeros the same.
bool before(float a, float b) { return std::isnan(a) ? !std::isnan(b) : !std::isnan(b) && a > b; }

template <class T>
using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>;
template <class T>
Bits<T> bits_of(T v) {
  Bits<T> bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
template <class T>
std::uint64_t pair_of(T score, std::uint32_t index) {
  return bits_of(score) | std::uint64_t{index} << 32;
}

int uses_of_undefined() {
  int n = 0;
  for (const auto& f : twin::findings()) n += f.kind == twin::Kind::Uninitialised ? static_cast<int>(f.count) : 0;
  return n;
}

// ---- sorts ----
int groups = 1;
bool full = false;
int undefined_score = -1, undefined_pair = -1;  // which score nothing wrote; found by the kernel: which pair has it

constexpr int kMost = 1024;
template <class T>
void sorts(GM_ADDR scores, GM_ADDR pairs) {
  const int n = groups * 32;
  const auto s = ub<T>(0, kMost);
  const auto x = ub<std::uint32_t>(4096, kMost);
  const auto out = ub<std::uint32_t>(16384, 2 * kMost);
  auto work = ub<T>(32768, GetSortLen<T>(kMost));
  const LocalTensor<T> list = out.ReinterpretCast<T>();
  CreateVecIndex(x.ReinterpretCast<std::int32_t>(), 0, n);
  if (undefined_score < 0) {
    DataCopy(s, gm<T>(scores, n), n);
  } else {  // all blocks but one, which keeps the zeros that nothing wrote
    const int block = 32 / sizeof(T), hole = undefined_score / block * block;
    if (hole > 0) DataCopy(s, gm<T>(scores, n), hole);
    if (hole + block < n) DataCopy(s[hole + block], gm<T>(scores, n)[hole + block], n - hole - block);
  }
  order<HardEvent::MTE2_V>();
  PipeBarrier<PIPE_V>();
  if (full) {
    Sort<T, true>(list, s, x, work, groups);
  } else {
    Sort32(list, s, x, groups);
  }
  order<HardEvent::V_MTE3>();
  const auto to = gm<std::uint32_t>(pairs, 2 * kMost);
  if (undefined_score < 0) return DataCopy(to, out, 2 * n);
  for (int k = 0; k < n; k += 4) {  // which stores find it
    const int so_far = uses_of_undefined();
    DataCopy(to[2 * k], out[2 * k], 8);
    if (uses_of_undefined() > so_far && undefined_pair < 0) undefined_pair = k;
  }
}

template <class T>
std::vector<std::uint64_t> sorted_pairs(const std::vector<T>& scores, std::size_t group) {
  std::vector<std::uint64_t> pairs;
  for (std::size_t first = 0; first < scores.size(); first += group) {
    std::vector<std::uint32_t> at(group);
    for (std::size_t k = 0; k < group; ++k) at[k] = static_cast<std::uint32_t>(first + k);
    std::stable_sort(at.begin(), at.end(), [&](auto a, auto b) { return before(scores[a], scores[b]); });
    for (const std::uint32_t k : at) pairs.push_back(pair_of(scores[k], k));
  }
  return pairs;
}

template <class T>
void expect_sorts() {
  for (unsigned seed = twin_test::first_seed(), last = seed + 12; seed < last; ++seed) {
    Random random(seed);
    groups = seed % 3 == 0 ? 32 : 1 + random() % 7;
    full = seed % 2 == 0;
    const std::size_t n = groups * 32;
    const auto scores = specials<T>(random, n);
    const Device<T> in(scores);
    const Device<std::uint64_t> out(kMost);
    RUN(sorts<T>, 1)(in, out);
    auto found = out.values();
    found.resize(n);
    ASSERT_EQ(found, sorted_pairs(scores, full ? n : 32)) << "seed " << seed << ", " << n << (full ? " together" : "");
    EXPECT_SILENT();
  }
}

TEST(FastPaths, SortsOrderSpecialScoresAndTies) {
  expect_sorts<float>();
  expect_sorts<half>();
}

TEST(FastPaths, SortsCarryUndefinedScoresAlong) {
  for (const bool together : {false, true}) {
    groups = 2, full = together, undefined_pair = -1;
    undefined_score = 17;  // in the block of floats 16 to 23, which are zeros: behind the 40 ones, before the minus ones
    std::vector<float> scores(64, 1.0f);
    std::fill(scores.begin() + 40, scores.end(), -1.0f);
    const Device<float> in(scores);
    const Device<std::uint64_t> out(kMost);
    RUN(sorts<float>, 1)(in, out);
    EXPECT_EQ(undefined_pair, together ? 32 : 24) << "40 − 8 ones come first, or 32 − 8 of the first 32";
    EXPECT_FALSE(twin::take_findings().empty());
    undefined_score = -1;
  }
}

// ---- merges of lists that need not be sorted: what is compared is always the lists' heads ----
std::uint16_t lengths[4];
int lists = 4;
bool stops = false;
std::uint32_t taken[4];

template <class T>
void merges(GM_ADDR pairs, GM_ADDR merged) {
  const auto in = ub<std::uint32_t>(0, 2 * kMost), out = ub<std::uint32_t>(16384, 2 * kMost);
  DataCopy(in, gm<std::uint32_t>(pairs, 2 * kMost), 2 * kMost);
  Duplicate(out, std::uint32_t(0), 2 * kMost);
  order<HardEvent::MTE2_V>();
  PipeBarrier<PIPE_V>();
  LocalTensor<T> list[4];
  for (int l = 0, first = 0; l < 4; first += lengths[l++]) list[l] = in[first * 2].template ReinterpretCast<T>();
  const std::uint16_t valid = (1 << lists) - 1;
  MrgSort(out.ReinterpretCast<T>(), MrgSortSrcList<T>(list[0], list[1], list[2], list[3]),
          MrgSort4Info(lengths, stops, valid, 1));
  std::uint16_t counts[4];
  GetMrgSortResult(counts[0], counts[1], counts[2], counts[3]);
  std::copy(counts, counts + 4, taken);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<std::uint32_t>(merged, 2 * kMost), out, 2 * kMost);
}

template <class T>
void expect_merges() {
  for (unsigned seed = twin_test::first_seed(), last = seed + 16; seed < last; ++seed) {
    Random random(seed);
    lists = 2 + random() % 3;
    stops = random() % 2;
    std::vector<T> scores;
    for (int l = 0; l < 4; ++l) {
      lengths[l] = static_cast<std::uint16_t>(4 * (1 + random() % 20));
      auto more = specials<T>(random, lengths[l]);
      if (random() % 2) std::stable_sort(more.begin(), more.end(), before);
      scores.insert(scores.end(), more.begin(), more.end());
    }
    scores.resize(kMost);
    std::vector<std::uint64_t> pairs;
    for (std::uint32_t k = 0; k < kMost; ++k) pairs.push_back(pair_of(scores[k], k));
    const Device<std::uint64_t> in(pairs), out(kMost);
    RUN(merges<T>, 1)(in, out);
    std::vector<std::uint64_t> model;
    std::uint32_t next[4] = {}, first[5] = {};
    for (int l = 0; l < 4; ++l) first[l + 1] = first[l] + lengths[l];
    for (bool over = false; !over;) {
      int best = -1;
      for (int l = 0; l < lists; ++l) {
        if (next[l] == lengths[l]) continue;
        if (best < 0 || before(scores[first[l] + next[l]], scores[first[best] + next[best]])) best = l;
      }
      if (best < 0) break;
      model.push_back(pairs[first[best] + next[best]++]);
      over = stops && next[best] == lengths[best];
    }
    model.resize(kMost);
    ASSERT_EQ(out.values(), model) << "seed " << seed << ", " << lists << " lists" << (stops ? ", stops" : "");
    for (int l = 0; l < 4; ++l) EXPECT_EQ(taken[l], l < lists ? next[l] : 0u) << "seed " << seed << ", list " << l;
    EXPECT_SILENT();
  }
}

TEST(FastPaths, MergesCompareTheHeadsOfLists) {
  expect_merges<float>();
  expect_merges<half>();
}

// ---- reductions of blocks and pairs under masks ----
std::uint64_t mask[2];
constexpr int kRepeats = 3;

template <class T>
void reduces(GM_ADDR x, GM_ADDR y) {
  constexpr int kLanes = 256 / sizeof(T), kBlocks = 32 / sizeof(T), kAll = kRepeats * kLanes;
  const auto in = ub<T>(0, kAll), out = ub<T>(8192, 4 * kAll);
  DataCopy(in, gm<T>(x, kAll), kAll);
  Duplicate(out, T(77), 4 * kAll);
  order<HardEvent::MTE2_V>();
  PipeBarrier<PIPE_V>();
  (void)kBlocks;
  BlockReduceMax(out, in, kRepeats, mask, 1, 1, 8);
  BlockReduceMin(out[kAll], in, kRepeats, mask, 1, 1, 8);
  PairReduceSum(out[2 * kAll], in, kRepeats, mask, 1, 1, 8);
  WholeReduceMax(out[3 * kAll], in, mask, kRepeats, 1, 1, 8);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<T>(y, 4 * kAll), out, 4 * kAll);
}

template <class T>
void expect_reduces() {
  constexpr int kLanes = 256 / sizeof(T), kBlock = 32 / sizeof(T), kAll = kRepeats * kLanes;
  for (unsigned seed = twin_test::first_seed(), last = seed + 12; seed < last; ++seed) {
    Random random(seed);
    const bool all = seed % 4 == 0;
    for (auto& m : mask)
      m = all ? ~0ull : (std::uint64_t{random()} << 32 | random()) & (std::uint64_t{random()} << 32 | random());
    mask[0] |= 1;
    if (sizeof(T) == 4) mask[1] = 0;
    const auto works = [&](int lane) { return mask[lane / 64] >> (lane % 64) & 1; };
    const auto x = specials<T>(random, kAll);
    const Device<T> in(x), out(4 * kAll);
    RUN(reduces<T>, 1)(in, out);
    std::vector<T> model(4 * kAll, T(77));
    const auto extreme = [&](int first, int lanes, bool least) {
      int best = -1;
      for (int k = first; k < first + lanes; ++k) {
        if (!works(k % kLanes)) continue;
        const bool wins =
            best < 0 || (std::isnan(float(x[k])) && !std::isnan(float(x[best]))) ||
            (!std::isnan(float(x[best])) && (least ? float(x[k]) < float(x[best]) : float(x[k]) > float(x[best])));
        if (wins) best = k;
      }
      return best;
    };
    for (int r = 0; r < kRepeats; ++r) {
      for (int b = 0; b < 8; ++b) {
        const int most = extreme(r * kLanes + b * kBlock, kBlock, false),
                  least = extreme(r * kLanes + b * kBlock, kBlock, true);
        if (most < 0) continue;
        model[r * 8 + b] = x[most];
        model[kAll + r * 8 + b] = x[least];
      }
      for (int p = 0; p < kLanes / 2; ++p) {
        const int at = 2 * p;
        if (!works(at) && !works(at + 1)) continue;
        float sum = (works(at) ? float(x[r * kLanes + at]) : 0.0f) + (works(at + 1) ? float(x[r * kLanes + at + 1]) : 0.0f);
        if (sizeof(T) == 2 && std::isfinite(sum)) sum = std::clamp(sum, -65504.0f, 65504.0f);
        model[2 * kAll + r * kLanes / 2 + p] = T(sum);
      }
      const int best = extreme(r * kLanes, kLanes, false);
      model[3 * kAll + 2 * r] = x[best];
      const auto index = static_cast<Bits<T>>(best % kLanes);
      std::memcpy(static_cast<void*>(&model[3 * kAll + 2 * r + 1]), &index, sizeof index);
    }
    const auto found = out.values();
    for (int k = 0; k < 4 * kAll; ++k) {
      const bool same =
          bits_of(found[k]) == bits_of(model[k]) || (std::isnan(float(found[k])) && std::isnan(float(model[k])));
      ASSERT_TRUE(same) << "seed " << seed << ", element " << k << ": " << float(found[k]) << ", not " << float(model[k]);
    }
    EXPECT_SILENT();
  }
}

TEST(FastPaths, ReductionsOfBlocksAndPairsTakeMasks) {
  expect_reduces<float>();
  expect_reduces<half>();
}

}  // namespace
