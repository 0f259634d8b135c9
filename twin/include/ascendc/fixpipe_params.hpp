// SPDX-License-Identifier: Apache-2.0
// Fixpipe with the older FixpipeParams: bursts of 16 columns instead of a matrix.
#pragma once

#include "ascendc/fixpipe.hpp"

namespace AscendC {

struct QuantParams {
  QuantParams() = default;
  QuantParams(QuantMode_t quant) : quantPre(quant) {}  // NOLINT: kernels write = {F322F16}
  QuantParams(QuantMode_t quant, std::uint64_t scale) : quantPre(quant), deqScalar(scale) {}
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  std::uint64_t deqScalar = 0;
};
struct Nz2NdParams {
  Nz2NdParams() = default;
  Nz2NdParams(bool row_major, std::uint16_t matrices, std::uint16_t src_matrix, std::uint16_t dst_matrix,
              std::uint16_t columns)
      : nz2ndEn(row_major), ndNum(matrices), srcNdStride(src_matrix), dstNdStride(dst_matrix), originalNSize(columns) {}
  bool nz2ndEn = false;
  std::uint16_t ndNum = 1, srcNdStride = 0, dstNdStride = 0, originalNSize = 0;
};
// cburstNum bursts of 16 columns of the source, burstLen blocks of 32 bytes each: its rows. dstStride: from one burst's end
// to the next begin, in blocks of the destination; row-major, from one row to the next, in elements.
template <class src_T = std::int32_t>
struct FixpipeParams {
  FixpipeParams() = default;
  FixpipeParams(std::uint16_t count, std::uint16_t length, std::uint16_t src, std::uint32_t dst)
      : cburstNum(count), burstLen(length), srcStride(src), dstStride(dst) {}
  std::uint16_t cburstNum = 1, burstLen = 1, srcStride = 0;
  std::uint32_t dstStride = 0;
  QuantParams quantParams;
  bool reluEn = false;
  Nz2NdParams nz2ndParams;
  std::uint8_t unitFlag = 0;
};

namespace detail {
// False, and reported: the source's gap, whose unit the pages do not agree on, and bursts of a part of a row.
template <class D, class S>
bool as_matrix(const FixpipeParams<S>& p, FixpipeParamsV220* out, Site site) {
  constexpr std::uint32_t kBlocksARow = 16 * sizeof(S) / 32;
  if (p.srcStride != 0) {
    ::twin::refuse_call("Fixpipe with FixpipeParams: a srcStride other than 0 is not covered",
                        "use FixpipeParamsV220, whose srcStride counts rows", site);
    return false;
  }
  if (p.burstLen % kBlocksARow != 0) {
    ::twin::refuse_call("Fixpipe with FixpipeParams: burstLen does not hold whole rows of 16 elements",
                        "rows * 16 * sizeof(source) / 32", site);
    return false;
  }
  const std::uint32_t rows = p.burstLen / kBlocksARow, columns = p.cburstNum * 16u;
  const bool row_major = p.nz2ndParams.nz2ndEn;
  out->nSize = static_cast<std::uint16_t>(row_major && p.nz2ndParams.originalNSize ? p.nz2ndParams.originalNSize : columns);
  out->mSize = static_cast<std::uint16_t>(rows);
  out->srcStride = static_cast<std::uint16_t>((rows + 15) / 16 * 16);
  out->dstStride = row_major ? p.dstStride : static_cast<std::uint32_t>(rows * 16 * sizeof(D) / 32) + p.dstStride;
  out->quantPre = p.quantParams.quantPre;
  out->deqScalar = p.quantParams.deqScalar;
  out->reluEn = p.reluEn;
  out->unitFlag = p.unitFlag;
  if (row_major) {
    out->ndNum = p.nz2ndParams.ndNum;
    out->srcNdStride = p.nz2ndParams.srcNdStride;
    out->dstNdStride = p.nz2ndParams.dstNdStride;
  }
  return true;
}
template <class D, class S>
void fixpipe_older(const ::twin::View& dst, const LocalTensor<S>& src, const LocalTensor<std::uint64_t>* scales,
                   const FixpipeParams<S>& p, Site site) {
  FixpipeParamsV220 q;
  if (!as_matrix<D>(p, &q, site)) return;
  const ::twin::FixpipeCall call = fixpipe(dst, src, p.nz2ndParams.nz2ndEn, q);
  if (scales) return fixpipe_with(call, *scales, site);
  ::twin::cube_fixpipe(call, site);
}
}  // namespace detail

template <class T, class S>
TWIN_API void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<S>& src, const FixpipeParams<S>& p,
                      Site site = Site::here()) {
  detail::fixpipe_older<T>(dst.view(), src, nullptr, p, site);
}
template <class T, class S>
TWIN_API void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<S>& src, const FixpipeParams<S>& p,
                      Site site = Site::here()) {
  detail::fixpipe_older<T>(dst.view(), src, nullptr, p, site);
}
template <class T, class S>
TWIN_API void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<S>& src, const LocalTensor<std::uint64_t>& cbufWorkspace,
                      const FixpipeParams<S>& p, Site site = Site::here()) {
  detail::fixpipe_older<T>(dst.view(), src, &cbufWorkspace, p, site);
}
template <class T, class S>
TWIN_API void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<S>& src, const LocalTensor<std::uint64_t>& cbufWorkspace,
                      const FixpipeParams<S>& p, Site site = Site::here()) {
  detail::fixpipe_older<T>(dst.view(), src, &cbufWorkspace, p, site);
}

}  // namespace AscendC
