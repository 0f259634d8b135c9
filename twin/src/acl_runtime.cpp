// SPDX-License-Identifier: Apache-2.0
// Contexts, streams, events and what a program asks about the device. There is one device, and a launch is over when it
// returns.
#include <set>

#include "acl.hpp"
#include "device.hpp"
#include "engine.hpp"
#include "host_lock.hpp"
#include "streams.hpp"
#include "tiling/platform/platform_ascendc.h"

namespace {

using twin::acl_fail;

struct Event {
  bool recorded = false;
  double microseconds = 0;  // of all launches before it, modelled
  twin::Streams::Point behind;
};
std::set<Event*>& events() {
  static std::set<Event*> all;
  return all;
}
Event* event_of(aclrtEvent event) {
  const auto e = events().find(static_cast<Event*>(event));
  return e == events().end() ? nullptr : *e;
}
aclError no_event(const char* function) {
  return acl_fail(ACL_ERROR_INVALID_PARAM, std::string(function) + ": not a live event");
}
int only_context;

const twin::Device& device() {
  const twin::HostLock lock;
  std::string error;
  const twin::Device* d = twin::find_device(twin::settings().device, &error);
  if (!d) {
    std::fprintf(stderr, "twin: %s\n", error.c_str());
    std::exit(2);
  }
  return *d;
}

template <class Copy>
aclError by_rows(const char* function, std::size_t width, std::size_t dst_pitch, std::size_t src_pitch, std::size_t height,
                 Copy&& copy) {
  if (width > dst_pitch || width > src_pitch)
    return acl_fail(ACL_ERROR_INVALID_PARAM, twin::format("%s: width %zu is more than a pitch", function, width));
  for (std::size_t row = 0; row < height; ++row) {
    const aclError error = copy(row);
    if (error != ACL_SUCCESS) return error;
  }
  return ACL_SUCCESS;
}

}  // namespace

extern "C" {

aclError aclrtGetDevice(std::int32_t* id) {
  if (!id) return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice: deviceId is null");
  *id = 0;
  return ACL_SUCCESS;
}
const char* aclrtGetSocName() {
  static const std::string name = "Ascend" + device().name;
  return name.c_str();
}
aclError aclrtGetRunMode(aclrtRunMode* mode) {
  if (!mode) return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetRunMode: runMode is null");
  *mode = ACL_HOST;
  return ACL_SUCCESS;
}
aclError aclrtGetVersion(std::int32_t* major, std::int32_t* minor, std::int32_t* patch) {
  if (!major || !minor || !patch) return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetVersion: a pointer is null");
  *major = 1, *minor = 0, *patch = 0;
  return ACL_SUCCESS;
}
aclError aclrtGetMemInfo(aclrtMemAttr, std::size_t* free, std::size_t* total) {
  if (!free || !total) return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo: a pointer is null");
  *total = static_cast<std::size_t>(device().at("hbm_bytes"));
  *free = *total;
  return ACL_SUCCESS;
}
aclError aclrtSetCurrentContext(aclrtContext) { return ACL_SUCCESS; }
aclError aclrtGetCurrentContext(aclrtContext* context) {
  if (!context) return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext: context is null");
  *context = &only_context;
  return ACL_SUCCESS;
}
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, std::uint32_t, std::uint32_t) { return aclrtCreateStream(stream); }
aclError aclrtDestroyStreamForce(aclrtStream stream) { return aclrtDestroyStream(stream); }
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, std::int32_t) { return aclrtSynchronizeStream(stream); }
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  const twin::HostLock lock;
  const Event* e = event_of(event);
  if (!e) return no_event("aclrtStreamWaitEvent");
  twin::Streams::get().wait(stream, e->behind);
  return ACL_SUCCESS;
}

aclError aclrtCreateEvent(aclrtEvent* event) {
  const twin::HostLock lock;
  if (!event) return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateEvent: event is null");
  *event = *events().insert(new Event).first;
  return ACL_SUCCESS;
}
aclError aclrtCreateEventWithFlag(aclrtEvent* event, std::uint32_t) { return aclrtCreateEvent(event); }
aclError aclrtDestroyEvent(aclrtEvent event) {
  const twin::HostLock lock;
  Event* e = event_of(event);
  if (!e) return no_event("aclrtDestroyEvent");
  events().erase(e);
  delete e;
  return ACL_SUCCESS;
}
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  const twin::HostLock lock;
  Event* e = event_of(event);
  if (!e) return no_event("aclrtRecordEvent");
  *e = {true, twin::modelled_microseconds(), twin::Streams::get().point(stream)};
  return ACL_SUCCESS;
}
aclError aclrtResetEvent(aclrtEvent event, aclrtStream) {
  const twin::HostLock lock;
  Event* e = event_of(event);
  if (!e) return no_event("aclrtResetEvent");
  *e = {};
  return ACL_SUCCESS;
}
aclError aclrtSynchronizeEvent(aclrtEvent event) {
  const twin::HostLock lock;
  const Event* e = event_of(event);
  if (!e) return no_event("aclrtSynchronizeEvent");
  twin::Streams::get().host_waits(e->behind);
  return ACL_SUCCESS;
}
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  const twin::HostLock lock;
  const Event* e = event_of(event);
  if (!e || !status) return no_event("aclrtQueryEventStatus");
  twin::Streams::get().host_waits(e->behind);  // it is told that the event has come
  *status = e->recorded ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return ACL_SUCCESS;
}
aclError aclrtEventElapsedTime(float* ms, aclrtEvent start, aclrtEvent end) {
  const twin::HostLock lock;
  const Event *a = event_of(start), *b = event_of(end);
  if (!ms || !a || !b) return no_event("aclrtEventElapsedTime");
  if (!a->recorded || !b->recorded)
    return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime: an event was not recorded");
  *ms = static_cast<float>((b->microseconds - a->microseconds) / 1000);
  return ACL_SUCCESS;
}

float aclFloat16ToFloat(aclFloat16 value) { return twin::half_to_float(value); }
aclFloat16 aclFloatToFloat16(float value) { return twin::float_to_half(value); }
std::size_t aclDataTypeSize(aclDataType type) {
  switch (type) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
      return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
      return 8;
    default:
      return 0;
  }
}

aclError aclrtMallocAlign32(void** pointer, std::size_t size, aclrtMemMallocPolicy policy) {
  return aclrtMalloc(pointer, size, policy);
}
aclError aclrtMallocCached(void** pointer, std::size_t size, aclrtMemMallocPolicy policy) {
  return aclrtMalloc(pointer, size, policy);
}
aclError aclrtMemFlush(void*, std::size_t) { return ACL_SUCCESS; }
aclError aclrtMemInvalidate(void*, std::size_t) { return ACL_SUCCESS; }
aclError aclrtMemcpy2d(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch, std::size_t width,
                       std::size_t height, aclrtMemcpyKind kind) {
  return by_rows("aclrtMemcpy2d", width, dst_pitch, src_pitch, height, [&](std::size_t row) {
    return aclrtMemcpy(static_cast<char*>(dst) + row * dst_pitch, width, static_cast<const char*>(src) + row * src_pitch,
                       width, kind);
  });
}
aclError aclrtMemcpy2dAsync(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch, std::size_t width,
                            std::size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  return by_rows("aclrtMemcpy2dAsync", width, dst_pitch, src_pitch, height, [&](std::size_t row) {
    return aclrtMemcpyAsync(static_cast<char*>(dst) + row * dst_pitch, width,
                            static_cast<const char*>(src) + row * src_pitch, width, kind, stream);
  });
}

}  // extern "C"

namespace platform_ascendc {

std::uint32_t PlatformAscendC::GetCoreNumAic() const { return static_cast<std::uint32_t>(device().at("cube_cores")); }
std::uint32_t PlatformAscendC::GetCoreNumAiv() const { return static_cast<std::uint32_t>(device().at("vector_cores")); }
void PlatformAscendC::GetCoreMemSize(const CoreMemType& memory, std::uint64_t& size) const {
  const auto key = [&]() -> const char* {
    switch (memory) {
      case CoreMemType::L0_A:
        return "l0a_bytes";
      case CoreMemType::L0_B:
        return "l0b_bytes";
      case CoreMemType::L0_C:
        return "l0c_bytes";
      case CoreMemType::L1:
        return "l1_bytes";
      case CoreMemType::L2:
        return "l2_bytes";
      case CoreMemType::UB:
        return "ub_bytes";
      case CoreMemType::FB:
        return "fb_bytes";
      case CoreMemType::BT:
        return "bt_bytes";
      default:
        return nullptr;
    }
  }();
  size = key ? static_cast<std::uint64_t>(device().at(key)) : 0;
}
void PlatformAscendC::GetCoreMemBw(const CoreMemType& memory, std::uint64_t& bytes_per_cycle) const {
  const double hertz = device().mhz() * 1e6;
  const double rate = memory == CoreMemType::L2    ? device().at("l2_total_bytes_per_second")
                      : memory == CoreMemType::HBM ? device().at("hbm_bytes_per_second")
                                                   : 0;
  bytes_per_cycle = static_cast<std::uint64_t>(rate / hertz / device().at("cube_cores"));
}

}  // namespace platform_ascendc
