// SPDX-License-Identifier: Apache-2.0
// How data lie, by the names that kernels and host code share.
#pragma once

#include <cstdint>

namespace AscendC {

// Axes of a matrix: those that stay and those that are reduced.
enum class ReducePattern : std::uint8_t { AR = 0, RA = 1 };
enum class DataFormat : std::uint8_t { ND = 0, NZ, NCHW, NC1HWC0, NHWC, NCDHW, NDC1HWC0, FRACTAL_Z_3D };
struct TransDataConfig {
  DataFormat srcFormat, dstFormat;
};

}  // namespace AscendC
