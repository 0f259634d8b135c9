// SPDX-License-Identifier: Apache-2.0
// Memory that notices what happens beside it: the page before and the page after cannot be touched, and the slack between
// them and the data is checked for stray writes.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tessera::test {

class GuardedBuffer {
 public:
  GuardedBuffer() = default;

  /// `bytes` bytes of value `fill`, ending as close to the forbidden page as `alignment` allows.
  explicit GuardedBuffer(std::size_t bytes, std::size_t alignment = 1, unsigned char fill = 0) : size_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t body = (bytes + page - 1) / page * page;
    mapped_ = body + 2 * page;
    void* map = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) std::abort();
    map_ = static_cast<std::byte*>(map);
    body_ = map_ + page;
    body_end_ = body_ + body;
    if (body > 0 && mprotect(body_, body, PROT_READ | PROT_WRITE) != 0) std::abort();
    data_ = body_ + (body - bytes) / alignment * alignment;
    std::memset(body_, kCanary, static_cast<std::size_t>(data_ - body_));
    std::memset(data_, fill, bytes);
    std::memset(data_ + bytes, kCanary, static_cast<std::size_t>(body_end_ - data_) - bytes);
  }
  GuardedBuffer(GuardedBuffer&& other) noexcept { swap(other); }
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~GuardedBuffer() {
    if (map_ != nullptr) munmap(map_, mapped_);
  }

  template <class T = std::byte>
  T* as() const noexcept {
    return reinterpret_cast<T*>(data_);
  }
  std::size_t size() const noexcept { return size_; }

  /// False when somebody wrote beside the data.
  bool intact() const noexcept {
    const auto is_canary = [](std::byte x) { return x == std::byte{kCanary}; };
    return std::all_of(body_, data_, is_canary) && std::all_of(data_ + size_, body_end_, is_canary);
  }

 private:
  static constexpr unsigned char kCanary = 0xA7;

  void swap(GuardedBuffer& other) noexcept {
    std::swap(map_, other.map_);
    std::swap(mapped_, other.mapped_);
    std::swap(body_, other.body_);
    std::swap(body_end_, other.body_end_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  std::byte* map_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* body_ = nullptr;
  std::byte* body_end_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tessera::test
