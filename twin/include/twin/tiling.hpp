// SPDX-License-Identifier: Apache-2.0
// From REGISTER_TILING_DATA_CLASS in one namespace to GET_TILING_DATA in another: a friend that argument-dependent lookup
// finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "twin/types.hpp"

namespace twin {

// Through the scalar unit, eight bytes at a time.
void load_tiling(void* to, const void* from, std::size_t bytes, Site site);
// From a pointer of any memory.
template <class Pointer>
void copy_tiling(void* to, Pointer from, std::size_t bytes, Site site = Site::here()) {
  load_tiling(to, reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from)), bytes, site);
}

template <class T>
struct TilingType {
  using Type = T;
};

// The compiler prints this name if GET_TILING_DATA finds no struct: REGISTER_TILING_DEFAULT(Struct) in the kernel,
// GET_TILING_DATA_WITH_STRUCT, or -include the host's header with REGISTER_TILING_DATA_CLASS.
template <class T>
struct TilingTag {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
  friend constexpr auto no_tiling_struct_is_registered(TilingTag<T>);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
};

// A kernel's own struct, or the registered one, or none (REGISTER_NONE_TILING).
struct Registered {};
struct NoneRegistered {};
template <class T, class Tag = TilingTag<T>>
constexpr auto tiling_type() {
  static_assert(!std::is_same<T, NoneRegistered>::value,
                "GET_TILING_DATA after REGISTER_NONE_TILING: GET_TILING_DATA_WITH_STRUCT names the struct");
  if constexpr (std::is_same<T, Registered>::value) {
    return no_tiling_struct_is_registered(Tag{});
  } else {
    return TilingType<T>{};
  }
}

// By custom the operator of a struct inside another one is called ...Op: it is no kernel's.
constexpr bool is_inner_tiling(const char* name) {
  std::size_t n = 0;
  while (name[n] != '\0') ++n;
  return n > 2 && name[n - 2] == 'O' && name[n - 1] == 'p';
}
template <class T, bool kInner>
struct RegisteredTiling {};
template <class T>
struct RegisteredTiling<T, false> {
  friend constexpr auto no_tiling_struct_is_registered(TilingTag<Registered>) { return TilingType<T>{}; }
};

}  // namespace twin
