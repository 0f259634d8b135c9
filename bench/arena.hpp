// SPDX-License-Identifier: Apache-2.0
// Memory for benchmarks: page-aligned, on huge pages where the system has them, touched before anything is timed.
#pragma once

#include <cstddef>

#include "tessera/types.hpp"

namespace tessera::bench {

class Arena {
 public:
  Arena() = default;
  static Result<Arena> make(std::size_t bytes);
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tessera::bench
