// SPDX-License-Identifier: Apache-2.0
// Tiling data, kernel types, and a message for what is missing.
#pragma once

#include <cstddef>

#include "ascendc/tensor.hpp"
#include "twin/tiling.hpp"

using TwinTilingData = ::twin::Registered;  // REGISTER_TILING_DEFAULT in a kernel hides it

// twincc reads the kernel's type from the source: a launch must know it before the kernel begins.
#ifdef TWIN_READ_TYPES  // there, in the preprocessor's output
#define KERNEL_TASK_TYPE_DEFAULT(type) KERNEL_TASK_TYPE_DEFAULT(type)
#define KERNEL_TASK_TYPE(key, type) KERNEL_TASK_TYPE(key, type)
#else
#define KERNEL_TASK_TYPE_DEFAULT(type)
#define KERNEL_TASK_TYPE(key, type)
#endif

#define REGISTER_TILING_DEFAULT(Struct) using TwinTilingData [[maybe_unused]] = Struct
#define REGISTER_TILING_FOR_TILINGKEY(condition, Struct)
#define REGISTER_NONE_TILING using TwinTilingData [[maybe_unused]] = ::twin::NoneRegistered
#define GET_TILING_DATA(name, address)                                 \
  typename decltype(::twin::tiling_type<TwinTilingData>())::Type name; \
  ::twin::copy_tiling(&name, address, sizeof name)
// A member alone: the address of the whole is given.
#define GET_TILING_DATA_MEMBER(Struct, member, name, address) \
  decltype(Struct::member) name;                              \
  ::twin::copy_tiling(&name, (address) + offsetof(Struct, member), sizeof name)
#define GET_TILING_DATA_PTR_WITH_STRUCT(Struct, name, address) __gm__ Struct* name = (__gm__ Struct*)(address)
#define COPY_TILING_WITH_STRUCT(Struct, source, name)            \
  Struct name##Copy;                                             \
  ::twin::copy_tiling(\& name##Copy, source, sizeof name##Copy); \
  const Struct* name = &name##Copy
#define GET_TILING_DATA_WITH_STRUCT(Struct, name, address) \
  Struct name;                                             \
  ::twin::copy_tiling(&name, address, sizeof name)
#if defined(TWIN_DEVICE_CHECK)
// A program is made of each key: the check puts one after another in the place of this function.
namespace twin {
bool is_tiling_key(unsigned long long key);
}
#define TILING_KEY_IS(key) (::twin::is_tiling_key(key))
#else
#define TILING_KEY_IS(key) (::twin::tiling_key() == (key))
#endif

#define ASCENDC_ASSERT(condition, action) \
  do {                                    \
    if (!(condition)) {                   \
      action;                             \
    }                                     \
  } while (false)
#define PRINTF printf

namespace AscendC {

TWIN_API GM_ADDR GetUserWorkspace(GM_ADDR workspace) { return workspace; }

namespace detail {
template <class...>
inline constexpr bool kNever = false;
}
// With whatever arguments, and whatever template arguments in front.
#define TWIN_ABSENT(name, text)                            \
  template <class... A>                                    \
  void name(A&&...) {                                      \
    static_assert(detail::kNever<A...>, text);             \
  }                                                        \
  template <class T, auto... kValues, class... A>          \
  void name(A&&...) {                                      \
    static_assert(detail::kNever<T, A...>, text);          \
  }                                                        \
  template <class T, class U, auto... kValues, class... A> \
  void name(A&&...) {                                      \
    static_assert(detail::kNever<T, U, A...>, text);       \
  }                                                        \
  template <auto kFirst, auto... kValues, class... A>      \
  void name(A&&...) {                                      \
    static_assert(detail::kNever<A...>, text);             \
  }
#define TWIN_MISSING(name) TWIN_ABSENT(name, "AscendC::" #name " is not covered by the twin yet, see docs/twin_api.md")
#define TWIN_ELSEWHERE(name) TWIN_ABSENT(name, "AscendC::" #name " does not exist on the 910B")
#define TWIN_NOWHERE(name, instead) TWIN_ABSENT(name, "AscendC::" #name " does not exist on the 910B: " instead)
#define TWIN_ABSENT_CLASS(name, text)          \
  template <class... A>                        \
  class name {                                 \
    static_assert(detail::kNever<A...>, text); \
  };
#define TWIN_MISSING_CLASS(name) \
  TWIN_ABSENT_CLASS(name, "AscendC::" #name " is not covered by the twin yet, see docs/twin_api.md")
#define TWIN_ELSEWHERE_CLASS(name) TWIN_ABSENT_CLASS(name, "AscendC::" #name " does not exist on the 910B")
#include "ascendc/missing.inc"
#undef TWIN_ABSENT
#undef TWIN_ELSEWHERE
#undef TWIN_NOWHERE
#undef TWIN_MISSING_CLASS
#undef TWIN_ELSEWHERE_CLASS
#undef TWIN_ABSENT_CLASS
#undef TWIN_MISSING

}  // namespace AscendC
