// SPDX-License-Identifier: Apache-2.0
// TBufPool, LocalMemAllocator and PopStackBuffer: parts of a core's memory.
#pragma once

#include "ascendc/pipe.hpp"

namespace AscendC {

// A part of a memory that hands out buffers of its own; Reset gives them all back. Pools may share one part, one after
// another.
template <TPosition position, std::uint32_t bufIDSize = 4>
class TBufPool {
 public:
  template <class T>
  TWIN_API bool InitBufPool(T& bufPool, std::uint32_t len, Site site = Site::here()) {
    bufPool.begin_ = bufPool.next_ = next_;
    next_ = bufPool.end_ = next_ + (len + 31) / 32 * 32;
    ::twin::pool_enter(kSpace, next_);
    ::twin::pool_leave(kSpace, end_, site);
    return true;
  }
  template <class T, class U>
  TWIN_API bool InitBufPool(T& bufPool, std::uint32_t len, U& shareBuf, Site site = Site::here()) {
    share(bufPool, len, shareBuf, site);
    return true;
  }
  template <TPosition src, TPosition dst, std::int32_t depth, auto mask>
  TWIN_API bool InitBuffer(TQueBind<src, dst, depth, mask>& queue, std::uint32_t num, std::uint32_t len,
                           Site site = Site::here()) {
    ::twin::pool_enter(kSpace, next_);
    GetTPipePtr()->InitBuffer(queue, num, len, site);
    next_ = ::twin::pool_leave(kSpace, end_, site);
    return true;
  }
  template <TPosition pos>
  TWIN_API bool InitBuffer(TBuf<pos>& buffer, std::uint32_t len, Site site = Site::here()) {
    ::twin::pool_enter(kSpace, next_);
    GetTPipePtr()->InitBuffer(buffer, len, site);
    next_ = ::twin::pool_leave(kSpace, end_, site);
    return true;
  }
  // Ends the events under way: what was freed may be filled anew, by the pipe that fills it, through another pool.
  TWIN_API void Reset(Site site = Site::here()) {
    ::twin::settle_queues(kSpace, begin_, end_, site);
    next_ = begin_;
  }

 private:
  friend class TPipe;
  template <TPosition, std::uint32_t>
  friend class TBufPool;
  template <class T, class U>
  static void share(T& bufPool, std::uint32_t len, const U& with, Site site) {
    bufPool.begin_ = bufPool.next_ = with.begin_;
    bufPool.end_ = with.begin_ + (len + 31) / 32 * 32;
    ::twin::pool_enter(kSpace, bufPool.end_);
    ::twin::pool_leave(kSpace, with.end_, site);
  }
  static constexpr ::twin::Space kSpace = detail::space_of(position);
  std::uint64_t begin_ = 0, next_ = 0, end_ = 0;
};

template <TPosition position, std::uint32_t size>
bool TPipe::InitBufPool(TBufPool<position, size>& bufPool, std::uint32_t len, Site site) {
  bufPool.begin_ = bufPool.next_ =
      ::twin::pipe_allocate(detail::space_of(position), (len + 31) / 32 * 32, "a TBufPool", site);
  bufPool.end_ = bufPool.begin_ + (len + 31) / 32 * 32;
  return true;
}
template <TPosition position, std::uint32_t size, class Other>
bool TPipe::InitBufPool(TBufPool<position, size>& bufPool, std::uint32_t len, Other& shareBuf, Site site) {
  TBufPool<position, size>::share(bufPool, len, shareBuf, site);
  return true;
}

enum class Hardware : std::uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };
namespace detail {
constexpr TPosition position_of(Hardware hard) {
  constexpr TPosition kPositions[] = {TPosition::GM, TPosition::VECCALC, TPosition::A1, TPosition::A2,
                                      TPosition::B2, TPosition::CO1,     TPosition::C2, TPosition::C2PIPE2GM};
  return kPositions[static_cast<int>(hard)];
}
}  // namespace detail
// Tensors one after another from the begin of a memory; nothing is given back.
template <Hardware hard = Hardware::UB>
class LocalMemAllocator {
 public:
  TWIN_API std::uint32_t GetCurAddr() const { return next_; }
  template <class T, std::uint32_t tileSize>
  TWIN_API LocalTensor<T> Alloc(Site site = Site::here()) {
    return take<T>(kPosition, tileSize, site);
  }
  template <class T>
  TWIN_API LocalTensor<T> Alloc(std::uint32_t tileSize, Site site = Site::here()) {
    return take<T>(kPosition, tileSize, site);
  }
  template <TPosition position, class T, std::uint32_t tileSize>
  TWIN_API LocalTensor<T> Alloc(Site site = Site::here()) {
    static_assert(detail::space_of(position) == detail::space_of(kPosition), "this position lies in another memory");
    return take<T>(position, tileSize, site);
  }
  template <TPosition position, class T>
  TWIN_API LocalTensor<T> Alloc(std::uint32_t tileSize, Site site = Site::here()) {
    static_assert(detail::space_of(position) == detail::space_of(kPosition), "this position lies in another memory");
    return take<T>(position, tileSize, site);
  }

 private:
  template <class T>
  LocalTensor<T> take(TPosition position, std::uint32_t count, Site site) {
    const LocalTensor<T> tensor(position, next_, count, site);
    next_ += (static_cast<std::uint32_t>(::twin::bytes_of<T>(count)) + 31) / 32 * 32;
    return tensor;
  }
  static constexpr TPosition kPosition = detail::position_of(hard);
  std::uint32_t next_ = 0;
};

// All of the memory that InitBuffer has left.
template <class T, TPosition position>
TWIN_API bool PopStackBuffer(LocalTensor<T>& popLocal, Site site = Site::here()) {
  popLocal = LocalTensor<T>(::twin::pipe_rest(detail::space_of(position), site), position);
  return popLocal.GetSize() > 0;
}

}  // namespace AscendC
