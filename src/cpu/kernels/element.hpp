// SPDX-License-Identifier: Apache-2.0
// Rows of Q, K, V and O as vectors of float, by dtype.
#pragma once

#include "cpu/kernels/kernel.hpp"
#include "cpu/simd/simd.hpp"

namespace tessera::cpu::TESSERA_ISA_NAME {

/// kWidth elements at p, as floats. The _n forms read or write the first n (0 to kWidth) and touch nothing else.
template <DTypeIndex>
struct Element;

template <>
struct Element<DTypeIndex::f32> {
  static constexpr int kBytes = 4;
  TESSERA_INLINE F read(const std::byte* p) { return load(reinterpret_cast<const float*>(p)); }
  TESSERA_INLINE F read_n(const std::byte* p, int n) { return load_n(reinterpret_cast<const float*>(p), n); }
  TESSERA_INLINE void write(std::byte* p, F a) { store(reinterpret_cast<float*>(p), a); }
  TESSERA_INLINE void write_n(std::byte* p, F a, int n) { store_n(reinterpret_cast<float*>(p), a, n); }
};

template <>
struct Element<DTypeIndex::f16> {
  static constexpr int kBytes = 2;
  TESSERA_INLINE F read(const std::byte* p) { return load_f16(reinterpret_cast<const std::uint16_t*>(p)); }
  TESSERA_INLINE F read_n(const std::byte* p, int n) { return load_f16_n(reinterpret_cast<const std::uint16_t*>(p), n); }
  TESSERA_INLINE void write(std::byte* p, F a) { store_f16(reinterpret_cast<std::uint16_t*>(p), a); }
  TESSERA_INLINE void write_n(std::byte* p, F a, int n) { store_f16_n(reinterpret_cast<std::uint16_t*>(p), a, n); }
};

template <>
struct Element<DTypeIndex::bf16> {
  static constexpr int kBytes = 2;
  TESSERA_INLINE F read(const std::byte* p) { return load_bf16(reinterpret_cast<const std::uint16_t*>(p)); }
  TESSERA_INLINE F read_n(const std::byte* p, int n) { return load_bf16_n(reinterpret_cast<const std::uint16_t*>(p), n); }
  TESSERA_INLINE void write(std::byte* p, F a) { store_bf16(reinterpret_cast<std::uint16_t*>(p), a); }
  TESSERA_INLINE void write_n(std::byte* p, F a, int n) { store_bf16_n(reinterpret_cast<std::uint16_t*>(p), a, n); }
};

template <class Int>
TESSERA_INLINE Int round_up(Int n, int multiple) {
  const Int m = static_cast<Int>(multiple);
  return (n + m - 1) / m * m;
}

}  // namespace tessera::cpu::TESSERA_ISA_NAME
