// SPDX-License-Identifier: Apache-2.0
// What the host says of a kernel's communication. The twin's kernels see one chip, whatever it says.
#pragma once

#include <cstdint>
#include <string>

#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {

class Mc2CcTilingConfig {
 public:
  Mc2CcTilingConfig(const std::string& groupName, std::uint32_t opType, const std::string& algConfig,
                    std::uint32_t reduceType = 0, std::uint8_t dstDataType = 0, std::uint8_t srcDataType = 0)
      : group_(groupName), algorithm_(algConfig), op_(opType) {
    SetReduceType(reduceType, dstDataType, srcDataType);
  }
  std::uint32_t GetTiling(::Mc2InitTiling& tiling) const {
    tiling.reserved[0] = 1;
    return wrong();
  }
  std::uint32_t GetTiling(::Mc2CcTiling& tiling) const {
    tiling.reserved[0] = 1;
    tiling.reserved[1] = static_cast<std::uint8_t>(op_);
    tiling.reserved[2] = static_cast<std::uint8_t>(reduce_);
    return wrong();
  }
  std::uint32_t SetOpType(std::uint32_t opType) { return op_ = opType, wrong(); }
  std::uint32_t SetGroupName(const std::string& groupName) { return group_ = groupName, wrong(); }
  std::uint32_t SetAlgConfig(const std::string& algConfig) { return algorithm_ = algConfig, wrong(); }
  std::uint32_t SetReduceType(std::uint32_t reduceType, std::uint8_t dstDataType = 0, std::uint8_t srcDataType = 0) {
    (void)dstDataType;
    (void)srcDataType;
    return reduce_ = reduceType, wrong();
  }
  // How the chips exchange their data: of no consequence for one.
  std::uint32_t SetStepSize(std::uint8_t) { return wrong(); }
  std::uint32_t SetSkipLocalRankCopy(std::uint8_t) { return wrong(); }
  std::uint32_t SetSkipBufferWindowCopy(std::uint8_t) { return wrong(); }
  std::uint32_t SetDebugMode(std::uint8_t) { return wrong(); }

 private:
  std::uint32_t wrong() const { return group_.empty() || group_.size() > 127 || op_ == 0 ? 1 : 0; }  // 0: success
  std::string group_, algorithm_;
  std::uint32_t op_, reduce_ = 0;
};

}  // namespace AscendC
