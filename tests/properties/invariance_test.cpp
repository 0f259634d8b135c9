// SPDX-License-Identifier: Apache-2.0
// Contract 10: the bits do not depend on batch mates, page placement, page size, threads, host threads or timing.
#include <algorithm>
#include <cmath>
#include <vector>

#include "support/kit.hpp"

namespace tessera::test {
namespace {

Output must_run(const Instance& instance, const How& how) {
  Output output;
  EXPECT_TRUE(run(instance, how, output));
  return output;
}

void expect_same(const Instance& instance, const How& how, const Output& wanted) {
  EXPECT_EQ(first_difference(must_run(instance, how), wanted), "") << context(instance, how);
}

/// Decode, speculative decode, chunked prefill and prefill, with something special each.
const char* const kShapes[] = {
    "hq8 hkv2 d64 sq1 skv1000",
    "hq7 hkv1 d128 sq1 skv3000 causal win2500,0",
    "hq8 hkv2 d40 sq4 skv777 causal",
    "hq4 hkv4 d96 sq33 skv500 causal softcap20",
    "hq4 hkv1 d64 sq200 skv333 causal sink",
    "hq6 hkv3 dqk72 dv48 sq150 skv150 alibi",
    "hq2 hkv1 d16 sq1 skv2000 kvchunk100 bias",
    "hq4 hkv2 d32 sq70 skv260 mask",
};

TEST(Invariance, Threads) {
  for (const DType dtype : kDTypes) {
    for (const std::string shape : kShapes) {
      const Instance instance(parse(dtype, "b2 " + shape), random_values(31));
      for (const std::string& implementation : runnable_kernels()) {
        const Output one = must_run(instance, {implementation, 1});
        for (const int threads : {2, 2, 5, 16}) expect_same(instance, {implementation, threads}, one);
      }
    }
  }
}

/// Weights times values are subnormal, or zeros of either sign, and rows see fewer tiles than the row tile they are in.
TEST(Invariance, ThreadsLeaveWhatUnderflows) {
  for (const DType dtype : kDTypes) {
    Values values = random_values(35);
    const Field sign = values.v;
    const double smallest = dtype == DType::f32 ? 0x1p-149 : dtype == DType::bf16 ? 0x1p-133 : 0x1p-24;
    values.v = [=](const At& at) { return at.token % 50 == 0 ? 0.0 : std::copysign(smallest, sign(at)); };
    for (const char* shape :
         {"hq4 hkv1 d64 sq200 skv333 causal scale4", "hq6 hkv3 d64 sq300 skv300 causal scale4 sink",
          "hq11 hkv1 dqk192 dv200 sq73 skv383 causal", "hq4 hkv1 d64 sq200 skv333 causal scale4 kvchunk64"}) {
      const Instance instance(parse(dtype, shape), values);
      for (const std::string& implementation : runnable_kernels()) {
        const Output one = must_run(instance, {implementation, 1});
        for (const int threads : {2, 5, 16}) expect_same(instance, {implementation, threads}, one);
      }
    }
  }
}

TEST(Invariance, LseLeavesO) {
  for (const std::string shape : kShapes) {
    const Instance instance(parse("bf16 " + shape), random_values(32));
    for (const std::string& implementation : runnable_kernels()) {
      Output with = must_run(instance, {implementation, 2});
      with.lse.clear();
      expect_same(instance, {implementation, 2, nullptr, false}, with);
    }
  }
}

TEST(Invariance, PageSizeAndPlacement) {
  std::size_t turn = 0;  // of the dtypes
  for (const std::string shape : kShapes) {
    for (const std::string kind : {" page", " hpage"}) {
      const DType dtype = kDTypes[turn++ % 3];
      const Instance in_order(parse(dtype, shape + kind + "16"), random_values(33));
      std::vector<Output> wanted;
      for (const std::string& implementation : runnable_kernels()) wanted.push_back(must_run(in_order, {implementation, 2}));
      for (const int size : {1, 3, 16, 64, 4096}) {
        Layout layout;
        layout.shuffle_pages = true;
        layout.spare_pages = 9;
        layout.poison = Poison::inf;
        const Instance moved(parse(dtype, shape + kind + std::to_string(size)), random_values(33), layout);
        for (std::size_t n = 0; n < wanted.size(); ++n) expect_same(moved, {runnable_kernels()[n], 2}, wanted[n]);
      }
    }
  }
}

TEST(Invariance, StridedEqualsPacked) {
  std::size_t turn = 0;
  for (const std::string shape : kShapes) {
    for (const std::string kind : {"", " page16", " hpage16", ""}) {
      const DType dtype = kDTypes[turn++ % 3];
      const Instance packed(parse(dtype, "b2 " + shape + kind), random_values(34));
      std::vector<Output> wanted;
      for (const std::string& implementation : runnable_kernels()) wanted.push_back(must_run(packed, {implementation, 2}));
      for (const StrideKind strides : {StrideKind::padded, StrideKind::heads_outermost}) {
        Layout layout;
        layout.strides = strides;
        const Instance strided(parse(dtype, "b2 " + shape + kind), random_values(34), layout);
        for (std::size_t n = 0; n < wanted.size(); ++n) expect_same(strided, {runnable_kernels()[n], 2}, wanted[n]);
      }
    }
  }
}

TEST(Invariance, OneQueryAloneAndInAnyBatch) {
  std::size_t turn = 0;
  for (const std::string kind : {"page16", "hpage16", "page5"}) {
    const DType dtype = kDTypes[turn++ % 3];
    const auto make = [&](std::int64_t batch, std::int64_t place, bool shuffle) {
      Problem problem = parse(dtype, "hq8 hkv2 d64 skv1000 " + kind);
      problem.batch = batch;
      Values values = random_values(35);
      for (std::int64_t b = 0; b < batch; ++b) {
        const auto other = static_cast<std::int32_t>(mix(static_cast<std::uint64_t>(b)) % 2000);
        problem.seqlens_kv.push_back(b == place ? 1000 : other);
        values.sequence_ids.push_back(b == place ? 77 : b);
      }
      Layout layout;
      layout.shuffle_pages = shuffle;
      return Instance(problem, values, layout);
    };
    const Instance alone = make(1, 0, false);
    for (const auto& [batch, place] : {std::pair{1, 0}, {2, 1}, {7, 3}, {32, 30}}) {
      for (const bool shuffle : {false, true}) {
        const Instance crowd = make(batch, place, shuffle);
        for (const std::string& implementation : runnable_kernels()) {
          const Output wanted = must_run(alone, {implementation, 1});
          for (const int threads : {1, 2, 5}) {
            const Output all = must_run(crowd, {implementation, threads});
            EXPECT_EQ(first_difference(rows_of(crowd, all, place), wanted), "") << context(crowd, {implementation, threads});
          }
        }
      }
    }
  }
}

TEST(Invariance, SequencesOfARaggedBatchAlone) {
  for (const DType dtype : kDTypes) {
    for (const std::string options : {"causal", "causal win100,0 sink", "softcap10"}) {
      Problem problem = parse(dtype, "hq4 hkv2 d48 skv0 " + options);
      const std::int32_t queries[] = {1, 130, 0, 5, 64, 1, 300}, keys[] = {900, 130, 50, 260, 700, 0, 301};
      problem.batch = 7;
      problem.cu_seqlens_q = problem.cu_seqlens_kv = {0};
      for (int b = 0; b < 7; ++b) {
        problem.cu_seqlens_q.push_back(problem.cu_seqlens_q.back() + queries[b]);
        problem.cu_seqlens_kv.push_back(problem.cu_seqlens_kv.back() + keys[b]);
      }
      const Values values = random_values(36);
      const Instance batch(problem, values);
      for (const std::string& implementation : runnable_kernels()) {
        const Output all = must_run(batch, {implementation, 2});
        for (std::int64_t b = 0; b < 7; ++b) {
          const Instance alone(single_sequence(problem, b), single_values(values, b));
          expect_same(alone, {implementation, 1}, rows_of(batch, all, b));
        }
      }
    }
  }
}

TEST(Invariance, ChunkedPrefillEqualsOneShot) {
  for (const DType dtype : kDTypes) {
    for (const std::string options : {"", " win150,0", " softcap30 sink"}) {
      const std::int64_t length = 700;
      const Values values = random_values(37);
      const Instance whole(parse(dtype, "hq4 hkv2 d64 sq700 skv700 causal" + options), values);
      for (const std::string& implementation : runnable_kernels()) {
        const Output wanted = must_run(whole, {implementation, 2});
        for (const std::int64_t chunk : {100, 128, 333}) {
          Output joined;
          joined.lse.resize(wanted.lse.size());
          for (std::int64_t begin = 0; begin < length; begin += chunk) {
            const std::int64_t end = std::min(begin + chunk, length);
            Values part = values;
            part.q = [&values, begin](const At& at) {
              return values.q({at.sequence, at.token + begin, at.head, at.channel});
            };
            const std::string lengths = " sq" + std::to_string(end - begin) + " skv" + std::to_string(end);
            const Instance instance(parse(dtype, "hq4 hkv2 d64 causal" + options + lengths), part);
            const Output out = must_run(instance, {implementation, 2});
            joined.o.insert(joined.o.end(), out.o.begin(), out.o.end());
            for (std::int64_t h = 0; h < 4; ++h) {
              for (std::int64_t i = begin; i < end; ++i) {
                joined.lse[static_cast<std::size_t>(h * length + i)] =
                    out.lse[static_cast<std::size_t>(instance.lse_index(0, i - begin, h))];
              }
            }
          }
          EXPECT_EQ(first_difference(joined, wanted), "") << "chunks of " << chunk << context(whole, {implementation, 2});
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::test
