// SPDX-License-Identifier: Apache-2.0
// Random programs of three pipes against a graph: the detector speaks exactly when two accesses that meet have no path
// between them.
#include <random>

#include "support.hpp"

using namespace AscendC;

namespace {

enum Op { kInstruction, kSet, kWait, kBarrier };
struct Step {
  Op op;
  int pipe, other;    // Set: from pipe to other. Wait: other waits for pipe
  int reads, writes;  // buffers, −1: none
  int slot = 0;       // an instruction's block of GM
};

constexpr int kPipes = 3;  // 0 MTE2, 1 V, 2 MTE3
constexpr int kBuffers = 4;
constexpr int kBytes = 256;
std::vector<Step> program;

void interpret(GM_ADDR x) {
  GlobalTensor<float> g;
  const auto buffer = [](int b) { return LocalTensor<float>(TPosition::VECCALC, b * kBytes, kBytes / 4); };
  using E = HardEvent;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Step& s = program[i];
    const Site site{"program", static_cast<std::uint32_t>(i + 1)};
    const auto flag = [&](auto apply) {
      const int pair = s.pipe * 10 + s.other;
      if (pair == 1) apply(std::integral_constant<E, E::MTE2_V>{});
      if (pair == 2) apply(std::integral_constant<E, E::MTE2_MTE3>{});
      if (pair == 10) apply(std::integral_constant<E, E::V_MTE2>{});
      if (pair == 12) apply(std::integral_constant<E, E::V_MTE3>{});
      if (pair == 20) apply(std::integral_constant<E, E::MTE3_MTE2>{});
      if (pair == 21) apply(std::integral_constant<E, E::MTE3_V>{});
    };
    if (s.op == kSet) flag([&](auto e) { SetFlag<decltype(e)::value>(0, site); });
    if (s.op == kWait) flag([&](auto e) { WaitFlag<decltype(e)::value>(0, site); });
    if (s.op == kBarrier) {
      if (s.pipe == 0) PipeBarrier<PIPE_MTE2>(site);
      if (s.pipe == 1) PipeBarrier<PIPE_V>(site);
      if (s.pipe == 2) PipeBarrier<PIPE_MTE3>(site);
    }
    if (s.op != kInstruction) continue;
    g.SetGlobalBuffer((__gm__ float*)x + s.slot * kBytes / 4, kBytes / 4);  // GM of its own: only UB is at stake
    if (s.pipe == 0) DataCopy(buffer(s.writes), g, kBytes / 4, site);
    if (s.pipe == 1) Adds(buffer(s.writes), buffer(s.reads), 1.0f, kBytes / 4, site);
    if (s.pipe == 2) DataCopy(g, buffer(s.reads), kBytes / 4, site);
  }
}

std::vector<Step> generate(std::mt19937& random, int length, int sync_percent) {
  std::vector<Step> out;
  bool set[kPipes][kPipes] = {};
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  while (static_cast<int>(out.size()) < length) {
    if (pick(100) < sync_percent) {
      const int from = pick(kPipes), to = pick(kPipes);
      if (from == to) {
        out.push_back({kBarrier, from, from, -1, -1, 0});
      } else {
        if (!set[from][to]) out.push_back({kSet, from, to, -1, -1, 0});
        if (set[from][to] || pick(2)) {
          out.push_back({kWait, from, to, -1, -1, 0});
          set[from][to] = false;
        } else {
          set[from][to] = true;
        }
      }
    } else {
      const int pipe = pick(kPipes);
      out.push_back({kInstruction, pipe, pipe, pipe == 0 ? -1 : pick(kBuffers), pipe == 2 ? -1 : pick(kBuffers),
                     static_cast<int>(out.size())});
    }
  }
  for (int from = 0; from < kPipes; ++from) {
    for (int to = 0; to < kPipes; ++to) {
      if (set[from][to]) out.push_back({kWait, from, to, -1, -1, 0});
    }
  }
  return out;
}

// Nodes are steps. An instruction reaches later sets and barriers of its pipe; waits and barriers reach all that follows on
// theirs; a set reaches its wait, but holds nothing back on its own pipe. Two instructions of one pipe are ordered only
// through these, except that a read comes before a later write.
bool has_race(const std::vector<Step>& p) {
  const std::size_t n = p.size();
  std::vector<std::vector<char>> path(n, std::vector<char>(n, 0));
  const auto home = [](const Step& s) { return s.op == kWait ? s.other : s.pipe; };
  int open[kPipes][kPipes];
  for (std::size_t j = 0; j < n; ++j) {
    if (p[j].op == kSet) open[p[j].pipe][p[j].other] = static_cast<int>(j);
    if (p[j].op == kWait) path[open[p[j].pipe][p[j].other]][j] = 1;
    for (std::size_t i = 0; i < j; ++i) {
      if (home(p[i]) != home(p[j])) continue;
      const bool i_syncs = p[i].op != kInstruction, j_syncs = p[j].op != kInstruction;
      if (i_syncs && j_syncs && p[i].op != kSet) path[i][j] = 1;
      if (!i_syncs && (p[j].op == kSet || p[j].op == kBarrier)) path[i][j] = 1;
      if (!j_syncs && (p[i].op == kWait || p[i].op == kBarrier)) path[i][j] = 1;
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < k; ++i) {
      if (!path[i][k]) continue;
      for (std::size_t j = k + 1; j < n; ++j) path[i][j] |= path[k][j];
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (p[i].op != kInstruction || p[j].op != kInstruction || path[i][j]) continue;
      const bool after_write = p[i].writes >= 0 && (p[i].writes == p[j].reads || p[i].writes == p[j].writes);
      const bool after_read = p[i].reads >= 0 && p[i].reads == p[j].writes && p[i].pipe != p[j].pipe;
      if (after_write || after_read) return true;
    }
  }
  return false;
}

// A random order of the steps that keeps each pipe's own, so that waits may stand before their sets. A flag's next set comes
// after its last wait all the same: a bit cannot count.
std::vector<Step> interleave(const std::vector<Step>& p, std::mt19937& random) {
  std::vector<Step> by_pipe[kPipes], out;
  for (const Step& s : p) by_pipe[s.op == kWait ? s.other : s.pipe].push_back(s);
  std::size_t next[kPipes] = {};
  int sets[kPipes][kPipes] = {}, waits[kPipes][kPipes] = {};
  while (out.size() < p.size()) {
    const int pipe = static_cast<int>(random() % kPipes);
    for (int burst = 1 + static_cast<int>(random() % 4); burst > 0 && next[pipe] < by_pipe[pipe].size(); --burst) {
      const Step& s = by_pipe[pipe][next[pipe]];
      if (s.op == kSet && sets[s.pipe][s.other] > waits[s.pipe][s.other]) break;
      if (s.op == kSet) ++sets[s.pipe][s.other];
      if (s.op == kWait) ++waits[s.pipe][s.other];
      out.push_back(s);
      ++next[pipe];
    }
  }
  return out;
}

std::string print(const std::vector<Step>& p) {
  const char* const pipes[] = {"MTE2", "V", "MTE3"};
  std::string out;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Step& s = p[i];
    out += std::to_string(i + 1) + " ";
    if (s.op == kInstruction)
      out += std::string(pipes[s.pipe]) + " reads " + std::to_string(s.reads) + " writes " + std::to_string(s.writes);
    if (s.op == kBarrier) out += std::string("barrier ") + pipes[s.pipe];
    if (s.op == kSet || s.op == kWait)
      out += std::string(s.op == kSet ? "set " : "wait ") + pipes[s.pipe] + "_" + pipes[s.other];
    out += "\n";
  }
  return out;
}

TEST(HappensBefore, AgreesWithAGraphOnRandomPrograms) {
  std::vector<float> ones(80 * kBytes / 4, 1.0f);
  twin_test::Device<float> x(ones);
  twin::settings().timing = false;
  int races = 0, silent = 0;
  const unsigned begin = twin_test::first_seed();
  for (unsigned seed = begin; seed < begin + 4000; ++seed) {
    std::mt19937 random(seed);
    program = generate(random, 3 + static_cast<int>(random() % 22), 20 + static_cast<int>(random() % 70));
    // Every buffer holds something: what is undefined is not the matter here.
    RUN(interpret, 1).auto_sync(false)(x);
    auto found = twin::take_findings();
    std::erase_if(found, [](const twin::Finding& f) { return f.kind == twin::Kind::Uninitialised; });
    const bool expected = has_race(program);
    ASSERT_EQ(!found.empty(), expected) << "seed " << seed << "\n" << print(program) << twin_test::text(found);
    ++(expected ? races : silent);
    const std::vector<float> values = x.values();
    // Each pipe's steps in their order, the pipes interleaved anew: the chip does the same, so the same is found.
    const std::vector<Step> first = program;
    program = interleave(first, random);
    x.set(ones);
    RUN(interpret, 1).auto_sync(false)(x);
    found = twin::take_findings();
    std::erase_if(found, [](const twin::Finding& f) { return f.kind == twin::Kind::Uninitialised; });
    ASSERT_EQ(!found.empty(), expected) << "seed " << seed << ", interleaved\n" << print(program) << twin_test::text(found);
    if (!expected) {
      ASSERT_EQ(x.values(), values) << "seed " << seed << ", interleaved\n" << print(program);
    }
    x.set(ones);
  }
  twin::settings().timing = true;
  EXPECT_GT(races, 400);
  EXPECT_GT(silent, 400);
}

// ---- two cores ----
// Two vector cores that load and store blocks of GM, with flags between their two pipes, barriers, and meetings: each sets
// on one of its pipes and waits.
enum CoreOp { kLoad, kStore, kFlag, kAll, kMeet };
struct CoreStep {
  CoreOp op;
  int block;  // kLoad, kStore
  int pipe;   // kFlag: from this pipe to the other; kMeet: where it sets. 0 MTE2, 1 MTE3
};
std::vector<CoreStep> cores[2];

void interpret_cores(GM_ADDR x) {
  if (g_coreType != AIV) return;
  const int me = static_cast<int>(GetSubBlockIdx());
  GlobalTensor<float> g;
  g.SetGlobalBuffer((__gm__ float*)x, kBuffers * kBytes / 4);
  const LocalTensor<float> source(TPosition::VECCALC, 0, kBytes / 4);
  Duplicate(source, 1.0f, kBytes / 4);
  SetFlag<HardEvent::V_MTE3>(0);
  WaitFlag<HardEvent::V_MTE3>(0);
  int meetings = 0;
  for (std::size_t i = 0; i < cores[me].size(); ++i) {
    const CoreStep& s = cores[me][i];
    const Site site{me ? "core1" : "core0", static_cast<std::uint32_t>(i + 1)};
    const LocalTensor<float> target(TPosition::VECCALC, static_cast<std::uint32_t>(kBytes * (i + 1)), kBytes / 4);
    if (s.op == kLoad) DataCopy(target, g[s.block * kBytes / 4], kBytes / 4, site);
    if (s.op == kStore) DataCopy(g[s.block * kBytes / 4], source, kBytes / 4, site);
    if (s.op == kFlag && s.pipe == 0) SetFlag<HardEvent::MTE2_MTE3>(0), WaitFlag<HardEvent::MTE2_MTE3>(0);
    if (s.op == kFlag && s.pipe == 1) SetFlag<HardEvent::MTE3_MTE2>(0), WaitFlag<HardEvent::MTE3_MTE2>(0);
    if (s.op == kAll) PipeBarrier<PIPE_ALL>();
    if (s.op != kMeet) continue;
    const std::uint16_t id = meetings++ % 2;
    if (s.pipe == 0) CrossCoreSetFlag<1, PIPE_MTE2>(id);
    if (s.pipe == 1) CrossCoreSetFlag<1, PIPE_MTE3>(id);
    CrossCoreWaitFlag(id);
  }
}

// Each step has a node for what it waits for (in) and for what waits for it (out): an access is both; a flag's in is its
// set, its out its wait; a meeting's in is this core's set, its out the wait of both.
bool cores_race() {
  const std::size_t n0 = cores[0].size(), n = n0 + cores[1].size();
  const auto step = [&](std::size_t i) -> const CoreStep& { return i < n0 ? cores[0][i] : cores[1][i - n0]; };
  const auto access = [&](std::size_t i) { return step(i).op == kLoad || step(i).op == kStore; };
  std::vector<std::vector<char>> path(2 * n, std::vector<char>(2 * n, 0));  // 2 i: in of i; 2 i + 1: out
  std::vector<std::size_t> meets[2];
  for (std::size_t i = 0; i < n; ++i) {
    path[2 * i][2 * i + 1] = 1;
    if (step(i).op == kMeet) meets[i >= n0].push_back(i);
    for (std::size_t j = i + 1; j < n; ++j) {
      if ((i < n0) != (j < n0)) continue;
      const int from = step(i).op == kStore, to = step(j).op == kStore;  // pipes of accesses
      const bool i_in_reach =
          step(j).op == kAll || ((step(j).op == kFlag || step(j).op == kMeet) &&
                                 (access(i) ? step(j).pipe == from : step(i).op != kFlag || step(j).pipe != step(i).pipe));
      const bool j_held = step(i).op == kAll || step(i).op == kMeet || (step(i).op == kFlag && step(i).pipe != to);
      if (!access(j) && i_in_reach) path[2 * i + 1][2 * j] = 1;
      if (access(j) && !access(i) && j_held) path[2 * i + 1][2 * j] = 1;
    }
  }
  for (std::size_t k = 0; k < meets[0].size(); ++k) {
    path[2 * meets[0][k]][2 * meets[1][k] + 1] = 1;
    path[2 * meets[1][k]][2 * meets[0][k] + 1] = 1;
  }
  for (std::size_t k = 0; k < 2 * n; ++k) {
    for (std::size_t i = 0; i < 2 * n; ++i) {
      if (!path[i][k]) continue;
      for (std::size_t j = 0; j < 2 * n; ++j) path[i][j] |= path[k][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      if (!access(i) || !access(j) || step(i).block != step(j).block) continue;
      if (step(i).op == kLoad && step(j).op == kLoad) continue;
      if (!path[2 * i + 1][2 * j] && !path[2 * j + 1][2 * i]) return true;
    }
  }
  return false;
}

TEST(HappensBefore, AgreesWithAGraphOnRandomProgramsOfTwoCores) {
  std::vector<float> ones(kBuffers * kBytes / 4, 1.0f);
  twin_test::Device<float> x(ones);
  twin::settings().timing = false;
  int races = 0, silent = 0;
  const unsigned begin = twin_test::first_seed();
  for (unsigned seed = begin; seed < begin + 1500; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const int meetings = pick(5), blocks = 1 + pick(kBuffers), sync_percent = 20 + pick(60);
    for (auto& program_of_core : cores) {
      program_of_core.clear();
      for (int m = 0; m <= meetings; ++m) {
        for (int k = pick(4); k > 0; --k) {
          if (pick(100) < sync_percent) program_of_core.push_back({pick(2) ? kFlag : kAll, 0, pick(2)});
          program_of_core.push_back({pick(2) ? kLoad : kStore, pick(blocks), 0});
        }
        if (pick(100) < sync_percent) program_of_core.push_back({pick(2) ? kFlag : kAll, 0, pick(2)});
        if (m < meetings) program_of_core.push_back({kMeet, 0, pick(2)});
      }
    }
    twin::settings().shuffle = seed % 3;
    RUN(interpret_cores, 1).as(twin::KernelType::MixAic12).auto_sync(false)(x);
    const auto found = twin::take_findings();
    const bool expected = cores_race();
    std::string steps;
    for (int c = 0; c < 2; ++c) {
      for (std::size_t i = 0; i < cores[c].size(); ++i) {
        const CoreStep& s = cores[c][i];
        const char* const names[] = {"load", "store", "flag from", "barrier", "meet on"};
        steps += std::to_string(c) + ":" + std::to_string(i + 1) + " " + names[s.op] + " " +
                 std::to_string(s.op <= kStore ? s.block : s.pipe) + "\n";
      }
    }
    ASSERT_EQ(!found.empty(), expected) << "seed " << seed << "\n" << steps << twin_test::text(found);
    ++(expected ? races : silent);
  }
  twin::settings().timing = true;
  twin::settings().shuffle = 0;
  EXPECT_GT(races, 200);
  EXPECT_GT(silent, 200);
}

}  // namespace
