// SPDX-License-Identifier: Apache-2.0
// Whatever stands in slots that no query may see, nobody notices.
#include "support/kit.hpp"

namespace tessera::test {
namespace {

std::string pages(KvLayout layout, int size) {
  return layout == KvLayout::contiguous ? ""
                                        : (layout == KvLayout::paged_head_major ? " hpage" : " page") + std::to_string(size);
}

constexpr KvLayout kLayouts[] = {KvLayout::contiguous, KvLayout::paged_token_major, KvLayout::paged_head_major};

TEST(UnusedCache, NanAndInfinityPastTheLengthAndInUnusedPages) {
  for (const DType dtype : kDTypes) {
    for (const KvLayout kv_layout : {KvLayout::paged_token_major, KvLayout::paged_head_major}) {
      for (const Poison poison : {Poison::nan, Poison::inf}) {
        for (const int sq : {1, 2, 64, 130}) {
          Layout layout;
          layout.poison = poison;
          layout.spare_pages = 5;
          layout.shuffle_pages = true;
          const std::string text = "hq4 hkv2 d16 skv13 sq" + std::to_string(sq) + pages(kv_layout, 4);
          expect_answer(Instance(parse(dtype, text), Values{}, layout), [](auto...) { return Answer{6, std::log(13.0)}; });
        }
      }
    }
  }
}

TEST(UnusedCache, PaddedContiguousCache) {
  for (const DType dtype : kDTypes) {
    for (const Poison poison : {Poison::nan, Poison::inf, Poison::huge}) {
      Problem problem = parse(dtype, "b4 hq2 hkv1 d32 sq1 skv96");
      problem.seqlens_kv = {96, 0, 1, 37};
      Layout layout;
      layout.poison = poison;
      for (const int sq : {1, 20}) {
        problem.seqlen_q = sq;
        expect_answer(Instance(problem, Values{}, layout),
                      [&](std::int64_t b, auto, auto) { return mean_of_tokens(0, problem.key_length(b)); });
      }
    }
  }
}

TEST(UnusedCache, OnlyTheLastRowSeesALastKeyOfNan) {
  for (const DType dtype : kDTypes) {
    for (const KvLayout kv_layout : kLayouts) {
      for (const int s : {13, 64, 100, 257}) {
        for (const bool in_keys : {true, false}) {
          Values values;
          const Field bad = [s](const At& at) { return at.token == s - 1 ? std::nan("") : 0.25; };
          values.v = constant(0.25);
          (in_keys ? values.k : values.v) = bad;
          const std::string text =
              "hq2 d16 causal sq" + std::to_string(s) + " skv" + std::to_string(s) + pages(kv_layout, 4);
          const Instance instance(parse(dtype, text), values);
          expect_answer(instance, [=](auto, auto, std::int64_t i) {
            const double lse = std::log(static_cast<double>(i + 1));
            if (i < s - 1) return Answer{0.25, lse};
            return Answer{std::nan(""), in_keys ? std::nan("") : lse};
          });
        }
      }
    }
  }
}

TEST(UnusedCache, KeysThatNoWindowReachesAreNan) {
  for (const DType dtype : kDTypes) {
    for (const KvLayout kv_layout : kLayouts) {
      for (const Poison poison : {Poison::nan, Poison::inf}) {
        Layout layout;
        layout.poison = poison;
        for (const std::string shape :
             {"sq1 skv300 causal win40,0", "sq5 skv300 causal win40,0", "sq80 skv300 causal win40,0", "sq3 skv200 win7,9",
              "sq40 skv200 win-tl7,9", "sq70 skv200 causal-tl"}) {
          expect_oracle(Instance(parse(dtype, "hq4 hkv2 d24 " + shape + pages(kv_layout, 16)), random_values(6), layout));
        }
      }
    }
  }
}

TEST(UnusedCache, KeysMaskedForAllAreNan) {
  for (const DType dtype : kDTypes) {
    for (const std::string tensor : {"mask", "bias", "mask bias"}) {
      for (const int sq : {1, 3, 66}) {
        Values values = random_values(7);
        values.mask = [](const ScoreAt& at) { return (at.key / 20) % 2 == 0 && (at.key + at.query) % 5 != 0; };
        values.bias = [](const ScoreAt& at) { return at.key % 7 == 3 ? -kInf : 0.125 * static_cast<double>(at.key % 4); };
        expect_oracle(Instance(parse(dtype, "hq4 hkv2 d40 skv150 " + tensor + " sq" + std::to_string(sq)), values));
      }
    }
  }
}

TEST(UnusedCache, RestOfThePageHoldsLargeValues) {
  for (const DType dtype : kDTypes) {
    for (const int keys : {1, 5, 9, 15, 16, 17, 25, 31, 32}) {
      for (const int sq : {1, 33}) {
        Layout layout;
        layout.poison = Poison::huge;
        const std::string text = "hq2 hkv1 d64 page32 skv" + std::to_string(keys) + " sq" + std::to_string(sq);
        expect_oracle(Instance(parse(dtype, text), random_values(8), layout));
      }
    }
  }
}

}  // namespace
}  // namespace tessera::test
