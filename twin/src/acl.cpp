// SPDX-License-Identifier: Apache-2.0
#include "acl.hpp"

#include <cstdlib>
#include <cstring>

#include "engine.hpp"
#include "host_lock.hpp"
#include "streams.hpp"

namespace {

thread_local std::string last_error;
using twin::acl_fail;

// One aclrtMemcpy side that must be device memory: inside one live allocation.
bool on_device(const void* pointer, std::size_t bytes) {
  const twin::Memory* m = twin::GlobalMemory::get().find(reinterpret_cast<std::uint64_t>(pointer));
  return m && reinterpret_cast<std::uint64_t>(pointer) - reinterpret_cast<std::uint64_t>(m->data) + bytes <= m->bytes;
}

bool to_device(aclrtMemcpyKind kind) { return kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE; }
bool from_device(aclrtMemcpyKind kind) { return kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE; }

aclError copy(const char* function, void* dst, std::size_t room, const void* src, std::size_t count, aclrtMemcpyKind kind) {
  if (!dst || !src) return acl_fail(ACL_ERROR_INVALID_PARAM, twin::format("%s: a pointer is null", function));
  if (count > room)
    return acl_fail(ACL_ERROR_INVALID_PARAM, twin::format("%s: count %zu is more than destMax %zu", function, count, room));
  if (to_device(kind) && !on_device(dst, count))
    return acl_fail(ACL_ERROR_INVALID_PARAM, twin::format("%s: dst is not inside device memory", function));
  if (from_device(kind) && !on_device(src, count))
    return acl_fail(ACL_ERROR_INVALID_PARAM, twin::format("%s: src is not inside device memory", function));
  std::memcpy(dst, src, count);
  if (to_device(kind)) twin::GlobalMemory::get().mark_defined(dst, count);
  return ACL_SUCCESS;
}
aclError fill(const char* function, void* pointer, std::size_t room, std::int32_t value, std::size_t count) {
  if (count > room)
    return acl_fail(ACL_ERROR_INVALID_PARAM, twin::format("%s: count %zu is more than maxCount %zu", function, count, room));
  if (!on_device(pointer, count))
    return acl_fail(ACL_ERROR_INVALID_PARAM, twin::format("%s: not inside device memory", function));
  std::memset(pointer, value, count);
  twin::GlobalMemory::get().mark_defined(pointer, count);
  return ACL_SUCCESS;
}

}  // namespace

aclError twin::acl_fail(aclError code, std::string why) {
  last_error = std::move(why);
  return code;
}

extern "C" {

aclError aclInit(const char*) {
  twin::settings();
  return ACL_SUCCESS;
}
aclError aclFinalize() { return aclrtSynchronizeDevice(); }
aclError aclrtSetDevice(std::int32_t) { return ACL_SUCCESS; }
aclError aclrtResetDevice(std::int32_t) { return aclrtSynchronizeDevice(); }
aclError aclrtGetDeviceCount(std::uint32_t* count) {
  if (!count) return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount: count is null");
  *count = 1;
  return ACL_SUCCESS;
}
aclError aclrtCreateContext(aclrtContext* context, std::int32_t) {
  static int only;
  if (!context) return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext: context is null");
  *context = &only;
  return ACL_SUCCESS;
}
aclError aclrtDestroyContext(aclrtContext) { return ACL_SUCCESS; }
aclError aclrtCreateStream(aclrtStream* stream) {
  const twin::HostLock lock;
  if (!stream) return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateStream: stream is null");
  *stream = const_cast<void*>(twin::Streams::get().create());
  return ACL_SUCCESS;
}
aclError aclrtDestroyStream(aclrtStream stream) {
  const twin::HostLock lock;
  twin::Streams::get().destroy(stream);
  return ACL_SUCCESS;
}
aclError aclrtSynchronizeStream(aclrtStream stream) {
  const twin::HostLock lock;
  twin::Streams::get().host_waits(stream);
  return ACL_SUCCESS;
}
aclError aclrtSynchronizeDevice() {
  const twin::HostLock lock;
  twin::Streams::get().host_waits_for_all();
  return ACL_SUCCESS;
}

aclError aclrtMalloc(void** pointer, std::size_t size, aclrtMemMallocPolicy) {
  const twin::HostLock lock;
  if (!pointer || size == 0) return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtMalloc: devPtr is null or size is 0");
  *pointer = twin::GlobalMemory::get().allocate(size, "aclrtMalloc");
  return *pointer ? ACL_SUCCESS : acl_fail(ACL_ERROR_BAD_ALLOC, twin::format("aclrtMalloc: no memory for %zu bytes", size));
}
aclError aclrtFree(void* pointer) {
  const twin::HostLock lock;
  return twin::GlobalMemory::get().release(pointer)
             ? ACL_SUCCESS
             : acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtFree: not a live pointer of aclrtMalloc");
}
aclError aclrtMallocHost(void** pointer, std::size_t size) {
  if (!pointer || size == 0) return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtMallocHost: hostPtr is null or size is 0");
  *pointer = std::malloc(size);
  return *pointer ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}
aclError aclrtFreeHost(void* pointer) {
  std::free(pointer);
  return ACL_SUCCESS;
}
aclError aclrtMemcpy(void* dst, std::size_t room, const void* src, std::size_t count, aclrtMemcpyKind kind) {
  const twin::HostLock lock;
  const aclError error = copy("aclrtMemcpy", dst, room, src, count, kind);
  if (error != ACL_SUCCESS) return error;
  if (from_device(kind)) twin::Streams::get().host_accesses("aclrtMemcpy", src, count, false);
  if (to_device(kind)) twin::Streams::get().host_accesses("aclrtMemcpy", dst, count, true);
  return ACL_SUCCESS;
}
aclError aclrtMemcpyAsync(void* dst, std::size_t room, const void* src, std::size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  const twin::HostLock lock;
  const aclError error = copy("aclrtMemcpyAsync", dst, room, src, count, kind);
  if (error != ACL_SUCCESS) return error;
  if (from_device(kind)) twin::Streams::get().stream_accesses("aclrtMemcpyAsync", stream, src, count, false);
  if (to_device(kind)) twin::Streams::get().stream_accesses("aclrtMemcpyAsync", stream, dst, count, true);
  return ACL_SUCCESS;
}
aclError aclrtMemset(void* pointer, std::size_t room, std::int32_t value, std::size_t count) {
  const twin::HostLock lock;
  const aclError error = fill("aclrtMemset", pointer, room, value, count);
  if (error == ACL_SUCCESS) twin::Streams::get().host_accesses("aclrtMemset", pointer, count, true);
  return error;
}
aclError aclrtMemsetAsync(void* pointer, std::size_t room, std::int32_t value, std::size_t count, aclrtStream stream) {
  const twin::HostLock lock;
  const aclError error = fill("aclrtMemsetAsync", pointer, room, value, count);
  if (error == ACL_SUCCESS) twin::Streams::get().stream_accesses("aclrtMemsetAsync", stream, pointer, count, true);
  return error;
}
const char* aclGetRecentErrMsg() { return last_error.c_str(); }

}  // extern "C"

namespace AscendC {

// The vendor's CPU mode lets the host write into this memory directly, so its bytes count as written.
void* GmAlloc(std::size_t size) {
  const twin::HostLock lock;
  void* pointer = twin::GlobalMemory::get().allocate(size, "GmAlloc");
  if (!pointer) return nullptr;
  twin::GlobalMemory::get().mark_defined(pointer, size);
  twin::GlobalMemory::get().find(reinterpret_cast<std::uint64_t>(pointer))->of_the_host = true;
  return pointer;
}
void GmFree(void* pointer) {
  const twin::HostLock lock;
  twin::GlobalMemory::get().release(pointer);
}

}  // namespace AscendC
