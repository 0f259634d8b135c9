// SPDX-License-Identifier: Apache-2.0
// From REGISTER_TILING_DATA_CLASS in one namespace to GET_TILING_DATA in another: a friend that argument-dependent lookup
// finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace twin {

// From a pointer of any memory.
template <class Pointer>
void copy_tiling(void* to, Pointer from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from)), bytes);
}

template <class T>
struct TilingType {
  using Type = T;
};
struct TilingTag {};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <class T>
struct RegisteredTiling {
  friend constexpr auto tiling_of(TilingTag) { return TilingType<T>(); }
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

template <class T>
struct NoTiling {
  static_assert(
      !sizeof(T),
      "GET_TILING_DATA: which struct? REGISTER_TILING_DEFAULT(Struct) in the kernel, GET_TILING_DATA_WITH_STRUCT, or "
      "-include the header with REGISTER_TILING_DATA_CLASS");
  using Type = int;
};
template <class Tag>
auto find_tiling(Tag tag, int) -> decltype(tiling_of(tag));
template <class Tag>
NoTiling<Tag> find_tiling(Tag, ...);

// A kernel's own struct, or the registered one.
struct Registered {};
template <class T, class Tag = TilingTag>
struct TilingOf {
  using Type = T;
};
template <class Tag>
struct TilingOf<Registered, Tag> {
  using Type = typename decltype(find_tiling(Tag{}, 0))::Type;
};

}  // namespace twin
