// SPDX-License-Identifier: Apache-2.0
// Hccl: communication between chips from inside a kernel. The twin has one chip, rank 0 of 1: every collective is a copy.
//   Prepare (AllReduce, AllGather, …) names a task   Commit starts it, once a repeat   Wait until it is done   Finalize
#pragma once

#include "ascendc/system.hpp"
#include "twin/calls_hccl.hpp"

namespace AscendC {

using HcclHandle = std::int8_t;
constexpr std::int32_t HCCL_SUCCESS = 0, HCCL_FAILED = -1;
constexpr std::uint32_t HCCL_GROUP_ID_0 = 0, HCCL_GROUP_ID_1 = 1;

enum HcclDataType {
  HCCL_DATA_TYPE_INT8 = 0,
  HCCL_DATA_TYPE_INT16 = 1,
  HCCL_DATA_TYPE_INT32 = 2,
  HCCL_DATA_TYPE_FP16 = 3,
  HCCL_DATA_TYPE_FP32 = 4,
  HCCL_DATA_TYPE_INT64 = 5,
  HCCL_DATA_TYPE_UINT64 = 6,
  HCCL_DATA_TYPE_UINT8 = 7,
  HCCL_DATA_TYPE_UINT16 = 8,
  HCCL_DATA_TYPE_UINT32 = 9,
  HCCL_DATA_TYPE_FP64 = 10,
  HCCL_DATA_TYPE_BFP16 = 11
};
enum HcclReduceOp { HCCL_REDUCE_SUM = 0, HCCL_REDUCE_PROD = 1, HCCL_REDUCE_MAX = 2, HCCL_REDUCE_MIN = 3 };
enum HcclServerType { HCCL_SERVER_TYPE_AICPU = 0, HCCL_SERVER_TYPE_END };
namespace detail {
enum class HcclCore : std::uint8_t { DEFAULT, ON_AIV, ON_AIC };
}
#ifndef TWIN_OWN_CoreType
using CoreType = detail::HcclCore;
#endif
// Which core the server listens to. TWIN_OWN_<name>: as in norm.hpp.
struct HcclServerConfig {
  detail::HcclCore type;
  std::int64_t blockId;
};
inline constexpr HcclServerConfig DEFAULT_CFG = {detail::HcclCore::DEFAULT, 0};

namespace detail {
inline std::uint64_t bytes_of_type(HcclDataType type) {
  constexpr std::uint8_t kBytes[] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2};
  return static_cast<unsigned>(type) < 12 ? kBytes[type] : 0;
}
inline std::uint8_t* hccl_context(std::uint32_t group) {
  static std::uint8_t contexts[2] = {0, 1};
  return &contexts[group];
}
}  // namespace detail

template <std::uint32_t index>
TWIN_API GM_ADDR GetHcclContext() {
  static_assert(index < 2, "GetHcclContext: a kernel has the contexts 0 and 1");
  return detail::hccl_context(index);
}

template <HcclServerType serverType = HcclServerType::HCCL_SERVER_TYPE_AICPU, const auto& config = DEFAULT_CFG>
class Hccl {
 public:
  TWIN_API void Init(GM_ADDR context, __gm__ void* initTiling = nullptr, Site site = Site::here()) {
    client_.has_tiling = initTiling == nullptr;  // the oldest form has neither
    begin(context, site);
  }
  TWIN_API std::int32_t SetCcTiling(__gm__ void* ccOpTilingData, Site site = Site::here()) {
    return tiling(ccOpTilingData != nullptr, site);
  }
  TWIN_API void InitV2(GM_ADDR context, const void* initTiling, Site site = Site::here()) {
    begin(context, site);
    if (initTiling == nullptr) {
      client_.initialised = false;
      ::twin::refuse_call("Hccl: InitV2 without an initTiling", "the address of what GET_TILING_DATA_WITH_STRUCT gives",
                          site);
    }
  }
  TWIN_API std::int32_t SetCcTilingV2(std::uint64_t offset, Site site = Site::here()) {
    (void)offset;
    return tiling(true, site);
  }

  // ---- tasks. A repeat goes on where the one before ended ----
  template <bool commit = false>
  TWIN_API HcclHandle AllReduce(GM_ADDR sendBuf, GM_ADDR recvBuf, std::uint64_t count, HcclDataType dataType,
                                HcclReduceOp op, std::uint8_t repeat = 1, Site site = Site::here()) {
    return reduces(op, site) ? prepare<commit>("AllReduce", sendBuf, recvBuf, count, dataType, repeat, site)
                             : HcclHandle(-1);
  }
  template <bool commit = false>
  TWIN_API HcclHandle AllGather(GM_ADDR sendBuf, GM_ADDR recvBuf, std::uint64_t sendCount, HcclDataType dataType,
                                std::uint64_t strideCount, std::uint8_t repeat = 1, Site site = Site::here()) {
    return strided(strideCount, sendCount, repeat, site)
               ? prepare<commit>("AllGather", sendBuf, recvBuf, sendCount, dataType, repeat, site)
               : HcclHandle(-1);
  }
  template <bool commit = false>
  TWIN_API HcclHandle ReduceScatter(GM_ADDR sendBuf, GM_ADDR recvBuf, std::uint64_t recvCount, HcclDataType dataType,
                                    HcclReduceOp op, std::uint64_t strideCount, std::uint8_t repeat = 1,
                                    Site site = Site::here()) {
    return reduces(op, site) && strided(strideCount, recvCount, repeat, site)
               ? prepare<commit>("ReduceScatter", sendBuf, recvBuf, recvCount, dataType, repeat, site)
               : HcclHandle(-1);
  }
  template <bool commit = false>
  TWIN_API HcclHandle AlltoAll(GM_ADDR sendBuf, GM_ADDR recvBuf, std::uint64_t dataCount, HcclDataType dataType,
                               std::uint64_t strideCount = 0, std::uint8_t repeat = 1, Site site = Site::here()) {
    return strided(strideCount, dataCount, repeat, site)
               ? prepare<commit>("AlltoAll", sendBuf, recvBuf, dataCount, dataType, repeat, site)
               : HcclHandle(-1);
  }
  template <bool commit = false>
  TWIN_API HcclHandle AlltoAllV(GM_ADDR sendBuf, void* sendCounts, void* sdispls, HcclDataType sendType, GM_ADDR recvBuf,
                                void* recvCounts, void* rdispls, HcclDataType recvType, std::uint8_t repeat = 1,
                                Site site = Site::here()) {
    const auto first = [](const void* array) { return *static_cast<const std::uint64_t*>(array); };  // of one rank
    const std::uint64_t size = detail::bytes_of_type(sendType);
    if (sendType != recvType || first(sendCounts) != first(recvCounts)) {
      ::twin::refuse_call("Hccl: AlltoAllV whose one rank sends itself another count, or type, than it receives",
                          "sendCounts[0] = recvCounts[0], sendType = recvType", site);
      return HcclHandle(-1);
    }
    return prepare<commit>("AlltoAllV", sendBuf + first(sdispls) * size, recvBuf + first(rdispls) * size, first(sendCounts),
                           sendType, repeat, site);
  }
  template <bool commit = false>
  TWIN_API HcclHandle BatchWrite(GM_ADDR batchWriteInfo, std::uint32_t itemNum, std::uint16_t queueID = 0) {
    (void)batchWriteInfo, (void)itemNum, (void)queueID;
    static_assert(!commit && commit, "Hccl: BatchWrite writes to other chips, which the twin does not have");
    return HcclHandle(-1);
  }

  TWIN_API void Commit(HcclHandle handleId, Site site = Site::here()) { ::twin::hccl_commit(client_, handleId, site); }
  TWIN_API std::int32_t Wait(HcclHandle handleId, Site site = Site::here()) {
    return ::twin::hccl_wait(client_, handleId, site);
  }
  TWIN_API std::int32_t Query(HcclHandle handleId, Site site = Site::here()) {
    return ::twin::hccl_query(client_, handleId, site);
  }
  template <bool sync = true>
  TWIN_API void Finalize(Site site = Site::here()) {
    static_assert(sync, "Hccl: Finalize<false> does not exist on the 910B");
    ::twin::hccl_finalize(client_, site);
  }

  TWIN_API GM_ADDR GetWindowsInAddr(std::uint32_t rankId) {
    return rankId == 0 ? ::twin::hccl_window(client_.group, true) : nullptr;
  }
  TWIN_API GM_ADDR GetWindowsOutAddr(std::uint32_t rankId) {
    return rankId == 0 ? ::twin::hccl_window(client_.group, false) : nullptr;
  }
  TWIN_API std::uint32_t GetRankId() const { return 0; }
  TWIN_API std::uint32_t GetRankDim() const { return 1; }

 private:
  void begin(GM_ADDR context, Site site) {
    client_.initialised = context == detail::hccl_context(0) || context == detail::hccl_context(1);
    client_.group = context == detail::hccl_context(1);
    client_.kind = config.type == detail::HcclCore::DEFAULT  ? -1
                   : config.type == detail::HcclCore::ON_AIC ? static_cast<int>(::twin::CoreKind::AIC)
                                                             : static_cast<int>(::twin::CoreKind::AIV);
    client_.block = static_cast<int>(config.blockId);
    if (!client_.initialised)
      ::twin::refuse_call("Hccl: a context that GetHcclContext has not given", "GetHcclContext<0>()", site);
  }
  std::int32_t tiling(bool given, Site site) {
    client_.has_tiling = given;
    if (given && client_.initialised) return HCCL_SUCCESS;
    ::twin::refuse_call(given ? "Hccl: SetCcTiling before Init" : "Hccl: SetCcTiling without a tiling",
                        "InitV2, then SetCcTilingV2(offsetof(TilingData, its Mc2CcTiling))", site);
    return HCCL_FAILED;
  }
  static bool reduces(HcclReduceOp op, Site site) {
    if (static_cast<unsigned>(op) <= HCCL_REDUCE_MIN) return true;
    ::twin::refuse_call("Hccl: an unknown HcclReduceOp", "HCCL_REDUCE_SUM, PROD, MAX or MIN", site);
    return false;
  }
  // From one rank's block to the next: there is one, but blocks of several ranks must not lie over each other.
  static bool strided(std::uint64_t stride, std::uint64_t count, std::uint8_t repeat, Site site) {
    if (stride == 0 || stride >= count * repeat) return true;
    ::twin::refuse_call("Hccl: strideCount is less than the elements of all repeats: the blocks of two ranks would overlap",
                        "strideCount = count x repeat, or 0 without repeats", site);
    return false;
  }
  template <bool commit>
  HcclHandle prepare(const char* what, GM_ADDR send, GM_ADDR receive, std::uint64_t count, HcclDataType type,
                     std::uint8_t repeat, Site site) {
    const std::uint64_t bytes = count * detail::bytes_of_type(type);
    const int handle = ::twin::hccl_prepare(
        client_, {what, reinterpret_cast<std::uint64_t>(send), reinterpret_cast<std::uint64_t>(receive), bytes, repeat},
        site);
    if (commit && handle >= 0) {
      for (std::uint8_t nth = 0; nth < repeat; ++nth) ::twin::hccl_commit(client_, handle, site);
    }
    return static_cast<HcclHandle>(handle);
  }

  ::twin::HcclClient client_;
};

}  // namespace AscendC
