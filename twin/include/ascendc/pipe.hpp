// SPDX-License-Identifier: Apache-2.0
// TPipe, TQue, TQueBind and TBuf.
#pragma once

#include <string>

#include "ascendc/move.hpp"
#include "ascendc/tensor.hpp"
#include "twin/calls_rows.hpp"

namespace AscendC {

// The other form of a queue's mask. nd2nz and nz2nd are false in all queues; of the rest only scmBlockGroup has an effect
// here.
struct TQueConfig {
  bool nd2nz = false, nz2nd = false;
  bool scmBlockGroup = false;  // TSCM: one place for both vector cores
  std::uint32_t bufferLen = 0, bufferNumber = 0, consumerSize = 0;
  TPosition consumer[8] = {};
  bool enableStaticEvtId = false, enableLoopQueue = false;
};
namespace detail {
constexpr bool one_for_both(int mask) { return (mask & 4) != 0; }
constexpr bool one_for_both(const TQueConfig* config) { return config->scmBlockGroup; }
}  // namespace detail

class TPipe;
template <TPosition position, std::uint32_t bufIDSize>
class TBufPool;

template <TPosition src, TPosition dst, std::int32_t depth, auto mask = 0>
class TQueBind {
 public:
  template <class T>
  TWIN_API LocalTensor<T> AllocTensor(Site site = Site::here()) {
    return LocalTensor<T>(::twin::queue_alloc(queue_, ::twin::DTypeOf<T>::kValue, site), kPosition);
  }
  template <class T>
  TWIN_API void AllocTensor(LocalTensor<T>& tensor, Site site = Site::here()) {
    tensor = AllocTensor<T>(site);
  }
  template <class T>
  TWIN_API bool EnQue(const LocalTensor<T>& tensor, Site site = Site::here()) {
    ::twin::queue_enque(queue_, tensor.view(), site);
    return true;
  }
  // A tensor of two positions goes in twice: from GM to VECIN, the first to be filled, and from VECOUT to GM.
  template <TPosition srcUserPos, TPosition dstUserPos, class T>
  TWIN_API bool EnQue(const LocalTensor<T>& tensor, Site site = Site::here()) {
    ::twin::queue_enque(queue_, tensor.view(), site,
                        detail::producer_of(srcUserPos == TPosition::GM ? dstUserPos : srcUserPos));
    return true;
  }
  template <TPosition srcUserPos, TPosition dstUserPos, class T>
  TWIN_API LocalTensor<T> DeQue(Site site = Site::here()) {
    const auto to = detail::consumer_of(dstUserPos == TPosition::GM ? srcUserPos : dstUserPos);
    return LocalTensor<T>(::twin::queue_deque(queue_, ::twin::DTypeOf<T>::kValue, site, to), kPosition);
  }
  template <class T>
  TWIN_API LocalTensor<T> DeQue(Site site = Site::here()) {
    return LocalTensor<T>(::twin::queue_deque(queue_, ::twin::DTypeOf<T>::kValue, site), kPosition);
  }
  template <class T>
  TWIN_API void DeQue(LocalTensor<T>& tensor, Site site = Site::here()) {
    tensor = DeQue<T>(site);
  }
  // For a kernel that goes on with the tensor it gave to EnQue.
  TWIN_API void DeQue(Site site = Site::here()) { ::twin::queue_deque(queue_, ::twin::DType::U8, site); }
  template <class T>
  TWIN_API void FreeTensor(const LocalTensor<T>& tensor, Site site = Site::here()) {
    ::twin::queue_free(queue_, tensor.view(), site);
  }
  TWIN_API bool VacantInQue() const { return ::twin::queue_vacant(queue_); }
  TWIN_API bool HasTensorInQue() const { return ::twin::queue_waiting(queue_) > 0; }
  TWIN_API std::int32_t GetTensorCountInQue() const { return ::twin::queue_waiting(queue_); }
  TWIN_API bool HasIdleBuffer() const { return ::twin::queue_has_idle(queue_); }
  TWIN_API void FreeAllEvent() {}

 private:
  friend class TPipe;
  static constexpr TPosition kPosition = src == TPosition::GM || dst == TPosition::TSCM ? dst : src;
  ::twin::Queue* queue_ = nullptr;
};

template <TPosition position, std::int32_t depth, auto mask = 0>
class TQue : public TQueBind<position, position, depth, mask> {};

// In L1, for Matmul: of a vector core in that of its cube core.
template <TPosition pos, std::int32_t depth, auto mask = 0>
using TSCM = TQueBind<pos, TPosition::TSCM, depth, mask>;

template <TPosition position = TPosition::VECCALC>
class TBuf {
 public:
  template <class T>
  TWIN_API LocalTensor<T> Get() const {
    return LocalTensor<T>(view_, position);
  }
  template <class T>
  TWIN_API LocalTensor<T> Get(std::uint32_t count) const {
    LocalTensor<T> tensor(view_, position);
    tensor.SetSize(count);
    return tensor;
  }
  template <class T>
  TWIN_API LocalTensor<T> GetWithOffset(std::uint32_t size, std::uint32_t offset_bytes) const {
    ::twin::View part = view_;
    part.addr += offset_bytes;
    part.bytes = ::twin::bytes_of<T>(size);
    return LocalTensor<T>(part, position);
  }
  // As Get: there is one tensor, and no order comes with it.
  template <class T>
  TWIN_API LocalTensor<T> AllocTensor() const {
    return Get<T>();
  }
  template <class T>
  TWIN_API void FreeTensor(const LocalTensor<T>& tensor) const {
    (void)tensor;
  }
  TWIN_API std::uint32_t GetBufLen() const { return static_cast<std::uint32_t>(view_.bytes); }

 private:
  friend class TPipe;
  ::twin::View view_;
};

class TPipe {
 public:
  TPipe(Site site = Site::here()) : site_(site) { Init(); }  // NOLINT: a default argument, no conversion
  ~TPipe() { Destroy(); }
  TWIN_API void Init() {
    ::twin::pipe_begin(site_);
    ::twin::pipe_slot() = this;
  }
  template <TPosition src, TPosition dst, std::int32_t depth, auto mask>
  TWIN_API bool InitBuffer(TQueBind<src, dst, depth, mask>& queue, std::uint32_t num, std::uint32_t bytes,
                           Site site = Site::here()) {
    queue.queue_ = ::twin::queue_init(detail::name_of(TQueBind<src, dst, depth, mask>::kPosition),
                                      detail::space_of(TQueBind<src, dst, depth, mask>::kPosition), detail::producer_of(src),
                                      detail::consumer_of(dst), depth, static_cast<int>(num), bytes, site,
                                      dst == TPosition::TSCM && detail::one_for_both(mask));
    return true;
  }
  template <TPosition position>
  TWIN_API bool InitBuffer(TBuf<position>& buffer, std::uint32_t bytes, Site site = Site::here()) {
    buffer.view_.space = detail::space_of(position);
    buffer.view_.bytes = (bytes + 31) / 32 * 32;
    buffer.view_.addr = ::twin::pipe_allocate(buffer.view_.space, buffer.view_.bytes, "a TBuf", site);
    buffer.view_.tensor = ::twin::declare_tensor(detail::name_of(position), buffer.view_.space, ::twin::Maker::TPipe,
                                                 buffer.view_.addr, buffer.view_.bytes, site);
    return true;
  }
  template <HardEvent event>
  TWIN_API TEventID AllocEventID(Site site = Site::here()) {
    constexpr auto p = detail::pipes_of(event);
    return static_cast<TEventID>(::twin::alloc_event(p.from, p.to, true, site));
  }
  template <HardEvent event>
  TWIN_API void ReleaseEventID(TEventID id, Site site = Site::here()) {
    constexpr auto p = detail::pipes_of(event);
    ::twin::release_event(p.from, p.to, id, site);
  }
  template <HardEvent event>
  TWIN_API TEventID FetchEventID(Site site = Site::here()) {
    return FetchEventID(event, site);
  }
  TWIN_API TEventID FetchEventID(HardEvent event, Site site = Site::here()) {
    const auto p = detail::pipes_of(event);
    return static_cast<TEventID>(::twin::alloc_event(p.from, p.to, false, site));
  }
  // pool.hpp
  template <TPosition position, std::uint32_t size>
  TWIN_API bool InitBufPool(TBufPool<position, size>& bufPool, std::uint32_t len, Site site = Site::here());
  template <TPosition position, std::uint32_t size, class Other>
  TWIN_API bool InitBufPool(TBufPool<position, size>& bufPool, std::uint32_t len, Other& shareBuf, Site site = Site::here());
  // ---- UB spilled to GM and fetched again; offsets in bytes, sizes in elements. Fetching waits for what was spilled, as
  // the example of the reference takes for granted; order with the vector unit is the kernel's. ----
  template <class T>
  TWIN_API void InitSpmBuffer(const GlobalTensor<T>& workspace, const std::int32_t bufferSize, Site site = Site::here()) {
    spill_ = workspace.view();
    const auto bytes = static_cast<std::uint64_t>(bufferSize < 0 ? 0 : bufferSize);
    if (bytes == 0 || (spill_.bytes && bytes > spill_.bytes)) {
      ::twin::refuse_call("InitSpmBuffer with a bufferSize of nothing, or beyond its workspace", "bytes of the workspace",
                          site);
      return;
    }
    spill_.bytes = bytes;
  }
  template <class N>
  TWIN_API void InitSpmBuffer(const N bufferSize) {
    static_assert(sizeof(N) == 0, "InitSpmBuffer in L1 does not exist on the 910B: give it a workspace");
    (void)bufferSize;
  }
  template <class T>
  TWIN_API void WriteSpmBuffer(const LocalTensor<T>& writeBuffer, const DataCopyParams& copyParams,
                               std::int32_t writeOffset = 0, Site site = Site::here()) {
    ::twin::View to;
    if (spilled(to, writeOffset, "WriteSpmBuffer", site))
      ::twin::move_blocks(to, writeBuffer.view(), detail::plain(copyParams), site);
  }
  template <class T>
  TWIN_API void WriteSpmBuffer(const LocalTensor<T>& writeBuffer, const std::int32_t writeSize, std::int32_t writeOffset = 0,
                               Site site = Site::here()) {
    ::twin::View to;
    if (spilled(to, writeOffset, "WriteSpmBuffer", site))
      ::twin::move_blocks(to, writeBuffer.view(), detail::plain<T>(static_cast<std::uint32_t>(writeSize)), site);
  }
  template <class T>
  TWIN_API void ReadSpmBuffer(const LocalTensor<T>& readBuffer, const DataCopyParams& copyParams,
                              std::int32_t readOffset = 0, Site site = Site::here()) {
    fetch(readBuffer, detail::plain(copyParams), readOffset, site);
  }
  template <class T>
  TWIN_API void ReadSpmBuffer(const LocalTensor<T>& readBuffer, const std::int32_t readSize, std::int32_t readOffset = 0,
                              Site site = Site::here()) {
    fetch(readBuffer, detail::plain<T>(static_cast<std::uint32_t>(readSize)), readOffset, site);
  }
  // Where the buffers of a position lie, as GetPhyAddr counts.
  TWIN_API std::uint64_t GetBaseAddr(std::int8_t logicPos, Site site = Site::here()) {
    ::twin::View base;
    base.space = detail::space_of(static_cast<TPosition>(logicPos));
    return reinterpret_cast<std::uint64_t>(::twin::local_pointer(base, site));
  }
  TWIN_API void Reset(Site site = Site::here()) { ::twin::pipe_reset(site); }
  TWIN_API void Destroy() { ::twin::pipe_end(site_); }

 private:
  bool spilled(::twin::View& part, std::int32_t offset, const char* call, Site site) const {
    part = spill_;
    if (spill_.addr == 0) {
      ::twin::refuse_call((std::string(call) + " without an InitSpmBuffer").c_str(), "InitSpmBuffer(workspace, bytes)",
                          site);
      return false;
    }
    if (offset < 0 || static_cast<std::uint64_t>(offset) >= spill_.bytes) {
      ::twin::refuse_call((std::string(call) + " at " + std::to_string(offset) + " of a buffer of " +
                           std::to_string(spill_.bytes) + " bytes")
                              .c_str(),
                          "an offset inside of it, in bytes", site);
      return false;
    }
    part.addr += static_cast<std::uint64_t>(offset);
    part.bytes -= static_cast<std::uint64_t>(offset);
    return true;
  }
  template <class T>
  void fetch(const LocalTensor<T>& to, const ::twin::Blocks& blocks, std::int32_t offset, Site site) const {
    ::twin::View from;
    if (!spilled(from, offset, "ReadSpmBuffer", site)) return;
    ::twin::library_order(::twin::Pipe::MTE3, ::twin::Pipe::MTE2, site);
    ::twin::move_blocks(to.view(), from, blocks, site);
  }

  Site site_ = Site::none();
  ::twin::View spill_;  // of the SPM buffer
};

TWIN_API TPipe* GetTPipePtr() { return static_cast<TPipe*>(::twin::pipe_slot()); }

}  // namespace AscendC
