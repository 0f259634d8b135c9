// SPDX-License-Identifier: Apache-2.0
// The error bars on every row, more dims and longer caches.
#include "precision/bars.hpp"

namespace tessera::test {
namespace {

TEST(PrecisionSlow, Float32EveryRow) {
  for (const std::string length : {"512", "2048"}) {
    for (const std::string causal : {"", " causal"})
      expect_float32("hq8 hkv8 d128 sq" + length + " skv" + length + causal, 1);
  }
}

TEST(PrecisionSlow, HalvesWithinTwiceTheirRounding) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    for (const Distribution distribution : {Distribution::normal, Distribution::uniform, Distribution::heavy_tailed}) {
      for (const std::string d : {"d16 ", "d32 ", "d40 ", "d64 ", "d80 ", "d96 ", "d112 ", "d128 ", "d192 ", "d256 "}) {
        for (const std::string shape : {"hq32 hkv8 sq1 skv512", "hq32 hkv8 sq1 skv8192", "hq8 hkv2 sq4 skv3000 causal",
                                        "hq4 hkv1 sq512 skv512 causal", "hq2 hkv2 sq300 skv1500"}) {
          expect_twice_the_rounding(dtype, distribution, d + shape, 3);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::test
