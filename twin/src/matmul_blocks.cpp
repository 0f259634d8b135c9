// SPDX-License-Identifier: Apache-2.0
// A base block of C takes max(cube, MTE2), and FIX too if L0C holds one block only.
#include "matmul_blocks.hpp"

namespace matmul_tiling {
namespace {

// Cycles, from the figures behind devices/910b.device.
constexpr double kL2BytesACycle = 90;     // 3.87 TB/s of 24 cores at 1.8 GHz, 93.8 % L2 hits
constexpr double kLeastCopyCycles = 800;  // of ND to NZ, up to 64 KB
constexpr double kUnaligned = 1.43;       // rows that begin off the line of 512 bytes
constexpr double kFixBytesACycle = 117;
constexpr double kFixLatency = 300, kBlockOverhead = 200;

// The deepest slice of K that both halves of L0 hold; a power of two where it can be, for rows of GM that fill lines.
std::int32_t depth_of(const Problem& p, std::int32_t m, std::int32_t n) {
  const std::int64_t room = p.l0 / (p.double_l0 ? 2 : 1) * 8 / p.bits / std::max(up(m, p.m_align), up(n, p.n_align));
  std::int64_t k = p.k_align;
  while (k * 2 <= room && k * 2 <= 256) k *= 2;
  return room < p.k_align ? 0 : static_cast<std::int32_t>(std::min<std::int64_t>(k, up(p.k, p.k_align)));
}

std::int32_t step_of(const Problem& p, std::int32_t m, std::int32_t n, std::int32_t k) {
  const std::int64_t both = p.bytes((std::int64_t{up(m, p.m_align)} + up(n, p.n_align)) * up(k, p.k_align));
  const std::int64_t most = std::max<std::int64_t>(1, p.l1 / (2 * both));
  std::int64_t step = 1;
  while (step * 2 <= most) step *= 2;
  return static_cast<std::int32_t>(std::min<std::int64_t>(step, parts(p.k, k)));
}

double cycles_of_block(const Problem& p, std::int64_t m, std::int64_t n, const Blocks& b, bool double_c) {
  const double cube =
      double(up(m, 16) / 16) * (up(n, 16) / 16) * std::ceil(double(p.k) / p.k_a_cycle) + 3.0 * parts(p.k, b.k);
  const std::int64_t deep = std::int64_t{b.k} * b.step_k;
  const double chunks = parts(p.k, deep);
  const auto copy = [&](std::int64_t outer, std::int64_t base, std::int64_t single, bool along_k) {
    const std::int64_t bytes = p.bytes(outer * std::min(deep, p.k));
    const bool aligned = p.bytes(along_k ? deep : base) % 512 == 0 && (along_k || p.bytes(single) % 512 == 0);
    return std::max(kLeastCopyCycles, double(bytes) / kL2BytesACycle) * (aligned ? 1 : kUnaligned);
  };
  const double mte2 = chunks * (copy(m, b.m, p.m, !p.a_trans) + copy(n, b.n, p.n, p.b_trans));
  const double fix = double(m * n * p.c_size) / kFixBytesACycle + kFixLatency;
  return kBlockOverhead + (double_c ? std::max({cube, mte2, fix}) : std::max(cube, mte2) + fix);
}

double cycles_of_core(const Problem& p, Blocks* b) {
  const bool double_c = p.double_c && std::int64_t{up(b->m, 16)} * up(b->n, p.n_align) * 8 <= p.l0c;
  const std::int64_t whole_m = p.m / b->m, whole_n = p.n / b->n, rest_m = p.m % b->m, rest_n = p.n % b->n;
  double sum = double(whole_m * whole_n) * cycles_of_block(p, b->m, b->n, *b, double_c);
  if (rest_m) sum += double(whole_n) * cycles_of_block(p, rest_m, b->n, *b, double_c);
  if (rest_n) sum += double(whole_m) * cycles_of_block(p, b->m, rest_n, *b, double_c);
  if (rest_m && rest_n) sum += cycles_of_block(p, rest_m, rest_n, *b, double_c);
  return sum;
}

}  // namespace

Blocks best_blocks(const Problem& p, const Limits& l) {
  Blocks best;
  const std::int32_t last_m = std::min(l.high_m, up(p.m, p.m_align)), last_n = std::min(l.high_n, up(p.n, p.n_align));
  for (std::int32_t m = l.fixed_m > 0 ? l.fixed_m : up(l.low_m, p.m_align);
       m <= (l.fixed_m > 0 ? l.fixed_m : std::min(last_m, 512)); m += p.m_align) {
    for (std::int32_t n = l.fixed_n > 0 ? l.fixed_n : up(l.low_n, p.n_align);
         n <= (l.fixed_n > 0 ? l.fixed_n : std::min(last_n, 512)); n += p.n_align) {
      if (std::int64_t{up(m, p.m_align)} * up(n, p.n_align) * 4 > p.l0c || std::int64_t{m} * n * p.c_size > l.c_bytes ||
          n > l.bias_n)
        continue;
      Blocks b{m, n, l.fixed_k > 0 ? l.fixed_k : std::min(depth_of(p, m, n), l.high_k)};
      if (b.k <= 0 || p.bytes(std::int64_t{std::max(up(m, p.m_align), up(n, p.n_align))} * up(b.k, p.k_align)) > p.l0)
        continue;
      b.step_k = step_of(p, m, n, b.k);
      b.cycles = cycles_of_core(p, &b);
      if (b.cycles < best.cycles) best = b;
    }
  }
  return best;
}

}  // namespace matmul_tiling
