// SPDX-License-Identifier: Apache-2.0
// DataCopy of slices of many dimensions, out of Nz, and with the enhanced parameters.
#pragma once

#include <vector>

#include "ascendc/move.hpp"

namespace AscendC {

// One dimension of a slice, innermost first. Dimension 0 takes bursts of burstLen blocks of 32 bytes, stride elements apart;
// the others take single lines, stride lines apart. shapeValue: the tensor's own length here.
struct SliceInfo {
  SliceInfo() = default;
  SliceInfo(std::uint32_t start, std::uint32_t end, std::uint32_t gap, std::uint32_t burst, std::uint32_t shape = 0)
      : startIndex(start), endIndex(end), stride(gap), burstLen(burst), shapeValue(shape) {}
  std::uint32_t startIndex = 0, endIndex = 0, stride = 0, burstLen = 1, shapeValue = 0;
};
enum class BlockMode : std::uint8_t { BLOCK_MODE_NORMAL, BLOCK_MODE_MATRIX, BLOCK_MODE_VECTOR, BLOCK_MODE_SMALL_CHANNEL };
enum class DeqScale : std::uint8_t { DEQ_NONE, DEQ, VDEQ, DEQ8, VDEQ8, DEQ16, VDEQ16 };
struct DataCopyEnhancedParams {
  BlockMode blockMode = BlockMode::BLOCK_MODE_NORMAL;
  DeqScale deqScale = DeqScale::DEQ_NONE;
  std::uint64_t deqValue = 0;
  std::uint8_t sidStoreMode = 0;
  bool isRelu = false;
  std::uint8_t padMode = 0;
  std::uint64_t padValue = 0;
};
struct Nz2NdParamsFull {  // strides of the source in units of 16 elements and of 256, of the destination in elements
  Nz2NdParamsFull() = default;
  Nz2NdParamsFull(std::uint16_t nd, std::uint16_t n, std::uint16_t d, std::uint16_t src_matrix, std::uint16_t src_n,
                  std::uint16_t dst_row, std::uint16_t dst_matrix)
      : ndNum(nd),
        nValue(n),
        dValue(d),
        srcNdMatrixStride(src_matrix),
        srcNStride(src_n),
        dstDStride(dst_row),
        dstNdMatrixStride(dst_matrix) {}
  std::uint16_t ndNum = 1, nValue = 0, dValue = 0, srcNdMatrixStride = 1, srcNStride = 0, dstDStride = 0,
                dstNdMatrixStride = 1;
};

namespace detail {
// The first bytes of the bursts of a slice, in order, and how long a burst is.
template <class T>
std::vector<std::uint64_t> bursts(const SliceInfo slices[], std::uint32_t dims, std::uint64_t* bytes) {
  std::vector<std::uint64_t> at{0};
  std::uint64_t line = sizeof(T);  // bytes of an element of the dimension at hand
  std::vector<std::vector<std::uint64_t>> steps(dims);
  *bytes = std::uint64_t{slices[0].burstLen} * 32;
  for (std::uint32_t d = 0; d < dims; ++d) {
    const std::uint64_t length = d == 0 ? *bytes / sizeof(T) : 1;
    for (std::uint64_t k = slices[d].startIndex; k + length <= std::uint64_t{slices[d].endIndex} + 1;
         k += length + slices[d].stride)
      steps[d].push_back(k * line);
    line *= slices[d].shapeValue ? slices[d].shapeValue : std::uint64_t{slices[d].endIndex} + 1;
  }
  for (std::uint32_t d = dims; d-- > 0;) {
    std::vector<std::uint64_t> next;
    for (const std::uint64_t outer : at) {
      for (const std::uint64_t inner : steps[d]) next.push_back(outer + inner);
    }
    at = next;
  }
  return at;
}
template <class T>
void copy_slices(const ::twin::View& dst, const ::twin::View& src, const SliceInfo to[], const SliceInfo from[],
                 std::uint32_t dims, Site site) {
  std::uint64_t bytes = 0, source_bytes = 0;
  const auto d = bursts<T>(to, dims, &bytes), s = bursts<T>(from, dims, &source_bytes);
  std::vector<::twin::Piece> pieces;
  for (std::size_t k = 0; k < d.size() && k < s.size(); ++k) pieces.push_back({d[k], s[k], bytes});
  if (d.size() != s.size() || bytes != source_bytes) {
    return ::twin::refuse_call("DataCopy (slices): the two slices do not have the same bursts",
                               "give both as many bursts of one burstLen", site);
  }
  ::twin::move_pieces(dst, src, pieces.data(), static_cast<std::uint32_t>(pieces.size()), "DataCopy (slices)", site);
}
inline void need_plain(const DataCopyEnhancedParams& e, Site site) {
  if (e.blockMode != BlockMode::BLOCK_MODE_NORMAL || e.isRelu || e.deqScale != DeqScale::DEQ_NONE)
    ::twin::refuse_call("DataCopy with enhanced parameters: the 910B moves plain blocks (BLOCK_MODE_NORMAL) only",
                        "convert with Fixpipe on the way out of L0C", site);
}
}  // namespace detail

template <class T>
TWIN_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const SliceInfo dstSliceInfo[],
                       const SliceInfo srcSliceInfo[], const std::uint32_t dimValue = 1, Site site = Site::here()) {
  detail::copy_slices<T>(dst.view(), src.view(), dstSliceInfo, srcSliceInfo, dimValue, site);
}
template <class T>
TWIN_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const SliceInfo dstSliceInfo[],
                       const SliceInfo srcSliceInfo[], const std::uint32_t dimValue = 1, Site site = Site::here()) {
  detail::copy_slices<T>(dst.view(), src.view(), dstSliceInfo, srcSliceInfo, dimValue, site);
}
template <class T>
TWIN_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& p,
                       const DataCopyEnhancedParams& enhanced, Site site = Site::here()) {
  detail::need_plain(enhanced, site);
  DataCopy(dst, src, p, site);
}
template <class T>
TWIN_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& p,
                       const DataCopyEnhancedParams& enhanced, Site site = Site::here()) {
  detail::need_plain(enhanced, site);
  DataCopy(dst, src, p, site);
}
template <class T, class U>
TWIN_API void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& p,
                       const DataCopyEnhancedParams& enhanced, Site site = Site::here()) {
  detail::need_plain(enhanced, site);
  DataCopy(dst, src, p, site);
}
// Fractals of 16 columns, one column of fractals after another, become rows.
template <class T>
TWIN_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const Nz2NdParamsFull& p,
                       Site site = Site::here()) {
  std::vector<::twin::Piece> pieces;
  for (std::uint64_t q = 0; q < p.ndNum; ++q) {
    for (std::uint64_t r = 0; r < p.nValue; ++r) {
      for (std::uint64_t j = 0; j < p.dValue / 16u; ++j)
        pieces.push_back({(q * p.dstNdMatrixStride + r * p.dstDStride + j * 16) * sizeof(T),
                          (q * p.srcNdMatrixStride * 256 + j * p.srcNStride * 16 + r * 16) * sizeof(T), 16 * sizeof(T)});
    }
  }
  ::twin::move_pieces(dst.view(), src.view(), pieces.data(), static_cast<std::uint32_t>(pieces.size()),
                      "DataCopy (NZ to ND)", site);
}

}  // namespace AscendC
