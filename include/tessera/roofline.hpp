// SPDX-License-Identifier: Apache-2.0
// Measured limits of this machine: what a share of the roof is a share of. One sample a call, so that a benchmark can
// alternate samples with its repeats.
#pragma once

#include <cstddef>
#include <string_view>

#include "tessera/types.hpp"

namespace tessera {

/// FLOP/s of register-only multiply-adds on `num_threads` threads with the widest products that `implementation` has for
/// `dtype` (bf16 dot where there is one; f16 without hardware dot: that of f32). Runs for about `seconds`.
TESSERA_EXPORT Result<double> sample_compute_peak(std::string_view implementation, DType dtype, int num_threads,
                                                  double seconds);

/// Bytes/s of a sequential read of buffer [0, bytes) by `num_threads` threads, each its own contiguous share; the faster
/// of a plain loop and one with software prefetch. Reads the buffer at least once.
TESSERA_EXPORT Result<double> sample_read_rate(std::string_view implementation, const void* buffer, std::size_t bytes,
                                               int num_threads, double seconds);

}  // namespace tessera
