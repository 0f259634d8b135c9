// SPDX-License-Identifier: Apache-2.0
// InitGlobalMemory of the library (Fill, InitOutput): one value into GM, by way of all of UB that InitBuffer has left. What
// a kernel copies there afterwards waits for MTE3 by a flag of its own, and other cores by SyncAll: as the reference says.
#pragma once

#include <algorithm>
#include <string>

#include "ascendc/library.hpp"
#include "ascendc/move.hpp"
#include "ascendc/pool.hpp"
#include "twin/calls_rows.hpp"

namespace AscendC {

#define TWIN_FILL(name)                                                                                               \
  template <class T>                                                                                                  \
  TWIN_API void name(const GlobalTensor<T>& gmWorkspaceAddr, const std::uint64_t size, const detail::Given<T>& value, \
                     Site site = Site::here()) {                                                                      \
    using namespace ::twin;                                                                                           \
    static_assert(detail::library_takes<T>(kI16 | kU16 | kF16 | kI32 | kU32 | kF32),                                  \
                  #name " takes elements of 16 and 32 bits, without bfloat16_t, on the 910B");                        \
    detail::fill(gmWorkspaceAddr, size, value, #name, site);                                                          \
  }
namespace detail {
template <class T>
void fill(const GlobalTensor<T>& gm, std::uint64_t size, const T& value, const char* name, Site site) {
  using ::twin::Pipe;
  constexpr std::uint64_t kMost = 65504;  // bytes a store; more gains nothing
  LocalTensor<T> rest;
  if (!PopStackBuffer<T, TPosition::VECCALC>(rest, site))
    return ::twin::refuse_call((std::string(name) + ": InitBuffer has left nothing of UB for it").c_str(),
                               "call it before InitBuffer", site);
  const std::uint64_t all = std::min<std::uint64_t>({size, rest.GetSize(), kMost / sizeof(T)});
  ::twin::library_order(Pipe::MTE3, Pipe::V, site);  // an earlier call may still store from there
  ::twin::library_order(Pipe::V, Pipe::V, site);
  if (all) Duplicate(rest, value, static_cast<std::int32_t>(all), site);
  ::twin::library_order(Pipe::V, Pipe::MTE3, site);
  for (std::uint64_t at = 0; at < size; at += all) {
    const auto bytes = static_cast<std::uint32_t>(std::min(all, size - at) * sizeof(T));
    DataCopyPad(gm[at], rest, DataCopyExtParams(1, bytes, 0, 0, 0), site);
  }
}
}  // namespace detail
TWIN_FILL(InitGlobalMemory)
TWIN_FILL(InitOutput)
TWIN_FILL(Fill)
#undef TWIN_FILL

}  // namespace AscendC
