// SPDX-License-Identifier: Apache-2.0
#include "precision/bars.hpp"

namespace tessera::test {
namespace {

TEST(Precision, Float32At512) {
  expect_float32("hq8 hkv8 d128 sq512 skv512", 4);
  expect_float32("hq8 hkv8 d128 sq512 skv512 causal", 4);
}

TEST(Precision, Float32At2048) {
  expect_float32("hq8 hkv8 d128 sq2048 skv2048", 61);
  expect_float32("hq8 hkv8 d128 sq2048 skv2048 causal", 61);
}

TEST(Precision, Float32Decode) {
  expect_float32("hq8 hkv2 d128 sq1 skv512", 1);
  expect_float32("hq8 hkv2 d128 sq1 skv20000", 1);
  expect_float32("hq8 hkv8 d128 sq4 skv2048 causal", 1);
}

TEST(Precision, HalvesWithinTwiceTheirRounding) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    for (const Distribution distribution : {Distribution::normal, Distribution::heavy_tailed}) {
      for (const std::string d : {"d64", "d80", "d128", "d256"}) {
        expect_twice_the_rounding(dtype, distribution, "hq16 hkv4 sq1 skv2000 " + d, 1);
        expect_twice_the_rounding(dtype, distribution, "hq4 hkv2 sq200 skv400 causal " + d, 2);
      }
    }
  }
}

}  // namespace
}  // namespace tessera::test
