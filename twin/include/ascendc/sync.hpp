// SPDX-License-Identifier: Apache-2.0
// Order: inside a core, between cores, and with the scalar unit's cache.
#pragma once

#include "ascendc/tensor.hpp"

namespace AscendC {

template <HardEvent event>
TWIN_API void SetFlag(std::int32_t id, Site site = Site::here()) {
  constexpr auto p = detail::pipes_of(event);
  ::twin::set_flag(p.from, p.to, id, site);
}
template <HardEvent event>
TWIN_API void WaitFlag(std::int32_t id, Site site = Site::here()) {
  constexpr auto p = detail::pipes_of(event);
  ::twin::wait_flag(p.from, p.to, id, site);
}
template <pipe_t pipe>
TWIN_API void PipeBarrier(Site site = Site::here()) {
  ::twin::pipe_barrier(detail::pipe_of(pipe), site);
}

// A flag object between two pipes.
template <pipe_t src, pipe_t dst>
class TQueSync {
 public:
  TWIN_API void SetFlag(TEventID id, Site site = Site::here()) {
    ::twin::set_flag(detail::pipe_of(src), detail::pipe_of(dst), id, site);
  }
  TWIN_API void WaitFlag(TEventID id, Site site = Site::here()) {
    ::twin::wait_flag(detail::pipe_of(src), detail::pipe_of(dst), id, site);
  }
};

template <std::uint8_t mode, pipe_t pipe>
TWIN_API void CrossCoreSetFlag(std::uint16_t id, Site site = Site::here()) {
  ::twin::cross_core_set(mode, detail::pipe_of(pipe), id, site);
}
template <std::uint8_t mode = 0, pipe_t pipe = PIPE_S>
TWIN_API void CrossCoreWaitFlag(std::uint16_t id, Site site = Site::here()) {
  ::twin::cross_core_wait(mode, detail::pipe_of(pipe), id, site);
}

template <bool isAIVOnly = true>
TWIN_API void SyncAll(Site site = Site::here()) {
  ::twin::sync_all(isAIVOnly, site);
}
template <bool isAIVOnly = true>
TWIN_API void SyncAll(const GlobalTensor<std::int32_t>& gmWorkspace, const LocalTensor<std::int32_t>& ubWorkspace,
                      std::int32_t usedCores = 0, Site site = Site::here()) {
  ::twin::sync_all_soft(gmWorkspace.view(), ubWorkspace.view(), usedCores, site);
}

template <class T, CacheLine entireType, DcciDst dcciDst = DcciDst::CACHELINE_OUT>
TWIN_API void DataCacheCleanAndInvalid(const GlobalTensor<T>& tensor, Site site = Site::here()) {
  ::twin::cache_clean(tensor.view(), entireType == CacheLine::ENTIRE_DATA_CACHE, site);
}
template <MemDsbT kind>
TWIN_API void DataSyncBarrier(Site site = Site::here()) {
  ::twin::data_sync_barrier(site);
}

template <class T>
TWIN_API void SetAtomicAdd(Site site = Site::here()) {
  ::twin::set_atomic(::twin::Atomic::Add, ::twin::DTypeOf<T>::kValue, site);
}
template <class T>
TWIN_API void SetAtomicMax(Site site = Site::here()) {
  ::twin::set_atomic(::twin::Atomic::Max, ::twin::DTypeOf<T>::kValue, site);
}
template <class T>
TWIN_API void SetAtomicMin(Site site = Site::here()) {
  ::twin::set_atomic(::twin::Atomic::Min, ::twin::DTypeOf<T>::kValue, site);
}
TWIN_API void SetAtomicNone(Site site = Site::here()) { ::twin::set_atomic(::twin::Atomic::None, ::twin::DType::F32, site); }
TWIN_API void DisableDmaAtomic(Site site = Site::here()) { SetAtomicNone(site); }

}  // namespace AscendC

// The compiler's own names for the same.
TWIN_API void set_flag(pipe_t from, pipe_t to, int id, ::twin::Site site = ::twin::Site::here()) {
  ::twin::set_flag(AscendC::detail::pipe_of(from), AscendC::detail::pipe_of(to), id, site);
}
TWIN_API void wait_flag(pipe_t from, pipe_t to, int id, ::twin::Site site = ::twin::Site::here()) {
  ::twin::wait_flag(AscendC::detail::pipe_of(from), AscendC::detail::pipe_of(to), id, site);
}
TWIN_API void pipe_barrier(pipe_t pipe, ::twin::Site site = ::twin::Site::here()) {
  ::twin::pipe_barrier(AscendC::detail::pipe_of(pipe), site);
}
