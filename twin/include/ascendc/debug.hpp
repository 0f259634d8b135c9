// SPDX-License-Identifier: Apache-2.0
// Printing, dumps and assertions inside a kernel, and marks of profilers.
#pragma once

#include "ascendc/tensor.hpp"

namespace AscendC {

namespace detail {
template <class T>
auto printable(const T& value) {
  if constexpr (std::is_convertible<T, float>::value && std::is_class<T>::value) {
    return static_cast<double>(static_cast<float>(value));  // half and bfloat16_t
  } else {
    return value;
  }
}
}  // namespace detail
// To stdout, in the order in which the twin runs the cores.
template <class... A>
TWIN_API void printf(const char* format, A... arguments) {
  if constexpr (sizeof...(A) == 0) {
    std::fputs(format, stdout);
  } else {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    std::printf(format, detail::printable(arguments)...);
#pragma GCC diagnostic pop
  }
}

template <class Tensor>
TWIN_API void DumpTensor(const Tensor& tensor, std::uint32_t desc, std::uint32_t dumpSize, Site site = Site::here()) {
  ::twin::dump(tensor.view(), desc, dumpSize, site);
}
template <class Tensor>
TWIN_API void DumpTensor(const Tensor& tensor, std::uint32_t desc, std::uint32_t dumpSize, const ShapeInfo&,
                         Site site = Site::here()) {
  ::twin::dump(tensor.view(), desc, dumpSize, site);
}
template <class Tensor>
TWIN_API void DumpAccChkPoint(const Tensor& tensor, std::uint32_t index, std::uint32_t countOff, std::uint32_t dumpSize,
                              Site site = Site::here()) {
  ::twin::dump(tensor[countOff].view(), index, dumpSize, site);
}
TWIN_API void PrintTimeStamp(std::uint32_t descId) {
  std::printf("PrintTimeStamp: desc=%u, %lld instructions\n", descId, static_cast<long long>(::twin::system_cycle()));
}
TWIN_API void Trap(Site site = Site::here()) { ::twin::trap("Trap", site); }

// Marks for the vendor's profiler: the twin's trace has every instruction anyway.
TWIN_API void MetricsProfStart() {}
TWIN_API void MetricsProfStop() {}

}  // namespace AscendC

// What the vendor's CPU mode logs, to stderr; for the device it is nothing.
#if defined(TWIN_DEVICE_CHECK)
#define KERNEL_LOG(level, ...) ((void)0)
#else
#define KERNEL_LOG(level, ...)                                                                          \
  (std::fprintf(stderr, "[" #level "] %s:%d: ", __FILE__, __LINE__), std::fprintf(stderr, __VA_ARGS__), \
   std::fputc('\n', stderr))
#endif

#define TRACE_START(apid) ((void)(apid))
#define TRACE_STOP(apid) ((void)(apid))
// Reports, and goes on.
#define ascendc_assert(condition, ...) \
  ((condition) ? (void)0 : ::twin::trap("ascendc_assert(" #condition ") does not hold", ::twin::Site::here()))
