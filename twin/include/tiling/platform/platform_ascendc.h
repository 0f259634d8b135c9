// SPDX-License-Identifier: Apache-2.0
// What host tiling asks of the platform: the numbers of the device that the twin models (TWIN=device=...).
#pragma once

#include <cstdint>

namespace platform_ascendc {

enum class CoreMemType : std::uint8_t { L0_A, L0_B, L0_C, L1, L2, UB, HBM, FB, BT, RESERVED };
enum class SocVersion : std::uint8_t { ASCEND910 = 0, ASCEND910B, ASCEND310P, ASCEND310B, ASCEND910_95, RESERVED_VERSION };

class PlatformAscendC {
 public:
  PlatformAscendC() = default;
  template <class Info>
  explicit PlatformAscendC(const Info*) {}  // the context's platform: there is one
  std::uint32_t GetCoreNum() const { return GetCoreNumAiv(); }
  std::uint32_t GetCoreNumAic() const;
  std::uint32_t GetCoreNumAiv() const;
  std::uint32_t GetCoreNumVector() const { return 0; }  // separate vector cores, which the 910B has not
  std::uint32_t CalcTschBlockDim(std::uint32_t sliceNum, std::uint32_t aicCoreNum, std::uint32_t aivCoreNum) const {
    return aicCoreNum == 0 || aivCoreNum == 0 ? sliceNum
                                              : (sliceNum + aivCoreNum / aicCoreNum - 1) / (aivCoreNum / aicCoreNum);
  }
  void GetCoreMemSize(const CoreMemType& memory, std::uint64_t& size) const;
  void GetCoreMemBw(const CoreMemType& memory, std::uint64_t& bytes_per_cycle) const;
  std::uint32_t GetLibApiWorkSpaceSize() const { return 16 * 1024 * 1024; }
  // Enough for any GroupBarrier: 512 bytes for each vector core that may wait.
  std::uint64_t GetResGroupBarrierWorkSpaceSize() const { return std::uint64_t{512} * GetCoreNumAiv(); }
  SocVersion GetSocVersion() const { return SocVersion::ASCEND910B; }
};

class PlatformAscendCManager {
 public:
  static PlatformAscendC* GetInstance() {
    static PlatformAscendC only;
    return &only;
  }
  static PlatformAscendC* GetInstance(const char*) { return GetInstance(); }
};

}  // namespace platform_ascendc
