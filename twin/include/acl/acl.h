// SPDX-License-Identifier: Apache-2.0
// The host side of a kernel: devices, streams and memory. A launch runs at once; what streams and
// events do not order is reported (docs/twin_races.md).
#pragma once

#include <cstddef>
#include <cstdint>

using aclError = int;
using aclrtStream = void*;
using aclrtContext = void*;
using aclrtEvent = void*;
using aclFloat16 = std::uint16_t;
inline constexpr aclError ACL_SUCCESS = 0;
inline constexpr aclError ACL_ERROR_NONE = 0;
inline constexpr aclError ACL_ERROR_INVALID_PARAM = 100000;
inline constexpr aclError ACL_ERROR_BAD_ALLOC = 200000;

enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST,
  ACL_MEM_MALLOC_HUGE_ONLY,
  ACL_MEM_MALLOC_NORMAL_ONLY,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P
};
enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST,
  ACL_MEMCPY_HOST_TO_DEVICE,
  ACL_MEMCPY_DEVICE_TO_HOST,
  ACL_MEMCPY_DEVICE_TO_DEVICE
};

enum aclDataType {
  ACL_DT_UNDEFINED = -1,
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  ACL_BOOL = 12,
  ACL_BF16 = 27
};
enum aclrtMemAttr { ACL_DDR_MEM, ACL_HBM_MEM };
enum aclrtRunMode { ACL_DEVICE, ACL_HOST };
enum aclrtEventRecordedStatus { ACL_EVENT_RECORDED_STATUS_NOT_READY, ACL_EVENT_RECORDED_STATUS_COMPLETE };
inline constexpr std::uint32_t ACL_STREAM_FAST_LAUNCH = 1, ACL_STREAM_FAST_SYNC = 2;
inline constexpr std::uint32_t ACL_EVENT_SYNC = 1, ACL_EVENT_CAPTURE_STREAM_PROGRESS = 2, ACL_EVENT_TIME_LINE = 8;

extern "C" {
aclError aclInit(const char* configPath);
aclError aclFinalize();
aclError aclrtSetDevice(std::int32_t deviceId);
aclError aclrtResetDevice(std::int32_t deviceId);
aclError aclrtGetDeviceCount(std::uint32_t* count);
aclError aclrtGetDevice(std::int32_t* deviceId);
const char* aclrtGetSocName();
aclError aclrtGetRunMode(aclrtRunMode* runMode);
aclError aclrtGetVersion(std::int32_t* major, std::int32_t* minor, std::int32_t* patch);
aclError aclrtGetMemInfo(aclrtMemAttr attr, std::size_t* free, std::size_t* total);
aclError aclrtSetCurrentContext(aclrtContext context);
aclError aclrtGetCurrentContext(aclrtContext* context);
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, std::uint32_t priority, std::uint32_t flag);
aclError aclrtDestroyStreamForce(aclrtStream stream);
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, std::int32_t timeout);
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
// Events know the modelled time of the launches before them.
aclError aclrtCreateEvent(aclrtEvent* event);
aclError aclrtCreateEventWithFlag(aclrtEvent* event, std::uint32_t flag);
aclError aclrtDestroyEvent(aclrtEvent event);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtSynchronizeEvent(aclrtEvent event);
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);
aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent);
float aclFloat16ToFloat(aclFloat16 value);
aclFloat16 aclFloatToFloat16(float value);
std::size_t aclDataTypeSize(aclDataType dataType);
aclError aclrtCreateContext(aclrtContext* context, std::int32_t deviceId);
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtCreateStream(aclrtStream* stream);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
aclError aclrtSynchronizeDevice();
aclError aclrtMalloc(void** devPtr, std::size_t size, aclrtMemMallocPolicy policy);
aclError aclrtMallocAlign32(void** devPtr, std::size_t size, aclrtMemMallocPolicy policy);
aclError aclrtMallocCached(void** devPtr, std::size_t size, aclrtMemMallocPolicy policy);
aclError aclrtMemFlush(void* devPtr, std::size_t size);
aclError aclrtMemInvalidate(void* devPtr, std::size_t size);
aclError aclrtFree(void* devPtr);
aclError aclrtMallocHost(void** hostPtr, std::size_t size);
aclError aclrtFreeHost(void* hostPtr);
aclError aclrtMemcpy(void* dst, std::size_t destMax, const void* src, std::size_t count, aclrtMemcpyKind kind);
aclError aclrtMemcpyAsync(void* dst, std::size_t destMax, const void* src, std::size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream);
aclError aclrtMemcpy2d(void* dst, std::size_t dpitch, const void* src, std::size_t spitch, std::size_t width,
                       std::size_t height, aclrtMemcpyKind kind);
aclError aclrtMemcpy2dAsync(void* dst, std::size_t dpitch, const void* src, std::size_t spitch, std::size_t width,
                            std::size_t height, aclrtMemcpyKind kind, aclrtStream stream);
aclError aclrtMemset(void* devPtr, std::size_t maxCount, std::int32_t value, std::size_t count);
aclError aclrtMemsetAsync(void* devPtr, std::size_t maxCount, std::int32_t value, std::size_t count, aclrtStream stream);
const char* aclGetRecentErrMsg();
}
