// SPDX-License-Identifier: Apache-2.0
// Properties on random problems, shrunk when they fail. RC_PARAMS="seed=..." (printed on failure) repeats a run.
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "support/kit.hpp"
#include "tessera/merge.hpp"

namespace tessera::test {
namespace {

using rc::gen::element;
using rc::gen::inRange;

/// Forty cases a property unless the environment asks for others.
[[maybe_unused]] const int kDefaults = setenv("RC_PARAMS", "max_success=40", 0);

/// A dense problem without options, small enough that the oracle takes no time.
Problem draw_problem() {
  Problem p;
  p.dtype = *element(DType::f32, DType::f16, DType::bf16).as("dtype");
  p.num_kv_heads = *inRange<std::int64_t>(1, 4).as("kv heads");
  p.num_q_heads = p.num_kv_heads * *element<std::int64_t>(1, 2, 3, 4, 7, 8).as("group");
  p.head_dim_qk = *inRange<std::int64_t>(1, 100).as("dqk");
  p.head_dim_v = *inRange<std::int64_t>(1, 100).as("dv");
  p.seqlen_q = *rc::gen::oneOf(inRange<std::int64_t>(1, 9), inRange<std::int64_t>(9, 120)).as("sq");
  p.seqlen_kv = *rc::gen::oneOf(inRange<std::int64_t>(1, 40), inRange<std::int64_t>(40, 500)).as("skv");
  return p;
}

std::uint64_t draw_seed() { return *rc::gen::noShrink(rc::gen::arbitrary<std::uint32_t>()).as("seed of the values"); }

void require(const ::testing::AssertionResult& result) {
  if (!result) RC_FAIL(result.message());
}

/// Every implementation gives `e` on `instance`.
void require_close(const Instance& instance, const Expected& e, bool with_reference = false) {
  for (const std::string& implementation : with_reference ? runnable() : runnable_kernels()) {
    const How how{implementation, 2};
    Output output;
    require(run(instance, how, output));
    require(close(instance, how, output, e));
  }
}

TEST(Property, AnySplitGivesTheSame) {
  EXPECT_TRUE(rc::check([] {
    Problem p = draw_problem();
    p.causal = *rc::gen::arbitrary<bool>();
    const Values values = random_values(draw_seed());
    const Expected e = expected(Instance(p, values));
    p.kv_chunk = *inRange<std::int64_t>(1, p.seqlen_kv + 3).as("kv_chunk");
    require_close(Instance(p, values), e);
  }));
}

TEST(Property, PagedEqualsContiguous) {
  EXPECT_TRUE(rc::check([] {
    Problem p = draw_problem();
    p.batch = *inRange<std::int64_t>(1, 4);
    p.causal = *rc::gen::arbitrary<bool>();
    const Values values = random_values(draw_seed());
    const Expected e = expected(Instance(p, values));
    p.kv_layout = *element(KvLayout::paged_token_major, KvLayout::paged_head_major);
    p.page_size = *inRange<std::int64_t>(1, 70).as("page size");
    Layout layout;
    layout.shuffle_pages = true;
    layout.spare_pages = 2;
    require_close(Instance(p, values, layout), e);
  }));
}

TEST(Property, OrderOfKeysDoesNotMatter) {
  EXPECT_TRUE(rc::check([] {
    Problem p = draw_problem();
    const Values values = random_values(draw_seed());
    const Expected e = expected(Instance(p, values));
    std::vector<std::int64_t> order(static_cast<std::size_t>(p.seqlen_kv));
    std::iota(order.begin(), order.end(), 0);
    std::mt19937_64 random(draw_seed());
    std::shuffle(order.begin(), order.end(), random);
    Values permuted = values;
    const auto permute = [&order](const Field& field) -> Field {
      return [&order, field](const At& at) {
        return field({at.sequence, order[static_cast<std::size_t>(at.token)], at.head, at.channel});
      };
    };
    permuted.k = permute(values.k);
    permuted.v = permute(values.v);
    require_close(Instance(p, permuted), e);
  }));
}

TEST(Property, CausalAndWindowEqualTheirMasks) {
  EXPECT_TRUE(rc::check([] {
    Problem p = draw_problem();
    p.alignment = *element(Alignment::bottom_right, Alignment::top_left);
    p.causal = *rc::gen::arbitrary<bool>();
    p.window_left = *inRange<std::int64_t>(-1, 150).as("window left");
    p.window_right = *inRange<std::int64_t>(-1, 150).as("window right");
    Values values = random_values(draw_seed());
    const Expected e = expected(Instance(p, values));
    require_close(Instance(p, values), e);
    values.mask = [p](const ScoreAt& at) { return visible(p, Values{}, {}, 0, at.head, at.query, at.key); };
    Problem masked = p;
    masked.causal = false;
    masked.window_left = masked.window_right = -1;
    masked.has_mask = true;
    require_close(Instance(masked, values), e);
    masked.has_mask = false;
    masked.has_bias = true;
    values.bias = [mask = values.mask](const ScoreAt& at) { return mask(at) ? 0.0 : -kInf; };
    require_close(Instance(masked, values), e);
  }));
}

TEST(Property, AlibiEqualsItsBias) {
  EXPECT_TRUE(rc::check([] {
    Problem p = draw_problem();
    p.dtype = DType::f32;
    p.causal = *rc::gen::arbitrary<bool>();
    p.has_alibi = true;
    Values values = random_values(draw_seed());
    for (std::int64_t h = 0; h < p.num_q_heads; ++h)
      values.alibi_slopes.push_back(std::ldexp(1.0f, -static_cast<int>(h % 9)));
    const Expected e = expected(Instance(p, values));
    values.bias = [p, slopes = values.alibi_slopes](const ScoreAt& at) {
      const auto distance = static_cast<double>(at.query + p.seqlen_kv - p.seqlen_q - at.key);
      return -slopes[static_cast<std::size_t>(at.head)] * std::abs(distance);
    };
    p.has_alibi = false;
    p.has_bias = true;
    require_close(Instance(p, values), e);
  }));
}

/// Partial results over key ranges: [0, cuts[0]), [cuts[0], cuts[1]) ...
Output merged_pieces(const Problem& p, const Values& values, const std::vector<std::int64_t>& cuts,
                     const std::string& implementation) {
  std::vector<std::vector<float>> o, lse;
  std::int64_t begin = 0;
  for (const std::int64_t end : cuts) {
    Problem piece = p;
    piece.seqlen_kv = end - begin;
    Values part = values;
    const auto shift = [begin](const Field& field) -> Field {
      return [begin, field](const At& at) { return field({at.sequence, at.token + begin, at.head, at.channel}); };
    };
    part.k = shift(values.k);
    part.v = shift(values.v);
    Output output;
    require(run(Instance(piece, part), {implementation, 1}, output));
    o.push_back(output.o);
    lse.push_back(output.lse);
    begin = end;
  }
  const Strides strides = packed_query_strides(p, p.head_dim_v);
  std::vector<PartialResult> partials;
  for (std::size_t n = 0; n < o.size(); ++n) partials.push_back({{o[n].data(), strides}, lse[n].data()});
  Output merged;
  merged.o.resize(o[0].size());
  merged.lse.resize(lse[0].size());
  const MergeProblem problem{DType::f32, p.batch, p.seqlen_q, p.num_q_heads, p.head_dim_v};
  const Status status = merge(problem, partials, {merged.o.data(), strides}, merged.lse.data());
  if (!status) RC_FAIL(status.message());
  return merged;
}

TEST(Property, MergeOfPiecesIsTheWhole) {
  EXPECT_TRUE(rc::check([] {
    Problem p = draw_problem();
    p.dtype = DType::f32;
    const Values values = random_values(draw_seed());
    const Instance whole(p, values);
    Expected e = expected(whole);
    for (double& bound : e.o_bound) bound *= 2;  // the merge rounds once more
    for (double& bound : e.lse_bound) bound *= 2;
    std::vector<std::int64_t> cuts =
        *rc::gen::container<std::vector<std::int64_t>>(inRange<std::int64_t>(0, p.seqlen_kv + 1));
    cuts.resize(std::min<std::size_t>(cuts.size(), 12));
    cuts.push_back(p.seqlen_kv);
    std::sort(cuts.begin(), cuts.end());
    for (const std::string& implementation : runnable_kernels()) {
      require(close(whole, {implementation}, merged_pieces(p, values, cuts, implementation), e));
    }
  }));
}

struct Partial {
  std::vector<float> o, lse;
};

Partial merge_two(const MergeProblem& p, const std::vector<const Partial*>& parts) {
  const Strides s = {p.seqlen_q * p.num_q_heads * p.head_dim_v, p.num_q_heads * p.head_dim_v, p.head_dim_v};
  std::vector<PartialResult> partials;
  for (const Partial* part : parts) partials.push_back({{part->o.data(), s}, part->lse.data()});
  Partial out{std::vector<float>(parts[0]->o.size()), std::vector<float>(parts[0]->lse.size())};
  const Status status = merge(p, partials, {out.o.data(), s}, out.lse.data());
  if (!status) RC_FAIL(status.message());
  return out;
}

TEST(Property, MergeIsAssociativeToRounding) {
  EXPECT_TRUE(rc::check([] {
    MergeProblem p;
    p.batch = *inRange<std::int64_t>(1, 3);
    p.seqlen_q = *inRange<std::int64_t>(1, 5);
    p.num_q_heads = *inRange<std::int64_t>(1, 5);
    p.head_dim_v = *inRange<std::int64_t>(1, 70);
    const std::int64_t rows = p.batch * p.seqlen_q * p.num_q_heads;
    std::mt19937_64 random(draw_seed());
    std::normal_distribution<float> normal;
    Partial part[3];
    for (Partial& x : part) {
      for (std::int64_t r = 0; r < rows; ++r) {
        const bool empty = random() % 4 == 0;
        x.lse.push_back(empty ? -INFINITY : 20 * normal(random));
        for (std::int64_t c = 0; c < p.head_dim_v; ++c) x.o.push_back(empty ? 0.0f : normal(random));
      }
    }
    const Partial ab = merge_two(p, {&part[0], &part[1]}), bc = merge_two(p, {&part[1], &part[2]});
    const Partial left = merge_two(p, {&ab, &part[2]}), right = merge_two(p, {&part[0], &bc}),
                  all = merge_two(p, {&part[0], &part[1], &part[2]});
    for (std::size_t n = 0; n < all.lse.size(); ++n) {
      const double bound = 16 * 0x1p-24 * std::max(1.0f, std::abs(all.lse[n]));
      if (all.lse[n] == -INFINITY) {
        RC_ASSERT(left.lse[n] == -INFINITY && right.lse[n] == -INFINITY);
      } else {
        RC_ASSERT(std::abs(left.lse[n] - all.lse[n]) <= bound);
        RC_ASSERT(std::abs(right.lse[n] - all.lse[n]) <= bound);
      }
    }
    // Weights are exp of differences of LSEs up to 100, each known to its ulp.
    for (std::size_t n = 0; n < all.o.size(); ++n) {
      RC_ASSERT(std::abs(left.o[n] - all.o[n]) <= 4 * 0x1p-24 * 100 * 5);
      RC_ASSERT(std::abs(right.o[n] - all.o[n]) <= 4 * 0x1p-24 * 100 * 5);
    }
  }));
}

TEST(Property, PowersOfTwoMoveBetweenQueryAndScale) {
  EXPECT_TRUE(rc::check([] {
    Problem p = draw_problem();
    p.softmax_scale = 0.25;
    const std::uint64_t seed = draw_seed();
    Values values = random_values(seed);
    // No subnormal of f16: one has fewer digits than four times it.
    values.q = [q = values.q](const At& at) { return std::nearbyint(q(at) * 4096) / 4096; };
    const Instance plain(p, values);
    p.softmax_scale = 0.0625;
    values.q = [q = values.q](const At& at) { return 4 * q(at); };
    const Instance moved(p, values);
    for (const std::string& implementation : runnable_kernels()) {
      Output a, b;
      require(run(plain, {implementation, 1}, a));
      require(run(moved, {implementation, 1}, b));
      RC_ASSERT(first_difference(a, b) == "");
    }
  }));
}

}  // namespace
}  // namespace tessera::test
