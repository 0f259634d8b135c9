// SPDX-License-Identifier: Apache-2.0
// Sort32, MrgSort, and Sort and Extract over them, against std::stable_sort.
#include <algorithm>
#include <cstring>
#include <random>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

constexpr int kN = 128;

template <class T>
struct Pairs {
  std::vector<T> score;
  std::vector<std::uint32_t> index;
};

// The pairs of a list as the device stores them.
template <class T>
Pairs<T> unpack(const std::vector<std::uint8_t>& bytes) {
  Pairs<T> out;
  for (std::size_t k = 0; k + 8 <= bytes.size(); k += 8) {
    T score;
    std::uint32_t index;
    std::memcpy(&score, &bytes[k], sizeof score);
    std::memcpy(&index, &bytes[k + 4], 4);
    out.score.push_back(score);
    out.index.push_back(index);
  }
  return out;
}

template <class T>
std::vector<T> scores(unsigned seed, int n = kN) {
  std::mt19937 random(seed);
  std::vector<T> v(n);
  for (T& x : v) x = T(static_cast<int>(random() % 61) - 30);  // with equal ones
  return v;
}
std::vector<std::uint32_t> indices(int n = kN) {
  std::vector<std::uint32_t> v(n);
  for (int k = 0; k < n; ++k) v[k] = 1000u + k;
  return v;
}
template <class T>
std::vector<int> sorted(const std::vector<T>& v, int first, int last) {
  std::vector<int> at;
  for (int k = first; k < last; ++k) at.push_back(k);
  std::stable_sort(at.begin(), at.end(), [&](int a, int b) { return float(v[a]) > float(v[b]); });
  return at;
}

template <class T>
void sort_kernel(GM_ADDR score, GM_ADDR index, GM_ADDR out, GM_ADDR values, GM_ADDR where, bool full) {
  const auto s = ub<T>(0, kN);
  const auto x = ub<std::uint32_t>(1024, kN);
  const auto pairs = ub<T>(2048, GetSortLen<T>(kN));
  LocalTensor<T> tmp = ub<T>(4096, GetSortLen<T>(kN)), list;
  const auto v = ub<T>(8192, kN);
  const auto w = ub<std::uint32_t>(9216, kN);
  DataCopy(s, gm<T>(score, kN), kN);
  DataCopy(x, gm<std::uint32_t>(index, kN), kN);
  order<HardEvent::MTE2_V>();
  Concat(list, s, tmp, kN / 16);
  if (full) {
    Sort<T, true>(pairs, list, x, tmp, kN / 32);
  } else {
    Sort32(pairs, s, x, kN / 32);
    PipeBarrier<PIPE_V>();
  }
  Extract(v, w, pairs, kN / 32);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<T>(out, GetSortLen<T>(kN)), pairs, GetSortLen<T>(kN));
  DataCopy(gm<T>(values, kN), v, kN);
  DataCopy(gm<std::uint32_t>(where, kN), w, kN);
}

template <class T>
void check_sort(bool full) {
  const auto s = scores<T>(7);
  twin_test::Device<T> score(s), values(kN);
  twin_test::Device<std::uint32_t> index(indices()), where(kN);
  twin_test::Device<std::uint8_t> out(8 * kN);
  RUN(sort_kernel<T>, 1).auto_sync(false)(score, index, out, values, where, full);
  EXPECT_SILENT();
  const auto got = unpack<T>(out.values());
  const auto v = values.values();
  const auto w = where.values();
  const int step = full ? kN : 32;
  for (int first = 0; first < kN; first += step) {
    const auto at = sorted(s, first, first + step);
    for (int k = 0; k < step; ++k) {
      ASSERT_EQ(float(got.score[first + k]), float(s[at[k]])) << first + k;
      ASSERT_EQ(got.index[first + k], 1000u + at[k]) << first + k;
      ASSERT_EQ(float(v[first + k]), float(s[at[k]]));
      ASSERT_EQ(w[first + k], 1000u + at[k]);
    }
  }
}
TEST(Sort, Sort32OrdersEachRepeat) {
  check_sort<float>(false);
  check_sort<half>(false);
}
TEST(Sort, FullSortOrdersAllRepeats) {
  check_sort<float>(true);
  check_sort<half>(true);
}

std::uint16_t taken[4];
template <class T>
void merge_kernel(GM_ADDR score, GM_ADDR index, GM_ADDR out, int lists, bool stop, int repeats) {
  const auto s = ub<T>(0, kN);
  const auto x = ub<std::uint32_t>(1024, kN);
  const auto pairs = ub<T>(2048, GetSortLen<T>(kN)), merged = ub<T>(4096, GetSortLen<T>(kN));
  DataCopy(s, gm<T>(score, kN), kN);
  DataCopy(x, gm<std::uint32_t>(index, kN), kN);
  order<HardEvent::MTE2_V>();
  Sort32(pairs, s, x, kN / 32);
  Duplicate(merged, T(0), static_cast<int>(GetSortLen<T>(kN)));
  PipeBarrier<PIPE_V>();
  const auto at = [](int pair) { return GetSortOffset<T>(pair); };
  if (repeats == 1) {
    const std::uint16_t lengths[4] = {32, 20, 32, 7};  // any length: a prefix of a sorted list is sorted
    const std::uint16_t valid = lists == 2 ? 3 : lists == 3 ? 7 : 15;
    MrgSort(merged, MrgSortSrcList<T>(pairs, pairs[at(32)], pairs[at(64)], pairs[at(96)]),
            MrgSort4Info(lengths, stop, valid, 1));
    GetMrgSortResult(taken[0], taken[1], taken[2], taken[3]);
  } else {  // four lists of 8 pairs each: the lists of a repeat are adjacent, and sorted within 32
    const std::uint16_t lengths[4] = {8, 8, 8, 8};
    MrgSort(merged, MrgSortSrcList<T>(pairs, pairs[at(8)], pairs[at(16)], pairs[at(24)]),
            MrgSort4Info(lengths, false, 15, static_cast<std::uint16_t>(repeats)));
  }
  order<HardEvent::V_MTE3>();
  DataCopy(gm<T>(out, GetSortLen<T>(kN)), merged, GetSortLen<T>(kN));
}
template <class T>
void check_merge(int lists, bool stop) {
  const auto s = scores<T>(11);
  twin_test::Device<T> score(s);
  twin_test::Device<std::uint32_t> index(indices());
  twin_test::Device<std::uint8_t> out(8 * kN);
  RUN(merge_kernel<T>, 1).auto_sync(false)(score, index, out, lists, stop, 1);
  EXPECT_SILENT();
  const auto got = unpack<T>(out.values());
  const int lengths[] = {32, 20, 32, 7};
  std::vector<std::vector<int>> queues;
  for (int l = 0; l < lists; ++l) {
    queues.push_back(sorted(s, l * 32, l * 32 + 32));
    queues.back().resize(lengths[l]);
  }
  std::vector<std::size_t> at(4, 0);
  int k = 0;
  for (bool going = true; going; ++k) {
    int best = -1;
    for (int l = 0; l < lists; ++l) {
      if (at[l] == queues[l].size()) continue;
      if (best < 0 || float(s[queues[l][at[l]]]) > float(s[queues[best][at[best]]])) best = l;
    }
    if (best < 0) break;
    ASSERT_EQ(got.index[k], 1000u + queues[best][at[best]]) << k;
    ASSERT_EQ(float(got.score[k]), float(s[queues[best][at[best]]])) << k;
    going = !(++at[best] == queues[best].size() && stop);
  }
  for (int l = 0; l < lists; ++l) EXPECT_EQ(taken[l], at[l]) << l;
}
TEST(MrgSort, MergesTwoToFourListsAndTellsWhatItTook) {
  for (const int lists : {2, 3, 4}) {
    for (const bool stop : {false, true}) {
      check_merge<float>(lists, stop);
      check_merge<half>(lists, stop);
    }
  }
}
TEST(MrgSort, RepeatsOverAdjacentLists) {
  const auto s = scores<float>(3);
  twin_test::Device<float> score(s);
  twin_test::Device<std::uint32_t> index(indices());
  twin_test::Device<std::uint8_t> out(8 * kN);
  RUN(merge_kernel<float>, 1).auto_sync(false)(score, index, out, 4, false, 4);
  EXPECT_SILENT();
  const auto got = unpack<float>(out.values());
  for (int r = 0; r < 4; ++r) {
    const auto at = sorted(s, r * 32, r * 32 + 32);
    for (int k = 0; k < 32; ++k) ASSERT_EQ(got.score[r * 32 + k], s[at[k]]);
  }
}
void misuse_kernel(GM_ADDR, GM_ADDR) {
  const std::uint16_t lengths[4] = {8, 8, 8, 8};
  const auto a = ub<float>(0, 64), b = ub<float>(2048, 512);
  MrgSort(b, MrgSortSrcList<float>(a, a, a, a), MrgSort4Info(lengths, false, 5, 1));
}
TEST(MrgSort, ReportsListsThatDoNotExist) {
  twin_test::Device<float> x(64), y(64);
  RUN(misuse_kernel, 1)(x, y);
  EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::Limit), nullptr);
}

}  // namespace
