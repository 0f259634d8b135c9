// SPDX-License-Identifier: Apache-2.0
// What a host does with a tiling struct, whichever library it belongs to: write it out, byte for byte as a kernel reads it.
#pragma once

#include <cstddef>
#include <cstring>

namespace twin {

template <class Tiling>
struct SavedTiling {
  void SaveToBuffer(void* buffer, std::size_t capacity) const {
    std::memcpy(buffer, static_cast<const void*>(static_cast<const Tiling*>(this)), capacity < size() ? capacity : size());
  }
  std::size_t GetDataSize() const { return size(); }

 private:
  static constexpr std::size_t size() { return sizeof(Tiling); }
};

}  // namespace twin
