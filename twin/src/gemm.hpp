// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace twin {

// c[m][n] += a[m][k] · b, in float, k in rising order, products rounded before they are added: the same bits on every host.
// m and n are multiples of 16. a is row-major; b is packed as [n / 16][k][16]; c is packed as [n / 16][m][16].
void gemm(float* c, const float* a, const float* b, std::uint32_t m, std::uint32_t n, std::uint32_t k);

}  // namespace twin
