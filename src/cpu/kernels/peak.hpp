// SPDX-License-Identifier: Apache-2.0
// The limits that kernels are measured against: register-only multiply-adds and sequential reads, one table an ISA.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::cpu {

struct PeakTable {
  /// Runs `iterations` rounds of independent multiply-adds and writes their sums to `sink` (64 floats, read first, so that
  /// the compiler can fold nothing). Operates in registers alone.
  void (*multiply_add)(std::int64_t iterations, float* sink);
  double flops_per_iteration;

  /// The same with pairs of bf16, or null where the ISA has no such product.
  void (*pair_dot)(std::int64_t iterations, float* sink);
  double pair_dot_flops_per_iteration;

  /// Reads [data, data + bytes) once, in order, and returns an or of its words. `bytes` is a multiple of 1024.
  std::uint64_t (*read)(const std::byte* data, std::size_t bytes);
  std::uint64_t (*read_prefetched)(const std::byte* data, std::size_t bytes);
};

#define TESSERA_ISA(name)        \
  namespace name {               \
  const PeakTable& peak_table(); \
  }
#include "cpu/kernels/kernels.inc"
#undef TESSERA_ISA

}  // namespace tessera::cpu
