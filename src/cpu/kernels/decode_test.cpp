// SPDX-License-Identifier: Apache-2.0
// The decode and merge kernels of every ISA this machine has, against a plain double loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "cpu/kernels/crowd.hpp"
#include "cpu/kernels/decode_case_test.hpp"

namespace tessera::cpu {
namespace {

class Decode : public testing::TestWithParam<std::tuple<std::string_view, DTypeIndex>> {
 protected:
  std::string_view isa = std::get<0>(GetParam());
  DTypeIndex dtype = std::get<1>(GetParam());

  DecodeCase base() const {
    DecodeCase c;
    c.dtype = dtype;
    return c;
  }

  /// Runs the case and compares with the double loop. Inputs are normal, so O is of size 1 at most and shrinks with the
  /// number of keys: errors are absolute.
  void check(const DecodeCase& c) const {
    DecodeRun run(c);
    check(run);
  }
  void check(DecodeRun& run) const {
    SCOPED_TRACE(std::string(isa) + " " + run.c.name());
    std::vector<double> o, lse;
    run.expect(o, lse);
    run.run(isa);
    ASSERT_TRUE(run.guard_intact);
    double worst = 0;
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(o.size()); ++i) {
      const double error = std::abs(run.element(run.o_bytes, i) - o[i]) / std::max(0.25, std::abs(o[i]));
      if (!(error <= worst)) worst = error, at = i;
    }
    const double bound = dtype == DTypeIndex::f32 ? 4e-6 : dtype == DTypeIndex::f16 ? 1.1e-3 : 1.2e-2;
    ASSERT_LE(worst, bound) << "O at " << at << ": " << run.element(run.o_bytes, at) << ", not " << o[at];
    for (std::size_t i = 0; i < lse.size(); ++i) {
      if (std::isinf(lse[i])) {
        ASSERT_EQ(run.lse[i], lse[i]) << "LSE " << i;
      } else {
        ASSERT_NEAR(run.lse[i], lse[i], 3e-6 * std::max(1.0, std::abs(lse[i]))) << "LSE " << i;
      }
    }
  }

  /// The bits of O and LSE.
  std::vector<std::byte> bits(const DecodeCase& c) const {
    DecodeRun run(c);
    run.run(isa);
    std::vector<std::byte> all = run.o_bytes;
    const auto* lse = reinterpret_cast<const std::byte*>(run.lse.data());
    all.insert(all.end(), lse, lse + run.lse.size() * sizeof(float));
    return all;
  }
};
std::string name_of_parameters(const testing::TestParamInfo<std::tuple<std::string_view, DTypeIndex>>& info) {
  const char* names[] = {"f32", "f16", "bf16"};
  return std::string(std::get<0>(info.param)) + "_" + names[static_cast<int>(std::get<1>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(Isa, Decode,
                         testing::Combine(testing::ValuesIn(isas_of_this_machine()),
                                          testing::Values(DTypeIndex::f32, DTypeIndex::f16, DTypeIndex::bf16)),
                         name_of_parameters);

TEST_P(Decode, EveryGroupSize) {
  for (int group = 1; group <= 9; ++group) {
    DecodeCase c = base();
    c.group = group;
    check(c);
  }
}

TEST_P(Decode, EveryLength) {
  for (std::int64_t n = 1; n <= 200; n += n < 70 ? 1 : 13) {
    DecodeCase c = base();
    c.dqk = c.dv = 32;
    c.seqlen_kv = n;
    check(c);
  }
}

TEST_P(Decode, HeadDims) {
  for (const int d : {1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 40, 48, 63, 65, 80, 96, 100, 112, 129, 192, 255, 256}) {
    DecodeCase c = base();
    c.dqk = d;
    c.dv = d;
    c.seqlen_kv = 71;
    check(c);
    c.dv = 257 - d;
    c.group = 1 + d % 4;
    check(c);
  }
}

TEST_P(Decode, NothingOutsideARowIsRead) {
  // Pages are filled with NaN where no row is, and rows with odd head dims lie side by side.
  for (const int d : {1, 7, 24, 50, 128}) {
    DecodeCase c = base();
    c.dqk = c.dv = d;
    c.layout = Layout::head_major_pages;
    c.page_size = 32;
    c.seqlen_kv = 33;
    check(c);
  }
}

TEST_P(Decode, SeveralQueriesCausal) {
  for (const std::int64_t sq : {2, 3, 4, 7}) {
    for (const std::int64_t skv : {1, 5, 64, 65, 130}) {
      DecodeCase c = base();
      c.seqlen_q = sq;
      c.seqlen_kv = skv;
      c.causal = true;
      check(c);
      c.chunk = 48;
      c.rows_per_item = 3;
      check(c);
    }
  }
}

TEST_P(Decode, Windows) {
  for (const std::int64_t left : {0, 1, 5, 63, 64, 100}) {
    for (const std::int64_t right : {std::int64_t{0}, std::int64_t{3}, kUnbounded}) {
      DecodeCase c = base();
      c.seqlen_q = 3;
      c.left = left;
      c.right = right;
      check(c);
      c.chunk = 64;
      check(c);
    }
  }
}

TEST_P(Decode, EveryTransform) {
  for (int options = 1; options < 64; ++options) {
    DecodeCase c = base();
    c.dqk = c.dv = 40;
    c.seqlen_q = 2;
    c.softcap = options & 1 ? 2.5f : 0.0f;
    c.alibi = options & 2;
    c.sink = options & 4;
    c.bias = options & 8;
    c.mask = options & 16;
    c.causal = options & 32;
    check(c);
    c.chunk = 100;
    check(c);
  }
}

TEST_P(Decode, Scales) {
  for (const float scale : {-0.1f, 0.15f, -1e-3f}) {
    DecodeCase c = base();
    c.scale = scale;
    check(c);
  }
  DecodeCase c = base();
  c.zero_scale = true;
  c.causal = true;
  c.seqlen_q = 2;
  check(c);
}

TEST_P(Decode, MaskedKeysMayHoldAnything) {
  for (const float poison : {kNan, kInf, -kInf}) {
    for (int kind = 0; kind < 3; ++kind) {
      DecodeCase c = base();
      c.seqlen_q = 2;
      c.seqlen_kv = 150;
      c.mask = kind == 0;
      c.bias = kind == 1;
      c.left = kind == 2 ? 70 : kUnbounded;
      DecodeRun run(c);
      for (std::int64_t key = 0; key < c.seqlen_kv; ++key) {
        for (int kv_head = 0; kv_head < c.kv_heads; ++kv_head) {
          bool seen = false;
          if (kind != 2) {  // the first group of rows decides; the others see what it sees
            for (int h = kv_head * c.group; h < (kv_head + 1) * c.group; ++h) {
              for (std::int64_t query = 0; query < c.seqlen_q; ++query) {
                const std::int64_t from = kv_head * c.group * c.seqlen_q * c.seqlen_kv + key;
                const std::int64_t to = (h * c.seqlen_q + query) * c.seqlen_kv + key;
                run.mask[to] = run.mask[from];
                run.bias[to] = run.bias[from];
              }
            }
          }
          for (int h = kv_head * c.group; h < (kv_head + 1) * c.group; ++h) {
            for (std::int64_t query = 0; query < c.seqlen_q; ++query) seen = seen || run.sees(h, query, key);
          }
          if (seen) continue;
          for (int i = 0; i < c.dqk; ++i) run.k[(key * c.kv_heads + kv_head) * c.dqk + i] = poison;
          for (int i = 0; i < c.dv; ++i) run.v[(key * c.kv_heads + kv_head) * c.dv + i] = poison;
        }
      }
      check(run);
    }
  }
}

TEST_P(Decode, ANanInTheLastKeyReachesOnlyTheRowThatSeesIt) {
  DecodeCase c = base();
  c.seqlen_q = 4;
  c.group = 2;
  c.causal = true;
  DecodeRun run(c);
  for (int i = 0; i < c.kv_heads * c.dqk; ++i) run.k[(c.seqlen_kv - 1) * c.kv_heads * c.dqk + i] = kNan;
  for (int i = 0; i < c.kv_heads * c.dv; ++i) run.v[(c.seqlen_kv - 1) * c.kv_heads * c.dv + i] = kNan;
  run.run(isa);
  for (std::int64_t query = 0; query < c.seqlen_q; ++query) {
    for (int i = 0; i < run.heads * c.dv; ++i) {
      EXPECT_EQ(std::isnan(run.element(run.o_bytes, query * run.heads * c.dv + i)), query == c.seqlen_q - 1);
    }
  }
}

TEST_P(Decode, VisibleNanStaysNanThroughTheMerge) {
  DecodeCase c = base();
  c.seqlen_kv = 20;
  c.chunk = 10;
  DecodeRun run(c);
  std::fill(run.k.begin(), run.k.begin() + 10 * c.kv_heads * c.dqk, kNan);  // every score of the first chunk
  run.run(isa);
  EXPECT_TRUE(std::isnan(run.element(run.o_bytes, 0)));
  EXPECT_TRUE(std::isnan(run.lse[0]));
}

TEST_P(Decode, FiniteBiasNeverMasks) {
  for (const std::int64_t chunk : {0, 50}) {
    DecodeCase c = base();
    c.bias = true;
    c.chunk = chunk;
    c.seqlen_kv = 130;
    DecodeRun run(c);
    std::fill(run.bias.begin(), run.bias.end(), -3.4e38f);
    std::fill(run.q.begin(), run.q.end(), 0.0f);
    run.run(isa);
    for (int h = 0; h < run.heads; ++h) {
      double mean = 0;
      for (std::int64_t key = 0; key < c.seqlen_kv; ++key) mean += run.v[(key * c.kv_heads + h / c.group) * c.dv] / 130.0;
      EXPECT_NEAR(run.element(run.o_bytes, h * c.dv), mean, 1e-3) << run.c.name();
      EXPECT_FLOAT_EQ(run.lse[h], -3.4e38f);
    }
  }
}

TEST_P(Decode, LargeScoresInDifferentChunks) {
  for (const float sign : {1.0f, -1.0f}) {
    DecodeCase c = base();
    c.dtype = DTypeIndex::f32;
    c.group = c.kv_heads = 1;
    c.dqk = c.dv = 1;
    c.seqlen_kv = 2;
    c.scale = 1;
    c.chunk = 1;
    DecodeRun run(c);
    run.q = {1};
    run.k = sign > 0 ? std::vector<float>{151.29f, 150.29f} : std::vector<float>{-151.29f, -152.29f};
    run.v = {1, 0};
    run.run(isa);
    EXPECT_NEAR(run.element(run.o_bytes, 0), 0.7310586, 3e-5);
    EXPECT_NEAR(run.lse[0], sign > 0 ? 151.603262 : -150.976738, 3e-5);
  }
}

TEST_P(Decode, SinkAlone) {
  DecodeCase c = base();
  c.sink = c.mask = true;
  for (const std::int64_t chunk : {0, 100}) {
    c.chunk = chunk;
    DecodeRun run(c);
    std::fill(run.mask.begin(), run.mask.end(), std::uint8_t{0});
    run.run(isa);
    for (int h = 0; h < run.heads; ++h) EXPECT_EQ(run.lse[h], run.sinks[h]);
    for (std::int64_t i = 0; i < run.heads * c.dv; ++i) EXPECT_EQ(run.element(run.o_bytes, i), 0.0f);
  }
}

TEST_P(Decode, BitsDoNotDependOnLayoutOrCompany) {
  for (const int seqlen_q : {1, 3}) {
    for (const bool windowed : {false, true}) {
      DecodeCase c = base();
      c.seqlen_q = seqlen_q;
      c.group = 7;
      c.kv_heads = 3;
      c.dqk = 72;
      c.dv = 80;
      c.causal = true;
      if (windowed) c.left = 111;
      c.chunk = 128;
      const auto want = bits(c);
      for (const Layout layout : {Layout::token_major_pages, Layout::head_major_pages}) {
        for (const std::int64_t page : {1, 3, 16, 100}) {
          c.layout = layout;
          c.page_size = page;
          c.all_heads = page % 2 == 0;
          c.rows_per_item = page % 6;
          c.kv_source = page % 2 != 0 ? KvSource::memory : KvSource::cache;
          EXPECT_EQ(bits(c), want) << isa << " " << c.name();
        }
      }
    }
  }
}

// From DRAM rows are read in other runs than from a cache, by layout, by rows a head and by heads: an order, nothing else.
TEST_P(Decode, BitsDoNotDependOnWhereKeysComeFrom) {
  for (const int group : {1, 2, 3, 4, 7}) {
    for (const bool many_heads : {false, true}) {
      DecodeCase c = base();
      c.group = group;
      c.kv_heads = many_heads ? 17 : 5;
      c.dqk = many_heads ? 128 : 72;
      c.dv = many_heads ? 64 : 80;
      c.left = 250;
      c.bias = group % 2 == 0;
      const auto want = bits(c);
      for (const KvSource source : {KvSource::memory, KvSource::shared_memory}) {
        c.kv_source = source;
        c.layout = Layout::contiguous;
        EXPECT_EQ(bits(c), want) << isa << " " << c.name();
        for (const Layout layout : {Layout::token_major_pages, Layout::head_major_pages}) {
          for (const std::int64_t page : {16, 100}) {
            c.layout = layout;
            c.page_size = page;
            EXPECT_EQ(bits(c), want) << isa << " " << c.name();
          }
        }
      }
    }
  }
}

// Up to four rows from DRAM take the loops that learn the head dimension at run time, from a cache those that were compiled
// for it.
TEST_P(Decode, BitsDoNotDependOnLoopsForOneHeadDim) {
  for (const int head_dim : {64, 128}) {
    for (const int group : {1, 2, 3, 4}) {
      DecodeCase c = base();
      c.group = group;
      c.dqk = c.dv = head_dim;
      const auto want = bits(c);
      c.kv_source = KvSource::memory;
      EXPECT_EQ(bits(c), want) << isa << " " << c.name();
    }
  }
}

// Threads that wait for one another read a key of all heads after the other; they find out in the middle of an item.
TEST_P(Decode, BitsDoNotDependOnHowCrowdedMemoryIs) {
  for (const int group : {1, 2, 4}) {
    for (const int head_dim : {128, 72}) {
      DecodeCase c = base();
      c.group = group;
      c.kv_heads = 12;
      c.dqk = head_dim;
      c.seqlen_kv = 450;
      c.left = group == 2 ? 333 : kUnbounded;
      c.bias = head_dim == 72;
      const auto want = bits(c);
      c.kv_source = KvSource::shared_memory;
      for (const float enough : {0.0f, 1e30f}) {
        c.crowded_bytes_per_s = enough;
        for (const Layout layout : {Layout::contiguous, Layout::token_major_pages}) {
          c.layout = layout;
          EXPECT_EQ(bits(c), want) << isa << " " << c.name();
        }
      }
    }
  }
}

TEST(Crowd, IsWhatGetsLessThanOneCoreWould) {
  const auto after_some_steps = [](KvSource source, float enough) {
    RunConstants constants = {};
    constants.kv_source = source;
    constants.crowded_bytes_per_s = enough;
    Crowd crowd(constants);
    EXPECT_FALSE(crowd.now());
    for (int step = 0; step < 9; ++step) {
      const std::int64_t begin = monotonic_ns();
      while (monotonic_ns() < begin + 1000) continue;
      crowd.read(1 << 17);
    }
    return crowd.now();
  };
  EXPECT_TRUE(after_some_steps(KvSource::shared_memory, 1e30f));
  EXPECT_FALSE(after_some_steps(KvSource::shared_memory, 0));
  EXPECT_FALSE(after_some_steps(KvSource::memory, 1e30f));
  EXPECT_FALSE(after_some_steps(KvSource::cache, 1e30f));
}

TEST_P(Decode, OneChunkMergedIsOneChunkWritten) {
  for (const bool transformed : {false, true}) {
    DecodeCase c = base();
    c.sink = c.bias = transformed;
    c.softcap = transformed ? 2.0f : 0.0f;
    const auto want = bits(c);
    c.merge_single = true;
    EXPECT_EQ(bits(c), want) << isa << " " << c.name();
  }
}

}  // namespace
}  // namespace tessera::cpu
