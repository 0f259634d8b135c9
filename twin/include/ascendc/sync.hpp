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
  ::twin::cross_core_set(mode, detail::pipe_of(pipe), id, false, site);
}
template <std::uint8_t mode = 0, pipe_t pipe = PIPE_S>
TWIN_API void CrossCoreWaitFlag(std::uint16_t id, Site site = Site::here()) {
  ::twin::cross_core_wait(mode, detail::pipe_of(pipe), id, false, site);
}

// The older name, by which kernels still wait.
TWIN_API void WaitEvent(std::uint16_t id, Site site = Site::here()) {
  ::twin::cross_core_wait(0, ::twin::Pipe::S, id, true, site);
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

// From one block to another through GM: this block sets, another waits. The workspaces hold 32 bytes a flag.
template <bool isAIVOnly = true>
TWIN_API void IBSet(const GlobalTensor<std::int32_t>& gmWorkspace, const LocalTensor<std::int32_t>& ubWorkspace,
                    std::int32_t blockIdx, std::int32_t eventID, Site site = Site::here()) {
  ::twin::block_set(gmWorkspace.view(), ubWorkspace.view(), blockIdx, eventID, site);
}
template <bool isAIVOnly = true>
TWIN_API void IBWait(const GlobalTensor<std::int32_t>& gmWorkspace, const LocalTensor<std::int32_t>& ubWorkspace,
                     std::int32_t blockIdx, std::int32_t eventID, Site site = Site::here()) {
  ::twin::block_wait(gmWorkspace.view(), ubWorkspace.view(), blockIdx, eventID, site);
}
// One block after another, as often as they like.
TWIN_API void InitDetermineComputeWorkspace(GlobalTensor<std::int32_t>& gmWorkspace, LocalTensor<std::int32_t>& ubWorkspace,
                                            Site site = Site::here()) {
  ::twin::turns_begin(gmWorkspace.view(), ubWorkspace.view(), site);
}
TWIN_API void WaitPreBlock(GlobalTensor<std::int32_t>& gmWorkspace, LocalTensor<std::int32_t>& ubWorkspace,
                           Site site = Site::here()) {
  ::twin::turn_wait(gmWorkspace.view(), ubWorkspace.view(), site);
}
TWIN_API void NotifyNextBlock(GlobalTensor<std::int32_t>& gmWorkspace, LocalTensor<std::int32_t>& ubWorkspace,
                              Site site = Site::here()) {
  ::twin::turn_notify(gmWorkspace.view(), ubWorkspace.view(), site);
}

// Some vector cores wait for others, through messages of 512 bytes a waiting core at groupWorkspace, which the kernel has
// zeroed. An arrival covers what its core has stored to GM; a waiting core goes on when each of the others has arrived once
// more.
enum class PipeMode : std::uint8_t { SCALAR_MODE = 0, MTE3_MODE = 1, MAX };
template <PipeMode pipeMode>
class GroupBarrier {
  static_assert(pipeMode == PipeMode::MTE3_MODE, "GroupBarrier takes MTE3_MODE only");

 public:
  TWIN_API GroupBarrier(GM_ADDR groupWorkspace, std::uint32_t arriveSizeIn, std::uint32_t waitSizeIn,
                        Site site = Site::here())
      : group_{reinterpret_cast<std::uint64_t>(groupWorkspace), arriveSizeIn, waitSizeIn} {
    ::twin::group_begin(group_, site);
  }
  TWIN_API void Arrive(std::uint32_t arriveIndex, Site site = Site::here()) {
    ::twin::group_arrive(group_, arriveIndex, site);
  }
  TWIN_API void Wait(std::uint32_t waitIndex, Site site = Site::here()) { ::twin::group_wait(group_, waitIndex, site); }

 private:
  ::twin::Group group_;
};

template <class T, CacheLine entireType, DcciDst dcciDst = DcciDst::CACHELINE_OUT>
TWIN_API void DataCacheCleanAndInvalid(const GlobalTensor<T>& tensor, Site site = Site::here()) {
  ::twin::cache_clean(tensor.view(), entireType == CacheLine::ENTIRE_DATA_CACHE, site);
}
// Of local memory: the scalar unit reads that without its cache, so there is nothing to clean.
template <class T, CacheLine entireType, DcciDst dcciDst = DcciDst::CACHELINE_OUT>
TWIN_API void DataCacheCleanAndInvalid(const LocalTensor<T>& tensor) {
  (void)tensor;
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
template <class T>
TWIN_API void SetAtomicType(Site site = Site::here()) {
  ::twin::set_atomic(::twin::atomic_kind(), ::twin::DTypeOf<T>::kValue, site);
}
enum class AtomicDtype : std::uint8_t {
  ATOMIC_NONE,
  ATOMIC_F32,
  ATOMIC_F16,
  ATOMIC_S16,
  ATOMIC_S32,
  ATOMIC_S8,
  ATOMIC_BF16
};
enum class AtomicOp : std::uint8_t { ATOMIC_SUM };
template <AtomicDtype type, AtomicOp op>
TWIN_API void SetStoreAtomicConfig(Site site = Site::here()) {
  using D = ::twin::DType;
  constexpr D kTypes[] = {D::F32, D::F32, D::F16, D::I16, D::I32, D::I8, D::BF16};
  ::twin::set_atomic(type == AtomicDtype::ATOMIC_NONE ? ::twin::Atomic::None : ::twin::Atomic::Add,
                     kTypes[static_cast<int>(type)], site);
}
TWIN_API void GetStoreAtomicConfig(std::uint16_t& atomicType, std::uint16_t& atomicOp) {
  using D = ::twin::DType;
  constexpr D kTypes[] = {D::U8, D::F32, D::F16, D::I16, D::I32, D::I8, D::BF16};
  atomicType = atomicOp = 0;
  for (std::uint16_t k = 1; k < 7 && ::twin::atomic_kind() != ::twin::Atomic::None; ++k) {
    if (kTypes[k] == ::twin::atomic_dtype()) atomicType = k;
  }
}
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
