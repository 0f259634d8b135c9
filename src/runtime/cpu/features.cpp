// SPDX-License-Identifier: Apache-2.0
// cpuid, and xgetbv for what the operating system saves: an AVX-512 processor under a system that does not save ZMM
// registers must not run AVX-512.
#include <cstdint>

#include "runtime/cpu/features.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tessera::runtime {

#if defined(__x86_64__)
namespace {

struct Registers {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0) noexcept {
  Registers r;
  if (!__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx)) return {};
  return r;
}

std::uint64_t xcr0() noexcept {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

constexpr bool bit(std::uint32_t word, int n) { return (word >> n) & 1; }

}  // namespace

CpuFeatures detect_features() noexcept {
  CpuFeatures f;
  const Registers one = cpuid(1), seven = cpuid(7), seven_one = cpuid(7, 1), vendor = cpuid(0);
  const bool saves_state = bit(one.ecx, 27);  // OSXSAVE: xgetbv exists
  const std::uint64_t saved = saves_state ? xcr0() : 0;
  const bool ymm = (saved & 0x06) == 0x06;  // SSE, AVX
  const bool zmm = (saved & 0xe6) == 0xe6;  // and opmask, upper halves of ZMM0-15, ZMM16-31
  f.avx2 = ymm && bit(seven.ebx, 5) && bit(one.ecx, 28);
  f.fma = ymm && bit(one.ecx, 12);
  f.f16c = ymm && bit(one.ecx, 29);
  f.avx512f = zmm && bit(seven.ebx, 16);
  f.avx512dq = zmm && bit(seven.ebx, 17);
  f.avx512bw = zmm && bit(seven.ebx, 30);
  f.avx512vl = zmm && bit(seven.ebx, 31);
  f.avx512bf16 = zmm && bit(seven_one.eax, 5);

  const std::uint32_t base_family = (one.eax >> 8) & 15;
  f.family = base_family + (base_family == 15 ? (one.eax >> 20) & 255 : 0);
  f.amd = vendor.ebx == 0x68747541;  // "Auth"
  return f;
}

void read_brand(char (&brand)[49]) noexcept {
  brand[0] = 0;
  if (cpuid(0x80000000).eax < 0x80000004) return;
  for (std::uint32_t leaf = 0; leaf < 3; ++leaf) {
    const Registers r = cpuid(0x80000002 + leaf);
    const std::uint32_t words[4] = {r.eax, r.ebx, r.ecx, r.edx};
    for (int i = 0; i < 16; ++i)
      brand[leaf * 16 + static_cast<std::uint32_t>(i)] = static_cast<char>(words[i / 4] >> (8 * (i % 4)));
  }
  brand[48] = 0;
}
#else
CpuFeatures detect_features() noexcept { return {}; }
void read_brand(char (&brand)[49]) noexcept { brand[0] = 0; }
#endif

}  // namespace tessera::runtime
