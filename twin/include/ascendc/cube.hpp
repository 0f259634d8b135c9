// SPDX-License-Identifier: Apache-2.0
// Mmad and what sets its mode.
#pragma once

#include "ascendc/load.hpp"

namespace AscendC {

struct MmadParams {
  MmadParams() = default;
  MmadParams(std::uint16_t rows, std::uint16_t columns, std::uint16_t inner, bool bias, std::int32_t offset = 0,
             bool sparse = false, bool winograd_a = false, bool winograd_b = false)
      : m(rows),
        n(columns),
        k(inner),
        isBias(bias),
        fmOffset(offset),
        enSsparse(sparse),
        enWinogradA(winograd_a),
        enWinogradB(winograd_b) {}
  MmadParams(std::uint16_t rows, std::uint16_t columns, std::uint16_t inner, std::uint8_t unit, bool from_bias_table,
             bool zero)
      : m(rows), n(columns), k(inner), unitFlag(unit), cmatrixInitVal(zero), cmatrixSource(from_bias_table) {}
  std::uint16_t m = 0, n = 0, k = 0;
  bool isBias = false;
  std::int32_t fmOffset = 0;
  bool enSsparse = false, enWinogradA = false, enWinogradB = false;
  std::uint8_t unitFlag = 0;
  bool kDirectionAlign = false;  // float: k rounded up to 16 rows; rows past k are not summed here
  bool cmatrixInitVal = true, cmatrixSource = false;
};

template <class C, class A, class B>
TWIN_API void Mmad(const LocalTensor<C>& dst, const LocalTensor<A>& fm, const LocalTensor<B>& filter, const MmadParams& p,
                   Site site = Site::here()) {
  ::twin::MmadCall call{dst.view(), fm.view(), filter.view(), {}, false, p.m, p.n, p.k, p.cmatrixInitVal && !p.isBias,
                        false,      p.unitFlag};
  if (!p.cmatrixInitVal && p.cmatrixSource) {
    call.from_bias = true;  // the BiasTable from its begin
    call.bias.space = ::twin::Space::BT;
    call.bias.dtype = ::twin::DTypeOf<C>::kValue;
  }
  ::twin::cube_mmad(call, site);
}
template <class C, class A, class B, class Bias>
TWIN_API void Mmad(const LocalTensor<C>& dst, const LocalTensor<A>& fm, const LocalTensor<B>& filter,
                   const LocalTensor<Bias>& bias, const MmadParams& p, Site site = Site::here()) {
  ::twin::cube_mmad({dst.view(), fm.view(), filter.view(), bias.view(), true, p.m, p.n, p.k, true, false, p.unitFlag}, site);
}

template <class C, class A, class B>
TWIN_API void MmadWithSparse(const LocalTensor<C>& dst, const LocalTensor<A>& fm, const LocalTensor<B>& filter,
                             const MmadParams& p, Site site = Site::here()) {
  ::twin::cube_mmad_sparse(
      {dst.view(), fm.view(), filter.view(), {}, false, p.m, p.n, p.k, p.cmatrixInitVal, false, p.unitFlag}, site);
}
// Float operands as HF32: 11 bits of mantissa, twice the rate; rounded to nearest, or toward zero.
TWIN_API void SetHF32Mode(bool hf32Mode) { ::twin::set_hf32(hf32Mode); }
TWIN_API void SetHF32TransMode(bool hf32TransMode) { ::twin::set_hf32_rounding(hf32TransMode); }
// Which of m and n a Mmad walks first: its results and, in the model, its time are the same.
TWIN_API void SetMMLayoutTransform(bool mmLayoutMode) { (void)mmLayoutMode; }
TWIN_API void SetMMRowMajor() {}
TWIN_API void SetMMColumnMajor() {}

}  // namespace AscendC
