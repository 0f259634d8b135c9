// SPDX-License-Identifier: Apache-2.0
#include "gemm.hpp"

#include <cstring>

namespace twin {
namespace {

typedef float Row __attribute__((vector_size(64), aligned(4), may_alias));

// Eight rows of c stay in registers: eight independent sums hide the latency of an addition (4 cycles).
constexpr std::uint32_t kRows = 8;

inline __attribute__((always_inline)) void body(float* c, const float* a, const float* b, std::uint32_t m, std::uint32_t n,
                                                std::uint32_t k) {
  for (std::uint32_t j = 0; j < n / 16; ++j) {
    for (std::uint32_t i = 0; i < m; i += kRows) {
      float* const tile = c + (static_cast<std::size_t>(j) * m + i) * 16;
      const float* const left = a + static_cast<std::size_t>(i) * k;
      const float* right = b + static_cast<std::size_t>(j) * k * 16;
      Row sum[kRows];
      for (std::uint32_t r = 0; r < kRows; ++r) sum[r] = *reinterpret_cast<const Row*>(tile + r * 16);
      for (std::uint32_t p = 0; p < k; ++p, right += 16) {
        const Row row = *reinterpret_cast<const Row*>(right);
        for (std::uint32_t r = 0; r < kRows; ++r) sum[r] += row * left[static_cast<std::size_t>(r) * k + p];
      }
      for (std::uint32_t r = 0; r < kRows; ++r) *reinterpret_cast<Row*>(tile + r * 16) = sum[r];
    }
  }
}

void portable(float* c, const float* a, const float* b, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  body(c, a, b, m, n, k);
}
#if defined(__x86_64__)
__attribute__((target("avx2"))) void avx2(float* c, const float* a, const float* b, std::uint32_t m, std::uint32_t n,
                                          std::uint32_t k) {
  body(c, a, b, m, n, k);
}
__attribute__((target("avx512f"))) void avx512(float* c, const float* a, const float* b, std::uint32_t m, std::uint32_t n,
                                               std::uint32_t k) {
  body(c, a, b, m, n, k);
}
#endif

auto pick() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return &avx512;
  if (__builtin_cpu_supports("avx2")) return &avx2;
#endif
  return &portable;
}

}  // namespace

void gemm(float* c, const float* a, const float* b, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  static const auto best = pick();
  best(c, a, b, m, n, k);
}

}  // namespace twin
