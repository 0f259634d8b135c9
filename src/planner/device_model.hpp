// SPDX-License-Identifier: Apache-2.0
// What the planner knows of a machine: plain numbers, each once, each with its source. CPUs only: an NPU's numbers stand in
// twin/devices, and a plan for Ascend takes them from there.
#pragma once

#include <cstdint>

namespace tessera::planner {

/// A CPU as one process sees it. The runtime fills in what the machine tells (cores, caches, ISA) and takes the rest from
/// the rows below. Rates feed predictions and thread counts; no bit of a result depends on them.
struct CpuModel {
  int cores = 1;
  std::int64_t l1d_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 16 << 20;

  double flops_per_core[3] = {8e9, 8e9, 8e9};  // f32, f16, bf16 products with float sums

  // Read rates. Measured with `tessera info` on two cores of Zen 5 (EPYC 9005): L2 one core 150 GB/s, L3 57 / 114 to 182,
  // DRAM 39 / 42; Zen 4: L3 49 / 98 to 194, DRAM 33 / 48. The smaller of each.
  double l2_bytes_per_s_per_core = 100e9;
  double l3_bytes_per_s_per_core = 49e9;
  double dram_bytes_per_s_per_core = 33e9;
  double dram_bytes_per_s = 42e9;  // all cores; scaled with the number of cores above two by the detection

  // What a second thread costs: oneTBB wakes a spinning worker in 1 to 3 us and joins it in another; a sleeping one takes
  // 10 to 50 us on a virtual machine. docs/planner.md has the fit.
  double fork_join_s = 3e-6;  // of two threads; times log2 of their number
  double item_s = 0.3e-6;     // fetch, decode and set up one work item
};

/// Multiply-adds of one cycle by ISA: lanes * pipes * 2, and the clock that a core holds under such load.
/// Sources: Zen 4 and Zen 5 software optimization guides (pipes); the rates above give 3.7 to 4.1 GHz.
struct IsaRate {
  const char* name;
  double f32_per_cycle, f16_per_cycle, bf16_per_cycle;
};
inline constexpr IsaRate kIsaRates[] = {
    {"avx512bf16", 64, 64, 128},  // two 512-bit pipes; VDPBF16PS does two products a lane
    {"avx512", 64, 64, 64},       // f16 and bf16 are widened to float
    {"avx2", 32, 32, 32},
    {"portable", 8, 8, 8},  // SSE2: 4 lanes, a multiply and an add apart
};
inline constexpr double kClockHz = 3.7e9;
inline constexpr double kDoublePumped = 0.5;  // 512-bit operations take two cycles on Zen 4 (family 19h)

}  // namespace tessera::planner
