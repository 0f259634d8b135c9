// SPDX-License-Identifier: Apache-2.0
// Prints the measured errors of the implementations named (none: of all) as a Markdown table: the one of docs/numerics.md.
#include <algorithm>
#include <cstdio>

#include "precision/measure.hpp"

int main(int argc, char** argv) {
  using namespace tessera::test;
  using tessera::DType;
  std::printf("| problem | inputs | implementation | max error | rms error | max, only rounding | rms, only rounding |\n");
  std::printf("|---|---|---|--:|--:|--:|--:|\n");
  for (const char* shape :
       {"hq8 hkv8 d128 sq512 skv512", "hq8 hkv8 d128 sq2048 skv2048 causal", "hq32 hkv8 d128 sq1 skv8192"}) {
    for (const DType dtype : kDTypes) {
      for (const Distribution distribution : {Distribution::normal, Distribution::heavy_tailed}) {
        const Instance instance(parse(dtype, shape), random_values(63, distribution));
        const Exact exact(instance, 7);
        for (const std::string& implementation : runnable_kernels()) {
          if (argc > 1 && std::find(argv + 1, argv + argc, implementation) == argv + argc) continue;
          Output output;
          if (!run(instance, {implementation, 2}, output)) return 1;
          const Error error = exact.of(output);
          std::printf("| `%s %s` | %s | %s | %.2e | %.2e | %.2e | %.2e |\n", std::string(name_of(dtype)).c_str(), shape,
                      distribution == Distribution::normal ? "normal" : "heavy-tailed", implementation.c_str(), error.max,
                      error.rms, exact.simulated().max, exact.simulated().rms);
        }
      }
    }
  }
}
