// SPDX-License-Identifier: Apache-2.0
// Compiled once per ISA with TESSERA_UNFUSED_TABLE naming its table and TESSERA_UNFUSED_LANES the floats of a vector.
// Loads and stores are unaligned: rows of S need not be a multiple of the vector.
#include "cli/unfused_steps.hpp"

namespace tessera::cli {
namespace {

constexpr std::int64_t kLanes = TESSERA_UNFUSED_LANES;
typedef float Vec __attribute__((vector_size(4 * TESSERA_UNFUSED_LANES)));
typedef float VecU __attribute__((vector_size(4 * TESSERA_UNFUSED_LANES), aligned(4), may_alias));
typedef int IVec __attribute__((vector_size(4 * TESSERA_UNFUSED_LANES)));

constexpr std::int64_t kRows = TESSERA_UNFUSED_LANES == 16 ? 8 : 3;  // of a tile: 16 (of 32) or 12 (of 16) accumulators
constexpr std::int64_t kVectors = kPanel / kLanes;
constexpr std::int64_t kDepth = 256;  // a panel's part, 256 x 32 floats, fills a 32 KB L1

inline Vec load(const float* p) { return *reinterpret_cast<const VecU*>(p); }
inline void store(float* p, Vec x) { *reinterpret_cast<VecU*>(p) = x; }

void pack(const float* b, std::int64_t row, std::int64_t col, std::int64_t depth, std::int64_t cols, float* panels) {
  for (std::int64_t c0 = 0; c0 < cols; c0 += kPanel) {
    for (std::int64_t k = 0; k < depth; ++k, panels += kPanel) {
      for (std::int64_t c = 0; c < kPanel; ++c) panels[c] = c0 + c < cols ? b[k * row + (c0 + c) * col] : 0.0f;
    }
  }
}

// `rows` x 32 columns of C; adds to C unless `first`.
template <std::int64_t rows>
void tile(const float* a, std::int64_t lda, const float* b, float* c, std::int64_t ldc, std::int64_t cols,
          std::int64_t depth, float scale, bool first) {
  Vec sum[rows][kVectors] = {};
  for (std::int64_t k = 0; k < depth; ++k, b += kPanel) {
    Vec column[kVectors];
    for (std::int64_t v = 0; v < kVectors; ++v) column[v] = load(b + v * kLanes);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t v = 0; v < kVectors; ++v) sum[r][v] += a[r * lda + k] * column[v];
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    float line[kPanel];
    for (std::int64_t v = 0; v < kVectors; ++v) store(line + v * kLanes, sum[r][v] * scale);
    if (cols == kPanel) {
      for (std::int64_t v = 0; v < kVectors; ++v) {
        float* to = c + r * ldc + v * kLanes;
        store(to, first ? load(line + v * kLanes) : load(to) + load(line + v * kLanes));
      }
    } else {
      for (std::int64_t j = 0; j < cols; ++j) c[r * ldc + j] = first ? line[j] : c[r * ldc + j] + line[j];
    }
  }
}

void multiply(const float* a, std::int64_t lda, const float* panels, float* c, std::int64_t ldc, std::int64_t rows,
              std::int64_t cols, std::int64_t depth, float scale) {
  for (std::int64_t k0 = 0; k0 < depth; k0 += kDepth) {
    const auto part = depth - k0 < kDepth ? depth - k0 : kDepth;
    for (std::int64_t c0 = 0; c0 < cols; c0 += kPanel) {
      const float* b = panels + c0 * depth + k0 * kPanel;
      const auto width = cols - c0 < kPanel ? cols - c0 : kPanel;
      std::int64_t r = 0;
      for (; r + kRows <= rows; r += kRows)
        tile<kRows>(a + r * lda + k0, lda, b, c + r * ldc + c0, ldc, width, part, scale, k0 == 0);
      for (; r < rows; ++r) tile<1>(a + r * lda + k0, lda, b, c + r * ldc + c0, ldc, width, part, scale, k0 == 0);
    }
  }
}

// exp(x) for x <= 0: 2^n times a polynomial of degree 6 in the fraction (Cephes expf), about 1 ulp.
inline Vec exp_negative(Vec x) {
  const Vec low = Vec{} - 87.0f;
  x = x < low ? low : x;
  const IVec n = __builtin_convertvector(x * 1.44269504f - 0.5f, IVec);  // truncation: rounds negatives to nearest
  const Vec nf = __builtin_convertvector(n, Vec);
  const Vec f = (x - nf * 0.693359375f) - nf * -2.12194440e-4f;
  constexpr float kCoefficients[] = {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f,
                                     5.0000001201e-1f};
  Vec p = Vec{} + 1.9875691500e-4f;
  for (const float coefficient : kCoefficients) p = p * f + coefficient;
  const IVec power = (n + 127) << 23;
  return (p * f * f + f + 1.0f) * (Vec)power;  // a cast between vectors of one size keeps the bits
}

void softmax(float* s, std::int64_t n, std::int64_t begin, std::int64_t end) {
  for (std::int64_t j = 0; j < begin; ++j) s[j] = 0;
  for (std::int64_t j = end; j < n; ++j) s[j] = 0;
  if (begin >= end) return;
  float most = s[begin];
  std::int64_t j = begin;
  if (end - begin >= kLanes) {
    Vec top = load(s + begin);
    for (j = begin + kLanes; j + kLanes <= end; j += kLanes) top = load(s + j) > top ? load(s + j) : top;
    for (std::int64_t lane = 0; lane < kLanes; ++lane) most = top[lane] > most ? top[lane] : most;
  }
  for (; j < end; ++j) most = s[j] > most ? s[j] : most;

  Vec sums = {};
  for (j = begin; j + kLanes <= end; j += kLanes) {
    const Vec p = exp_negative(load(s + j) - most);
    sums += p;
    store(s + j, p);
  }
  float sum = 0;
  for (std::int64_t lane = 0; lane < kLanes; ++lane) sum += sums[lane];
  for (; j < end; ++j) sum += s[j] = exp_negative(Vec{} + (s[j] - most))[0];
  const float inverse = 1 / sum;
  for (j = begin; j < end; ++j) s[j] *= inverse;
}

}  // namespace

extern const UnfusedSteps TESSERA_UNFUSED_TABLE;
const UnfusedSteps TESSERA_UNFUSED_TABLE = {pack, multiply, softmax};

}  // namespace tessera::cli
