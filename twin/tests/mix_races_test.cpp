// SPDX-License-Identifier: Apache-2.0
// Random mix programs on two blocks of a cube core and two vector cores, against a graph. Each core loads and stores blocks
// of GM on two pipes, with flags between them (waits before and behind their sets), barriers, and cross-core flags of every
// mode.
#include <functional>
#include <random>

#include "support.hpp"

using namespace AscendC;

namespace {

enum Op { kLoad, kStore, kSet, kWait, kBarrier, kAll, kCrossSet, kCrossWait };
struct Step {
  Op op;
  int pipe = 0;  // 0 MTE2, 1 MTE3: the access's, the barrier's, the set's (a flag goes to the other pipe), the waiting one's
  int block = 0;  // of GM
  int mode = 0, id = 0;
  int partner = -1;  // kWait: its set, as a step of this core
  int meeting = -1;  // kCrossSet, kCrossWait
};

// Cores as the engine numbers them: cube, vector, vector, for each block.
constexpr int kCores = 6, kPipes = 2, kBlocks = 4, kBytes = 256;
std::vector<Step> programs[kCores];
bool is_cube(int core) { return core % 3 == 0; }

int this_core() {
  const int block = static_cast<int>(g_coreType == AIC ? GetBlockIdx() : GetBlockIdx() / 2);
  return block * 3 + (g_coreType == AIC ? 0 : 1 + static_cast<int>(GetSubBlockIdx()));
}

template <int kMode>
void cross_set(int pipe, int id) {
  if (pipe == 0) CrossCoreSetFlag<kMode, PIPE_MTE2>(static_cast<std::uint16_t>(id));
  if (pipe == 1) CrossCoreSetFlag<kMode, PIPE_MTE3>(static_cast<std::uint16_t>(id));
}

void interpret(GM_ADDR x) {
  const int me = this_core();
  const TPosition place = g_coreType == AIC ? TPosition::A1 : TPosition::VECCALC;
  GlobalTensor<float> g;
  g.SetGlobalBuffer((__gm__ float*)x, (kBlocks + 1) * kBytes / 4);
  const LocalTensor<float> source(place, 0, kBytes / 4);
  DataCopy(source, g[kBlocks * kBytes / 4], kBytes / 4);
  PipeBarrier<PIPE_ALL>();
  const char* const files[] = {"cube 0", "vector 0", "vector 1", "cube 1", "vector 2", "vector 3"};
  for (std::size_t i = 0; i < programs[me].size(); ++i) {
    const Step& s = programs[me][i];
    const Site site{files[me], static_cast<std::uint32_t>(i + 1)};
    const LocalTensor<float> target(place, static_cast<std::uint32_t>(kBytes * (i + 1)), kBytes / 4);
    if (s.op == kLoad) DataCopy(target, g[s.block * kBytes / 4], kBytes / 4, site);
    if (s.op == kStore) DataCopy(g[s.block * kBytes / 4], source, kBytes / 4, site);
    if (s.op == kSet && s.pipe == 0) SetFlag<HardEvent::MTE2_MTE3>(s.id, site);
    if (s.op == kSet && s.pipe == 1) SetFlag<HardEvent::MTE3_MTE2>(s.id, site);
    if (s.op == kWait && s.pipe == 1) WaitFlag<HardEvent::MTE2_MTE3>(s.id, site);
    if (s.op == kWait && s.pipe == 0) WaitFlag<HardEvent::MTE3_MTE2>(s.id, site);
    if (s.op == kBarrier && s.pipe == 0) PipeBarrier<PIPE_MTE2>(site);
    if (s.op == kBarrier && s.pipe == 1) PipeBarrier<PIPE_MTE3>(site);
    if (s.op == kAll) PipeBarrier<PIPE_ALL>(site);
    if (s.op == kCrossSet && s.mode == 0) cross_set<0>(s.pipe, s.id);
    if (s.op == kCrossSet && s.mode == 1) cross_set<1>(s.pipe, s.id);
    if (s.op == kCrossSet && s.mode == 2) cross_set<2>(s.pipe, s.id);
    if (s.op == kCrossWait) CrossCoreWaitFlag(static_cast<std::uint16_t>(s.id));
  }
}

using Pick = std::function<int(int)>;
struct Mixture {  // of one program
  int blocks, sync_percent, store_percent, longest;
  bool accesses[kCores];
};

// Accesses and the order among them, between two meetings.
void stretch(std::vector<Step>& p, const Pick& pick, const Mixture& mix, bool accesses, int* flags) {
  int open = -1, late = -1;  // a set whose wait comes later; a wait whose set comes later
  const auto wait_for = [&](int set) {
    Step wait{kWait, 1 - p[set].pipe};
    wait.id = p[set].id;
    wait.partner = set;
    p.push_back(wait);
  };
  for (int k = pick(mix.longest); k >= 0; --k) {
    if (pick(100) < mix.sync_percent) {
      const int pipe = pick(2), what = pick(6);
      if (what <= 1 && late < 0) p.push_back({kAll});
      if (what == 2) p.push_back({kBarrier, pipe});
      if (what >= 3 && open < 0 && late < 0) {
        Step s{what == 5 ? kWait : kSet, pipe};
        s.id = (*flags)++ % 6;
        (what == 5 ? late : open) = static_cast<int>(p.size());
        p.push_back(s);
        if (what == 3) wait_for(open), open = -1;
      }
    }
    if (k == 0) break;
    if (!accesses) continue;
    p.push_back({pick(100) < mix.store_percent ? kStore : kLoad, 0, pick(mix.blocks)});
    p.back().pipe = p.back().op == kStore;
  }
  if (open >= 0) wait_for(open);
  if (late >= 0) {
    p[late].partner = static_cast<int>(p.size());
    Step set{kSet, 1 - p[late].pipe};
    set.id = p[late].id;
    p.push_back(set);
  }
}

// Meetings happen in one order on all cores, so nothing hangs. Each has an id of its own.
void generate(const Pick& pick) {
  for (auto& p : programs) p.clear();
  Mixture mix{1 + pick(kBlocks), 30 + pick(71), 10 + pick(50), 2 + pick(3), {}};
  for (int active = 1 + pick(3); active > 0; --active) mix.accesses[pick(kCores)] = true;
  const int meetings = 2 + pick(9);
  int flags[kCores] = {};
  for (int m = 0; m <= meetings; ++m) {
    for (int c = 0; c < kCores; ++c) stretch(programs[c], pick, mix, mix.accesses[c], &flags[c]);
    if (m == meetings) break;
    const int mode = pick(3), block = pick(2);
    const bool cubes_set = pick(2) == 1;
    for (int c = 0; c < kCores; ++c) {
      const bool cube = is_cube(c), here = c / 3 == block;
      const bool sets = mode == 0 ? cube == cubes_set : mode == 1 ? here && !cube : here && cube == cubes_set;
      const bool waits = mode == 2 ? here && cube != cubes_set : sets;
      Step s{kCrossSet, pick(2)};
      s.mode = mode, s.id = m, s.meeting = m;
      if (sets) programs[c].push_back(s);
      if (sets && waits && pick(2)) stretch(programs[c], pick, mix, mix.accesses[c], &flags[c]);
      s.op = kCrossWait;
      if (waits) programs[c].push_back(s);
    }
  }
}

bool is_access(const Step& s) { return s.op == kLoad || s.op == kStore; }
// Does it wait for what was issued to this pipe; does it hold back what is issued to it later?
bool collects(const Step& s, int pipe) {
  return s.op == kAll || ((s.op == kSet || s.op == kBarrier || s.op == kCrossSet) && s.pipe == pipe);
}
bool holds(const Step& s, int pipe) {
  return s.op == kAll || s.op == kCrossWait || ((s.op == kWait || s.op == kBarrier) && s.pipe == pipe);
}

bool has_race() {
  std::vector<const Step*> steps;
  int first[kCores + 1] = {};
  for (int c = 0; c < kCores; ++c) {
    for (const Step& s : programs[c]) steps.push_back(&s);
    first[c + 1] = static_cast<int>(steps.size());
  }
  const int n = static_cast<int>(steps.size());
  std::vector<std::vector<char>> path(n, std::vector<char>(n, 0));
  for (int c = 0; c < kCores; ++c) {
    for (int j = first[c]; j < first[c + 1]; ++j) {
      const Step& b = *steps[j];
      if (b.op == kWait) path[first[c] + b.partner][j] = 1;
      for (int i = first[c]; i < j; ++i) {
        const Step& a = *steps[i];
        for (int pipe = 0; pipe < kPipes; ++pipe) {
          const bool from = is_access(a) ? a.pipe == pipe : holds(a, pipe);
          const bool to = is_access(b) ? b.pipe == pipe && !is_access(a) : collects(b, pipe);
          if (from && to) path[i][j] = 1;
        }
      }
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (steps[i]->op == kCrossSet && steps[j]->op == kCrossWait && steps[i]->meeting == steps[j]->meeting) path[i][j] = 1;
    }
  }
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < n; ++i) {
      if (!path[i][k]) continue;
      for (int j = 0; j < n; ++j) path[i][j] |= path[k][j];
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      const Step &a = *steps[i], &b = *steps[j];
      if (!is_access(a) || !is_access(b) || a.block != b.block || (a.op == kLoad && b.op == kLoad)) continue;
      if (!path[i][j] && !path[j][i]) return true;
    }
  }
  return false;
}

std::string print() {
  const char* const names[] = {"load", "store", "set", "wait", "barrier", "barrier of all", "cross set", "cross wait"};
  std::string out;
  for (int c = 0; c < kCores; ++c) {
    for (std::size_t i = 0; i < programs[c].size(); ++i) {
      const Step& s = programs[c][i];
      out += std::to_string(c) + ":" + std::to_string(i + 1) + " " + names[s.op] + (s.pipe ? " MTE3" : " MTE2");
      if (is_access(s)) out += " block " + std::to_string(s.block);
      if (!is_access(s)) out += " mode " + std::to_string(s.mode) + " id " + std::to_string(s.id);
      out += "\n";
    }
  }
  return out;
}

TEST(HappensBefore, AgreesWithAGraphOnRandomMixPrograms) {
  twin_test::Device<float> x(std::vector<float>((kBlocks + 1) * kBytes / 4, 1.0f));
  twin::settings().timing = false;
  int races = 0, silent = 0;
  const unsigned begin = twin_test::first_seed();
  for (unsigned seed = begin; seed < begin + 800; ++seed) {
    std::mt19937 random(seed);
    generate([&](int k) { return static_cast<int>(random() % static_cast<unsigned>(k)); });
    const bool expected = has_race();
    for (const std::uint64_t shuffle : {0u, 1u + seed % 3}) {
      twin::settings().shuffle = shuffle;
      RUN(interpret, 2).as(twin::KernelType::MixAic12).auto_sync(false)(x);
      const auto found = twin::take_findings();
      ASSERT_EQ(!found.empty(), expected) << "seed " << seed << ", shuffle " << shuffle << "\n"
                                          << print() << twin_test::text(found);
      for (const twin::Finding& f : found) {
        ASSERT_TRUE(f.kind <= twin::Kind::WriteAfterWrite || f.kind == twin::Kind::GmRace)
            << "seed " << seed << twin_test::text(found);
      }
    }
    ++(expected ? races : silent);
  }
  twin::settings().timing = true;
  twin::settings().shuffle = 0;
  EXPECT_GT(races, 100);
  EXPECT_GT(silent, 100);
}

}  // namespace
