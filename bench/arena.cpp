// SPDX-License-Identifier: Apache-2.0
#include "bench/arena.hpp"

#include <sys/mman.h>

#include <cstring>
#include <string>
#include <utility>

#include "bench/available_memory.hpp"

namespace tessera::bench {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

Result<Arena> Arena::make(std::size_t bytes) {
  const std::size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  Arena arena;
  if (rounded == 0) return arena;
  if (const std::size_t available = available_memory(); rounded > available) {
    return Status::out_of_memory("inputs: " + std::to_string(rounded) + " bytes are needed, " + std::to_string(available) +
                                 " are available");
  }
  void* data = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return Status::out_of_memory("inputs: cannot have " + std::to_string(rounded) + " bytes");
  madvise(data, rounded, MADV_HUGEPAGE);
  std::memset(data, 0, rounded);
  arena.data_ = static_cast<std::byte*>(data);
  arena.bytes_ = rounded;
  return arena;
}

Arena::~Arena() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

Arena::Arena(Arena&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace tessera::bench
